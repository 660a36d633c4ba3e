//! When the check of the service ran, which no log tells.
//!
//! It runs every 5 s with a fixed delay from the creation of the service, a little later each time, as any timer
//! does. So two numbers are sought: the moment of the creation, which lies between the sending and the answer of the
//! first registration, and by how much a run is late. Whatever the raw flags show to be a check's doing says that one
//! ran within an observer's poll; taken is a pair that leaves some room on both sides of every such poll, with the usual
//! lateness if there is one, or else the pair that leaves the most.

use stillup::model::two_stage::ServerConfig;

use super::recording::{Recording, Sight};
use super::{LATE_MS, TIE_MS};

/// A run is as late as this at most, on average, µs.
const LATE_US_MAX: i64 = 8_000;
/// The grid on which the lateness is sought, µs.
const LATE_US_STEP: i64 = 100;
/// How late a run usually is, µs.
const LATE_US_USUAL: i64 = 2_000;
/// With so much room on both sides of every poll a moment fits, and more does not make it likelier, µs.
const ROOM_US: i64 = 10_000;

/// What there is to know of a service's checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checks {
    /// When the service was created, ms.
    pub(super) created_ms: i64,
    /// By how much each run is late, µs.
    pub(super) late_us: i64,
}

impl Checks {
    /// The checks that fit what observers saw best; an error if there is no registration.
    pub(super) fn of(recording: &Recording, config: &ServerConfig) -> Result<Self, String> {
        let (from_ms, to_ms) = recording.created_within().ok_or("nobody registers")?;
        let pauses = recording.pauses();
        let windows = windows(recording, &pauses);
        let usual = Self { created_ms: i64::midpoint(from_ms, to_ms), late_us: LATE_US_USUAL };
        if windows.is_empty() {
            return Ok(usual);
        }
        let latenesses = (0..=LATE_US_MAX).step_by(LATE_US_STEP as usize);
        let pairs = latenesses
            .flat_map(|late_us| (from_ms..=to_ms).map(move |created_ms| Self { created_ms, late_us }));
        let best = pairs.max_by_key(|checks| {
            let runs = checks.runs_us(config, &pauses, recording.end_ms());
            let room = windows.iter().map(|&window| room_us(window, &runs)).min().unwrap_or(0);
            (room.min(ROOM_US), -(checks.late_us - LATE_US_USUAL).abs(), room)
        });
        Ok(best.unwrap_or(usual))
    }

    /// When a check runs that is due at `due_us`: a little late, or when the server goes on.
    pub(super) fn runs_at_us(self, due_us: i64, pauses: &[(i64, i64)]) -> i64 {
        let run_us = due_us + self.late_us;
        let paused = pauses.iter().find(|&&(from, to)| (from * 1_000..to * 1_000).contains(&run_us));
        paused.map_or(run_us, |&(_, to)| to * 1_000 + self.late_us)
    }

    /// When the check ran that lies in a window of two polls, ms, or nearest to it.
    pub(super) fn run_near_us(
        self,
        window: (i64, i64),
        config: &ServerConfig,
        recording: &Recording,
    ) -> Option<i64> {
        let runs = self.runs_us(config, &recording.pauses(), recording.end_ms());
        let middle_us = (window.0 + window.1) * 500;
        runs.into_iter().min_by_key(|run_us| (run_us - middle_us).abs())
    }

    fn runs_us(self, config: &ServerConfig, pauses: &[(i64, i64)], until_ms: i64) -> Vec<i64> {
        let (delay_us, interval_us) =
            (i64::from(config.sweep_initial_delay_ms) * 1_000, i64::from(config.sweep_interval_ms) * 1_000);
        let first = self.runs_at_us(self.created_ms * 1_000 + delay_us, pauses);
        let next = |&run_us: &i64| Some(self.runs_at_us(run_us + interval_us, pauses));
        std::iter::successors(Some(first), next).take_while(|&run_us| run_us <= until_ms * 1_000).collect()
    }
}

/// The polls that saw what a check had done, ms: from the sending of the one before to the answer. A removal comes
/// later than its check. What an observer saw that was itself held up by a pause tells nothing.
fn windows(recording: &Recording, pauses: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let window = |sight: &Sight| {
        let early_ms = if sight.change == "gone" { LATE_MS } else { 0 };
        (sight.prev_sent_ms - early_ms, sight.done_ms)
    };
    let by_a_check = |change: &str| ["unhealthy", "gone"].contains(&change);
    let told = recording.sights_of("catalog").filter(|sight| by_a_check(&sight.change));
    let narrowed = told.map(|sight| {
        let (from, to) = window(sight);
        let same = |other: &&Sight| {
            let (other_from, other_to) = window(other);
            (&other.change, &other.instance) == (&sight.change, &sight.instance)
                && other_from <= to
                && from <= other_to
        };
        let other = recording.sights_of("query").find(same).map_or((from, to), window);
        (from.max(other.0), to.min(other.1))
    });
    let is_held_up =
        |&(from, to): &(i64, i64)| pauses.iter().any(|&(begins, ends)| from <= ends + TIE_MS && begins <= to);
    narrowed.filter(|window| !is_held_up(window)).collect()
}

/// How far within `window` the run is that lies there, or nearest; negative if it is outside, µs.
fn room_us((from_ms, to_ms): (i64, i64), runs_us: &[i64]) -> i64 {
    let (from_us, to_us) = (from_ms * 1_000, to_ms * 1_000);
    let next = runs_us.partition_point(|&run_us| run_us < i64::midpoint(from_us, to_us));
    let near = runs_us[next.saturating_sub(1)..].iter().take(2);
    near.map(|run_us| (run_us - from_us).min(to_us - run_us)).max().unwrap_or(i64::MIN)
}
