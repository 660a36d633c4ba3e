//! The settings of either registry, and what everybody may ask of them.

use crate::engine::SimDuration;
use crate::model::client::{self, BalancerConfig};
use crate::model::effect::{Call, Silence};
use crate::model::eureka;
use crate::model::message::{Failure, Request, RequestKind};
use crate::model::stage::Stage;
use crate::model::two_stage::{self, ResumeOrder};

/// The registries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Eureka.
    Eureka,
    /// The two-stage registry, whatever its preset.
    TwoStage,
}

impl Kind {
    /// The stages that it has, in order.
    pub const fn stages(self) -> &'static [Stage] {
        match self {
            Self::Eureka => &[Stage::Registry, Stage::Served, Stage::Client, Stage::Balancer],
            Self::TwoStage => &[Stage::Registry, Stage::Served, Stage::Client, Stage::Entry],
        }
    }

    /// Of these, the stages on the way from the registry to the caller, in order.
    pub const fn way(self) -> &'static [Stage] {
        match self {
            Self::Eureka => &[Stage::Registry, Stage::Served, Stage::Client, Stage::Balancer],
            Self::TwoStage => &[Stage::Registry, Stage::Served, Stage::Client],
        }
    }

    /// The kinds of request that it knows, in order of their numbers.
    pub const fn requests(self) -> &'static [RequestKind] {
        match self {
            Self::Eureka => &[
                RequestKind::Register,
                RequestKind::Renew,
                RequestKind::Cancel,
                RequestKind::FetchFull,
                RequestKind::FetchDelta,
                RequestKind::Status,
                RequestKind::Replicate,
            ],
            Self::TwoStage => &[
                RequestKind::Register,
                RequestKind::Renew,
                RequestKind::Cancel,
                RequestKind::FetchFull,
                RequestKind::FetchService,
                RequestKind::Watch,
            ],
        }
    }
}

/// The settings of a registry's servers.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerConfig {
    /// Of Eureka.
    Eureka(eureka::ServerConfig),
    /// Of the two-stage registry.
    TwoStage(two_stage::ServerConfig),
}

impl ServerConfig {
    /// Which registry.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Eureka(_) => Kind::Eureka,
            Self::TwoStage(_) => Kind::TwoStage,
        }
    }

    /// Eureka's settings.
    ///
    /// # Panics
    ///
    /// If they are of another registry: for rules, forms and hints of Eureka's alone.
    pub fn eureka(&self) -> &eureka::ServerConfig {
        match self {
            Self::Eureka(config) => config,
            Self::TwoStage(_) => panic!("not Eureka"),
        }
    }

    /// The same, to change.
    ///
    /// # Panics
    ///
    /// If they are of another registry.
    pub fn eureka_mut(&mut self) -> &mut eureka::ServerConfig {
        match self {
            Self::Eureka(config) => config,
            Self::TwoStage(_) => panic!("not Eureka"),
        }
    }

    /// The two-stage registry's settings.
    ///
    /// # Panics
    ///
    /// If they are of another registry.
    pub fn two_stage(&self) -> &two_stage::ServerConfig {
        match self {
            Self::TwoStage(config) => config,
            Self::Eureka(_) => panic!("not the two-stage registry"),
        }
    }

    /// The same, to change.
    ///
    /// # Panics
    ///
    /// If they are of another registry.
    pub fn two_stage_mut(&mut self) -> &mut two_stage::ServerConfig {
        match self {
            Self::TwoStage(config) => config,
            Self::Eureka(_) => panic!("not the two-stage registry"),
        }
    }

    /// How long after its start a server accepts requests, if nobody is there to copy from.
    pub fn serves_after(&self) -> SimDuration {
        match self {
            Self::Eureka(config) => config.serves_after(),
            Self::TwoStage(_) => SimDuration::ZERO,
        }
    }

    /// Whether a server has a client of its own.
    pub fn has_own_client(&self) -> bool {
        match self {
            Self::Eureka(config) => config.register_with_eureka || config.fetch_registry,
            Self::TwoStage(_) => false,
        }
    }

    /// Whether a server's own client fetches.
    pub fn own_client_fetches(&self) -> bool {
        match self {
            Self::Eureka(config) => config.fetch_registry,
            Self::TwoStage(_) => false,
        }
    }

    /// Whether requests that queued up while the process stood still are answered after it.
    pub fn answers_backlog(&self) -> bool {
        match self {
            Self::Eureka(config) => config.process_backlog_after_pause,
            Self::TwoStage(_) => true,
        }
    }

    /// Whether sweeps that were missed while the process stood still come before requests that waited.
    pub fn sweeps_first_after_pause(&self) -> bool {
        match self {
            Self::Eureka(_) => false,
            Self::TwoStage(config) => config.resume_order == ResumeOrder::SweepFirst,
        }
    }

    /// How long a server waits for a connection to a peer, and how long for the peer's answer.
    pub fn peer_limits(&self) -> (SimDuration, SimDuration) {
        match self {
            Self::Eureka(config) => {
                let ms = |ms: u32| SimDuration::from_millis(u64::from(ms));
                (ms(config.peer_node_connect_timeout_ms), ms(config.peer_node_read_timeout_ms))
            }
            Self::TwoStage(_) => (SimDuration::MAX, SimDuration::MAX),
        }
    }

    /// The probability that a datagram between a server and a client is lost beside what the network loses.
    pub fn datagram_loss(&self) -> f64 {
        match self {
            Self::Eureka(_) => 0.0,
            Self::TwoStage(config) => config.push_loss,
        }
    }
}

impl From<eureka::ServerConfig> for ServerConfig {
    fn from(config: eureka::ServerConfig) -> Self {
        Self::Eureka(config)
    }
}

impl From<two_stage::ServerConfig> for ServerConfig {
    fn from(config: two_stage::ServerConfig) -> Self {
        Self::TwoStage(config)
    }
}

impl From<client::ClientConfig> for ClientConfig {
    fn from(config: client::ClientConfig) -> Self {
        Self::Eureka(config)
    }
}

impl From<two_stage::ClientConfig> for ClientConfig {
    fn from(config: two_stage::ClientConfig) -> Self {
        Self::TwoStage(config)
    }
}

/// The settings of an application's clients.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientConfig {
    /// Of Eureka.
    Eureka(client::ClientConfig),
    /// Of the two-stage registry.
    TwoStage(two_stage::ClientConfig),
}

impl ClientConfig {
    /// Which registry.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Eureka(_) => Kind::Eureka,
            Self::TwoStage(_) => Kind::TwoStage,
        }
    }

    /// Eureka's settings.
    ///
    /// # Panics
    ///
    /// If they are of another registry: for rules, forms and hints of Eureka's alone.
    pub fn eureka(&self) -> &client::ClientConfig {
        match self {
            Self::Eureka(config) => config,
            Self::TwoStage(_) => panic!("not Eureka"),
        }
    }

    /// The same, to change.
    ///
    /// # Panics
    ///
    /// If they are of another registry.
    pub fn eureka_mut(&mut self) -> &mut client::ClientConfig {
        match self {
            Self::Eureka(config) => config,
            Self::TwoStage(_) => panic!("not Eureka"),
        }
    }

    /// The two-stage registry's settings.
    ///
    /// # Panics
    ///
    /// If they are of another registry.
    pub fn two_stage(&self) -> &two_stage::ClientConfig {
        match self {
            Self::TwoStage(config) => config,
            Self::Eureka(_) => panic!("not the two-stage registry"),
        }
    }

    /// The same, to change.
    ///
    /// # Panics
    ///
    /// If they are of another registry.
    pub fn two_stage_mut(&mut self) -> &mut two_stage::ClientConfig {
        match self {
            Self::TwoStage(config) => config,
            Self::Eureka(_) => panic!("not the two-stage registry"),
        }
    }

    /// Whether the process registers itself.
    pub fn registers(&self) -> bool {
        match self {
            Self::Eureka(config) => config.register_with_eureka,
            Self::TwoStage(config) => config.registers,
        }
    }

    /// Whether the process looks others up.
    pub fn fetches(&self) -> bool {
        match self {
            Self::Eureka(config) => config.fetch_registry,
            Self::TwoStage(config) => config.fetches,
        }
    }

    /// From one heartbeat to the next.
    pub fn heartbeat_interval(&self) -> SimDuration {
        match self {
            Self::Eureka(config) => {
                SimDuration::from_secs(u64::from(config.lease_renewal_interval_in_seconds))
            }
            Self::TwoStage(config) => SimDuration::from_millis(u64::from(config.heartbeat_interval_ms)),
        }
    }

    /// From one fetch to the next; how long a long poll may take.
    pub fn fetch_interval(&self) -> SimDuration {
        match self {
            Self::Eureka(config) => SimDuration::from_secs(u64::from(config.registry_fetch_interval_seconds)),
            Self::TwoStage(config) => SimDuration::from_millis(u64::from(match config.discovery {
                two_stage::Discovery::LongPoll => config.watch_timeout_ms,
                two_stage::Discovery::Poll | two_stage::Discovery::PushPlusPoll => config.poll_interval_ms,
            })),
        }
    }

    /// Whether an instance that is well is never forgotten if all its heartbeats arrive at once.
    pub fn beats_in_time(&self, server: &ServerConfig) -> bool {
        match (self, server) {
            (Self::Eureka(config), _) => {
                config.lease_expiration_duration_in_seconds > config.lease_renewal_interval_in_seconds
            }
            (Self::TwoStage(config), ServerConfig::TwoStage(server)) => {
                let first = config.first_heartbeat_delay_ms.max(config.heartbeat_interval_ms);
                server.register_stamps_heartbeat
                    && server.soft_timeout_ms > first
                    && server.worker_threads.is_none()
            }
            (Self::TwoStage(_), ServerConfig::Eureka(_)) => unreachable!("clients of one registry"),
        }
    }

    /// Whether nothing brings back an instance that has left, once everybody has seen it leave: no heartbeat that goes
    /// on until its process has ended, and no push of an older list that is sent again.
    pub fn leaves_for_good(&self, server: &ServerConfig) -> bool {
        match (self, server) {
            (Self::Eureka(_), _) => true,
            (Self::TwoStage(config), ServerConfig::TwoStage(server)) => {
                let forgets_its_timer = config.registers && !config.stop_heartbeat_before_deregister;
                let is_pushed_again = config.fetches
                    && config.discovery == two_stage::Discovery::PushPlusPoll
                    && server.push_loss > 0.0
                    && server.push_max_resend > 0;
                !forgets_its_timer && !is_pushed_again
            }
            (Self::TwoStage(_), ServerConfig::Eureka(_)) => unreachable!("clients of one registry"),
        }
    }

    /// What stands above the client.
    pub fn balancer(&self) -> BalancerConfig {
        match self {
            Self::Eureka(config) => config.balancer,
            Self::TwoStage(_) => BalancerConfig::None,
        }
    }

    /// Whether calls go over connections that are there already.
    pub fn pools_connections(&self) -> bool {
        match self {
            Self::Eureka(config) => config.transport.pooled,
            Self::TwoStage(_) => true,
        }
    }

    /// How long an answer may take before its caller gives up.
    pub fn read_limit(&self, request: &Request) -> SimDuration {
        match self {
            Self::Eureka(config) => config.transport.read_limit(),
            Self::TwoStage(config) => {
                let held_ms = if let Request::Watch { timeout_ms, .. } = *request { timeout_ms } else { 0 };
                SimDuration::from_millis(u64::from(config.request_timeout_ms) + u64::from(held_ms))
            }
        }
    }

    /// How long a call waits for a silent server, and how it then fails.
    pub fn gives_up_after(&self, call: Call, request: &Request, silence: Silence) -> (SimDuration, Failure) {
        match self {
            Self::Eureka(config) => config.transport.call_gives_up_after(call, silence),
            Self::TwoStage(_) => (self.read_limit(request), Failure::ReadTimeout),
        }
    }

    /// How long a call may take before anything follows from that.
    pub fn patience(&self) -> SimDuration {
        match self {
            Self::Eureka(config) => client::Client::patience(config).min(config.transport.read_limit()),
            Self::TwoStage(config) => SimDuration::from_millis(u64::from(config.request_timeout_ms)),
        }
    }

    /// Which applications it hears of, if not of all.
    pub fn services(&self) -> Option<&[crate::model::id::AppId]> {
        match self {
            Self::TwoStage(config) if config.discovery != two_stage::Discovery::Poll => {
                Some(&config.services)
            }
            Self::TwoStage(_) | Self::Eureka(_) => None,
        }
    }
}
