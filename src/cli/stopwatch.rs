//! Real time. Nothing that decides a result may ask for it: it is for progress and for `host.json`.
#![expect(clippy::disallowed_types, reason = "how long the user waited is no part of any result")]

use std::time::{Duration, Instant};

/// Runs from when it is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
