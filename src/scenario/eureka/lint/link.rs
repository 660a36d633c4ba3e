//! Warnings about links: calls that hang, answers that come too late, and messages lost so often that leases run
//! out between two heartbeats.

use crate::engine::SimDuration;
use crate::model::eureka::Eureka;
use crate::model::eureka::client::ClientConfig;
use crate::scenario::diagnostics::{Place, Problem};
use crate::scenario::document::Table;
use crate::scenario::eureka::lint::HEARTBEAT;
use crate::scenario::lint::fault::{Fleet, percent};
use crate::scenario::lint::{Spans, seconds};
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::types::targets::{Direction, Peer, Targets};
use crate::scenario::types::verb::FaultKind;
use crate::scenario::types::{Delay, Fault};

/// Live instances that lose their lease by lost messages, in a replicate on average, of which one is told.
const EXPIRIES_TOLD: f64 = 0.1;
/// A read limit that is shorter than any supervisor waits in practice.
const SHORT_READ: SimDuration = SimDuration::from_secs(5);

/// A supervisor that gives up before the transport does (`eureka-client.md` 2.1, 6.7). Told only where a call
/// can hang: when the server pauses, is cut off, or messages are lost.
pub(crate) fn hanging_calls(
    scenario: ScenarioOf<'_, Eureka>,
    app: AppOf<'_, Eureka>,
    at: usize,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let client = app.client;
    let supervisor = seconds(client.lease_renewal_interval_in_seconds);
    let read = client.transport.read_limit();
    if read <= supervisor || !client.register_with_eureka {
        return None;
    }
    // A link of another application's own carries none of its calls.
    let concerns = |verb: &FaultKind| {
        verb.selection().and_then(|hit| hit.application).is_none_or(|other| other.index() == at)
    };
    let hang = |fault: &Fault| concerns(&fault.verb) && hangs(&fault.verb, supervisor);
    if !scenario.faults.iter().any(hang) {
        return None;
    }
    let threads = client.heartbeat_executor_thread_pool_size;
    let place = spans
        .of(at, &["transport", "read-timeout"])
        .or_else(|| spans.of(at, &["eureka", "client", "eureka-server-read-timeout-seconds"]))
        .or_else(|| spans.of(at, &HEARTBEAT));
    Some(
        Problem::warning(place, format!("a heartbeat's supervisor gives up after {supervisor}, its call after {read}"))
            .label("calls to a server that hangs outlive their supervisor")
            .hint(format!(
                "time-outs double the delay up to {} intervals, and {threads} calls that hang block the next: the \
                 fleet may come back minutes after the server does",
                client.heartbeat_executor_exponential_back_off_bound
            )),
    )
}

/// Whether a fault makes calls hang for longer than a supervisor waits.
fn hangs(verb: &FaultKind, supervisor: SimDuration) -> bool {
    let longer = |length: Option<SimDuration>| length.is_none_or(|length| length > supervisor);
    match verb {
        FaultKind::Pause { targets, length } => targets.is_server() && longer(length.greatest()),
        FaultKind::Pauses { targets, lasting, .. } => targets.is_server() && lasting.p99() > supervisor,
        FaultKind::Partition { targets, peer, length, .. } => carries_calls(targets, peer) && longer(*length),
        FaultKind::Flap { targets, peer, down_for, .. } => {
            carries_calls(targets, peer) && longer(down_for.greatest())
        }
        _ => false,
    }
}

/// Whether a link carries what clients and servers say to each other.
fn carries_calls(targets: &Targets, peer: &Peer) -> bool {
    match (targets.is_server(), peer) {
        (true, Peer::Servers | Peer::Named(_)) | (false, Peer::Instances { .. }) => false,
        (true, Peer::All | Peer::Instances { .. }) | (false, Peer::Servers | Peer::Named(_) | Peer::All) => {
            true
        }
    }
}

/// Answers that come after their call has been given up (`eureka-client.md` 2.1, 6.7).
pub(crate) fn slow_network(
    scenario: ScenarioOf<'_, Eureka>,
    app: AppOf<'_, Eureka>,
    at: usize,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let longest = match app.network.unwrap_or(scenario.network).latency {
        Delay::Constant(longest) | Delay::Uniform(_, longest) => longest,
        Delay::Drawn(distribution) => distribution.p99(),
    };
    let round_trip = SimDuration::from_nanos(longest.as_nanos().saturating_mul(2));
    let limits = [
        (seconds(app.client.lease_renewal_interval_in_seconds), "a heartbeat"),
        (seconds(app.client.registry_fetch_interval_seconds), "a fetch"),
        (app.client.transport.read_limit(), "a call"),
    ];
    let (limit, call) = limits.into_iter().min()?;
    let title = format!("an answer may take {round_trip}, but {call} is given up after {limit}");
    (round_trip > limit).then(|| {
        Problem::warning(spans.of(at, &["network", "latency"]), title)
            .label("clients may never register, renew or fetch")
            .hint("the latency is one way: a call takes two of it")
    })
}

/// Messages lost so often that live leases run out.
pub(crate) fn lossy_network(
    scenario: ScenarioOf<'_, Eureka>,
    app: AppOf<'_, Eureka>,
    at: usize,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let loss = app.network.unwrap_or(scenario.network).loss;
    let expiries = Expiries::of(app.client, loss, f64::from(app.instances), scenario.duration)?;
    Some(expiries.problem(spans.of(at, &["network", "loss"]), scenario))
}

/// The same by a fault.
pub(crate) fn lossy_fault(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::Degrade { targets, peer, loss, length, direction, .. } = &fault.verb else { return None };
    // A lost answer is no lost heartbeat.
    if !carries_calls(targets, peer) || *direction == Direction::FromServer {
        return None;
    }
    let during = length.unwrap_or(scenario.duration).min(scenario.duration);
    let fleet = Fleet::of(&scenario, targets.selection()?);
    let most = fleet
        .apps()
        .filter_map(|(app, hit)| Expiries::of(scenario.app(app).client, *loss, hit, during))
        .max_by(|one, other| one.count.total_cmp(&other.count))?;
    let place = table.at(&["degrade", "loss"]).map(|node| node.place.clone());
    Some(most.problem(place, scenario))
}

/// Live leases that run out because heartbeats are lost.
struct Expiries {
    loss: f64,
    /// In a replicate, on average.
    count: f64,
    /// Heartbeats that fit into a lease if all are lost.
    in_a_row: i32,
    /// How many would fit if the transport gave up before the supervisor.
    at_best: i32,
    life: SimDuration,
}

impl Expiries {
    /// If they are worth telling: of `instances` during a time. A row of losses begins at the start, or after a beat
    /// that arrives: who loses all of them is removed once, and not anew with every beat.
    fn of(client: &ClientConfig, loss: f64, instances: f64, during: SimDuration) -> Option<Self> {
        if loss <= 0.0 || !client.register_with_eureka {
            return None;
        }
        let interval = seconds(client.lease_renewal_interval_in_seconds);
        let beats = instances * (during.as_secs_f64() / interval.as_secs_f64());
        let in_a_row = beats_in_a_lease(client, client.transport.read_limit());
        let hangs = client.transport.read_limit() > interval;
        let at_best = if hangs { beats_in_a_lease(client, SHORT_READ) } else { in_a_row };
        let begins = instances + beats * (1.0 - loss);
        let count = begins * (0..in_a_row).fold(1.0, |share, _| share * loss);
        let life = seconds(client.lease_expiration_duration_in_seconds) * 2;
        (count >= EXPIRIES_TOLD).then_some(Self { loss, count, in_a_row, at_best, life })
    }

    fn problem(&self, place: Option<Place>, scenario: ScenarioOf<'_, Eureka>) -> Problem {
        let title = match self.in_a_row {
            0 | 1 => format!(
                "{} of all messages are lost, and a lease of {} forgives no heartbeat",
                percent(self.loss),
                self.life
            ),
            row => format!(
                "{} of all messages are lost, and {row} lost heartbeats in a row use up a lease of {}",
                percent(self.loss),
                self.life
            ),
        };
        let held = if scenario.server().enable_self_preservation {
            ", unless self-preservation holds them"
        } else {
            ""
        };
        let often = if (0.5..1.5).contains(&self.count) {
            format!("about one live instance is removed in a replicate{held}")
        } else if self.count >= 1.0 {
            format!("about {:.0} live instances are removed in a replicate{held}", self.count)
        } else {
            format!("in about one of {:.0} replicates a live instance is removed{held}", 1.0 / self.count)
        };
        let hangs = (self.at_best > self.in_a_row).then(|| {
            format!(
                "a lost heartbeat hangs until its supervisor gives up, and then the delay doubles; with \
                 `read-timeout = \"{SHORT_READ}\"` {} of them fit into a lease",
                self.at_best
            )
        });
        Problem::warning(place, title).label(often).maybe_hint(hangs)
    }
}

/// Heartbeats that fit into what is left of a lease when each of them is lost and hangs: until the transport gives
/// up, or else the supervisor, which doubles the delay then (`eureka-client.md` 2.1).
fn beats_in_a_lease(client: &ClientConfig, read: SimDuration) -> i32 {
    let interval = seconds(client.lease_renewal_interval_in_seconds);
    let life = seconds(client.lease_expiration_duration_in_seconds) * 2;
    let longest = interval * u64::from(client.heartbeat_executor_exponential_back_off_bound);
    let (mut at, mut delay, mut count) = (interval, interval, 0);
    // A few beats more make no difference to what is told.
    while at <= life && count < 100 {
        count += 1;
        if read > interval {
            delay = (delay * 2).min(longest);
        }
        at = at + read.min(interval) + delay;
    }
    count
}

#[cfg(test)]
mod tests {
    use crate::scenario::lint::tests::warnings;

    #[test]
    fn calls_that_outlive_their_supervisor() {
        // The newest transport reads for 180 s; the supervisor waits one heartbeat interval, 30 s.
        let text = warnings("[[fault]]\npause = { server = true, for = \"40s\" }");
        assert!(text.contains("gives up after 30s, its call after 3m"), "{text}");
        assert_eq!(warnings("[[fault]]\npause = { server = true, for = \"20s\" }"), "");
        let jersey = "[transport]\nkind = \"jersey\"\n[[fault]]\npause = { server = true, for = \"40s\" }";
        assert_eq!(warnings(jersey), "");
        let flap = "[[fault]]\nflap = { count = 1, up-for = \"5m\", down-for = { exponential = \"1s\" } }";
        assert!(warnings(flap).contains("outlive their supervisor"));
        // Of two applications the one whose link is cut has another transport.
        let other = "[[application]]\nname = \"gateway\"\n[application.transport]\nkind = \"jersey\"\n[[fault]]\n\
                     partition = { all = true, application = \"gateway\" }";
        assert_eq!(warnings(other), "");
    }

    #[test]
    fn answers_that_come_too_late() {
        // Two of 16 s are 32 s, and a heartbeat's supervisor waits 30 s; two of 15 s are just in time.
        let text = warnings("[network]\nlatency = { uniform = [\"0s\", \"16s\"] }");
        assert!(text.contains("may take 32s, but a fetch is given up after 30s"), "{text}");
        assert_eq!(warnings("[network]\nlatency = \"15s\""), "");
        // One in a hundred is longer than ln 100 · 4 s = 18.4 s.
        assert!(warnings("[network]\nlatency = { exponential = \"4s\" }").contains("an answer may take 36s"));
    }

    #[test]
    fn losses_that_use_up_a_lease() {
        // With 3 min to read, lost beats at 30 s and, after 30 s of waiting and 60 s of delay, at 120 s: the next
        // would come at 270 s, beyond 180 s. 100 instances make 6,000 beats in 30 min, of which 94 % arrive: (100 + 5,640) · 0.06² = 20.7.
        let text = warnings("[network]\nloss = 0.06");
        assert!(
            text.contains("6 % of all messages are lost, and 2 lost heartbeats in a row use up"),
            "{text}"
        );
        assert!(text.contains("about 21 live instances are removed in a replicate, unless"), "{text}");
        // Jersey reads for 8 s: beats every 38 s, at 30, 68, 106 and 144 s. (100 + 5,700) · 0.05⁴ = 0.036.
        assert_eq!(warnings("[transport]\nkind = \"jersey\"\n[network]\nloss = 0.05"), "");
        // (100 + 4,800) · 0.2⁴ = 7.8.
        let text = warnings("[transport]\nkind = \"jersey\"\n[network]\nloss = 0.2");
        assert!(text.contains("about 8 live instances"), "{text}");
        // Half an hour of a tenth: (20 + 20 · 60 · 0.9) · 0.01 = 11. Lost answers lose no heartbeat.
        let bad = "[[fault]]\ndegrade = { count = 20, loss = 0.1 }";
        assert!(warnings(bad).contains("about 11 live instances"), "{}", warnings(bad));
        // Who loses every message is removed once.
        assert!(warnings("[[fault]]\ndegrade = { count = 3, loss = 1 }").contains("about 3 live instances"));
        assert_eq!(
            warnings("[[fault]]\ndegrade = { count = 10, loss = 0.1, direction = \"from-server\" }"),
            ""
        );
    }
}
