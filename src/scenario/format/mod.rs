//! The format as data: how a key is declared, and everything that follows from a declaration.
//!
//! One table, many readers: the walk over a file and its suggestions ([`walk`]), the JSON schema and the tables of
//! `docs/SCENARIO.md`.

pub(crate) mod distribution;
pub(crate) mod duration;
pub(crate) mod of_servers;
pub(crate) mod page;
pub(crate) mod property;
pub(crate) mod values;
pub(crate) mod walk;

use crate::engine::SimDuration;

/// A key of a section.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// The default, in words; empty if the key must be there or has none.
    pub(crate) default: &'static str,
    pub(crate) doc: &'static str,
}

/// What may stand behind a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A text of one line: it is shown in tables and in charts.
    Text,
    /// A text of any number of lines.
    Lines,
    /// `true` or `false`.
    Flag,
    /// A whole number in a range, in a unit (empty: things).
    Count { min: u64, max: u64, unit: &'static str },
    /// A whole number of seconds of which the client takes zero or less for its default
    /// (`eureka-client.md` section 7).
    CountOrDefault { max: u64, default: u32, unit: &'static str },
    /// A whole number in a range that reaches below zero, in a unit.
    Signed { min: i64, max: i64, unit: &'static str },
    /// A whole number in a range, in a unit, or a word.
    CountOr { min: u64, max: u64, unit: &'static str, word: &'static str },
    /// A number from 0 to 1.
    Share,
    /// A number from 0 to 1, or a word.
    ShareOr { word: &'static str },
    /// A number above 0, at most 1.
    PositiveShare,
    /// A number above 0, or one of some words.
    Rate { words: &'static [&'static str] },
    /// A duration in a range, or one of some words.
    Length { min: SimDuration, max: SimDuration, words: &'static [&'static str] },
    /// One of some words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Names,
    /// A list of texts, or one of some words.
    NamesOr(&'static [&'static str]),
    /// A list of durations.
    Lengths,
    /// An IPv4 address.
    Address,
    /// A table that gives servers by name a list of names of servers.
    PeersByServer,
    /// Servers: `"all"`, how many, or a list of their names.
    Servers,
    /// A duration, or a distribution of durations ([`crate::scenario::format::values::distribution`]); whether all of its values may
    /// be zero.
    Distribution { zero: bool },
    /// A duration of whole milliseconds, negative or not.
    Shift,
    /// The other end of a link: a word, a table of `application` and `zone`, or one of `servers`.
    Peer,
    /// `"all"`, or a number above 0, at most 1.
    ShareOfReplicates,
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
}

/// A table of the format.
#[derive(Debug)]
pub(crate) struct Section {
    /// As it is written in a file: `eureka.server`, `application`; empty for the top.
    pub(crate) path: &'static str,
    pub(crate) keys: fn() -> Vec<&'static Key>,
}

impl Section {
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        (self.keys)().into_iter().find(|key| key.name == name)
    }
}

const ONE_NANO: SimDuration = SimDuration::from_nanos(1);
pub(crate) const LONGEST: SimDuration = crate::scenario::format::duration::LONGEST;

/// Instances that may run at once, those that faults start included.
pub(crate) const INSTANCES_MAX: u64 = 1_000_000;

pub(crate) const fn key(name: &'static str, shape: Shape, default: &'static str, doc: &'static str) -> Key {
    Key { name, shape, default, doc }
}

/// A duration that may be zero.
pub(crate) const fn length() -> Shape {
    Shape::Length { min: SimDuration::ZERO, max: LONGEST, words: &[] }
}

/// A duration that may not be zero.
pub(crate) const fn positive_length(words: &'static [&'static str]) -> Shape {
    Shape::Length { min: ONE_NANO, max: LONGEST, words }
}

pub(crate) const fn count(min: u64, max: u64) -> Shape {
    Shape::Count { min, max, unit: "" }
}

/// A section as a static.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident, $path:literal, $keys:expr) => {
        $(#[$doc])*
        pub(crate) static $name: Section = Section { path: $path, keys: || $keys };
    };
}

pub(crate) use section;
