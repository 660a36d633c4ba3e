//! The recorder against the [oracle](super::oracle), over random histories: processes that come and go, servers that
//! restart, views of every kind, wrong ones included, and events at the same moment and at others.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::data::{Mistake, Quality, Removal};
use super::oracle::{Figures, Oracle, Seen, Watcher, Wrong};
use super::recorder::{Recorded, Recorder};
use crate::engine::{SimDuration, SimTime};
use crate::model::fact::Fact;
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::Status;
use crate::model::stage::{EventKind, Stage};
use crate::model::view::{LifeId, Payload, Presence, View, Views};

/// Processes; the first [`OBSERVERS`] look on as well.
const PROCESSES: u32 = 9;
const OBSERVERS: u32 = 6;

/// One thing that happens. Numbers are taken modulo what there is.
#[derive(Clone, Copy, Debug)]
enum Step {
    Pass(u8),
    /// A process starts, under a new identity or its old one, or ends.
    Toggle {
        process: u8,
        new_id: bool,
        crash: bool,
    },
    Stop(u8),
    /// The server registers it with one of three statuses.
    Register {
        process: u8,
        status: u8,
        announced: bool,
    },
    Cancel(u8),
    Status {
        process: u8,
        up: bool,
    },
    /// The server evicts every instance whose bit is set.
    Evict(u16),
    RestartServer,
    Serve(u8),
    /// An observer stores a version, or applies a delta made of any part of the queue.
    Fetch {
        place: u8,
        version: u8,
        delta: Option<(u8, u8)>,
    },
    Refresh(u8),
    Watch {
        process: u8,
        event: u8,
    },
    SetUnwell {
        process: u8,
        unwell: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let delta = prop::option::of((any::<u8>(), any::<u8>()));
    let step = prop_oneof![
        2 => (1u8..4).prop_map(Step::Pass),
        3 => (any::<u8>(), prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(process, new_id, crash)| Step::Toggle { process, new_id, crash }),
        1 => any::<u8>().prop_map(Step::Stop),
        8 => (any::<u8>(), 0u8..5, prop::bool::weighted(0.8))
            .prop_map(|(process, status, announced)| Step::Register { process, status, announced }),
        1 => any::<u8>().prop_map(Step::Cancel),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(process, up)| Step::Status { process, up }),
        3 => any::<u16>().prop_map(Step::Evict),
        1 => Just(Step::RestartServer),
        4 => (0u8..3).prop_map(Step::Serve),
        14 => (any::<u8>(), 0u8..4, delta)
            .prop_map(|(place, version, delta)| Step::Fetch { place, version, delta }),
        10 => any::<u8>().prop_map(Step::Refresh),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(process, event)| Step::Watch { process, event }),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(process, unwell)| Step::SetUnwell { process, unwell }),
    ];
    prop::collection::vec(step, 1..220)
}

/// Both records of the same history.
struct Twins {
    recorder: Recorder,
    oracle: Oracle,
    views: Views,
    life: LifeId,
    now: SimTime,
    /// Each process's identity, and whether it runs.
    processes: Vec<(InstanceId, bool)>,
    identities: u32,
    /// Each observer's local registry.
    local: Vec<View>,
}

impl Twins {
    fn new() -> Self {
        let mut views = Views::default();
        let life = views.begin_life();
        let mut twins = Self {
            recorder: Recorder::default(),
            oracle: Oracle::new(300),
            views,
            life,
            now: SimTime::ZERO,
            processes: (0..PROCESSES).map(|process| (InstanceId(process), false)).collect(),
            identities: PROCESSES,
            local: vec![View::EMPTY; OBSERVERS as usize],
        };
        for process in 0..PROCESSES {
            twins.recorder.add_client(ClientId(process), process < OBSERVERS);
        }
        twins
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Pass(seconds) => {
                self.now += SimDuration::from_secs(seconds.into());
                self.oracle.pass(self.now);
            }
            Step::Toggle { process, new_id, crash } => self.toggle(process, new_id, crash),
            Step::Stop(process) => self.watch(process, EventKind::Stop),
            Step::Register { process, status, announced } => self.register(process, status, announced),
            Step::Cancel(process) => {
                let (_, instance, _) = self.process(process);
                if self.put(instance, Presence::Absent, true) {
                    self.server_fact(Fact::LeaseCancelled { instance }, Removal::NotShown);
                }
            }
            Step::Status { process, up } => {
                let (_, instance, _) = self.process(process);
                let status = if up { Status::Up } else { Status::OutOfService };
                if self.views.log(self.life).now(instance) != Presence::Absent {
                    self.put(instance, Presence::Present(status), true);
                    self.server_fact(Fact::StatusChanged { instance, status }, Removal::NotShown);
                }
            }
            Step::Evict(bits) => self.evict(bits),
            Step::RestartServer => {
                self.recorder.server_ended(ServerId(0), 0, self.now, &self.views);
                for stage in [Stage::Registry, Stage::Served] {
                    let slot = (Watcher::Server, stage);
                    self.oracle.show(slot, View::EMPTY, Removal::LostWithServer, &self.views);
                }
                self.life = self.views.begin_life();
            }
            Step::Serve(back) => {
                let to = self.version(back);
                let fact = Fact::ServedChanged { from: View::EMPTY, to };
                self.oracle.show((Watcher::Server, Stage::Served), to, Removal::NotShown, &self.views);
                self.server_fact(fact, Removal::NotShown);
            }
            Step::Fetch { place, version, delta } => self.fetch(place, version, delta),
            Step::Refresh(place) => {
                let place = u32::from(place) % OBSERVERS;
                self.show(place, Stage::Balancer, self.local[place as usize]);
            }
            Step::Watch { process, event } => {
                let event = EventKind::ALL[event as usize % EventKind::ALL.len()];
                let (_, _, running) = self.process(process);
                if running != (event == EventKind::Crash) {
                    self.watch(process, event);
                }
            }
            Step::SetUnwell { process, unwell } => {
                let (_, instance, running) = self.process(process);
                if running {
                    match unwell {
                        true => self.recorder.not_well(instance, self.now),
                        false => self.recorder.well_again(instance, self.now),
                    }
                    self.oracle.set_unwell(instance, unwell);
                }
            }
        }
    }

    fn process(&self, process: u8) -> (u32, InstanceId, bool) {
        let process = u32::from(process) % PROCESSES;
        let (instance, running) = self.processes[process as usize];
        (process, instance, running)
    }

    fn toggle(&mut self, process: u8, new_id: bool, crash: bool) {
        let (process, mut instance, running) = self.process(process);
        let place = Some(process).filter(|&process| process < OBSERVERS);
        if running {
            self.recorder.process_ended(ClientId(process), instance, self.now);
            self.oracle.ended(place, instance);
        } else {
            if new_id {
                instance = InstanceId(self.identities);
                self.identities += 1;
            }
            self.recorder.process_started(ClientId(process), instance, self.now);
            self.oracle.started(place, instance);
            if let Some(place) = place {
                self.local[place as usize] = View::EMPTY;
            }
        }
        self.processes[process as usize] = (instance, !running);
        if running && crash {
            self.watch(process as u8, EventKind::Crash);
        }
    }

    fn watch(&mut self, process: u8, event: EventKind) {
        let (process, instance, running) = self.process(process);
        if running != (event == EventKind::Crash) {
            self.recorder.watch(event, ClientId(process), instance, self.now, &self.views);
            self.oracle.watch(event, instance, &self.views);
        }
    }

    fn register(&mut self, process: u8, status: u8, announced: bool) {
        let (_, instance, running) = self.process(process);
        let status = [Status::Up, Status::Up, Status::Up, Status::Down, Status::Starting][status as usize];
        if running {
            let new = self.views.log(self.life).now(instance) == Presence::Absent;
            self.put(instance, Presence::Present(status), announced);
            self.server_fact(Fact::LeaseRegistered { instance, status, new }, Removal::NotShown);
        }
    }

    fn evict(&mut self, bits: u16) {
        let chosen = (0..self.identities).filter(|number| bits & (1 << (number % 16)) != 0).map(InstanceId);
        let gone: Vec<InstanceId> =
            chosen.filter(|&instance| self.put(instance, Presence::Absent, true)).collect();
        for instance in gone {
            self.server_fact(Fact::LeaseEvicted { instance }, Removal::Evicted);
        }
    }

    /// Writes the registry's log; says whether anything changed.
    fn put(&mut self, instance: InstanceId, presence: Presence, announced: bool) -> bool {
        let log = self.views.log_mut(self.life);
        let before = log.version();
        // Two applications, so that deltas bring in what was deleted.
        log.put(AppId(instance.0 % 2), instance, presence);
        match announced {
            true => log.announce(instance),
            false => log.leave_unannounced(),
        }
        log.version() > before
    }

    fn server_fact(&mut self, fact: Fact, removal: Removal) {
        let registry = self.version(0);
        self.oracle.server_fact(fact);
        self.oracle.show((Watcher::Server, Stage::Registry), registry, removal, &self.views);
        self.recorder.server_fact(ServerId(0), fact, registry, self.now, &self.views);
    }

    /// The registry so many changes ago.
    fn version(&self, back: u8) -> View {
        View::of(self.life, self.views.log(self.life).version().saturating_sub(back.into()))
    }

    fn fetch(&mut self, place: u8, back: u8, delta: Option<(u8, u8)>) {
        let place = u32::from(place) % OBSERVERS;
        if !self.processes[place as usize].1 {
            return;
        }
        let log = self.views.log(self.life);
        let (version, queued) = (log.version().saturating_sub(back.into()), log.queued());
        let to = match delta {
            None => View::of(self.life, version),
            Some((head, length)) => {
                let queue_head = u32::from(head) % (queued + 1);
                let queue_tail = queued.min(queue_head + u32::from(length) % 6);
                let payload = Payload { life: self.life, version: log.version(), queue_head, queue_tail };
                self.views.apply_delta(self.local[place as usize], &payload).view
            }
        };
        self.local[place as usize] = to;
        self.show(place, Stage::Client, to);
    }

    fn show(&mut self, place: u32, stage: Stage, to: View) {
        let from = View::EMPTY;
        let fact = match stage {
            Stage::Client => Fact::ViewChanged { from, to },
            _ => Fact::BalancerChanged { from, to },
        };
        self.recorder.client_fact(ClientId(place), fact, self.now, &self.views);
        self.oracle.show((Watcher::Observer(place), stage), to, Removal::NotShown, &self.views);
    }
}

/// What the rows say, over all instances.
fn seen(recorded: &Recorded) -> Seen {
    let mut seen = Seen::new();
    for row in &recorded.detections {
        let (count, instances) = seen.entry((row.event, row.at, row.stage, row.outcome)).or_default();
        *count += row.count;
        *instances += row.instances;
    }
    seen
}

fn wrong(mistakes: &[Mistake]) -> Wrong {
    let mut wrong = Wrong::new();
    for row in mistakes {
        let key = (row.stage, row.at, row.at + row.lasted, row.corrected, row.removal);
        *wrong.entry(key).or_insert(0) += row.count;
    }
    wrong
}

fn figures(row: &Quality) -> Figures {
    (row.good_nanos, row.mistaken_nanos, row.mistakes, row.corrected)
}

fn sum<'a>(figures: impl Iterator<Item = &'a Figures>) -> Figures {
    figures.fold((0, 0, 0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1, sum.2 + row.2, sum.3 + row.3))
}

fn compare(twins: Twins) -> Result<(), TestCaseError> {
    let Twins { recorder, oracle, now, .. } = twins;
    let recorded = recorder.finish(now);
    let (expected_seen, expected_wrong, expected_figures) = oracle.finish();
    let seen = seen(&recorded);
    prop_assert_eq!(seen.keys().collect::<Vec<_>>(), expected_seen.keys().collect::<Vec<_>>());
    for (key, &(count, instances)) in &seen {
        let (expected_count, expected_instances) = expected_seen[key];
        prop_assert_eq!(count, expected_count, "{:?}", key);
        // Of a group that looks on, one may be seen by itself alone.
        prop_assert!(instances >= expected_instances, "{:?}", key);
    }
    prop_assert_eq!(wrong(&recorded.mistakes), expected_wrong);
    for stage in Stage::ALL {
        let rows: Vec<&Quality> = recorded.quality.iter().filter(|row| row.stage == stage).collect();
        let own: BTreeMap<Watcher, Figures> = expected_figures
            .iter()
            .filter(|((_, of), _)| *of == stage)
            .map(|(&(watcher, _), &figures)| (watcher, figures))
            .collect();
        let mut told: Vec<Figures> =
            rows.iter().filter(|row| row.mistakes > 0).map(|row| figures(row)).collect();
        let mut expected: Vec<Figures> = own.values().filter(|figures| figures.2 > 0).copied().collect();
        told.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(told, expected);
        let all = sum(rows.iter().map(|row| figures(row)).collect::<Vec<_>>().iter());
        if rows.iter().map(|row| row.observers).sum::<u32>() == OBSERVERS || stage < Stage::Client {
            prop_assert_eq!(all, sum(own.values()));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn grouped_records_say_what_plain_ones_say(steps in steps()) {
        let mut twins = Twins::new();
        for step in steps {
            twins.take(step);
            let (sightings, mistakes) = twins.oracle.open();
            prop_assert_eq!(twins.recorder.open(), (sightings as u64, mistakes as u64), "{:?}", step);
        }
        compare(twins)?;
    }
}
