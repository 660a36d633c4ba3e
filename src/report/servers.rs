//! Servers in figures: what each of them held, removed and had to do, and how far they agreed.
//!
//! Figures over all servers stand elsewhere; these stand beside them, so that it shows which server it was.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Report;
use super::mistakes::{self, replicates};
use crate::engine::{SimDuration, SimTime};
use crate::model::fact::Sweep;
use crate::model::id::ServerId;
use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{Detection, LoadMinute, Minute, Mistake, Removal, ReplicateData, RunData};
use crate::sweep::Sample;

/// The period at which a server closes its renewal bucket, and the length of a row of load.
const MINUTE: SimDuration = SimDuration::from_secs(60);
/// The same, ns.
pub(super) const MINUTE_NANOS: u64 = MINUTE.as_nanos();

/// One server over all replicates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ServerSummary {
    /// Which: `server-1`.
    pub server: String,
    /// Replicates at whose end its process was there.
    pub up_at_end: u32,
    /// Replicates at whose end it had self-preservation engaged; of Eureka only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_preservation_at_end: Option<u32>,
    /// Leases in its registry at the end, or entries, be they shown or not; 0 if it was down.
    pub left_at_end: Spread,
    /// For how long self-preservation was engaged, ms; of Eureka only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_preservation_ms: Option<Spread>,
    /// Entries that turned unhealthy, over all replicates; of a two-stage registry only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_evicted: Option<u64>,
    /// Leases that it evicted, or entries that it removed for their silence, over all replicates.
    pub evicted: u64,
    /// Of the instances behind leases that were evicted, or entries that turned unhealthy, those that were alive and
    /// well: false removals.
    pub false_removals: u64,
    /// Heartbeats from clients that it answered, a minute of the run.
    pub renewals_per_minute: f64,
    /// Heartbeats that peers passed on to it, a minute of the run; of Eureka only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_renewals_per_minute: Option<f64>,
    /// Fetches that it answered, of whatever kind, long polls among them, a minute of the run.
    pub fetches_per_minute: f64,
    /// The share of its threads' time that was spent, 0 to 1; null without a capacity.
    pub utilisation: Option<f64>,
    /// The same in its busiest minute; null without a capacity.
    pub busiest_minute_utilisation: Option<f64>,
    /// The most requests that waited for a thread at a time; null without a capacity.
    pub waiting_max: Option<u32>,
}

/// How far servers agreed about who is there.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ServerAgreement {
    /// Replicates at whose end all servers that ran held the same instances with the same statuses.
    pub agreed_at_end: u32,
    /// Of these replicates: from the end of the last fault until servers never differed again, ms; null if there are
    /// none, or if nothing was done to the fleet.
    pub agreed_again_ms: Option<Spread>,
    /// The most instances that servers differed about at a time, from the first fault on.
    pub differing_max: Spread,
}

/// A figure over replicates. Its unit is in the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

/// The detection times of one event at one stage, of what one server showed. Milliseconds, rounded down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerStage {
    /// What was detected.
    pub event: EventKind,
    /// Where.
    pub stage: Stage,
    /// Whose registry or answers; of an observer's stages, the server whose answer brought the change, or that it was
    /// answered by last. Null for observers that no server had answered.
    pub server: Option<String>,
    /// Observations, detected and censored.
    pub count: u64,
    /// Of these, those that the end of the run cut off.
    pub censored: u64,
    /// Observations of an instance that came back before its end was noticed; not part of `count`.
    pub superseded: u64,
    /// The shortest detected; null if nothing was.
    pub min_ms: Option<u64>,
    /// The mean; null if anything is censored.
    pub mean_ms: Option<u64>,
    /// The median by nearest rank; null if among the censored.
    pub p50_ms: Option<u64>,
    /// The quantile 99 % by nearest rank; null if among the censored.
    pub p99_ms: Option<u64>,
    /// The longest; null if anything is censored.
    pub max_ms: Option<u64>,
}

impl ServerSummary {
    /// Each server, by number.
    pub(super) fn of(report: &Report<'_>) -> Vec<Self> {
        let threads = report.scenario.capacity.as_ref().map(|capacity| capacity.threads);
        let servers = report.scenario.servers.len() as u32;
        let is_eureka = !report.is_two_stage();
        (0..servers).map(|number| Self::one(ServerId(number), report.data, threads, is_eureka)).collect()
    }

    fn one(server: ServerId, data: &RunData, threads: Option<u32>, is_eureka: bool) -> Self {
        let at_end = |replicate: &ReplicateData| replicate.servers.get(server.index()).copied();
        let ended = || data.replicates.iter().filter_map(at_end);
        let mistakes = data.replicates.iter().flat_map(|replicate| &replicate.mistakes);
        let is_false = |row: &&Mistake| row.removal == Removal::Evicted && row.stage == Stage::Registry;
        let removed = mistakes.filter(is_false).filter(|row| row.server == Some(server));
        let sweeps = |count: fn(&Sweep) -> u32| -> u64 {
            let rows = data.replicates.iter().flat_map(|replicate| &replicate.sweeps);
            rows.filter(|row| row.server == server).map(|row| u64::from(count(&row.sweep))).sum()
        };
        let load = || {
            let rows = data.replicates.iter().flat_map(|replicate| &replicate.load);
            rows.filter(move |row| row.server == server)
        };
        let nanos: u128 =
            data.replicates.iter().map(|replicate| u128::from(replicate.ended_at.as_nanos())).sum();
        let a_minute = |count: fn(&LoadMinute) -> u64| {
            load().map(count).sum::<u64>() as f64 * MINUTE_NANOS as f64 / nanos.max(1) as f64
        };
        let share = |busy: u128, nanos: u128, threads: u32| {
            busy as f64 / (nanos.max(1) as f64 * f64::from(threads.max(1)))
        };
        let busy = || load().map(|row| u128::from(row.busy_nanos));
        let busiest = busy().max().unwrap_or(0);
        Self {
            server: server_name(server),
            up_at_end: replicates(ended().filter(|end| end.is_up).count()),
            self_preservation_at_end: is_eureka
                .then(|| replicates(ended().filter(|end| end.self_preservation).count())),
            left_at_end: Spread::of(ended().map(|end| end.left.into())).unwrap_or(Spread::ZERO),
            self_preservation_ms: is_eureka.then(|| {
                let all = data.replicates.iter().map(|replicate| self_preservation_ms(replicate, server));
                Spread::of(all).unwrap_or(Spread::ZERO)
            }),
            soft_evicted: (!is_eureka).then(|| sweeps(|sweep| sweep.marked)),
            evicted: if is_eureka { evicted(data, server) } else { sweeps(|sweep| sweep.removed) },
            false_removals: removed.map(|row| row.count).sum(),
            renewals_per_minute: a_minute(|row| row.requests[RequestKind::Renew as usize]),
            batch_renewals_per_minute: is_eureka
                .then(|| a_minute(|row| row.items[RequestKind::Renew as usize])),
            fetches_per_minute: a_minute(fetches),
            utilisation: threads.map(|threads| share(busy().sum(), nanos, threads)),
            busiest_minute_utilisation: threads.map(|threads| share(busiest, MINUTE_NANOS.into(), threads)),
            waiting_max: threads.map(|_| load().map(|row| row.waiting_max).max().unwrap_or(0)),
        }
    }
}

impl ServerAgreement {
    /// How far the servers of this run agreed; `None` for one server.
    pub(super) fn of(report: &Report<'_>) -> Option<Self> {
        let replicates = &report.data.replicates;
        let ends = replicates.iter().map(agreed_from);
        report.has_several_servers().then(|| Self {
            agreed_at_end: mistakes::replicates(ends.clone().flatten().count()),
            agreed_again_ms: Spread::of(replicates.iter().zip(ends).filter_map(|(replicate, agreed)| {
                let after = last_fault_end(replicate)?;
                agreed.map(|agreed| agreed.max(after).since(after).as_millis())
            })),
            differing_max: Spread::of(replicates.iter().map(differing_max)).unwrap_or(Spread::ZERO),
        })
    }
}

impl Spread {
    pub(super) const ZERO: Self = Self { mean: 0.0, min: 0, max: 0 };

    /// The figure of these replicates; `None` if there are none.
    pub(super) fn of(values: impl Iterator<Item = u64>) -> Option<Self> {
        let (mut sum, mut count, mut min, mut max) = (0_u128, 0_u64, u64::MAX, 0);
        for value in values {
            (sum, count) = (sum + u128::from(value), count + 1);
            (min, max) = (value.min(min), value.max(max));
        }
        (count > 0).then(|| Self { mean: sum as f64 / count as f64, min, max })
    }
}

impl ServerStage {
    /// By event, stage and server; none for one server.
    pub(super) fn of(report: &Report<'_>) -> Vec<Self> {
        if !report.has_several_servers() {
            return Vec::new();
        }
        let mut rows: BTreeMap<(EventKind, Stage, Option<ServerId>), Vec<&Detection>> = BTreeMap::new();
        for row in report.data.replicates.iter().flat_map(|replicate| &replicate.detections) {
            rows.entry((row.event, row.stage, row.server)).or_default().push(row);
        }
        let one =
            |((event, stage, server), rows): ((EventKind, Stage, Option<ServerId>), Vec<&Detection>)| {
                let sample = Sample::of(rows);
                let ms = |length: Option<SimDuration>| length.map(SimDuration::as_millis);
                Self {
                    event,
                    stage,
                    server: server.map(server_name),
                    count: sample.count(),
                    censored: sample.censored(),
                    superseded: sample.superseded(),
                    min_ms: ms(sample.min()),
                    mean_ms: ms(sample.mean()),
                    p50_ms: ms(sample.percentile(50)),
                    p99_ms: ms(sample.percentile(99)),
                    max_ms: ms(sample.max()),
                }
            };
        rows.into_iter().map(one).collect()
    }
}

/// A row of the timeline and until when it says how the server stands.
pub(super) struct TimelineSpan<'a> {
    pub(super) minute: &'a Minute,
    pub(super) until: SimTime,
}

/// A server's minutes. Each stands until the next; where that is more than two minutes away, the server was not there
/// meanwhile, and a minute is all that is known.
pub(super) fn standing(replicate: &ReplicateData, server: ServerId) -> Vec<TimelineSpan<'_>> {
    let own: Vec<&Minute> = replicate.timeline.iter().filter(|minute| minute.server == server).collect();
    let ends = own.iter().skip(1).map(|minute| minute.at).chain([replicate.ended_at]);
    let until = |at: SimTime, end: SimTime| if end.since(at) > MINUTE * 2 { at + MINUTE } else { end };
    own.iter().zip(ends).map(|(minute, end)| TimelineSpan { minute, until: until(minute.at, end) }).collect()
}

/// How a server is called in files and tables.
pub(super) fn server_name(server: ServerId) -> String {
    format!("server-{}", server.0 + 1)
}

/// Fetches that were answered: of everything, of what had changed, and of a service, at once or by a long poll.
pub(super) const fn fetches(row: &LoadMinute) -> u64 {
    row.requests[RequestKind::FetchFull as usize]
        + row.requests[RequestKind::FetchDelta as usize]
        + row.requests[RequestKind::FetchService as usize]
        + row.requests[RequestKind::Watch as usize]
}

/// The time spent by so many threads over so long, in percent with two decimals, rounded down.
pub(super) fn hundredths(busy_nanos: u128, nanos: u64, threads: u32) -> String {
    let whole = (u128::from(nanos) * u128::from(threads)).max(1);
    let hundredths = busy_nanos * 10_000 / whole;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Leases that a Eureka server evicted.
fn evicted(data: &RunData, server: ServerId) -> u64 {
    let rounds = data.replicates.iter().flat_map(|replicate| &replicate.rounds);
    rounds.filter(|row| row.server == server).map(|row| u64::from(row.round.evicted)).sum()
}

fn self_preservation_ms(replicate: &ReplicateData, server: ServerId) -> u64 {
    let standing = standing(replicate, server);
    let engaged = standing.iter().filter(|row| row.minute.self_preservation);
    let length = engaged.map(|row| row.until.since(row.minute.at));
    length.fold(SimDuration::ZERO, |sum, one| sum + one).as_millis()
}

/// Since when the servers have agreed, if they do at the end.
fn agreed_from(replicate: &ReplicateData) -> Option<SimTime> {
    let (mut agreed, mut standing) = (SimTime::ZERO, 0);
    for row in &replicate.divergence {
        if standing > 0 || row.differing_max > 0 {
            agreed = row.at;
        }
        standing = row.differing;
    }
    (standing == 0).then_some(agreed)
}

/// When the last fault was over, or was done if it has no length; what the run cut short was over with it.
fn last_fault_end(replicate: &ReplicateData) -> Option<SimTime> {
    let ends = replicate.faults.iter().map(|fault| fault.until.unwrap_or(fault.at));
    ends.max().map(|end| end.min(replicate.ended_at))
}

/// The most that servers differed about from the first fault on; without a fault, in the whole run.
fn differing_max(replicate: &ReplicateData) -> u64 {
    let first = replicate.faults.iter().map(|fault| fault.at).min().unwrap_or(SimTime::ZERO);
    let before = replicate.divergence.iter().rev().find(|row| row.at <= first).map(|row| row.differing);
    let after = replicate.divergence.iter().filter(|row| row.at >= first).map(|row| row.differing_max);
    after.chain(before).max().unwrap_or(0).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;
    use crate::report::fixtures::Fixture;

    #[test]
    fn each_server_has_figures_of_its_own() {
        let summary = Summary::of(&Fixture::cut_off(3, 3).report());
        let servers = &summary.servers;
        let names: Vec<&str> = servers.iter().map(|server| server.server.as_str()).collect();
        assert_eq!(names, ["server-1", "server-2", "server-3"]);
        // 10, 11 and 12 in three replicates, all of them alive.
        assert_eq!(servers.iter().map(|server| server.evicted).collect::<Vec<_>>(), [33, 0, 0]);
        assert_eq!(servers.iter().map(|server| server.false_removals).collect::<Vec<_>>(), [33, 0, 0]);
        assert_eq!(servers[0].left_at_end, Spread { mean: 99.0, min: 99, max: 99 });
        // The first minute and minutes 7 to 11, which stand until the next.
        assert_eq!(
            servers[0].self_preservation_ms.unwrap(),
            Spread { mean: 360_000.0, min: 360_000, max: 360_000 }
        );
        // Of the second one's minute 11, which is followed by minute 14, only a minute is known.
        assert_eq!(
            servers[1].self_preservation_ms.unwrap(),
            Spread { mean: 360_000.0, min: 360_000, max: 360_000 }
        );
        // 66 clients' heartbeats; 134 of others, for the third in ten of fifteen minutes.
        let from_peers = |place: usize| servers[place].batch_renewals_per_minute.unwrap();
        assert_eq!((servers[2].renewals_per_minute, from_peers(0)), (66.0, 134.0));
        assert!((from_peers(2) - 134.0 * 10.0 / 15.0).abs() < 1e-9);
        // 66 and 3 more each minute: 21 more on average.
        assert_eq!(servers[0].fetches_per_minute, 87.0);
        // 10 % and 0.5 % more each minute: 3.5 % on average, 7 % in the last.
        assert!((servers[0].utilisation.unwrap() - 0.135).abs() < 1e-12);
        assert!((servers[0].busiest_minute_utilisation.unwrap() - 0.17).abs() < 1e-12);
        assert_eq!(servers[0].waiting_max, Some(14));
    }

    #[test]
    fn times_by_server_stand_beside_those_of_all() {
        let summary = Summary::of(&Fixture::cut_off(3, 3).report());
        let of = |stage: Stage, server: &str| {
            let own = summary.stages_by_server.iter();
            own.filter(|row| row.stage == stage && row.server.as_deref() == Some(server))
                .map(|row| (row.count, row.mean_ms))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(Stage::Registry, "server-1"), [(3, Some(200_000))]);
        assert_eq!(of(Stage::Client, "server-3"), [(6, Some(258_000))]);
        let pooled = summary.stage(EventKind::Crash, Stage::Registry).unwrap();
        assert_eq!((pooled.count, pooled.mean_ms), (9, Some(209_000)));
    }

    #[test]
    fn agreement_is_counted_from_the_last_fault() {
        let mut made = Fixture::cut_off(3, 3);
        let agreement = |made: &Fixture| Summary::of(&made.report()).server_agreement.unwrap();
        // The restart is over at 845 s; the servers agree from 847, 848 and 849 s on. Registrations in the first
        // minute do not count.
        let all = agreement(&made);
        assert_eq!(all.agreed_at_end, 3);
        assert_eq!(all.agreed_again_ms, Some(Spread { mean: 3_000.0, min: 2_000, max: 4_000 }));
        assert_eq!(all.differing_max, Spread { mean: 12.0, min: 11, max: 13 });
        made.data.replicates[0].divergence.pop();
        let two = agreement(&made);
        assert_eq!(two.agreed_at_end, 2);
        assert_eq!(two.agreed_again_ms, Some(Spread { mean: 3_500.0, min: 3_000, max: 4_000 }));
        // Without a fault there is nothing to recover from, and all differences count.
        made.data.replicates.iter_mut().for_each(|replicate| replicate.faults.clear());
        let none = agreement(&made);
        assert_eq!((none.agreed_again_ms, none.differing_max.max), (None, 40));
        assert_eq!(Summary::of(&Fixture::quiet(0).report()).server_agreement, None);
    }

    #[test]
    fn shares_have_two_decimals_and_are_never_more_than_they_are() {
        // A third of two threads' minute: 33.33 %.
        assert_eq!(hundredths(40_000_000_000, MINUTE_NANOS, 2), "33.33");
        assert_eq!(hundredths(0, MINUTE_NANOS, 2), "0.00");
        assert_eq!(hundredths(119_999_999_999, MINUTE_NANOS, 2), "99.99");
    }
}
