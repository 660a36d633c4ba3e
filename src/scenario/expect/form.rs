//! The forms of expectations, each from the words after those that give it away. See [`crate::scenario::expect`].

use std::ops::Range;

use crate::engine::SimDuration;
use crate::model::message::RequestKind;
use crate::model::registry::Kind;
use crate::model::stage::Stage;
use crate::scenario::expect::{Refusal, Sentence, Tokens, event, stage};
use crate::scenario::format::duration;
use crate::scenario::types::claim::{Claim, Comparison, Statistic};

const EUREKA_LATENCY: &str = "`[crash|stop|registration|unhealthy|override|recovery] registry|served|client|balancer min|mean|p99|max \
     below|above|at most|at least DURATION`, as in `balancer p99 below 5m30s`";
const TWO_STAGE_LATENCY: &str = "`[crash|stop|registration] registry|served|client|entry min|mean|p99|max below|above|at most|at least \
     DURATION`, as in `client p99 below 20s`";
const EUREKA_COUNTS: &str = "`at least 57 of 100 left at the end`, `at most 3 false removals`, `exactly 4 evictions`, \
                            `at most 30 mistakes at client`, `at most 10 instances differ`";
const TWO_STAGE_COUNTS: &str = "`at least 57 of 100 left at the end`, `at most 3 false removals`, `exactly 4 soft evictions`, `at most 30 mistakes \
     at client`, `at least 10 refused answers`";
const COMPARISONS: [&str; 5] = ["below", "above", "at most", "at least", "exactly"];

impl Tokens {
    pub(crate) fn latency(&mut self) -> Result<Claim, Refusal> {
        let event = self.peek().and_then(event);
        self.next += usize::from(event.is_some());
        let form = self.latency_form();
        let Some(stage) = self.peek().and_then(stage) else {
            return Err(self.refuse_word(&self.stages(), form));
        };
        self.next += 1;
        let statistic = self.statistic()?;
        let Some(comparison) = self.comparison(form)? else {
            return Err(self.refuse_word(&["below", "above", "at most", "at least"], form));
        };
        let limit = self.duration(&["on"])?;
        Ok(Claim::Latency { event, stage, statistic, comparison, limit })
    }

    fn latency_form(&self) -> &'static str {
        match self.kind {
            Kind::Eureka => EUREKA_LATENCY,
            Kind::TwoStage => TWO_STAGE_LATENCY,
        }
    }

    pub(crate) fn count_form(&self) -> &'static str {
        match self.kind {
            Kind::Eureka => EUREKA_COUNTS,
            Kind::TwoStage => TWO_STAGE_COUNTS,
        }
    }

    /// The stages that the registry has.
    fn stages(&self) -> Vec<&'static str> {
        self.kind.stages().iter().map(|stage| stage.name()).collect()
    }

    /// The words up to one of these, or to the end, as a duration.
    fn duration(&mut self, until: &[&str]) -> Result<SimDuration, Refusal> {
        let start = self.next;
        let rest = &self.words[start..];
        let count = rest.iter().position(|(word, _)| until.contains(&word.as_str())).unwrap_or(rest.len());
        let text: Vec<&str> = rest[..count].iter().map(|(word, _)| word.as_str()).collect();
        let limit = duration::parse(&text.join(" ")).map_err(|why| {
            let mut refusal = self.refuse(&why, "a duration looks like `5m30s`, `90s` or `500ms`".into());
            if text.is_empty() {
                refusal.expected = "expected a duration".into();
            } else {
                refusal.span.end = self.words[start + count - 1].1.end;
            }
            refusal
        })?;
        self.next = start + count;
        Ok(limit)
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
                let mut refusal = self.refuse_word(&["min", "mean", "max"], self.latency_form());
                refusal.expected = "expected `min`, `mean`, `p1` to `p99` or `max`".into();
                return Err(refusal);
            }
        };
        self.next += 1;
        Ok(statistic)
    }

    /// After `no`.
    pub(crate) fn absence(&mut self) -> Result<Claim, Refusal> {
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
            if self.take(&["start", "starts"]) {
                return Ok(Claim::FailedStarts(Comparison::Exactly, 0));
            }
            self.expect(&["call", "calls"], "`no failed call`")?;
            return Ok(Claim::FailedCalls(Comparison::Exactly, 0.0));
        }
        if self.take(&["self-preservation"]) {
            return self.protected(false);
        }
        if self.take(&["guard"]) {
            return self.guard(false);
        }
        if self.take(&["soft"]) {
            self.expect(&["eviction", "evictions"], "`no soft eviction`")?;
            return Ok(Claim::SoftEvictions(Comparison::Exactly, 0));
        }
        if self.take(&["refused"]) {
            self.expect(&["answer", "answers"], "`no refused answer`")?;
            return Ok(Claim::RefusedAnswers(Comparison::Exactly, 0));
        }
        Err(match self.kind {
            Kind::Eureka => self.refuse_word(
                &["false", "eviction", "mistake", "failed", "self-preservation"],
                "`no false removal`, `no eviction`, `no mistake at client`, `no failed call` or `no \
                 self-preservation at the end`",
            ),
            Kind::TwoStage => self.refuse_word(
                &["false", "eviction", "soft", "mistake", "failed", "refused", "guard"],
                "`no false removal`, `no eviction`, `no soft eviction`, `no mistake at client`, `no failed call`, \
                 `no failed start`, `no refused answer` or `no guard shut at the end`",
            ),
        })
    }

    /// After a comparison that begins the sentence.
    pub(crate) fn counted(&mut self, comparison: Comparison) -> Result<Sentence, Refusal> {
        let form = self.count_form();
        let (count, _) = self.number::<u32>(form)?;
        let plain = |claim: Claim| Ok(claim.into());
        if self.take(&["false"]) {
            self.expect(&["removal", "removals"], form)?;
            return plain(Claim::FalseRemovals(comparison, count));
        }
        if self.take(&["eviction", "evictions"]) {
            return plain(Claim::Evictions(comparison, count));
        }
        if self.take(&["mistake", "mistakes"]) {
            let stage = self.at_stage("`at most 30 mistakes at balancer`")?;
            return plain(Claim::Mistakes(stage, comparison, u64::from(count)));
        }
        if self.take(&["soft"]) {
            self.expect(&["eviction", "evictions"], "`exactly 4 soft evictions`")?;
            return plain(Claim::SoftEvictions(comparison, count));
        }
        if self.take(&["refused"]) {
            self.expect(&["answer", "answers"], "`at least 10 refused answers`")?;
            return plain(Claim::RefusedAnswers(comparison, u64::from(count)));
        }
        if self.take(&["failed"]) {
            self.expect(&["start", "starts"], "`at most 3 failed starts`")?;
            return plain(Claim::FailedStarts(comparison, u64::from(count)));
        }
        if self.take(&["instance", "instances"]) {
            self.expect(&["differ", "differs"], "`at most 10 instances differ`")?;
            return plain(Claim::Differing(comparison, count));
        }
        let out_of = if self.take(&["of"]) { Some(self.number(form)?) } else { None };
        if self.take(&["left"]) {
            self.at_the_end("`at least 57 of 100 left at the end`")?;
            return Ok(Sentence { out_of, ..Claim::Left { comparison, count }.into() });
        }
        let next: &[&str] = match (out_of, self.kind) {
            (Some(_), _) => &["left"],
            (None, Kind::Eureka) => &["of", "left", "false", "evictions", "mistakes", "instances"],
            (None, Kind::TwoStage) => {
                &["of", "left", "false", "evictions", "mistakes", "soft", "refused", "failed"]
            }
        };
        Err(self.refuse_word(next, form))
    }

    /// After `query`.
    pub(crate) fn query_accuracy(&mut self) -> Result<Claim, Refusal> {
        let form = "`query accuracy at client above 99.5 %`";
        self.expect(&["accuracy"], form)?;
        let stage = self.at_stage(form)?;
        let (comparison, percent) = self.compared_percent(form)?;
        Ok(Claim::QueryAccuracy(stage, comparison, percent))
    }

    /// After `failed`.
    pub(crate) fn failed_calls(&mut self) -> Result<Claim, Refusal> {
        let form = "`failed calls below 1.5 %`";
        self.expect(&["calls", "call"], form)?;
        let (comparison, percent) = self.compared_percent(form)?;
        Ok(Claim::FailedCalls(comparison, percent))
    }

    /// After `most`.
    pub(crate) fn load(&mut self) -> Result<Claim, Refusal> {
        let (words, form): (&[&str], _) = match self.kind {
            Kind::Eureka => (
                &["requests", "registrations", "renewals", "fetches", "full", "delta", "replications"],
                "`most requests|registrations|renewals|fetches|full fetches|delta fetches|replications a minute \
                 above 140`",
            ),
            Kind::TwoStage => (
                &["requests", "registrations", "renewals", "fetches", "full", "service", "watches"],
                "`most requests|registrations|renewals|fetches|full fetches|service fetches|watches a minute above \
                 140`",
            ),
        };
        let Some(word) = self.peek().and_then(|word| words.iter().find(|known| **known == word)) else {
            return Err(self.refuse_word(words, form));
        };
        self.next += 1;
        let kinds: &'static [RequestKind] = match *word {
            "registrations" => &[RequestKind::Register],
            "renewals" => &[RequestKind::Renew],
            "fetches" => &[RequestKind::FetchFull, RequestKind::FetchDelta, RequestKind::FetchService],
            "full" => &[RequestKind::FetchFull],
            "delta" => &[RequestKind::FetchDelta],
            "service" => &[RequestKind::FetchService],
            "watches" => &[RequestKind::Watch],
            "replications" => &[RequestKind::Replicate],
            _ => &RequestKind::ALL,
        };
        if matches!(*word, "full" | "delta" | "service") {
            self.expect(&["fetches"], form)?;
        }
        self.expect(&["a", "per"], form)?;
        self.expect(&["minute"], form)?;
        let comparison = self.compared(form)?;
        let (count, _) = self.number(form)?;
        Ok(Claim::Load { kinds, comparison, count })
    }

    /// After `rounds`.
    pub(crate) fn rounds(&mut self) -> Result<Claim, Refusal> {
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

    /// After `self-preservation` or `no self-preservation`.
    pub(crate) fn protected(&mut self, on: bool) -> Result<Claim, Refusal> {
        if self.take(&["meanwhile"]) {
            return Ok(Claim::SelfPreservationMeanwhile(on));
        }
        let no = if on { "" } else { "no " };
        let form = format!("`{no}self-preservation at the end` or `{no}self-preservation meanwhile`");
        if self.peek() != Some("at") {
            return Err(self.refuse_word(&["at", "meanwhile"], &form));
        }
        self.at_the_end(&form)?;
        Ok(Claim::SelfPreservationAtEnd(on))
    }

    /// After `guard` or `no guard`.
    pub(crate) fn guard(&mut self, shut: bool) -> Result<Claim, Refusal> {
        let no = if shut { "" } else { "no " };
        let form = format!("`{no}guard shut at the end` or `{no}guard shut meanwhile`");
        self.expect(&["shut"], &form)?;
        if self.take(&["meanwhile"]) {
            return Ok(Claim::GuardShutMeanwhile(shut));
        }
        if self.peek() != Some("at") {
            return Err(self.refuse_word(&["at", "meanwhile"], &form));
        }
        self.at_the_end(&form)?;
        Ok(Claim::GuardShutAtEnd(shut))
    }

    /// After `servers`.
    pub(crate) fn agreement(&mut self) -> Result<Claim, Refusal> {
        let form = "`servers agree at the end` or `servers agree 5s after the last fault`";
        self.expect(&["agree"], form)?;
        if self.peek() == Some("at") {
            self.at_the_end(form)?;
            return Ok(Claim::ServersAgree);
        }
        let after = self.duration(&["after", "on"])?;
        for word in ["after", "the", "last", "fault"] {
            self.expect(&[word], form)?;
        }
        Ok(Claim::ServersAgreeAfter(after))
    }

    /// After `utilisation`.
    pub(crate) fn utilisation(&mut self) -> Result<Claim, Refusal> {
        let (comparison, percent) = self.compared_percent("`utilisation below 90 %`")?;
        Ok(Claim::Utilisation(comparison, percent))
    }

    /// `on SERVER`, if it stands here. Whether there is such a server is left to the check.
    pub(crate) fn server(&mut self, claim: &Claim) -> Result<Option<(String, Range<usize>)>, Refusal> {
        if self.peek() != Some("on") {
            return Ok(None);
        }
        let of_all = match claim {
            Claim::ServersAgree | Claim::ServersAgreeAfter(_) | Claim::Differing(..) => {
                "this is said of all servers together"
            }
            Claim::FailedCalls(..) => "calls between instances go through no server",
            Claim::QueryAccuracy(..) => "query accuracy is taken over all observers, wherever they ask",
            _ => "",
        };
        if !of_all.is_empty() {
            return Err(self.refuse(of_all, "leave `on …` out".into()));
        }
        self.next += 1;
        let Some((name, span)) = self.words.get(self.next).cloned() else {
            return Err(self.refuse("expected the name of a server", "as in `on server-2`".into()));
        };
        self.next += 1;
        Ok(Some((name, span)))
    }

    /// `at STAGE`.
    fn at_stage(&mut self, form: &str) -> Result<Stage, Refusal> {
        self.expect(&["at"], form)?;
        let Some(stage) = self.peek().and_then(stage) else {
            return Err(self.refuse_word(&self.stages(), form));
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
