//! Warnings: what is legal, what people really run, and what will surprise them.
//!
//! Each names the consequence, not the rule. None stops a run. A warning points at the setting that a user
//! wrote, or at nothing if it follows from defaults alone. Here is what any registry may be warned about: faults in
//! [`fault`], a scenario's size in [`scale`], claims in [`expect`]. Each registry has its own besides, in its folder.

pub(crate) mod expect;
pub(crate) mod fault;
pub(crate) mod scale;

use crate::engine::SimDuration;
use crate::scenario::diagnostics::Place;
use crate::scenario::document::{Node, Table};
use crate::scenario::format::{LONGEST, Setting};

/// Where a setting was written.
pub(crate) struct Spans<'d> {
    pub(crate) root: &'d Table,
    pub(crate) applications: Vec<&'d Table>,
}

impl Spans<'_> {
    /// The place of a setting that applies to an application: its own, or the file's.
    pub(crate) fn setting<C>(&self, application: usize, setting: &Setting<C>) -> Option<Place> {
        let own = self.applications.get(application).and_then(|table| setting.place(table));
        own.or_else(|| setting.place(self.root))
    }

    /// The place of a setting of the file.
    pub(crate) fn global(&self, path: &[&str]) -> Option<Place> {
        self.root.at(path).map(|node| node.place.clone())
    }

    /// The place of a setting that applies to an application: its own, or the file's.
    pub(crate) fn of(&self, application: usize, path: &[&str]) -> Option<Place> {
        self.own(application, path).or_else(|| self.global(path))
    }

    /// The place of a setting of an application's own.
    pub(crate) fn own(&self, application: usize, path: &[&str]) -> Option<Place> {
        let own = self.applications.get(application).and_then(|table| table.at(path));
        own.map(|node: &Node| node.place.clone())
    }
}

pub(crate) fn seconds(count: u32) -> SimDuration {
    SimDuration::from_secs(u64::from(count))
}

/// A length of time that a quantile came to, without digits that say nothing.
pub(crate) fn roughly(length: SimDuration) -> String {
    let digits = if length < SimDuration::from_secs(60) { 1_000_000 } else { 1_000_000_000 };
    let rounded = SimDuration::from_nanos(length.as_nanos() / digits * digits);
    if length > LONGEST { "a year".to_owned() } else { rounded.to_string() }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::scenario::parse;

    /// The titles and labels of the warnings about a scenario, one a line.
    pub(crate) fn warnings(text: &str) -> String {
        let text = format!("{text}\n[[application]]\nname = \"a\"\ninstances = 100\n");
        let loaded = parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        let lines = loaded.warnings.iter().map(|warning| format!("{}: {}\n", warning.title, warning.label));
        lines.collect()
    }
}
