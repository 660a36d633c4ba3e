//! What one registry calls a setting that another calls otherwise: Eureka's names, Nacos' names, and those of the
//! two-stage registry. So that whoever writes one registry's settings for another is told the right name, or why there is
//! none.

use crate::scenario::diagnostics::suggest::uniform;
use crate::scenario::document::{Entry, Value};

/// A setting of Eureka's, and what stands in its place in `[two-stage]`.
struct EurekaCounterpart {
    /// Where it stands in a file.
    section: &'static str,
    name: &'static str,
    /// The parameters that say the same, or nearly.
    ours: &'static [&'static str],
    /// Why there is none, or what else to know. May be empty.
    why: &'static str,
}

const fn of(
    section: &'static str,
    name: &'static str,
    ours: &'static [&'static str],
    why: &'static str,
) -> EurekaCounterpart {
    EurekaCounterpart { section, name, ours, why }
}

const SERVER: &str = "eureka.server";
const CLIENT: &str = "eureka.client";
const INSTANCE: &str = "eureka.instance";
const NO_CACHE: &str = "there is no cache between the registry and its clients";
const NO_DELTA: &str = "there are no deltas: every answer is a whole list";
const NO_PEERS: &str = "the registry is one server, without peers";
const NO_COUNT: &str = "its guard counts entries, not renewals";
const NO_COPY: &str = "the registry copies nothing, and serves from its start";
const NO_STATUS: &str = "an instance has no status of its own: it is healthy until it is silent";

/// In the order of Eureka's sections. What is not among them has no counterpart.
static EUREKA: [EurekaCounterpart; 33] = [
    of(SERVER, "enable-self-preservation", &["guard"], "`\"ratio\"` or `\"none\"`"),
    of(SERVER, "renewal-percent-threshold", &["guard-min-healthy-pct"], "in percent"),
    of(SERVER, "renewal-threshold-update-interval-ms", &[], NO_COUNT),
    of(SERVER, "expected-client-renewal-interval-seconds", &[], NO_COUNT),
    of(SERVER, "eviction-interval-timer-in-ms", &["sweep-interval-ms"], ""),
    of(SERVER, "use-read-only-response-cache", &[], NO_CACHE),
    of(SERVER, "response-cache-update-interval-ms", &[], NO_CACHE),
    of(SERVER, "response-cache-auto-expiration-in-seconds", &[], NO_CACHE),
    of(SERVER, "retention-time-in-m-s-in-delta-queue", &[], NO_DELTA),
    of(SERVER, "delta-retention-timer-interval-in-ms", &[], NO_DELTA),
    of(SERVER, "disable-delta", &[], NO_DELTA),
    of(SERVER, "registry-sync-retries", &[], NO_COPY),
    of(SERVER, "registry-sync-retry-wait-ms", &[], NO_COPY),
    of(SERVER, "wait-time-in-ms-when-sync-empty", &[], NO_COPY),
    of(SERVER, "peer-node-connect-timeout-ms", &[], NO_PEERS),
    of(SERVER, "peer-node-read-timeout-ms", &[], NO_PEERS),
    of(SERVER, "max-elements-in-peer-replication-pool", &[], NO_PEERS),
    of(SERVER, "max-threads-for-peer-replication", &[], NO_PEERS),
    of(SERVER, "max-time-for-replication", &[], NO_PEERS),
    of(CLIENT, "registry-fetch-interval-seconds", &["poll-interval-ms"], ""),
    of(CLIENT, "cache-refresh-executor-exponential-back-off-bound", &["backoff-cap-ms"], "in milliseconds"),
    of(CLIENT, "eureka-server-connect-timeout-seconds", &["request-timeout-ms"], ""),
    of(CLIENT, "eureka-server-read-timeout-seconds", &["request-timeout-ms"], ""),
    of(CLIENT, "disable-delta", &[], NO_DELTA),
    of(CLIENT, "log-delta-diff", &[], NO_DELTA),
    of(CLIENT, "filter-only-up-instances", &[], "instances that are not healthy are never served"),
    of(CLIENT, "should-unregister-on-shutdown", &[], "an orderly stop always deregisters"),
    of(CLIENT, "on-demand-update-status-change", &[], NO_STATUS),
    of(INSTANCE, "lease-renewal-interval-in-seconds", &["heartbeat-interval-ms"], ""),
    of(
        INSTANCE,
        "lease-expiration-duration-in-seconds",
        &["soft-timeout-ms", "hard-timeout-ms"],
        "here it is two in `[two-stage]`: `soft-timeout-ms` hides an instance, `hard-timeout-ms` removes it",
    ),
    of(INSTANCE, "instance-enabled-onit", &[], NO_STATUS),
    of(INSTANCE, "initial-status", &[], NO_STATUS),
    of("eureka.client.healthcheck", "enabled", &[], NO_STATUS),
];

/// Nacos' own names, of 1.4.x, and what to write instead.
static NACOS: [(&str, &str); 12] = [
    ("preserved.heart.beat.interval", "here it is `heartbeat-interval-ms` in `[two-stage]`"),
    ("preserved.heart.beat.timeout", "here it is `soft-timeout-ms` in `[two-stage]`"),
    ("preserved.ip.delete.timeout", "here it is `hard-timeout-ms` in `[two-stage]`"),
    ("protect-threshold", "here it is `read-protect-threshold` in `[two-stage]`"),
    ("naming-push-empty-protection", "here it is `sanity = \"push-empty\"` in `[two-stage]`"),
    ("naming-load-cache-at-start", "here it is `disk-load-at-start` in `[two-stage]`"),
    ("default-push-cache-millis", "here it is `poll-interval-ms` in `[two-stage]`"),
    ("default-cache-millis", "here it is `poll-interval-ms` in `[two-stage]`"),
    (
        "nacos.naming.expire-instance",
        "nothing switches removals off; a long `hard-timeout-ms` postpones them",
    ),
    (
        "light-beat-enabled",
        "a beat for an instance that is missing is always answered so that its client registers",
    ),
    ("nacos.naming.empty-service.auto-clean", "a service that has become empty is never removed"),
    ("nacos.naming.distro.task-dispatch-period", NO_PEERS),
];

/// Parameters of `two-stage.md` section 6 that are none of the registry's: they are for the calls between instances.
static OF_CALLS: [(&str, &str); 4] = [
    ("retries", "it is `retries-on-next-instance` in `[traffic]`"),
    (
        "connect-timeout-ms",
        "calls take no time; `read-timeout` in `[traffic]` is for instances that stand still",
    ),
    ("breaker-failures", "callers have no circuit breaker"),
    ("breaker-open-ms", "callers have no circuit breaker"),
];

/// What a setting of Eureka's is under a two-stage registry.
pub(crate) fn counterpart_of_eureka_key(section: &str, name: &str) -> Option<String> {
    let known = EUREKA.iter().find(|known| known.name == name && known.section == section)?;
    Some(match (known.ours, known.why) {
        ([only], "") => format!("here it is `{only}` in `[two-stage]`"),
        ([only], why) => format!("here it is `{only}` in `[two-stage]`, {why}"),
        (_, why) => why.to_owned(),
    })
}

/// What a parameter of the two-stage registry is under Eureka.
pub(crate) fn counterpart_of_two_stage_key(name: &str) -> Option<String> {
    let known = EUREKA.iter().find(|known| known.ours.contains(&name))?;
    Some(format!("in Eureka it is `{}` in `[{}]`", known.name, known.section))
}

/// What an unknown key was meant to say, if it is a name that others have: what is wrong with it, and what to write.
pub(crate) fn meant(entry: &Entry, below_two_stage: bool) -> Option<(String, String)> {
    let key = dotted(entry);
    let is = |name: &str| uniform(name) == uniform(&key);
    if let Some((_, hint)) = NACOS.iter().find(|(name, _)| is(name)) {
        return Some((format!("`{key}` is Nacos' own name"), (*hint).to_owned()));
    }
    if !below_two_stage {
        return None;
    }
    if let Some((_, hint)) = OF_CALLS.iter().find(|(name, _)| is(name)) {
        return Some((format!("`{key}` is no setting of the registry"), (*hint).to_owned()));
    }
    let known = EUREKA.iter().find(|known| is(known.name))?;
    Some((format!("`{key}` is Eureka's name"), counterpart_of_eureka_key(known.section, known.name)?))
}

/// A key with those that stand below it, as Nacos' dotted names come out of TOML.
fn dotted(entry: &Entry) -> String {
    let mut name = entry.key.clone();
    let mut value = &entry.node.value;
    while let Value::Table(table) = value
        && let [only] = table.entries.as_slice()
    {
        name = format!("{name}.{}", only.key);
        value = &only.node.value;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::eureka::format::EUREKA as ALL;
    use crate::scenario::format::{Section, form::Below};
    use crate::scenario::two_stage::format::TWO_STAGE;

    fn find(section: &'static Section, path: &str, name: &str) -> bool {
        (section.path == path && section.key(name).is_some())
            || (section.keys)().iter().any(|key| match key.form.below() {
                Below::Table(below) => find(below, path, name),
                _ => false,
            })
    }

    #[test]
    fn both_names_are_ones_of_the_format() {
        for known in &EUREKA {
            assert!(find(&ALL, known.section, known.name), "{}.{}", known.section, known.name);
            assert!(known.ours.iter().all(|name| TWO_STAGE.key(name).is_some()), "{}", known.name);
            assert!(!known.ours.is_empty() || !known.why.is_empty(), "{}", known.name);
        }
    }

    #[test]
    fn no_parameter_is_taken_for_a_foreign_one() {
        let foreign = NACOS.iter().chain(&OF_CALLS).map(|(name, _)| *name);
        for name in foreign.chain(EUREKA.iter().map(|known| known.name)) {
            assert!(TWO_STAGE.key(name).is_none(), "{name}");
        }
    }
}
