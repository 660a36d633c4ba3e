//! What clients and servers say to each other: requests are imperatives, replies carry an HTTP status.
//! Source: `eureka-server.md` section 7, `eureka-client.md` section 6.4.

use super::clock::WallMs;
use super::id::{AppId, ClientId, InstanceId};
use super::view::Payload;

/// `InstanceStatus`, in the ascending string order in which the reconcile hash writes them
/// (`eureka-server.md` 5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Status {
    /// Registered, not healthy.
    Down = 0,
    /// Registered, taken out of traffic.
    OutOfService = 1,
    /// Registered, not ready yet.
    Starting = 2,
    /// Nobody knows.
    Unknown = 3,
    /// Ready for traffic.
    Up = 4,
}

impl Status {
    /// All statuses, in hash order.
    pub const ALL: [Self; 5] = [Self::Down, Self::OutOfService, Self::Starting, Self::Unknown, Self::Up];

    /// Eureka's own spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "DOWN",
            Self::OutOfService => "OUT_OF_SERVICE",
            Self::Starting => "STARTING",
            Self::Unknown => "UNKNOWN",
            Self::Up => "UP",
        }
    }
}

/// The part of an `InstanceInfo` that decides anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The application.
    pub app: AppId,
    /// The registered identity.
    pub instance: InstanceId,
    /// The status the record carries.
    pub status: Status,
    /// `overriddenStatus`; [`Status::Unknown`] means none.
    pub overridden: Status,
    /// `lastDirtyTimestamp`, by the client's wall clock.
    pub last_dirty: WallMs,
    /// `leaseInfo.durationInSecs`, seconds. Zero or less means the server's default of 90.
    pub duration_s: i32,
    /// `leaseInfo.renewalIntervalInSecs`, seconds.
    pub renewal_s: i32,
}

/// A call to a registry server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// `POST /apps/{app}`.
    Register(Record),
    /// `PUT /apps/{app}/{id}?lastDirtyTimestamp`. The status parameter is ignored by the server.
    Renew {
        /// Who renews.
        instance: InstanceId,
        /// The client's `lastDirtyTimestamp`.
        last_dirty: WallMs,
    },
    /// `DELETE /apps/{app}/{id}`.
    Cancel {
        /// Who leaves.
        instance: InstanceId,
    },
    /// `GET /apps`.
    FetchFull,
    /// `GET /apps/delta`.
    FetchDelta,
    /// `PUT /apps/{app}/{id}/status?value`: an operator's override.
    UpdateStatus {
        /// Whose status.
        instance: InstanceId,
        /// The override.
        status: Status,
        /// `lastDirtyTimestamp`, if the request gave one.
        last_dirty: Option<WallMs>,
    },
    /// `DELETE /apps/{app}/{id}/status[?value]`: the override ends.
    DeleteStatusOverride {
        /// Whose override.
        instance: InstanceId,
        /// The status to go on with; [`Status::Unknown`] when the request gives none.
        status: Status,
        /// `lastDirtyTimestamp`, if the request gave one.
        last_dirty: Option<WallMs>,
    },
    /// The list of one service (`two-stage.md` 4.2).
    FetchService {
        /// Which service.
        app: AppId,
        /// Who asks, if it wants to be told of changes from now on.
        subscriber: Option<ClientId>,
    },
    /// The list of one service once that is another than the caller knows, or its time is up (`two-stage.md` 2.7).
    Watch {
        /// Which service.
        app: AppId,
        /// What the caller knows.
        known: Revision,
        /// How long it waits for another, ms.
        timeout_ms: u32,
    },
}

/// Which list of a service it was: compared for equality only (`two-stage.md` 1.4, 1.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision {
    /// Which life of the registry, if that tells; otherwise 0.
    pub epoch: u32,
    /// How often the service has changed in that life.
    pub number: u32,
}

impl Revision {
    /// That of a service of which nobody has heard.
    pub const NONE: Self = Self { epoch: 0, number: 0 };
}

/// The kinds of request, as `load.csv` counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum RequestKind {
    /// Registration.
    Register = 0,
    /// Heartbeat.
    Renew = 1,
    /// De-registration.
    Cancel = 2,
    /// Full registry fetch.
    FetchFull = 3,
    /// Delta fetch.
    FetchDelta = 4,
    /// Status override set or deleted.
    Status = 5,
    /// A batch from a peer.
    Replicate = 6,
    /// Fetch of one service.
    FetchService = 7,
    /// Long poll for one service.
    Watch = 8,
}

impl RequestKind {
    /// How many kinds there are.
    pub const COUNT: usize = 9;
    /// All kinds, in order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Register,
        Self::Renew,
        Self::Cancel,
        Self::FetchFull,
        Self::FetchDelta,
        Self::Status,
        Self::Replicate,
        Self::FetchService,
        Self::Watch,
    ];

    /// The name in `load.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Renew => "renew",
            Self::Cancel => "cancel",
            Self::FetchFull => "fetch-full",
            Self::FetchDelta => "fetch-delta",
            Self::Status => "status",
            Self::Replicate => "replicate",
            Self::FetchService => "fetch-service",
            Self::Watch => "watch",
        }
    }
}

impl Request {
    /// The kind of this request.
    pub const fn kind(&self) -> RequestKind {
        match self {
            Self::Register(_) => RequestKind::Register,
            Self::Renew { .. } => RequestKind::Renew,
            Self::Cancel { .. } => RequestKind::Cancel,
            Self::FetchFull => RequestKind::FetchFull,
            Self::FetchDelta => RequestKind::FetchDelta,
            Self::UpdateStatus { .. } | Self::DeleteStatusOverride { .. } => RequestKind::Status,
            Self::FetchService { .. } => RequestKind::FetchService,
            Self::Watch { .. } => RequestKind::Watch,
        }
    }
}

/// An answer: an HTTP status and, for a fetch that succeeded, what was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status code.
    pub status: u16,
    /// The body of a 200 to a fetch. A [`Request::Watch`] whose time is up has none: an empty list.
    pub payload: Option<Payload>,
    /// The revision that the body is of: of a [`Request::Watch`] only.
    pub revision: Revision,
}

impl Reply {
    /// An answer without a body that matters.
    pub const fn bare(status: u16) -> Self {
        Self { status, payload: None, revision: Revision::NONE }
    }

    /// 200 with a registry payload.
    pub const fn served(payload: Payload) -> Self {
        Self { status: 200, payload: Some(payload), revision: Revision::NONE }
    }
}

/// What one server tells another about one instance (`eureka-peers.md` section 3): an item of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replicated {
    /// It registered.
    Register(Record),
    /// It renewed; the record as the sender has it when the batch is made.
    Heartbeat(Record),
    /// It left.
    Cancel {
        /// Who.
        instance: InstanceId,
    },
    /// An operator overrode its status.
    StatusUpdate {
        /// Whose status.
        instance: InstanceId,
        /// The status of the sender's record when the batch is made.
        status: Status,
        /// The sender's `lastDirtyTimestamp` of it.
        last_dirty: WallMs,
    },
    /// An operator's override ended.
    DeleteStatusOverride {
        /// Whose override.
        instance: InstanceId,
        /// The status of the sender's record when the batch is made.
        status: Status,
        /// The sender's `lastDirtyTimestamp` of it.
        last_dirty: WallMs,
    },
}

impl Replicated {
    /// The kind of the request that it repeats.
    pub const fn kind(&self) -> RequestKind {
        match self {
            Self::Register(_) => RequestKind::Register,
            Self::Heartbeat(_) => RequestKind::Renew,
            Self::Cancel { .. } => RequestKind::Cancel,
            Self::StatusUpdate { .. } | Self::DeleteStatusOverride { .. } => RequestKind::Status,
        }
    }
}

/// The answer to one item of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemReply {
    /// HTTP status code of the item.
    pub status: u16,
    /// The receiver's own record, with a 409: it is newer than the sender's.
    pub record: Option<Record>,
}

/// How a call ended without an answer, as its caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nobody listens: the connection was refused or reset.
    Refused,
    /// The connection was not established within the connect limit.
    ConnectTimeout,
    /// No answer within the read limit.
    ReadTimeout,
}
