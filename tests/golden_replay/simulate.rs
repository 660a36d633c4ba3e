//! Recorded crashes against simulated ones.
//!
//! A replay takes each heartbeat as it was; here only the set-up is taken over, and chance decides when within
//! its heartbeat interval an instance dies and where the observers' phases lie. What was measured must look
//! like a draw from what is simulated: each T_D in the simulated range, and all of a stage, one a crash, in
//! distribution (Kolmogorov–Smirnov, 1 %).
//!
//! The server's phases are not left to chance but recorded: between an eviction round and the next refill of
//! the cache lies a gap that differs from server to server and hardly from crash to crash, since both timers
//! run with fixed delays. Two periods meet in a pattern that repeats with the gap modulo their greatest common
//! divisor, so that is what a start of the server is chosen for. A real timer is late by half a millisecond a
//! tick and the gap wanders, so every crash has simulations of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use stillup::analysis::ks;
use stillup::engine::SimDuration;
use stillup::model::eureka::client::ClientConfig;
use stillup::model::eureka::{Eureka, ServerConfig};
use stillup::model::id::{AppId, ServerId};
use stillup::model::stage::{EventKind, Stage};
use stillup::observe::{Outcome, ReplicateData};
use stillup::scenario::{
    Application, Clock, Fault, FaultKind, Scenario, Selection, ServerList, Settings, TargetChoice, Targets,
    default_scenario,
};
use stillup::sweep;

use super::deaths::{Death, Measured, deaths, stage_of};
use super::records::Recording;
use super::settings::server_config;
use super::{Kind, TIE_MS, nacos, tape};

/// So many crashes have a range that is worth a comparison.
const RANGE_FROM: usize = 5;
/// So many have a distribution.
const DISTRIBUTION_FROM: usize = 10;
/// Simulated crashes, in all. Of so many the earliest and the latest lie close to the ends of what is
/// possible: a true one lies outside once in 1,500.
const SIMULATED: u32 = 3_000;
/// Any seed will do.
const SEED: u64 = 8;

/// How one stage of one recording compares.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) stage: Stage,
    /// Recorded crashes.
    crashes: usize,
    /// Earliest and latest, recorded and simulated, ms.
    recorded_ms: (i64, i64),
    simulated_ms: (i64, i64),
    /// The largest gap between the distributions, and how probable one as large is.
    gap: Option<(f64, f64)>,
    /// What does not agree.
    pub(crate) differences: Vec<String>,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (recorded, simulated) = (self.recorded_ms, self.simulated_ms);
        write!(f, "{:8} {:2} crashes, {}..{} ms", self.stage.name(), self.crashes, recorded.0, recorded.1)?;
        write!(f, ", simulated {}..{} ms", simulated.0, simulated.1)?;
        self.gap.map_or(Ok(()), |(gap, p)| write!(f, ", D = {gap:.3}, p = {p:.3}"))
    }
}

/// Compares a folder's crashes with simulated ones; nothing where there are too few. `bend` may change the
/// set-up, to see that it matters.
pub(crate) fn simulate(folder: &Path, bend: &dyn Fn(&mut Scenario)) -> Result<Vec<Compared>, String> {
    if nacos::is_of_nacos(folder)? {
        return nacos::simulate(folder, bend);
    }
    let recording = Recording::read(folder)?;
    Kind::of(&recording)?;
    let deaths = deaths(&recording);
    if deaths.len() < RANGE_FROM {
        return Ok(Vec::new());
    }
    let setup = setup(&recording, deaths[0].at_ms)?;
    let server = setup.eureka().ok_or("it is no set-up of Eureka")?.server();
    let start = |death: &Death| Some(start_for(server, death.gap_ms));
    against(&deaths, bend, &|death| Scenario { server_starts_at_second: start(death), ..setup.clone() })
}

/// Compares crashes with simulated ones, each with those of a set-up of its own; nothing where there are too few.
pub(crate) fn against(
    deaths: &[Death],
    bend: &dyn Fn(&mut Scenario),
    setup: &dyn Fn(&Death) -> Scenario,
) -> Result<Vec<Compared>, String> {
    if deaths.len() < RANGE_FROM {
        return Ok(Vec::new());
    }
    let mut simulated = Simulated::default();
    for (number, death) in deaths.iter().enumerate() {
        let mut scenario = Scenario {
            seed: SEED + number as u64,
            replicates: SIMULATED.div_ceil(deaths.len() as u32),
            ..setup(death)
        };
        bend(&mut scenario);
        let run = sweep::run(&scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts");
        run.replicates.iter().for_each(|replicate| simulated.take(replicate));
    }
    simulated.sort();
    let watched = Stage::ALL.into_iter().filter(|&stage| deaths.iter().any(|it| it.first(stage).is_some()));
    Ok(watched.map(|stage| compare(stage, deaths, &simulated)).collect())
}

/// The recorded set-up: one instance dies at any moment, the first time that one did in the recording or
/// later.
fn setup(recording: &Recording, first_death_ms: i64) -> Result<Scenario, String> {
    let (server, _) = server_config(&recording.experiment)?;
    let millis = |ms: i64| SimDuration::from_millis(ms.max(0) as u64);
    let heartbeat_ms = i64::from(recording.experiment.heartbeat_s) * 1_000;
    let fetch_interval_s = fetch_interval_s(recording)
        .unwrap_or_else(|| tape::config(recording).registry_fetch_interval_seconds);
    // Whole heartbeat and fetch intervals, so that every phase is as likely as another.
    let window_ms = common_multiple(heartbeat_ms, i64::from(fetch_interval_s) * 1_000);
    let open = recording.log.iter().find(|line| line.event == "open-for-traffic").ok_or("it never opened")?;
    let (eviction_ms, cache_ms) = periods_ms(&server);
    let (applications, clients) = applications(recording, fetch_interval_s);
    Ok(Scenario {
        title: recording.name.clone(),
        duration: SimDuration::from_secs(7_200),
        start_window: millis(window_ms),
        warm_up: millis(first_death_ms - open.t_ms - window_ms),
        setup: Settings::<Eureka> {
            release: recording.experiment.eureka.clone(),
            own_client: ClientConfig {
                register_with_eureka: server.register_with_eureka,
                fetch_registry: server.fetch_registry,
                ..ClientConfig::defaults(server.flavour)
            },
            server,
            clients,
        }
        .into(),
        applications,
        faults: vec![Fault {
            at: SimDuration::ZERO,
            // All that the two timers can do to each other.
            within: millis(common_multiple(eviction_ms, cache_ms)),
            verb: FaultKind::Crash(Targets::Instances(Selection {
                application: Some(AppId(0)),
                zone: None,
                which: TargetChoice::Count(1),
            })),
        }],
        expectations: Vec::new(),
        ..default_scenario().scenario
    })
}

/// Instances that only register, and observers. Scripted observers have no balancer and real clients do; with
/// one each, what is seen at the client does not change, and no observer without one is counted as a balancer.
fn applications(recording: &Recording, fetch_interval_s: u32) -> (Vec<Application>, Vec<ClientConfig>) {
    let observer = ClientConfig {
        registry_fetch_interval_seconds: fetch_interval_s,
        register_with_eureka: false,
        ..tape::config(recording)
    };
    let real = ClientConfig { register_with_eureka: true, ..observer.clone() };
    let instance = ClientConfig { fetch_registry: false, ..real.clone() };
    let registered = recording.log.iter().filter(|line| line.event == "registered");
    let registered: BTreeSet<&str> = registered.map(|line| line.instance.as_str()).collect();
    let observers = recording.sights.iter().map(|sight| sight.observer.as_str());
    let observers: BTreeSet<&str> = observers.filter(|name| stage_of(name) == Some(Stage::Client)).collect();
    let registers = |name: &&str| registered.contains(name.trim_end_matches(".client"));
    let (real_ones, only_observers): (Vec<&str>, Vec<&str>) = observers.into_iter().partition(registers);
    let application = |(name, count, client): (&str, usize, ClientConfig)| {
        (app(name, count, client.fetch_registry), client)
    };
    let fleet = [
        ("instance", registered.len() - real_ones.len(), instance),
        ("observer", only_observers.len(), observer),
        ("real", real_ones.len(), real),
    ];
    fleet.into_iter().filter(|part| part.1 > 0).map(application).unzip()
}

fn app(name: &str, count: usize, observers: bool) -> Application {
    Application {
        name: name.to_owned(),
        instances: count as u32,
        observers,
        balancer_first_call: None,
        zones: Vec::new(),
        server_list: ServerList::OneZone(vec![ServerId(0)]),
        first_address: Ipv4Addr::LOCALHOST,
        network: None,
        traffic: None,
        clock: Clock::default(),
    }
}

/// How often scripted observers fetched, in whole seconds: the median of what lies between two fetches.
fn fetch_interval_s(recording: &Recording) -> Option<u32> {
    let scripted = recording.sights.iter().filter(|sight| sight.observer.starts_with("client"));
    let gone = scripted.filter(|sight| sight.change == "gone");
    let mut waits: Vec<i64> = gone.filter_map(|sight| Some(sight.sent_ms - sight.prev_sent_ms?)).collect();
    waits.sort_unstable();
    let median = *waits.get(waits.len() / 2)?;
    u32::try_from((median + 500) / 1_000).ok()
}

fn periods_ms(server: &ServerConfig) -> (i64, i64) {
    (server.eviction_interval_timer_in_ms.into(), server.response_cache_update_interval_ms.into())
}

fn common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn common_multiple(a: i64, b: i64) -> i64 {
    a / common_divisor(a, b) * b
}

/// When the server must start for its eviction rounds to come this long before a refill of the cache, which
/// comes at multiples of its interval. Rounds are counted from the moment at which the server opens.
fn start_for(server: &ServerConfig, gap_ms: i64) -> SimDuration {
    let (eviction_ms, cache_ms) = periods_ms(server);
    let opens_ms = server.serves_after().as_millis() as i64;
    let start_ms = (-gap_ms - opens_ms).rem_euclid(common_divisor(eviction_ms, cache_ms));
    SimDuration::from_millis(start_ms as u64)
}

/// What the replicates found.
#[derive(Default)]
struct Simulated {
    /// T_D of every observer.
    lengths: BTreeMap<Stage, Vec<SimDuration>>,
    /// From the removal until the answer showed it.
    served_lags: Vec<SimDuration>,
    /// By stage, observations that never ended.
    censored: BTreeMap<Stage, u64>,
}

impl Simulated {
    fn take(&mut self, replicate: &ReplicateData) {
        let mut once = BTreeMap::new();
        for row in replicate.detections.iter().filter(|row| row.event == EventKind::Crash) {
            if let Outcome::Detected(length) = row.outcome {
                let lengths = self.lengths.entry(row.stage).or_default();
                lengths.extend((0..row.count).map(|_| length));
                once.insert(row.stage, length);
            } else {
                *self.censored.entry(row.stage).or_default() += row.count;
            }
        }
        if let (Some(&registry), Some(&served)) = (once.get(&Stage::Registry), once.get(&Stage::Served)) {
            self.served_lags.push(served.saturating_sub(registry));
        }
    }

    fn sort(&mut self) {
        self.lengths.values_mut().for_each(|lengths| lengths.sort_unstable());
        self.served_lags.sort_unstable();
    }
}

fn compare(stage: Stage, deaths: &[Death], simulated: &Simulated) -> Compared {
    let all: Vec<(&Death, Measured)> = deaths
        .iter()
        .flat_map(|death| death.measured.get(&stage).into_iter().flatten().map(move |it| (death, *it.1)))
        .collect();
    let lengths = simulated.lengths.get(&stage).map_or(&[][..], Vec::as_slice);
    let recorded = all.iter().map(|(_, it)| it.latest_ms);
    let recorded_ms = recorded.fold((i64::MAX, i64::MIN), |(from, to), ms| (from.min(ms), to.max(ms)));
    let mut differences = outside(&format!("{} after", stage.name()), &all, lengths);
    if let Some(censored) = simulated.censored.get(&stage) {
        differences.push(format!("{}: {censored} simulated ones were never seen to end", stage.name()));
    }
    if stage == Stage::Served {
        let lags = deaths.iter().filter_map(|death| Some((death, lag(death)?)));
        let lags: Vec<(&Death, Measured)> = lags.collect();
        differences.extend(outside("served after the removal by", &lags, &simulated.served_lags));
    }
    let sample = one_by_one(stage, deaths);
    let gap = (deaths.len() >= DISTRIBUTION_FROM).then(|| {
        // Observers of one simulated crash are no more independent than those of a recorded one.
        let size = ks::effective_size(sample.len(), SIMULATED as usize);
        let gap = ks::two_sample_statistic(&sample, lengths);
        if gap > ks::critical_value_one_percent(size) {
            differences.push(format!("{}: distributed differently, D = {gap:.3}", stage.name()));
        }
        (gap, ks::p_value(gap, size))
    });
    let simulated_ms = range_ms(lengths);
    Compared { stage, crashes: sample.len(), recorded_ms, simulated_ms, gap, differences }
}

/// How long the removal took to be served. Both may have been polled for.
fn lag(death: &Death) -> Option<Measured> {
    let (registry, served) = (death.first(Stage::Registry)?, death.first(Stage::Served)?);
    let earliest_ms = registry.latest_ms - registry.poll_ms;
    Some(Measured { latest_ms: served.latest_ms - earliest_ms, poll_ms: served.poll_ms + registry.poll_ms })
}

fn range_ms(sorted: &[SimDuration]) -> (i64, i64) {
    let ms = |end: Option<&SimDuration>| end.map_or(0, |length| length.as_millis() as i64);
    (ms(sorted.first()), ms(sorted.last()))
}

/// Those measured outside of the simulated range.
fn outside(what: &str, all: &[(&Death, Measured)], sorted: &[SimDuration]) -> Vec<String> {
    let (from, to) = range_ms(sorted);
    let strays = all.iter().filter(|(_, measured)| !lies_within(*measured, from, to));
    let tell = |(death, it): &(&Death, Measured)| {
        format!("{}: {what} {} ms, simulated {from} to {to} ms", death.instance, it.latest_ms)
    };
    strays.map(tell).collect()
}

/// Whether a measured moment can lie between two simulated ones.
fn lies_within(measured: Measured, from_ms: i64, to_ms: i64) -> bool {
    let earliest_ms = measured.latest_ms - measured.poll_ms;
    measured.latest_ms + TIE_MS >= from_ms && earliest_ms - TIE_MS <= to_ms
}

/// One value a crash, ascending. Observers of one crash saw the same death, and one observer sees every death
/// in the same phase, so each crash is told by another observer. A change that was polled for happened half a
/// poll earlier on average.
fn one_by_one(stage: Stage, deaths: &[Death]) -> Vec<SimDuration> {
    let told = deaths.iter().enumerate().filter_map(|(number, death)| {
        let observers = death.measured.get(&stage)?;
        let measured = observers.values().nth(number % observers.len())?;
        Some(SimDuration::from_millis((measured.latest_ms - measured.poll_ms / 2).max(0) as u64))
    });
    let mut values: Vec<SimDuration> = told.collect();
    values.sort_unstable();
    values
}
