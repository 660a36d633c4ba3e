//! The settings of the server and of the clients, layer upon layer: the release's, the file's, an application's.

use crate::engine::SimDuration;
use crate::model::eureka::client::{BalancerConfig, ClientConfig, TransportConfig, TransportKind};
use crate::model::eureka::{Flavour, ServerConfig};
use crate::scenario::diagnostics::Problem;
use crate::scenario::eureka::format::{self, BALANCER_KINDS, Balancer, TRANSPORT_KIND, balancer};
use crate::scenario::eureka::properties;
use crate::scenario::eureka::release::Rules;
use crate::scenario::format::apply;
use crate::scenario::format::forms::OneOf;
use crate::scenario::format::values::Values;

/// A transport's word in a file.
pub(crate) fn transport_word(kind: TransportKind) -> &'static str {
    TRANSPORT_KIND.word(&kind)
}

/// The server's settings.
pub(crate) fn server(
    top: Values<'_>,
    rules: &Rules,
    flavour: Flavour,
    problems: &mut Vec<Problem>,
) -> ServerConfig {
    let mut config = ServerConfig { rules: rules.server, ..ServerConfig::defaults(flavour) };
    apply(format::process::ALL, top.section("server"), &mut config);
    if flavour == Flavour::Spring && config.register_with_eureka {
        // `EurekaServerAutoConfiguration` presets it; an explicit property wins (`eureka-server.md` 8.2).
        config.registry_sync_retries = 5;
    }
    let settings = top.section("eureka").section("server");
    apply(properties::server::ALL, settings, &mut config);
    let registry = top.section("eureka").section("instance").section("registry");
    match (flavour, registry.0) {
        (Flavour::Netflix, Some(table)) => problems.push(
            Problem::error(table.place.clone(), "plain Netflix has no `eureka.instance.registry`")
                .label("a setting of Spring Cloud Netflix")
                .hint("leave it out, or set `flavour = \"spring\"`"),
        ),
        _ => apply(properties::registry::ALL, registry, &mut config),
    }
    assumed_interval(settings, &mut config, problems);
    config
}

/// An `expected-client-renewal-interval-seconds` of zero: plain Netflix takes the default, Spring divides by it.
fn assumed_interval(settings: Values<'_>, config: &mut ServerConfig, problems: &mut Vec<Problem>) {
    let name = "expected-client-renewal-interval-seconds";
    if config.expected_client_renewal_interval_seconds > 0 {
        return;
    }
    config.expected_client_renewal_interval_seconds = 30;
    let Some(node) = settings.node(name) else { return };
    let place = node.place.clone();
    problems.push(match config.flavour {
        Flavour::Netflix => {
            Problem::warning(place, format!("`{name}` = 0 means the default, 30 seconds")).label("zero")
        }
        Flavour::Spring => Problem::error(place, format!("`{name}` is out of range"))
            .label("must be at least 1")
            .hint("Spring divides by it: the renewal threshold would be infinite and nothing ever evicted"),
    });
}

/// The settings of the server's own client.
pub(crate) fn server_client(
    top: Values<'_>,
    rules: &Rules,
    server: &ServerConfig,
    problems: &mut Vec<Problem>,
) -> ClientConfig {
    let own = top.section("server");
    let settings = own.section("eureka").section("client");
    for name in ["register-with-eureka", "fetch-registry"] {
        if let Some(node) = settings.node(name) {
            problems.push(
                Problem::error(node.place.clone(), format!("`{name}` of the server is set in `[server]`"))
                    .label("not here")
                    .hint(format!("write `{name}` directly below `[server]`")),
            );
        }
    }
    let base = Layer::server(rules, server.flavour);
    ClientConfig {
        register_with_eureka: server.register_with_eureka,
        fetch_registry: server.fetch_registry,
        ..base.overlay(own, rules, problems).config
    }
}

/// The settings of some clients, as far as they are known.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) config: ClientConfig,
    /// `balancer.first-call`.
    pub(crate) first_call: Option<SimDuration>,
}

impl Layer {
    /// What the release says of a fleet.
    pub(crate) fn release(rules: &Rules, flavour: Flavour) -> Self {
        let defaults = ClientConfig::defaults(flavour);
        let (transport, balancer, server_order) = (rules.transport, rules.balancer, rules.server_order);
        let config = ClientConfig { transport, balancer, server_order, ..defaults };
        Self { config, first_call: None }
    }

    /// What the release says of a server's own client. It picks nobody.
    pub(crate) fn server(rules: &Rules, flavour: Flavour) -> Self {
        let defaults = ClientConfig::defaults(flavour);
        let (transport, server_order) = (rules.server_transport, rules.server_order);
        let config = ClientConfig { transport, balancer: BalancerConfig::None, server_order, ..defaults };
        Self { config, first_call: None }
    }

    /// These settings with those that `values` names, in its `eureka`, `balancer` and `transport`.
    pub(crate) fn overlay(&self, values: Values<'_>, rules: &Rules, problems: &mut Vec<Problem>) -> Self {
        let mut layer = self.clone();
        let client = values.section("eureka").section("client");
        apply(properties::client::ALL, client, &mut layer.config);
        apply(properties::transport::ALL, client.section("transport"), &mut layer.config);
        apply(properties::healthcheck::ALL, client.section("healthcheck"), &mut layer.config);
        apply(properties::instance::ALL, values.section("eureka").section("instance"), &mut layer.config);
        let transport = values.section("transport");
        set_kind(transport, rules, &mut layer.config.transport);
        jersey_limits(client, &mut layer.config.transport, problems);
        apply(format::transport::ALL, transport, &mut layer.config.transport);
        layer.set_balancer(values.section("balancer"), rules, problems);
        layer
    }

    fn set_balancer(&mut self, section: Values<'_>, rules: &Rules, problems: &mut Vec<Problem>) {
        let mut own = Balancer::of(&self.config.balancer, self.first_call);
        let release = Balancer::of(&rules.balancer, self.first_call);
        if let Some(kind) = section.value("kind", &OneOf(BALANCER_KINDS)).filter(|kind| *kind != own.kind) {
            let other = if kind == release.kind { release } else { Balancer::usual(kind) };
            own = Balancer { first_call: self.first_call, ..other };
        }
        let [lists, ribbon] = [BALANCER_KINDS[0], BALANCER_KINDS[1]];
        let of_kinds =
            [(&balancer::ttl, lists), (&balancer::call_rate, lists), (&balancer::refresh_interval, ribbon)];
        for (setting, kind) in of_kinds.into_iter().filter(|(_, kind)| *kind != own.kind) {
            let name = setting.key.name;
            problems.extend(section.node(name).map(|node| {
                Problem::error(node.place.clone(), format!("`{name}` belongs to `{kind}`"))
                    .label(format!("the balancer is `{}`", own.kind))
                    .related(section.node("kind").map(|node| node.place.clone()), "as it says here")
                    .hint(format!("leave it out, or set `kind = \"{kind}\"`"))
            }));
        }
        apply(balancer::ALL, section, &mut own);
        (self.config.balancer, self.first_call) = (own.config(), own.first_call);
    }
}

/// Another kind starts from its own limits: the release's if it is the release's kind, else the newest.
fn set_kind(values: Values<'_>, rules: &Rules, transport: &mut TransportConfig) {
    let Some(kind) = values.value("kind", &TRANSPORT_KIND) else { return };
    if kind != transport.kind {
        let release = rules.transport;
        *transport = if kind == release.kind { release } else { TransportConfig::of_kind(kind) };
    }
}

/// Eureka's own limits, which only Jersey heeds (`eureka-client.md` 6.6).
fn jersey_limits(client: Values<'_>, transport: &mut TransportConfig, problems: &mut Vec<Problem>) {
    let names = ["eureka-server-connect-timeout-seconds", "eureka-server-read-timeout-seconds"];
    for (name, ours) in names.into_iter().zip(["connect-timeout", "read-timeout"]) {
        let Some(node) = client.node(name) else { continue };
        let Some(seconds) = client.count(name) else { continue };
        let limit = SimDuration::from_secs(u64::from(seconds));
        match (transport.kind, ours) {
            (TransportKind::Jersey, "connect-timeout") => transport.connect_timeout = Some(limit),
            (TransportKind::Jersey, _) => transport.read_timeout = Some(limit),
            (kind, _) => problems.push(
                Problem::warning(node.place.clone(), format!("`{name}` has no effect"))
                    .label(format!("only Jersey heeds it; the transport is `{}`", transport_word(kind)))
                    .hint(format!("to limit this transport, set `{ours}` in `[transport]`")),
            ),
        }
    }
}
