//! Warnings about parameters of the two-stage registry that another one makes idle. Told only of those that were written
//! and are not what they would be anyway, so that a canonical text is warned about no more than its origin.

use super::check_registry::preset;
use super::diagnostic::{Place, Problem};
use super::lint::Whence;
use super::lint_two_stage::at;
use super::parameters;
use super::property::{Property, printed};
use super::setup::{AppOf, ScenarioOf};
use crate::model::two_stage::{ClientConfig, Discovery, DiskMode, Guard, Preset, ServerConfig, TwoStage};

const GUARD: [&str; 4] = ["guard-min-instances", "guard-min-healthy-pct", "guard-scope", "guard-cap"];
const HELD: [&str; 3] = ["watch-park-ms", "watch-timeout-payload", "epoch"];
const PUSHED: [&str; 5] =
    ["push-delay-ms", "push-loss", "push-ack-timeout-ms", "push-max-resend", "subscriber-ttl-ms"];
const WATCHING: [&str; 3] = ["watch-timeout-ms", "watch-ack", "watch-reissue-gap-ms"];
const PUSHED_TO: [&str; 2] = ["discard-poll-after-push", "accept-stale-push"];
const DISK: [&str; 5] =
    ["disk-load-at-start", "disk-write-on", "disk-write-ms", "disk-writable", "on-corrupt-file"];

/// All of them.
pub(super) fn lint(scenario: ScenarioOf<'_, TwoStage>, whence: &Whence<'_>) -> Vec<Problem> {
    let preset = preset(&scenario.settings.release).unwrap_or(Preset::TwoStage);
    let server = scenario.server();
    let usual = ServerConfig::defaults(preset);
    let mut idle = Vec::new();
    let mut of_server = |idle_now: bool, names: &[&str], why: &str| {
        for name in names.iter().filter(|name| idle_now && differ(parameters::SERVER, name, server, &usual)) {
            idle.extend(whence.global(&at(name)).map(|place| problem(place, name, why)));
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
    for (place, app) in scenario.apps().enumerate() {
        let client = app.client;
        let polls = client.discovery != Discovery::LongPoll;
        let asks = client.discovery != Discovery::PushPlusPoll;
        for (idle_now, names, why) in [
            (polls, WATCHING.as_slice(), "it is for `discovery = \"long-poll\"`"),
            (asks, PUSHED_TO.as_slice(), "it is for `discovery = \"push-plus-poll\"`"),
            (client.disk_mode == DiskMode::None, DISK.as_slice(), "`disk-mode` is `none`"),
        ] {
            let idle_now = |name: &&&str| idle_now && differ(parameters::CLIENT, name, client, &usual);
            for name in names.iter().filter(idle_now) {
                // What all share is of use as soon as one of them uses it.
                let shared = whence.own(place, &at(name)).is_none() && !idle_for_all(scenario, name);
                let found = whence.of(place, &at(name)).filter(|_| !shared);
                idle.extend(found.map(|place| problem(place, name, why)));
            }
        }
    }
    idle
}

fn idle_for_all(scenario: ScenarioOf<'_, TwoStage>, name: &str) -> bool {
    scenario.apps().all(|app| {
        let client = app.client;
        match name {
            name if WATCHING.contains(&name) => client.discovery != Discovery::LongPoll,
            name if PUSHED_TO.contains(&name) => client.discovery != Discovery::PushPlusPoll,
            _ => client.disk_mode == DiskMode::None,
        }
    })
}

/// Whether a parameter has another value in one configuration than in the other.
fn differ<C: Clone>(parameters: &[Property<C>], name: &str, one: &C, other: &C) -> bool {
    let parameter = parameters.iter().find(|parameter| parameter.key.name == name);
    parameter.is_some_and(|parameter| printed(parameter, one) != printed(parameter, other))
}

fn problem(place: Place, name: &str, why: &str) -> Problem {
    Problem::warning(place, format!("`{name}` has no effect")).label(why)
}
