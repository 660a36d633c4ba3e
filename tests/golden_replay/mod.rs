//! Replaying recordings of real registries: what there is to compare, by the kind of recording.

mod answers;
mod bucket;
mod client;
mod deaths;
mod gauges;
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

use stillup::model::eureka::ServerConfig;

use records::Recording;

pub(crate) use simulate::simulate;

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
}

impl Mutation {
    fn change(self, config: &mut ServerConfig) {
        match self {
            Self::None | Self::LongerLease | Self::NoCompensation => {}
            Self::OneMoreExpected => config.default_open_for_traffic_count += 1,
            Self::OtherSideOfTheBreak => config.rules.decrement_expected_on_eviction ^= true,
            Self::NoReadOnlyCache => config.use_read_only_response_cache = false,
            Self::OtherProtection => config.enable_self_preservation ^= true,
            Self::SmallerLimit => config.renewal_percent_threshold = 0.95,
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
}

/// What a folder holds, and so how it is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One Eureka server and instances that are scripts.
    Scripted,
    /// One Eureka server and real clients, whose own logs are there too.
    RealClients,
}

impl Kind {
    fn of(recording: &Recording) -> Result<Self, String> {
        let servers = recording.experiment.servers.len();
        if servers != 1 {
            return Err(format!("a kind of recording that the replay does not know: {servers} servers"));
        }
        let real = recording.sights.iter().any(|sight| sight.observer.starts_with("java"));
        Ok(if real { Self::RealClients } else { Self::Scripted })
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
    let recording = Recording::read(folder)?;
    let kind = Kind::of(&recording)?;
    let mut outcome = server::replay(&recording, mutation)?;
    if kind == Kind::RealClients {
        outcome.differences.extend(client::replay(&recording));
    }
    Ok((format!("{} ({})", recording.name, recording.experiment.experiment), kind, outcome))
}
