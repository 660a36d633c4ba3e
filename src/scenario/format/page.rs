//! Writing a file: tables, lines, TOML's texts.

use std::fmt::Write;

use crate::engine::SimDuration;
use crate::scenario::format::Setting;
use crate::scenario::types::{Names, ZoneId};

/// The text so far, and the lines of the section being written.
pub(crate) struct TomlWriter {
    pub(crate) text: String,
    pub(crate) section: String,
}

impl TomlWriter {
    /// A table with its lines; without lines no table.
    pub(crate) fn section(&mut self, path: &str, write: impl FnOnce(&mut Self)) {
        write(self);
        let lines = std::mem::take(&mut self.section);
        if !lines.is_empty() {
            let gap = if self.text.is_empty() { "" } else { "\n" };
            let _ = write!(self.text, "{gap}[{path}]\n{lines}");
        }
    }

    pub(crate) fn line(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.section, "{key} = {value}");
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.line(key, string(value));
    }

    pub(crate) fn length(&mut self, key: &str, value: SimDuration) {
        self.line(key, quoted(value));
    }

    pub(crate) fn number(&mut self, key: &str, value: f64) {
        self.line(key, format!("{value:?}"));
    }

    /// Settings of a configuration: all, or those that differ from another's.
    pub(crate) fn settings<C>(
        &mut self,
        settings: &[&'static Setting<C>],
        config: &C,
        unless: Option<&C>,
        names: Names<'_>,
    ) {
        for setting in settings {
            let text = (setting.text)(config, names);
            if unless.is_none_or(|other| (setting.text)(other, names) != text)
                && let Some(text) = text
            {
                self.line(setting.key.name, text);
            }
        }
    }
}

/// A TOML string.
pub(crate) fn string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

pub(crate) fn quoted(length: SimDuration) -> String {
    format!("\"{length}\"")
}

/// A TOML list.
pub(crate) fn list(texts: impl Iterator<Item = String>) -> String {
    format!("[{}]", texts.collect::<Vec<_>>().join(", "))
}

/// Zones as a list.
pub(crate) fn zones(zones: &[ZoneId], names: Names<'_>) -> String {
    list(zones.iter().map(|zone| string(names.zone(*zone))))
}
