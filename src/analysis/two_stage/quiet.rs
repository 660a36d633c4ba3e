//! Whether a push comes alone. Consumers throw away the poll that follows a push, and a push that nobody has
//! acknowledged is sent again with its old list (`two-stage.md` 4.2, N5, N6), so what they learn of one change may
//! depend on a push that came before.

use super::super::fleet::{Hit, hits};
use super::super::latency::Latency;
use super::super::types::BoundRange;
use super::Case;
use super::ghosts::Death;
use super::silence::{ghost_lives, ms};
use crate::engine::SimDuration;
use crate::model::stage::EventKind;
use crate::model::two_stage::ClientConfig;

/// Whether, when `event` changes what is served of application `place`, `served` after it happened, the traces of all
/// earlier changes of that service are gone.
pub(super) fn is_quiet(
    scenario: Case<'_>,
    client: &ClientConfig,
    latency: &Latency,
    (event, hit, place): (EventKind, &Hit, usize),
    served: BoundRange,
    deaths: &[Death],
) -> bool {
    let echo = echo(scenario, client, latency);
    let death = deaths[place];
    // What is served with the deletion had another push with the mark.
    let is_first = event != EventKind::Crash
        || served.max <= death.hidden.max
        || ghost_lives(scenario.server()).min >= echo;
    let (from, to) = (hit.from + served.min, hit.to + served.max);
    let is_apart = |kind: EventKind, other: &Hit| {
        let (begins, ends) = match kind {
            EventKind::Crash => (other.from + death.hidden.min, other.to + death.forgotten.max),
            _ => (other.from, other.to + latency.range.max),
        };
        let is_it = kind == event && other.fault == hit.fault;
        is_it || other.at_most_of(place) == 0 || begins > to || ends + echo <= from
    };
    let all = |kind| hits(&scenario, kind).iter().all(|other| is_apart(kind, other));
    let kinds = [EventKind::Crash, EventKind::Stop, EventKind::Registration];
    hit.at_most_of(place) == 1 && is_first && scenario.warm_up + from >= echo && kinds.into_iter().all(all)
}

/// For how long a change echoes: the push's delay, all that is sent again, the poll after it, and one more.
fn echo(scenario: Case<'_>, client: &ClientConfig, latency: &Latency) -> SimDuration {
    let server = scenario.server();
    let again = ms(server.push_ack_timeout_ms) * u64::from(server.push_max_resend);
    let polls = (ms(client.poll_interval_ms) + latency.round_trip().max) * 2;
    let resent = if server.push_loss > 0.0 { again } else { SimDuration::ZERO };
    ms(server.push_delay_ms) + resent + polls + latency.round_trip().max
}
