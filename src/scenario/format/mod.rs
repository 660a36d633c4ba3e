//! How a setting of a scenario file is declared, and everything that follows from a declaration.
//!
//! # The idea
//!
//! A setting is a line of [`settings!`]: its name, its *form* (what may stand there), the field that it sets, its default, and
//! what it means. Everything else is derived: reading and printing, the check of types and ranges with all its messages, the
//! JSON schema, the table of the guide, what is suggested to whoever misspells it, and where it stands in a file.
//!
//! ```text
//! settings! {
//!     /// `[network]`, `[application.network]` and `[server.network]`.
//!     links: Network, "network";
//!     "latency": DELAY, latency = Delay::Constant(MILLISECOND), "One way, between any two nodes.";
//!     "loss": SHARE, loss = 0.0, "The probability that …";
//! }
//! ```
//!
//! makes a module `links` of
//!
//! | | |
//! |---|---|
//! | `links::latency`, `links::loss` | a [`Setting`] each, under the name of the field: its key, whether and where a table has it |
//! | `links::ALL` | all of them, in their order, which is that of the schema, the guide and the canonical text |
//! | `links::SECTION` | the [`Section`], for `&Table(&links::SECTION)` in the section above |
//! | [`read`]`(links::ALL, table, &mut config, …)` | sets the fields that a table names; the others keep what they were |
//! | [`reset`]`(links::ALL, &mut config)` | sets every field that has a default of its own |
//! | `page.settings(links::ALL, &config, unless)` | writes them, or those that differ |
//!
//! Fields are those of the type that the setting is for, so a layer over another (`[application.network]` over `[network]`)
//! is a clone that is read into. Where a file says more than the checked type holds (a name to be resolved, a value with a
//! condition), the type is a small struct of what is *written*, beside the declaration.
//!
//! # To add a setting
//!
//! Add a line to the section's `settings!` and a field to its type. The default is one of
//!
//! * `field = value`: the value; its words are derived by the form ([`Form::in_words`]);
//! * `field, else "words"`: it depends on something else, which the reader of the section works out;
//! * `field`: there is none or, in a type with [`Presets`], what the presets say.
//!
//! Then run the tests: the one of the guide shows the table for `docs/SCENARIO.md`.
//!
//! # To add a form
//!
//! Look into [`forms`] first: `Or(form, "word")` takes a word beside, `Maybe(form)` is for what has no default, `words!` makes
//! a choice of an enum. Else implement [`Form`]; it says all there is to say about a kind of value. A form that names
//! applications, zones or servers asks [`Reading::resolve`], and is read with [`Reading::names`].
//!
//! # Carets
//!
//! A check that takes several settings asks for the place of what it read: `links::latency.place(root)`. There is no path in a
//! text that could be misspelt.
//!
//! # At run time
//!
//! `(section.keys)()` lists the [`Key`]s of a section and, by [`AnyForm::below`], of those in it: name, path, kind and range
//! ([`AnyForm::schema`]), default in words, meaning.

pub(crate) mod distribution;
pub(crate) mod duration;
pub(crate) mod form;
pub(crate) mod forms;
pub(crate) mod page;
pub(crate) mod values;
pub(crate) mod walk;

use serde_json::{Map, Value as Json, json};

use self::form::{AnyForm, Form, Reading};
use self::values::Values;
use crate::scenario::diagnostics::Place;
use crate::scenario::document::{Entry, Table};
use crate::scenario::types::Names;

/// Instances that may run at once, those that faults start included.
pub(crate) const INSTANCES_MAX: u32 = 1_000_000;

/// The longest duration that a file may name.
pub(crate) const LONGEST: crate::engine::SimDuration = duration::LONGEST;

/// A key of a section.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What may stand there.
    pub(crate) form: &'static dyn AnyForm,
    pub(crate) default: Unsaid,
    pub(crate) doc: &'static str,
}

/// What holds where a key is not said.
pub(crate) enum Unsaid {
    /// The key must be there, or nothing holds.
    Nothing,
    /// In words: it depends on something.
    NamedValues(&'static str),
    /// A value, in words that are derived from it.
    Value(fn() -> String),
}

impl Key {
    /// The default, in words; empty if the key must be there or has none.
    pub(crate) fn default(&self) -> String {
        match self.default {
            Unsaid::Nothing => String::new(),
            Unsaid::NamedValues(words) => words.to_owned(),
            Unsaid::Value(words) => words(),
        }
    }

    fn schema(&self) -> Json {
        let mut schema = self.form.schema();
        let default = self.default();
        let default = if default.is_empty() { default } else { format!(" Default: {default}.") };
        schema["description"] = json!(format!("{}{default}", self.doc));
        schema
    }
}

/// A table of the format.
pub(crate) struct Section {
    /// As it is written in a file: `eureka.server`, `application`; empty for the top.
    pub(crate) path: &'static str,
    pub(crate) keys: fn() -> Vec<&'static Key>,
    /// Keys that must be there.
    pub(crate) required: &'static [&'static str],
    /// Keys of which at least one must be there; empty: none need.
    pub(crate) some_of: &'static [&'static str],
    /// Keys of which exactly one must be there; empty: none need.
    pub(crate) one_of: fn() -> Vec<&'static str>,
    /// How it is written; empty: as a table in brackets.
    pub(crate) example: &'static str,
}

impl Section {
    /// A section without keys, to start from.
    pub(crate) const EMPTY: Self =
        Self { path: "", keys: Vec::new, required: &[], some_of: &[], one_of: Vec::new, example: "" };

    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        (self.keys)().into_iter().find(|key| key.name == name)
    }

    /// The JSON schema of such a table.
    pub(crate) fn schema(&self) -> Json {
        let properties: Map<String, Json> =
            (self.keys)().iter().map(|key| (key.name.to_owned(), key.schema())).collect();
        let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
        let each =
            |choices: &[&str]| choices.iter().map(|name| json!({ "required": [name] })).collect::<Json>();
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        if !self.some_of.is_empty() {
            schema["anyOf"] = each(self.some_of);
        }
        let one_of = (self.one_of)();
        if !one_of.is_empty() {
            schema["oneOf"] = each(&one_of);
        }
        schema
    }
}

/// A section that is put together of keys from several places, as a static.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident, $path:literal, $keys:expr $(, $rule:ident: $value:expr)* $(,)?) => {
        $(#[$doc])*
        pub(crate) static $name: $crate::scenario::format::Section = $crate::scenario::format::Section {
            path: $path,
            keys: || $keys,
            $($rule: $value,)*
            ..$crate::scenario::format::Section::EMPTY
        };
    };
}

pub(crate) use section;

/// A key whose value nothing derived reads: that of a table, or of a section that is read by hand.
pub(crate) const fn key(
    name: &'static str,
    form: &'static dyn AnyForm,
    default: &'static str,
    doc: &'static str,
) -> Key {
    let default = if default.is_empty() { Unsaid::Nothing } else { Unsaid::NamedValues(default) };
    Key { name, form, default, doc }
}

/// A key and the field of a `C` that it sets.
pub(crate) struct Setting<C: 'static> {
    pub(crate) key: Key,
    /// The path of its section, below the file or below an application.
    pub(crate) path: &'static str,
    /// Sets the field to what stands in a file, if that is a value.
    pub(crate) set: fn(&mut C, &Entry, &mut Reading<'_>),
    /// Sets the field to the default, if there is one of its own.
    pub(crate) reset: fn(&mut C),
    /// The canonical text of the field; `None` if it is not written.
    pub(crate) text: fn(&C, Names<'_>) -> Option<String>,
}

impl<C> Setting<C> {
    /// Where a file, or an application of it, has it.
    pub(crate) fn place(&self, root: &Table) -> Option<Place> {
        let section = self.path.split('.').try_fold(root, |table, name| table.table(name))?;
        section.get(self.key.name).map(|node| node.place.clone())
    }

    /// Whether two configurations have different values.
    pub(crate) fn differs(&self, one: &C, other: &C) -> bool {
        (self.text)(one, Names::NONE) != (self.text)(other, Names::NONE)
    }

    /// Whether a table of its section has it.
    pub(crate) fn is_in(&self, table: Option<&Table>) -> bool {
        table.is_some_and(|table| table.get(self.key.name).is_some())
    }
}

/// Sets what a table names.
pub(crate) fn read<C>(
    settings: &[&'static Setting<C>],
    table: Option<&Table>,
    config: &mut C,
    reading: &mut Reading<'_>,
) {
    let Some(table) = table else { return };
    for setting in settings {
        if let Some(entry) = table.entry(setting.key.name) {
            (setting.set)(config, entry, reading);
        }
    }
}

/// Sets what a table names, none of it a name.
pub(crate) fn apply<C>(settings: &[&'static Setting<C>], values: Values<'_>, config: &mut C) {
    read(settings, values.0, config, &mut Reading::values(&mut Vec::new()));
}

/// Sets every field that has a default of its own.
pub(crate) fn reset<C>(settings: &[&'static Setting<C>], mut config: C) -> C {
    settings.iter().for_each(|setting| (setting.reset)(&mut config));
    config
}

/// The keys of some settings.
pub(crate) fn keys<C>(settings: &[&'static Setting<C>]) -> impl Iterator<Item = &'static Key> + use<C> {
    let settings = settings.to_vec();
    settings.into_iter().map(|setting| &setting.key)
}

/// A type whose defaults come in two sets, each with a name.
pub(crate) trait Presets: Sized {
    /// The two.
    fn presets() -> [(&'static str, Self); 2];
}

/// A default that the presets decide, in words: one value, or `spring: 200; netflix: 1000`.
pub(crate) fn by_preset<C: Presets>(text: fn(&C, Names<'_>) -> Option<String>) -> String {
    let [(first, one), (second, other)] = C::presets();
    let [one, other] = [one, other].map(|config| text(&config, Names::NONE).unwrap_or_default());
    let (one, other) = (one.trim_matches('"'), other.trim_matches('"'));
    if one == other { one.to_owned() } else { format!("{first}: {one}; {second}: {other}") }
}

/// A value in the words of its form.
pub(crate) fn in_words<F: Form>(form: &F, value: &F::Value) -> String {
    form.in_words(value)
}

/// Settings in a list, each in a line. See [the module](self).
macro_rules! settings {
    (@unsaid by_presets, $config:ty, $form:expr, [$($field:ident).+], [], []) => {
        Unsaid::Value(|| by_preset::<$config>(|config, names| Some(Form::print(&$form, &config.$($field).+, names))))
    };
    (@unsaid $how:ident, $config:ty, $form:expr, [$($field:ident).+], [], [$words:literal]) => { Unsaid::NamedValues($words) };
    (@unsaid own, $config:ty, $form:expr, [$($field:ident).+], [$value:expr], []) => {
        Unsaid::Value(|| in_words(&$form, &$value))
    };
    (@unsaid own, $config:ty, $form:expr, [$($field:ident).+], [], []) => { Unsaid::Nothing };
    (@reset $config:ident, [$($field:ident).+], [$value:expr]) => { $config.$($field).+ = $value };
    (@reset $config:ident, [$($field:ident).+], []) => { let _ = $config; };
    (
        $(#[$doc:meta])*
        $module:ident: $config:ty $(, $how:ident)?, $path:literal;
        $($name:literal: $form:expr, $field:ident $(in $outer:ident)? $(= $value:expr)? $(, else $words:literal)?, $meaning:literal;)*
    ) => {
        $crate::scenario::format::settings! {
            @module [$($how)? own] $(#[$doc])* $module: $config, $path;
            $($name: $form, $field, [$($outer.)? $field], [$($value)?], [$($words)?], $meaning;)*
        }
    };
    (
        @module [$how:ident $($own:ident)?] $(#[$doc:meta])* $module:ident: $config:ty, $path:literal;
        $($name:literal: $form:expr, $field:ident, [$($at:tt)*], [$($value:expr)?], [$($words:literal)?], $meaning:literal;)*
    ) => {
        $(#[$doc])*
        #[allow(non_upper_case_globals, unused_imports, reason = "settings have the names of their fields")]
        pub(crate) mod $module {
            use super::*;
            use $crate::scenario::format::form::Form;
            use $crate::scenario::format::{Key, Section, Setting, Unsaid, by_preset, in_words, keys};

            $(pub(crate) static $field: Setting<$config> = Setting {
                key: Key {
                    name: $name,
                    form: &$form,
                    default: $crate::scenario::format::settings!(
                        @unsaid $how, $config, $form, [$($at)*], [$($value)?], [$($words)?]
                    ),
                    doc: $meaning,
                },
                path: $path,
                set: |config, entry, reading| {
                    if let Some(value) = Form::read(&$form, entry, reading) {
                        config.$($at)* = value;
                    }
                },
                reset: |config| {
                    $crate::scenario::format::settings!(@reset config, [$($at)*], [$($value)?]);
                },
                text: |config, names| {
                    let (form, value) = (&$form, &config.$($at)*);
                    Form::is_written(form, value).then(|| Form::print(form, value, names))
                },
            };)*

            /// All of them, in their order.
            pub(crate) static ALL: &[&Setting<$config>] = &[$(&$field),*];

            /// The section of them alone.
            #[allow(dead_code, reason = "some sections have more keys than these")]
            pub(crate) static SECTION: Section =
                Section { path: $path, keys: || keys(ALL).collect(), ..Section::EMPTY };
        }
    };
}

pub(crate) use settings;

#[cfg(test)]
mod tests {
    use super::form::Below;
    use super::forms::{Or, SHARE, Text, count, positive_length};
    use super::*;
    use crate::scenario::file::format::TOP;

    #[test]
    fn defaults_are_told_in_words() {
        assert_eq!(in_words(&Text { longer: "" }, &String::new()), "empty");
        assert_eq!(in_words(&Text { longer: "" }, &"untitled".to_owned()), "`untitled`");
        assert_eq!(in_words(&count(1, u64::MAX), &1_000_000_000), "1_000_000_000");
        assert_eq!(in_words(&count(1, 1_000_000), &100), "100");
        assert_eq!(in_words(&Or(positive_length(), "none"), &None), "none");
        assert_eq!(in_words(&SHARE, &0.0), "0");
    }

    #[test]
    fn presets_that_differ_are_both_told() {
        use crate::scenario::two_stage::parameters::server;
        assert_eq!(server::hard_timeout_ms.key.default(), "two-stage: 60000; nacos-1: 30000");
        assert_eq!(server::soft_timeout_ms.key.default(), "15000");
        assert_eq!(server::read_protect_threshold.key.default(), "two-stage: none; nacos-1: 0.0");
    }

    fn visit(section: &'static Section, seen: &mut dyn FnMut(&'static Section, &'static Key)) {
        for key in (section.keys)() {
            seen(section, key);
            if let Below::Table(below) | Below::Tables(below) = key.form.below() {
                visit(below, seen);
            }
        }
    }

    #[test]
    fn no_section_names_a_key_twice() {
        visit(&TOP, &mut |section, key| {
            let same = (section.keys)().into_iter().filter(|other| other.name == key.name).count();
            assert_eq!(same, 1, "{} in {}", key.name, section.path);
        });
    }
}
