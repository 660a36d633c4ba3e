//! What the terminal shows of calls: a row for each pair of caller and callee, and who is to blame for the dead.

use super::calls::{AttemptCounts, CallSummary, StageCounts, in_percent};
use super::summary::Summary;
use super::table::{Layout, grouped, table_lines};

/// The caption.
pub(super) fn caption(summary: &Summary) -> &'static str {
    match summary.is_two_stage() {
        true => "calls between instances, and attempts that failed by what they met",
        false => "calls through load balancers, and attempts that failed by what they met",
    }
}

/// A kind of failed attempt and how many there were.
type Failure = (&'static str, fn(&AttemptCounts) -> u64);

const FAILURES: [Failure; 5] = [
    ("dead", |attempts| attempts.dead),
    ("paused", |attempts| attempts.paused),
    ("cut off", |attempts| attempts.cut_off),
    ("refused", |attempts| attempts.refused),
    ("no instance", |attempts| attempts.no_instance),
];

/// How many attempts a stage is to blame for, and what it did.
type Blame = (fn(&StageCounts) -> u64, &'static str);

/// The lines of the table, without its caption. Kinds of failures that never happened are left out.
pub(super) fn lines(calls: &[CallSummary]) -> Vec<String> {
    let happened = |failure: &&Failure| calls.iter().any(|calls| failure.1(&calls.attempts) > 0);
    let failures: Vec<&Failure> = FAILURES.iter().filter(happened).collect();
    let fixed = ["from", "to", "calls", "failed", "share", "worst minute"];
    let header = fixed.into_iter().chain(failures.iter().map(|failure| failure.0));
    let header = header.map(str::to_owned).collect();
    let row = |row: &CallSummary| {
        let worst =
            row.worst_minute.map_or_else(|| "–".to_owned(), |worst| in_percent(worst.failed, worst.calls));
        let mut texts = vec![
            row.caller.clone(),
            row.callee.clone(),
            grouped(row.calls),
            grouped(row.failed),
            in_percent(row.failed, row.calls),
            worst,
        ];
        texts.extend(failures.iter().map(|failure| grouped(failure.1(&row.attempts))));
        texts
    };
    table_lines(header, calls.iter().map(row), Layout::after_names(2))
}

/// Which stages are to blame for attempts at the dead, in words; nothing if there were none.
pub(super) fn blame(summary: &Summary) -> Option<String> {
    let calls = &summary.calls;
    let [by_registry, by_client] = match summary.is_two_stage() {
        true => ["the registry still took them for healthy", "only the caller's own list still had them"],
        false => ["the registry still had them", "only the caller's local registry still had them"],
    };
    let parts: [Blame; 4] = [
        (|stages| stages.registry, by_registry),
        (|stages| stages.served, "only the registry's answers still had them"),
        (|stages| stages.client, by_client),
        (|stages| stages.balancer.unwrap_or(0), "only the caller's balancer still had them"),
    ];
    let count = |of: fn(&StageCounts) -> u64| -> u64 { calls.iter().map(|row| of(&row.dead_by_stage)).sum() };
    let all: u64 = parts.iter().map(|part| count(part.0)).sum();
    let told = parts.iter().filter(|part| count(part.0) > 0);
    let told: Vec<String> =
        told.map(|part| format!("{} while {}", in_percent(count(part.0), all), part.1)).collect();
    (all > 0).then(|| format!("attempts at the dead: {}.", told.join(", ")))
}
