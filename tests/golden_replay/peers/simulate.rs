//! Recorded peers against simulated ones.
//!
//! The set-up is taken over, with the moments at which each server started, and so the phases of its minute, its
//! evictions and its caches, and with the moments of all faults. Chance decides when each instance registers and so when
//! it renews. What was measured must look like a draw from what is simulated: how long a registration or cancellation
//! takes to reach the peer, which server evicts how many in which of its rounds, and when all agree again.
//!
//! The recorder's cuts accept connections and never answer, and a fresh Java server answers its first batch late. Both
//! cost an attempt: a read limit and the wait after it. The simulation has neither, so agreement may come one attempt
//! later than there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use stillup::engine::{SimDuration, SimTime};
use stillup::model::id::ServerId;
use stillup::model::stage::{EventKind, Stage};
use stillup::observe::{Outcome, ReplicateData};
use stillup::scenario::Scenario;
use stillup::sweep;

use super::LAG_MS;
use super::links::{Links, SETTLING_MS};
use super::passed_on::lags;
use super::scenario::{Setup, setup};
use crate::golden_replay::records::Recording;
use crate::golden_replay::timeline::Timeline;
use crate::golden_replay::{Kind, TIE_MS, nacos, settings};

/// Simulated runs of one recording.
const REPLICATES: u32 = 200;

/// A read time-out of 200 ms and the wait of 1,000 ms after it.
const ONE_MORE_ATTEMPT_MS: i64 = 1_200;

/// How one figure compares.
pub(crate) struct Compared {
    what: String,
    /// All that was recorded, ms or a count.
    recorded: Vec<i64>,
    /// The smallest and the greatest simulated, and how much the recorded may lie below and above.
    simulated: (i64, i64),
    allowed: (i64, i64),
}

impl Compared {
    fn new(what: String, recorded: Vec<i64>, simulated: &[i64], allowed: (i64, i64)) -> Self {
        let range = simulated.iter().fold((i64::MAX, i64::MIN), |(from, to), &it| (from.min(it), to.max(it)));
        Self { what, recorded, simulated: range, allowed }
    }

    /// What lies outside.
    pub(crate) fn differences(&self) -> Vec<String> {
        let (from, to) = (
            self.simulated.0.saturating_sub(self.allowed.0),
            self.simulated.1.saturating_add(self.allowed.1),
        );
        let outside = self.recorded.iter().filter(|it| !(from..=to).contains(it));
        let (least, most) = self.simulated;
        outside.map(|it| format!("{}: {it}, simulated {least} to {most}", self.what)).collect()
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (self.recorded.iter().min(), self.recorded.iter().max());
        let range =
            |least: i64, most| if least == most { format!("{least}") } else { format!("{least} to {most}") };
        write!(f, "{}: ", self.what)?;
        match least.zip(most) {
            None => write!(f, "none")?,
            Some((&least, &most)) => write!(f, "{} ({})", range(least, most), self.recorded.len())?,
        }
        write!(f, ", simulated {}", range(self.simulated.0, self.simulated.1))
    }
}

/// Compares a folder of peers with simulated ones; nothing for a folder of another kind, or with faults that a scenario
/// cannot say. `bend` may change the set-up, to see that it matters.
pub(crate) fn simulate(folder: &Path, bend: &dyn Fn(&mut Scenario)) -> Result<Vec<Compared>, String> {
    if nacos::is_of_nacos(folder)? {
        return Ok(Vec::new());
    }
    let recording = Recording::read(folder)?;
    if Kind::of(&recording)? != Kind::ScriptedPeers {
        return Ok(Vec::new());
    }
    let timelines = timelines(&recording)?;
    let Some(mut setup) = setup(&recording, &timelines)? else { return Ok(Vec::new()) };
    setup.scenario.replicates = REPLICATES;
    bend(&mut setup.scenario);
    let run = sweep::run(&setup.scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts");
    let links = Links::of(&recording, &timelines);
    let mut compared = compare_lags(&recording, &links, &setup, &run.replicates);
    compared.extend(compare_evictions(&recording, &setup, &run.replicates));
    compared.extend(compare_agreement(&recording, &setup, &run.replicates));
    Ok(compared)
}

fn timelines(recording: &Recording) -> Result<Vec<Timeline>, String> {
    let timeline = |name: &String| {
        let part = recording.part_of(name);
        let (config, _) = settings::server_config(&part.experiment)?;
        Timeline::of(&part, &config)
    };
    recording.experiment.servers.keys().map(timeline).collect()
}

/// Registrations and cancellations after the start, by the server that the client called, from its registry to the
/// peer's, while their link was settled.
fn compare_lags(
    recording: &Recording,
    links: &Links,
    setup: &Setup,
    replicates: &[ReplicateData],
) -> Vec<Compared> {
    let mut recorded: BTreeMap<ServerId, Vec<i64>> = BTreeMap::new();
    for (line, lag) in lags(recording, links) {
        if lag.is_settled && line.t_ms - lag.ms > setup.started_ms {
            recorded.entry(lag.from).or_default().push(lag.ms);
        }
    }
    let mut simulated: BTreeMap<ServerId, Vec<i64>> = BTreeMap::new();
    for replicate in replicates {
        let mut shown: BTreeMap<_, Vec<(ServerId, SimDuration)>> = BTreeMap::new();
        for row in replicate.detections.iter().filter(|row| row.stage == Stage::Registry) {
            if let (Outcome::Detected(after), Some(server)) = (row.outcome, row.server)
                && matches!(row.event, EventKind::Registration | EventKind::Stop)
            {
                shown.entry((row.instance, row.event, row.at)).or_default().push((server, after));
            }
        }
        for ((_, _, at), sights) in shown {
            let Some(&(home, first)) = sights.iter().min_by_key(|sight| sight.1) else { continue };
            let t_ms = setup.zero_ms + at.as_millis() as i64;
            let place = |server: ServerId| ServerId(setup.order[server.index()] as u32);
            let settled = |peer| !links.is_unsettled(place(home), place(peer), t_ms, t_ms + LAG_MS);
            let later = sights.iter().filter(|sight| sight.0 != home && settled(sight.0));
            let lags = later.map(|sight| sight.1.saturating_sub(first).as_millis() as i64);
            simulated.entry(place(home)).or_default().extend(lags);
        }
    }
    let compared = |(from, recorded): (ServerId, Vec<i64>)| {
        let what = format!("from {} to a peer, ms", setup.names[from.index()]);
        let simulated = simulated.get(&from).map_or(&[][..], Vec::as_slice);
        Compared::new(what, recorded, simulated, (TIE_MS, TIE_MS))
    };
    recorded.into_iter().map(compared).collect()
}

/// By server: in how many rounds it evicted, how many in the first, the second, …, and how many in all.
fn compare_evictions(recording: &Recording, setup: &Setup, replicates: &[ReplicateData]) -> Vec<Compared> {
    let mut compared = Vec::new();
    for (simulated_at, &at) in setup.order.iter().enumerate() {
        let name = &setup.names[at];
        let batches = recording.log.iter().filter(|line| line.server == *name && line.event == "evict-batch");
        let evicted = |value: &str| value.split('/').next().and_then(|number| number.parse::<i64>().ok());
        let recorded: Vec<i64> = batches.filter_map(|line| evicted(&line.value)).collect();
        let simulated: Vec<Vec<i64>> = replicates
            .iter()
            .map(|replicate| {
                let own = replicate.rounds.iter().filter(|row| row.server.index() == simulated_at);
                own.map(|row| i64::from(row.round.evicted)).filter(|&evicted| evicted > 0).collect()
            })
            .collect();
        let sums: Vec<i64> = simulated.iter().map(|rounds| rounds.iter().sum()).collect();
        let what = format!("evicted by {name}");
        compared.push(Compared::new(what, vec![recorded.iter().sum()], &sums, (0, 0)));
        for (round, &evicted) in recorded.iter().enumerate() {
            let simulated: Vec<i64> =
                simulated.iter().map(|rounds| rounds.get(round).copied().unwrap_or(0)).collect();
            let what = format!("evicted by {name} in its round {}", round + 1);
            compared.push(Compared::new(what, vec![evicted], &simulated, (0, 0)));
        }
    }
    compared
}

/// From the end of each fault until the last that was missing somewhere is known to all.
fn compare_agreement(recording: &Recording, setup: &Setup, replicates: &[ReplicateData]) -> Vec<Compared> {
    let ends: BTreeSet<i64> = setup.ends_ms.iter().copied().collect();
    let mut compared = Vec::new();
    for end_ms in ends {
        let until_ms = end_ms + 2 * SETTLING_MS;
        let span = end_ms..until_ms;
        let caught_up = recording.log.iter().filter(|line| {
            let registered = line.event == "registered" && line.value.ends_with("replication=true");
            registered && span.contains(&line.t_ms)
        });
        let Some(last_ms) = caught_up.map(|line| line.t_ms).max() else { continue };
        let (from, to) = (setup.simulated(end_ms), setup.simulated(until_ms));
        let agree = |replicate: &ReplicateData| {
            let mut rows = replicate.divergence.iter().filter(|row| row.at >= from && row.at < to);
            let last = rows.next_back().filter(|row| row.differing == 0)?;
            Some(last.at.since(from).as_millis() as i64)
        };
        let simulated: Vec<i64> = replicates.iter().filter_map(agree).collect();
        let what = format!("{} of {REPLICATES} agree again after {end_ms}, ms", simulated.len());
        compared.push(Compared::new(
            what,
            vec![last_ms - end_ms],
            &simulated,
            (TIE_MS, ONE_MORE_ATTEMPT_MS + TIE_MS),
        ));
    }
    compared
}

impl Setup {
    /// A recorded moment in simulated time.
    fn simulated(&self, t_ms: i64) -> SimTime {
        SimTime::from_millis((t_ms - self.zero_ms).max(0) as u64)
    }
}
