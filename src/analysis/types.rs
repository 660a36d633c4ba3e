//! What a closed form says.

use super::reason::Reason;
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};

/// The range and mean of T_D by closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundRange {
    /// The earliest.
    pub min: SimDuration,
    /// The mean over uniform phases.
    pub mean: SimDuration,
    /// The latest.
    pub max: SimDuration,
}

impl BoundRange {
    /// Always `delay`.
    pub const fn exactly(delay: SimDuration) -> Self {
        Self { min: delay, mean: delay, max: delay }
    }

    /// The wait for the next tick of a clock of this period, come upon at a uniform phase.
    pub fn wait_for_tick(period: SimDuration) -> Self {
        Self { min: SimDuration::ZERO, mean: half(period), max: period }
    }

    /// This, and after it an independent `next`.
    pub fn then(self, next: Self) -> Self {
        Self { min: self.min + next.min, mean: self.mean + next.mean, max: self.max + next.max }
    }

    /// What holds for a mixture of cases, each with its weight: the earliest and the latest of all with a
    /// weight above 0, and the weighted mean. `None` if no case has a weight.
    pub fn mixture(cases: impl IntoIterator<Item = (u128, Self)>) -> Option<Self> {
        let mut all: Option<Self> = None;
        let (mut weights, mut sum) = (0_u128, 0_u128);
        for (weight, case) in cases.into_iter().filter(|(weight, _)| *weight > 0) {
            weights += weight;
            sum += weight * u128::from(case.mean.as_nanos());
            let so_far = all.unwrap_or(case);
            all = Some(Self { min: so_far.min.min(case.min), max: so_far.max.max(case.max), ..so_far });
        }
        all.map(|range| Self { mean: SimDuration::from_nanos((sum / weights) as u64), ..range })
    }
}

/// Half of it, rounded down to a nanosecond.
pub(super) fn half(length: SimDuration) -> SimDuration {
    SimDuration::from_nanos(length.as_nanos() / 2)
}

/// The closed form of one event at one stage, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What is detected.
    pub event: EventKind,
    /// Where.
    pub stage: Stage,
    /// The range.
    pub range: Result<BoundRange, Reason>,
    /// Why the scenario's draws do not make phases as uniform as the range's mean takes them; `None` if they do,
    /// or if there is no range.
    pub mean_absent: Option<Reason>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(min: u64, mean: u64, max: u64) -> BoundRange {
        let [min, mean, max] = [min, mean, max].map(SimDuration::from_secs);
        BoundRange { min, mean, max }
    }

    #[test]
    fn delays_add_up() {
        let tick = BoundRange::wait_for_tick(SimDuration::from_secs(60));
        assert_eq!(range(150, 165, 180).then(tick), range(150, 195, 240));
    }

    #[test]
    fn a_mixture_spans_its_cases_and_weighs_their_means() {
        // (3 · 10 + 1 · 30) / 4 = 15.
        let cases = [(3, range(0, 10, 20)), (1, range(5, 30, 50)), (0, range(0, 0, 900))];
        assert_eq!(BoundRange::mixture(cases), Some(range(0, 15, 50)));
        assert_eq!(BoundRange::mixture([(0, range(1, 2, 3))]), None);
    }
}
