//! The settings of a Eureka client and its load balancer. Sources: `eureka-client.md` sections 2, 3, 6.6, 8, 10.

use crate::engine::SimDuration;
use crate::model::eureka::Flavour;

/// The HTTP client below the Eureka client, by release (`eureka-client.md` 6.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// Jersey 1, 2 or 3.
    Jersey,
    /// Spring's `RestTemplate`.
    RestTemplate,
    /// Spring's `RestClient`.
    RestClient,
    /// Spring's `WebClient`.
    WebClient,
}

/// How the transport waits, and what a pool makes of a call (`eureka-client.md` 2.2, 6.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportConfig {
    /// Which client.
    pub kind: TransportKind,
    /// Connect limit; `None` waits as long as the operating system does (134 s).
    pub connect_timeout: Option<SimDuration>,
    /// Read limit; `None` waits as long as the operating system does (about 15 min).
    pub read_timeout: Option<SimDuration>,
    /// Whether a call 30 s after the last one finds a pooled connection.
    pub pooled: bool,
    /// Whether a supervisor's interrupt makes every later attempt of the job fail (HttpClient pools do).
    pub interrupt_cancels_retries: bool,
    /// Whether a heartbeat's 404 with a JSON body is understood (`eureka-client.md` 0.3).
    pub understands_not_found: bool,
}

/// Linux gives up an unanswered connect after this. Six repeated SYNs make 127 s by the book; real clients were
/// recorded to give up after 133 to 135 s (`eureka-client.md` 6.6), and the recording wins.
pub const OS_CONNECT_LIMIT: SimDuration = SimDuration::from_secs(134);
/// Linux gives up unacknowledged data after about this (`eureka-client.md` 6.6).
pub const OS_SEND_LIMIT: SimDuration = SimDuration::from_secs(924);

impl TransportConfig {
    /// The connect limit in force: the configured one, or the operating system's if that is shorter.
    pub fn connect_limit(&self) -> SimDuration {
        self.connect_timeout.map_or(OS_CONNECT_LIMIT, |limit| limit.min(OS_CONNECT_LIMIT))
    }

    /// The read limit in force.
    pub fn read_limit(&self) -> SimDuration {
        self.read_timeout.unwrap_or(OS_SEND_LIMIT)
    }
}

/// In which order a client tries its servers (`ResolverUtils.randomize`, `eureka-client.md` 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOrder {
    /// A fair permutation, drawn anew at each refresh of the list: from Eureka 1.10.14 on.
    Shuffled,
    /// One order for ever, by a biased function of the host's address: up to 1.10.13.
    ByHost,
}

/// The balancer's list and how it follows the local registry (`eureka-client.md` section 8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BalancerConfig {
    /// Callers read the local registry.
    None,
    /// `PollingServerListUpdater`: a copy every interval, fixed delay, first after 1000 ms.
    Ribbon {
        /// `ServerListRefreshInterval`.
        refresh_interval: SimDuration,
    },
    /// `CachingServiceInstanceListSupplier`: a cached list, refilled by the first call after its time to live.
    SpringCloudLoadBalancer {
        /// `spring.cloud.loadbalancer.cache.ttl`.
        ttl: SimDuration,
        /// Calls a second of one observer to each application; `None` means dense: some call comes at once.
        call_rate: Option<f64>,
    },
}

/// The settings of one application's clients. Field names are the property names below `eureka.client.` or
/// `eureka.instance.`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientConfig {
    /// Whose start-up rules.
    pub flavour: Flavour,
    /// `register-with-eureka`.
    pub register_with_eureka: bool,
    /// `fetch-registry`.
    pub fetch_registry: bool,
    /// `registry-fetch-interval-seconds`; also the supervisor's time-out.
    pub registry_fetch_interval_seconds: u32,
    /// `instance-info-replication-interval-seconds`.
    pub instance_info_replication_interval_seconds: u32,
    /// `initial-instance-info-replication-interval-seconds`.
    pub initial_instance_info_replication_interval_seconds: u32,
    /// `heartbeat-executor-thread-pool-size`.
    pub heartbeat_executor_thread_pool_size: u32,
    /// `heartbeat-executor-exponential-back-off-bound`.
    pub heartbeat_executor_exponential_back_off_bound: u32,
    /// `cache-refresh-executor-thread-pool-size`.
    pub cache_refresh_executor_thread_pool_size: u32,
    /// `cache-refresh-executor-exponential-back-off-bound`.
    pub cache_refresh_executor_exponential_back_off_bound: u32,
    /// `disable-delta`.
    pub disable_delta: bool,
    /// `log-delta-diff`: every delta is followed by a full fetch (`eureka-client.md` 3.3).
    pub log_delta_diff: bool,
    /// `filter-only-up-instances`.
    pub filter_only_up_instances: bool,
    /// `on-demand-update-status-change`.
    pub on_demand_update_status_change: bool,
    /// `should-unregister-on-shutdown`.
    pub should_unregister_on_shutdown: bool,
    /// `should-enforce-registration-at-init`.
    pub should_enforce_registration_at_init: bool,
    /// `healthcheck.enabled`: whether a health-check handler is attached (`eureka-client.md` 4.2).
    pub healthcheck_enabled: bool,
    /// In which order it tries its servers: the release's.
    pub server_order: ServerOrder,
    /// `eureka-service-url-poll-interval-seconds`: from one refresh of the server list to the next, at least 1 s.
    /// Of no effect with a single server, or with an order by host.
    pub eureka_service_url_poll_interval_seconds: u32,
    /// `transport.sessioned-client-reconnect-interval-seconds`.
    pub sessioned_client_reconnect_interval_seconds: u32,
    /// `transport.retryable-client-quarantine-refresh-percentage`, 0 to 1.
    pub retryable_client_quarantine_refresh_percentage: f64,
    /// `eureka.instance.lease-renewal-interval-in-seconds`.
    pub lease_renewal_interval_in_seconds: u32,
    /// `eureka.instance.lease-expiration-duration-in-seconds`.
    pub lease_expiration_duration_in_seconds: u32,
    /// `eureka.instance.instance-enabled-onit`.
    pub instance_enabled_onit: bool,
    /// `eureka.instance.initial-status` (Spring) or the status that the application sets once it runs
    /// (Netflix); `None` for a Netflix application that never sets one.
    pub initial_status: Option<crate::model::message::Status>,
    /// Below the client.
    pub transport: TransportConfig,
    /// Above the client.
    pub balancer: BalancerConfig,
}

impl ClientConfig {
    /// The flavour's defaults on the newest release.
    pub fn defaults(flavour: Flavour) -> Self {
        let spring = flavour == Flavour::Spring;
        Self {
            flavour,
            register_with_eureka: true,
            fetch_registry: true,
            registry_fetch_interval_seconds: 30,
            instance_info_replication_interval_seconds: 30,
            initial_instance_info_replication_interval_seconds: 40,
            heartbeat_executor_thread_pool_size: if spring { 2 } else { 5 },
            heartbeat_executor_exponential_back_off_bound: 10,
            cache_refresh_executor_thread_pool_size: if spring { 2 } else { 5 },
            cache_refresh_executor_exponential_back_off_bound: 10,
            disable_delta: false,
            log_delta_diff: false,
            filter_only_up_instances: true,
            on_demand_update_status_change: true,
            should_unregister_on_shutdown: true,
            should_enforce_registration_at_init: false,
            healthcheck_enabled: false,
            server_order: ServerOrder::Shuffled,
            eureka_service_url_poll_interval_seconds: 300,
            sessioned_client_reconnect_interval_seconds: 1_200,
            retryable_client_quarantine_refresh_percentage: 0.66,
            lease_renewal_interval_in_seconds: 30,
            lease_expiration_duration_in_seconds: 90,
            instance_enabled_onit: false,
            initial_status: Some(crate::model::message::Status::Up),
            transport: TransportConfig::of_kind(if spring {
                TransportKind::RestClient
            } else {
                TransportKind::Jersey
            }),
            balancer: if spring {
                BalancerConfig::SpringCloudLoadBalancer { ttl: SimDuration::from_secs(35), call_rate: None }
            } else {
                BalancerConfig::Ribbon { refresh_interval: SimDuration::from_secs(30) }
            },
        }
    }
}

impl TransportConfig {
    /// The newest release's settings of a transport.
    pub fn of_kind(kind: TransportKind) -> Self {
        let seconds = SimDuration::from_secs;
        let (connect_timeout, read_timeout) = match kind {
            TransportKind::Jersey => (Some(seconds(5)), Some(seconds(8))),
            TransportKind::RestTemplate | TransportKind::RestClient => {
                (Some(seconds(180)), Some(seconds(180)))
            }
            TransportKind::WebClient => (Some(seconds(30)), None),
        };
        let http_client = matches!(kind, TransportKind::RestTemplate | TransportKind::RestClient);
        Self {
            kind,
            connect_timeout,
            read_timeout,
            pooled: http_client,
            interrupt_cancels_retries: http_client,
            understands_not_found: true,
        }
    }
}
