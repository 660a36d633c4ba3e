//! A recording as it stands in its folder, read whole. Times are whole milliseconds since `t0_epoch_ms`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// `experiment.json`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Experiment {
    pub(crate) experiment: String,
    /// A sentence or two; names the observers' fetch interval where it is not the default.
    #[serde(default)]
    pub(crate) about: String,
    pub(crate) servers: BTreeMap<String, ServerSettings>,
    pub(crate) t0_epoch_ms: i64,
    pub(crate) lease_s: i32,
    pub(crate) heartbeat_s: i32,
    pub(crate) eureka: String,
    pub(crate) spring_cloud_netflix: Option<String>,
    pub(crate) flavour: Option<String>,
    /// The settings of real clients, in words.
    pub(crate) java_clients: Option<String>,
}

/// What was set on a server beside the defaults.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ServerSettings {
    /// The host in its URL, and its own host name.
    pub(crate) url_host: Option<String>,
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, serde_json::Value>,
}

/// A row of `requests.csv`: a call of an instance.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Call {
    pub(crate) sent_ms: i64,
    pub(crate) done_ms: i64,
    /// Whom it reached.
    pub(crate) server: String,
    /// Who called; for a real client its user agent.
    pub(crate) actor: String,
    pub(crate) kind: String,
    pub(crate) instance: String,
    pub(crate) status: String,
}

/// A row of `server.csv`: a line of a log.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LogLine {
    pub(crate) t_ms: i64,
    pub(crate) server: String,
    pub(crate) event: String,
    pub(crate) instance: String,
    pub(crate) value: String,
}

/// A row of `gauges.csv`: the dashboard, when it had changed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Gauge {
    pub(crate) t_ms: i64,
    pub(crate) server: String,
    pub(crate) renews_threshold: u32,
    pub(crate) renews_last_min: u32,
}

/// A row of `views.csv`: a change in what an observer saw.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Sight {
    /// The poll before; empty for a client's own log, −1 if there was none.
    pub(crate) prev_sent_ms: Option<i64>,
    pub(crate) sent_ms: i64,
    pub(crate) done_ms: i64,
    /// Whom it polled; empty for a client's own log.
    pub(crate) server: String,
    pub(crate) observer: String,
    pub(crate) change: String,
    pub(crate) instance: String,
    pub(crate) instances_seen: Option<u32>,
    pub(crate) hashcode: String,
}

/// A row of `faults.csv`: what was done to whom.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FaultRow {
    pub(crate) t_ms: i64,
    pub(crate) fault: String,
    pub(crate) target: String,
}

/// A folder.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) experiment: Experiment,
    pub(crate) calls: Vec<Call>,
    pub(crate) log: Vec<LogLine>,
    pub(crate) gauges: Vec<Gauge>,
    pub(crate) sights: Vec<Sight>,
    pub(crate) faults: Vec<FaultRow>,
}

impl Recording {
    /// Reads a folder; the error says which file is wrong and why.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let whole = experiment(folder)?;
        if whole.get("eureka").is_none() {
            return Err(format!("{}: a kind of recording that the replay does not know", folder.display()));
        }
        let experiment =
            serde_json::from_value(whole).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            experiment,
            calls: rows(folder, "requests.csv")?,
            log: rows(folder, "server.csv")?,
            gauges: rows(folder, "gauges.csv")?,
            sights: rows(folder, "views.csv")?,
            faults: rows(folder, "faults.csv")?,
        })
    }

    /// What concerns one of its servers: the part that a server on its own would have left. Faults are in every part.
    pub(crate) fn part_of(&self, server: &str) -> Self {
        let mut experiment = self.experiment.clone();
        experiment.servers.retain(|name, _| name == server);
        let of = |name: &String| name == server;
        Self {
            name: self.name.clone(),
            experiment,
            calls: self.calls.iter().filter(|row| of(&row.server)).cloned().collect(),
            log: self.log.iter().filter(|row| of(&row.server)).cloned().collect(),
            gauges: self.gauges.iter().filter(|row| of(&row.server)).cloned().collect(),
            sights: self.sights.iter().filter(|row| of(&row.server)).cloned().collect(),
            faults: self.faults.clone(),
        }
    }

    /// When a server's or client's process stood still: (from, to).
    pub(crate) fn pauses_of(&self, target: &str) -> Vec<(i64, i64)> {
        self.spells(target, "pause", "resume")
    }

    /// When a server was gone: (from, to).
    pub(crate) fn outages_of(&self, target: &str) -> Vec<(i64, i64)> {
        self.spells(target, "crash", "started")
    }

    pub(crate) fn spells(&self, target: &str, begins: &str, ends: &str) -> Vec<(i64, i64)> {
        let of = |fault: &str| {
            let rows = self.faults.iter().filter(|row| row.fault == fault && row.target == target);
            rows.map(|row| row.t_ms).collect::<Vec<_>>()
        };
        let ended = of(ends);
        let end = |from| ended.iter().copied().find(|&to| to > from).unwrap_or(i64::MAX);
        of(begins).into_iter().map(|from| (from, end(from))).collect()
    }
}

/// `experiment.json`, whatever it says.
pub(crate) fn experiment(folder: &Path) -> Result<serde_json::Value, String> {
    let path = folder.join("experiment.json");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// A table, row by row.
pub(crate) fn rows<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<Vec<T>, String> {
    let path = folder.join(file);
    let wrong = |error: csv::Error| format!("{}: {error}", path.display());
    let mut reader = csv::Reader::from_path(&path).map_err(wrong)?;
    reader.deserialize().map(|row| row.map_err(wrong)).collect()
}
