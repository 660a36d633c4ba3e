//! Properties of real configurations that this model does not have, so that a pasted `application.yml` is
//! answered with the reason and not with "unknown key".
//!
//! Names from `eureka-server.md` section 10 and `eureka-client.md` section 10.

use crate::scenario::diagnostics::suggest::uniform;

const POOLS: &str = "pools of connections are left out";
const GROUPS: &str = "it concerns AWS auto-scaling groups only";
const SERVERS: &str = "say which servers an application knows with its `servers` or `server-zones`";
const AWS: &str = "regions and zones are left out";
const DEAD: &str = "no Eureka code reads it";
const FORMAT: &str = "payload formats and sizes are left out";
const PROCESS: &str = "it shapes the process, not the registry";

const SERVER: [(&str, &str); 32] = [
    ("peer-eureka-nodes-update-interval-ms", "peers do not change while a server runs"),
    ("peer-node-total-connections", POOLS),
    ("peer-node-total-connections-per-host", POOLS),
    ("peer-node-connection-idle-timeout-seconds", POOLS),
    ("min-threads-for-peer-replication", DEAD),
    ("min-threads-for-status-replication", DEAD),
    ("max-idle-thread-age-in-minutes-for-peer-replication", DEAD),
    ("max-idle-thread-in-minutes-age-for-status-replication", DEAD),
    ("max-elements-in-status-replication-pool", GROUPS),
    ("max-threads-for-status-replication", GROUPS),
    ("enable-replicated-request-compression", FORMAT),
    ("min-available-instances-for-peer-replication", "it decides only what the status page says"),
    ("number-of-replication-retries", DEAD),
    ("peer-eureka-status-refresh-time-interval-ms", DEAD),
    ("batch-replication", DEAD),
    ("my-url", "say whether servers know their own URL with `recognises-own-url` in `[server]`"),
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
    ("prime-aws-replica-connections", AWS),
    ("json-codec-name", FORMAT),
    ("xml-codec-name", FORMAT),
    ("remote-region-urls", AWS),
    ("remote-region-urls-with-name", AWS),
    ("remote-region-connect-timeout-ms", AWS),
    ("remote-region-read-timeout-ms", AWS),
    ("remote-region-registry-fetch-interval", AWS),
    ("remote-region-fetch-thread-pool-size", AWS),
    ("disable-transparent-fallback-to-other-region", AWS),
    ("a-s-g-update-interval-ms", AWS),
];

const CLIENT: [(&str, &str); 17] = [
    ("enabled", "leave the application out instead"),
    ("service-url", SERVERS),
    (
        "prefer-same-zone-eureka",
        "it has no effect on the order of servers (`eureka-client.md` 6.3); see `server-zones`",
    ),
    ("region", AWS),
    ("availability-zones", "say in which order zones are tried with an application's `server-zones`"),
    ("fetch-remote-regions-registry", AWS),
    ("use-dns-for-fetching-service-urls", SERVERS),
    ("allow-redirects", "no server redirects"),
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
pub(crate) fn why(section: &str, key: &str) -> Option<&'static str> {
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
        assert_eq!(why("eureka.client", "serviceUrl"), Some(SERVERS));
        assert_eq!(why("eureka.server", "service-url"), None);
        assert_eq!(why("start", "enabled"), None);
    }
}
