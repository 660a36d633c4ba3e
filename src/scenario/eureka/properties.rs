//! Eureka's own properties: each with its kebab-case name, its range, its meaning and the field that it sets.
//!
//! Names, units and defaults are those of `eureka-server.md` section 10 and `eureka-client.md` section 10; the
//! defaults' values are [`ServerConfig::defaults`] and [`ClientConfig::defaults`] of either flavour. The parameters of the
//! two-stage registry are in [`crate::scenario::two_stage::parameters`].

use crate::model::eureka::client::ClientConfig;
use crate::model::eureka::{Flavour, ServerConfig};
use crate::model::message::Status;
use crate::scenario::format::forms::{Choice, Count, CountOrDefault, Flag, MS, MS_OR_NONE, SHARE};
use crate::scenario::format::{INSTANCES_MAX, Presets, settings};

/// Seconds that a property may name at most: their milliseconds must fit a Java `int`, in which Eureka computes
/// a lease's duration (`eureka-server.md` 1.1).
const SECONDS_MAX: u32 = 2_147_483;

/// Seconds, at least one.
pub(crate) const SECONDS: Count<u32> = Count { min: 1, max: SECONDS_MAX, unit: "seconds" };
const SECONDS_OR_NONE: Count<u32> = Count { min: 0, max: SECONDS_MAX, unit: "seconds" };
const HEARTBEAT: CountOrDefault = CountOrDefault { max: SECONDS_MAX, default: 30, unit: "seconds" };
const LEASE: CountOrDefault = CountOrDefault { max: SECONDS_MAX, default: 90, unit: "seconds" };
const CLIENTS: Count<u32> = Count { min: 0, max: INSTANCES_MAX, unit: "clients" };
const THREADS: Count<u32> = Count { min: 1, max: 1_000, unit: "threads" };
const TASKS: Count<u32> = Count { min: 1, max: 2_147_483_647, unit: "tasks" };
const TIMES: Count<u32> = Count { min: 1, max: 1_000, unit: "intervals" };
const TRIES: Count<u32> = Count { min: 0, max: 1_000, unit: "tries" };

/// The first status: one of Eureka's, or none ever set.
const STATUS: Choice<Option<Status>> = Choice {
    words: &[
        ("UP", Some(Status::Up)),
        ("DOWN", Some(Status::Down)),
        ("STARTING", Some(Status::Starting)),
        ("OUT_OF_SERVICE", Some(Status::OutOfService)),
        ("UNKNOWN", Some(Status::Unknown)),
        ("none", None),
    ],
    word: |status| status.map_or("none", Status::name),
    hint: |_| None,
};

impl Presets for ServerConfig {
    fn presets() -> [(&'static str, Self); 2] {
        [("spring", Self::defaults(Flavour::Spring)), ("netflix", Self::defaults(Flavour::Netflix))]
    }
}

impl Presets for ClientConfig {
    fn presets() -> [(&'static str, Self); 2] {
        [("spring", Self::defaults(Flavour::Spring)), ("netflix", Self::defaults(Flavour::Netflix))]
    }
}

settings! {
    /// `[eureka.server]`: `EurekaServerConfigBean`.
    server: ServerConfig, by_presets, "eureka.server";
    "enable-self-preservation": Flag, enable_self_preservation,
        "Whether evictions stop while too few renewals come (`eureka-server.md` 4.3).";
    "renewal-percent-threshold": SHARE, renewal_percent_threshold,
        "The share behind the renewal threshold and the limit of an eviction round (4.2, 3.1).";
    "renewal-threshold-update-interval-ms": MS, renewal_threshold_update_interval_ms,
        "How often the expected number of clients is counted anew (4.5).";
    "expected-client-renewal-interval-seconds": SECONDS_OR_NONE, expected_client_renewal_interval_seconds,
        "The heartbeat interval that the threshold assumes (4.2). Plain Netflix takes 0 for 30.";
    "eviction-interval-timer-in-ms": MS, eviction_interval_timer_in_ms,
        "From one eviction round to the next (3.1).";
    "use-read-only-response-cache": Flag, use_read_only_response_cache,
        "Whether clients are answered from the read-only cache (5.3).";
    "response-cache-update-interval-ms": MS, response_cache_update_interval_ms,
        "How often the read-only cache is refilled, on the wall clock's grid (5.4).";
    "response-cache-auto-expiration-in-seconds": SECONDS, response_cache_auto_expiration_in_seconds,
        "The age at which an entry of the read-write cache is loaded anew (5.2).";
    "retention-time-in-m-s-in-delta-queue": MS_OR_NONE, retention_time_in_ms_in_delta_queue,
        "How long a change stays in the delta, in milliseconds (section 6).";
    "delta-retention-timer-interval-in-ms": MS, delta_retention_timer_interval_in_ms,
        "How often old changes are removed from the delta (section 6).";
    "disable-delta": Flag, disable_delta, "Whether the delta is refused with 403 (7.1).";
    "sync-when-timestamp-differs": Flag, sync_when_timestamp_differs,
        "Whether a heartbeat with a newer dirty timestamp is answered 404 (7.2).";
    "registry-sync-retries": TRIES, registry_sync_retries, else "spring: 0, or 5 if the server registers \
        with itself; netflix: 5",
        "How often a starting server tries to copy a registry (8.2).";
    "registry-sync-retry-wait-ms": MS_OR_NONE, registry_sync_retry_wait_ms,
        "The wait between two tries (8.2).";
    "wait-time-in-ms-when-sync-empty": MS_OR_NONE, wait_time_in_ms_when_sync_empty,
        "How long fetches are refused after an empty start (7.3).";
    "peer-node-connect-timeout-ms": MS, peer_node_connect_timeout_ms,
        "How long a server waits for a connection to a peer (`eureka-peers.md` section 9).";
    "peer-node-read-timeout-ms": MS, peer_node_read_timeout_ms,
        "How long it waits for a peer's answer to a batch (`eureka-peers.md` section 9).";
    "max-elements-in-peer-replication-pool": TASKS, max_elements_in_peer_replication_pool,
        "Tasks that wait for a peer at most; beyond, the oldest is lost (`eureka-peers.md` 4.2).";
    "max-threads-for-peer-replication": THREADS, max_threads_for_peer_replication,
        "Batches that are under way to a peer at most (`eureka-peers.md` section 4).";
    "max-time-for-replication": MS, max_time_for_replication,
        "After this a cancellation or a status is no longer passed on, in milliseconds (`eureka-peers.md` \
        section 3).";
}

settings! {
    /// `[eureka.instance.registry]`: `InstanceRegistryProperties`.
    registry: ServerConfig, by_presets, "eureka.instance.registry";
    "expected-number-of-clients-sending-renews": CLIENTS, expected_number_of_clients_sending_renews,
        "The expected number of clients until the server opens (`eureka-server.md` 4.6).";
    "default-open-for-traffic-count": CLIENTS, default_open_for_traffic_count,
        "The expected number of clients when it opens with an empty registry (4.6).";
}

settings! {
    /// `[eureka.client]`: `EurekaClientConfigBean`.
    client: ClientConfig, by_presets, "eureka.client";
    "register-with-eureka": Flag, register_with_eureka, "Whether it registers.";
    "fetch-registry": Flag, fetch_registry, "Whether it fetches the registry.";
    "registry-fetch-interval-seconds": SECONDS, registry_fetch_interval_seconds,
        "From the end of one fetch to the next; also the supervisor's time-out (`eureka-client.md` 2.1).";
    "instance-info-replication-interval-seconds": SECONDS, instance_info_replication_interval_seconds,
        "How often a changed record is sent (4.1).";
    "initial-instance-info-replication-interval-seconds": SECONDS_OR_NONE,
        initial_instance_info_replication_interval_seconds,
        "Until the replicator's first run (1.1).";
    "heartbeat-executor-thread-pool-size": THREADS, heartbeat_executor_thread_pool_size,
        "Heartbeats that may hang at once (2.1).";
    "heartbeat-executor-exponential-back-off-bound": TIMES, heartbeat_executor_exponential_back_off_bound,
        "The longest delay after time-outs, in heartbeat intervals (2.1).";
    "cache-refresh-executor-thread-pool-size": THREADS, cache_refresh_executor_thread_pool_size,
        "Fetches that may hang at once (2.1).";
    "cache-refresh-executor-exponential-back-off-bound": TIMES,
        cache_refresh_executor_exponential_back_off_bound,
        "The longest delay after time-outs, in fetch intervals (2.1).";
    "eureka-service-url-poll-interval-seconds": SECONDS, eureka_service_url_poll_interval_seconds,
        "How often the list of servers is put in order anew (6.3). Without effect up to Eureka 1.10.13.";
    "disable-delta": Flag, disable_delta, "Whether every fetch is a full one (3.1).";
    "log-delta-diff": Flag, log_delta_diff, "Every delta is followed by a full fetch (3.3).";
    "filter-only-up-instances": Flag, filter_only_up_instances,
        "Whether only instances that are UP are handed out (3.6).";
    "on-demand-update-status-change": Flag, on_demand_update_status_change,
        "Whether a change of status is sent at once (4.3).";
    "should-unregister-on-shutdown": Flag, should_unregister_on_shutdown,
        "Whether an orderly stop sends DELETE (5.1).";
    "should-enforce-registration-at-init": Flag, should_enforce_registration_at_init,
        "Whether it registers while it is being built (1.1).";
}

settings! {
    /// `[eureka.client.transport]`: `EurekaTransportConfig`.
    transport: ClientConfig, by_presets, "eureka.client.transport";
    "sessioned-client-reconnect-interval-seconds": SECONDS, sessioned_client_reconnect_interval_seconds,
        "The mean length of a session with one server (6.5).";
    "retryable-client-quarantine-refresh-percentage": SHARE, retryable_client_quarantine_refresh_percentage,
        "The share of servers in quarantine at which it is cleared (6.2).";
}

settings! {
    /// `[eureka.client.healthcheck]`: of Spring Cloud's `EurekaDiscoveryClientConfiguration`.
    healthcheck: ClientConfig, by_presets, "eureka.client.healthcheck";
    "enabled": Flag, healthcheck_enabled,
        "Whether the instance's health decides its status, looked at by the replicator (4.2).";
}

settings! {
    /// `[eureka.instance]`: `EurekaInstanceConfigBean`.
    instance: ClientConfig, by_presets, "eureka.instance";
    "lease-renewal-interval-in-seconds": HEARTBEAT,
        lease_renewal_interval_in_seconds,
        "From the end of one heartbeat to the next; also the supervisor's time-out (`eureka-client.md` 2.4).";
    "lease-expiration-duration-in-seconds": LEASE,
        lease_expiration_duration_in_seconds,
        "The lease's duration: one of it after a registration, two after a heartbeat (section 7).";
    "instance-enabled-onit": Flag, instance_enabled_onit,
        "Whether the first status is UP and not STARTING (1.3).";
    "initial-status": STATUS, initial_status,
        "The status that it takes once it runs; `none`: it never sets one (1.2, 1.3).";
}
