//! The CSV files of a comparison: `configurations.csv`, a row for each configuration, event and stage, and
//! `observations.csv`, a row for what was observed alike to the millisecond. `docs/SWEEP.md` explains each column.

use std::io::{self, Write};

use super::paired::Difference;
use super::summary::{AxisSummary, ComparisonSummary, ConfigurationSummary, QualitySummary, StageComparison};
use crate::model::stage::{EventKind, Stage};
use crate::report::StageSummary;
use crate::report::rows::{Column, Columns, Field};
use crate::report::stages::IntervalMs;
use crate::sweep::ReplicateRecord;

pub(super) const CONFIGURATIONS: &str = "configurations.csv";
pub(super) const OBSERVATIONS: &str = "observations.csv";

/// What a row of `configurations.csv` is made of: a configuration at a stage, and an event if any was watched.
pub(super) struct Watched<'a> {
    configuration: &'a ConfigurationSummary,
    stage: Stage,
    row: Option<&'a StageComparison>,
}

/// The columns of `configurations.csv`.
pub(super) fn configuration_columns<'a>(axes: &[AxisSummary]) -> Columns<Watched<'a>> {
    let axis = |(index, axis): (usize, &AxisSummary)| {
        Column::new(axis.name.clone(), move |row: &Watched<'_>| {
            row.configuration.values[index].as_str().into()
        })
    };
    let watched = Columns::<Watched<'_>>::new()
        .one("configuration", "its number, from 1, in plan order", |row| row.configuration.configuration.into())
        .titled(
            "one for each axis",
            "its value, under the key as it was typed; `scenario` in a comparison",
            axes.iter().enumerate().map(axis),
        )
        .one(
            "event",
            "what was watched, and where. If a configuration watched nothing, it has a row for each stage of its \
             registry without an event",
            |row| row.row.map(|row| row.figures.event.name()).into(),
        )
        .and("stage", |row| row.stage.name().into())
        .line(
            "observations",
            [
                figure("count", |row| Some(row.count)),
                figure("censored", |row| Some(row.censored)),
                figure("superseded", |row| Some(row.superseded)),
            ],
        );
    with_load(with_times(watched))
}

/// The columns of detection times.
fn with_times(columns: Columns<Watched<'_>>) -> Columns<Watched<'_>> {
    columns
        .titled(
            "`min_ms` to `max_ms`",
            "of T_D; empty if not known",
            [
                figure("min_ms", |row| row.min_ms),
                figure("mean_ms", |row| row.mean_ms),
                figure("p50_ms", |row| row.p50_ms),
                figure("p90_ms", |row| row.p90_ms),
                figure("p95_ms", |row| row.p95_ms),
                figure("p99_ms", |row| row.p99_ms),
                figure("max_ms", |row| row.max_ms),
            ],
        )
        .line(
            "the closed form; empty where it does not hold",
            [
                figure("bound_min_ms", |row| row.bound_min_ms),
                figure("bound_mean_ms", |row| row.bound_mean_ms),
                figure("bound_max_ms", |row| row.bound_max_ms),
            ],
        )
        .line(
            "the 95 % interval of the median, over replicates, of a replicate's mean",
            [
                low("replicate_mean", |row| row.intervals.replicate_mean),
                high("replicate_mean", |row| row.intervals.replicate_mean),
            ],
        )
        .line(
            "that of these quantiles; an end is empty if so few replicates do not bound it",
            [
                low("p50", |row| row.intervals.p50),
                high("p50", |row| row.intervals.p50),
                low("p99", |row| row.intervals.p99),
                high("p99", |row| row.intervals.p99),
            ],
        )
}

/// The columns of the difference to the first configuration, and of what is not about one event.
fn with_load(columns: Columns<Watched<'_>>) -> Columns<Watched<'_>> {
    columns
        .line(
            "replicates with an observation both here and in configuration 1",
            [difference("difference_pairs", |one| Some(one.pairs))],
        )
        .line(
            "the mean, over these, of the difference of their means; rounded to the nearest. Empty for configuration \
             1, and where a mean is not known",
            [difference("difference_ms", |one| Some(one.mean_ms))],
        )
        .line(
            "its 95 % interval",
            [
                difference("difference_low_ms", |one| one.low_ms),
                difference("difference_high_ms", |one| one.high_ms),
            ],
        )
        .one("mistakes", "at this stage, over all observers and replicates", |row| {
            row.quality().map(|quality| quality.mistakes).into()
        })
        .one("query_accuracy", "P_A at this stage, 0 to 1; empty if it was not watched", |row| {
            share(row.quality().and_then(|quality| quality.query_accuracy))
        })
        .line(
            "of the whole configuration: over all replicates, and in the busiest minute of any",
            [
                whole("requests_per_minute", |one| format!("{:.3}", one.requests_per_minute).into()),
                whole("busiest_minute_requests", |one| one.busiest_minute_requests.into()),
            ],
        )
        .line(
            "calls through balancers, and the share that failed after all retries, 0 to 1",
            [
                whole("calls", |one| one.calls.into()),
                whole("failed_call_share", |one| share(one.failed_call_share)),
            ],
        )
        .line(
            "of all events of all replicates: the `digest` of a run of this configuration alone",
            [whole("digest", |one| one.digest.as_str().into())],
        )
}

impl Watched<'_> {
    fn quality(&self) -> Option<&QualitySummary> {
        self.configuration.quality_at(self.stage)
    }
}

/// A figure of detection times; empty where nothing was watched.
fn figure<'a, T: Into<Field<'static>> + 'static>(
    name: &'static str,
    of: fn(&StageSummary) -> Option<T>,
) -> Column<Watched<'a>> {
    Column::new(name, move |row: &Watched<'_>| row.row.and_then(|row| of(&row.figures)).into())
}

/// The lower end of an interval.
fn low<'a>(name: &str, of: fn(&StageSummary) -> IntervalMs) -> Column<Watched<'a>> {
    let end = move |row: &StageComparison| of(&row.figures).low_ms;
    Column::new(format!("{name}_low_ms"), move |row: &Watched<'_>| row.row.and_then(end).into())
}

/// The upper end of an interval.
fn high<'a>(name: &str, of: fn(&StageSummary) -> IntervalMs) -> Column<Watched<'a>> {
    let end = move |row: &StageComparison| of(&row.figures).high_ms;
    Column::new(format!("{name}_high_ms"), move |row: &Watched<'_>| row.row.and_then(end).into())
}

/// A figure of the difference to the first configuration.
fn difference<'a, T: Into<Field<'static>> + 'static>(
    name: &'static str,
    of: fn(Difference) -> Option<T>,
) -> Column<Watched<'a>> {
    Column::new(name, move |row: &Watched<'_>| row.row.and_then(|row| row.difference).and_then(of).into())
}

/// A figure of the whole configuration.
fn whole<'a>(name: &'static str, of: fn(&ConfigurationSummary) -> Field<'_>) -> Column<Watched<'a>> {
    Column::new(name, move |row: &Watched<'_>| of(row.configuration))
}

/// A share, to nine digits after the point.
fn share(share: Option<f64>) -> Field<'static> {
    share.map(|share| format!("{share:.9}")).into()
}

/// Writes `configurations.csv`.
pub(super) fn configurations(summary: &ComparisonSummary, into: &mut dyn Write) -> io::Result<()> {
    let mut sheet = configuration_columns(&summary.axes).begin(into)?;
    for configuration in &summary.configurations {
        for row in &configuration.stages {
            sheet.row(&Watched { configuration, stage: row.figures.stage, row: Some(row) })?;
        }
        // Nothing was watched: what is known of the stages and of the whole stands in rows without an event.
        if configuration.stages.is_empty() {
            for quality in &configuration.quality {
                sheet.row(&Watched { configuration, stage: quality.stage, row: None })?;
            }
        }
    }
    sheet.finish()?;
    Ok(())
}

/// What a row of `observations.csv` is made of: what was observed alike to the millisecond.
pub(super) struct Observed {
    configuration: u64,
    replicate: u64,
    event: EventKind,
    stage: Stage,
    outcome: &'static str,
    ms: u64,
    count: u64,
}

/// The columns of `observations.csv`. No field may need a quote.
pub(super) fn observation_columns() -> Columns<Observed> {
    Columns::<Observed>::new()
        .one("configuration", "their numbers, from 1 and from 0", |row| row.configuration.into())
        .and("replicate", |row| row.replicate.into())
        .one("event", "as in `detections.csv` of a run", |row| row.event.name().into())
        .and("stage", |row| row.stage.name().into())
        .and("outcome", |row| row.outcome.into())
        .one("detection_time_ms", "T_D if detected; otherwise how long it was watched", |row| row.ms.into())
        .one("count", "how many observations of this replicate were so, to the millisecond", |row| {
            row.count.into()
        })
}

/// The rows of one configuration in `observations.csv`, and before those of the first its header.
pub(super) fn observations(configuration: usize, records: &[ReplicateRecord]) -> io::Result<Vec<u8>> {
    let columns = observation_columns();
    let mut sheet = if configuration == 0 { columns.begin(Vec::new())? } else { columns.go_on(Vec::new()) };
    for (replicate, record) in records.iter().enumerate() {
        for stage in &record.stages {
            for (outcome, rows) in stage.by_outcome() {
                for &(ms, count) in rows {
                    sheet.row(&Observed {
                        configuration: configuration as u64 + 1,
                        replicate: replicate as u64,
                        event: stage.event(),
                        stage: stage.stage(),
                        outcome,
                        ms,
                        count,
                    })?;
                }
            }
        }
    }
    sheet.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::fixtures;

    #[test]
    fn every_row_has_every_column() {
        for summary in [fixtures::sweep(&[3, 2], 4), fixtures::quiet(), fixtures::registries()] {
            let mut text = Vec::new();
            configurations(&summary, &mut text).unwrap();
            let mut csv = csv::Reader::from_reader(text.as_slice());
            let columns = csv.headers().unwrap().len();
            assert_eq!(columns, configuration_columns(&[]).names().count() + summary.axes.len());
            let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
            assert!(rows.len() >= summary.configurations.len());
            assert!(rows.iter().all(|row| row.len() == columns));
        }
    }

    #[test]
    fn a_stage_that_a_registry_does_not_have_has_no_row() {
        let mut text = Vec::new();
        configurations(&fixtures::registries(), &mut text).unwrap();
        let mut csv = csv::Reader::from_reader(text.as_slice());
        let stages = |number: &str, rows: &[csv::StringRecord]| -> Vec<String> {
            rows.iter().filter(|row| &row[0] == number).map(|row| row[3].to_owned()).collect()
        };
        let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        assert_eq!(stages("1", &rows), ["registry", "served", "client", "balancer"]);
        assert_eq!(stages("3", &rows), ["registry", "served", "client", "entry"]);
    }
}
