//! The figures of a configuration by name: what a table can be sorted by and a heat map can show.
//!
//! ```text
//!   balancer.p99          a statistic of T_D at a stage, of the first event that is watched there
//!   stop.client.mean      the same, of a certain event
//!   callers.p99           the same where callers are: at the last stage on the way to them, of whatever registry
//!   balancer.difference   the mean's difference to the first configuration
//!   client.mistakes, client.accuracy
//!   requests, busiest-minute, mistakes, failed-calls
//! ```

use std::cmp::Ordering;
use std::fmt;

use super::paired::Difference;
use super::summary::{ComparisonSummary, ConfigurationSummary, StageComparison};
use crate::model::stage::{EventKind, Stage};
use crate::report::length::{in_seconds, in_seconds_signed};
use crate::report::stages::StageSummary;
use crate::scenario::closest;

/// A figure that every configuration may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Figure {
    /// Of the detection times at a stage; without an event of the first that is watched there.
    DetectionTime(Option<EventKind>, Stage, Statistic),
    /// Of the detection times where callers are, at the last stage on the way to them that was watched.
    Callers(Option<EventKind>, Statistic),
    /// Mistakes at a stage, over all observers and replicates.
    Mistakes(Stage),
    /// P_A at a stage.
    QueryAccuracy(Stage),
    /// Requests that all servers answer in a minute.
    Requests,
    /// Requests in the busiest minute.
    BusiestMinute,
    /// The share of calls that failed.
    FailedCalls,
}

/// A statistic of detection times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Statistic {
    /// Observations.
    Count,
    /// Of these, cut off by the end of the run.
    Censored,
    /// The shortest.
    Min,
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// A quantile.
    P90,
    /// A quantile.
    P95,
    /// A quantile.
    P99,
    /// The longest.
    Max,
    /// The mean's difference to the first configuration.
    Difference,
}

/// What a configuration has for a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// This; milliseconds for times, percent for shares.
    Known(f64),
    /// More than the run lasted: it falls among the censored.
    Beyond,
    /// Nothing.
    Absent,
}

const STATISTICS: [(&str, Statistic); 10] = [
    ("count", Statistic::Count),
    ("censored", Statistic::Censored),
    ("min", Statistic::Min),
    ("mean", Statistic::Mean),
    ("p50", Statistic::P50),
    ("p90", Statistic::P90),
    ("p95", Statistic::P95),
    ("p99", Statistic::P99),
    ("max", Statistic::Max),
    ("difference", Statistic::Difference),
];

impl Figure {
    /// The figure of this name.
    ///
    /// # Errors
    /// That there is none, and what may have been meant.
    pub fn parse(name: &str) -> Result<Self, String> {
        let known = Self::all();
        if let Some((_, figure)) = known.iter().find(|(known, _)| known == name) {
            return Ok(*figure);
        }
        let hint = match closest(name, known.iter().map(|(name, _)| name.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "there are requests, busiest-minute, mistakes, failed-calls, and STAGE.FIGURE, as in balancer.p99 \
                 or registry.mean"
                    .to_owned()
            }
        };
        Err(format!("no figure is called `{name}`; {hint}"))
    }

    /// The one that tells most: the 99th percentile at the last stage of the first event that is watched, or if nothing
    /// is, the mistakes.
    pub fn telling(summary: &ComparisonSummary) -> Self {
        let event = summary.events_watched().first().copied();
        let stage = event.and_then(|event| summary.last_stage(event));
        match stage {
            Some(_) if summary.mixes_registries() && seen_by_callers(summary, event) => {
                Self::Callers(event, Statistic::P99)
            }
            Some(stage) => Self::DetectionTime(event, stage, Statistic::P99),
            None => Self::Mistakes(Stage::Registry),
        }
    }

    /// What the configuration has for it.
    pub fn of(&self, configuration: &ConfigurationSummary) -> Value {
        let number = |number: u64| Value::Known(number as f64);
        let quality = |stage: &Stage| configuration.quality_at(*stage);
        match self {
            Self::DetectionTime(event, stage, statistic) => {
                let row = match event {
                    Some(event) => configuration.stage(*event, *stage),
                    None => EventKind::ALL.into_iter().find_map(|event| {
                        configuration.stage(event, *stage).filter(|row| row.figures.observed())
                    }),
                };
                row.map_or(Value::Absent, |row| statistic.of(row))
            }
            Self::Callers(event, statistic) => {
                let watched = |event: &EventKind| configuration.at_callers(*event).is_some();
                let event = event.or_else(|| EventKind::ALL.into_iter().find(watched));
                event.map_or(Value::Absent, |event| match statistic {
                    Statistic::Difference => of_difference(configuration.callers_difference(event)),
                    _ => configuration.at_callers(event).map_or(Value::Absent, |row| statistic.of(row)),
                })
            }
            Self::Mistakes(stage) => quality(stage).map_or(Value::Absent, |quality| number(quality.mistakes)),
            Self::QueryAccuracy(stage) => share(quality(stage).and_then(|quality| quality.query_accuracy)),
            Self::Requests => Value::Known(configuration.requests_per_minute),
            Self::BusiestMinute => number(configuration.busiest_minute_requests),
            Self::FailedCalls => share(configuration.failed_call_share),
        }
    }

    /// What it is, with its unit, for the title of a chart.
    pub fn words(&self) -> String {
        let after = |event: &Option<EventKind>| {
            event.map(|event| format!(" after {}", after(event))).unwrap_or_default()
        };
        match self {
            Self::DetectionTime(event, stage, statistic) => {
                let event = after(event);
                format!("{} at the stage {}{event}{}", statistic.words(), stage.name(), statistic.unit())
            }
            Self::Callers(event, statistic) => {
                format!("{} as callers see it{}{}", statistic.words(), after(event), statistic.unit())
            }
            Self::Mistakes(Stage::Registry) => "live instances removed by the server".to_owned(),
            Self::Mistakes(stage) => format!("mistakes at the stage {}", stage.name()),
            Self::QueryAccuracy(stage) => format!("query accuracy at the stage {}, %", stage.name()),
            Self::Requests => "requests per minute".to_owned(),
            Self::BusiestMinute => "requests in the busiest minute".to_owned(),
            Self::FailedCalls => "failed calls, %".to_owned(),
        }
    }

    /// A known value as it is shown, without its unit.
    pub fn shown(&self, value: f64) -> String {
        match self {
            Self::DetectionTime(_, _, Statistic::Count | Statistic::Censored)
            | Self::Callers(_, Statistic::Count | Statistic::Censored)
            | Self::Mistakes(_)
            | Self::BusiestMinute
            | Self::Requests => format!("{value:.0}"),
            Self::DetectionTime(_, _, Statistic::Difference) | Self::Callers(_, Statistic::Difference) => {
                in_seconds_signed(value as i64)
            }
            Self::DetectionTime(..) | Self::Callers(..) => in_seconds(value as u64),
            Self::QueryAccuracy(_) => format!("{value:.3}"),
            Self::FailedCalls => format!("{value:.2}"),
        }
    }

    /// All figures with their names.
    fn all() -> Vec<(String, Self)> {
        let mut all = vec![
            ("requests".to_owned(), Self::Requests),
            ("busiest-minute".to_owned(), Self::BusiestMinute),
            ("mistakes".to_owned(), Self::Mistakes(Stage::Registry)),
            ("failed-calls".to_owned(), Self::FailedCalls),
        ];
        for (name, statistic) in STATISTICS {
            all.push((format!("callers.{name}"), Self::Callers(None, statistic)));
            for event in EventKind::ALL {
                all.push((format!("{}.callers.{name}", event.name()), Self::Callers(Some(event), statistic)));
            }
        }
        for stage in Stage::ALL {
            for (name, statistic) in STATISTICS {
                all.push((format!("{}.{name}", stage.name()), Self::DetectionTime(None, stage, statistic)));
                for event in EventKind::ALL {
                    let figure = Self::DetectionTime(Some(event), stage, statistic);
                    all.push((format!("{}.{}.{name}", event.name(), stage.name()), figure));
                }
            }
            all.push((format!("{}.mistakes", stage.name()), Self::Mistakes(stage)));
            all.push((format!("{}.accuracy", stage.name()), Self::QueryAccuracy(stage)));
        }
        all
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Self::all();
        let (name, _) = all.iter().find(|(_, figure)| figure == self).expect("every figure has a name");
        f.write_str(name)
    }
}

impl Statistic {
    fn of(self, row: &StageComparison) -> Value {
        let figures: &StageSummary = &row.figures;
        let time = |ms: Option<u64>| match ms {
            Some(ms) => Value::Known(ms as f64),
            None if figures.censored > 0 => Value::Beyond,
            None => Value::Absent,
        };
        match self {
            Self::Count => Value::Known(figures.count as f64),
            Self::Censored => Value::Known(figures.censored as f64),
            Self::Min => time(figures.min_ms),
            Self::Mean => time(figures.mean_ms),
            Self::P50 => time(figures.p50_ms),
            Self::P90 => time(figures.p90_ms),
            Self::P95 => time(figures.p95_ms),
            Self::P99 => time(figures.p99_ms),
            Self::Max => time(figures.max_ms),
            Self::Difference => of_difference(row.difference),
        }
    }

    fn unit(self) -> &'static str {
        if matches!(self, Self::Count | Self::Censored) { "" } else { ", seconds" }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Count => "observations",
            Self::Censored => "observations not ended when the run did",
            Self::Min => "least detection time",
            Self::Mean => "mean detection time",
            Self::P50 => "median detection time",
            Self::P90 => "90th percentile of the detection time",
            Self::P95 => "95th percentile of the detection time",
            Self::P99 => "99th percentile of the detection time",
            Self::Max => "longest detection time",
            Self::Difference => "mean detection time less that of configuration 1",
        }
    }
}

impl Value {
    /// The order of a sorted table: the known by size, then what is beyond the run, which turns round with
    /// `descending`; what is absent always comes last.
    pub fn order(self, other: Self, descending: bool) -> Ordering {
        let rank = |value: Self| match value {
            Self::Known(number) => (0, number),
            Self::Beyond => (1, 0.0),
            Self::Absent => (2, 0.0),
        };
        let ((group, number), (other_group, other_number)) = (rank(self), rank(other));
        let order = group.cmp(&other_group).then(number.total_cmp(&other_number));
        let absent = group == 2 || other_group == 2;
        if descending && !absent { order.reverse() } else { order }
    }
}

/// An event, after `after`.
pub(super) const fn after(event: EventKind) -> &'static str {
    match event {
        EventKind::Crash => "a crash",
        EventKind::Stop => "an orderly stop",
        EventKind::Registration => "a registration",
        EventKind::Unhealthy => "health went DOWN",
        EventKind::Override => "an operator's override",
        EventKind::Recovery => "a recovery",
    }
}

/// Whether callers of any configuration could see the event.
fn seen_by_callers(summary: &ComparisonSummary, event: Option<EventKind>) -> bool {
    let seen = |event| summary.configurations.iter().any(|one| one.at_callers(event).is_some());
    event.is_some_and(seen)
}

fn of_difference(difference: Option<Difference>) -> Value {
    difference.map_or(Value::Absent, |difference| Value::Known(difference.mean_ms as f64))
}

fn share(share: Option<f64>) -> Value {
    share.map_or(Value::Absent, |share| Value::Known(100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_one_name() {
        for (name, figure) in Figure::all() {
            assert_eq!(Figure::parse(&name), Ok(figure));
            let again = Figure::parse(&figure.to_string());
            assert_eq!(again, Ok(figure), "{name}");
        }
    }

    #[test]
    fn a_wrong_name_gets_the_right_one() {
        let told = |name: &str| Figure::parse(name).expect_err("it is none");
        assert!(told("balancer.p98").contains("did you mean `balancer.p9"), "{}", told("balancer.p98"));
        assert!(told("requets").contains("`requests`"));
        assert!(told("nothing like it at all").contains("as in balancer.p99"));
    }

    #[test]
    fn what_is_beyond_the_run_is_longest_and_what_is_absent_last() {
        let mut values = [Value::Absent, Value::Beyond, Value::Known(2.0), Value::Known(1.0)];
        values.sort_by(|one, other| one.order(*other, false));
        assert_eq!(values, [Value::Known(1.0), Value::Known(2.0), Value::Beyond, Value::Absent]);
        values.sort_by(|one, other| one.order(*other, true));
        assert_eq!(values, [Value::Beyond, Value::Known(2.0), Value::Known(1.0), Value::Absent]);
    }
}
