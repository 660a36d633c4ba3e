//! The registry's operations, in the order in which the original does things, since that order shows.
//!
//! A heartbeat is the hot path: one indexed access, no allocation, no entry in the delta queue, no cache
//! touched. Everything else that changes the registry is *published*: logged, queued for deltas, and the
//! caches behind it emptied.
//!
//! Source: `eureka-server.md` 2.1 to 2.5, 7.1, 7.2; `AbstractInstanceRegistry`, `InstanceResource`,
//! `ApplicationsResource`.

use super::cache::Key;
use super::effect::ServerStep;
use super::lease::{DEFAULT_DURATION_S, Lease};
use super::replication::Operation;
use super::server::{EurekaServer, load, tell};
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
            Request::Renew { instance, last_dirty } => Reply::bare(self.renew(instance, last_dirty, step)),
            Request::Register(ref record) => {
                self.register(record, default_duration_s(record), Origin::Client, step);
                self.replicate_register(record, step);
                self.note_served(step);
                Reply::bare(204)
            }
            Request::Cancel { instance } => {
                let found = self.cancel(instance, step);
                if let Some(record) = found {
                    self.replicate_cancel(&record, step);
                }
                self.note_served(step);
                Reply::bare(if found.is_some() { 200 } else { 404 })
            }
            Request::FetchFull => self.fetch(Key::AllApps, step),
            Request::FetchDelta if self.config.disable_delta => Reply::bare(403),
            Request::FetchDelta => self.fetch(Key::AllAppsDelta, step),
            Request::UpdateStatus { instance, status, last_dirty } => {
                let found = self.update_status(instance, status, last_dirty, step);
                if found {
                    self.replicate(Operation::StatusUpdate, instance, step);
                }
                Reply::bare(if found { 200 } else { 404 })
            }
            Request::DeleteStatusOverride { instance, status, last_dirty } => {
                let found = self.delete_status_override(instance, status, last_dirty, step);
                if found {
                    self.replicate(Operation::DeleteStatusOverride, instance, step);
                }
                Reply::bare(if found { 200 } else { 404 })
            }
            Request::FetchService { .. } | Request::Watch { .. } => {
                unreachable!("no client of Eureka asks so")
            }
        }
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
        let lease = self.leases.lease(instance);
        let existing = lease.map(|lease| lease.record);
        let (mut registrant, registration) = match lease {
            Some(lease) if lease.record.last_dirty > incoming.last_dirty => {
                (lease.record, lease.registration())
            }
            _ => {
                self.registrations = self.registrations.wrapping_add(1);
                (*incoming, self.registrations)
            }
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
        self.leases.put(Lease::new(registrant, duration_s, step.now.wall).numbered(registration));
        let (status, new) = (registrant.status, existing.is_none());
        if let Some(replaced) = existing.filter(|existing| existing.status != status) {
            self.keep_departed(replaced);
        }
        tell(step, Fact::LeaseRegistered { instance, status, new });
        self.publish(&registrant, Presence::Present(status), step);
    }

    /// `InstanceResource.renewLease` for a client. An answer of 404 because of the dirty timestamp *has* renewed; one
    /// for want of a lease has not.
    fn renew(&mut self, instance: InstanceId, last_dirty: WallMs, step: &mut ServerStep<'_>) -> u16 {
        let Some(registered) = self.renew_lease(instance, step) else { return 404 };
        if !self.peers.is_empty() {
            self.replicate(Operation::Heartbeat, instance, step);
        }
        self.heartbeat_status(last_dirty, registered, Origin::Client)
    }

    /// `AbstractInstanceRegistry.renew`: the dirty timestamp of the instance that was renewed, if one was.
    #[inline]
    pub(super) fn renew_lease(&mut self, instance: InstanceId, step: &mut ServerStep<'_>) -> Option<WallMs> {
        let lease = self.leases.lease_mut(instance)?;
        // A lease agrees with itself, so of all rules only an override can change the status here.
        let status = match lease.record.status {
            held @ (Status::Up | Status::OutOfService) => {
                self.overrides.read(instance, step.now.mono).unwrap_or(held)
            }
            held => held,
        };
        if status == Status::Unknown {
            return None;
        }
        self.renewals.increment();
        lease.renew(step.now.wall);
        let registered = lease.record.last_dirty;
        if lease.record.status != status {
            lease.record.status = status;
            let app = lease.record.app;
            self.note_unannounced(app, instance, status, step);
        }
        Some(registered)
    }

    /// The HTTP status of a heartbeat that renewed (`InstanceResource.validateDirtyTimestamp`).
    pub(super) fn heartbeat_status(&self, incoming: WallMs, registered: WallMs, origin: Origin) -> u16 {
        if !self.config.sync_when_timestamp_differs {
            return 200;
        }
        status::heartbeat_status(incoming, registered, origin)
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

    /// `PeerAwareInstanceRegistryImpl.cancel`, before it tells peers: the record that left, if there was one.
    pub(super) fn cancel(&mut self, instance: InstanceId, step: &mut ServerStep<'_>) -> Option<Record> {
        let found = self.remove(instance, Fact::LeaseCancelled { instance }, step);
        if found.is_some() && self.threshold.client_removed(&self.config) {
            self.tell_threshold(step);
        }
        found
    }

    pub(super) fn evict(&mut self, instance: InstanceId, step: &mut ServerStep<'_>) -> bool {
        let found = self.remove(instance, Fact::LeaseEvicted { instance }, step).is_some();
        let counts = self.config.rules.decrement_expected_on_eviction;
        if found && counts && self.threshold.client_removed(&self.config) {
            self.tell_threshold(step);
        }
        found
    }

    /// `internalCancel` without its book-keeping: the override goes even if there is no lease.
    fn remove(&mut self, instance: InstanceId, fact: Fact, step: &mut ServerStep<'_>) -> Option<Record> {
        self.overrides.remove(instance, step.now.mono);
        let lease = self.leases.remove(instance)?;
        self.keep_departed(lease.record);
        tell(step, fact);
        self.publish(&lease.record, Presence::Absent, step);
        Some(lease.record)
    }

    /// Keeps a record that answers show which were made before. The stop of a client in order replaces its record by one
    /// that is DOWN before it cancels: the one before matters, unless there was none.
    fn keep_departed(&mut self, record: Record) {
        let is_needed = !self.startup.is_open() || self.config.fetch_registry;
        if is_needed && (record.status == Status::Up || !self.departed.contains_key(&record.instance)) {
            self.departed.insert(record.instance, record);
        }
    }

    pub(super) fn update_status(
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

    pub(super) fn delete_status_override(
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

    pub(super) fn visible_lease(&mut self, instance: InstanceId, now: WallMs) -> Option<&mut Lease> {
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

/// The duration that a registration brings, seconds, or the default if it brings none.
pub(super) fn default_duration_s(record: &Record) -> i32 {
    if record.duration_s > 0 { record.duration_s } else { DEFAULT_DURATION_S }
}
