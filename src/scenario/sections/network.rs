//! What is between and around the processes: links and clocks.

use crate::engine::SimDuration;
use crate::scenario::format::forms::{Count, DELAY, SHARE, Shift};
use crate::scenario::format::page::TomlWriter;
use crate::scenario::format::values::Values;
use crate::scenario::format::{self, settings};
use crate::scenario::types::{Clock, Delay, Names, Network};

/// A tenth of the time: far more than a quartz that is broken.
const DRIFT_PPM_MAX: i32 = 100_000;
/// How much faster a clock runs.
pub(crate) const DRIFT: Count<i32> =
    Count { min: -DRIFT_PPM_MAX, max: DRIFT_PPM_MAX, unit: "parts per million" };

settings! {
    /// `[network]`, `[application.network]` and `[server.network]`
    links: Network, "network";
    "latency": DELAY, latency = Delay::Constant(SimDuration::from_millis(1)), "One way, between any two nodes.";
    "loss": SHARE, loss = 0.0,
        "The probability that a message is lost for good; what TCP repairs itself is in the latency.";
}

settings! {
    /// `[server.clock]` and `[application.clock]`
    clock: Clock, "clock";
    "offset": Shift, offset_ms = 0, "How far it is ahead (behind if negative).";
    "drift-ppm": DRIFT, drift_ppm = 0, "How much faster it runs (slower if negative), parts per million.";
}

impl Network {
    /// The links of a file that says nothing of them.
    pub(crate) fn usual() -> Self {
        format::reset(links::ALL, Self { latency: Delay::Constant(SimDuration::ZERO), loss: 0.0 })
    }

    /// Links as a section says, like these where it does not; `None` if there is no such section.
    pub(crate) fn with(self, section: Values<'_>) -> Option<Self> {
        let mut links = self;
        format::apply(links::ALL, section, &mut links);
        section.0.map(|_| links)
    }

    /// Writes links.
    pub(crate) fn print(&self, page: &mut TomlWriter, path: &str) {
        page.section(path, |lines| lines.settings(links::ALL, self, None, Names::NONE));
    }
}

impl Clock {
    /// A clock as a section says, exact where it does not.
    pub(crate) fn read(section: Values<'_>) -> Self {
        let mut clock = Self::default();
        format::apply(clock::ALL, section, &mut clock);
        clock
    }

    /// A clock that is exact is not written.
    pub(crate) fn print(&self, page: &mut TomlWriter, path: &str) {
        if *self != Self::default() {
            page.section(path, |lines| lines.settings(clock::ALL, self, None, Names::NONE));
        }
    }
}
