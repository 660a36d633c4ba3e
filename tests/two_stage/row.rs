//! What a log is made of: rows of the kinds that section 7 of the specification names, and when two logs are the same.
//!
//! Rows of one millisecond about different things have no order: the specification fixes one (its section 0) but says
//! that no vector depends on it. So a log is brought into a normal form first: millisecond by millisecond, rows of one
//! kind about one service stand together, and what the conventions merge is merged.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::ids::Ids;

/// What a service's, or every service's, list of instances is.
pub(crate) type Map = BTreeMap<String, Ids>;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// When, ms.
    pub t: u64,
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// Of which service, consumer or subscriber; empty if that goes without saying.
    pub of: String,
    /// The rest.
    pub what: What,
}

/// What a row says besides its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Nothing.
    Nothing,
    /// Something about instances.
    Ids {
        /// Which.
        ids: Ids,
        /// The revision after it; several rows that are merged have several.
        revision: Option<(u32, u32)>,
        /// Healthy or unhealthy.
        state: Option<String>,
    },
    /// What a guard saw, and the revision before.
    Guard(u64, u64, u32),
    /// Lists of instances.
    Map(Map),
    /// How long lists are.
    Sizes(BTreeMap<String, u64>),
    /// The how-many-th failure in a row, and the wait after it, ms.
    Failure(u64, u64),
    /// An answer to a long poll: its revision, the length of its list, and why it came.
    Answer(u32, u64, String),
    /// A revision.
    Revision(u32),
    /// A service's list that was pushed.
    Pushed(String, Ids),
}

/// How a kind's row goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `svc, ids, revision`: many at a time.
    Change,
    /// `svc, ids`: many at a time.
    Bare,
    /// `svc, ids, revision, state`: many at a time.
    Again,
    /// `svc, ids, revision`: one a sweep.
    Sweep,
    /// `svc, healthy/size, revision`.
    Guard,
    /// `map`.
    Fetch,
    /// `consumer, map`.
    View,
    /// `consumer, sizes`.
    Reject,
    /// `consumer, failures, wait`.
    Failure,
    /// `consumer`.
    Named,
    /// `svc, revision, length, cause`.
    Answer,
    /// `svc, revision`.
    Timeout,
    /// `subscriber, svc, ids`.
    Push,
    /// Nothing.
    Lone,
}

/// Every kind, in the order in which one millisecond's rows are put.
const FORMS: &[(&str, Form)] = &[
    ("registry_down", Form::Lone),
    ("registry_up_empty", Form::Lone),
    ("registry_up", Form::Lone),
    ("exit", Form::Bare),
    ("start_failed", Form::Named),
    ("hb_false", Form::Bare),
    ("registered", Form::Change),
    ("reregistered", Form::Again),
    ("recovered", Form::Change),
    ("deregistered", Form::Change),
    ("fetch", Form::Fetch),
    ("guard_closed", Form::Guard),
    ("guard_open", Form::Guard),
    ("soft", Form::Sweep),
    ("removed", Form::Sweep),
    ("view_from_disk", Form::View),
    ("view", Form::View),
    ("reject", Form::Reject),
    ("refresh_fail", Form::Failure),
    ("warn", Form::Named),
    ("watch_apply", Form::Answer),
    ("watch_reject", Form::Answer),
    ("watch_timeout", Form::Timeout),
    ("push", Form::Push),
];

/// Kinds of our own, which count only if a vector names them: it cannot expect what the conventions do not know.
pub(crate) const EXTRA_KINDS: [&str; 2] = ["start_failed", "registry_up"];

impl Row {
    /// A row about instances.
    pub(crate) fn ids<S: Into<String>>(
        t: u64,
        kind: &'static str,
        svc: &str,
        ids: impl IntoIterator<Item = S>,
        revision: Option<u32>,
    ) -> Self {
        let ids = ids.into_iter().collect();
        let what = What::Ids { ids, revision: revision.map(|it| (it, it)), state: None };
        Self { t, kind, of: svc.to_owned(), what }
    }

    /// Any other row.
    pub(crate) fn new(t: u64, kind: &'static str, of: &str, what: What) -> Self {
        Self { t, kind, of: of.to_owned(), what }
    }

    /// Reads `[t, kind, …]`.
    pub(crate) fn parse(row: &Value) -> Result<Self, String> {
        let fields = row.as_array().ok_or("a row is a list")?;
        let t = fields.first().and_then(Value::as_u64).ok_or("a row begins with a time")?;
        let kind = text(fields, 1)?;
        let &(kind, form) =
            FORMS.iter().find(|it| it.0 == kind).ok_or_else(|| format!("no kind of row: {kind:?}"))?;
        let rest = &fields[2..];
        let (of, what) = form.read(rest)?;
        Ok(Self { t, kind, of, what })
    }

    fn form(&self) -> Form {
        FORMS[self.rank()].1
    }

    fn rank(&self) -> usize {
        FORMS.iter().position(|it| it.0 == self.kind).expect("a kind")
    }

    /// Whether rows like this one are merged with their neighbours, and `other` is such a neighbour.
    fn merges_with(&self, other: &Self) -> bool {
        let many = matches!(self.form(), Form::Change | Form::Bare | Form::Again);
        let state = |row: &Self| match &row.what {
            What::Ids { state, .. } => state.clone(),
            _ => None,
        };
        many && (self.t, self.kind, &self.of) == (other.t, other.kind, &other.of)
            && state(self) == state(other)
    }

    fn merge(&mut self, other: &Self) {
        let (What::Ids { ids, revision, .. }, What::Ids { ids: more, revision: then, .. }) =
            (&mut self.what, &other.what)
        else {
            unreachable!("only rows of instances are merged")
        };
        ids.extend(more);
        if let (Some((first, last)), Some((from, to))) = (revision, then) {
            (*first, *last) = ((*first).min(*from), (*last).max(*to));
        }
    }
}

impl Form {
    fn read(self, rest: &[Value]) -> Result<(String, What), String> {
        let of = || text(rest, 0).map(str::to_owned);
        let ids = |at| Ids::parse(text(rest, at)?);
        let changed = |revision, state| -> Result<_, String> {
            Ok((of()?, What::Ids { ids: ids(1)?, revision, state }))
        };
        let (read, fields) = match self {
            Self::Change | Self::Sweep => (changed(Some(revisions(rest, 2)?), None)?, 3),
            Self::Bare => (changed(None, None)?, 2),
            Self::Again => (changed(Some(revisions(rest, 2)?), Some(text(rest, 3)?.to_owned()))?, 4),
            Self::Guard => {
                let seen = text(rest, 1)?.split_once('/').ok_or("a guard sees healthy/size")?;
                let number = |text: &str| text.parse().map_err(|_| format!("no number: {text:?}"));
                let what = What::Guard(number(seen.0)?, number(seen.1)?, number_at(rest, 2)? as u32);
                ((of()?, what), 3)
            }
            Self::Fetch => ((String::new(), What::Map(map(rest, 0)?)), 1),
            Self::View => ((of()?, What::Map(map(rest, 1)?)), 2),
            Self::Reject => {
                let sizes = rest.get(1).and_then(Value::as_object).ok_or("sizes are a table")?;
                let size = |(svc, size): (&String, &Value)| Some((svc.clone(), size.as_u64()?));
                let sizes = sizes.iter().map(size).collect::<Option<_>>().ok_or("sizes are numbers")?;
                ((of()?, What::Sizes(sizes)), 2)
            }
            Self::Failure => ((of()?, What::Failure(number_at(rest, 1)?, number_at(rest, 2)?)), 3),
            Self::Named => ((of()?, What::Nothing), 1),
            Self::Answer => {
                let cause = text(rest, 3)?.to_owned();
                ((of()?, What::Answer(number_at(rest, 1)? as u32, number_at(rest, 2)?, cause)), 4)
            }
            Self::Timeout => ((of()?, What::Revision(number_at(rest, 1)? as u32)), 2),
            Self::Push => ((of()?, What::Pushed(text(rest, 1)?.to_owned(), ids(2)?)), 3),
            Self::Lone => ((String::new(), What::Nothing), 0),
        };
        if rest.len() == fields { Ok(read) } else { Err(format!("{fields} fields expected: {rest:?}")) }
    }
}

fn text(fields: &[Value], at: usize) -> Result<&str, String> {
    fields.get(at).and_then(Value::as_str).ok_or_else(|| format!("no text at {at}: {fields:?}"))
}

fn number_at(fields: &[Value], at: usize) -> Result<u64, String> {
    fields.get(at).and_then(Value::as_u64).ok_or_else(|| format!("no number at {at}: {fields:?}"))
}

/// `3`, or `"22-41"`.
fn revisions(fields: &[Value], at: usize) -> Result<(u32, u32), String> {
    if let Some(range) = fields.get(at).and_then(Value::as_str) {
        let number = |text: &str| text.parse().map_err(|_| format!("no revision: {range:?}"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        return Ok((number(first)?, number(last)?));
    }
    number_at(fields, at).map(|it| (it as u32, it as u32))
}

fn map(fields: &[Value], at: usize) -> Result<Map, String> {
    read_map(fields.get(at).ok_or("a map is missing")?)
}

/// Reads `{"s": "a1-a4", "u": ""}`.
pub(crate) fn read_map(value: &Value) -> Result<Map, String> {
    let lists = value.as_object().ok_or("a map is a table")?;
    let list = |(svc, ids): (&String, &Value)| -> Result<_, String> {
        Ok((svc.clone(), Ids::parse(ids.as_str().ok_or("a list of ids is a text")?)?))
    };
    lists.iter().map(list).collect()
}

/// The normal form of a log.
pub(crate) fn normal(mut rows: Vec<Row>) -> Vec<Row> {
    // Several clients of one service may be answered at once: of these rows only the text tells them apart.
    let text = |row: &Row| matches!(row.form(), Form::Answer | Form::Timeout).then(|| row.to_string());
    rows.sort_by_cached_key(|row| (row.t, row.rank(), row.of.clone(), text(row)));
    let mut merged: Vec<Row> = Vec::new();
    for row in rows {
        match merged.iter_mut().rev().take_while(|it| it.t == row.t).find(|it| it.merges_with(&row)) {
            Some(last) => last.merge(&row),
            None => merged.push(row),
        }
    }
    merged
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {:?}", self.t, self.kind)?;
        if !self.of.is_empty() {
            write!(f, ", {:?}", self.of)?;
        }
        match &self.what {
            What::Nothing => Ok(()),
            What::Ids { ids, revision, state } => {
                write!(f, ", \"{ids}\"")?;
                match revision {
                    Some((first, last)) if first == last => write!(f, ", {first}")?,
                    Some((first, last)) => write!(f, ", \"{first}-{last}\"")?,
                    None => {}
                }
                state.iter().try_for_each(|state| write!(f, ", {state:?}"))
            }
            What::Guard(healthy, size, revision) => write!(f, ", \"{healthy}/{size}\", {revision}"),
            What::Map(map) => {
                let lists: Vec<_> = map.iter().map(|(svc, ids)| format!("{svc:?}: \"{ids}\"")).collect();
                write!(f, ", {{{}}}", lists.join(", "))
            }
            What::Sizes(sizes) => {
                let sizes: Vec<_> = sizes.iter().map(|(svc, size)| format!("{svc:?}: {size}")).collect();
                write!(f, ", {{{}}}", sizes.join(", "))
            }
            What::Failure(failures, wait) => write!(f, ", {failures}, {wait}"),
            What::Answer(revision, length, cause) => write!(f, ", {revision}, {length}, {cause:?}"),
            What::Revision(revision) => write!(f, ", {revision}"),
            What::Pushed(svc, ids) => write!(f, ", {svc:?}, \"{ids}\""),
        }?;
        write!(f, "]")
    }
}

/// Where two logs in normal form differ, a line each: `-` is missing, `+` is too much.
pub(crate) fn differences(expected: &[Row], found: &[Row]) -> Vec<String> {
    // The longest common subsequence, as one would look for it by hand.
    let (n, m) = (expected.len(), found.len());
    let mut longest = vec![vec![0_usize; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            longest[i][j] = if expected[i] == found[j] {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < n || j < m {
        if i < n && j < m && expected[i] == found[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == m || (i < n && longest[i + 1][j] >= longest[i][j + 1]) {
            lines.push(format!("- {}", expected[i]));
            i += 1;
        } else {
            lines.push(format!("+ {}", found[j]));
            j += 1;
        }
    }
    lines
}

#[test]
fn rows_are_written_as_they_are_read() {
    let rows = [
        r#"[100, "registered", "s", "a1-a2", "1-2"]"#,
        r#"[100, "hb_false", "s", "a"]"#,
        r#"[40100, "reregistered", "s", "a", 2, "unhealthy"]"#,
        r#"[39000, "guard_closed", "s", "16/20", 21]"#,
        r#"[41000, "fetch", {"s": "", "u": "b1"}]"#,
        r#"[1000, "view", "c", {"s": "a1-a4"}]"#,
        r#"[11000, "reject", "c", {"s": 1, "u": 2}]"#,
        r#"[16000, "refresh_fail", "c", 1, 2000]"#,
        r#"[42410, "watch_reject", "s", 4, 0, "timeout"]"#,
        r#"[42410, "watch_timeout", "s", 4]"#,
        r#"[1100, "push", "c", "s", "a1"]"#,
        r#"[12000, "registry_down"]"#,
    ];
    for row in rows {
        let read = Row::parse(&serde_json::from_str(row).expect(row)).expect(row);
        assert_eq!(read.to_string(), row);
    }
    for row in [r#"[1, "warn"]"#, r#"[1, "warn", "c", 2]"#, r#"["warn", "c"]"#, r#"[1, "wrong", "c"]"#] {
        assert!(Row::parse(&serde_json::from_str(row).expect(row)).is_err(), "{row}");
    }
}

#[test]
fn neighbours_of_one_millisecond_are_one_row() {
    let row = |t, id: &str, revision| Row::ids(t, "registered", "s", [id], Some(revision));
    let merged = normal(vec![row(5, "b", 2), row(4, "x", 1), row(5, "a", 3)]);
    let written: Vec<_> = merged.iter().map(Row::to_string).collect();
    assert_eq!(written, [r#"[4, "registered", "s", "x", 1]"#, r#"[5, "registered", "s", "a,b", "2-3"]"#]);
}
