//! The columns of a comparison's table: what each says of a configuration, and which there are, from the widest
//! choice to the narrowest.

use super::charts;
use super::figure::{Figure, Value};
use super::statistic::Statistic;
use super::summary::{ComparisonSummary, ConfigurationSummary};
use crate::model::stage::{EventKind, Stage};
use crate::report::length::in_seconds_signed;

/// A column's heading is broken at hyphens and dots to about so many letters.
const HEADING_WIDTH: usize = 14;

/// A column: its heading, line by line, and what it says of a configuration.
pub(super) struct Column<'a> {
    pub(super) heading: Vec<String>,
    pub(super) right: bool,
    pub(super) say: Box<dyn Fn(&ConfigurationSummary) -> String + 'a>,
}

impl<'a> Column<'a> {
    fn new(heading: &[&str], say: impl Fn(&ConfigurationSummary) -> String + 'a) -> Self {
        let heading = heading.iter().map(|&line| line.to_owned()).collect();
        Self { heading, right: true, say: Box::new(say) }
    }

    fn figure(heading: [&str; 2], figure: Figure) -> Self {
        Self::new(&heading, move |configuration| match figure.of(configuration) {
            Value::Known(value) => figure.shown(value),
            Value::Beyond => "–".to_owned(),
            Value::Absent => String::new(),
        })
    }
}

/// What is shown of the detection times.
pub(super) struct Layout<'a> {
    stages: &'a [Stage],
    /// The 99th percentile beside each mean.
    tails: bool,
    /// What callers see, whatever the stage: for registries whose ways to them differ.
    callers: &'a [Statistic],
    /// The difference to the first configuration.
    difference: bool,
}

/// From the widest to the narrowest.
pub(super) fn layouts<'a>(
    summary: &ComparisonSummary,
    event: Option<EventKind>,
    stages: &'a [Stage],
) -> Vec<Layout<'a>> {
    let layout = |stages, tails, callers, difference| Layout { stages, tails, callers, difference };
    if summary.mixes_registries() {
        let (tail, both) = (&[Statistic::P99], &[Statistic::Mean, Statistic::P99]);
        return vec![
            layout(stages, true, &[], true),
            layout(stages, false, tail, true),
            layout(stages, false, tail, false),
            layout(&[], false, both, true),
            layout(&[], false, both, false),
        ];
    }
    let last = event.and_then(|event| summary.last_stage(event));
    let place = stages.iter().position(|stage| Some(*stage) == last);
    let last = place.map_or(&[][..], |place| &stages[place..=place]);
    vec![
        layout(stages, true, &[], true),
        layout(stages, true, &[], false),
        layout(last, true, &[], true),
        layout(last, true, &[], false),
    ]
}

pub(super) fn columns<'a>(
    summary: &'a ComparisonSummary,
    event: Option<EventKind>,
    layout: &Layout<'_>,
) -> Vec<Column<'a>> {
    let mut columns = vec![Column::new(&["#"], |configuration| configuration.configuration.to_string())];
    for (index, axis) in summary.axes.iter().enumerate() {
        let numeric = axis.values.iter().all(|value| value.starts_with(|c: char| c.is_ascii_digit()));
        let heading = broken(&charts::short_name(summary, axis));
        columns.push(Column {
            heading,
            right: numeric,
            say: Box::new(move |configuration| configuration.values[index].clone()),
        });
    }
    for &stage in layout.stages {
        let tail = layout.tails.then_some(("", Statistic::P99));
        for (above, statistic) in [(stage.name(), Statistic::Mean)].into_iter().chain(tail) {
            let figure = Figure::DetectionTime(event, stage, statistic);
            columns.push(Column::figure([above, statistic.name()], figure));
        }
    }
    for (place, &statistic) in layout.callers.iter().enumerate() {
        let above = if place == 0 { "callers" } else { "" };
        columns.push(Column::figure([above, statistic.name()], Figure::Callers(event, statistic)));
    }
    if let Some(event) = event.filter(|_| layout.difference) {
        columns.extend(difference(summary, event));
    }
    columns.push(Column::figure(["requests", "/min"], Figure::Requests));
    if event.is_none() {
        // Without an event it is the load that is compared; this is of one server, where the other is of all.
        columns.push(Column::figure(["busiest", "minute"], Figure::BusiestMinute));
    }
    columns.push(Column::figure(["mis-", "takes"], Figure::Mistakes(Stage::Registry)));
    if summary.configurations.iter().any(|configuration| configuration.calls > 0) {
        columns.push(Column::figure(["failed", "calls %"], Figure::FailedCalls));
    }
    columns
}

/// How much the mean where callers are is longer than in the first configuration.
fn difference<'a>(summary: &ComparisonSummary, event: EventKind) -> Option<Column<'a>> {
    let mixed = summary.mixes_registries();
    let stage = summary.last_stage(event)?;
    let of = move |configuration: &ConfigurationSummary| match mixed {
        true => configuration.callers_difference(event),
        false => configuration.stage(event, stage)?.difference,
    };
    let heading = if mixed { ["callers", "less #1"] } else { ["mean", "less #1"] };
    Some(Column::new(&heading, move |configuration| {
        of(configuration).map_or_else(String::new, |difference| {
            let half = difference.low_ms.zip(difference.high_ms).map(|(low, high)| (high - low + 1) / 2);
            let half = half.map(|half| format!(" ±{}", in_seconds_signed(half).trim_start_matches('+')));
            format!("{}{}", in_seconds_signed(difference.mean_ms), half.unwrap_or_default())
        })
    }))
}

/// A name in lines, broken after hyphens and dots.
fn broken(name: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in name.split_inclusive(['-', '.']) {
        let last = lines.last_mut().expect("there is one");
        if !last.is_empty() && last.chars().count() + part.chars().count() > HEADING_WIDTH {
            lines.push(part.to_owned());
        } else {
            last.push_str(part);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::fixtures;

    #[test]
    fn long_names_are_broken() {
        assert_eq!(broken("eviction-interval-timer-in-ms"), ["eviction-", "interval-", "timer-in-ms"]);
        assert_eq!(broken("seed"), ["seed"]);
    }

    #[test]
    fn callers_are_at_the_last_stage_that_their_registry_has() {
        let summary = fixtures::registries();
        assert!(summary.mixes_registries() && !fixtures::scenarios(3).mixes_registries());
        let said = |statistic: Statistic| -> Vec<Value> {
            let figure = Figure::Callers(None, statistic);
            summary.configurations.iter().map(|one| figure.of(one)).collect()
        };
        let at = |place: usize, stage: Stage| {
            let row = summary.configurations[place].stage(EventKind::Crash, stage).unwrap();
            Value::Known(row.figures.mean_ms.unwrap() as f64)
        };
        let expected = [at(0, Stage::Balancer), at(1, Stage::Client), at(2, Stage::Client)];
        assert_eq!(said(Statistic::Mean), expected);
        let differences = [Value::Absent, Value::Known(-226_900.0), Value::Known(-212_400.0)];
        assert_eq!(said(Statistic::Difference), differences);
        let balancer = Figure::DetectionTime(None, Stage::Balancer, Statistic::Mean);
        assert_eq!(balancer.of(&summary.configurations[1]), Value::Absent, "never 0");
    }

    /// What its registry answers is there, and earlier than at any caller: it must not stand beside those as the least.
    #[test]
    fn a_configuration_without_observers_has_no_callers() {
        let mut summary = fixtures::registries();
        summary.configurations[1].stages.retain(|row| row.figures.stage != Stage::Client);
        let [with, without] = [2, 1].map(|place| &summary.configurations[place]);
        assert!(without.stage(EventKind::Crash, Stage::Served).is_some());
        let mean = Figure::Callers(None, Statistic::Mean);
        assert_ne!(mean.of(with), Value::Absent);
        assert_eq!(mean.of(without), Value::Absent);
    }
}
