//! The other end: a peer's batch is processed item by item, as if each were a request with the replication flag.
//!
//! The flag stops the passing on, so what a server hears from a peer goes no further: a ring of three is none. It also
//! lets a status be taken as it is sent. Everything else is as for a client, and so a replicated heartbeat counts in
//! the minute's renewals, even one that is answered with 404 or 409 because the two records differ.
//!
//! Source: `eureka-peers.md` section 6, 7.1; `PeerReplicationResource`, `InstanceResource`.

use crate::model::clock::WallMs;
use crate::model::eureka::effect::ServerStep;
use crate::model::eureka::requests::default_duration_s;
use crate::model::eureka::server::EurekaServer;
use crate::model::eureka::status::Origin;
use crate::model::id::InstanceId;
use crate::model::message::{ItemReply, Record, Replicated, Reply, Status};

impl EurekaServer {
    /// A peer's batch arrives: its items are processed one after another, as replication, and each has its answer
    /// (`PeerReplicationResource.batchReplication`). Batches come only while [`EurekaServer::is_serving`].
    pub fn on_batch(&mut self, items: &[Replicated], step: &mut ServerStep<'_>) -> Vec<ItemReply> {
        debug_assert!(self.is_serving(), "nobody listens before the server is open");
        items.iter().map(|item| self.receive(item, step)).collect()
    }

    /// A registration that a server passed on: [`EurekaServer::on_request`] with the replication flag.
    pub fn on_replicated_register(&mut self, record: &Record, step: &mut ServerStep<'_>) -> Reply {
        self.register(record, default_duration_s(record), Origin::Replica, step);
        self.note_served(step);
        Reply::bare(204)
    }

    /// A heartbeat that a server passed on, without an override; 409 tells it that its record is older than the one
    /// here.
    pub fn on_replicated_renew(
        &mut self,
        instance: InstanceId,
        last_dirty: WallMs,
        step: &mut ServerStep<'_>,
    ) -> Reply {
        Reply::bare(self.replicated_heartbeat(instance, last_dirty, Status::Unknown, step).status)
    }

    /// Stores an override that a peer told of, unless it is known (`storeOverriddenStatusIfRequired`). The status
    /// follows with the next heartbeat. Says whether the record to note it in was there, if one was needed.
    pub(super) fn store_override(
        &mut self,
        instance: InstanceId,
        status: Status,
        step: &mut ServerStep<'_>,
    ) -> bool {
        if self.overrides.read(instance, step.now.mono) == Some(status) {
            return true;
        }
        self.overrides.put(instance, status, step.now.mono);
        let Some(lease) = self.visible_lease(instance, step.now.wall) else { return false };
        lease.record.overridden = status;
        true
    }

    fn receive(&mut self, item: &Replicated, step: &mut ServerStep<'_>) -> ItemReply {
        let found = match *item {
            Replicated::Heartbeat(Record { instance, last_dirty, overridden, .. }) => {
                return self.replicated_heartbeat(instance, last_dirty, overridden, step);
            }
            Replicated::Register(ref record) => {
                self.on_replicated_register(record, step);
                true
            }
            Replicated::Cancel { instance } => {
                let found = self.cancel(instance, step).is_some();
                self.note_served(step);
                found
            }
            Replicated::StatusUpdate { instance, status, last_dirty } => {
                self.update_status(instance, status, Some(last_dirty), step)
            }
            Replicated::DeleteStatusOverride { instance, status, last_dirty } => {
                self.delete_status_override(instance, status, Some(last_dirty), step)
            }
        };
        bare(if found { 200 } else { 404 })
    }

    /// `InstanceResource.renewLease`: the answer says who has the newer record, after the renewal has counted.
    fn replicated_heartbeat(
        &mut self,
        instance: InstanceId,
        last_dirty: WallMs,
        overridden: Status,
        step: &mut ServerStep<'_>,
    ) -> ItemReply {
        let Some(registered) = self.renew_lease(instance, step) else { return bare(404) };
        let status = self.heartbeat_status(last_dirty, registered, Origin::Replica);
        match status {
            404 if overridden != Status::Unknown => {
                self.store_override(instance, overridden, step);
                bare(status)
            }
            409 => ItemReply { status, record: self.lease(instance).map(|lease| lease.record) },
            _ => bare(status),
        }
    }
}

fn bare(status: u16) -> ItemReply {
    ItemReply { status, record: None }
}
