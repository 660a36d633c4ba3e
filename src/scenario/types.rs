//! A checked scenario: valid by construction. Past this door nothing is optional that should be there, every
//! name is resolved and every number in range.

use crate::engine::SimDuration;
use crate::model::client::ClientConfig;
use crate::model::eureka::ServerConfig;
use crate::model::id::AppId;

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
    /// The fleet, in the order of the file. At least one application.
    pub applications: Vec<Application>,
    /// Between any two nodes.
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
}

/// A delay, one way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Always the same.
    Constant(SimDuration),
    /// Uniform between the two, both included.
    Uniform(SimDuration, SimDuration),
}

/// The links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// From sender to receiver.
    pub latency: Delay,
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
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// `kill -9`: nothing is sent.
    Crash(Targets),
    /// An orderly stop: de-registration.
    Stop(Targets),
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
    /// The process stands still; its kernel does not.
    Pause {
        /// Who.
        targets: Targets,
        /// For how long.
        length: SimDuration,
    },
    /// Messages between the targets and the server are lost.
    Partition {
        /// Who is cut off.
        targets: Selection,
        /// For how long; `None`: until the end.
        length: Option<SimDuration>,
        /// Which way messages are lost.
        lost: Direction,
    },
    /// New instances of an application start.
    Start {
        /// Which.
        application: AppId,
        /// How many.
        count: u32,
    },
}

impl Verb {
    /// The verb as the scenario writes it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Crash(_) => "crash",
            Self::Stop(_) => "stop",
            Self::Restart { .. } => "restart",
            Self::Pause { .. } => "pause",
            Self::Partition { .. } => "partition",
            Self::Start { .. } => "start",
        }
    }

    /// Which of the running instances it hits; `None` if it hits the server or starts new ones.
    pub const fn selection(&self) -> Option<&Selection> {
        match self {
            Self::Crash(targets)
            | Self::Stop(targets)
            | Self::Restart { targets, .. }
            | Self::Pause { targets, .. } => match targets {
                Targets::Instances(selection) => Some(selection),
                Targets::Server => None,
            },
            Self::Partition { targets, .. } => Some(targets),
            Self::Start { .. } => None,
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
