//! Properties of real configurations that this model does not have, so that a pasted `application.yml` is
//! answered with the reason and not with "unknown key".
//!
//! Names from `eureka-server.md` section 10 and `eureka-client.md` section 10.

use super::suggest::uniform;

const ONE_SERVER: &str = "there is one server: nothing is replicated and nobody fails over";
const AWS: &str = "regions and zones are left out";
const DEAD: &str = "no Eureka code reads it";
const FORMAT: &str = "payload formats and sizes are left out";
const PROCESS: &str = "it shapes the process, not the registry";

const SERVER: [(&str, &str); 30] = [
    ("peer-eureka-nodes-update-interval-ms", ONE_SERVER),
    ("peer-node-connect-timeout-ms", ONE_SERVER),
    ("peer-node-read-timeout-ms", ONE_SERVER),
    ("peer-node-total-connections", ONE_SERVER),
    ("peer-node-total-connections-per-host", ONE_SERVER),
    ("peer-node-connection-idle-timeout-seconds", ONE_SERVER),
    ("max-elements-in-peer-replication-pool", ONE_SERVER),
    ("max-threads-for-peer-replication", ONE_SERVER),
    ("min-threads-for-peer-replication", DEAD),
    ("min-threads-for-status-replication", DEAD),
    ("max-time-for-replication", ONE_SERVER),
    ("max-elements-in-status-replication-pool", ONE_SERVER),
    ("max-threads-for-status-replication", ONE_SERVER),
    ("enable-replicated-request-compression", ONE_SERVER),
    ("min-available-instances-for-peer-replication", ONE_SERVER),
    ("number-of-replication-retries", DEAD),
    ("peer-eureka-status-refresh-time-interval-ms", DEAD),
    ("batch-replication", DEAD),
    ("my-url", ONE_SERVER),
    ("rate-limiter-enabled", "Spring Cloud Netflix does not install the rate limiter's filter"),
    ("rate-limiter-burst-size", "Spring Cloud Netflix does not install the rate limiter's filter"),
    (
        "rate-limiter-full-fetch-average-rate",
        "Spring Cloud Netflix does not install the rate limiter's filter",
    ),
    (
        "rate-limiter-registry-fetch-average-rate",
        "Spring Cloud Netflix does not install the rate limiter's filter",
    ),
    ("initial-capacity-of-response-cache", "it is only the cache's initial size"),
    ("remote-region-connect-timeout-ms", AWS),
    ("remote-region-read-timeout-ms", AWS),
    ("remote-region-registry-fetch-interval", AWS),
    ("remote-region-fetch-thread-pool-size", AWS),
    ("disable-transparent-fallback-to-other-region", AWS),
    ("a-s-g-update-interval-ms", AWS),
];

const CLIENT: [(&str, &str); 18] = [
    ("enabled", "leave the application out instead"),
    ("service-url", ONE_SERVER),
    ("eureka-service-url-poll-interval-seconds", ONE_SERVER),
    ("prefer-same-zone-eureka", "it has no effect outside AWS"),
    ("region", AWS),
    ("availability-zones", AWS),
    ("fetch-remote-regions-registry", AWS),
    ("use-dns-for-fetching-service-urls", ONE_SERVER),
    ("allow-redirects", ONE_SERVER),
    ("g-zip-content", DEAD),
    ("registry-refresh-single-vip-address", "queries by VIP are left out"),
    ("backup-registry-impl", "there is no backup registry"),
    ("eureka-server-total-connections", PROCESS),
    ("eureka-server-total-connections-per-host", PROCESS),
    (
        "eureka-connection-idle-timeout-seconds",
        "say in `[transport]` whether calls find a pooled connection: `pooled`",
    ),
    ("refresh", PROCESS),
    ("rest-template-timeout", "set the limits in `[transport]`: `connect-timeout`, `read-timeout`"),
    ("restclient", "set the kind and the limits in `[transport]`"),
];

const INSTANCE: [(&str, &str); 12] = [
    ("appname", "the application's `name` is its name"),
    ("virtual-host-name", "queries by VIP are left out"),
    ("instance-id", "instance `n` of an application is called `name-n`"),
    ("hostname", PROCESS),
    ("ip-address", PROCESS),
    ("prefer-ip-address", PROCESS),
    ("non-secure-port", PROCESS),
    ("secure-port", PROCESS),
    ("metadata-map", FORMAT),
    ("status-page-url-path", FORMAT),
    ("health-check-url-path", FORMAT),
    ("async-client-initialization", PROCESS),
];

/// Why a property has no effect, if it is one that real configurations have.
pub(super) fn why(section: &str, key: &str) -> Option<&'static str> {
    let table: &[(&str, &'static str)] = match section {
        "eureka.server" => &SERVER,
        "eureka.client" => &CLIENT,
        "eureka.instance" => &INSTANCE,
        _ => return None,
    };
    table.iter().find(|(name, _)| uniform(name) == uniform(key)).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_known_in_any_spelling_but_only_in_its_section() {
        assert_eq!(why("eureka.client", "serviceUrl"), Some(ONE_SERVER));
        assert_eq!(why("eureka.server", "service-url"), None);
        assert_eq!(why("start", "enabled"), None);
    }
}
