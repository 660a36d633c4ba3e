//! What a recording leaves open, decided by what fits best.
//!
//! There is little of it, instance by instance. A call is taken up between its sending and its answer, and the moment
//! of a check is known to some ms only: where silence and time-out, or a beat and a check, are so close together, either
//! may be. A killed instance's last beat may have got through unrecorded. After a pause the beats that waited and the
//! check that is overdue race. Each is first taken for the likelier, and for the other only where an instance then
//! differs and less with the other.

use std::collections::{BTreeMap, BTreeSet};

use stillup::model::two_stage::ServerConfig;

use super::super::Outcome;
use super::Bent;
use super::checks::Checks;
use super::play::{Play, Played};
use super::recording::Recording;

/// Something that may be taken for otherwise, of an instance.
#[derive(Clone, Debug)]
enum Guess {
    /// Its beat that waited for the end of this pause came after the check.
    CheckFirst(String, usize),
    /// The beat that was due when it was stopped got through.
    OneMoreBeat(String),
    /// Its calls were taken up so much later (earlier if negative), ms.
    Shift(String, i64),
}

/// What is taken for otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Guesses {
    check_first: BTreeSet<(String, usize)>,
    one_more_beat: BTreeSet<String>,
    shift_ms: BTreeMap<String, i64>,
}

impl Guesses {
    pub(super) fn check_first(&self, instance: &str, pause: usize) -> bool {
        self.check_first.contains(&(instance.to_owned(), pause))
    }

    pub(super) fn one_more_beat(&self, instance: &str) -> bool {
        self.one_more_beat.contains(instance)
    }

    pub(super) fn shift_ms(&self, instance: &str) -> i64 {
        self.shift_ms.get(instance).copied().unwrap_or(0)
    }

    fn with(&self, guess: Guess) -> Self {
        let mut guesses = self.clone();
        match guess {
            Guess::CheckFirst(instance, pause) => {
                guesses.check_first.insert((instance, pause));
            }
            Guess::OneMoreBeat(instance) => {
                guesses.one_more_beat.insert(instance);
            }
            Guess::Shift(instance, ms) => {
                guesses.shift_ms.insert(instance, ms);
            }
        }
        guesses
    }
}

/// Replays with what fits best.
pub(super) fn best(recording: &Recording, config: &ServerConfig, bent: Bent, checks: Checks) -> Outcome {
    let play = |guesses: &Guesses| Play::new(recording, config, bent, checks).play(guesses);
    let mut taken = Guesses::default();
    let mut best = play(&taken);
    let suspects: BTreeSet<String> = best.differences.iter().map(|it| it.instance.clone()).collect();
    for instance in suspects {
        let ties = shifts(&best, &instance);
        for guess in events(recording, &instance).into_iter().chain(ties) {
            let tried = taken.with(guess);
            let played = play(&tried);
            if played.differences.len() < best.differences.len() {
                (taken, best) = (tried, played);
            }
        }
    }
    let Played { differences, compared, .. } = best;
    Outcome { differences: differences.iter().map(ToString::to_string).collect(), compared }
}

/// Races that may have ended otherwise, and a beat that may have been.
fn events(recording: &Recording, instance: &str) -> Vec<Guess> {
    let name = || instance.to_owned();
    let own = || recording.calls.iter().filter(|call| call.instance == instance);
    let held_up = |&(from, to): &(i64, i64)| own().any(|call| call.sent_ms < to && from <= call.done_ms);
    let pauses = recording.pauses();
    let raced = pauses.iter().enumerate().filter(|(_, pause)| held_up(pause));
    let mut guesses: Vec<Guess> = raced.map(|(pause, _)| Guess::CheckFirst(name(), pause)).collect();
    if recording.silenced().any(|(target, _)| target == instance) {
        guesses.push(Guess::OneMoreBeat(name()));
    }
    guesses
}

/// Moments at which one of its ties just ends otherwise. Silences of one last beat tie with both time-outs together.
fn shifts(played: &Played, instance: &str) -> Vec<Guess> {
    let own = played.ties.iter().filter(|(name, _)| name == instance);
    let margins: BTreeSet<i64> = own.flat_map(|&(_, margin_ms)| [margin_ms, margin_ms - 1]).collect();
    margins.into_iter().map(|ms| Guess::Shift(instance.to_owned(), ms)).collect()
}
