//! What a consumer finds on its disk when the script begins, written by the rules themselves: an earlier process of it
//! asked an earlier life of the registry.

use std::sync::Arc;

use stillup::engine::{SimTime, Streams};
use stillup::model::clock::{Now, WallMs};
use stillup::model::effect::ClientEffect;
use stillup::model::message::{Reply, Request};
use stillup::model::step::Step;
use stillup::model::two_stage::{
    ClientConfig, Discovery, DiskMode, DiskWriteOn, Preset, ServerConfig, TwoStageServer,
};

use super::{Machine, WALL_START_MS};
use crate::row::Map;
use crate::vector::Disk;

/// When that process asked, ms on the engine's clock, and how long its writing took.
const ASKED_MS: u64 = 1_000;
const WRITE_MS: u32 = 100;

impl Machine {
    pub(super) fn prepare_disk(&mut self, agent: usize, disk: &Disk) {
        match disk {
            Disk::None => {}
            Disk::Map(map) => self.write_disk(agent, map, DiskMode::Atomic, ASKED_MS + 500),
            // Killed in the middle of a write over the file.
            Disk::Torn => self.write_disk(agent, &Map::new(), DiskMode::InPlace, ASKED_MS + 50),
        }
    }

    fn write_disk(&mut self, agent: usize, map: &Map, disk_mode: DiskMode, killed_ms: u64) {
        let at = |ms| Now { mono: SimTime::from_millis(ms), wall: WallMs(WALL_START_MS + ms as i64) };
        let (mut streams, mut ignored) = (Streams::of("prelude"), Vec::new());
        let rng = streams.with(&self.seed);
        let mut step = Step { now: at(0), rng, views: &mut self.views, out: &mut ignored };
        let config = Arc::new(ServerConfig::defaults(Preset::TwoStage));
        let mut registry = TwoStageServer::start(config, 0, None, &mut step);
        for (svc, ids) in map {
            for id in ids.iter() {
                registry.on_request(&Request::Register(self.names.record(svc, id)), None, &mut step);
            }
            if ids.is_empty() {
                // A service is known and empty once its last instance has left.
                let record = self.names.record(svc, "nobody");
                registry.on_request(&Request::Register(record), None, &mut step);
                registry.on_request(&Request::Cancel { instance: record.instance }, None, &mut step);
            }
        }
        let asks = Request::FetchFull;
        let reply = registry.on_request(&asks, None, &mut step).expect("a fetch is answered at once");
        let config = ClientConfig {
            registers: false,
            fetches: true,
            discovery: Discovery::Poll,
            disk_mode,
            disk_write_on: DiskWriteOn::EverySuccess,
            disk_write_ms: WRITE_MS,
            ..ClientConfig::defaults(Preset::TwoStage)
        };
        self.run_earlier_process(agent, &config, reply, at(ASKED_MS));
        self.agents[agent].client.on_crash(&config, at(killed_ms).mono);
    }

    /// A process that starts, and whose calls are all answered with `reply`.
    fn run_earlier_process(&mut self, agent: usize, config: &ClientConfig, reply: Reply, now: Now) {
        let (mut streams, mut out) = (Streams::of("prelude"), Vec::new());
        let rng = streams.with(&self.seed);
        let client = &mut self.agents[agent].client;
        let mut step = Step { now, rng, views: &mut self.views, out: &mut out };
        client.on_start(config, &mut step);
        let mut answered = 0;
        while answered < step.out.len() {
            let effect = step.out[answered];
            answered += 1;
            if let ClientEffect::Send { call, .. } = effect {
                client.on_reply(config, call, reply, &mut step);
            }
        }
    }
}
