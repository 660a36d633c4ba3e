//! Eureka's own properties: each with its kebab-case name, its range, its meaning and the field that it sets.
//!
//! Names, units and defaults are those of `eureka-server.md` section 10 and `eureka-client.md` section 10; the
//! defaults' values are [`ServerConfig::defaults`] and [`ClientConfig::defaults`]. Reading, printing and the
//! schema all go through these tables, so that a property is added in one line. How a property is read and printed is
//! in [`super::property`]; the parameters of the two-stage registry are in [`super::parameters`].

use super::format::{Key, Shape};
use super::property::{Field, MS, MS_MAX, MS_OR_NONE, Property, properties};
use crate::model::eureka::ServerConfig;
use crate::model::eureka::client::ClientConfig;

/// Seconds that a property may name at most: their milliseconds must fit a Java `int`, in which Eureka computes
/// a lease's duration (`eureka-server.md` 1.1).
pub(super) const SECONDS_MAX: u64 = 2_147_483;

const SECONDS: Shape = Shape::Count { min: 1, max: SECONDS_MAX, unit: "seconds" };
const SECONDS_OR_NONE: Shape = Shape::Count { min: 0, max: SECONDS_MAX, unit: "seconds" };
const CLIENTS: Shape = Shape::Count { min: 0, max: super::format::INSTANCES_MAX, unit: "clients" };
const THREADS: Shape = Shape::Count { min: 1, max: 1_000, unit: "threads" };
const TASKS: Shape = Shape::Count { min: 1, max: MS_MAX, unit: "tasks" };
const TIMES: Shape = Shape::Count { min: 1, max: 1_000, unit: "intervals" };
const TRIES: Shape = Shape::Count { min: 0, max: 1_000, unit: "tries" };

/// What `initial-status` may say.
pub(super) const STATUSES: &[&str] = &["UP", "DOWN", "STARTING", "OUT_OF_SERVICE", "UNKNOWN", "none"];

/// `[eureka.server]`: `EurekaServerConfigBean`.
pub(super) static SERVER: &[Property<ServerConfig>] = properties![
    "enable-self-preservation", Shape::Flag, Flag enable_self_preservation, "true",
        "Whether evictions stop while too few renewals come (`eureka-server.md` 4.3).";
    "renewal-percent-threshold", Shape::Share, Share renewal_percent_threshold, "0.85",
        "The share behind the renewal threshold and the limit of an eviction round (4.2, 3.1).";
    "renewal-threshold-update-interval-ms", MS, Count renewal_threshold_update_interval_ms, "900000",
        "How often the expected number of clients is counted anew (4.5).";
    "expected-client-renewal-interval-seconds", SECONDS_OR_NONE, Count expected_client_renewal_interval_seconds, "30",
        "The heartbeat interval that the threshold assumes (4.2). Plain Netflix takes 0 for 30.";
    "eviction-interval-timer-in-ms", MS, Count eviction_interval_timer_in_ms, "60000",
        "From one eviction round to the next (3.1).";
    "use-read-only-response-cache", Shape::Flag, Flag use_read_only_response_cache, "true",
        "Whether clients are answered from the read-only cache (5.3).";
    "response-cache-update-interval-ms", MS, Count response_cache_update_interval_ms, "30000",
        "How often the read-only cache is refilled, on the wall clock's grid (5.4).";
    "response-cache-auto-expiration-in-seconds", SECONDS, Count response_cache_auto_expiration_in_seconds, "180",
        "The age at which an entry of the read-write cache is loaded anew (5.2).";
    "retention-time-in-m-s-in-delta-queue", MS_OR_NONE, Count retention_time_in_ms_in_delta_queue, "180000",
        "How long a change stays in the delta, in milliseconds (section 6).";
    "delta-retention-timer-interval-in-ms", MS, Count delta_retention_timer_interval_in_ms, "30000",
        "How often old changes are removed from the delta (section 6).";
    "disable-delta", Shape::Flag, Flag disable_delta, "false",
        "Whether the delta is refused with 403 (7.1).";
    "sync-when-timestamp-differs", Shape::Flag, Flag sync_when_timestamp_differs, "true",
        "Whether a heartbeat with a newer dirty timestamp is answered 404 (7.2).";
    "registry-sync-retries", TRIES, Count registry_sync_retries,
        "spring: 0, or 5 if the server registers with itself; netflix: 5",
        "How often a starting server tries to copy a registry (8.2).";
    "registry-sync-retry-wait-ms", MS_OR_NONE, Count registry_sync_retry_wait_ms, "30000",
        "The wait between two tries (8.2).";
    "wait-time-in-ms-when-sync-empty", MS_OR_NONE, Count wait_time_in_ms_when_sync_empty, "300000",
        "How long fetches are refused after an empty start (7.3).";
    "peer-node-connect-timeout-ms", MS, Count peer_node_connect_timeout_ms, "spring: 200; netflix: 1000",
        "How long a server waits for a connection to a peer (`eureka-peers.md` section 9).";
    "peer-node-read-timeout-ms", MS, Count peer_node_read_timeout_ms, "spring: 200; netflix: 5000",
        "How long it waits for a peer's answer to a batch (`eureka-peers.md` section 9).";
    "max-elements-in-peer-replication-pool", TASKS, Count max_elements_in_peer_replication_pool, "10000",
        "Tasks that wait for a peer at most; beyond, the oldest is lost (`eureka-peers.md` 4.2).";
    "max-threads-for-peer-replication", THREADS, Count max_threads_for_peer_replication, "20",
        "Batches that are under way to a peer at most (`eureka-peers.md` section 4).";
    "max-time-for-replication", MS, Count max_time_for_replication, "30000",
        "After this a cancellation or a status is no longer passed on, in milliseconds (`eureka-peers.md` section 3).";
];

/// `[eureka.instance.registry]`: `InstanceRegistryProperties`.
pub(super) static REGISTRY: &[Property<ServerConfig>] = properties![
    "expected-number-of-clients-sending-renews", CLIENTS, Count expected_number_of_clients_sending_renews,
        "spring: 1; netflix: 0",
        "The expected number of clients until the server opens (`eureka-server.md` 4.6).";
    "default-open-for-traffic-count", CLIENTS, Count default_open_for_traffic_count, "spring: 1; netflix: 0",
        "The expected number of clients when it opens with an empty registry (4.6).";
];

/// `[eureka.client]`: `EurekaClientConfigBean`.
pub(super) static CLIENT: &[Property<ClientConfig>] = properties![
    "register-with-eureka", Shape::Flag, Flag register_with_eureka, "true",
        "Whether it registers.";
    "fetch-registry", Shape::Flag, Flag fetch_registry, "true",
        "Whether it fetches the registry.";
    "registry-fetch-interval-seconds", SECONDS, Count registry_fetch_interval_seconds, "30",
        "From the end of one fetch to the next; also the supervisor's time-out (`eureka-client.md` 2.1).";
    "instance-info-replication-interval-seconds", SECONDS, Count instance_info_replication_interval_seconds, "30",
        "How often a changed record is sent (4.1).";
    "initial-instance-info-replication-interval-seconds", SECONDS_OR_NONE,
        Count initial_instance_info_replication_interval_seconds, "40",
        "Until the replicator's first run (1.1).";
    "heartbeat-executor-thread-pool-size", THREADS, Count heartbeat_executor_thread_pool_size,
        "spring: 2; netflix: 5",
        "Heartbeats that may hang at once (2.1).";
    "heartbeat-executor-exponential-back-off-bound", TIMES, Count heartbeat_executor_exponential_back_off_bound,
        "10",
        "The longest delay after time-outs, in heartbeat intervals (2.1).";
    "cache-refresh-executor-thread-pool-size", THREADS, Count cache_refresh_executor_thread_pool_size,
        "spring: 2; netflix: 5",
        "Fetches that may hang at once (2.1).";
    "cache-refresh-executor-exponential-back-off-bound", TIMES,
        Count cache_refresh_executor_exponential_back_off_bound, "10",
        "The longest delay after time-outs, in fetch intervals (2.1).";
    "eureka-service-url-poll-interval-seconds", SECONDS, Count eureka_service_url_poll_interval_seconds, "300",
        "How often the list of servers is put in order anew (6.3). Without effect up to Eureka 1.10.13.";
    "disable-delta", Shape::Flag, Flag disable_delta, "false",
        "Whether every fetch is a full one (3.1).";
    "log-delta-diff", Shape::Flag, Flag log_delta_diff, "false",
        "Every delta is followed by a full fetch (3.3).";
    "filter-only-up-instances", Shape::Flag, Flag filter_only_up_instances, "true",
        "Whether only instances that are UP are handed out (3.6).";
    "on-demand-update-status-change", Shape::Flag, Flag on_demand_update_status_change, "true",
        "Whether a change of status is sent at once (4.3).";
    "should-unregister-on-shutdown", Shape::Flag, Flag should_unregister_on_shutdown, "true",
        "Whether an orderly stop sends DELETE (5.1).";
    "should-enforce-registration-at-init", Shape::Flag, Flag should_enforce_registration_at_init, "false",
        "Whether it registers while it is being built (1.1).";
];

/// `[eureka.client.transport]`: `EurekaTransportConfig`.
pub(super) static CLIENT_TRANSPORT: &[Property<ClientConfig>] = properties![
    "sessioned-client-reconnect-interval-seconds", SECONDS, Count sessioned_client_reconnect_interval_seconds,
        "1200",
        "The mean length of a session with one server (6.5).";
    "retryable-client-quarantine-refresh-percentage", Shape::Share,
        Share retryable_client_quarantine_refresh_percentage, "0.66",
        "The share of servers in quarantine at which it is cleared (6.2).";
];

/// `[eureka.client.healthcheck]`: of Spring Cloud's `EurekaDiscoveryClientConfiguration`.
pub(super) static CLIENT_HEALTHCHECK: &[Property<ClientConfig>] = properties![
    "enabled", Shape::Flag, Flag healthcheck_enabled, "false",
        "Whether the instance's health decides its status, looked at by the replicator (4.2).";
];

/// `[eureka.instance]`: `EurekaInstanceConfigBean`.
pub(super) static INSTANCE: &[Property<ClientConfig>] = properties![
    "lease-renewal-interval-in-seconds",
        Shape::CountOrDefault { max: SECONDS_MAX, default: 30, unit: "seconds" },
        Count lease_renewal_interval_in_seconds, "30",
        "From the end of one heartbeat to the next; also the supervisor's time-out (`eureka-client.md` 2.4).";
    "lease-expiration-duration-in-seconds",
        Shape::CountOrDefault { max: SECONDS_MAX, default: 90, unit: "seconds" },
        Count lease_expiration_duration_in_seconds, "90",
        "The lease's duration: one of it after a registration, two after a heartbeat (section 7).";
    "instance-enabled-onit", Shape::Flag, Flag instance_enabled_onit, "false",
        "Whether the first status is UP and not STARTING (1.3).";
    "initial-status", Shape::Choice(STATUSES), Status initial_status, "UP",
        "The status that it takes once it runs; `none`: it never sets one (1.2, 1.3).";
];
