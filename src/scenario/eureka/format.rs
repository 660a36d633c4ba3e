//! The format as data: what stands above a client, its balancer, and below it, its transport.

use crate::engine::SimDuration;
use crate::model::eureka::ServerConfig;
use crate::model::eureka::client::{BalancerConfig, TransportConfig, TransportKind};
use crate::scenario::eureka::properties;
use crate::scenario::format::forms::{
    Flag, Length, Maybe, OneOf, Or, Rate, Table, length, positive_length, words,
};
use crate::scenario::format::{self, Key, key, section, settings};

/// The kinds of balancer.
pub(crate) const BALANCER_KINDS: &[&str] = &["spring-cloud-loadbalancer", "ribbon", "none"];

/// `[balancer]` as it is written: of each kind its own keys.
pub(crate) struct Balancer {
    pub(crate) kind: &'static str,
    pub(crate) ttl: Option<SimDuration>,
    pub(crate) refresh_interval: Option<SimDuration>,
    pub(crate) call_rate: Option<Option<f64>>,
    pub(crate) first_call: Option<SimDuration>,
}

settings! {
    /// `[balancer]` and `[application.balancer]`
    balancer: Balancer, "balancer";
    "kind": OneOf(BALANCER_KINDS), kind, else "the release's", "Which balancer picks the instances.";
    "ttl": Maybe(positive_length()), ttl = Some(SimDuration::from_secs(35)),
        "`spring.cloud.loadbalancer.cache.ttl`. Only with `spring-cloud-loadbalancer`.";
    "refresh-interval": Maybe(positive_length()), refresh_interval = Some(SimDuration::from_secs(30)),
        "`ServerListRefreshInterval`. Only with `ribbon`.";
    "calls-per-second": Maybe(Or(Rate, "dense")), call_rate = Some(None),
        "Calls a second of one observer to each application; `dense`: some call comes at once. Only with \
        `spring-cloud-loadbalancer`.";
    "first-call": Or(length(), "random"), first_call = None,
        "The moment of an observer's first call through its balancer, from its start; `random`: uniform over one \
        time to live or poll interval, counted from its start or, for those that start in the start window, from \
        one fetch interval after the window's end.";
}

impl Balancer {
    /// What a file says of a balancer.
    pub(crate) fn of(config: &BalancerConfig, first_call: Option<SimDuration>) -> Self {
        let [lists, ribbon, none] = [0, 1, 2].map(|at| BALANCER_KINDS[at]);
        let own = Self { kind: none, ttl: None, refresh_interval: None, call_rate: None, first_call };
        match *config {
            BalancerConfig::None => own,
            BalancerConfig::Ribbon { refresh_interval } => {
                Self { kind: ribbon, refresh_interval: Some(refresh_interval), ..own }
            }
            BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate } => {
                Self { kind: lists, ttl: Some(ttl), call_rate: Some(call_rate), ..own }
            }
        }
    }

    /// One of a kind, with the defaults of its keys.
    pub(crate) fn usual(kind: &'static str) -> Self {
        format::reset(balancer::ALL, Self { kind, ..Self::of(&BalancerConfig::None, None) })
    }

    /// What is checked; keys of other kinds say nothing.
    pub(crate) fn config(&self) -> BalancerConfig {
        match (self.ttl, self.refresh_interval) {
            (Some(ttl), _) if self.kind == BALANCER_KINDS[0] => {
                BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: self.call_rate.flatten() }
            }
            (_, Some(refresh_interval)) if self.kind == BALANCER_KINDS[1] => {
                BalancerConfig::Ribbon { refresh_interval }
            }
            _ => BalancerConfig::None,
        }
    }
}

words! {
    /// The kinds of transport.
    TRANSPORT_KIND: TransportKind {
        Jersey = "jersey", RestTemplate = "rest-template", RestClient = "rest-client", WebClient = "web-client",
    }
}

const LIMIT: Or<Length> = Or(positive_length(), "none");

settings! {
    /// `[transport]`, `[application.transport]` and `[server.transport]`
    transport: TransportConfig, "transport";
    "kind": TRANSPORT_KIND, kind, else "the release's", "Which HTTP client.";
    "connect-timeout": LIMIT, connect_timeout, else "the kind's",
        "Connect limit; `none` waits as long as the operating system does (127 s).";
    "read-timeout": LIMIT, read_timeout, else "the kind's",
        "Read limit; `none` waits as long as the operating system does (about 15 min).";
    "pooled": Flag, pooled, else "the kind's",
        "Whether a call 30 s after the last one finds a pooled connection.";
    "interrupt-cancels-retries": Flag, interrupt_cancels_retries, else "the kind's",
        "Whether a supervisor's interrupt makes every later attempt of the job fail.";
    "understands-not-found": Flag, understands_not_found, else "the release's",
        "Whether a heartbeat's 404 with a JSON body is understood.";
}

settings! {
    /// What `[server]` says of the servers' own clients and of their processes.
    process: ServerConfig, "server";
    "register-with-eureka": Flag, register_with_eureka = false,
        "`eureka.client.register-with-eureka` of the servers' own clients.";
    "fetch-registry": Flag, fetch_registry = false,
        "`eureka.client.fetch-registry` of the servers' own clients.";
    "eviction-before-bucket": Flag, eviction_before_bucket = false,
        "Whether the eviction timer fires before the minute bucket's when both are due at once.";
    "process-backlog-after-pause": Flag, process_backlog_after_pause = true,
        "Whether requests that queued up while the process was paused are answered after it.";
}

static EUREKA_KEYS: [Key; 3] = [
    key("server", &Table(&EUREKA_SERVER), "", "`eureka.server.…`"),
    key("client", &Table(&EUREKA_CLIENT), "", "`eureka.client.…` of the fleet"),
    key("instance", &Table(&EUREKA_INSTANCE), "", "`eureka.instance.…` of the fleet"),
];
section!(
    /// `[eureka]`
    EUREKA,
    "eureka",
    EUREKA_KEYS.iter().collect()
);
section!(
    /// `[application.eureka]` and `[server.eureka]`
    OWN_EUREKA,
    "eureka",
    EUREKA_KEYS[1..2].iter().chain([&OWN_INSTANCE_KEY]).collect()
);
static OWN_INSTANCE_KEY: Key =
    key("instance", &Table(&OWN_INSTANCE), "", "`eureka.instance.…` of these instances");
section!(
    /// `[eureka.server]`
    EUREKA_SERVER,
    "eureka.server",
    format::keys(properties::server::ALL).collect()
);
static CLIENT_EXTRA_KEYS: [Key; 4] = [
    key(
        "eureka-server-connect-timeout-seconds",
        &properties::SECONDS,
        "5",
        "Connect limit of the Jersey transport. Without effect on any other.",
    ),
    key(
        "eureka-server-read-timeout-seconds",
        &properties::SECONDS,
        "8",
        "Read limit of the Jersey transport. Without effect on any other.",
    ),
    key("transport", &Table(&CLIENT_TRANSPORT), "", "`eureka.client.transport.…`"),
    key("healthcheck", &Table(&CLIENT_HEALTHCHECK), "", "`eureka.client.healthcheck.…`"),
];
section!(
    /// `[eureka.client]`
    EUREKA_CLIENT,
    "eureka.client",
    format::keys(properties::client::ALL).chain(&CLIENT_EXTRA_KEYS).collect()
);
section!(
    /// `[eureka.client.transport]`
    CLIENT_TRANSPORT,
    "eureka.client.transport",
    format::keys(properties::transport::ALL).collect()
);
section!(
    /// `[eureka.client.healthcheck]`
    CLIENT_HEALTHCHECK,
    "eureka.client.healthcheck",
    format::keys(properties::healthcheck::ALL).collect()
);
static REGISTRY_KEY: Key = key(
    "registry",
    &Table(&INSTANCE_REGISTRY),
    "",
    "`eureka.instance.registry.…`: how a Spring server counts its clients at the start",
);
section!(
    /// `[eureka.instance]`
    EUREKA_INSTANCE,
    "eureka.instance",
    format::keys(properties::instance::ALL).chain([&REGISTRY_KEY]).collect()
);
section!(
    /// `[application.eureka.instance]`
    OWN_INSTANCE,
    "eureka.instance",
    format::keys(properties::instance::ALL).collect()
);
section!(
    /// `[eureka.instance.registry]`
    INSTANCE_REGISTRY,
    "eureka.instance.registry",
    format::keys(properties::registry::ALL).collect()
);
