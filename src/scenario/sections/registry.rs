//! Which registry a scenario runs, and what the settings of its servers and clients are: the defaults of a release or
//! of a preset, then the file's, then an application's own.

use crate::engine::SimDuration;
use crate::model::eureka::{self, Eureka, Flavour};
use crate::model::id::AppId;
use crate::model::registry::Kind;
use crate::model::two_stage::{self, Discovery, Preset, TwoStage};
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::eureka::release::FLAVOUR;
use crate::scenario::eureka::release::{self, Rules};
use crate::scenario::eureka::settings::{self, Layer};
use crate::scenario::format::apply;
use crate::scenario::format::values::Values;
use crate::scenario::sections::fleet::Fleet;
use crate::scenario::sections::network::links;
use crate::scenario::setup::registering;
use crate::scenario::setup::{Settings, Setup};
use crate::scenario::two_stage::format::REGISTRY;
use crate::scenario::two_stage::parameters;
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

    /// The settings of the servers and of their own clients, and what those of the fleet's clients start from.
    pub(crate) fn reading(&self, top: Values<'_>, problems: &mut Vec<Problem>) -> Reading<'_> {
        match self {
            Self::Eureka { flavour, rules } => {
                let server = settings::server(top, rules, *flavour, problems);
                let own_client = settings::server_client(top, rules, &server, problems);
                let filter_only_up_instances = own_client.filter_only_up_instances;
                let server = eureka::ServerConfig { filter_only_up_instances, ..server };
                let layer = Layer::release(rules, *flavour).overlay(top, rules, problems);
                let release = rules.name.clone();
                let settings = Settings { release, server, own_client, clients: Vec::new() };
                Reading::Eureka { layer, rules, settings }
            }
            Self::TwoStage(preset) => {
                let mut server = two_stage::ServerConfig::defaults(*preset);
                apply(parameters::server::ALL, top.section("two-stage"), &mut server);
                let mut client = two_stage::ClientConfig::defaults(*preset);
                apply(parameters::client::ALL, top.section("two-stage"), &mut client);
                let release = self.word().to_owned();
                let settings = Settings { release, server, own_client: (), clients: Vec::new() };
                Reading::TwoStage { client, settings }
            }
        }
    }
}

/// The settings as far as they have been read, and what those of the next application's clients start from.
pub(crate) enum Reading<'r> {
    Eureka { layer: Layer, rules: &'r Rules, settings: Settings<Eureka> },
    TwoStage { client: two_stage::ClientConfig, settings: Settings<TwoStage> },
}

impl Reading<'_> {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Eureka { .. } => Kind::Eureka,
            Self::TwoStage { .. } => Kind::TwoStage,
        }
    }

    /// Reads the settings of the next application's clients: whether they fetch, and `balancer.first-call`.
    pub(crate) fn client(
        &mut self,
        app: Values<'_>,
        problems: &mut Vec<Problem>,
    ) -> (bool, Option<SimDuration>) {
        match self {
            Self::Eureka { layer, rules, settings } => {
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
                let fetches = config.fetch_registry;
                settings.clients.push(config);
                (fetches, first_call)
            }
            Self::TwoStage { client, settings } => {
                let mut config = client.clone();
                apply(parameters::client::ALL, app.section("two-stage"), &mut config);
                config.registers = app.flag("register").unwrap_or(config.registers);
                config.fetches = app.flag("fetch").unwrap_or(config.fetches);
                let fetches = config.fetches;
                settings.clients.push(config);
                (fetches, None)
            }
        }
    }

    /// Everything has been read.
    pub(crate) fn done(self) -> Setup {
        match self {
            Self::Eureka { settings, .. } => settings.into(),
            Self::TwoStage { settings, .. } => settings.into(),
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
    let all = registering(&fleet.setup);
    for (at, table) in root.tables("application").enumerate() {
        let named = named(Values(Some(table)), fleet, problems);
        if let Setup::TwoStage(settings) = &mut fleet.setup {
            settings.clients[at].services = named.unwrap_or_else(|| all.clone());
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
    let Setup::TwoStage(settings) = &fleet.setup else { return };
    let clients = fleet.applications.iter().zip(&settings.clients);
    for ((app, client), table) in clients.zip(root.tables("application")) {
        let watches = client.fetches && client.discovery == Discovery::LongPoll;
        if !watches || client.watch_reissue_gap_ms > 0 || !instant(app.network.unwrap_or(network).latency) {
            continue;
        }
        let (gap, latency) = (&parameters::client::watch_reissue_gap_ms, &links::latency);
        problems.push(
            Problem::error(
                gap.place(table).or_else(|| gap.place(root)),
                format!("a long poll of `{}` that is refused is asked again in no time, for ever", app.name),
            )
            .label("time would stand still")
            .related(latency.place(table).or_else(|| latency.place(root)), "a call takes no time")
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
