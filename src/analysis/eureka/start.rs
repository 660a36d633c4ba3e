//! How servers open, and how their clients come and go.

use super::Case;
use crate::engine::SimDuration;
use crate::model::eureka::Flavour;
use crate::model::eureka::client::ClientConfig;
use crate::model::message::Status;

/// Whether an application's instances register and are shown as UP from their first registration.
pub(super) fn registers_up(client: &ClientConfig) -> bool {
    client.register_with_eureka && client.initial_status == Some(Status::Up)
}

/// Whether the first registration is sent as soon as the client has started; else the first heartbeat's 404
/// brings it (`eureka-client.md` 1.2, 1.3).
pub(super) fn registers_at_once(client: &ClientConfig) -> bool {
    let by_listener = client.on_demand_update_status_change && !client.instance_enabled_onit;
    by_listener || client.should_enforce_registration_at_init
}

/// Whether an orderly stop takes the instance out of the registry: Spring registers it as DOWN first, but
/// only the DELETE does away with it (`eureka-client.md` section 5).
pub(super) fn deregisters(client: &ClientConfig) -> bool {
    client.register_with_eureka && client.should_unregister_on_shutdown
}

/// The moment at which the server opens for traffic, from its start: the earliest and the latest. A Spring
/// server that copies from itself may find something at any of its tries (`eureka-server.md` 8.2).
pub(super) fn opens_between(scenario: Case<'_>) -> (SimDuration, SimDuration) {
    let server = scenario.server();
    let waits = u64::from(server.registry_sync_retries.saturating_sub(1));
    let last = SimDuration::from_millis(waits * u64::from(server.registry_sync_retry_wait_ms));
    let may_find = server.flavour == Flavour::Spring && server.fetch_registry;
    (if may_find { SimDuration::ZERO } else { last }, last)
}
