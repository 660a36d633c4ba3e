//! From the constructor to `openForTraffic`, and who may fetch meanwhile.
//!
//! A starting server first copies the registry that its own client sees (`syncUp`), in several tries with
//! waits between them, then opens. Plain Netflix serves nothing before that; Spring serves while it copies,
//! which makes registrations count that opening then forgets. After an *empty* copy plain Netflix refuses
//! fetches for five minutes. Spring puts 1 in place of an empty count, so it never refuses by default.
//!
//! Source: `eureka-server.md` 4.6, 7.3, section 8; `PeerAwareInstanceRegistryImpl.syncUp`,
//! `.openForTraffic`, `.shouldAllowAccess`; Spring's `InstanceRegistry.openForTraffic`.

use std::collections::BTreeMap;

use super::config::{Flavour, ServerConfig};
use super::effect::{OwnRegistry, ServerStep};
use super::server::{EurekaServer, tell};
use super::status::Origin;
use super::timers::ServerTimer;
use crate::engine::SimDuration;
use crate::model::clock::Due;
use crate::model::clock::WallMs;
use crate::model::fact::Fact;
use crate::model::message::{Record, Status};
use crate::model::view::View;

/// How far the start has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Startup {
    /// Copying; so many tries are done.
    Syncing {
        /// Tries done.
        tries: u32,
    },
    /// Open for traffic.
    Open {
        /// `startupTime`.
        since: WallMs,
        /// Whether the copy counted as empty (`peerInstancesTransferEmptyOnStartup`).
        sync_empty: bool,
    },
}

impl Startup {
    /// Whether `openForTraffic` was called.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// Whether requests reach the registry at all.
    pub(super) fn is_serving(&self, flavour: Flavour) -> bool {
        flavour == Flavour::Spring || self.is_open()
    }

    /// `shouldAllowAccess`: whether fetches are answered. Before opening they are.
    pub(super) fn allows_access(&self, now: WallMs, config: &ServerConfig) -> bool {
        match *self {
            Self::Open { since, sync_empty: true } => now > access_refused_until(since, config),
            Self::Syncing { .. } | Self::Open { .. } => true,
        }
    }
}

impl EurekaServer {
    /// One try of `syncUp`, and `openForTraffic` after the last.
    pub(super) fn sync_up(&mut self, own: OwnRegistry<'_>, step: &mut ServerStep<'_>) {
        let Startup::Syncing { tries } = self.startup else { return };
        if tries >= self.config.registry_sync_retries {
            self.open_for_traffic(0, step);
            return;
        }
        let copied = own.view.map_or(0, |view| self.copy(view, own.records, step));
        let tries = tries + 1;
        self.startup = Startup::Syncing { tries };
        if copied > 0 || tries == self.config.registry_sync_retries {
            self.open_for_traffic(copied, step);
        } else {
            let wait = u64::from(self.config.registry_sync_retry_wait_ms);
            let due = step.now.mono + SimDuration::from_millis(wait);
            self.set(ServerTimer::SyncRetry, Due::Mono(due), step);
        }
    }

    /// Registers what the server's own client sees, as replication. Leases start anew, and this server's too if the
    /// client fetched from itself. Returns how many.
    fn copy(&mut self, view: View, records: &[Record], step: &mut ServerStep<'_>) -> u32 {
        let mut copied = 0;
        for (instance, status) in step.views.instances(view) {
            let given =
                records.binary_search_by_key(&instance, |record| record.instance).ok().map(|at| records[at]);
            let known = || self.record_shown_as(instance, status);
            let shown = status == Status::Up || !self.config.filter_only_up_instances;
            let Some(record) = given.or_else(known).filter(|_| shown) else { continue };
            let record = Record { status, ..record };
            self.register(&record, record.duration_s, Origin::Replica, step);
            copied += 1;
        }
        copied
    }

    fn open_for_traffic(&mut self, copied: u32, step: &mut ServerStep<'_>) {
        let count = open_count(copied, &self.config);
        self.threshold.open(count, &self.config);
        tell(step, Fact::OpenedForTraffic { expected: count });
        self.tell_threshold(step);
        if !self.config.fetch_registry {
            self.departed = BTreeMap::new();
        }
        let since = step.now.wall;
        let sync_empty = count == 0;
        self.startup = Startup::Open { since, sync_empty };
        if sync_empty {
            let due = access_refused_until(since, &self.config).plus(1);
            self.set(ServerTimer::WarmUpEnd, Due::Wall(due), step);
        }
        if self.config.eviction_before_bucket {
            self.arm(ServerTimer::Eviction, step);
            self.arm(ServerTimer::RenewalBucket, step);
        } else {
            self.arm(ServerTimer::RenewalBucket, step);
            self.arm(ServerTimer::Eviction, step);
        }
    }
}

/// The last millisecond at which an empty server refuses fetches.
fn access_refused_until(since: WallMs, config: &ServerConfig) -> WallMs {
    since.plus(i64::from(config.wait_time_in_ms_when_sync_empty))
}

/// The count that a server opens with: Spring's stand-in for an empty copy included.
fn open_count(copied: u32, config: &ServerConfig) -> u32 {
    if copied == 0 { config.default_open_for_traffic_count } else { copied }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v27_an_empty_server_refuses_for_exactly_the_wait() {
        let config = ServerConfig::defaults(Flavour::Netflix);
        let open = Startup::Open { since: WallMs(1_000), sync_empty: true };
        assert!(!open.allows_access(WallMs(301_000), &config)); // S + 300,000
        assert!(open.allows_access(WallMs(301_001), &config));
        assert!(Startup::Syncing { tries: 1 }.allows_access(WallMs(301_000), &config));
    }

    #[test]
    fn spring_opens_an_empty_server_with_one() {
        assert_eq!(open_count(0, &ServerConfig::defaults(Flavour::Spring)), 1);
        assert_eq!(open_count(0, &ServerConfig::defaults(Flavour::Netflix)), 0);
        assert_eq!(open_count(7, &ServerConfig::defaults(Flavour::Spring)), 7);
    }

    #[test]
    fn only_netflix_is_silent_until_it_opens() {
        let syncing = Startup::Syncing { tries: 0 };
        assert!(syncing.is_serving(Flavour::Spring));
        assert!(!syncing.is_serving(Flavour::Netflix));
    }
}
