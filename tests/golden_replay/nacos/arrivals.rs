//! When the server takes up which call.
//!
//! A call is taken up between its sending and its answer: here at the answer, unless a guess says otherwise. What a
//! pause held up comes when the server goes on, before the check that is overdue, or after it where that is guessed.

use super::super::records::Call;
use super::checks::Checks;
use super::guesses::Guesses;
use super::recording::Recording;
use super::{LATE_MS, TIE_MS};

/// From a beat's answer to the next beat (`preserved.heart.beat.interval`), ms.
const BEAT_MS: i64 = 5_000;

/// A call as the server gets it.
pub(super) struct Arrival {
    pub(super) at_us: i64,
    /// When it can really have been, ms.
    pub(super) within: (i64, i64),
    /// What is recorded of it, if anything is.
    pub(super) call: Option<Call>,
    pub(super) instance: String,
    registers: bool,
    /// The end of the pause that held it up, ms.
    pub(super) held_until: Option<i64>,
}

/// The calls in the order in which the server takes them up.
pub(super) fn arrivals(recording: &Recording, checks: Checks, guesses: &Guesses) -> Vec<Arrival> {
    let pauses = recording.pauses();
    let mut arrivals = Vec::new();
    for call in &recording.calls {
        let pause = pauses.iter().position(|&(from, to)| call.sent_ms < to && from <= call.done_ms);
        // What got no answer while the server stood still is taken up afterwards all the same.
        if let Some(pause) = pause {
            let check_first = guesses.check_first(&call.instance, pause);
            arrivals.push(held_up(call, pauses[pause], check_first.then_some(checks)));
        } else if call.status.parse::<u16>().is_ok() {
            arrivals.push(taken_up(call, guesses.shift_ms(&call.instance)));
        }
    }
    // The service is created by the first call that registers anybody.
    let first = arrivals.iter_mut().filter(|arrival| arrival.registers).min_by_key(|it| it.within.0);
    if let Some(first) = first {
        first.at_us = checks.created_ms * 1_000;
    }
    arrivals.extend(unrecorded(recording, guesses));
    arrivals.sort_by_key(|arrival| arrival.at_us);
    arrivals
}

fn taken_up(call: &Call, shift_ms: i64) -> Arrival {
    Arrival {
        at_us: (call.done_ms + shift_ms) * 1_000,
        within: (call.sent_ms, call.done_ms),
        call: Some(call.clone()),
        instance: call.instance.clone(),
        registers: call.kind == "register",
        held_until: None,
    }
}

/// A call that a pause held up, before the check that is overdue or `after` it.
fn held_up(call: &Call, (from_ms, to_ms): (i64, i64), after: Option<Checks>) -> Arrival {
    let done_ms = call.done_ms.clamp(to_ms, to_ms + LATE_MS);
    let check_first = |checks: Checks| (done_ms * 1_000).max(to_ms * 1_000 + checks.late_us + 1);
    Arrival {
        at_us: after.map_or(to_ms * 1_000, check_first),
        within: (if call.sent_ms < from_ms { call.sent_ms } else { to_ms }, done_ms),
        held_until: Some(to_ms),
        ..taken_up(call, 0)
    }
}

/// Beats of instances that were stopped just when one was due.
fn unrecorded(recording: &Recording, guesses: &Guesses) -> Vec<Arrival> {
    let stopped = recording.silenced().filter(|(instance, _)| guesses.one_more_beat(instance));
    let due = stopped.filter(|&(instance, at_ms)| {
        let own = recording.calls.iter().filter(|call| call.instance == instance);
        let last = own.map(|call| call.done_ms).filter(|&done_ms| done_ms <= at_ms).max();
        last.is_some_and(|last| (0..=TIE_MS).contains(&(at_ms - last - BEAT_MS)))
    });
    let beat = |(instance, at_ms): (&str, i64)| Arrival {
        at_us: at_ms * 1_000,
        within: (at_ms - TIE_MS, at_ms),
        call: None,
        instance: instance.to_owned(),
        registers: false,
        held_until: None,
    };
    due.map(beat).collect()
}
