//! How the fleet starts.

use crate::engine::SimDuration;
use crate::scenario::format::forms::{Maybe, length};
use crate::scenario::format::page::TomlWriter;
use crate::scenario::format::values::Values;
use crate::scenario::format::{self, settings};
use crate::scenario::types::Names;

/// `[start]` as it is written.
#[derive(Default)]
pub(crate) struct Start {
    pub(crate) window: Option<SimDuration>,
    pub(crate) warm_up: SimDuration,
}

settings! {
    /// `[start]`
    keys: Start, "start";
    "window": Maybe(length()), window, else "the fleet's longest heartbeat interval",
        "Instances start at a uniform moment in this window, which opens when all servers accept requests.";
    "warm-up": length(), warm_up = SimDuration::from_secs(5 * 60),
        "From the end of the start window until faults are timed.";
}

impl Start {
    pub(crate) fn read(section: Values<'_>) -> Self {
        let mut start = format::reset(keys::ALL, Self::default());
        format::apply(keys::ALL, section, &mut start);
        start
    }

    pub(crate) fn print(&self, page: &mut TomlWriter) {
        page.section("start", |lines| lines.settings(keys::ALL, self, None, Names::NONE));
    }
}
