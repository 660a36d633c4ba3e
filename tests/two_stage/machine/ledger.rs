//! Facts become rows, and what they add up to is held against what the registry says of itself.
//!
//! The registry keeps its own revisions, counts and flags. The ledger keeps the same by the facts alone: whoever reads
//! the facts must come to know what is so. So a fact that is missing, told twice or told of the wrong instance fails
//! here, whichever vector plays. Rules that hold of every script are held against the facts here, too.

use std::collections::BTreeMap;

use stillup::model::fact::{Fact, Sweep};
use stillup::model::id::{AppId, InstanceId};
use stillup::model::message::Status;
use stillup::model::two_stage::{Guard, GuardScope, RegisterExisting, SweepPasses};
use stillup::model::view::{Presence, View};

use super::Machine;
use crate::ids::Ids;
use crate::row::{Row, What};

/// What the facts add up to.
pub(super) struct Ledger {
    /// Whether the step that runs is a sweep.
    pub(super) sweeping: bool,
    /// Every entry's flag.
    healthy: BTreeMap<InstanceId, bool>,
    revisions: BTreeMap<AppId, u32>,
    /// Services whose guard was shut at their last sweep.
    shut: BTreeMap<AppId, bool>,
    /// What the sweep that runs did to the service that it is at.
    marked: Vec<InstanceId>,
    removed: Vec<InstanceId>,
    served: View,
    stored: View,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            sweeping: false,
            healthy: BTreeMap::new(),
            revisions: BTreeMap::new(),
            shut: BTreeMap::new(),
            marked: Vec::new(),
            removed: Vec::new(),
            served: View::EMPTY,
            stored: View::EMPTY,
        }
    }
}

impl Ledger {
    /// A life begins, with what an earlier one left or with nothing.
    pub(super) fn new_life(&mut self, keeps: bool) {
        let before = std::mem::take(self);
        if keeps {
            self.healthy = before.healthy;
            self.revisions = before.revisions;
        }
    }

    fn bump(&mut self, app: AppId) -> u32 {
        let revision = self.revisions.entry(app).or_default();
        *revision += 1;
        *revision
    }
}

impl Machine {
    /// A row about one instance.
    pub(super) fn instance_row(&mut self, kind: &'static str, instance: InstanceId, revision: Option<u32>) {
        let (app, id) = self.names.of(instance);
        self.log.push(Row::ids(self.now, kind, self.names.svc(app), [id], revision));
    }

    /// The registry tells a fact.
    pub(super) fn note(&mut self, fact: Fact) {
        match fact {
            Fact::LeaseRegistered { instance, new: true, .. } => {
                assert_eq!(self.host.ledger.healthy.insert(instance, true), None, "it is new");
                let revision = self.host.ledger.bump(self.names.of(instance).0);
                self.instance_row("registered", instance, Some(revision));
            }
            Fact::LeaseRegistered { instance, new: false, .. } => self.registered_again(instance),
            Fact::StatusChanged { instance, status } => {
                assert_eq!(status, Status::Up);
                assert_eq!(self.host.ledger.healthy.insert(instance, true), Some(false), "it was unhealthy");
                let revision = self.host.ledger.bump(self.names.of(instance).0);
                self.instance_row("recovered", instance, Some(revision));
            }
            Fact::LeaseCancelled { instance } => {
                assert!(self.host.ledger.healthy.remove(&instance).is_some(), "it was there");
                let revision = self.host.ledger.bump(self.names.of(instance).0);
                self.instance_row("deregistered", instance, Some(revision));
            }
            Fact::SoftEvicted { instance } => {
                assert!(self.host.ledger.sweeping, "between two sweeps nothing turns unhealthy");
                assert_eq!(self.host.ledger.healthy.insert(instance, false), Some(true), "it was healthy");
                self.host.ledger.marked.push(instance);
            }
            Fact::LeaseEvicted { instance } => {
                assert!(self.host.ledger.sweeping, "between two sweeps nothing is removed");
                let healthy = self.host.ledger.healthy.remove(&instance).expect("it was there");
                let either_or = self.vector.knobs.server.sweep_passes == SweepPasses::ElseIf;
                assert!(!(healthy && either_or), "only what was unhealthy is removed");
                self.host.ledger.removed.push(instance);
            }
            Fact::SweepEnded(sweep) => self.sweep_ended(&sweep),
            Fact::StoredChanged { from, to } => {
                assert_eq!(std::mem::replace(&mut self.host.ledger.stored, to), from);
                assert_ne!(from, to);
            }
            Fact::ServedChanged { from, to } => {
                assert_eq!(std::mem::replace(&mut self.host.ledger.served, to), from);
                assert_ne!(from, to);
            }
            other => panic!("no fact of a two-stage registry: {other:?}"),
        }
    }

    fn registered_again(&mut self, instance: InstanceId) {
        let config = &self.vector.knobs.server;
        let heals = config.register_existing == RegisterExisting::Heal;
        let notifies = config.notify_on_reregister;
        let app = self.names.of(instance).0;
        let healthy = self.host.ledger.healthy[&instance];
        if heals && !healthy {
            // The recovery is a fact, and a row, of its own.
            return;
        }
        if notifies {
            self.host.ledger.bump(app);
        }
        let revision = self.host.ledger.revisions[&app];
        let state = Some(if healthy { "healthy" } else { "unhealthy" }.to_owned());
        let ids = Ids::from_iter([self.names.of(instance).1]);
        let svc = self.names.svc(app).to_owned();
        self.row("reregistered", &svc, What::Ids { ids, revision: Some((revision, revision)), state });
    }

    fn sweep_ended(&mut self, sweep: &Sweep) {
        let marked = std::mem::take(&mut self.host.ledger.marked);
        let removed = std::mem::take(&mut self.host.ledger.removed);
        assert_eq!((sweep.marked, sweep.removed), (marked.len() as u32, removed.len() as u32));
        self.check_verdict(sweep);
        let either_or = self.vector.knobs.server.sweep_passes == SweepPasses::ElseIf;
        let both = marked.iter().any(|instance| removed.contains(instance));
        assert!(!(either_or && both), "no sweep marks and removes the same entry");
        let svc = self.names.svc(sweep.app).to_owned();
        let before = self.host.ledger.revisions.get(&sweep.app).copied().unwrap_or(0);
        let was_shut = self.host.ledger.shut.insert(sweep.app, !sweep.guard_open).unwrap_or(false);
        if was_shut == sweep.guard_open {
            let kind = if sweep.guard_open { "guard_open" } else { "guard_closed" };
            let what = What::Guard(u64::from(sweep.healthy), u64::from(sweep.entries), before);
            self.row(kind, &svc, what);
        }
        if marked.is_empty() && removed.is_empty() {
            assert_eq!(was_shut, sweep.guard_open, "a sweep that changes nothing is not told");
            return;
        }
        let revision = self.host.ledger.bump(sweep.app);
        for (kind, instances) in [("soft", marked), ("removed", removed)] {
            let ids: Vec<_> = instances.iter().map(|&instance| self.names.of(instance).1).collect();
            if !ids.is_empty() {
                self.log.push(Row::ids(self.now, kind, &svc, ids, Some(revision)));
            }
        }
    }

    /// What every sweep's guard must have said, and what a shut one keeps it from.
    fn check_verdict(&self, sweep: &Sweep) {
        let config = &self.vector.knobs.server;
        let ratio = 100 * sweep.healthy >= config.guard_min_healthy_pct * sweep.entries;
        let open = config.guard == Guard::None || sweep.entries < config.guard_min_instances || ratio;
        assert_eq!(sweep.guard_open, open, "{sweep:?}");
        let keeps_removals = config.guard_scope == GuardScope::Both;
        assert!(open || sweep.marked == 0, "marked behind a shut guard: {sweep:?}");
        assert!(open || !keeps_removals || sweep.removed == 0, "removed behind a shut guard: {sweep:?}");
    }

    /// After every step: revisions and counts.
    pub(super) fn check_ledger(&self) {
        let Some(server) = &self.host.server else { return };
        let ledger = &self.host.ledger;
        assert!(
            ledger.marked.is_empty() && ledger.removed.is_empty(),
            "a sweep that changes something is told"
        );
        for app in self.names.apps() {
            let revision = ledger.revisions.get(&app).copied().unwrap_or(0);
            assert_eq!(server.revision(app).number, revision, "revision of {}", self.names.svc(app));
        }
        assert_eq!(server.registered() as usize, ledger.healthy.len());
        assert_eq!(server.guard_is_shut(), ledger.shut.values().any(|&shut| shut));
        assert_eq!(ledger.served.life().is_some(), ledger.stored.life().is_some());
    }

    /// At the end: every entry and every flag, and what a fetch returns.
    pub(super) fn check_everything(&mut self) {
        self.check_ledger();
        let Some(server) = &self.host.server else { return };
        let ledger = &self.host.ledger;
        for (instance, _) in self.names.all() {
            let flag = match self.views.log(server.life()).now(instance) {
                Presence::Absent => None,
                Presence::Present(status) => Some(status == Status::Up),
            };
            assert_eq!(flag, ledger.healthy.get(&instance).copied(), "{}", self.names.of(instance).1);
            assert_eq!(server.has(instance), flag.is_some());
            let is_stored = self.views.is_up(ledger.stored, instance);
            assert_eq!(is_stored, flag.is_some(), "what is stored is told");
        }
        let told = ledger.served;
        let fetched = self.fetch().and_then(|reply| reply.payload).expect("a list").full_view();
        assert_eq!(fetched, told, "what is served is told");
    }
}
