//! The statistics of detection times, each declared once: its name, its words, and what a row has for it.

use super::figure::Value;
use super::paired::Difference;
use super::summary::StageComparison;
use crate::report::stages::StageSummary;

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

/// What a row has for a statistic.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Count(fn(&StageSummary) -> u64),
    /// Milliseconds; unknown if it falls among the censored.
    Time(fn(&StageSummary) -> Option<u64>),
    /// The row's own difference.
    Difference,
}

/// What a value is, and how it is shown.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    /// Whole things.
    Count,
    /// Milliseconds, shown as seconds.
    Time,
    /// The same, of a length that may be negative.
    Difference,
    /// Percent, with so many decimals.
    Percent(usize),
}

impl Statistic {
    pub(super) const ALL: [Self; 10] = [
        Self::Count,
        Self::Censored,
        Self::Min,
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::Max,
        Self::Difference,
    ];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        self.declared().0
    }

    /// Its name, words for the title of a chart, and what a row has for it.
    pub(super) fn declared(self) -> (&'static str, &'static str, Source) {
        use Source::{Count, Difference, Time};
        match self {
            Self::Count => ("count", "observations", Count(|row| row.count)),
            Self::Censored => {
                ("censored", "observations not ended when the run did", Count(|row| row.censored))
            }
            Self::Min => ("min", "least detection time", Time(|row| row.min_ms)),
            Self::Mean => ("mean", "mean detection time", Time(|row| row.mean_ms)),
            Self::P50 => ("p50", "median detection time", Time(|row| row.p50_ms)),
            Self::P90 => ("p90", "90th percentile of the detection time", Time(|row| row.p90_ms)),
            Self::P95 => ("p95", "95th percentile of the detection time", Time(|row| row.p95_ms)),
            Self::P99 => ("p99", "99th percentile of the detection time", Time(|row| row.p99_ms)),
            Self::Max => ("max", "longest detection time", Time(|row| row.max_ms)),
            Self::Difference => {
                ("difference", "mean detection time less that of configuration 1", Difference)
            }
        }
    }

    pub(super) fn of(self, row: &StageComparison) -> Value {
        let figures = &row.figures;
        match self.declared().2 {
            Source::Count(count) => Value::Known(count(figures) as f64),
            Source::Time(time) => match time(figures) {
                Some(ms) => Value::Known(ms as f64),
                None if figures.censored > 0 => Value::Beyond,
                None => Value::Absent,
            },
            Source::Difference => of_difference(row.difference),
        }
    }
}

impl Source {
    pub(super) const fn unit(self) -> Unit {
        match self {
            Self::Count(_) => Unit::Count,
            Self::Time(_) => Unit::Time,
            Self::Difference => Unit::Difference,
        }
    }
}

impl Unit {
    /// How a title ends.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Time | Self::Difference => ", seconds",
            Self::Percent(_) => ", %",
        }
    }
}

/// What is known of a difference, ms.
pub(super) fn of_difference(difference: Option<Difference>) -> Value {
    difference.map_or(Value::Absent, |difference| Value::Known(difference.mean_ms as f64))
}
