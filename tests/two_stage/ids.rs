//! Sets of instance ids as the vectors write them: `a,b`, `i01-i04`, or both.

use std::collections::BTreeSet;
use std::fmt;

/// A set of ids, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ids(BTreeSet<String>);

impl Ids {
    /// Reads a set: names and ranges with commas between them; the empty text is the empty set.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Ok(Self(in_order(text)?.into_iter().collect()))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Puts all of `other` in, too.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }
}

impl<S: Into<String>> FromIterator<S> for Ids {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        Self(ids.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(&str, &str)> = Vec::new();
        for id in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if follows(last, id) => *last = id,
                _ => runs.push((id, id)),
            }
        }
        for (at, (first, last)) in runs.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// The names in the order in which the text gives them: the k-th of a script's operation acts k steps later.
pub(crate) fn in_order(text: &str) -> Result<Vec<String>, String> {
    let mut ids = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('-') {
            Some((first, last)) => ids.extend(range(first, last).ok_or(format!("no range: {part:?}"))?),
            None => ids.push(part.to_owned()),
        }
    }
    Ok(ids)
}

fn range(first: &str, last: &str) -> Option<impl Iterator<Item = String>> {
    let ((prefix, from), (other, to)) = (numbered(first)?, numbered(last)?);
    let width = first.len() - prefix.len();
    let prefix = prefix.to_owned();
    (prefix == other && from <= to).then(|| (from..=to).map(move |n| format!("{prefix}{n:0width$}")))
}

/// A name's letters, and the number at its end.
fn numbered(id: &str) -> Option<(&str, u32)> {
    let digits = id.len() - id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (prefix, number) = id.split_at(id.len() - digits);
    Some((prefix, number.parse().ok()?))
}

fn follows(before: &str, id: &str) -> bool {
    range(before, id).is_some_and(|mut range| range.nth(1).as_deref() == Some(id))
}

#[test]
fn sets_are_names_and_ranges() {
    let ids = |text| in_order(text).expect(text);
    assert_eq!(ids("b,a"), ["b", "a"]);
    assert_eq!(ids("i09-i11,x"), ["i09", "i10", "i11", "x"]);
    assert_eq!(ids("n9-n11"), ["n9", "n10", "n11"]);
    assert!(ids("").is_empty());
    assert!(in_order("a1-b2").is_err() && in_order("a2-a1").is_err() && in_order("a-b").is_err());
    assert_eq!(Ids::parse("i02,i01,i03,x").expect("a set").to_string(), "i01-i03,x");
}
