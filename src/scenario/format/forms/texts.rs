//! Texts, words, and lists of texts.

use std::net::Ipv4Addr;

use serde_json::{Value as Json, json};

use super::or::BesideWord;
use crate::model::id::AppId;
use crate::scenario::diagnostics::suggest::{did_you_mean, one_of};
use crate::scenario::diagnostics::{Place, Problem};
use crate::scenario::document::{Entry, Node};
use crate::scenario::format::form::{Form, Reading, Resolve, out_of_range, wrong_type};
use crate::scenario::format::page::{list, string};
use crate::scenario::types::Names;

/// A text of one line without control characters, as a pattern.
const LINE: &str = r"^[^\u0000-\u001F\u007F-\u009F]*$";

/// A text of one line: it is shown in tables and in charts.
pub(crate) struct Text {
    /// What to do with a text of several lines; empty: nothing to say.
    pub(crate) longer: &'static str,
}

/// A text of any number of lines.
pub(crate) struct Lines;

/// A text is shown on terminals and in charts, which are XML: control characters would act there, and XML has
/// neither these nor the two last characters of the basic plane.
fn text(entry: &Entry, allowed: &str, longer: &str) -> Result<String, Box<Problem>> {
    let text = entry.node.as_text().ok_or_else(|| wrong_type(entry, "a text").boxed())?;
    let wrong = |c: char| (c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}')) && !allowed.contains(c);
    let Some(found) = text.chars().find(|&c| wrong(c)) else { return Ok(text.to_owned()) };
    let (place, key) = (entry.node.place.clone(), &entry.key);
    let problem = if matches!(found, '\n' | '\r') {
        let hint = (!longer.is_empty()).then(|| longer.to_owned());
        let problem = Problem::error(place, format!("`{key}` must be one line")).label("has a line break");
        problem.maybe_hint(hint)
    } else {
        Problem::error(place, format!("`{key}` must not have control characters"))
            .label(format!("has U+{:04X}", u32::from(found)))
            .hint("leave it out")
    };
    Err(problem.boxed())
}

/// A text as the guide tells a default.
fn quoted(text: &str) -> String {
    if text.is_empty() { "empty".to_owned() } else { format!("`{text}`") }
}

impl Form for Text {
    type Value = String;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<String> {
        text(entry, "", self.longer).map_or_else(|problem| reading.refuse(*problem), Some)
    }

    fn print(&self, value: &String, _: Names<'_>) -> String {
        string(value)
    }

    fn in_words(&self, value: &String) -> String {
        quoted(value)
    }

    fn describe(&self) -> String {
        "text".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "string", "pattern": LINE })
    }
}

impl Form for Lines {
    type Value = String;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<String> {
        text(entry, "\n\r\t", "").map_or_else(|problem| reading.refuse(*problem), Some)
    }

    fn print(&self, value: &String, _: Names<'_>) -> String {
        string(value)
    }

    fn in_words(&self, value: &String) -> String {
        quoted(value)
    }

    fn describe(&self) -> String {
        "text".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "string" })
    }
}

/// One of some words, each with what it stands for. See [`words`].
pub(crate) struct Choice<T: 'static> {
    /// The words in their order, as a file may write them.
    pub(crate) words: &'static [(&'static str, T)],
    /// The word that is printed.
    pub(crate) word: fn(&T) -> &'static str,
    /// What to say of a word that is none, if there is more to say than which are.
    pub(crate) hint: fn(&str) -> Option<String>,
}

impl<T> Choice<T> {
    /// The words.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static str> + Clone + use<T> {
        let words = self.words;
        words.iter().map(|(word, _)| *word)
    }

    /// What a word stands for.
    pub(crate) fn of(&self, word: &str) -> Option<&'static T> {
        self.words.iter().find(|(known, _)| *known == word).map(|(_, value)| value)
    }

    /// The word of a value.
    pub(crate) fn word(&self, value: &T) -> &'static str {
        (self.word)(value)
    }
}

/// A [`Choice`]: the values of an enum, each with its word. A value without a word does not compile.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident: $what:ident { $($value:ident = $word:literal),* $(,)? })*) => {
        $($(#[$doc])*
        pub(crate) const $name: $crate::scenario::format::forms::Choice<$what> =
            $crate::scenario::format::forms::Choice {
                words: &[$(($word, $what::$value)),*],
                word: |value| match value {
                    $($what::$value => $word),*
                },
                hint: |_| None,
            };)*
    };
}

pub(crate) use words;

impl<T: Clone + Sync + 'static> Form for Choice<T> {
    type Value = T;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<T> {
        let at = choose(entry, self.all(), self.hint, reading)?;
        Some(self.words[at].1.clone())
    }

    fn print(&self, value: &T, _: Names<'_>) -> String {
        string(self.word(value))
    }

    fn describe(&self) -> String {
        one_of(self.all())
    }

    fn schema(&self) -> Json {
        json!({ "enum": self.all().collect::<Vec<_>>() })
    }
}

/// A list of texts, not empty, each with its place.
pub(crate) struct Listed {
    /// How one is written.
    pub(crate) example: &'static str,
}

impl Listed {
    fn read_or(&self, or: &str, entry: &Entry, reading: &mut Reading<'_>) -> Option<Vec<(String, Place)>> {
        let text = |node: &Node| Some((node.as_text()?.to_owned(), node.place.clone()));
        let texts = entry.node.as_list().and_then(|nodes| nodes.iter().map(text).collect::<Option<Vec<_>>>());
        match texts {
            None => reading.refuse(
                wrong_type(entry, &format!("a list of texts{or}")).hint(format!("write {}", self.example)),
            ),
            Some(texts) if texts.is_empty() => {
                reading.refuse(out_of_range(entry, "must name at least one".into()))
            }
            texts => texts,
        }
    }
}

impl Form for Listed {
    type Value = Vec<(String, Place)>;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Self::Value> {
        self.read_or("", entry, reading)
    }

    fn print(&self, value: &Self::Value, _: Names<'_>) -> String {
        list(value.iter().map(|(text, _)| string(text)))
    }

    fn describe(&self) -> String {
        "list of texts, not empty".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
    }
}

impl BesideWord for Listed {
    fn read_beside(&self, word: &str, entry: &Entry, reading: &mut Reading<'_>) -> Option<Self::Value> {
        self.read_or(&format!(", or `{word}`"), entry, reading)
    }

    fn schema_beside(&self, word: &str) -> Json {
        json!({ "anyOf": [self.schema(), { "enum": [word] }] })
    }
}

/// How a list is written whose texts are no names of anything in particular.
pub(crate) const TEXTS: Listed = Listed { example: "`[\"a\", \"b\"]`, with one or more" };

/// What names of a list stand for, each once.
pub(crate) fn each_once<T: PartialEq>(
    names: Vec<(String, Place)>,
    reading: &mut Reading<'_>,
    find: impl Fn(&dyn Resolve, &str, &Place) -> Result<T, Box<Problem>>,
) -> Vec<T> {
    let mut found = Vec::new();
    for (name, place) in names {
        match reading.resolve(|names| find(names, &name, &place)) {
            Some(it) if found.contains(&it) => reading
                .wrong_name(Problem::error(place, format!("`{name}` is named twice")).label("again here")),
            it => found.extend(it),
        }
    }
    found
}

/// A list of applications.
pub(crate) struct Applications;

impl Form for Applications {
    type Value = Vec<AppId>;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Vec<AppId>> {
        let names = TEXTS.read(entry, reading)?;
        Some(each_once(names, reading, |names, name, place| names.application(name, place)))
    }

    fn print(&self, value: &Vec<AppId>, names: Names<'_>) -> String {
        list(value.iter().map(|app| string(names.application(*app))))
    }

    fn describe(&self) -> String {
        TEXTS.describe()
    }

    fn schema(&self) -> Json {
        TEXTS.schema()
    }
}

/// An IPv4 address.
pub(crate) struct Address;

impl Form for Address {
    type Value = Ipv4Addr;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Ipv4Addr> {
        let form = "as in `\"10.0.1.1\"`";
        let Some(text) = entry.node.as_text() else {
            return reading.refuse(wrong_type(entry, "an IPv4 address").hint(form));
        };
        text.parse().ok().or_else(|| {
            let title = format!("`{}` must be an IPv4 address", entry.key);
            reading.refuse(
                Problem::error(entry.node.place.clone(), title)
                    .label("four numbers from 0 to 255 with dots between them")
                    .hint(form),
            )
        })
    }

    fn print(&self, value: &Ipv4Addr, _: Names<'_>) -> String {
        string(&value.to_string())
    }

    fn describe(&self) -> String {
        "IPv4 address".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "string", "format": "ipv4" })
    }
}

/// One of some words, for what has no type of its own.
pub(crate) struct OneOf(pub(crate) &'static [&'static str]);

impl Form for OneOf {
    type Value = &'static str;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<&'static str> {
        choose(entry, self.0.iter().copied(), |_| None, reading).map(|at| self.0[at])
    }

    fn print(&self, value: &&'static str, _: Names<'_>) -> String {
        string(value)
    }

    fn describe(&self) -> String {
        one_of(self.0.iter().copied())
    }

    fn schema(&self) -> Json {
        json!({ "enum": self.0 })
    }
}

/// Which of some words stands there.
fn choose(
    entry: &Entry,
    words: impl Iterator<Item = &'static str> + Clone,
    hint: fn(&str) -> Option<String>,
    reading: &mut Reading<'_>,
) -> Option<usize> {
    let all = one_of(words.clone());
    let Some(text) = entry.node.as_text() else { return reading.refuse(wrong_type(entry, &all)) };
    words.clone().position(|word| word == text).or_else(|| {
        let hint = hint(text).or_else(|| did_you_mean(text, words));
        reading.refuse(
            Problem::error(entry.node.place.clone(), format!("unknown `{}`: `{text}`", entry.key))
                .label(format!("must be {all}"))
                .maybe_hint(hint),
        )
    })
}
