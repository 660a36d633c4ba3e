//! A checked scenario: valid by construction. Past this door nothing is optional that should be there, every
//! name is resolved and every number in range.

use crate::engine::{Distribution, SimDuration};
use crate::model::client::ClientConfig;
use crate::model::eureka::ServerConfig;
use crate::model::id::AppId;
use crate::model::message::Status;

/// Everything that decides a run but the seed's draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// One line: what it shows.
    pub title: String,
    /// A paragraph: why, and what to expect. May be empty.
    pub about: String,
    /// The seed of all chance.
    pub seed: u64,
    /// How often the scenario is run, each time with other draws. At least 1.
    pub replicates: u32,
    /// The end of a replicate, from the start of its server.
    pub duration: SimDuration,
    /// Whether a replicate ends earlier, once nothing watched can change any more.
    pub stop_when_settled: bool,
    /// Instances start at a uniform moment in this window, which opens when the server accepts requests.
    pub start_window: SimDuration,
    /// From the end of the start window until faults are timed.
    pub warm_up: SimDuration,
    /// Events that one replicate may need at most.
    pub event_budget: u64,
    /// The release as it was named, for the report: `2025.0`, `2.2.10.RELEASE`, `1.9.13`.
    pub release: String,
    /// The server.
    pub server: ServerConfig,
    /// The moment within a wall-clock minute at which the server starts; `None`: drawn for each replicate.
    pub server_starts_at_second: Option<SimDuration>,
    /// The settings of the server's own client, used if it registers or fetches.
    pub server_client: ClientConfig,
    /// What the server's wall clock shows wrongly from the start.
    pub server_clock: Clock,
    /// The zones that applications name, in the order in which they first do.
    pub zones: Vec<String>,
    /// The fleet, in the order of the file. At least one application.
    pub applications: Vec<Application>,
    /// Between any two nodes, unless an application has links of its own.
    pub network: Network,
    /// What happens to the fleet, in the order of the file.
    pub faults: Vec<Fault>,
    /// What must come out.
    pub expectations: Vec<Expectation>,
}

/// A service: instances of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// Its name, unique. Instance `n` is called `name-n`, from 1.
    pub name: String,
    /// How many run from the start. At least 1, but for an application that only `start` faults fill.
    pub instances: u32,
    /// Whether its instances watch the registry and so are observers in the results. Implies fetching.
    pub observers: bool,
    /// The moment of an observer's first call through its balancer, from its start; `None`: uniform over one
    /// time to live or poll interval, from its start or, for those that start in the start window, from one
    /// fetch interval after the window's end.
    pub balancer_first_call: Option<SimDuration>,
    /// The settings of its clients.
    pub client: ClientConfig,
    /// Its zones: instance `n` is in the one at place `(n - 1) mod length`. Empty: in no zone.
    pub zones: Vec<ZoneId>,
    /// The links between its instances and the server; `None`: those of [`Scenario::network`].
    pub network: Option<Network>,
    /// The calls that its instances make through their balancers; `None`: none that are counted.
    pub traffic: Option<Traffic>,
    /// What its instances' wall clocks show wrongly from the start.
    pub clock: Clock,
}

/// A zone: its place in [`Scenario::zones`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneId(pub u16);

/// A delay, one way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Always the same.
    Constant(SimDuration),
    /// Uniform between the two, both included.
    Uniform(SimDuration, SimDuration),
    /// Any other distribution: it has no greatest value.
    Drawn(Distribution),
}

/// The links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// From sender to receiver.
    pub latency: Delay,
    /// The probability that a message is lost for good, 0 to 1. TCP's own retransmissions are in the latency.
    pub loss: f64,
}

/// How far a node's wall clock is off. The monotonic clock, which paces tasks, is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// How far it is ahead (behind if negative), ms.
    pub offset_ms: i64,
    /// How much faster it runs (slower if negative), parts per million.
    pub drift_ppm: i32,
}

/// The calls of an application's instances to others, made through their balancers. They are counted, and
/// change nothing but the moments at which a balancer's list is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Calls a second of one instance to each application of [`Self::to`], a Poisson stream. Above 0.
    pub calls_per_second: f64,
    /// Which applications are called. Not empty.
    pub to: Vec<AppId>,
    /// Further attempts at the same instance (`max-retries-on-same-service-instance`, Ribbon's
    /// `MaxAutoRetries`).
    pub retries_on_same_instance: u32,
    /// Further instances that are tried (`max-retries-on-next-service-instance`, Ribbon's
    /// `MaxAutoRetriesNextServer`).
    pub retries_on_next_instance: u32,
    /// How long an attempt waits for an instance that stands still or is cut off.
    pub read_timeout: SimDuration,
}

/// Something done to the fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// From the end of the warm-up.
    pub at: SimDuration,
    /// Plus a uniform draw from this.
    pub within: SimDuration,
    /// What is done.
    pub verb: Verb,
}

/// The faults, as verbs. What begins also ends: a pause is resumed, a partition healed, after `length`.
/// A length of `None` lasts until the end of the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// `kill -9`: nothing is sent.
    Crash(Targets),
    /// An orderly stop: de-registration.
    Stop {
        /// Who.
        targets: Selection,
        /// How long the process goes on to answer calls after it has de-registered.
        linger: SimDuration,
        /// Each target stops at a uniform moment within this.
        over: SimDuration,
    },
    /// Killed or stopped, then started again.
    Restart {
        /// Who.
        targets: Targets,
        /// How long it is away.
        down_for: SimDuration,
        /// Whether it comes back under a new instance id.
        new_id: bool,
        /// Whether it stops in order first.
        graceful: bool,
    },
    /// Killed and started again and again: up, down, up …, until `length` is over; it is up at the end.
    CrashLoop {
        /// Who.
        targets: Selection,
        /// How long each stays up, from its start; the first crash comes at once.
        up_for: Distribution,
        /// How long it is away each time.
        down_for: Distribution,
        /// Whether each start has a new instance id.
        new_id: bool,
        /// For how long.
        length: Option<SimDuration>,
    },
    /// The process stands still; its kernel does not.
    Pause {
        /// Who.
        targets: Targets,
        /// For how long: a draw for each.
        length: Distribution,
    },
    /// Pauses as a random process of each target: garbage collection.
    Pauses {
        /// Who.
        targets: Targets,
        /// From the end of one pause to the next.
        every: Distribution,
        /// How long each lasts.
        lasting: Distribution,
        /// For how long pauses begin.
        length: Option<SimDuration>,
    },
    /// Messages between the targets and their peer are lost.
    Partition {
        /// Who is cut off.
        targets: Selection,
        /// From whom.
        peer: Peer,
        /// For how long.
        length: Option<SimDuration>,
        /// Which way messages are lost.
        lost: Direction,
    },
    /// A link that goes down and comes up again and again: each target's link on its own.
    Flap {
        /// Who is cut off.
        targets: Selection,
        /// From whom.
        peer: Peer,
        /// How long the link is up; it goes down at once.
        up_for: Distribution,
        /// How long it is down.
        down_for: Distribution,
        /// For how long; it is up at the end.
        length: Option<SimDuration>,
        /// Which way messages are lost.
        lost: Direction,
    },
    /// A bad link: some messages are lost, or all take longer.
    Degrade {
        /// Whose link.
        targets: Selection,
        /// To whom.
        peer: Peer,
        /// The probability that a message is lost, 0 to 1, besides the network's own.
        loss: f64,
        /// What is added to the network's latency.
        latency: Option<Distribution>,
        /// For how long.
        length: Option<SimDuration>,
        /// Which way.
        direction: Direction,
    },
    /// Heartbeats take long: the request leaves so much later than its job began, as when a pool of threads or
    /// connections starves. Everything else goes on.
    SlowHeartbeats {
        /// Whose.
        targets: Selection,
        /// How much later.
        delay: Distribution,
        /// For how long.
        length: Option<SimDuration>,
    },
    /// A wall clock is wrong from now on.
    Clock {
        /// Whose.
        targets: Targets,
        /// Set forward by so much (back if negative), ms.
        step_ms: i64,
        /// Runs faster from now on (slower if negative), parts per million, besides what it did.
        drift_ppm: i32,
        /// After which step and drift are taken back.
        length: Option<SimDuration>,
    },
    /// The instance's health goes DOWN, and UP again at the end.
    Unhealthy {
        /// Whose.
        targets: Selection,
        /// How the client learns of it.
        via: HealthVia,
        /// For how long.
        length: Option<SimDuration>,
        /// The share of calls to it that fail meanwhile, 0 to 1.
        calls_fail: f64,
    },
    /// Grey failure: heartbeats go on, calls fail.
    Grey {
        /// Whose.
        targets: Selection,
        /// The share of calls to it that fail, above 0 to 1.
        calls_fail: f64,
        /// For how long.
        length: Option<SimDuration>,
    },
    /// A setting of the server is changed while it runs: one that the original reads anew each time.
    Change(Vec<Change>),
    /// An operator sets a status override (`PUT …/status`), and deletes it at the end.
    Override {
        /// Of whom.
        targets: Selection,
        /// Which.
        status: Status,
        /// After which it is deleted.
        length: Option<SimDuration>,
    },
    /// An operator deletes leases (`DELETE /apps/{app}/{id}`).
    Delete {
        /// Of whom.
        targets: Selection,
        /// Whether the targets are drawn among the dead that are still registered, and not among the living.
        dead: bool,
    },
    /// New instances of an application start.
    Start {
        /// Which.
        application: AppId,
        /// How many.
        count: u32,
        /// Each starts at a uniform moment within this.
        over: SimDuration,
    },
    /// A staged roll-out: all running instances of an application are replaced, batch by batch.
    RollOut {
        /// Which.
        application: AppId,
        /// How many at a time. At least 1.
        batch: Batch,
        /// From the start of a batch's replacements until what comes next: the next batch, or with
        /// [`Order::StartFirst`] the stop of those replaced.
        wait: SimDuration,
        /// From the stop of a batch to the start of its replacements; 0 with [`Order::StartFirst`].
        down_for: SimDuration,
        /// Whether the old ones stop in order, or are killed.
        graceful: bool,
        /// How long a stopping process goes on to answer calls after it has de-registered.
        linger: SimDuration,
        /// Whether replacements have new instance ids. Always with [`Order::StartFirst`].
        new_id: bool,
        /// What comes first.
        order: Order,
    },
    /// As many instances of one application start as run of another, which then stops.
    BlueGreen {
        /// Which stops.
        from: AppId,
        /// Which starts.
        to: AppId,
        /// From the start of the new to the stop of the old.
        wait: SimDuration,
        /// Whether the old ones stop in order, or are killed.
        graceful: bool,
        /// How long a stopping process goes on to answer calls after it has de-registered.
        linger: SimDuration,
    },
    /// The cloud takes spot instances back: notice is given, and at its end whoever still runs is killed.
    Reclaim {
        /// Who.
        targets: Selection,
        /// From the notice to the kill.
        notice: SimDuration,
        /// The share of the targets, 0 to 1, that stop in order at the notice.
        heeded: f64,
    },
}

/// The other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The registry server.
    Server,
    /// Everyone: the server and all instances that are not among the targets.
    All,
    /// Other instances, by application, by zone, or both: calls fail, heartbeats do not.
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

impl Verb {
    /// The verb as the scenario writes it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Crash(_) => "crash",
            Self::Stop { .. } => "stop",
            Self::Restart { .. } => "restart",
            Self::CrashLoop { .. } => "crash-loop",
            Self::Pause { .. } => "pause",
            Self::Pauses { .. } => "pauses",
            Self::Partition { .. } => "partition",
            Self::Flap { .. } => "flap",
            Self::Degrade { .. } => "degrade",
            Self::SlowHeartbeats { .. } => "slow-heartbeats",
            Self::Clock { .. } => "clock",
            Self::Unhealthy { .. } => "unhealthy",
            Self::Grey { .. } => "grey",
            Self::Change(_) => "change",
            Self::Override { .. } => "override",
            Self::Delete { .. } => "delete",
            Self::Start { .. } => "start",
            Self::RollOut { .. } => "roll-out",
            Self::BlueGreen { .. } => "blue-green",
            Self::Reclaim { .. } => "reclaim",
        }
    }

    /// Which of the running instances it hits; `None` if it hits the server, or picks them by itself.
    pub const fn selection(&self) -> Option<&Selection> {
        match self {
            Self::Crash(targets)
            | Self::Restart { targets, .. }
            | Self::Pause { targets, .. }
            | Self::Pauses { targets, .. }
            | Self::Clock { targets, .. } => targets.selection(),
            Self::Stop { targets, .. }
            | Self::CrashLoop { targets, .. }
            | Self::Partition { targets, .. }
            | Self::Flap { targets, .. }
            | Self::Degrade { targets, .. }
            | Self::SlowHeartbeats { targets, .. }
            | Self::Unhealthy { targets, .. }
            | Self::Grey { targets, .. }
            | Self::Override { targets, .. }
            | Self::Delete { targets, .. }
            | Self::Reclaim { targets, .. } => Some(targets),
            Self::Change(_) | Self::Start { .. } | Self::RollOut { .. } | Self::BlueGreen { .. } => None,
        }
    }

    /// Whether the server itself is hit.
    pub const fn hits_server(&self) -> bool {
        match self {
            Self::Crash(targets)
            | Self::Restart { targets, .. }
            | Self::Pause { targets, .. }
            | Self::Pauses { targets, .. }
            | Self::Clock { targets, .. } => targets.is_server(),
            Self::Change(_) => true,
            _ => false,
        }
    }
}

/// Which way messages are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Both ways.
    Both,
    /// From the targets to the server.
    ToServer,
    /// From the server to the targets.
    FromServer,
}

/// Whom a fault hits.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// The registry server.
    Server,
    /// Instances.
    Instances(Selection),
}

impl Targets {
    /// Whether the server is hit.
    pub const fn is_server(&self) -> bool {
        matches!(self, Self::Server)
    }

    /// The instances, if instances are hit.
    pub const fn selection(&self) -> Option<&Selection> {
        match self {
            Self::Server => None,
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
    pub which: Which,
}

/// Which of the candidates.
#[derive(Clone, Debug, PartialEq)]
pub enum Which {
    /// Every one.
    All,
    /// These: (application, ordinal from 1).
    Named(Vec<(AppId, u32)>),
    /// So many, at random.
    Count(u32),
    /// This share of them, 0 to 1, at random, rounded to the nearest whole number.
    Share(f64),
}

/// A claim that decides the exit code.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As written in the file.
    pub text: String,
    /// What must hold in a replicate.
    pub claim: Claim,
    /// The share of replicates in which it must hold, above 0, at most 1 (`all`).
    pub in_share: f64,
}

/// What an expectation says of one replicate.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// `[crash|stop|registration] STAGE STATISTIC below|above DURATION`, over the replicate's observations.
    /// Censored observations count as longer than any limit. No observation at all fails it.
    Latency {
        /// Which event; `None`: all.
        event: Option<crate::model::stage::EventKind>,
        /// Which stage.
        stage: crate::model::stage::Stage,
        /// Which statistic.
        statistic: Statistic,
        /// Compared how.
        comparison: Comparison,
        /// With what.
        limit: SimDuration,
    },
    /// `no false removal`, `at most 3 false removals`: live instances evicted.
    FalseRemovals(Comparison, u32),
    /// `at least 57 of 100 left at the end`: registered leases when the replicate ends.
    Left {
        /// Compared how.
        comparison: Comparison,
        /// How many.
        count: u32,
    },
    /// `no eviction`, `exactly 4 evictions`: leases evicted, dead or alive.
    Evictions(Comparison, u32),
    /// `rounds evict 15, 13, 11`: what the rounds that removed anything removed, in order.
    Rounds(Vec<u32>),
    /// `self-preservation at the end` / `no self-preservation at the end`: whether expiration is disabled.
    SelfPreservationAtEnd(bool),
    /// `no mistake at client`, `at most 30 mistakes at balancer`: times that a stage ceased to show an instance
    /// that was alive and well, over all observers.
    Mistakes(crate::model::stage::Stage, Comparison, u64),
    /// `query accuracy at client above 99.5 %`: P_A, over all observers.
    QueryAccuracy(crate::model::stage::Stage, Comparison, f64),
    /// `no failed call`, `failed calls below 1.5 %`: the share of calls that failed after all retries, in percent.
    FailedCalls(Comparison, f64),
    /// `most renewals a minute above 140`, `most fetches a minute …`: the busiest minute of the server.
    Load {
        /// Requests of which kind; `None`: all.
        kind: Option<crate::model::message::RequestKind>,
        /// Compared how.
        comparison: Comparison,
        /// With how many in the busiest minute.
        count: u64,
    },
}

/// A statistic of a replicate's observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The smallest.
    Min,
    /// The mean.
    Mean,
    /// A quantile by nearest rank, in percent.
    Percentile(u8),
    /// The largest.
    Max,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `below`: strictly.
    Below,
    /// `at most`.
    AtMost,
    /// `above`: strictly.
    Above,
    /// `at least`.
    AtLeast,
    /// `exactly`.
    Exactly,
}

impl Comparison {
    /// Whether `left` stands in this relation to `right`.
    pub fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Self::Below => left < right,
            Self::AtMost => left <= right,
            Self::Above => left > right,
            Self::AtLeast => left >= right,
            Self::Exactly => left == right,
        }
    }
}
