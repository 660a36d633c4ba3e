//! An axis of time whose marks stand at moments that people name: every 30 seconds, every 5 minutes, every
//! 2 hours.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// Distances between marks, seconds.
const STEPS_S: [u64; 21] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400,
    172_800, 432_000, 864_000,
];

/// An axis of time in milliseconds.
#[derive(Clone, Debug)]
pub(in crate::report) struct TimeAxis {
    from_ms: f64,
    to_ms: f64,
    step_ms: f64,
}

impl TimeAxis {
    /// An axis over at least this range, with about `marks` marks. It starts at zero unless that would leave
    /// its first third empty.
    pub(in crate::report) fn over(from_ms: u64, to_ms: u64, marks: u64) -> Self {
        let to_ms = to_ms.max(from_ms + 1);
        let from_ms = if from_ms * 3 < to_ms { 0 } else { from_ms };
        let wanted = (to_ms - from_ms).div_ceil(marks);
        let last = STEPS_S[STEPS_S.len() - 1] * 1_000;
        let step = STEPS_S.iter().map(|step| step * 1_000).find(|&step| step >= wanted);
        let step = step.unwrap_or_else(|| wanted.div_ceil(last) * last);
        // Short ranges are marked in tenths of what they span.
        let step = if wanted < 500 { (wanted.max(1)).next_power_of_two() } else { step };
        Self { from_ms: (from_ms / step * step) as f64, to_ms: (to_ms as f64) * 1.02, step_ms: step as f64 }
    }

    fn label(&self, ms: f64) -> String {
        let (unit_ms, unit) = if self.step_ms < 1_000.0 {
            (1.0, "ms")
        } else if self.to_ms <= 660_000.0 {
            (1_000.0, "s")
        } else if self.step_ms < 3_600_000.0 {
            (60_000.0, "min")
        } else {
            (3_600_000.0, "h")
        };
        format!("{} {unit}", (ms / unit_ms * 100.0).round() / 100.0)
    }
}

impl Ranged for TimeAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.from_ms) / (self.to_ms - self.from_ms);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        let first = (self.from_ms / self.step_ms).ceil() as u64;
        let last = (self.to_ms / self.step_ms).floor() as u64;
        (first..=last).map(|mark| mark as f64 * self.step_ms).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from_ms..self.to_ms
    }
}

impl ValueFormatter<f64> for TimeAxis {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from_ms: u64, to_ms: u64) -> Vec<String> {
        let axis = TimeAxis::over(from_ms, to_ms, 8);
        let points = axis.key_points(plotters::coord::ranged1d::BoldPoints(8));
        points.iter().map(|point| axis.label(*point)).collect()
    }

    #[test]
    fn marks_stand_at_moments_that_people_name() {
        // 185 s over 8 marks is 23.1 s apart: the next step is 30 s.
        assert_eq!(labels(150_000, 335_000)[..3], ["150 s", "180 s", "210 s"]);
        assert_eq!(labels(0, 3_600_000)[..3], ["0 min", "10 min", "20 min"]);
        assert_eq!(labels(0, 86_400_000)[..3], ["0 h", "4 h", "8 h"]);
        assert_eq!(labels(0, 7)[..3], ["0 ms", "1 ms", "2 ms"]);
    }

    #[test]
    fn no_range_has_too_many_marks() {
        for power in 0..50 {
            let count = labels(0, 1 << power).len();
            assert!((2..=10).contains(&count), "2^{power} ms: {count} marks");
        }
    }
}
