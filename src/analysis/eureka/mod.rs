//! Closed forms of Eureka (`eureka-server.md` 14.1): [`bounds()`] adds up what the clocks on the way cost.

mod assumptions;
mod bounds;
mod census;
mod eviction;
mod expected;
mod lease;
mod phases;
mod pipeline;
mod protection;
mod reason;
#[cfg(test)]
mod sampled;
mod start;

use self::bounds::bounds;
pub use self::reason::EurekaReason;
use super::ClosedForms;
use super::types::Bound;
use crate::model::eureka::Eureka;
use crate::scenario::{AppOf, ScenarioOf};

/// A scenario of Eureka.
type Case<'a> = ScenarioOf<'a, Eureka>;
/// One of its applications.
type App<'a> = AppOf<'a, Eureka>;

impl ClosedForms for Eureka {
    fn bounds(scenario: Case<'_>) -> Vec<Bound> {
        bounds(scenario)
    }

    fn missed_heartbeats_tolerated(_: Case<'_>, app: App<'_>) -> Option<u64> {
        lease::missed_heartbeats_tolerated(app.client)
    }
}
