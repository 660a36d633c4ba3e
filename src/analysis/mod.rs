//! Closed forms that share no code with the simulation, so that each can contradict the other.
//!
//! [`bounds()`] adds up what the clocks on the way of a death, a departure or an arrival cost: at least, on
//! average, at most. It knows the settings and the rules from the same papers as the simulation does, but it
//! runs nothing: a simulated T_D outside its bound means that one of the two is wrong. Where a closed form
//! does not hold there is none, with the reason.
//!
//! Each registry has a folder, and implements `ClosedForms` there: `eureka`, and [`two_stage`] with what else its paper
//! computes. Beside them stands what both need: whom faults hit, how long links take, what disturbs any form.
//!
//! [`ks`] is the statistic of the comparison with recordings.

mod disturbances;
mod eureka;
mod evenness;
#[cfg(test)]
mod fixture;
mod fleet;
pub mod ks;
mod latency;
mod reason;
#[cfg(test)]
mod sampled;
#[cfg(test)]
mod sentences;
pub mod two_stage;
mod types;

pub use disturbances::Disturbance;
pub use eureka::EurekaReason;
pub use reason::Reason;
pub use two_stage::TwoStageReason;
pub use types::{Bound, BoundRange};

use crate::model::id::AppId;
use crate::model::registry::Registry;
use crate::scenario::{AppOf, Scenario, ScenarioOf, with_registry};

/// What is computed of a registry without running it.
trait ClosedForms: Registry {
    /// See [`bounds()`].
    fn bounds(scenario: ScenarioOf<'_, Self>) -> Vec<Bound>;

    /// See [`missed_heartbeats_tolerated`].
    fn missed_heartbeats_tolerated(scenario: ScenarioOf<'_, Self>, app: AppOf<'_, Self>) -> Option<u64>;
}

/// The closed form of each kind of event that the scenario's faults cause, at each stage: by kind, then stage.
pub fn bounds(scenario: &Scenario) -> Vec<Bound> {
    with_registry!(&scenario.setup, its => ClosedForms::bounds(ScenarioOf::new(scenario, its)))
}

/// How many heartbeats in a row a live instance of `app` may miss, and it is at no moment up for eviction: of Eureka the
/// lease is not expired, of the two-stage registry the silence is no longer than the soft time-out. `None` if it can be
/// although none is missed.
///
/// With 90 s and heartbeats every 30 s that is 4 for Eureka, which doubles the lease; with 15 s and heartbeats every 5 s
/// it is 2 for the two-stage registry.
///
/// # Panics
///
/// If there is no such application.
pub fn missed_heartbeats_tolerated(scenario: &Scenario, app: AppId) -> Option<u64> {
    with_registry!(&scenario.setup, its => {
        let scenario = ScenarioOf::new(scenario, its);
        ClosedForms::missed_heartbeats_tolerated(scenario, scenario.app(app))
    })
}
