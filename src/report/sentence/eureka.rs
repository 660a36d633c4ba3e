//! What the time went on with Eureka.

use crate::analysis::{EurekaReason, Reason};
use crate::model::eureka::Eureka;
use crate::model::stage::{EventKind, Stage};
use crate::report::Report;
use crate::scenario::ScenarioOf;

/// What had to happen until a stage noticed an event, after the stage before it had.
pub(super) fn reason(
    report: &Report<'_>,
    scenario: ScenarioOf<'_, Eureka>,
    what: (Stage, EventKind),
) -> String {
    let several = report.has_several_servers();
    let (round, who) = if several {
        ("each server's eviction round", "each server")
    } else {
        ("an eviction round", "the server")
    };
    let owner = if several { "the server's" } else { "the" };
    match what {
        (Stage::Registry, EventKind::Crash) => format!(
            "its lease{}, which Eureka counts twice, had run out and {round} removed it",
            common_lease_s(scenario).map(|secs| format!(" of {secs} s")).unwrap_or_default()
        ),
        (Stage::Registry, EventKind::Stop) => format!("{who} had its de-registration"),
        (Stage::Registry, EventKind::Registration) => format!("{who} had it"),
        (Stage::Registry, _) => format!("{who} had its new status"),
        (Stage::Served, _) if scenario.server().use_read_only_response_cache => {
            format!("{owner} read-only cache took that over")
        }
        (Stage::Served, _) => format!("{owner} response cache took that over"),
        (Stage::Client, _) => "the callers fetched it".to_owned(),
        (Stage::Balancer, _) => "their load balancers asked again".to_owned(),
        (Stage::Entry, _) => unreachable!("Eureka has no such stage"),
    }
}

/// The lease of all applications, s, if it is the same.
fn common_lease_s(scenario: ScenarioOf<'_, Eureka>) -> Option<u32> {
    let clients = scenario.settings.clients.iter();
    let mut leases = clients
        .filter(|client| client.register_with_eureka)
        .map(|client| client.lease_expiration_duration_in_seconds);
    let first = leases.next()?;
    leases.all(|lease| lease == first).then_some(first)
}

/// Whether the reason for which there is no closed form is also the reason for which nothing happened: mostly it
/// only says that something is not simple enough for a sum.
pub(super) fn explains(why: &Reason) -> bool {
    use EurekaReason::{NotDeregistered, NotUp, NothingIsEnough, TooFewRenewals};
    let Reason::Eureka(why) = why else { return false };
    matches!(
        why,
        NothingIsEnough { settled: true }
            | TooFewRenewals { settled: true, .. }
            | NotUp { .. }
            | NotDeregistered { .. }
    )
}
