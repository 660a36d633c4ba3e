//! The answer in words: how long the dead stayed visible, and what the time went on.

use super::calls::in_percent;
use super::stages::StageSummary;
use super::summary::Summary;
use super::table::grouped;
use super::{Report, in_words};
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};
use crate::observe::Outcome;

/// One sentence for each event that was watched, and one about mistakes if there were any.
pub(super) fn answer(report: &Report<'_>, summary: &Summary) -> String {
    let mut sentences: Vec<String> =
        summary.events_watched().map(|event| Telling { report, summary, event }.sentence()).collect();
    let watched = !sentences.is_empty();
    sentences.extend(mistakes(summary, watched));
    sentences.extend(calls(summary));
    sentences.join(" ")
}

fn calls(summary: &Summary) -> Option<String> {
    let calls: u64 = summary.calls.iter().map(|row| row.calls).sum();
    let failed: u64 = summary.calls.iter().map(|row| row.failed).sum();
    if calls == 0 {
        return None;
    }
    if failed == 0 {
        return Some(format!("None of {} between instances failed.", plural(calls, "call", "calls")));
    }
    let worst = summary.calls.iter().filter_map(|row| row.worst_minute).max_by_key(|worst| worst.failed);
    let worst = worst.expect("what failed did so in some minute");
    Some(format!(
        "Of {} between instances {} failed ({}), {} in the worst minute.",
        plural(calls, "call", "calls"),
        grouped(failed),
        in_percent(failed, calls),
        in_percent(worst.failed, worst.calls),
    ))
}

fn mistakes(summary: &Summary, watched: bool) -> Option<String> {
    let registry = summary.mistakes.iter().find(|mistake| mistake.stage == Stage::Registry.name());
    let removed = registry.map(|mistake| {
        let told = [
            (mistake.evicted, "removed by mistake"),
            (mistake.lost_with_server, "forgotten when the server ended"),
        ];
        let told = told.into_iter().filter(|(count, _)| *count > 0).map(|(count, how)| {
            format!("{} {how}", plural(count, "live instance was", "live instances were"))
        });
        format!(
            "{}, in {} of {}.",
            told.collect::<Vec<_>>().join(", and "),
            mistake.replicates,
            plural(summary.replicates.into(), "replicate", "replicates"),
        )
    });
    let nothing = "No death, departure or arrival was watched, and no live instance was removed.";
    removed.or_else(|| (!watched).then(|| nothing.to_owned()))
}

/// What is told of one event.
struct Telling<'a> {
    report: &'a Report<'a>,
    summary: &'a Summary,
    event: EventKind,
}

impl Telling<'_> {
    fn sentence(&self) -> String {
        let path = self.path();
        let (stage, last) = *path.last().expect("an event that is watched has a stage that saw it");
        if last.count == 0 {
            return format!("{} every instance was back before that was noticed.", self.opening());
        }
        if last.censored == last.count {
            return self.never(stage, last);
        }
        if last.censored > 0 {
            return self.partly(stage, last);
        }
        let mean = in_words(last.mean_ms.expect("nothing is censored"));
        let tail = last.p99_ms.map(|p99| format!(" (p99 {})", in_words(p99))).unwrap_or_default();
        let reasons = self.reasons(&path);
        format!("{} {} {mean} on average{tail}{reasons}.", self.opening(), self.verb(stage))
    }

    /// The stages that were watched, in order.
    fn path(&self) -> Vec<(Stage, &StageSummary)> {
        Stage::ALL
            .into_iter()
            .filter_map(|stage| self.summary.stage(self.event, stage).map(|row| (stage, row)))
            .filter(|(_, row)| row.observed())
            .collect()
    }

    fn opening(&self) -> &'static str {
        match self.event {
            EventKind::Crash => "After a crash",
            EventKind::Stop => "After an orderly stop",
            EventKind::Registration => "Once registered,",
            EventKind::Unhealthy => "After its health went DOWN",
            EventKind::Override => "After an operator's override",
            EventKind::Recovery => "Once well again,",
        }
    }

    fn verb(&self, stage: Stage) -> String {
        let place = place(stage);
        match self.event {
            event if event.is_end() => format!("an instance stayed {place} for"),
            _ => format!("an instance became {place} after"),
        }
    }

    fn never(&self, stage: Stage, last: &StageSummary) -> String {
        let place = place(stage);
        let why = last.bound_absent_because.as_ref().filter(|why| explains(why));
        let why = why.map(|because| format!(", because {because}")).unwrap_or_default();
        let least = self.shortest_watch(stage).map(SimDuration::as_millis).map(in_words);
        let least = least.expect("what is censored was watched for some time");
        let opening = self.opening();
        match self.event {
            event if event.is_end() => {
                format!(
                    "{opening} an instance stayed {place} until the run ended, {least} or more later{why}."
                )
            }
            _ => {
                format!("{opening} no instance was {place} when the run ended, {least} or more later{why}.")
            }
        }
    }

    fn partly(&self, stage: Stage, last: &StageSummary) -> String {
        let median = match last.p50_ms {
            Some(median) => format!("{} in the median", in_words(median)),
            None => "longer than the run in most cases".to_owned(),
        };
        format!(
            "{} {} {median}; {} of {} had not ended when the run did.",
            self.opening(),
            self.verb(stage),
            last.censored,
            plural(last.count, "observation", "observations"),
        )
    }

    fn shortest_watch(&self, stage: Stage) -> Option<SimDuration> {
        let rows = self.report.data.replicates.iter().flat_map(|replicate| &replicate.detections);
        let own = rows.filter(|row| row.event == self.event && row.stage == stage);
        own.filter_map(|row| match row.outcome {
            Outcome::Censored(length) => Some(length),
            Outcome::Detected(_) | Outcome::Superseded(_) => None,
        })
        .min()
    }

    /// What the mean went on, stage by stage, if each stage has one.
    fn reasons(&self, path: &[(Stage, &StageSummary)]) -> String {
        let mut parts = Vec::new();
        let mut before = 0;
        for (stage, row) in path {
            let Some(mean) = row.mean_ms else { return String::new() };
            let spent = mean.saturating_sub(before);
            before = before.max(mean);
            if spent > 0 {
                parts.push(format!("{} until {}", in_words(spent), self.reason(*stage)));
            }
        }
        match parts.split_last() {
            None => String::new(),
            Some((only, [])) => format!(": {only}"),
            Some((last, rest)) => format!(": {} and {last}", rest.join(", ")),
        }
    }

    fn reason(&self, stage: Stage) -> String {
        match (stage, self.event) {
            (Stage::Registry, EventKind::Crash) => format!(
                "its lease{}, which Eureka counts twice, had run out and an eviction round removed it",
                self.common_lease_s().map(|secs| format!(" of {secs} s")).unwrap_or_default()
            ),
            (Stage::Registry, EventKind::Stop) => "the server had its de-registration".to_owned(),
            (Stage::Registry, EventKind::Registration) => "the server had it".to_owned(),
            (Stage::Registry, _) => "the server had its new status".to_owned(),
            (Stage::Served, _) if self.report.scenario.server.use_read_only_response_cache => {
                "the read-only cache took that over".to_owned()
            }
            (Stage::Served, _) => "the response cache took that over".to_owned(),
            (Stage::Client, _) => "the callers fetched it".to_owned(),
            (Stage::Balancer, _) => "their load balancers asked again".to_owned(),
        }
    }

    /// The lease of all applications, s, if it is the same.
    fn common_lease_s(&self) -> Option<u32> {
        let mut leases = self
            .report
            .scenario
            .applications
            .iter()
            .filter(|application| application.client.register_with_eureka)
            .map(|application| application.client.lease_expiration_duration_in_seconds);
        let first = leases.next()?;
        leases.all(|lease| lease == first).then_some(first)
    }
}

fn place(stage: Stage) -> &'static str {
    match stage {
        Stage::Registry => "in the registry",
        Stage::Served => "in the registry's answers",
        Stage::Client | Stage::Balancer => "visible to callers",
    }
}

/// Whether the reason for which there is no closed form is also the reason for which nothing happened: mostly it
/// only says that something is not simple enough for a sum.
fn explains(why: &str) -> bool {
    ["self-preservation is engaged", "instances of "].iter().any(|cause| why.starts_with(cause))
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made_up::Made;

    fn answer_of(made: &Made) -> String {
        Summary::of(&made.report()).answer
    }

    #[test]
    fn a_crash_is_told_with_what_the_time_went_on() {
        insta::assert_snapshot!(answer_of(&Made::crashes(300, 99)));
    }

    #[test]
    fn an_instance_that_never_went_is_told_with_the_reason() {
        insta::assert_snapshot!(answer_of(&Made::protected(20)));
    }

    #[test]
    fn departures_and_arrivals_have_sentences_of_their_own() {
        insta::assert_snapshot!(answer_of(&Made::coming_and_going(20)));
    }

    #[test]
    fn calls_are_told_last() {
        let told = answer_of(&Made::calling(7, true));
        let expected =
            "Of 1,008,000 calls between instances 17,500 failed (1.7 %), 5.0 % in the worst minute.";
        assert!(told.ends_with(expected), "{told}");
        let told = answer_of(&Made::calling(7, false));
        assert!(told.ends_with("None of 1,008,000 calls between instances failed."), "{told}");
    }

    #[test]
    fn a_run_without_events_tells_of_mistakes() {
        let nothing = "No death, departure or arrival was watched, and no live instance was removed.";
        assert_eq!(answer_of(&Made::quiet(0)), nothing);
        assert_eq!(
            answer_of(&Made::quiet(1)),
            "1 live instance was removed by mistake, in 1 of 4 replicates."
        );
        assert_eq!(
            answer_of(&Made::quiet(3)),
            "3 live instances were removed by mistake, in 1 of 4 replicates."
        );
    }
}
