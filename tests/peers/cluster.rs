//! Servers with clients of their own, whose every beat is known, and what is looked up in a run of them.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use stillup::engine::{SimDuration, SimTime};
use stillup::model::id::ServerId;
use stillup::model::stage::{EventKind, Stage};
use stillup::observe::{Minute, Outcome, Removal, ReplicateData};
use stillup::world;

use crate::shipped::parse;

/// The cut: 16 minutes and 46 s after the start of A, whose minute therefore ends at t = 14, 74, …
pub(crate) const CUT: u64 = 1_006;

/// Servers, in zones of their own, each with clients in its zone.
///
/// Every server counts its clients at 900 s, as the clients of a full mesh all do not change by then: that is why they
/// expect just as many as there are, and not the one more that an empty Spring server opens with.
pub(crate) struct Cluster {
    /// When each server starts, s. The last one's is the moment from which a file times faults.
    pub(crate) starts: Vec<u64>,
    /// Of each server, when its clients beat, ms after the cut and every interval before and after it.
    pub(crate) beats: Vec<Vec<u64>>,
    /// Seconds from beat to beat.
    pub(crate) interval: u64,
    /// What comes before the tables, and tables.
    pub(crate) more: String,
}

/// When a fault comes: seconds from the cut, and the fault as TOML.
pub(crate) type FaultAt<'a> = (u64, &'a str);

impl Cluster {
    /// The three servers of section 11 and their ten clients each. The minutes of A and B end at t = 14, 74, …, those of
    /// C at 13, 73, …
    ///
    /// Beats reach a peer 0.5 s late. Of C's clients seven do so in the first 14 s after the cut, of those of A and B
    /// four each in the first 13 s: these are the phases that give the page's figures.
    pub(crate) fn of_three() -> Self {
        Self {
            starts: vec![0, 0, 59],
            beats: vec![
                vec![1_200, 4_200, 7_200, 10_200, 14_200, 17_200, 20_200, 23_200, 26_200, 28_200],
                vec![1_800, 4_800, 7_800, 10_800, 14_800, 17_800, 20_800, 23_800, 26_800, 28_800],
                vec![500, 2_500, 4_500, 6_500, 8_500, 10_500, 12_500, 18_500, 22_500, 26_500],
            ],
            interval: 30,
            more: String::new(),
        }
    }

    /// The same with other settings.
    pub(crate) fn with(mut self, more: &str) -> Self {
        self.more.push_str(more);
        self
    }

    /// Replicate 0 with these faults, to `until` seconds after the cut.
    pub(crate) fn run(&self, faults: &[FaultAt<'_>], until: u64) -> ReplicateData {
        run(&self.text(faults, until))
    }

    fn text(&self, faults: &[FaultAt<'_>], until: u64) -> String {
        let count = self.starts.len();
        let zones: Vec<String> = (1..=count).map(|zone| format!("\"z{zone}\"")).collect();
        let starts: Vec<String> = self.starts.iter().map(|start| format!("\"{start}s\"")).collect();
        let timed_from = self.starts.iter().max().expect("there are servers");
        let interval = self.interval;
        let mut text = format!(
            "replicates = 1\nstop-when-settled = false\nduration = \"{}s\"\n\
             start = {{ window = \"0s\", warm-up = \"0s\" }}\n\
             network = {{ latency = \"0s\" }}\n\
             server.count = {count}\nserver.zones = [{}]\nserver.starts-after = [{}]\n\
             server.fetch-registry = true\n\
             eureka.client.transport.sessioned-client-reconnect-interval-seconds = 1000000\n\
             eureka.instance.lease-renewal-interval-in-seconds = {interval}\n\
             eureka.instance.lease-expiration-duration-in-seconds = {}\n{}\n",
            CUT + until,
            zones.join(", "),
            starts.join(", "),
            3 * interval,
            self.more,
        );
        for (zone, _) in (1..).zip(&self.beats).filter(|(_, beats)| !beats.is_empty()) {
            let app = format!(
                "[[application]]\nname = \"z{zone}\"\ninstances = 0\nzones = [\"z{zone}\"]\nserver-zones = \"own-first\"\n"
            );
            text.push_str(&app);
        }
        let mut fault = |at_ms: u64, what: &str| {
            writeln!(text, "[[fault]]\nat = \"{at_ms}ms\"\nwithin = \"0s\"\n{what}")
                .expect("a text takes everything");
        };
        let rounds_before = (CUT - timed_from) / interval - 1;
        for (zone, beats) in (1..).zip(&self.beats) {
            for beat in beats {
                let at = (CUT - timed_from - rounds_before * interval) * 1_000 + beat;
                fault(at, &format!("start = {{ application = \"z{zone}\", count = 1 }}"));
            }
        }
        for (at, what) in faults {
            fault((CUT - timed_from + at) * 1_000, what);
        }
        text
    }
}

/// Replicate 0 of a scenario.
pub(crate) fn run(text: &str) -> ReplicateData {
    replicate(text, 0)
}

/// One replicate of a scenario.
pub(crate) fn replicate(text: &str, number: u32) -> ReplicateData {
    world::run(&parse("peers.toml", text, &[]), number, &AtomicBool::new(false)).expect("nobody interrupts")
}

/// `t` seconds after the cut.
pub(crate) fn at(t: u64) -> SimTime {
    SimTime::from_secs(CUT + t)
}

/// A server's minute that ends `t` seconds after the cut.
pub(crate) fn minute(data: &ReplicateData, server: u32, t: u64) -> &Minute {
    let row = data.timeline.iter().find(|row| (row.server, row.at) == (ServerId(server), at(t)));
    row.unwrap_or_else(|| {
        let there: Vec<_> =
            data.timeline.iter().filter(|row| row.server.0 == server).map(|row| row.at).collect();
        panic!("no minute of server {server} ends at {t} s: {there:?}")
    })
}

/// Renewals of the minutes of a server that end at `t`, `t + 60`, … up to `last`.
pub(crate) fn renewals(data: &ReplicateData, server: u32, t: u64, last: u64) -> Vec<u32> {
    (t..=last).step_by(60).map(|t| minute(data, server, t).renewals).collect()
}

/// What a server evicted after the cut: in which second, and how many.
pub(crate) fn evictions(data: &ReplicateData, server: u32) -> Vec<(u64, u32)> {
    let rounds = data.rounds.iter().filter(|row| row.server.0 == server && row.at >= at(0));
    let rounds = rounds.filter(|row| row.round.evicted > 0);
    rounds.map(|row| (row.at.since(at(0)).as_millis() / 1_000, row.round.evicted)).collect()
}

/// When servers evicted instances that live, with how many, and how long each time they were missing, ms.
pub(crate) fn false_removals(data: &ReplicateData, server: u32) -> Vec<(u64, u32, u64)> {
    let mistakes = data.mistakes.iter().filter(|row| {
        (row.stage, row.removal, row.server) == (Stage::Registry, Removal::Evicted, Some(ServerId(server)))
    });
    let moment = |at: SimTime| at.since(self::at(0)).as_millis() / 1_000;
    mistakes.map(|row| (moment(row.at), row.instances, row.lasted.as_millis())).collect()
}

/// After how many milliseconds a server's registry showed what happened; `None`: never.
pub(crate) fn shown_after(data: &ReplicateData, server: u32, event: EventKind) -> Vec<Option<u64>> {
    let wanted = |row: &&stillup::observe::Detection| {
        (row.event, row.stage, row.server) == (event, Stage::Registry, Some(ServerId(server)))
            && row.at >= at(0)
    };
    data.detections
        .iter()
        .filter(wanted)
        .map(|row| match row.outcome {
            Outcome::Detected(after) => Some(after.as_millis()),
            Outcome::Censored(_) | Outcome::Superseded(_) => None,
        })
        .collect()
}

/// When servers agreed about everything again, ms after `t`, and that they did not before.
pub(crate) fn agreed_after(data: &ReplicateData, t: u64) -> u64 {
    let last = data.divergence.iter().rfind(|row| row.differing > 0).expect("they differed");
    let agreed = data.divergence.iter().rfind(|row| row.differing == 0).expect("they agree in the end");
    assert!(agreed.at > last.at, "they differ in the end: {last:?}");
    let since = at(0) + SimDuration::from_secs(t);
    assert!(agreed.at > since, "they agreed at {}", agreed.at);
    agreed.at.since(since).as_millis()
}
