//! The terminal's table of mistakes: how often a stage ceased to show who was well, and what that adds up to.

use super::length::in_seconds;
use super::mistakes::{MistakeSummary, Tolerance};
use super::summary::Summary;
use super::table::{Layout, bold, grouped, line, note, table_lines};

const HEADER: [&str; 9] =
    ["stage", "mistakes", "corr.", "in repl.", "T_M mean", "max", "λ_M", "P_A", "worst"];

/// A table of all stages that made mistakes.
pub(super) fn mistake_table(summary: &Summary) -> String {
    let header = HEADER.map(str::to_owned).to_vec();
    let mut text = String::new();
    bold(&mut text, "instances that a stage ceased to show, although they were alive and well");
    let rows = summary.mistakes.iter().map(cells);
    table_lines(header, rows, Layout::after_names(1)).iter().for_each(|row| line(&mut text, row));
    let units = "T_M: length of a mistake, in seconds. λ_M: mistakes an hour about one instance. P_A: share of the \
                 time in which an instance that was well was shown, in %.";
    note(&mut text, units);
    if summary.mistakes.iter().any(|row| row.corrected < row.count) {
        note(&mut text, "Not all were corrected: how long they would have lasted is not known.");
    }
    note(&mut text, &tolerated(&summary.tolerance, summary.is_two_stage()));
    text
}

fn cells(row: &MistakeSummary) -> Vec<String> {
    let unknown = || "–".to_owned();
    let seconds = |ms: Option<u64>| ms.map_or_else(unknown, in_seconds);
    let percent = |share: Option<f64>| share.map_or_else(unknown, percent);
    vec![
        row.stage.name().to_owned(),
        grouped(row.count),
        grouped(row.corrected),
        grouped(row.replicates.into()),
        seconds(row.mean_duration_ms),
        seconds(row.max_duration_ms),
        row.rate_per_hour.map_or_else(unknown, significant),
        percent(row.query_accuracy),
        percent(row.worst_query_accuracy),
    ]
}

/// Percent, rounded down to four digits: only what is perfect is 100.
fn percent(share: f64) -> String {
    format!("{:.4}", (share * 1e6).floor() / 1e4)
}

/// Three digits that count.
fn significant(number: f64) -> String {
    let (mut decimals, mut scaled) = (0, number);
    while scaled < 100.0 && decimals < 9 {
        scaled *= 10.0;
        decimals += 1;
    }
    format!("{number:.decimals$}")
}

fn tolerated(tolerance: &[Tolerance], is_two_stage: bool) -> String {
    let mut told: Vec<(Option<u64>, Vec<&str>)> = Vec::new();
    for own in tolerance {
        match told.iter_mut().find(|(missed, _)| *missed == own.missed_heartbeats) {
            Some((_, names)) => names.push(&own.application),
            None => told.push((own.missed_heartbeats, vec![&own.application])),
        }
    }
    let sentences = told.iter().map(|(missed, names)| {
        let whose = if told.len() == 1 { String::new() } else { format!(" ({})", names.join(", ")) };
        let beats = if *missed == Some(1) { "heartbeat" } else { "heartbeats" };
        match missed {
            None if is_two_stage => {
                format!("An instance can be marked unhealthy although no heartbeat is missed{whose}.")
            }
            Some(missed) if is_two_stage => {
                format!("An instance stays healthy through {missed} missed {beats} in a row{whose}.")
            }
            None => format!("A lease can be expired although no heartbeat is missed{whose}."),
            Some(missed) => {
                format!("A lease that has been renewed outlives {missed} missed {beats} in a row{whose}.")
            }
        }
    });
    sentences.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_never_better_than_they_are() {
        assert_eq!([0.0, 0.999_999_96, 1.0].map(percent), ["0.0000", "99.9999", "100.0000"]);
        assert_eq!([123.4, 12.34, 0.0375].map(significant), ["123", "12.3", "0.0375"]);
    }

    #[test]
    fn applications_that_tolerate_alike_are_told_together() {
        let of =
            |name: &str, missed_heartbeats| Tolerance { application: name.to_owned(), missed_heartbeats };
        assert_eq!(
            tolerated(&[of("a", Some(4)), of("b", None), of("c", Some(4))], false),
            "A lease that has been renewed outlives 4 missed heartbeats in a row (a, c). A lease can be expired although \
             no heartbeat is missed (b)."
        );
        assert!(tolerated(&[of("a", Some(1))], false).ends_with("outlives 1 missed heartbeat in a row."));
        assert_eq!(
            tolerated(&[of("a", Some(2)), of("b", None)], true),
            "An instance stays healthy through 2 missed heartbeats in a row (a). An instance can be marked unhealthy \
             although no heartbeat is missed (b)."
        );
    }
}
