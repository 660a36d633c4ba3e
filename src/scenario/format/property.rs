//! A setting of a registry as data: its key, and the field of a configuration that it sets. Reading and printing go
//! through the same entry, so that neither can forget one.

use crate::model::message::Status;
use crate::scenario::format::page::string;
use crate::scenario::format::values::Values;
use crate::scenario::format::{Key, Shape};

/// Milliseconds that a property may name at most: a Java `int`.
pub(crate) const MS_MAX: u64 = 2_147_483_647;
/// Milliseconds, at least one.
pub(crate) const MS: Shape = Shape::Count { min: 1, max: MS_MAX, unit: "milliseconds" };
/// Milliseconds.
pub(crate) const MS_OR_NONE: Shape = Shape::Count { min: 0, max: MS_MAX, unit: "milliseconds" };

/// A property of a configuration `C`.
#[derive(Debug)]
pub(crate) struct Property<C: 'static> {
    pub(crate) key: Key,
    pub(crate) field: Field<C>,
}

/// The field that a property sets.
#[derive(Debug)]
pub(crate) enum Field<C: 'static> {
    Flag(fn(&mut C) -> &mut bool),
    Count(fn(&mut C) -> &mut u32),
    Share(fn(&mut C) -> &mut f64),
    /// The first status: one of Eureka's names, or `none`.
    Status(fn(&mut C) -> &mut Option<Status>),
    /// A count, or the only word of its shape.
    MaybeCount(fn(&mut C) -> &mut Option<u32>),
    /// A share, or the only word of its shape.
    MaybeShare(fn(&mut C) -> &mut Option<f64>),
    /// One of the words of its shape: how it is read off, and set if the word is one.
    Word(fn(&C) -> &'static str, fn(&mut C, &str)),
}

/// Properties in a list, each in a line: its name and shape, the kind of its field and the field, its default in words
/// and what it means. Of a [`Field::Word`] the type of the field is one of [`Words`].
macro_rules! properties {
    (@field Word $field:ident) => {
        Field::Word(
            |config| config.$field.word(),
            |config, word| {
                if let Some(value) = Words::of(word) {
                    config.$field = value;
                }
            },
        )
    };
    (@field $kind:ident $($field:ident).+) => { Field::$kind(|config| &mut config.$($field).+) };
    ($($name:literal, $shape:expr, $kind:ident $($field:ident).+, $default:literal, $doc:literal;)*) => {
        &[$(Property {
            key: Key { name: $name, shape: $shape, default: $default, doc: $doc },
            field: properties!(@field $kind $($field).+),
        }),*]
    };
}

pub(crate) use properties;

/// Something that is one of a few, each with a word of its own.
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// The words.
    const WORDS: &'static [&'static str];
    /// What they stand for, in the same order.
    const VALUES: &'static [Self];

    /// The word that stands for it.
    fn word(self) -> &'static str {
        let at = Self::VALUES.iter().position(|value| *value == self);
        Self::WORDS[at.expect("every value has a word")]
    }

    /// What a word stands for.
    fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().position(|known| *known == word).map(|at| Self::VALUES[at])
    }
}

/// Sets the properties that a section names.
pub(crate) fn apply<C>(values: Values<'_>, properties: &[Property<C>], config: &mut C) {
    for Property { key, field } in properties {
        match field {
            Field::Flag(field) => set(field(config), values.flag(key.name)),
            Field::Count(field) => {
                let default = match key.shape {
                    Shape::CountOrDefault { default, .. } => Some(default),
                    _ => None,
                };
                let number = values.integer(key.name);
                let count = match default {
                    Some(default) if number.is_some_and(|number| number <= 0) => Some(default),
                    _ => values.count(key.name),
                };
                set(field(config), count);
            }
            Field::Share(field) => set(field(config), values.number(key.name)),
            Field::Status(field) => set(field(config), values.text(key.name).map(status)),
            Field::MaybeCount(field) => set(field(config), or_word(values, key, Values::count)),
            Field::MaybeShare(field) => set(field(config), or_word(values, key, Values::number)),
            Field::Word(_, set) => {
                if let Some(word) = values.text(key.name) {
                    set(config, word);
                }
            }
        }
    }
}

/// A value, or the word that stands for its absence.
fn or_word<'d, T>(
    values: Values<'d>,
    key: &Key,
    read: fn(Values<'d>, &str) -> Option<T>,
) -> Option<Option<T>> {
    if values.text(key.name).is_some_and(|text| text == only_word(key)) {
        return Some(None);
    }
    read(values, key.name).map(Some)
}

fn only_word(key: &Key) -> &'static str {
    match key.shape {
        Shape::CountOr { word, .. } | Shape::ShareOr { word } => word,
        _ => unreachable!("a field that may be absent has a word for it"),
    }
}

pub(crate) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

fn status(word: &str) -> Option<Status> {
    Status::ALL.into_iter().find(|status| status.name() == word)
}

/// The value of a property as it is written in a file.
pub(crate) fn printed<C: Clone>(property: &Property<C>, config: &C) -> String {
    let config = &mut config.clone();
    let or_word = |value: Option<String>| value.unwrap_or_else(|| string(only_word(&property.key)));
    match property.field {
        Field::Flag(field) => field(config).to_string(),
        Field::Count(field) => field(config).to_string(),
        Field::Share(field) => format!("{:?}", field(config)),
        Field::Status(field) => string(field(config).map_or("none", |status| status.name())),
        Field::MaybeCount(field) => or_word(field(config).map(|count| count.to_string())),
        Field::MaybeShare(field) => or_word(field(config).map(|share| format!("{share:?}"))),
        Field::Word(word, _) => string(word(config)),
    }
}
