//! A recording of a Nacos server as it stands in its folder.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::super::records::{Call, FaultRow, experiment, rows};

/// `experiment.json`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Experiment {
    pub(super) experiment: String,
    pub(super) registry: String,
    pub(super) t0_epoch_ms: i64,
}

/// A row of `views.csv`: a change in what an observer saw. `query` saw what a consumer is answered, `catalog` the raw
/// flags.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Sight {
    /// The poll before; −1 if there was none, or none that succeeded.
    pub(super) prev_sent_ms: i64,
    pub(super) sent_ms: i64,
    pub(super) done_ms: i64,
    pub(super) server: String,
    pub(super) observer: String,
    pub(super) change: String,
    pub(super) instance: String,
    pub(super) instances_seen: Option<usize>,
    /// How many of them were healthy; of a poll that failed, how.
    #[serde(rename = "hashcode")]
    pub(super) healthy_seen: String,
}

/// A folder.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) name: String,
    pub(super) experiment: Experiment,
    /// By their answers.
    pub(super) calls: Vec<Call>,
    pub(super) sights: Vec<Sight>,
    faults: Vec<FaultRow>,
    server: String,
}

/// Whether it is Nacos that was recorded there, whatever its version.
pub(crate) fn is_of_nacos(folder: &Path) -> Result<bool, String> {
    let whole = experiment(folder)?;
    Ok(whole["registry"].as_str().is_some_and(|registry| registry.starts_with("Nacos ")))
}

impl Recording {
    /// Reads a folder; the error says which file is wrong and why.
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        let wrong = |what: String| format!("{}: {what}", folder.display());
        let experiment: Experiment =
            serde_json::from_value(experiment(folder)?).map_err(|error| wrong(error.to_string()))?;
        let set_up: Vec<&str> = experiment.registry.split(", ").collect();
        if !matches!(set_up[..], [version, "standalone", "defaults"] if version.starts_with("Nacos 1.4.")) {
            let set_up = &experiment.registry;
            return Err(wrong(format!("a kind of recording that the replay does not know: {set_up}")));
        }
        let mut calls: Vec<Call> = rows(folder, "requests.csv")?;
        calls.sort_by_key(|call| (call.done_ms, call.sent_ms));
        let sights: Vec<Sight> = rows(folder, "views.csv")?;
        let server = calls.first().map(|call| call.server.clone()).unwrap_or_default();
        let strays = calls.iter().map(|call| &call.server).chain(sights.iter().map(|sight| &sight.server));
        if strays.into_iter().any(|name| *name != server) {
            return Err(wrong(
                "a kind of recording that the replay does not know: several servers".to_owned(),
            ));
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, experiment, calls, sights, faults: rows(folder, "faults.csv")?, server })
    }

    /// What an observer saw, without the polls that failed.
    pub(super) fn sights_of<'a>(&'a self, observer: &'a str) -> impl Iterator<Item = &'a Sight> {
        self.sights.iter().filter(move |sight| sight.observer == observer && sight.change != "failed")
    }

    /// Within which the service was created, ms.
    pub(super) fn created_within(&self) -> Option<(i64, i64)> {
        let registered = || self.calls.iter().filter(|call| call.kind == "register" && call.status == "200");
        let sent = registered().map(|call| call.sent_ms).min()?;
        let done = registered().map(|call| call.done_ms).min()?;
        Some((sent, done))
    }

    /// The last moment of which it tells, ms.
    pub(super) fn end_ms(&self) -> i64 {
        let done = self.calls.iter().map(|call| call.done_ms);
        done.chain(self.sights.iter().map(|sight| sight.done_ms)).max().unwrap_or(0)
    }

    /// When the server's process stood still: (from, to), ms.
    pub(super) fn pauses(&self) -> Vec<(i64, i64)> {
        let of = |fault: &'static str| {
            let of_server = move |row: &&FaultRow| row.fault == fault && row.target == self.server;
            self.faults.iter().filter(of_server).map(|row| row.t_ms)
        };
        let end = |from| of("resume").find(|&to| to > from).unwrap_or(i64::MAX / 1_000_000);
        of("pause").map(|from| (from, end(from))).collect()
    }

    /// Who was stopped, or cut off, and when, ms.
    pub(super) fn silenced(&self) -> impl Iterator<Item = (&str, i64)> {
        let ends = |row: &&FaultRow| ["crash", "cut"].contains(&row.fault.as_str());
        self.faults.iter().filter(ends).map(|row| (row.target.as_str(), row.t_ms))
    }

    /// Who crashed, and when, ms.
    pub(super) fn crashes(&self) -> impl Iterator<Item = (&str, i64)> {
        let crashes = self.faults.iter().filter(|row| row.fault == "crash");
        crashes.map(|row| (row.target.as_str(), row.t_ms))
    }

    /// How many instances there are.
    pub(super) fn instances(&self) -> usize {
        self.calls.iter().map(|call| &call.instance).collect::<BTreeSet<_>>().len()
    }
}
