//! Warnings about parameters of the two-stage registry that another one makes idle. Told only of those that were written
//! and are not what they would be anyway, so that a canonical text is warned about no more than its origin.

use crate::model::two_stage::{ClientConfig, Discovery, DiskMode, Guard, Preset, ServerConfig, TwoStage};
use crate::scenario::diagnostics::{Place, Problem};
use crate::scenario::format::Setting;
use crate::scenario::lint::Spans;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::two_stage::format::REGISTRY;
use crate::scenario::two_stage::lint::at;
use crate::scenario::two_stage::parameters::{client, server};

static GUARD: [&Setting<ServerConfig>; 4] =
    [&server::guard_min_instances, &server::guard_min_healthy_pct, &server::guard_scope, &server::guard_cap];
static HELD: [&Setting<ServerConfig>; 3] =
    [&server::watch_park_ms, &server::watch_timeout_payload, &server::epoch];
static PUSHED: [&Setting<ServerConfig>; 5] = [
    &server::push_delay_ms,
    &server::push_loss,
    &server::push_ack_timeout_ms,
    &server::push_max_resend,
    &server::subscriber_ttl_ms,
];
static WATCHING: [&Setting<ClientConfig>; 3] =
    [&client::watch_timeout_ms, &client::watch_ack, &client::watch_reissue_gap_ms];
static PUSHED_TO: [&Setting<ClientConfig>; 2] =
    [&client::discard_poll_after_push, &client::accept_stale_push];
static DISK: [&Setting<ClientConfig>; 5] = [
    &client::disk_load_at_start,
    &client::disk_write_on,
    &client::disk_write_ms,
    &client::disk_writable,
    &client::on_corrupt_file,
];

/// Parameters, of which clients they are idle, and why.
type Idle = (&'static [&'static Setting<ClientConfig>], fn(&ClientConfig) -> bool, &'static str);

static OF_CLIENTS: [Idle; 3] = [
    (&WATCHING, |client| client.discovery != Discovery::LongPoll, "it is for `discovery = \"long-poll\"`"),
    (
        &PUSHED_TO,
        |client| client.discovery != Discovery::PushPlusPoll,
        "it is for `discovery = \"push-plus-poll\"`",
    ),
    (&DISK, |client| client.disk_mode == DiskMode::None, "`disk-mode` is `none`"),
];

/// All of them.
pub(crate) fn lint(scenario: ScenarioOf<'_, TwoStage>, spans: &Spans<'_>) -> Vec<Problem> {
    let preset = REGISTRY.of(&scenario.settings.release).copied().flatten().unwrap_or(Preset::TwoStage);
    let (server, usual) = (scenario.server(), ServerConfig::defaults(preset));
    let mut idle = Vec::new();
    let mut of_server = |idle_now: bool, settings: &[&'static Setting<ServerConfig>], why: &str| {
        for setting in settings.iter().filter(|setting| idle_now && setting.differs(server, &usual)) {
            let name = setting.key.name;
            idle.extend(spans.global(&at(name)).map(|place| problem(place, name, why)));
        }
    };
    let nobody = |discovery: Discovery| {
        let is = |app: AppOf<'_, TwoStage>| app.client.fetches && app.client.discovery == discovery;
        !scenario.apps().any(is)
    };
    of_server(server.guard == Guard::None, &GUARD, "there is no guard");
    of_server(nobody(Discovery::LongPoll), &HELD, "nobody has `discovery = \"long-poll\"`");
    of_server(nobody(Discovery::PushPlusPoll), &PUSHED, "nobody has `discovery = \"push-plus-poll\"`");
    let usual = ClientConfig::defaults(preset);
    for (place, client) in scenario.settings.clients.iter().enumerate() {
        for (settings, is_idle, why) in OF_CLIENTS {
            // What all share is of use as soon as one of them uses it.
            let for_all = scenario.settings.clients.iter().all(is_idle);
            for setting in settings.iter().filter(|it| is_idle(client) && it.differs(client, &usual)) {
                let name = setting.key.name;
                let own = spans.own(place, &at(name));
                let found = own.or_else(|| spans.global(&at(name)).filter(|_| for_all));
                idle.extend(found.map(|place| problem(place, name, why)));
            }
        }
    }
    idle
}

fn problem(place: Place, name: &str, why: &str) -> Problem {
    Problem::warning(place, format!("`{name}` has no effect")).label(why)
}
