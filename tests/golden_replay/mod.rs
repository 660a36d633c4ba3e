//! Replaying recordings of real registries: what there is to compare, by the kind of recording.

mod answers;
mod bucket;
mod calls;
mod client;
mod compared;
mod deaths;
mod gauges;
pub(crate) mod nacos;
mod peers;
mod records;
mod rounds;
mod served;
mod server;
mod settings;
mod simulate;
mod tape;
mod ticks;
mod timeline;

use std::path::{Path, PathBuf};

use stillup::engine::SimDuration;
use stillup::model::eureka::ServerConfig;
use stillup::model::eureka::client::ClientConfig;

use records::Recording;

pub(crate) use simulate::simulate;

/// Compares what peers told each other with simulated peers.
pub(crate) use peers::simulate as simulate_peers;

/// A timer runs this long after it is due, at most, on a busy machine, ms.
const LATE_MS: i64 = 500;

/// Things that happen this close together may have happened in the other order, ms.
const TIE_MS: i64 = 60;

/// A rule that is bent on purpose, to see that the replay notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// As it should be.
    None,
    /// Leases last a second longer.
    LongerLease,
    /// A late round forgives nothing.
    NoCompensation,
    /// The server opens expecting one client more.
    OneMoreExpected,
    /// Evictions lower the expectation where they should not, or the other way round.
    OtherSideOfTheBreak,
    /// Changes are served at once.
    NoReadOnlyCache,
    /// Self-preservation is on where it is off, or the other way round.
    OtherProtection,
    /// A round may remove one in twenty instead of three.
    SmallerLimit,
    /// A client's supervisor cancels nothing of a job, or, over Jersey, what is left of it.
    OtherInterrupt,
    /// A client never looks at its list of servers again.
    NoListRefresh,
    /// A client waits for an answer a second less.
    ShorterRead,
    /// A client's supervisor backs off to twice its interval at most.
    SmallerBackOff,
    /// A client has one worker more for each task.
    OneMoreWorker,
    /// A client does not understand that it is not registered.
    NotFoundNotUnderstood,
    /// A heartbeat that a peer passed on renews nothing.
    ReplicasNotCounted,
    /// A peer that does not know who renews is not told.
    NotFoundNotFollowed,
    /// An eviction is passed on as a cancellation is.
    EvictionsPassedOn,
    /// A heartbeat that a peer passed on is passed on again.
    SecondHop,
}

impl Mutation {
    fn change(self, config: &mut ServerConfig) {
        match self {
            Self::OneMoreExpected => config.default_open_for_traffic_count += 1,
            Self::OtherSideOfTheBreak => config.rules.decrement_expected_on_eviction ^= true,
            Self::NoReadOnlyCache => config.use_read_only_response_cache = false,
            Self::OtherProtection => config.enable_self_preservation ^= true,
            Self::SmallerLimit => config.renewal_percent_threshold = 0.95,
            _ => {}
        }
    }

    fn change_client(self, config: &mut ClientConfig) {
        match self {
            Self::OtherInterrupt => config.transport.interrupt_cancels_retries ^= true,
            Self::NoListRefresh => config.eureka_service_url_poll_interval_seconds = 1_000_000,
            Self::ShorterRead => {
                let second = SimDuration::from_secs(1);
                config.transport.read_timeout =
                    config.transport.read_timeout.map(|limit| limit.saturating_sub(second));
            }
            Self::SmallerBackOff => {
                config.heartbeat_executor_exponential_back_off_bound = 2;
                config.cache_refresh_executor_exponential_back_off_bound = 2;
            }
            Self::OneMoreWorker => {
                config.heartbeat_executor_thread_pool_size += 1;
                config.cache_refresh_executor_thread_pool_size += 1;
            }
            Self::NotFoundNotUnderstood => config.transport.understands_not_found = false,
            _ => {}
        }
    }

    fn extra_lease_s(self) -> i32 {
        i32::from(self == Self::LongerLease)
    }
}

/// What a replay found.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Where model and recording differ, each with its moment.
    pub(crate) differences: Vec<String>,
    /// How much was compared.
    pub(crate) compared: Compared,
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compared {
    pub(crate) statuses: u32,
    pub(crate) rounds: u32,
    pub(crate) victims: u32,
    pub(crate) thresholds: u32,
    pub(crate) gauges: u32,
    pub(crate) sights: u32,
    /// Calls of real clients.
    pub(crate) calls: u32,
    /// Lines that tell of replication.
    pub(crate) passed_on: u32,
}

impl Compared {
    fn add(&mut self, part: &Self) {
        self.statuses += part.statuses;
        self.rounds += part.rounds;
        self.victims += part.victims;
        self.thresholds += part.thresholds;
        self.gauges += part.gauges;
        self.sights += part.sights;
        self.calls += part.calls;
        self.passed_on += part.passed_on;
    }
}

/// What a folder holds, and so how it is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One Eureka server and instances that are scripts.
    Scripted,
    /// Eureka servers that are peers, and instances that are scripts.
    ScriptedPeers,
    /// One Eureka server and real clients, whose own logs are there too.
    RealClients,
    /// Eureka servers that are peers, and real clients that know them all. The clients are replayed; what the
    /// servers told each other is taken from their logs.
    RealClientsOfPeers,
    /// One Nacos server and instances that are scripts.
    Nacos,
}

impl Kind {
    fn of(recording: &Recording) -> Result<Self, String> {
        let real = recording.sights.iter().any(|sight| sight.observer.starts_with("java"));
        match (recording.experiment.servers.len(), real) {
            (1, false) => Ok(Self::Scripted),
            (1, true) => Ok(Self::RealClients),
            (2.., false) => Ok(Self::ScriptedPeers),
            (2.., true) => Ok(Self::RealClientsOfPeers),
            (servers, _) => {
                Err(format!("a kind of recording that the replay does not know: {servers} servers"))
            }
        }
    }
}

/// The experiment folders under `root`, which may be one itself.
pub(crate) fn folders(root: &Path) -> Result<Vec<PathBuf>, String> {
    if root.join("experiment.json").exists() {
        return Ok(vec![root.to_owned()]);
    }
    let entries = root.read_dir().map_err(|error| format!("{}: {error}", root.display()))?;
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", root.display()))?.path();
        if path.join("experiment.json").exists() {
            folders.push(path);
        }
    }
    folders.sort();
    if folders.is_empty() { Err(format!("{}: no recording there", root.display())) } else { Ok(folders) }
}

/// Replays one folder by the method of its kind.
pub(crate) fn replay(folder: &Path, mutation: Mutation) -> Result<(String, Kind, Outcome), String> {
    if nacos::is_of_nacos(folder)? {
        let (name, outcome) = nacos::replay(folder, nacos::Bent::None)?;
        return Ok((name, Kind::Nacos, outcome));
    }
    let recording = Recording::read(folder)?;
    let kind = Kind::of(&recording)?;
    let mut outcome = match kind {
        Kind::Scripted | Kind::RealClients => server::replay(&recording, mutation)?,
        Kind::ScriptedPeers => peers::replay(&recording, mutation)?,
        Kind::RealClientsOfPeers => Outcome::default(),
        Kind::Nacos => unreachable!("its recordings are read otherwise"),
    };
    if matches!(kind, Kind::RealClients | Kind::RealClientsOfPeers) {
        let played = client::replay(&recording, mutation);
        outcome.differences.extend(played.differences);
        outcome.compared.calls = played.calls;
    }
    Ok((format!("{} ({})", recording.name, recording.experiment.experiment), kind, outcome))
}
