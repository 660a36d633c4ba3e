//! Closed forms of the two-stage registry (`two-stage.md` 1.7, 2, 3), by the same rules as Eureka's: they run nothing,
//! and know the settings and the papers only.
//!
//! `bounds` adds up what the clocks on the way of a death, a departure or an arrival cost. The other functions answer
//! what the paper computes besides: what the guard bears and what a cut costs ([`unhealthy_tolerated`],
//! [`lost_in_a_cut`]), how likely a live instance is evicted ([`chance_that_a_pause_evicts`],
//! [`false_evictions_per_heartbeat`]), what an orderly stop leaves behind ([`stale_consumers_at_port_close`],
//! [`late_reregistration`]), what the registry has to do on an ordinary day ([`ordinary_load`]), and how sums of uniform waits are
//! distributed ([`Uniforms`]).

mod assumptions;
mod comeback;
mod consumer;
mod ghosts;
mod guard;
mod load;
mod mistakes;
mod phases;
mod protection;
mod quiet;
mod reason;
#[cfg(test)]
mod sampled;
mod shutdown;
mod silence;
mod stage_path;
#[cfg(test)]
mod tests;
mod uniforms;

pub use guard::{
    Share, ghosts_to_deregister, is_jammed, lost_in_a_cut, newcomers_to_open, unhealthy_tolerated,
};
pub use load::{Load, ordinary_load};
pub use mistakes::{chance_that_a_pause_evicts, false_evictions_per_heartbeat};
pub use reason::TwoStageReason;
pub use shutdown::{LateReregistration, StaleConsumers, late_reregistration, stale_consumers_at_port_close};
pub use silence::ghost_lives;
pub use uniforms::Uniforms;

use super::ClosedForms;
use super::types::Bound;
use crate::model::two_stage::TwoStage;
use crate::scenario::{AppOf, ScenarioOf};

/// A scenario of the two-stage registry.
type Case<'a> = ScenarioOf<'a, TwoStage>;
/// One of its applications.
type App<'a> = AppOf<'a, TwoStage>;

impl ClosedForms for TwoStage {
    fn bounds(scenario: Case<'_>) -> Vec<Bound> {
        stage_path::bounds(scenario)
    }

    fn missed_heartbeats_tolerated(scenario: Case<'_>, app: App<'_>) -> Option<u64> {
        silence::missed_heartbeats_tolerated(scenario.server(), app.client)
    }
}
