//! The settings of a Eureka server, under Eureka's own names. Source: `eureka-server.md` section 10.

use crate::engine::SimDuration;

/// Whose defaults and start-up rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Spring Cloud Netflix.
    Spring,
    /// Plain Netflix Eureka.
    Netflix,
}

/// What differs between server releases (`eureka-server.md` 0.2, 2.4, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRules {
    /// Whether an eviction lowers the expected number of clients: true from Eureka 1.9.17.
    pub decrement_expected_on_eviction: bool,
    /// Whether the threshold is kept in renewals, two a client, as up to 1.9.3.
    pub legacy_threshold: bool,
}

/// The settings. Field names are the property names below `eureka.server.` unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// Whose start-up rules.
    pub flavour: Flavour,
    /// The release's rules.
    pub rules: ServerRules,
    /// `enable-self-preservation`.
    pub enable_self_preservation: bool,
    /// `renewal-percent-threshold`, 0 to 1.
    pub renewal_percent_threshold: f64,
    /// `renewal-threshold-update-interval-ms`.
    pub renewal_threshold_update_interval_ms: u32,
    /// `expected-client-renewal-interval-seconds`.
    pub expected_client_renewal_interval_seconds: u32,
    /// `eviction-interval-timer-in-ms`.
    pub eviction_interval_timer_in_ms: u32,
    /// `use-read-only-response-cache`.
    pub use_read_only_response_cache: bool,
    /// `response-cache-update-interval-ms`.
    pub response_cache_update_interval_ms: u32,
    /// `response-cache-auto-expiration-in-seconds`.
    pub response_cache_auto_expiration_in_seconds: u32,
    /// `retention-time-in-m-s-in-delta-queue`, ms.
    pub retention_time_in_ms_in_delta_queue: u32,
    /// `delta-retention-timer-interval-in-ms`.
    pub delta_retention_timer_interval_in_ms: u32,
    /// `disable-delta`.
    pub disable_delta: bool,
    /// `sync-when-timestamp-differs`.
    pub sync_when_timestamp_differs: bool,
    /// `registry-sync-retries` as it is in force (Spring presets 5 when the server registers with itself).
    pub registry_sync_retries: u32,
    /// `registry-sync-retry-wait-ms`.
    pub registry_sync_retry_wait_ms: u32,
    /// `wait-time-in-ms-when-sync-empty`.
    pub wait_time_in_ms_when_sync_empty: u32,
    /// `peer-node-connect-timeout-ms`: how long a server waits for a connection to a peer.
    pub peer_node_connect_timeout_ms: u32,
    /// `peer-node-read-timeout-ms`: how long a server waits for a peer's answer.
    pub peer_node_read_timeout_ms: u32,
    /// `max-elements-in-peer-replication-pool`: tasks that wait for a peer at most.
    pub max_elements_in_peer_replication_pool: u32,
    /// `max-threads-for-peer-replication`: batches that are under way to a peer at most.
    pub max_threads_for_peer_replication: u32,
    /// `max-time-for-replication`, ms: after that a cancellation or status is no longer passed on.
    pub max_time_for_replication: u32,
    /// `eureka.instance.registry.expected-number-of-clients-sending-renews` (Spring; plain Netflix has 0).
    pub expected_number_of_clients_sending_renews: u32,
    /// `eureka.instance.registry.default-open-for-traffic-count` (Spring; plain Netflix has 0).
    pub default_open_for_traffic_count: u32,
    /// Whether the server's own client registers with it (`eureka.client.register-with-eureka`).
    pub register_with_eureka: bool,
    /// Whether the server's own client fetches from it (`eureka.client.fetch-registry`): what the threshold
    /// update counts.
    pub fetch_registry: bool,
    /// Whether the server's own client shows only instances that are UP (`eureka.client.filter-only-up-instances`):
    /// with it the start-up copy and the threshold update pass over all others.
    pub filter_only_up_instances: bool,
    /// Ours: whether the eviction timer fires before the minute bucket's when both are due at once
    /// (`eureka-server.md` 9.1; default false).
    pub eviction_before_bucket: bool,
    /// Ours: whether requests that queued up while the process was paused are answered after it
    /// (`eureka-server.md` section 9; default true).
    pub process_backlog_after_pause: bool,
}

impl ServerConfig {
    /// The flavour's defaults on the newest release, standalone: register and fetch off.
    pub fn defaults(flavour: Flavour) -> Self {
        let spring = flavour == Flavour::Spring;
        Self {
            flavour,
            rules: ServerRules { decrement_expected_on_eviction: true, legacy_threshold: false },
            enable_self_preservation: true,
            renewal_percent_threshold: 0.85,
            renewal_threshold_update_interval_ms: 900_000,
            expected_client_renewal_interval_seconds: 30,
            eviction_interval_timer_in_ms: 60_000,
            use_read_only_response_cache: true,
            response_cache_update_interval_ms: 30_000,
            response_cache_auto_expiration_in_seconds: 180,
            retention_time_in_ms_in_delta_queue: 180_000,
            delta_retention_timer_interval_in_ms: 30_000,
            disable_delta: false,
            sync_when_timestamp_differs: true,
            registry_sync_retries: if spring { 0 } else { 5 },
            registry_sync_retry_wait_ms: 30_000,
            wait_time_in_ms_when_sync_empty: 300_000,
            peer_node_connect_timeout_ms: if spring { 200 } else { 1_000 },
            peer_node_read_timeout_ms: if spring { 200 } else { 5_000 },
            max_elements_in_peer_replication_pool: 10_000,
            max_threads_for_peer_replication: 20,
            max_time_for_replication: 30_000,
            expected_number_of_clients_sending_renews: u32::from(spring),
            default_open_for_traffic_count: u32::from(spring),
            register_with_eureka: false,
            fetch_registry: false,
            filter_only_up_instances: true,
            eviction_before_bucket: false,
            process_backlog_after_pause: true,
        }
    }

    /// How long after its start a server accepts requests, if nobody is there to copy from: plain Netflix
    /// serves nothing before `openForTraffic` (`eureka-server.md` 8.1), Spring serves at once.
    pub fn serves_after(&self) -> SimDuration {
        match self.flavour {
            Flavour::Spring => SimDuration::ZERO,
            Flavour::Netflix => {
                let waits = u64::from(self.registry_sync_retries.saturating_sub(1));
                SimDuration::from_millis(waits * u64::from(self.registry_sync_retry_wait_ms))
            }
        }
    }
}
