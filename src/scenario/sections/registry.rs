//! Which registry a scenario runs, and what the settings of its servers and clients are: the defaults of a release or
//! of a preset, then the file's, then an application's own.

use crate::engine::SimDuration;
use crate::model::eureka::{self, Flavour};
use crate::model::id::AppId;
use crate::model::registry::{ClientConfig, Kind, ServerConfig};
use crate::model::two_stage::{self, Discovery, Preset};
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::eureka::release::FLAVOUR;
use crate::scenario::eureka::release::{self, Rules};
use crate::scenario::eureka::settings::{self, Layer};
use crate::scenario::format::apply;
use crate::scenario::format::values::Values;
use crate::scenario::sections::fleet::Fleet;
use crate::scenario::two_stage::format::REGISTRY;
use crate::scenario::two_stage::parameters;
use crate::scenario::types::registering;
use crate::scenario::types::{Delay, Network};

/// The registry that a scenario names, with what its defaults come from.
pub(crate) enum Registry {
    Eureka { flavour: Flavour, rules: Box<Rules> },
    TwoStage(Preset),
}

impl Registry {
    /// The one named at the top, Eureka if none is.
    pub(crate) fn of(top: Values<'_>, problems: &mut Vec<Problem>) -> Self {
        if let Some(Some(preset)) = top.value("registry", &REGISTRY) {
            return Self::TwoStage(preset);
        }
        let flavour = top.value("flavour", &FLAVOUR).unwrap_or(Flavour::Spring);
        Self::Eureka { flavour, rules: Box::new(release::resolve(top, flavour, problems)) }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Eureka { .. } => Kind::Eureka,
            Self::TwoStage(_) => Kind::TwoStage,
        }
    }

    /// Its word of [`REGISTRY`].
    pub(crate) fn word(&self) -> &'static str {
        REGISTRY.word(&match self {
            Self::Eureka { .. } => None,
            Self::TwoStage(preset) => Some(*preset),
        })
    }

    /// The release or the preset, as it is named.
    pub(crate) fn release(&self) -> String {
        match self {
            Self::Eureka { rules, .. } => rules.name.clone(),
            Self::TwoStage(_) => self.word().to_owned(),
        }
    }

    /// The settings of the servers and of their own clients.
    pub(crate) fn servers(
        &self,
        top: Values<'_>,
        problems: &mut Vec<Problem>,
    ) -> (ServerConfig, ClientConfig) {
        match self {
            Self::Eureka { flavour, rules } => {
                let server = settings::server(top, rules, *flavour, problems);
                let client = settings::server_client(top, rules, &server, problems);
                let filter_only_up_instances = client.filter_only_up_instances;
                let server = eureka::ServerConfig { filter_only_up_instances, ..server };
                (server.into(), client.into())
            }
            Self::TwoStage(preset) => {
                let mut server = two_stage::ServerConfig::defaults(*preset);
                apply(parameters::server::ALL, top.section("two-stage"), &mut server);
                (server.into(), no_client(*preset))
            }
        }
    }

    /// The settings of the fleet's clients.
    pub(crate) fn clients(&self, top: Values<'_>, problems: &mut Vec<Problem>) -> Clients<'_> {
        match self {
            Self::Eureka { flavour, rules } => {
                let layer = Layer::release(rules, *flavour).overlay(top, rules, problems);
                Clients::Eureka { layer, rules }
            }
            Self::TwoStage(preset) => {
                let mut config = two_stage::ClientConfig::defaults(*preset);
                apply(parameters::client::ALL, top.section("two-stage"), &mut config);
                Clients::TwoStage(config)
            }
        }
    }
}

/// What stands for the settings of a server's own client where it has none.
fn no_client(preset: Preset) -> ClientConfig {
    let defaults = two_stage::ClientConfig::defaults(preset);
    two_stage::ClientConfig { registers: false, fetches: false, ..defaults }.into()
}

/// What the settings of an application's clients start from.
pub(crate) enum Clients<'r> {
    Eureka { layer: Layer, rules: &'r Rules },
    TwoStage(two_stage::ClientConfig),
}

impl Clients<'_> {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Eureka { .. } => Kind::Eureka,
            Self::TwoStage(_) => Kind::TwoStage,
        }
    }

    /// An application's settings, and `balancer.first-call`.
    pub(crate) fn of(
        &self,
        app: Values<'_>,
        problems: &mut Vec<Problem>,
    ) -> (ClientConfig, Option<SimDuration>) {
        match self {
            Self::Eureka { layer, rules } => {
                let Layer { mut config, first_call } = layer.overlay(app, rules, problems);
                let roles = [
                    ("register", "register-with-eureka", &mut config.register_with_eureka),
                    ("fetch", "fetch-registry", &mut config.fetch_registry),
                ];
                for (ours, theirs, field) in roles {
                    let Some(flag) = app.flag(ours) else { continue };
                    *field = flag;
                    problems.extend(said_twice(app, ours, theirs));
                }
                (config.into(), first_call)
            }
            Self::TwoStage(config) => {
                let mut config = config.clone();
                apply(parameters::client::ALL, app.section("two-stage"), &mut config);
                config.registers = app.flag("register").unwrap_or(config.registers);
                config.fetches = app.flag("fetch").unwrap_or(config.fetches);
                (config.into(), None)
            }
        }
    }
}

/// An application's `register` or `fetch` beside Eureka's own name for it.
fn said_twice(app: Values<'_>, ours: &str, theirs: &str) -> Option<Problem> {
    let other = app.section("eureka").section("client").node(theirs)?;
    let node = app.node(ours)?;
    Some(
        Problem::error(node.place.clone(), format!("`{ours}` and `{theirs}` say the same in two ways"))
            .label("one too many")
            .related(Some(other.place.clone()), "the other one")
            .hint("leave one of the two out"),
    )
}

/// How a file says that an application's clients fetch.
pub(crate) const fn fetching(kind: Kind) -> &'static str {
    match kind {
        Kind::Eureka => "fetch-registry = true",
        Kind::TwoStage => "fetch = true",
    }
}

/// Which services each application watches or polls one by one: those that it names, or all that register.
pub(crate) fn subscriptions(root: &Table, fleet: &mut Fleet, problems: &mut Vec<Problem>) {
    if !fleet.is_whole() {
        return;
    }
    let all = registering(&fleet.applications);
    for (at, table) in root.tables("application").enumerate() {
        let named = named(Values(Some(table)), fleet, problems);
        if let ClientConfig::TwoStage(config) = &mut fleet.applications[at].client {
            config.services = named.unwrap_or_else(|| all.clone());
        }
    }
}

/// Long polls that are answered and asked again in no time: one that is refused would be so for ever, at one and the same
/// moment (`two-stage.md` 2.7).
pub(crate) fn time_goes_on(root: &Table, fleet: &Fleet, network: Network, problems: &mut Vec<Problem>) {
    let instant = |latency: Delay| match latency {
        Delay::Constant(longest) | Delay::Uniform(_, longest) => longest.is_zero(),
        Delay::Drawn(distribution) => distribution.is_always_zero(),
    };
    for (app, table) in fleet.applications.iter().zip(root.tables("application")) {
        let ClientConfig::TwoStage(client) = &app.client else { continue };
        let watches = client.fetches && client.discovery == Discovery::LongPoll;
        if !watches || client.watch_reissue_gap_ms > 0 || !instant(app.network.unwrap_or(network).latency) {
            continue;
        }
        let place = |path: &[&str]| table.at(path).or_else(|| root.at(path)).map(|node| node.place.clone());
        problems.push(
            Problem::error(
                place(&["two-stage", "watch-reissue-gap-ms"]),
                format!("a long poll of `{}` that is refused is asked again in no time, for ever", app.name),
            )
            .label("time would stand still")
            .related(place(&["network", "latency"]), "a call takes no time")
            .hint("give one of the two a length, as in `watch-reissue-gap-ms = 1`"),
        );
    }
}

fn named(app: Values<'_>, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<Vec<AppId>> {
    app.node("subscribes")?;
    let mut services = Vec::new();
    for (name, node) in app.names("subscribes") {
        match fleet.resolve(name, &node.place) {
            Ok(id) if services.contains(&id) => problems.push(
                Problem::error(node.place.clone(), format!("`{name}` is named twice")).label("again here"),
            ),
            Ok(id) => services.push(id),
            Err(problem) => problems.push(*problem),
        }
    }
    services.sort_unstable();
    Some(services)
}
