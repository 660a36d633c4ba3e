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

use super::statistic::{Statistic, Unit, of_difference};
use super::summary::{ComparisonSummary, ConfigurationSummary};
use crate::model::stage::{EventKind, Stage};
use crate::report::length::{in_seconds, in_seconds_signed};
use crate::report::words::after;
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

/// What is said of a figure: the last part of its name, words for the title of a chart, and what a value is.
type Declared = (&'static str, &'static str, Unit);

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
    pub fn narrative(summary: &ComparisonSummary) -> Self {
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
        let (_, words, unit) = self.declared();
        let place = match self {
            Self::DetectionTime(event, stage, _) => format!(" at the stage {}{}", stage.name(), after(event)),
            Self::Callers(event, _) => format!(" as callers see it{}", after(event)),
            Self::Mistakes(Stage::Registry) => String::new(),
            Self::Mistakes(stage) | Self::QueryAccuracy(stage) => format!(" at the stage {}", stage.name()),
            Self::Requests | Self::BusiestMinute | Self::FailedCalls => String::new(),
        };
        format!("{words}{place}{}", unit.words())
    }

    /// A known value as it is shown, without its unit.
    pub fn shown(&self, value: f64) -> String {
        match self.declared().2 {
            Unit::Count => format!("{value:.0}"),
            Unit::Time => in_seconds(value as u64),
            Unit::Difference => in_seconds_signed(value as i64),
            Unit::Percent(decimals) => format!("{value:.decimals$}"),
        }
    }

    fn declared(&self) -> Declared {
        match self {
            Self::DetectionTime(_, _, statistic) | Self::Callers(_, statistic) => {
                let (name, words, source) = statistic.declared();
                (name, words, source.unit())
            }
            Self::Mistakes(Stage::Registry) => {
                ("mistakes", "live instances removed by the server", Unit::Count)
            }
            Self::Mistakes(_) => ("mistakes", "mistakes", Unit::Count),
            Self::QueryAccuracy(_) => ("accuracy", "query accuracy", Unit::Percent(3)),
            Self::Requests => ("requests", "requests per minute", Unit::Count),
            Self::BusiestMinute => ("busiest-minute", "requests in the busiest minute", Unit::Count),
            Self::FailedCalls => ("failed-calls", "failed calls", Unit::Percent(2)),
        }
    }

    /// All figures with their names; the mistakes of a server also under a short one.
    fn all() -> Vec<(String, Self)> {
        let events = || std::iter::once(None).chain(EventKind::ALL.map(Some));
        let short = [Self::Requests, Self::BusiestMinute, SHORT.1, Self::FailedCalls];
        let mut all = Vec::new();
        for statistic in Statistic::ALL {
            all.extend(events().map(|event| Self::Callers(event, statistic)));
        }
        for stage in Stage::ALL {
            for statistic in Statistic::ALL {
                all.extend(events().map(|event| Self::DetectionTime(event, stage, statistic)));
            }
            all.extend([Self::Mistakes(stage), Self::QueryAccuracy(stage)]);
        }
        let short = short.into_iter().map(|figure| (figure.to_string(), figure));
        short.chain(all.into_iter().map(|figure| (figure.long_name(), figure))).collect()
    }

    /// Its name, with its event and its place.
    fn long_name(&self) -> String {
        let (name, ..) = self.declared();
        let of = |event: &Option<EventKind>, place: &str| match event {
            Some(event) => format!("{}.{place}.{name}", event.name()),
            None => format!("{place}.{name}"),
        };
        match self {
            Self::DetectionTime(event, stage, _) => of(event, stage.name()),
            Self::Callers(event, _) => of(event, "callers"),
            Self::Mistakes(stage) | Self::QueryAccuracy(stage) => of(&None, stage.name()),
            Self::Requests | Self::BusiestMinute | Self::FailedCalls => name.to_owned(),
        }
    }

    /// The table of `docs/SWEEP.md` that explains them, in Markdown.
    pub fn documented() -> String {
        use Statistic::{Censored, Count, Difference, Max, Mean, Min, P50, P90, P95, P99};
        let of_stage = |name: &str| format!("`STAGE.{name}`");
        let statistic = |statistic: Statistic| of_stage(statistic.name());
        let [mean, others @ ..] = [Mean, Min, P50, P90, P95, P99, Max];
        let others = others.map(|other| format!("`.{}`", other.name())).join(", ");
        let declared = |figure: Self| figure.declared().0;
        let [accuracy, mistakes] = [Self::QueryAccuracy(Stage::Registry), SHORT.1].map(declared);
        let whole = |figure: Self| format!("`{}`", declared(figure));
        let lines = [
            (
                format!("{}, {others}", statistic(mean)),
                "of T_D at `registry`, `served`, `client`, `balancer` or `entry`, of the first event that is watched",
            ),
            ("`EVENT.STAGE.mean`, …".to_owned(), "of a certain event: `stop.client.p99`"),
            (
                "`callers.mean`, `EVENT.callers.mean`, …".to_owned(),
                "the same at the last stage on the way to the callers, of whatever registry",
            ),
            (statistic(Difference), "the mean less that of configuration 1"),
            (
                format!("{}, {}", statistic(Count), statistic(Censored)),
                "observations, and those not ended when the run did",
            ),
            (
                format!("{}, {}", of_stage(mistakes), of_stage(accuracy)),
                "mistakes, and the query accuracy P_A",
            ),
            (
                whole(SHORT.1),
                "those of the stage `registry`: live instances that a server removed, or marked unhealthy, once for \
                 each server",
            ),
            (
                format!("{}, {}", whole(Self::Requests), whole(Self::BusiestMinute)),
                "requests in a minute, of all servers together, and of one server in its busiest minute",
            ),
            (whole(Self::FailedCalls), "the share of calls that failed"),
        ];
        let head = "| figure | what it is |\n|---|---|\n".to_owned();
        lines.into_iter().fold(head, |text, (names, meaning)| text + &format!("| {names} | {meaning} |\n"))
    }
}

/// A figure that has a short name besides.
const SHORT: (&str, Figure) = ("mistakes", Figure::Mistakes(Stage::Registry));

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == SHORT.1 { f.write_str(SHORT.0) } else { f.write_str(&self.long_name()) }
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

/// Whether callers of any configuration could see the event.
fn seen_by_callers(summary: &ComparisonSummary, event: Option<EventKind>) -> bool {
    let seen = |event| summary.configurations.iter().any(|one| one.at_callers(event).is_some());
    event.is_some_and(seen)
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
