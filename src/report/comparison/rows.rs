//! The CSV files of a comparison: `configurations.csv`, a row for each configuration, event and stage, and
//! `observations.csv`, a row for what was observed alike to the millisecond. `docs/SWEEP.md` explains each column.

use std::io::{self, Write};

use super::summary::{ComparisonSummary, ConfigurationSummary, StageComparison};
use crate::model::stage::Stage;
use crate::report::StageSummary;
use crate::sweep::ReplicateRecord;

/// The columns of `configurations.csv` that follow those of the axes.
const COLUMNS: [&str; 32] = [
    "event",
    "stage",
    "count",
    "censored",
    "superseded",
    "min_ms",
    "mean_ms",
    "p50_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "max_ms",
    "bound_min_ms",
    "bound_mean_ms",
    "bound_max_ms",
    "replicate_mean_low_ms",
    "replicate_mean_high_ms",
    "p50_low_ms",
    "p50_high_ms",
    "p99_low_ms",
    "p99_high_ms",
    "difference_pairs",
    "difference_ms",
    "difference_low_ms",
    "difference_high_ms",
    "mistakes",
    "query_accuracy",
    "requests_per_minute",
    "busiest_minute_requests",
    "calls",
    "failed_call_share",
    "digest",
];

/// Writes `configurations.csv`.
pub(super) fn configurations(summary: &ComparisonSummary, into: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(into);
    csv.write_field("configuration")?;
    for axis in &summary.axes {
        csv.write_field(&axis.name)?;
    }
    csv.write_record(COLUMNS)?;
    for configuration in &summary.configurations {
        let mut row = |event: &str, stage: Stage, figures: Option<&StageComparison>| {
            csv.write_field(configuration.configuration.to_string())?;
            for value in &configuration.values {
                csv.write_field(value)?;
            }
            csv.write_record(fields(configuration, event, stage, figures))
        };
        for figures in &configuration.stages {
            let stage = Stage::ALL.into_iter().find(|stage| stage.name() == figures.figures.stage);
            row(&figures.figures.event, stage.expect("a stage has its name"), Some(figures))?;
        }
        // Nothing was watched: what is known of the stages and of the whole stands in rows without an event.
        if configuration.stages.is_empty() {
            let stages = Stage::ALL.into_iter().filter(|&stage| configuration.quality_at(stage).is_some());
            for stage in stages {
                row("", stage, None)?;
            }
        }
    }
    csv.flush()
}

/// As [`COLUMNS`] names them.
fn fields(
    configuration: &ConfigurationSummary,
    event: &str,
    stage: Stage,
    row: Option<&StageComparison>,
) -> Vec<String> {
    let figures = row.map(|row| &row.figures);
    let difference = row.and_then(|row| row.difference);
    let whole = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let signed = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    let share = |share: Option<f64>| share.map(|share| format!("{share:.9}")).unwrap_or_default();
    let quality = configuration.quality_at(stage);
    let mut fields = vec![event.to_owned(), stage.name().to_owned()];
    let counts = figures.map(|row| [row.count, row.censored, row.superseded]);
    fields.extend((0..3).map(|place| whole(counts.map(|counts| counts[place]))));
    let times = figures.map(StageSummary::times_ms);
    fields.extend((0..10).map(|place| whole(times.and_then(|times| times[place]))));
    let ends = figures.map(|row| {
        let intervals = &row.intervals;
        [
            intervals.replicate_mean.low_ms,
            intervals.replicate_mean.high_ms,
            intervals.p50.low_ms,
            intervals.p50.high_ms,
            intervals.p99.low_ms,
            intervals.p99.high_ms,
        ]
    });
    fields.extend((0..6).map(|place| whole(ends.and_then(|ends| ends[place]))));
    fields.extend([
        whole(difference.map(|difference| difference.pairs)),
        signed(difference.map(|difference| difference.mean_ms)),
        signed(difference.and_then(|difference| difference.low_ms)),
        signed(difference.and_then(|difference| difference.high_ms)),
        whole(quality.map(|quality| quality.mistakes)),
        share(quality.and_then(|quality| quality.query_accuracy)),
        format!("{:.3}", configuration.requests_per_minute),
        configuration.busiest_minute_requests.to_string(),
        configuration.calls.to_string(),
        share(configuration.failed_call_share),
        configuration.digest.clone(),
    ]);
    fields
}

/// The first line of `observations.csv`.
pub(super) const OBSERVATIONS_HEADER: &str =
    "configuration,replicate,event,stage,outcome,detection_time_ms,count\n";

/// The rows of one configuration in `observations.csv`. No field needs a quote, and there may be millions of them, so
/// they are put together here.
pub(super) fn observations(configuration: usize, records: &[ReplicateRecord]) -> Vec<u8> {
    let mut text = Vec::new();
    for (replicate, record) in records.iter().enumerate() {
        for stage in &record.stages {
            for (outcome, rows) in stage.by_outcome() {
                let (event, stage) = (stage.event().name(), stage.stage().name());
                let start = format!("{},{replicate},{event},{stage},{outcome},", configuration + 1);
                for &(ms, count) in rows {
                    text.extend_from_slice(start.as_bytes());
                    push_number(&mut text, ms);
                    text.push(b',');
                    push_number(&mut text, count);
                    text.push(b'\n');
                }
            }
        }
    }
    text
}

fn push_number(text: &mut Vec<u8>, mut number: u64) {
    let start = text.len();
    loop {
        text.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text[start..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::made_up;

    #[test]
    fn numbers_are_written_as_ever() {
        for number in [0, 7, 10, 195_123, u64::MAX] {
            let mut text = Vec::new();
            push_number(&mut text, number);
            assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
        }
    }

    #[test]
    fn every_row_has_every_column() {
        for summary in [made_up::sweep(&[3, 2], 4), made_up::quiet(), made_up::registries()] {
            let mut text = Vec::new();
            configurations(&summary, &mut text).unwrap();
            let mut csv = csv::Reader::from_reader(text.as_slice());
            let columns = csv.headers().unwrap().len();
            assert_eq!(columns, 1 + summary.axes.len() + COLUMNS.len());
            let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
            assert!(rows.len() >= summary.configurations.len());
            assert!(rows.iter().all(|row| row.len() == columns));
        }
    }

    #[test]
    fn a_stage_that_a_registry_does_not_have_has_no_row() {
        let mut text = Vec::new();
        configurations(&made_up::registries(), &mut text).unwrap();
        let mut csv = csv::Reader::from_reader(text.as_slice());
        let stages = |number: &str, rows: &[csv::StringRecord]| -> Vec<String> {
            rows.iter().filter(|row| &row[0] == number).map(|row| row[3].to_owned()).collect()
        };
        let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        assert_eq!(stages("1", &rows), ["registry", "served", "client", "balancer"]);
        assert_eq!(stages("3", &rows), ["registry", "served", "client", "entry"]);
    }
}
