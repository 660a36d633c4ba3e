//! Instances that come back under their own id. The registry takes a process at the same address for the same instance
//! (`two-stage.md` 1.1): registering finds the entry of the life before, if that is still stored, and does not heal it
//! (C9).

use super::super::fleet::Hit;
use super::super::latency::Latency;
use super::super::reason::Reason;
use super::super::types::BoundRange;
use super::Case;
use super::reason::TwoStageReason;
use super::silence::ms;
use super::stage_path::StagePath;
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};
use crate::model::two_stage::RegisterExisting;
use crate::scenario::FaultKind;

/// What a registration finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comeback {
    /// Nothing.
    Anew,
    /// Its own entry, unhealthy.
    ToItsEntry,
}

/// If `hit` comes from a fault after which instances come back under their own id: how they end, and for how long they
/// are away.
pub(super) fn under_its_own_id(scenario: Case<'_>, hit: &Hit) -> Option<(EventKind, SimDuration)> {
    match scenario.faults[hit.fault].verb {
        FaultKind::Restart { down_for, new_id: false, graceful, .. } => {
            Some((if graceful { EventKind::Stop } else { EventKind::Crash }, down_for))
        }
        _ => None,
    }
}

/// What those find that `hit` makes come.
///
/// # Errors
///
/// Their entry may be there or not, healthy or not.
pub(super) fn of(scenario: Case<'_>, latency: &Latency, hit: &Hit) -> Result<Comeback, Reason> {
    let Some((ends, down_for)) = under_its_own_id(scenario, hit) else { return Ok(Comeback::Anew) };
    let end = StagePath::of(scenario, ends)?;
    let forgotten = end.of_fault(Stage::Entry, hit.fault);
    if forgotten.as_ref().is_ok_and(|range| range.max <= down_for) {
        return Ok(Comeback::Anew);
    }
    let unhealthy = end.of_fault(Stage::Registry, hit.fault)?.max <= down_for;
    let stored = forgotten?.min > down_for + latency.range.max;
    if unhealthy && stored && scenario.server().read_protect_threshold.is_none() {
        Ok(Comeback::ToItsEntry)
    } else {
        Err(too_early())
    }
}

/// Nobody can tell the end from the return.
pub(super) fn too_early() -> Reason {
    Reason::ReturnsUnnoticed
}

/// From the registration of those who come back to an unhealthy entry to the request that heals it: their first
/// heartbeat (C9), or with the repair of 1.9 the registration itself.
pub(super) fn healed(scenario: Case<'_>, latency: &Latency, hit: &Hit) -> Result<BoundRange, Reason> {
    if scenario.server().register_existing == RegisterExisting::Heal {
        return Ok(latency.range);
    }
    let apps = scenario.apps().enumerate();
    let mut delays = apps
        .filter(|(place, app)| app.client.registers && hit.at_most_of(*place) > 0)
        .map(|(_, app)| app.client.first_heartbeat_delay_ms);
    let first = delays.next().unwrap_or_default();
    if delays.any(|other| other != first) {
        return Err(TwoStageReason::UnlikeFirstHeartbeats.into());
    }
    Ok(BoundRange::exactly(ms(first)).then(latency.range))
}
