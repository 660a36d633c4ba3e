//! What is written down of the registry, and what a fetch shows.
//!
//! Every life has a log of the flags and one of what is stored. What a fetch shows is the log of the flags, of which a
//! consumer takes who is healthy; with read protection it is a log of its own, since then it is neither: a service in
//! which too few are healthy is handed out as if all were (`two-stage.md` 4.1, `InstanceController#doSrvIpxt`).

use super::super::config::ServerConfig;
use super::entries::Entries;
use super::{ServerStep, tell};
use crate::model::fact::Fact;
use crate::model::id::{AppId, InstanceId};
use crate::model::message::Status;
use crate::model::view::{LifeId, Payload, Presence, View, Views};

/// The logs of one life.
#[derive(Clone)]
pub(super) struct Shown {
    flags: LifeId,
    stored: LifeId,
    protection: Option<Protection>,
    /// What the last facts told.
    told: LastReported,
}

#[derive(Clone)]
struct LastReported {
    stored: View,
    served: View,
}

/// Read protection.
#[derive(Clone)]
struct Protection {
    log: LifeId,
    /// The share of healthy entries that is still too small.
    threshold: f64,
    /// Whether everything is handed out, by service.
    engaged: Vec<bool>,
}

impl Shown {
    /// Begins the logs of a life.
    pub(super) fn begin(config: &ServerConfig, views: &mut Views) -> Self {
        let (flags, stored) = (views.begin_life(), views.begin_life());
        let protection = config.read_protect_threshold.map(|threshold| Protection {
            log: views.begin_life(),
            threshold,
            engaged: Vec::new(),
        });
        Self { flags, stored, protection, told: LastReported { stored: View::EMPTY, served: View::EMPTY } }
    }

    /// The log of the flags.
    pub(super) fn flags(&self) -> LifeId {
        self.flags
    }

    /// The answer to a fetch, of all services: whoever asks for one looks that up.
    #[inline]
    pub(super) fn payload(&self, views: &Views) -> Payload {
        let life = self.served();
        Payload { life, version: views.log(life).version(), queue_head: 0, queue_tail: 0 }
    }

    /// Writes down what has become of some entries of a service, all that one request or sweep has changed of it.
    pub(super) fn write(&mut self, entries: &Entries, app: AppId, touched: &[InstanceId], views: &mut Views) {
        for &instance in touched {
            let entry = entries.find(instance);
            let flag = entry.map_or(Presence::Absent, |entry| shown_as(entry.healthy));
            let stored = if entry.is_some() { shown_as(true) } else { Presence::Absent };
            views.log_mut(self.flags).put(app, instance, flag);
            views.log_mut(self.stored).put(app, instance, stored);
        }
        if let Some(protection) = &mut self.protection {
            protection.write(entries, app, touched, views);
        }
    }

    /// Writes down that a service is known, although nothing is left of it: `gone` was one of its instances in an
    /// earlier life. A fetch lists it, and lists nobody under it.
    pub(super) fn remember(&mut self, app: AppId, gone: InstanceId, views: &mut Views) {
        let protection = self.protection.as_ref().map(|protection| protection.log);
        for life in [self.flags, self.stored].into_iter().chain(protection) {
            let log = views.log_mut(life);
            log.put(app, gone, shown_as(false));
            log.put(app, gone, Presence::Absent);
        }
    }

    /// Tells what has changed since the last time.
    pub(super) fn tell(&mut self, step: &mut ServerStep<'_>) {
        let newest = |life: LifeId| View::of(life, step.views.log(life).version());
        let (stored, served) = (newest(self.stored), newest(self.served()));
        let told = std::mem::replace(&mut self.told, LastReported { stored, served });
        if told.stored != stored {
            tell(step, Fact::StoredChanged { from: told.stored, to: stored });
        }
        if told.served != served {
            tell(step, Fact::ServedChanged { from: told.served, to: served });
        }
    }

    fn served(&self) -> LifeId {
        self.protection.as_ref().map_or(self.flags, |protection| protection.log)
    }
}

impl Protection {
    fn write(&mut self, entries: &Entries, app: AppId, touched: &[InstanceId], views: &mut Views) {
        if self.engaged.len() <= app.index() {
            self.engaged.resize(app.index() + 1, false);
        }
        let (healthy, all) = (entries.healthy(app), entries.of(app));
        let engaged = !all.is_empty() && f64::from(healthy) / all.len() as f64 <= self.threshold;
        let was_engaged = std::mem::replace(&mut self.engaged[app.index()], engaged);
        let log = views.log_mut(self.log);
        for &instance in touched {
            let entry = entries.find(instance);
            log.put(
                app,
                instance,
                entry.map_or(Presence::Absent, |entry| shown_as(engaged || entry.healthy)),
            );
        }
        if engaged != was_engaged {
            for entry in all {
                log.put(app, entry.instance, shown_as(engaged || entry.healthy));
            }
        }
    }
}

fn shown_as(healthy: bool) -> Presence {
    Presence::Present(if healthy { Status::Up } else { Status::Down })
}
