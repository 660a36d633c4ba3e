//! The forms of expectations, each from the words after those that give it away. See [`super::expect`].

use super::claim::{Claim, Comparison, Statistic};
use super::duration;
use super::expect::{Refusal, Sentence, Words, event, stage};
use crate::model::message::RequestKind;
use crate::model::stage::Stage;

const LATENCY_FORM: &str = "`[crash|stop|registration|unhealthy|override|recovery] registry|served|client|balancer \
                            min|mean|p99|max below|above|at most|at least DURATION`, as in `balancer p99 below 5m30s`";
pub(super) const COUNT_FORM: &str = "`at least 57 of 100 left at the end`, `at most 3 false removals`, `exactly 4 evictions`, \
                                     `at most 30 mistakes at client`";
const COMPARISONS: [&str; 5] = ["below", "above", "at most", "at least", "exactly"];

impl Words {
    pub(super) fn latency(&mut self) -> Result<Claim, Refusal> {
        let event = self.peek().and_then(event);
        self.next += usize::from(event.is_some());
        let Some(stage) = self.peek().and_then(stage) else {
            return Err(self.refuse_word(&Stage::ALL.map(Stage::name), LATENCY_FORM));
        };
        self.next += 1;
        let statistic = self.statistic()?;
        let Some(comparison) = self.comparison(LATENCY_FORM)? else {
            return Err(self.refuse_word(&["below", "above", "at most", "at least"], LATENCY_FORM));
        };
        let start = self.next;
        let text: Vec<&str> = self.words[start..].iter().map(|(word, _)| word.as_str()).collect();
        let limit = duration::parse(&text.join(" ")).map_err(|why| {
            let mut refusal = self.refuse(&why, "a duration looks like `5m30s`, `90s` or `500ms`".into());
            if text.is_empty() {
                refusal.expected = "expected a duration".into();
            }
            refusal.span.end = self.words.last().map_or(self.end, |(_, span)| span.end);
            refusal
        })?;
        self.next = self.words.len();
        Ok(Claim::Latency { event, stage, statistic, comparison, limit })
    }

    fn statistic(&mut self) -> Result<Statistic, Refusal> {
        let word = self.peek().unwrap_or_default();
        let percent = word.strip_prefix('p').and_then(|digits| digits.parse::<u8>().ok());
        let statistic = match (word, percent) {
            ("min", _) => Statistic::Min,
            ("mean", _) => Statistic::Mean,
            ("max", _) => Statistic::Max,
            (_, Some(percent @ 1..=99)) => Statistic::Percentile(percent),
            _ => {
                let mut refusal = self.refuse_word(&["min", "mean", "max"], LATENCY_FORM);
                refusal.expected = "expected `min`, `mean`, `p1` to `p99` or `max`".into();
                return Err(refusal);
            }
        };
        self.next += 1;
        Ok(statistic)
    }

    /// After `no`.
    pub(super) fn absence(&mut self) -> Result<Claim, Refusal> {
        if self.take(&["false"]) {
            self.expect(&["removal", "removals"], "`no false removal`")?;
            return Ok(Claim::FalseRemovals(Comparison::Exactly, 0));
        }
        if self.take(&["eviction", "evictions"]) {
            return Ok(Claim::Evictions(Comparison::Exactly, 0));
        }
        if self.take(&["mistake", "mistakes"]) {
            let stage = self.at_stage("`no mistake at client`")?;
            return Ok(Claim::Mistakes(stage, Comparison::Exactly, 0));
        }
        if self.take(&["failed"]) {
            self.expect(&["call", "calls"], "`no failed call`")?;
            return Ok(Claim::FailedCalls(Comparison::Exactly, 0.0));
        }
        if self.take(&["self-preservation"]) {
            self.at_the_end("`no self-preservation at the end`")?;
            return Ok(Claim::SelfPreservationAtEnd(false));
        }
        Err(self.refuse_word(
            &["false", "eviction", "mistake", "failed", "self-preservation"],
            "`no false removal`, `no eviction`, `no mistake at client`, `no failed call` or `no self-preservation \
             at the end`",
        ))
    }

    /// After a comparison that begins the sentence.
    pub(super) fn counted(&mut self, comparison: Comparison) -> Result<Sentence, Refusal> {
        let (count, _) = self.number::<u32>(COUNT_FORM)?;
        let plain = |claim| Ok(Sentence { claim, out_of: None });
        if self.take(&["false"]) {
            self.expect(&["removal", "removals"], COUNT_FORM)?;
            return plain(Claim::FalseRemovals(comparison, count));
        }
        if self.take(&["eviction", "evictions"]) {
            return plain(Claim::Evictions(comparison, count));
        }
        if self.take(&["mistake", "mistakes"]) {
            let stage = self.at_stage("`at most 30 mistakes at balancer`")?;
            return plain(Claim::Mistakes(stage, comparison, u64::from(count)));
        }
        let out_of = if self.take(&["of"]) { Some(self.number(COUNT_FORM)?) } else { None };
        if self.take(&["left"]) {
            self.at_the_end("`at least 57 of 100 left at the end`")?;
            return Ok(Sentence { claim: Claim::Left { comparison, count }, out_of });
        }
        let next: &[&str] =
            if out_of.is_some() { &["left"] } else { &["of", "left", "false", "evictions", "mistakes"] };
        Err(self.refuse_word(next, COUNT_FORM))
    }

    /// After `query`.
    pub(super) fn query_accuracy(&mut self) -> Result<Claim, Refusal> {
        let form = "`query accuracy at client above 99.5 %`";
        self.expect(&["accuracy"], form)?;
        let stage = self.at_stage(form)?;
        let (comparison, percent) = self.compared_percent(form)?;
        Ok(Claim::QueryAccuracy(stage, comparison, percent))
    }

    /// After `failed`.
    pub(super) fn failed_calls(&mut self) -> Result<Claim, Refusal> {
        let form = "`failed calls below 1.5 %`";
        self.expect(&["calls", "call"], form)?;
        let (comparison, percent) = self.compared_percent(form)?;
        Ok(Claim::FailedCalls(comparison, percent))
    }

    /// After `most`.
    pub(super) fn load(&mut self) -> Result<Claim, Refusal> {
        let form =
            "`most requests|registrations|renewals|fetches|full fetches|delta fetches a minute above 140`";
        let kinds: &'static [RequestKind] = if self.take(&["requests"]) {
            &RequestKind::ALL
        } else if self.take(&["registrations"]) {
            &[RequestKind::Register]
        } else if self.take(&["renewals"]) {
            &[RequestKind::Renew]
        } else if self.take(&["fetches"]) {
            &[RequestKind::FetchFull, RequestKind::FetchDelta]
        } else if self.take(&["full"]) {
            self.expect(&["fetches"], form)?;
            &[RequestKind::FetchFull]
        } else if self.take(&["delta"]) {
            self.expect(&["fetches"], form)?;
            &[RequestKind::FetchDelta]
        } else {
            let words = ["requests", "registrations", "renewals", "fetches", "full", "delta"];
            return Err(self.refuse_word(&words, form));
        };
        self.expect(&["a", "per"], form)?;
        self.expect(&["minute"], form)?;
        let comparison = self.compared(form)?;
        let (count, _) = self.number(form)?;
        Ok(Claim::Load { kinds, comparison, count })
    }

    /// After `rounds`.
    pub(super) fn rounds(&mut self) -> Result<Claim, Refusal> {
        let form = "`rounds evict 15, 13, 11`";
        self.expect(&["evict"], form)?;
        let mut rounds = Vec::new();
        loop {
            match self.number(form)? {
                (0, span) => {
                    return Err(Refusal {
                        span,
                        expected: "a round that removes nothing is not listed".into(),
                        hint: "leave it out".into(),
                    });
                }
                (count, _) => rounds.push(count),
            }
            if !self.take(&[","]) {
                return Ok(Claim::Rounds(rounds));
            }
        }
    }

    /// `at STAGE`.
    fn at_stage(&mut self, form: &str) -> Result<Stage, Refusal> {
        self.expect(&["at"], form)?;
        let Some(stage) = self.peek().and_then(stage) else {
            return Err(self.refuse_word(&Stage::ALL.map(Stage::name), form));
        };
        self.next += 1;
        Ok(stage)
    }

    fn compared(&mut self, form: &str) -> Result<Comparison, Refusal> {
        match self.comparison(form)? {
            Some(comparison) => Ok(comparison),
            None => Err(self.refuse_word(&COMPARISONS, form)),
        }
    }

    /// `above 99.5 %`.
    fn compared_percent(&mut self, form: &str) -> Result<(Comparison, f64), Refusal> {
        let comparison = self.compared(form)?;
        let place = self.next;
        let word = self.peek().unwrap_or_default();
        let (digits, closed) = match word.strip_suffix('%') {
            Some(digits) => (digits, true),
            None => (word, false),
        };
        // `nan` and `inf` are numbers to the parser, but not to a person.
        let percent = Some(digits).filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()));
        let Some(percent) = percent.and_then(|digits| digits.parse::<f64>().ok()) else {
            return Err(self.refuse("expected a number", format!("the form is {form}")));
        };
        if percent > 100.0 {
            return Err(self.refuse("a percentage is from 0 to 100", format!("the form is {form}")));
        }
        self.next = place + 1;
        if !closed {
            self.expect(&["%", "percent"], form)
                .map_err(|refusal| Refusal { expected: "expected `%`".into(), ..refusal })?;
        }
        Ok((comparison, percent))
    }
}
