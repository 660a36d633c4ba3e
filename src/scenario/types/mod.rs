//! A checked scenario: valid by construction. Past this door nothing is optional that should be there, every
//! name is resolved and every number in range. What faults do is in [`crate::scenario::types::verb`], whom they hit in
//! [`crate::scenario::types::targets`], what expectations say in [`crate::scenario::types::claim`].

use crate::engine::{Distribution, DistributionShape, SimDuration};
use crate::model::id::{AppId, ServerId};
use crate::model::message::RequestKind;
use crate::model::registry::Kind;
use crate::scenario::setup::Setup;
use crate::scenario::types::claim::Expectation;
use crate::scenario::types::verb::FaultKind;
use std::net::Ipv4Addr;

pub(crate) mod claim;
pub(crate) mod targets;
pub(crate) mod verb;

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
    /// Which registry, and all its settings.
    pub setup: Setup,
    /// The moment within a wall-clock minute at which a replicate starts, and with it the first server; `None`: drawn
    /// for each replicate.
    pub server_starts_at_second: Option<SimDuration>,
    /// What the servers' wall clocks show wrongly from the start.
    pub server_clock: Clock,
    /// The servers, each called `server-n`, from 1. At least one, at most [`SERVERS_MAX`].
    pub servers: Vec<ServerNode>,
    /// When servers that name no moment start: each at a uniform moment in this window, from the start of the
    /// replicate. The first never waits.
    pub servers_start_window: SimDuration,
    /// The links between servers; `None`: those of [`Scenario::network`].
    pub server_network: Option<Network>,
    /// How much a server can do at a time; `None`: everything at once, in no time.
    pub capacity: Option<Capacity>,
    /// The zones that applications and servers name, in the order in which they first do.
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

impl Scenario {
    /// Which registry it runs.
    pub fn registry(&self) -> Kind {
        self.setup.kind()
    }

    /// How long after the start of a replicate all servers accept requests, at the latest, if nobody is there to copy
    /// from: the last has started, and plain Netflix has waited for its copy.
    pub fn all_serve_after(&self) -> SimDuration {
        let window = self.servers_start_window;
        let drawn =
            self.servers.len() > 1 && self.servers[1..].iter().any(|server| server.starts_after.is_none());
        let named = self.servers.iter().filter_map(|server| server.starts_after);
        let last = named.chain(drawn.then_some(window)).max().unwrap_or_default();
        last + self.setup.server().serves_after()
    }
}

/// More servers than anybody runs.
pub const SERVERS_MAX: usize = 100;

/// One registry server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerNode {
    /// When it starts, from the start of the replicate; `None`: drawn from [`Scenario::servers_start_window`].
    pub starts_after: Option<SimDuration>,
    /// Its zone.
    pub zone: Option<ZoneId>,
    /// To whom it passes on what clients tell it, in the order of its configuration. It is among its own peers if it
    /// does not recognise its own URL.
    pub peers: Vec<ServerId>,
}

/// How much one server can do at a time: requests wait in one queue for one of its threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// Worker threads. At least 1.
    pub threads: u32,
    /// How long one thread is busy with a request, by [`RequestKind`].
    pub service: [Distribution; RequestKind::COUNT],
    /// How long one thread is busy with one item of a peer's batch, besides the batch's own
    /// [`RequestKind::Replicate`].
    pub item: Distribution,
}

/// Which servers an application's instances know, and in which order they try them.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerList {
    /// These, all in one zone, so that only chance orders them.
    OneZone(Vec<ServerId>),
    /// Those of the first zone first, then those of all others (`availability-zones`); servers in no zone that is
    /// named are not known. Not empty.
    Zones(Vec<ZoneId>),
    /// Those of the instance's own zone first, then all others.
    OwnZoneFirst,
}

/// A service: instances of one kind. The settings of its clients are in [`Setup::client`].
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
    /// Its zones: instance `n` is in the one at place `(n - 1) mod length`. Empty: in no zone.
    pub zones: Vec<ZoneId>,
    /// Which servers its instances know.
    pub server_list: ServerList,
    /// The address of its first instance; the others count up from there. Releases up to Eureka 1.10.13 order their
    /// servers by it.
    pub first_address: Ipv4Addr,
    /// The links between its instances and the servers; `None`: those of [`Scenario::network`].
    pub network: Option<Network>,
    /// The calls that its instances make through their balancers; `None`: none that are counted.
    pub traffic: Option<Traffic>,
    /// What its instances' wall clocks show wrongly from the start.
    pub clock: Clock,
}

impl Application {
    /// The zone of instance `ordinal`, counted from 1; `None` if it is in none.
    pub fn zone_of(&self, ordinal: u32) -> Option<ZoneId> {
        let turn = ordinal.saturating_sub(1) as usize;
        self.zones.get(turn % self.zones.len().max(1)).copied()
    }

    /// How many of the first `instances` are in a zone, or there at all if `zone` is `None`.
    pub fn in_zone(&self, instances: u64, zone: Option<ZoneId>) -> u64 {
        let Some(zone) = zone else { return instances };
        let turn = self.zones.len().max(1);
        let of = |zones: &[ZoneId]| zones.iter().filter(|other| **other == zone).count() as u64;
        let rest = (instances % turn as u64) as usize;
        instances / turn as u64 * of(&self.zones) + of(&self.zones[..rest.min(self.zones.len())])
    }
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
#[derive(Clone, Debug, Default, PartialEq)]
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
    pub verb: FaultKind,
}

/// What a file calls a server.
pub(crate) fn server_name(id: ServerId) -> String {
    format!("server-{}", id.0 + 1)
}

/// All of so many servers.
pub(crate) fn all_of(count: usize) -> impl Iterator<Item = ServerId> + Clone {
    (0..count).map(|at| ServerId(at as u32))
}

/// What a scenario calls its applications and zones, for whoever writes them.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    applications: &'a [Application],
    zones: &'a [String],
}

impl<'a> Names<'a> {
    /// For values that name nobody.
    pub(crate) const NONE: Self = Self { applications: &[], zones: &[] };

    /// The names of a scenario.
    pub(crate) fn of(scenario: &'a Scenario) -> Self {
        Self { applications: &scenario.applications, zones: &scenario.zones }
    }

    /// An application's.
    pub(crate) fn application(self, app: AppId) -> &'a str {
        &self.applications[app.index()].name
    }

    /// A zone's.
    pub(crate) fn zone(self, zone: ZoneId) -> &'a str {
        &self.zones[usize::from(zone.0)]
    }
}

impl From<Distribution> for Delay {
    /// The two kinds that closed forms know are told apart.
    fn from(drawn: Distribution) -> Self {
        match drawn.shape() {
            DistributionShape::Constant(always) => Self::Constant(always),
            DistributionShape::Uniform { low, high } => Self::Uniform(low, high),
            _ => Self::Drawn(drawn),
        }
    }
}
