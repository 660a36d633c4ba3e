//! A consumer that polls for everything.

use stillup::model::two_stage::{DiskMode, DiskWriteOn, OnCorruptFile, Sanity};

use super::{Ask, Oracle, Who};
use crate::ids::Ids;
use crate::row::{Map, What};
use crate::vector::Disk;

/// A consumer through all its lives.
pub(super) struct Consumer {
    pub(super) name: String,
    memory: Map,
    file: Disk,
    /// What is being written, and when that is done.
    writing: Option<(u64, Map)>,
    starts: bool,
    /// The how-many-th question it waits for, and when it asked.
    asked: Option<(u32, u64)>,
    questions: u32,
    next: Option<u64>,
    failures: u32,
}

impl Consumer {
    pub(super) fn new(name: &str, disk: &Disk) -> Self {
        Self {
            name: name.to_owned(),
            memory: Map::new(),
            file: disk.clone(),
            writing: None,
            starts: false,
            asked: None,
            questions: 0,
            next: None,
            failures: 0,
        }
    }

    fn finish_writing(&mut self, t: u64) {
        if let Some((_, map)) = self.writing.take_if(|writing| writing.0 <= t) {
            self.file = Disk::Map(map);
        }
    }
}

impl Oracle {
    pub(super) fn consumer_timers(&mut self, at: usize) {
        let (t, limit) = (self.t, u64::from(self.knobs.client.request_timeout_ms));
        let it = &mut self.consumers[at];
        it.finish_writing(t);
        if let Some((question, _)) = it.asked.filter(|asked| asked.1 + limit == t) {
            self.fetch_ends(at, question, None);
        } else if it.next.take_if(|next| *next == t).is_some() {
            self.fetch(at);
        }
    }

    fn fetch(&mut self, at: usize) {
        let it = &mut self.consumers[at];
        it.questions += 1;
        it.asked = Some((it.questions, self.t));
        self.arriving.push_back((Who::Consumer(at, it.questions), Ask::FetchAll));
    }

    pub(super) fn kill_consumer(&mut self, at: usize) {
        let in_place = self.knobs.client.disk_mode == DiskMode::InPlace;
        let it = &mut self.consumers[at];
        it.finish_writing(self.t);
        if it.writing.take().is_some() && in_place {
            it.file = Disk::Torn;
        }
        (it.asked, it.next) = (None, None);
    }

    pub(super) fn start_consumer(&mut self, at: usize) {
        let config = &self.knobs.client;
        let reads = config.disk_load_at_start && config.disk_mode != DiskMode::None;
        let it = &mut self.consumers[at];
        it.memory = Map::new();
        (it.starts, it.failures) = (true, 0);
        let name = it.name.clone();
        match it.file.clone() {
            Disk::Map(map) if reads && !map.is_empty() => {
                it.memory = map.clone();
                self.row("view_from_disk", &name, What::Map(map));
            }
            Disk::Torn if reads && config.on_corrupt_file == OnCorruptFile::FailStart => {
                return self.row("start_failed", &name, What::Nothing);
            }
            Disk::Map(_) | Disk::Torn | Disk::None => {}
        }
        self.fetch(at);
    }

    /// A fetch has ended, with what it brought or without an answer.
    pub(super) fn fetch_ends(&mut self, at: usize, question: u32, answer: Option<Map>) {
        let it = &mut self.consumers[at];
        if it.asked.take_if(|asked| asked.0 == question).is_none() {
            return;
        }
        let starts = std::mem::replace(&mut it.starts, false);
        let succeeded = answer.is_some();
        if let Some(map) = answer {
            self.take(at, map, starts);
        }
        if starts {
            // The refresh loop begins, and fetches at once.
            return self.fetch(at);
        }
        let config = self.knobs.client.clone();
        let it = &mut self.consumers[at];
        if succeeded {
            it.failures = 0;
            it.next = Some(self.t + u64::from(config.poll_interval_ms));
            return;
        }
        it.failures += 1;
        let (name, failures) = (it.name.clone(), it.failures);
        let shifted = u64::from(config.backoff.base_ms) << failures.min(config.backoff.max_shift);
        let wait = shifted.min(u64::from(config.backoff.cap_ms));
        it.next = Some(self.t + wait);
        self.row("refresh_fail", &name, What::Failure(u64::from(failures), wait));
        if failures == config.warn_after_failures {
            self.row("warn", &name, What::Nothing);
        }
    }

    fn take(&mut self, at: usize, map: Map, starts: bool) {
        let config = self.knobs.client.clone();
        let it = &mut self.consumers[at];
        let name = it.name.clone();
        let implausible = it
            .memory
            .iter()
            .any(|(svc, current)| map.get(svc).is_none_or(|fetched| 2 * fetched.len() < current.len()));
        let unchecked = starts && config.start_applies_unchecked;
        if implausible && !unchecked && config.sanity == Sanity::Half {
            let sizes = map.iter().map(|(svc, ids)| (svc.clone(), ids.len() as u64)).collect();
            return self.row("reject", &name, What::Sizes(sizes));
        }
        let changes = it.memory != map;
        // A file that differs by a service without instances only would lead nobody elsewhere.
        let others = shown(&it.memory) != shown(&map);
        if config.disk_mode != DiskMode::None && (others || config.disk_write_on == DiskWriteOn::EverySuccess)
        {
            it.writing = Some((self.t + u64::from(config.disk_write_ms), map.clone()));
        }
        it.memory = map.clone();
        if changes {
            self.row("view", &name, What::Map(map));
        }
    }
}

fn shown(map: &Map) -> Vec<(&String, &Ids)> {
    map.iter().filter(|it| !it.1.is_empty()).collect()
}
