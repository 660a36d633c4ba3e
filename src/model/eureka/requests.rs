//! The registry's operations, in the order in which the original does things, since that order shows.
//!
//! A heartbeat is the hot path: one indexed access, no allocation, no entry in the delta queue, no cache
//! touched. Everything else that changes the registry is *published*: logged, queued for deltas, and the
//! caches behind it emptied.
//!
//! Source: `eureka-server.md` 2.1 to 2.5, 7.1, 7.2; `AbstractInstanceRegistry`, `InstanceResource`,
//! `ApplicationsResource`.

use super::cache::Key;
use super::lease::{DEFAULT_DURATION_S, Lease};
use super::server::{EurekaServer, ServerStep, load, tell};
use super::status::{self, Origin};
use crate::model::clock::WallMs;
use crate::model::fact::Fact;
use crate::model::id::{AppId, InstanceId};
use crate::model::message::{Record, Reply, Request, Status};
use crate::model::view::Presence;

impl EurekaServer {
    /// Answers a call. Calls come only while [`EurekaServer::is_serving`].
    pub fn on_request(&mut self, request: &Request, step: &mut ServerStep<'_>) -> Reply {
        debug_assert!(self.is_serving(), "nobody listens before the server is open");
        match *request {
            Request::Renew { instance, last_dirty } => {
                Reply::bare(self.renew(instance, last_dirty, Origin::Client, step))
            }
            Request::Register(ref record) => {
                let given = record.duration_s > 0;
                let duration_s = if given { record.duration_s } else { DEFAULT_DURATION_S };
                self.register(record, duration_s, Origin::Client, step);
                self.note_served(step);
                Reply::bare(204)
            }
            Request::Cancel { instance } => {
                let found = self.cancel(instance, step);
                self.note_served(step);
                Reply::bare(if found { 200 } else { 404 })
            }
            Request::FetchFull => self.fetch(Key::AllApps, step),
            Request::FetchDelta if self.config.disable_delta => Reply::bare(403),
            Request::FetchDelta => self.fetch(Key::AllAppsDelta, step),
            Request::UpdateStatus { instance, status, last_dirty } => {
                let found = self.update_status(instance, status, last_dirty, step);
                Reply::bare(if found { 200 } else { 404 })
            }
            Request::DeleteStatusOverride { instance, status, last_dirty } => {
                let found = self.delete_status_override(instance, status, last_dirty, step);
                Reply::bare(if found { 200 } else { 404 })
            }
        }
    }

    /// A registration that a server passed on: [`EurekaServer::on_request`] with the replication flag.
    pub fn on_replicated_register(&mut self, record: &Record, step: &mut ServerStep<'_>) -> Reply {
        let duration_s = if record.duration_s > 0 { record.duration_s } else { DEFAULT_DURATION_S };
        self.register(record, duration_s, Origin::Replica, step);
        self.note_served(step);
        Reply::bare(204)
    }

    /// A heartbeat that a server passed on; 409 tells it that its record is older than the one here.
    pub fn on_replicated_renew(
        &mut self,
        instance: InstanceId,
        last_dirty: WallMs,
        step: &mut ServerStep<'_>,
    ) -> Reply {
        Reply::bare(self.renew(instance, last_dirty, Origin::Replica, step))
    }

    /// `GET /apps/{app}`: 404 if nobody of that application is registered, as far as the cache knows.
    pub fn on_fetch_app(&mut self, app: AppId, step: &mut ServerStep<'_>) -> Reply {
        self.fetch(Key::App(app), step)
    }

    /// `AbstractInstanceRegistry.register`. The incoming record wins unless the one that is there is dirtier;
    /// either way the lease starts anew and the registration is published.
    pub(super) fn register(
        &mut self,
        incoming: &Record,
        duration_s: i32,
        origin: Origin,
        step: &mut ServerStep<'_>,
    ) {
        let instance = incoming.instance;
        let existing = self.leases.lease(instance).map(|lease| lease.record);
        let mut registrant = match existing {
            Some(existing) if existing.last_dirty > incoming.last_dirty => existing,
            _ => *incoming,
        };
        if existing.is_none() && self.threshold.client_added(&self.config) {
            self.tell_threshold(step);
        }
        let mono = step.now.mono;
        if registrant.overridden != Status::Unknown && !self.overrides.contains(instance, mono) {
            self.overrides.put(instance, registrant.overridden, mono);
        }
        let override_status = self.overrides.read(instance, mono);
        registrant.overridden = override_status.unwrap_or(registrant.overridden);
        let existing_status = existing.map(|existing| existing.status);
        registrant.status = status::decide(registrant.status, override_status, existing_status, origin);
        self.leases.put(Lease::new(registrant, duration_s, step.now.wall));
        let (status, new) = (registrant.status, existing.is_none());
        tell(step, Fact::LeaseRegistered { instance, status, new });
        self.publish(&registrant, Presence::Present(status), step);
    }

    /// `AbstractInstanceRegistry.renew` and what `InstanceResource.renewLease` makes of it. An answer of 404
    /// because of the dirty timestamp *has* renewed; one for want of a lease has not.
    fn renew(
        &mut self,
        instance: InstanceId,
        last_dirty: WallMs,
        origin: Origin,
        step: &mut ServerStep<'_>,
    ) -> u16 {
        let Some(lease) = self.leases.lease_mut(instance) else { return 404 };
        // A lease agrees with itself, so of all rules only an override can change the status here.
        let status = match lease.record.status {
            held @ (Status::Up | Status::OutOfService) => {
                self.overrides.read(instance, step.now.mono).unwrap_or(held)
            }
            held => held,
        };
        if status == Status::Unknown {
            return 404;
        }
        self.renewals.increment();
        lease.renew(step.now.wall);
        let registered = lease.record.last_dirty;
        if lease.record.status != status {
            lease.record.status = status;
            let app = lease.record.app;
            self.note_unannounced(app, instance, status, step);
        }
        if self.config.sync_when_timestamp_differs {
            status::heartbeat_status(last_dirty, registered, origin)
        } else {
            200
        }
    }

    /// A status that a heartbeat changed: full answers will show it, no delta will.
    fn note_unannounced(
        &mut self,
        app: AppId,
        instance: InstanceId,
        status: Status,
        step: &mut ServerStep<'_>,
    ) {
        let log = step.views.log_mut(self.life);
        log.put(app, instance, Presence::Present(status));
        log.leave_unannounced();
        tell(step, Fact::StatusChanged { instance, status });
        self.note_served(step);
    }

    fn cancel(&mut self, instance: InstanceId, step: &mut ServerStep<'_>) -> bool {
        let found = self.remove(instance, Fact::LeaseCancelled { instance }, step);
        if found && self.threshold.client_removed(&self.config) {
            self.tell_threshold(step);
        }
        found
    }

    pub(super) fn evict(&mut self, instance: InstanceId, step: &mut ServerStep<'_>) -> bool {
        let found = self.remove(instance, Fact::LeaseEvicted { instance }, step);
        let counts = self.config.rules.decrement_expected_on_eviction;
        if found && counts && self.threshold.client_removed(&self.config) {
            self.tell_threshold(step);
        }
        found
    }

    /// `internalCancel` without its book-keeping: the override goes even if there is no lease.
    fn remove(&mut self, instance: InstanceId, fact: Fact, step: &mut ServerStep<'_>) -> bool {
        self.overrides.remove(instance, step.now.mono);
        let Some(lease) = self.leases.remove(instance) else { return false };
        if !self.startup.is_open() {
            self.departed.push(lease.record);
        }
        tell(step, fact);
        self.publish(&lease.record, Presence::Absent, step);
        true
    }

    fn update_status(
        &mut self,
        instance: InstanceId,
        status: Status,
        last_dirty: Option<WallMs>,
        step: &mut ServerStep<'_>,
    ) -> bool {
        let Some(lease) = self.visible_lease(instance, step.now.wall) else { return false };
        lease.renew(step.now.wall);
        if lease.record.status != status {
            lease.record.overridden = status;
            self.overrides.put(instance, status, step.now.mono);
            self.set_status(instance, status, last_dirty, step);
        }
        true
    }

    fn delete_status_override(
        &mut self,
        instance: InstanceId,
        status: Status,
        last_dirty: Option<WallMs>,
        step: &mut ServerStep<'_>,
    ) -> bool {
        let ended = self.overrides.contains(instance, step.now.mono);
        let Some(lease) = self.visible_lease(instance, step.now.wall) else { return false };
        lease.renew(step.now.wall);
        if ended {
            lease.record.overridden = Status::Unknown;
            self.overrides.remove(instance, step.now.mono);
            self.set_status(instance, status, last_dirty, step);
        }
        true
    }

    /// The common end of both: the status, the dirty timestamp if the request's is newer, and MODIFIED for
    /// everybody.
    fn set_status(
        &mut self,
        instance: InstanceId,
        status: Status,
        last_dirty: Option<WallMs>,
        step: &mut ServerStep<'_>,
    ) {
        let lease = self.leases.lease_mut(instance).expect("its caller has seen the lease");
        if lease.record.status != status {
            tell(step, Fact::StatusChanged { instance, status });
        }
        lease.record.status = status;
        lease.record.last_dirty = lease.record.last_dirty.max(last_dirty.unwrap_or(WallMs(0)));
        let record = lease.record;
        self.publish(&record, Presence::Present(status), step);
        self.note_served(step);
    }

    /// Whether an override of this instance would find its lease at `now`, a reading of the server's wall clock
    /// (`AbstractInstanceRegistry.getInstanceByAppAndId`): an expired lease counts as none while leases may expire.
    pub fn finds(&self, instance: InstanceId, now: WallMs) -> bool {
        let is_hidden = |lease: &Lease| self.permits_expiration() && lease.is_expired(now, 0);
        self.lease(instance).is_some_and(|lease| !is_hidden(lease))
    }

    fn visible_lease(&mut self, instance: InstanceId, now: WallMs) -> Option<&mut Lease> {
        if self.finds(instance, now) { self.leases.lease_mut(instance) } else { None }
    }

    /// Logs a change, queues it for deltas and empties the caches behind it.
    fn publish(&mut self, record: &Record, presence: Presence, step: &mut ServerStep<'_>) {
        let log = step.views.log_mut(self.life);
        log.put(record.app, record.instance, presence);
        log.announce(record.instance);
        self.changed.push(step.now.wall);
        self.cache.invalidate(record.app);
    }

    fn fetch(&mut self, key: Key, step: &mut ServerStep<'_>) -> Reply {
        if !self.startup.allows_access(step.now.wall, &self.config) {
            return Reply::bare(403);
        }
        let payload = self.payload(step.views);
        let leases = &self.leases;
        let loaded = self.cache.answer(key, step.now.mono, |key| load(key, payload, leases));
        if key == Key::AllApps && loaded.payload.full_view() != self.served_view() {
            // An answer that had aged was loaded anew.
            self.note_served(step);
        }
        if loaded.found { Reply::served(loaded.payload) } else { Reply::bare(404) }
    }
}
