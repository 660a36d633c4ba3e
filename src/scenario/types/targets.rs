//! Whom a fault hits, and the smaller words of the verbs.

use crate::model::id::{AppId, ServerId};
use crate::scenario::types::ZoneId;

/// Whom a fault hits.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// Registry servers.
    Servers(ServerChoice),
    /// Instances.
    Instances(Selection),
}

/// Which servers, whether they run or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerChoice {
    /// Every one.
    All,
    /// These, in this order. Not empty, none twice.
    Named(Vec<ServerId>),
    /// So many, at random. At least 1.
    Count(u32),
}

impl Targets {
    /// Whether servers are hit.
    pub const fn is_server(&self) -> bool {
        matches!(self, Self::Servers(_))
    }

    /// The instances, if instances are hit.
    pub const fn selection(&self) -> Option<&Selection> {
        match self {
            Self::Servers(_) => None,
            Self::Instances(selection) => Some(selection),
        }
    }
}

/// Instances that are up when the fault comes, out of one application or all.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// `None`: of all applications.
    pub application: Option<AppId>,
    /// `None`: of all zones.
    pub zone: Option<ZoneId>,
    /// Which of them.
    pub which: TargetChoice,
}

/// Which of the candidates.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetChoice {
    /// Every one.
    All,
    /// These: (application, ordinal from 1).
    Named(Vec<(AppId, u32)>),
    /// So many, at random.
    Count(u32),
    /// This share of them, 0 to 1, at random, rounded to the nearest whole number.
    Share(f64),
}

/// Which way messages are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Both ways.
    Both,
    /// From the targets to their peer.
    ToServer,
    /// From the peer to the targets.
    FromServer,
}

/// The other end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// All registry servers; of targets that are servers, all that are not among them.
    Servers,
    /// These servers, as far as they are not among the targets. Not empty.
    Named(Vec<ServerId>),
    /// Everyone that is not among the targets: servers and instances.
    All,
    /// Instances, by application, by zone, or both. Of targets that are instances: calls fail, heartbeats do not. Of
    /// targets that are servers: what these instances say to them and are answered.
    Instances {
        /// `None`: of all applications.
        application: Option<AppId>,
        /// `None`: of all zones.
        zone: Option<ZoneId>,
    },
}

/// How a client learns that its instance's health has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthVia {
    /// By its health-check handler, if `healthcheck.enabled`; else it never does.
    HealthCheck,
    /// The application sets the status itself (`ApplicationInfoManager.setInstanceStatus`).
    StatusChange,
}

/// How many of a roll-out at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Batch {
    /// So many. At least 1.
    Count(u32),
    /// This share of those that run at its beginning, above 0 to 1; at least one.
    Share(f64),
}

/// What a roll-out does first with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The old ones stop, then the new ones start.
    StopFirst,
    /// The new ones start, then the old ones stop.
    StartFirst,
}

/// A new value of a setting that the server reads anew each time it needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// `eureka.server.enable-self-preservation`.
    EnableSelfPreservation(bool),
    /// `eureka.server.renewal-percent-threshold`.
    RenewalPercentThreshold(f64),
    /// `eureka.server.expected-client-renewal-interval-seconds`.
    ExpectedClientRenewalIntervalSeconds(u32),
    /// `eureka.server.disable-delta`.
    DisableDelta(bool),
    /// `eureka.server.sync-when-timestamp-differs`.
    SyncWhenTimestampDiffers(bool),
}

impl From<Selection> for Targets {
    fn from(selection: Selection) -> Self {
        Self::Instances(selection)
    }
}
