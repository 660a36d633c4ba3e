//! What the time went on with a two-stage registry, and what became of the entry that no caller sees.

use super::{in_words, plural, shortest_watch};
use crate::model::stage::{EventKind, Stage};
use crate::model::two_stage::{Discovery, TwoStage};
use crate::report::guards::{guard_percent, shut_at_end};
use crate::report::{Report, Summary};
use crate::scenario::ScenarioOf;

/// What had to happen until a stage noticed an event, after the stage before it had.
pub(super) fn reason(scenario: ScenarioOf<'_, TwoStage>, what: (Stage, EventKind)) -> String {
    let server = scenario.server();
    match what {
        (Stage::Registry, EventKind::Crash) => format!(
            "its silence had exceeded {} and a sweep, one every {}, {}",
            setting(server.soft_timeout_ms),
            setting(server.sweep_interval_ms),
            match server.read_protect_threshold {
                None => "took it out of the answers",
                Some(_) => "marked it unhealthy",
            },
        ),
        (Stage::Registry, EventKind::Stop) => "the registry had its de-registration".to_owned(),
        (Stage::Registry, _) => "the registry had it".to_owned(),
        (Stage::Served, event) => match server.read_protect_threshold {
            Some(share) if event.is_end() => {
                format!("the registry's answers, which show everybody while {}, let it go", few(share))
            }
            _ => "the registry's answers did".to_owned(),
        },
        (Stage::Client, _) => match discovery(scenario) {
            Some(Discovery::Poll) => "the callers polled",
            Some(Discovery::LongPoll) => "the callers' long polls were answered",
            Some(Discovery::PushPlusPoll) => "a push, or their own poll, told the callers",
            None => "the callers heard of it",
        }
        .to_owned(),
        (Stage::Balancer | Stage::Entry, _) => unreachable!("no caller waits for such a stage"),
    }
}

/// When the registry forgot who had gone; nothing if it did so at once, or was not asked.
pub(super) fn entry(report: &Report<'_>, summary: &Summary, event: EventKind) -> Option<String> {
    let row = summary.stage(event, Stage::Entry).filter(|row| event.is_end() && row.count > 0)?;
    if row.censored == 0 {
        let (mean, flag) = (row.mean_ms?, summary.stage(event, Stage::Registry));
        if flag.is_some_and(|flag| flag.mean_ms == Some(mean)) {
            return None;
        }
        let tail = row.p99_ms.map(|p99| format!(" (p99 {})", in_words(p99))).unwrap_or_default();
        let (mean, what) = (in_words(mean), noun(event));
        let shut = shut_meanwhile(summary).filter(|_| event == EventKind::Crash).unwrap_or_default();
        return Some(format!("The registry forgot it {mean} after {what} on average{tail}{shut}."));
    }
    let why = shut(report).map(|because| format!(", because {because}")).unwrap_or_default();
    if row.censored == row.count {
        let least = shortest_watch(report, (event, Stage::Entry));
        return Some(format!(
            "The registry still had its entry when the run ended, {least} or more later{why}."
        ));
    }
    Some(format!(
        "The registry still had {} of {} when the run ended{why}.",
        row.censored,
        plural(row.count, "such entry", "such entries"),
    ))
}

/// Why callers never saw an event, if that is known.
pub(super) fn why_never(report: &Report<'_>, summary: &Summary, event: EventKind) -> Option<String> {
    let flag = summary.stage(event, Stage::Registry);
    if flag.is_some_and(|flag| flag.count > 0 && flag.censored == flag.count) {
        return shut(report);
    }
    refused(summary)
}

fn refused(summary: &Summary) -> Option<String> {
    let refused = summary.consumers.map_or(0, |consumers| consumers.refused_answers);
    (refused > 0).then(|| format!("callers refused {} as implausible", plural(refused, "answer", "answers")))
}

/// Why some callers had not seen an event when the run ended, although the registry had, if that is known.
pub(super) fn why_not_all(summary: &Summary, event: EventKind) -> Option<String> {
    let seen = summary.stage(event, Stage::Registry).is_some_and(|flag| flag.censored == 0);
    if seen { refused(summary) } else { None }
}

/// Gives a reason where it comes first, and no second time.
pub(super) fn say_once(sentences: &mut [String]) {
    let mut told: Vec<String> = Vec::new();
    for sentence in sentences {
        let Some((what, because)) = sentence.split_once(", because ") else { continue };
        if told.iter().any(|reason| reason == because) {
            *sentence = format!("{what}, for the same reason.");
        } else {
            told.push(because.to_owned());
        }
    }
}

/// Instances that were alive and well and that the registry marked, removed or forgot.
pub(super) fn mistakes(summary: &Summary, watched: bool) -> Option<String> {
    let at = |stage: Stage| summary.mistakes.iter().find(|mistake| mistake.stage == stage.name());
    let (flag, entry) = (at(Stage::Registry), at(Stage::Entry));
    let told = [
        (flag.map_or(0, |row| row.evicted), "marked unhealthy by mistake"),
        (entry.map_or(0, |row| row.evicted), "removed"),
        (flag.map_or(0, |row| row.lost_with_server), "forgotten when the registry ended"),
    ];
    let told = told.into_iter().filter(|(count, _)| *count > 0);
    let told = told
        .map(|(count, how)| format!("{} {how}", plural(count, "live instance was", "live instances were")));
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        let nothing =
            "No death, departure or arrival was watched, and no live instance was marked unhealthy.";
        return (!watched).then(|| nothing.to_owned());
    }
    let replicates = [flag, entry].into_iter().flatten().map(|row| row.replicates).max().unwrap_or(0);
    Some(format!(
        "{}, in {replicates} of {}.",
        told.join(", and "),
        plural(summary.replicates.into(), "replicate", "replicates"),
    ))
}

/// That a guard is shut at the end, with its figures where all replicates have the same.
fn shut(report: &Report<'_>) -> Option<String> {
    let percent = guard_percent(report)?;
    let replicates = &report.data.replicates;
    let all = replicates.iter().filter(|replicate| replicate.self_preservation_at_end()).count();
    let found = replicates.iter().filter_map(shut_at_end).map(|sweep| (sweep.healthy, sweep.entries));
    let mut found: Vec<(u32, u32)> = found.collect();
    found.sort_unstable();
    found.dedup();
    let which = match replicates.len() - all {
        _ if all == 0 => return None,
        0 => String::new(),
        _ => format!(" in {all} of {} replicates", replicates.len()),
    };
    Some(match found[..] {
        [(healthy, entries)] => format!(
            "the guard was shut{which}: {healthy} of {entries} healthy are {} %, and it asks for {percent} %",
            u64::from(healthy) * 100 / u64::from(entries.max(1)),
        ),
        _ => format!("the guard, which asks for {percent} % healthy, was shut{which}"),
    })
}

/// For how long the guard of some service was shut, where it was, but is so no longer.
fn shut_meanwhile(summary: &Summary) -> Option<String> {
    let guard = summary.guard.filter(|guard| guard.shut_in > 0 && guard.shut_at_end == 0)?;
    let length = in_words(guard.shut_ms.mean.round() as u64);
    Some(match guard.shut_in < summary.replicates {
        false => format!("; its guard was shut for {length} of the run"),
        true => format!("; its guard was shut in {} of {} replicates", guard.shut_in, summary.replicates),
    })
}

/// How all consumers hear of changes, if they do so alike.
fn discovery(scenario: ScenarioOf<'_, TwoStage>) -> Option<Discovery> {
    let mut ways = scenario.apps().filter(|app| app.observers).map(|app| app.client.discovery);
    let first = ways.next()?;
    ways.all(|way| way == first).then_some(first)
}

/// When read protection is on.
fn few(share: f64) -> String {
    match share {
        _ if share <= 0.0 => "nobody is healthy".to_owned(),
        _ => format!("no more than {} % are healthy", (share * 1e4).round() / 1e2),
    }
}

/// A setting as people say it: whole seconds, or else milliseconds.
fn setting(ms: u32) -> String {
    if ms.is_multiple_of(1_000) { format!("{} s", ms / 1_000) } else { format!("{ms} ms") }
}

fn noun(event: EventKind) -> &'static str {
    match event {
        EventKind::Crash => "the crash",
        EventKind::Stop => "the stop",
        _ => "that",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_given_once() {
        let mut sentences = [
            "It stayed, because of this.",
            "It went.",
            "It came, because of that.",
            "It stayed, because of this.",
        ]
        .map(str::to_owned);
        say_once(&mut sentences);
        assert_eq!(sentences[2..], ["It came, because of that.", "It stayed, for the same reason."]);
        assert_eq!(sentences[0], "It stayed, because of this.");
    }
}
