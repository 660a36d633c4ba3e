//! The little language of expectations.
//!
//! ```text
//! [EVENT] STAGE STATISTIC COMPARISON DURATION
//! no false removal              COMPARISON N false removals
//! no eviction                   COMPARISON N evictions
//! no mistake at STAGE           COMPARISON N mistakes at STAGE
//! query accuracy at STAGE COMPARISON P %
//! no failed call                failed calls COMPARISON P %
//! no soft eviction              COMPARISON N soft evictions
//! no refused answer             COMPARISON N refused answers
//! no failed start               COMPARISON N failed starts
//! most REQUESTS a minute COMPARISON N
//! COMPARISON N [of M] left at the end
//! rounds evict N, N, …
//! [no] self-preservation at the end|meanwhile
//! [no] guard shut at the end|meanwhile
//! servers agree at the end      servers agree DURATION after the last fault
//! COMPARISON N instances differ
//! utilisation COMPARISON P %
//!
//! … on SERVER, at the end of those that can be said of one server
//!
//! EVENT       crash | stop | registration | unhealthy | override | recovery
//! STAGE       registry | served | client | balancer | entry
//! STATISTIC   min | mean | p1 … p99 | max
//! COMPARISON  below | above | at most | at least | exactly
//! REQUESTS    requests | registrations | renewals | fetches | full fetches | delta fetches | service fetches |
//!             watches | replications
//! ```
//!
//! What only one registry has is refused under the other by [`crate::scenario::file::applicability`]; here it decides what is offered.
//! Words may be written in any case. `M` is there for the reader; it must be the size of the fleet. An error
//! points at the word where the sentence stopped making sense and shows the forms that could have stood there.
//! Here is the grammar's frame, in [`crate::scenario::expect::form`] are the forms.

pub(crate) mod form;

use std::ops::Range;

use crate::model::registry::Kind;
use crate::model::stage::{EventKind, Stage};
use crate::scenario::diagnostics::suggest::{did_you_mean, one_of};
use crate::scenario::types::claim::{Claim, Comparison};

/// A claim as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sentence {
    pub(crate) claim: Claim,
    /// The `M` of `N of M left`, and where it stands in the text.
    pub(crate) out_of: Option<(u32, Range<usize>)>,
    /// The server of `… on server-2`, and where it stands in the text.
    pub(crate) server: Option<(String, Range<usize>)>,
}

impl From<Claim> for Sentence {
    fn from(claim: Claim) -> Self {
        Self { claim, out_of: None, server: None }
    }
}

/// Why a text is no claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Where in the text.
    pub(crate) span: Range<usize>,
    /// What was expected there.
    pub(crate) expected: String,
    /// What to write.
    pub(crate) hint: String,
}

/// Words that begin an expectation, besides events and stages.
const STARTS: [&str; 12] = [
    "no",
    "guard",
    "query",
    "failed",
    "most",
    "self-preservation",
    "servers",
    "utilisation",
    "rounds",
    "at",
    "exactly",
    "above",
];
const EUREKA_FORMS: &str = "an expectation is one of\n  balancer p99 below 5m30s\n  no false removal\n  no eviction\n  \
                         no mistake at client\n  query accuracy at client above 99.5 %\n  failed calls below 1.5 %\n  \
                         most fetches a minute above 400\n  at least 57 of 100 left at the end\n  \
                         rounds evict 15, 13, 11\n  no self-preservation at the end\n  servers agree 5s after the last \
                         fault\n  at most 10 instances differ\n  utilisation below 90 %";

const TWO_STAGE_FORMS: &str = "an expectation is one of\n  client p99 below 20s\n  crash entry max below 63s\n  no false removal\n  no eviction\n  \
     exactly 4 soft evictions\n  no mistake at client\n  query accuracy at client above 99.5 %\n  failed calls below \
     1.5 %\n  most fetches a minute above 400\n  at least 57 of 100 left at the end\n  no guard shut at the end\n  no \
     refused answer\n  at most 3 failed starts";

/// Reads an expectation. `kind` decides what is offered to whoever misspells one.
pub(crate) fn parse(text: &str, kind: Kind) -> Result<Sentence, Refusal> {
    let mut words = Tokens { words: words(text), next: 0, end: text.len(), kind };
    let mut sentence = words.sentence()?;
    sentence.server = words.server(&sentence.claim)?;
    match words.peek() {
        None => Ok(sentence),
        Some(_) => Err(words.refuse("the sentence ends here", "leave the rest out".into())),
    }
}

/// Words in lower case, each with its place. A comma is a word of its own.
fn words(text: &str) -> Vec<(String, Range<usize>)> {
    let mut words: Vec<(String, Range<usize>)> = Vec::new();
    let mut open = false;
    for (at, letter) in text.char_indices() {
        let span = at..at + letter.len_utf8();
        if letter.is_whitespace() {
            open = false;
        } else if letter == ',' {
            words.push((",".into(), span));
            open = false;
        } else if let (true, Some((word, place))) = (open, words.last_mut()) {
            word.extend(letter.to_lowercase());
            place.end = span.end;
        } else {
            words.push((letter.to_lowercase().collect(), span));
            open = true;
        }
    }
    words
}

pub(crate) struct Tokens {
    pub(crate) words: Vec<(String, Range<usize>)>,
    pub(crate) next: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
}

impl Tokens {
    pub(crate) fn peek(&self) -> Option<&str> {
        self.words.get(self.next).map(|(word, _)| word.as_str())
    }

    /// Takes the next word if it is one of these.
    pub(crate) fn take(&mut self, words: &[&str]) -> bool {
        let found = self.peek().is_some_and(|word| words.contains(&word));
        self.next += usize::from(found);
        found
    }

    pub(crate) fn refuse(&self, expected: &str, hint: String) -> Refusal {
        let span = self.words.get(self.next).map_or(self.end..self.end, |(_, span)| span.clone());
        Refusal { span, expected: expected.into(), hint }
    }

    /// Refuses the next word, which should have been one of `words`.
    pub(crate) fn refuse_word(&self, words: &[&str], form: &str) -> Refusal {
        let near = self.peek().and_then(|word| did_you_mean(word, words.iter().copied()));
        let form = format!("the form is {form}");
        self.refuse(
            &format!("expected {}", one_of(words.iter().copied())),
            near.map_or(form.clone(), |near| format!("{near} {form}")),
        )
    }

    pub(crate) fn expect(&mut self, words: &[&str], form: &str) -> Result<(), Refusal> {
        if self.take(words) { Ok(()) } else { Err(self.refuse_word(words, form)) }
    }

    fn sentence(&mut self) -> Result<Sentence, Refusal> {
        let Some(first) = self.peek().map(str::to_owned) else {
            return Err(self.refuse("nothing is expected", self.all_forms().into()));
        };
        if let Some(claim) = self.claim(&first)? {
            return Ok(claim.into());
        }
        if let Some(comparison) = self.comparison(self.count_form())? {
            return self.counted(comparison);
        }
        let events = EventKind::ALL.map(EventKind::name);
        let stages = self.kind.stages().iter().map(|stage| stage.name());
        let starts = events.into_iter().chain(stages).chain(STARTS);
        let near = did_you_mean(&first, starts);
        Err(self.refuse(
            "no expectation begins so",
            near.map_or(self.all_forms().into(), |near| format!("{near} {}", self.all_forms())),
        ))
    }

    fn all_forms(&self) -> &'static str {
        match self.kind {
            Kind::Eureka => EUREKA_FORMS,
            Kind::TwoStage => TWO_STAGE_FORMS,
        }
    }

    /// A claim that its first word gives away.
    fn claim(&mut self, first: &str) -> Result<Option<Claim>, Refusal> {
        if event(first).is_some() || stage(first).is_some() {
            return self.latency().map(Some);
        }
        if self.take(&["no"]) {
            return self.absence().map(Some);
        }
        if self.take(&["query"]) {
            return self.query_accuracy().map(Some);
        }
        if self.take(&["failed"]) {
            return self.failed_calls().map(Some);
        }
        if self.take(&["most"]) {
            return self.load().map(Some);
        }
        if self.take(&["self-preservation"]) {
            return self.protected(true).map(Some);
        }
        if self.take(&["guard"]) {
            return self.guard(true).map(Some);
        }
        if self.take(&["servers"]) {
            return self.agreement().map(Some);
        }
        if self.take(&["utilisation"]) {
            return self.utilisation().map(Some);
        }
        if self.take(&["rounds"]) {
            return self.rounds().map(Some);
        }
        Ok(None)
    }

    /// A comparison, if one stands here.
    pub(crate) fn comparison(&mut self, form: &str) -> Result<Option<Comparison>, Refusal> {
        if self.take(&["at"]) {
            let most = self.peek() == Some("most");
            self.expect(&["most", "least"], form)?;
            return Ok(Some(if most { Comparison::AtMost } else { Comparison::AtLeast }));
        }
        let simple =
            [("below", Comparison::Below), ("above", Comparison::Above), ("exactly", Comparison::Exactly)];
        Ok(simple.into_iter().find(|(word, _)| self.take(&[word])).map(|(_, comparison)| comparison))
    }

    pub(crate) fn at_the_end(&mut self, form: &str) -> Result<(), Refusal> {
        self.expect(&["at"], form)?;
        self.expect(&["the"], form)?;
        self.expect(&["end"], form)
    }

    pub(crate) fn number<N: std::str::FromStr>(&mut self, form: &str) -> Result<(N, Range<usize>), Refusal> {
        let word = self.words.get(self.next);
        let number = word.and_then(|(word, span)| Some((word.parse().ok()?, span.clone())));
        self.next += usize::from(number.is_some());
        number.ok_or_else(|| self.refuse("expected a number", format!("the form is {form}")))
    }
}

pub(crate) fn event(word: &str) -> Option<EventKind> {
    EventKind::ALL.into_iter().find(|event| event.name() == word)
}

pub(crate) fn stage(word: &str) -> Option<Stage> {
    Stage::ALL.into_iter().find(|stage| stage.name() == word)
}

#[cfg(test)]
mod tests;
