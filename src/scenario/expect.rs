//! The little language of expectations.
//!
//! ```text
//! [EVENT] STAGE STATISTIC COMPARISON DURATION
//! no false removal              COMPARISON N false removals
//! no eviction                   COMPARISON N evictions
//! no mistake at STAGE           COMPARISON N mistakes at STAGE
//! query accuracy at STAGE COMPARISON P %
//! no failed call                failed calls COMPARISON P %
//! most REQUESTS a minute COMPARISON N
//! COMPARISON N [of M] left at the end
//! rounds evict N, N, …
//! [no] self-preservation at the end|meanwhile
//! servers agree at the end      servers agree DURATION after the last fault
//! COMPARISON N instances differ
//! utilisation COMPARISON P %
//!
//! … on SERVER, at the end of those that can be said of one server
//!
//! EVENT       crash | stop | registration | unhealthy | override | recovery
//! STAGE       registry | served | client | balancer
//! STATISTIC   min | mean | p1 … p99 | max
//! COMPARISON  below | above | at most | at least | exactly
//! REQUESTS    requests | registrations | renewals | fetches | full fetches | delta fetches | replications
//! ```
//!
//! Words may be written in any case. `M` is there for the reader; it must be the size of the fleet. An error
//! points at the word where the sentence stopped making sense and shows the forms that could have stood there.
//! Here is the grammar's frame, in [`super::expect_form`] are the forms.

use std::ops::Range;

use super::claim::{Claim, Comparison};
use super::expect_form::COUNT_FORM;
use super::suggest::{did_you_mean, one_of};
use crate::model::stage::{EventKind, Stage};

/// A claim as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sentence {
    pub(super) claim: Claim,
    /// The `M` of `N of M left`, and where it stands in the text.
    pub(super) out_of: Option<(u32, Range<usize>)>,
    /// The server of `… on server-2`, and where it stands in the text.
    pub(super) server: Option<(String, Range<usize>)>,
}

impl From<Claim> for Sentence {
    fn from(claim: Claim) -> Self {
        Self { claim, out_of: None, server: None }
    }
}

/// Why a text is no claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Where in the text.
    pub(super) span: Range<usize>,
    /// What was expected there.
    pub(super) expected: String,
    /// What to write.
    pub(super) hint: String,
}

/// Words that begin an expectation, besides events and stages.
const STARTS: [&str; 11] = [
    "no",
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
const ALL_FORMS: &str = "an expectation is one of\n  balancer p99 below 5m30s\n  no false removal\n  no eviction\n  \
                         no mistake at client\n  query accuracy at client above 99.5 %\n  failed calls below 1.5 %\n  \
                         most fetches a minute above 400\n  at least 57 of 100 left at the end\n  \
                         rounds evict 15, 13, 11\n  no self-preservation at the end\n  servers agree 5s after the last \
                         fault\n  at most 10 instances differ\n  utilisation below 90 %";

/// Reads an expectation.
pub(super) fn parse(text: &str) -> Result<Sentence, Refusal> {
    let mut words = Words { words: words(text), next: 0, end: text.len() };
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

pub(super) struct Words {
    pub(super) words: Vec<(String, Range<usize>)>,
    pub(super) next: usize,
    pub(super) end: usize,
}

impl Words {
    pub(super) fn peek(&self) -> Option<&str> {
        self.words.get(self.next).map(|(word, _)| word.as_str())
    }

    /// Takes the next word if it is one of these.
    pub(super) fn take(&mut self, words: &[&str]) -> bool {
        let found = self.peek().is_some_and(|word| words.contains(&word));
        self.next += usize::from(found);
        found
    }

    pub(super) fn refuse(&self, expected: &str, hint: String) -> Refusal {
        let span = self.words.get(self.next).map_or(self.end..self.end, |(_, span)| span.clone());
        Refusal { span, expected: expected.into(), hint }
    }

    /// Refuses the next word, which should have been one of `words`.
    pub(super) fn refuse_word(&self, words: &[&str], form: &str) -> Refusal {
        let near = self.peek().and_then(|word| did_you_mean(word, words.iter().copied()));
        let form = format!("the form is {form}");
        self.refuse(
            &format!("expected {}", one_of(words.iter().copied())),
            near.map_or(form.clone(), |near| format!("{near} {form}")),
        )
    }

    pub(super) fn expect(&mut self, words: &[&str], form: &str) -> Result<(), Refusal> {
        if self.take(words) { Ok(()) } else { Err(self.refuse_word(words, form)) }
    }

    fn sentence(&mut self) -> Result<Sentence, Refusal> {
        let Some(first) = self.peek().map(str::to_owned) else {
            return Err(self.refuse("nothing is expected", ALL_FORMS.into()));
        };
        if let Some(claim) = self.claim(&first)? {
            return Ok(claim.into());
        }
        if let Some(comparison) = self.comparison(COUNT_FORM)? {
            return self.counted(comparison);
        }
        let events = EventKind::ALL.map(EventKind::name);
        let starts = events.into_iter().chain(Stage::ALL.map(Stage::name)).chain(STARTS);
        let near = did_you_mean(&first, starts);
        Err(self.refuse(
            "no expectation begins so",
            near.map_or(ALL_FORMS.into(), |near| format!("{near} {ALL_FORMS}")),
        ))
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
    pub(super) fn comparison(&mut self, form: &str) -> Result<Option<Comparison>, Refusal> {
        if self.take(&["at"]) {
            let most = self.peek() == Some("most");
            self.expect(&["most", "least"], form)?;
            return Ok(Some(if most { Comparison::AtMost } else { Comparison::AtLeast }));
        }
        let simple =
            [("below", Comparison::Below), ("above", Comparison::Above), ("exactly", Comparison::Exactly)];
        Ok(simple.into_iter().find(|(word, _)| self.take(&[word])).map(|(_, comparison)| comparison))
    }

    pub(super) fn at_the_end(&mut self, form: &str) -> Result<(), Refusal> {
        self.expect(&["at"], form)?;
        self.expect(&["the"], form)?;
        self.expect(&["end"], form)
    }

    pub(super) fn number<N: std::str::FromStr>(&mut self, form: &str) -> Result<(N, Range<usize>), Refusal> {
        let word = self.words.get(self.next);
        let number = word.and_then(|(word, span)| Some((word.parse().ok()?, span.clone())));
        self.next += usize::from(number.is_some());
        number.ok_or_else(|| self.refuse("expected a number", format!("the form is {form}")))
    }
}

pub(super) fn event(word: &str) -> Option<EventKind> {
    EventKind::ALL.into_iter().find(|event| event.name() == word)
}

pub(super) fn stage(word: &str) -> Option<Stage> {
    Stage::ALL.into_iter().find(|stage| stage.name() == word)
}

#[cfg(test)]
mod tests {
    use super::super::claim::Statistic;
    use super::*;
    use crate::engine::SimDuration;
    use crate::model::message::RequestKind;

    fn claim(text: &str) -> Claim {
        parse(text).expect("it is an expectation").claim
    }

    #[test]
    fn latencies_are_read() {
        let limit = SimDuration::from_secs(330);
        let mut expected = Claim::Latency {
            event: None,
            stage: Stage::Balancer,
            statistic: Statistic::Percentile(99),
            comparison: Comparison::Below,
            limit,
        };
        assert_eq!(claim("balancer p99 below 5m30s"), expected);
        assert_eq!(claim("Balancer  P99 BELOW 5m 30s"), expected);
        if let Claim::Latency { event, statistic, comparison, .. } = &mut expected {
            (*event, *statistic, *comparison) = (Some(EventKind::Crash), Statistic::Max, Comparison::AtMost);
        }
        assert_eq!(claim("crash balancer max at most 5m30s"), expected);
    }

    #[test]
    fn counts_are_read() {
        assert_eq!(claim("no false removal"), Claim::FalseRemovals(Comparison::Exactly, 0));
        assert_eq!(claim("at most 3 false removals"), Claim::FalseRemovals(Comparison::AtMost, 3));
        assert_eq!(claim("no evictions"), Claim::Evictions(Comparison::Exactly, 0));
        assert_eq!(claim("exactly 4 evictions"), Claim::Evictions(Comparison::Exactly, 4));
        assert_eq!(claim("rounds evict 15, 13,11"), Claim::Rounds(vec![15, 13, 11]));
        assert_eq!(claim("self-preservation at the end"), Claim::SelfPreservationAtEnd(true));
        assert_eq!(claim("no self-preservation at the end"), Claim::SelfPreservationAtEnd(false));
    }

    #[test]
    fn mistakes_calls_and_load_are_read() {
        assert_eq!(claim("no mistake at client"), Claim::Mistakes(Stage::Client, Comparison::Exactly, 0));
        let most = Claim::Mistakes(Stage::Balancer, Comparison::AtMost, 30);
        assert_eq!(claim("at most 30 mistakes at balancer"), most);
        let accuracy = Claim::QueryAccuracy(Stage::Client, Comparison::Above, 99.5);
        assert_eq!(claim("query accuracy at client above 99.5 %"), accuracy);
        assert_eq!(claim("query accuracy at client above 99.5%"), accuracy);
        assert_eq!(claim("no failed calls"), Claim::FailedCalls(Comparison::Exactly, 0.0));
        assert_eq!(claim("failed calls below 1.5 %"), Claim::FailedCalls(Comparison::Below, 1.5));
        let load = |kinds| Claim::Load { kinds, comparison: Comparison::Above, count: 140 };
        assert_eq!(claim("most renewals a minute above 140"), load(&[RequestKind::Renew]));
        assert_eq!(claim("most full fetches a minute above 140"), load(&[RequestKind::FetchFull]));
        let fetches = &[RequestKind::FetchFull, RequestKind::FetchDelta];
        assert_eq!(claim("most fetches a minute above 140"), load(fetches));
        assert_eq!(claim("most requests a minute above 140"), load(&RequestKind::ALL));
        let because = |text: &str| parse(text).expect_err("it is none").expected;
        assert_eq!(because("query accuracy at client above 101 %"), "a percentage is from 0 to 100");
        assert_eq!(because("failed calls below 1.5"), "expected `%`");
        assert_eq!(because("failed calls below NaN %"), "expected a number");
        assert!(because("most heartbeats a minute above 1").starts_with("expected `requests`"));
    }

    #[test]
    fn claims_about_servers_are_read() {
        assert_eq!(claim("self-preservation meanwhile"), Claim::SelfPreservationMeanwhile(true));
        assert_eq!(claim("no self-preservation meanwhile"), Claim::SelfPreservationMeanwhile(false));
        assert_eq!(claim("servers agree at the end"), Claim::ServersAgree);
        let after = Claim::ServersAgreeAfter(SimDuration::from_secs(65));
        assert_eq!(claim("servers agree 1m 5s after the last fault"), after);
        assert_eq!(claim("at most 10 instances differ"), Claim::Differing(Comparison::AtMost, 10));
        assert_eq!(claim("exactly 1 instance differs"), Claim::Differing(Comparison::Exactly, 1));
        assert_eq!(claim("utilisation above 90 %"), Claim::Utilisation(Comparison::Above, 90.0));
        let kinds = &[RequestKind::Replicate];
        let load = Claim::Load { kinds, comparison: Comparison::Below, count: 500 };
        assert_eq!(claim("most replications a minute below 500"), load);
    }

    #[test]
    fn a_claim_may_be_about_one_server() {
        let on = |text: &str| parse(text).map(|sentence| sentence.server.map(|(name, _)| name));
        for text in [
            "crash registry p99 below 1m 30s",
            "no false removal",
            "at least 5 of 10 left at the end",
            "exactly 4 evictions",
            "rounds evict 4, 3",
            "no self-preservation at the end",
            "self-preservation meanwhile",
            "no mistake at client",
            "most renewals a minute above 3",
            "utilisation below 90 %",
        ] {
            assert_eq!(on(text), Ok(None), "{text}");
            assert_eq!(on(&format!("{text} on server-2")), Ok(Some("server-2".into())), "{text}");
        }
        let sentence = parse("no eviction on Server-12").expect("it is one");
        assert_eq!(sentence.server, Some(("server-12".into(), 15..24)));
        for text in ["servers agree at the end", "at most 1 instances differ", "no failed call"] {
            let refusal = parse(&format!("{text} on server-2")).expect_err(text);
            assert_eq!(refusal.hint, "leave `on …` out", "{text}");
        }
        assert_eq!(parse("no eviction on").expect_err("whose?").expected, "expected the name of a server");
        let refusal = parse("balancer p99 below on server-1").expect_err("no limit");
        assert_eq!(refusal.expected, "expected a duration");
    }

    #[test]
    fn the_size_of_the_fleet_is_kept_for_the_check() {
        let sentence = parse("at least 57 of 100 left at the end").expect("it is an expectation");
        assert_eq!(sentence.claim, Claim::Left { comparison: Comparison::AtLeast, count: 57 });
        assert_eq!(sentence.out_of, Some((100, 15..18)));
        assert_eq!(parse("exactly 1 left at the end").expect("it is one").out_of, None);
    }

    #[test]
    fn a_refusal_points_at_the_word_where_sense_ends() {
        let refusal = parse("balancer p999 below 5m").expect_err("no such quantile");
        assert_eq!(
            (refusal.span, refusal.expected.as_str()),
            (9..13, "expected `min`, `mean`, `p1` to `p99` or `max`")
        );
        let refusal = parse("balanser p99 below 5m").expect_err("no such stage");
        assert!(refusal.hint.starts_with("did you mean `balancer`?"), "{}", refusal.hint);
        let refusal = parse("balancer p99 below 330").expect_err("no unit");
        assert_eq!((refusal.span, refusal.expected.as_str()), (19..22, "`330` has no unit"));
        let refusal = parse("no false removal at all").expect_err("too long");
        assert_eq!((refusal.span, refusal.expected.as_str()), (17..19, "the sentence ends here"));
        assert_eq!(parse("").expect_err("empty").expected, "nothing is expected");
        assert_eq!(parse("rounds evict 15, 0").expect_err("zero").span, 17..18);
        assert_eq!(parse("balancer p99 below").expect_err("no limit").expected, "expected a duration");
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = parse(&text);
        }

        #[test]
        fn no_sequence_of_our_own_words_panics(
            words in proptest::collection::vec(
                proptest::sample::select(vec![
                    "no", "at", "most", "least", "exactly", "57", "of", "left", "the", "end", "false", "removal",
                    "rounds", "evict", ",", "balancer", "crash", "query", "accuracy", "failed", "calls", "%", "most",
                    "mistakes", "renewals", "a", "minute", "above", "p99", "below", "5m", "self-preservation", "ü", "on",
                    "server-2", "servers", "agree", "after", "last", "fault", "instances", "differ", "utilisation",
                    "meanwhile",
                ]),
                0..10,
            ),
        ) {
            let text = words.join(" ");
            if let Err(refusal) = parse(&text) {
                proptest::prop_assert!(refusal.span.start <= refusal.span.end);
                proptest::prop_assert!(text.get(refusal.span).is_some());
            }
        }
    }
}
