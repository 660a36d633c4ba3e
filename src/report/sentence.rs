//! The answer in words: how long the dead stayed visible, and what the time went on.

mod eureka;
mod two_stage;

use super::calls::in_percent;
use super::mistakes::MistakeSummary;
use super::servers::{ServerSummary, Spread};
use super::servers_table::mean;
use super::stages::StageSummary;
use super::summary::Summary;
use super::table::grouped;
use super::words::plural;
use super::{Report, in_words};
use crate::analysis::Reason;
use crate::model::stage::{EventKind, Stage};
use crate::observe::Outcome;
use crate::scenario::{ScenarioOf, Setup};

/// Servers that are named one by one in a sentence.
const SERVERS_NAMED: usize = 4;

/// One sentence for each event that was watched, one about mistakes if there were any, and one about how far several
/// servers agreed.
pub(super) fn answer(report: &Report<'_>, summary: &Summary) -> String {
    let mut sentences = Vec::new();
    for event in summary.events_watched() {
        sentences.push(EventNarrative { report, summary, event }.sentence());
        sentences.extend(two_stage::entry(report, summary, event));
    }
    let watched = !sentences.is_empty();
    if report.is_two_stage() {
        two_stage::say_once(&mut sentences);
    }
    sentences.extend(mistakes(summary, watched));
    sentences.extend(agreement(summary));
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
        return Some(format!("None of {} between instances failed.", plural(calls, "call")));
    }
    let worst = summary.calls.iter().filter_map(|row| row.worst_minute).max_by_key(|worst| worst.failed);
    let worst = worst.expect("what failed did so in some minute");
    Some(format!(
        "Of {} between instances {} failed ({}), {} in the worst minute.",
        plural(calls, "call"),
        grouped(failed),
        in_percent(failed, calls),
        in_percent(worst.failed, worst.calls),
    ))
}

fn mistakes(summary: &Summary, watched: bool) -> Option<String> {
    if summary.is_two_stage() {
        return two_stage::mistakes(summary, watched);
    }
    let registry = summary.mistakes.iter().find(|mistake| mistake.stage == Stage::Registry);
    let removed = registry.map(|mistake| {
        let told = if summary.servers.len() > 1 { by_servers(summary, mistake) } else { by_one(mistake) };
        format!("{told}, in {} of {}.", mistake.replicates, plural(summary.replicates.into(), "replicate"),)
    });
    let nothing = "No death, departure or arrival was watched, and no live instance was removed.";
    removed.or_else(|| (!watched).then(|| nothing.to_owned()))
}

fn by_one(mistake: &MistakeSummary) -> String {
    let told = [
        (mistake.evicted, "removed by mistake"),
        (mistake.lost_with_server, "forgotten when the server ended"),
    ];
    let told = told
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, how)| format!("{} {how}", either(count, "live instance was", "live instances were")));
    told.collect::<Vec<_>>().join(", and ")
}

/// The same instance may be removed by several servers, so it is told how often and by which.
fn by_servers(summary: &Summary, mistake: &MistakeSummary) -> String {
    let removing: Vec<&ServerSummary> =
        summary.servers.iter().filter(|server| server.false_removals > 0).collect();
    let one = |server: &&ServerSummary| format!("{} by {}", grouped(server.false_removals), server.server);
    let whose = match removing.as_slice() {
        [only] => format!("all by {}", only.server),
        many => {
            let named = many.iter().take(SERVERS_NAMED).map(one).collect::<Vec<_>>().join(", ");
            let others = many.len().saturating_sub(SERVERS_NAMED);
            if others == 0 { named } else { format!("{named}, the rest by {others} more") }
        }
    };
    let told = [
        (mistake.evicted, format!("removed by mistake {{}} ({whose})")),
        (mistake.lost_with_server, "forgotten {} when a server ended".to_owned()),
    ];
    let told = told.into_iter().filter(|(count, _)| *count > 0);
    let told = told.map(|(count, how)| how.replace("{}", &plural(count, "time")));
    format!("Live instances were {}", told.collect::<Vec<_>>().join(", and "))
}

/// When servers agreed again, and how far they differed.
fn agreement(summary: &Summary) -> Option<String> {
    let agreement = summary.server_agreement.as_ref()?;
    let whose = if agreement.agreed_at_end < summary.replicates {
        format!(" in {} of {} replicates", agreement.agreed_at_end, summary.replicates)
    } else {
        String::new()
    };
    let end = match agreement.agreed_again_ms {
        _ if agreement.agreed_at_end == 0 => "Servers did not agree at the end".to_owned(),
        None => format!("Servers agreed at the end{whose}"),
        Some(Spread { max: 0, .. }) => format!("Servers agreed as soon as the last fault was over{whose}"),
        Some(after) => {
            let length = in_words(after.mean.round() as u64);
            format!("Servers agreed again {length} after the last fault{}{whose}", range(after, in_words))
        }
    };
    let most = agreement.differing_max;
    if most.max == 0 && agreement.agreed_at_end == summary.replicates {
        let from = if agreement.agreed_again_ms.is_some() { " after the first fault began" } else { "" };
        return Some(format!("Servers never differed{from}."));
    }
    let differed = match most.max {
        0 => "they never differed".to_owned(),
        1 => "at most 1 instance differed".to_owned(),
        _ => format!("at most {} instances differed{}", mean(most), range(most, grouped)),
    };
    Some(format!("{end}; {differed}."))
}

/// Over replicates, if they are not all alike.
fn range(spread: Spread, in_words: fn(u64) -> String) -> String {
    if spread.min == spread.max {
        return String::new();
    }
    format!(" on average ({} to {})", in_words(spread.min), in_words(spread.max))
}

/// What is told of one event.
struct EventNarrative<'a> {
    report: &'a Report<'a>,
    summary: &'a Summary,
    event: EventKind,
}

impl EventNarrative<'_> {
    fn sentence(&self) -> String {
        let path = self.path();
        // Of an instance that nobody was given any more only the entry is left to watch.
        let Some(&(stage, last)) = path.last() else {
            return format!("{} it was shown nowhere.", self.opening());
        };
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

    /// The stages on the way to the callers that were watched, in order.
    fn path(&self) -> Vec<(Stage, &StageSummary)> {
        Stage::WAY
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
        let place = self.place(stage);
        match self.event {
            event if event.is_end() => format!("an instance stayed {place} for"),
            _ => format!("an instance became {place} after"),
        }
    }

    fn never(&self, stage: Stage, last: &StageSummary) -> String {
        let place = self.place(stage);
        let why = if self.report.is_two_stage() {
            two_stage::why_never(self.report, self.summary, self.event)
        } else {
            last.bound_absent_because.as_ref().filter(|why| eureka::explains(why)).map(Reason::to_string)
        };
        let why = why.map(|because| format!(", because {because}")).unwrap_or_default();
        let least = shortest_watch(self.report, (self.event, stage));
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
        let two_stage = self.report.is_two_stage();
        let why = two_stage.then(|| two_stage::why_not_all(self.summary, self.event)).flatten();
        format!(
            "{} {} {median}; {} of {} had not ended when the run did{}.",
            self.opening(),
            self.verb(stage),
            last.censored,
            plural(last.count, "observation"),
            why.map(|because| format!(", because {because}")).unwrap_or_default(),
        )
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
            // What a sweep does is long enough to need a comma.
            Some((last, rest)) if self.report.is_two_stage() => format!(": {}, and {last}", rest.join(", ")),
            Some((last, rest)) => format!(": {} and {last}", rest.join(", ")),
        }
    }

    fn reason(&self, stage: Stage) -> String {
        let (report, scenario) = (self.report, &self.report.scenario);
        match &scenario.setup {
            Setup::Eureka(its) => eureka::reason(report, ScenarioOf::new(scenario, its), (stage, self.event)),
            Setup::TwoStage(its) => two_stage::reason(ScenarioOf::new(scenario, its), (stage, self.event)),
        }
    }

    fn place(&self, stage: Stage) -> &'static str {
        match (stage, self.report.has_several_servers()) {
            (Stage::Registry, false) => "in the registry",
            (Stage::Registry, true) => "in a registry",
            (Stage::Served, false) => "in the registry's answers",
            (Stage::Served, true) => "in a registry's answers",
            (Stage::Client | Stage::Balancer, _) => "visible to callers",
            (Stage::Entry, _) => "known to the registry",
        }
    }
}

/// How long, at least, it was waited for what had not ended when the run did, in words.
fn shortest_watch(report: &Report<'_>, (event, stage): (EventKind, Stage)) -> String {
    let rows = report.data.replicates.iter().flat_map(|replicate| &replicate.detections);
    let own = rows.filter(|row| row.event == event && row.stage == stage);
    let censored = own.filter_map(|row| match row.outcome {
        Outcome::Censored(length) => Some(length),
        Outcome::Detected(_) | Outcome::Superseded(_) => None,
    });
    in_words(censored.min().expect("what is censored was watched for some time").as_millis())
}

fn either(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::Fixture;

    fn answer_of(made: &Fixture) -> String {
        Summary::of(&made.report()).answer
    }

    #[test]
    fn a_crash_is_told_with_what_the_time_went_on() {
        insta::assert_snapshot!(answer_of(&Fixture::crashes(300, 99)));
    }

    #[test]
    fn an_instance_that_never_went_is_told_with_the_reason() {
        insta::assert_snapshot!(answer_of(&Fixture::protected(20)));
    }

    #[test]
    fn departures_and_arrivals_have_sentences_of_their_own() {
        insta::assert_snapshot!(answer_of(&Fixture::coming_and_going(20)));
    }

    #[test]
    fn a_two_stage_registry_hides_first_and_forgets_later() {
        insta::assert_snapshot!(answer_of(&Fixture::two_stages(300, 19)));
    }

    #[test]
    fn a_guard_that_is_shut_keeps_entries_for_ever() {
        insta::assert_snapshot!(answer_of(&Fixture::jammed(50)));
    }

    #[test]
    fn the_only_instance_is_shown_until_it_is_deleted() {
        insta::assert_snapshot!(answer_of(&Fixture::only_instance(50)));
    }

    #[test]
    fn calls_are_told_last() {
        let told = answer_of(&Fixture::calling(7, true));
        let expected =
            "Of 1,008,000 calls between instances 17,500 failed (1.7 %), 5.0 % in the worst minute.";
        assert!(told.ends_with(expected), "{told}");
        let told = answer_of(&Fixture::calling(7, false));
        assert!(told.ends_with("None of 1,008,000 calls between instances failed."), "{told}");
    }

    #[test]
    fn several_servers_are_told_apart() {
        insta::assert_snapshot!(answer_of(&Fixture::cut_off(3, 3)));
    }

    #[test]
    fn servers_that_agree_or_not_are_told_so() {
        let mut made = Fixture::cut_off(1, 2);
        let told = |made: &Fixture| answer_of(made).rsplit(". ").next().unwrap().to_owned();
        // The restart is over at 845 s, and both agree from 847 s on.
        assert_eq!(
            told(&made),
            "Servers agreed again 2.0 s after the last fault; at most 11 instances differed."
        );
        made.data.replicates[0].divergence.pop();
        assert_eq!(told(&made), "Servers did not agree at the end; at most 11 instances differed.");
        made.data.replicates[0].divergence.clear();
        assert_eq!(told(&made), "Servers never differed after the first fault began.");
    }

    #[test]
    fn a_run_without_events_tells_of_mistakes() {
        let nothing = "No death, departure or arrival was watched, and no live instance was removed.";
        assert_eq!(answer_of(&Fixture::quiet(0)), nothing);
        assert_eq!(
            answer_of(&Fixture::quiet(1)),
            "1 live instance was removed by mistake, in 1 of 4 replicates."
        );
        assert_eq!(
            answer_of(&Fixture::quiet(3)),
            "3 live instances were removed by mistake, in 1 of 4 replicates."
        );
    }
}
