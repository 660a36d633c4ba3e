//! The parameters of section 6 of the specification, by name.

use serde_json::Value;
use stillup::model::two_stage::{
    Backoff, ClientConfig, Discovery, DiskMode, DiskWriteOn, Guard, GuardScope, OnCorruptFile, Preset,
    RegisterExisting, ResumeOrder, Sanity, Schedule, ServerConfig, SweepPasses, SweepPhase, WatchAck,
    WatchTimeoutPayload,
};

/// Everybody's settings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Knobs {
    /// The name of the preset.
    pub preset: String,
    /// What was changed of it, as it was said.
    pub changed: Vec<(String, Value)>,
    /// The registry's.
    pub server: ServerConfig,
    /// The clients'.
    pub client: ClientConfig,
}

/// Of the traffic model only: no vector can tell.
const WITHOUT_EFFECT: [&str; 4] = ["retries", "breaker_failures", "breaker_open_ms", "connect_timeout_ms"];

impl Knobs {
    /// The defaults of a preset.
    pub(crate) fn preset(name: &str) -> Result<Self, String> {
        let preset =
            choice(&Value::from(name), &[("two-stage", Preset::TwoStage), ("nacos-1", Preset::Nacos1)])?;
        let (preset_name, changed) = (name.to_owned(), Vec::new());
        Ok(Self {
            preset: preset_name,
            changed,
            server: ServerConfig::defaults(preset),
            client: ClientConfig::defaults(preset),
        })
    }

    /// Sets a parameter.
    pub(crate) fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let known = set_in_server(&mut self.server, name, value)
            .or_else(|| set_in_client(&mut self.client, name, value))
            .or_else(|| WITHOUT_EFFECT.contains(&name).then_some(Ok(())));
        self.changed.push((name.to_owned(), value.clone()));
        known.unwrap_or_else(|| Err("no such parameter".to_owned())).map_err(|why| format!("{name}: {why}"))
    }
}

fn set_in_server(to: &mut ServerConfig, name: &str, value: &Value) -> Option<Result<(), String>> {
    let schedules = [("fixed_delay", Schedule::FixedDelay), ("fixed_rate", Schedule::FixedRate)];
    Some(match name {
        "soft_timeout_ms" => put(&mut to.soft_timeout_ms, number(value)),
        "hard_timeout_ms" => put(&mut to.hard_timeout_ms, number(value)),
        "sweep_interval_ms" => put(&mut to.sweep_interval_ms, number(value)),
        "sweep_initial_delay_ms" => put(&mut to.sweep_initial_delay_ms, number(value)),
        "sweep_phase" => {
            let phases = [("global", SweepPhase::Global), ("service_creation", SweepPhase::ServiceCreation)];
            put(&mut to.sweep_phase, choice(value, &phases))
        }
        "sweep_mode" => put(&mut to.sweep_mode, choice(value, &schedules)),
        "sweep_passes" => {
            let passes =
                [("else_if", SweepPasses::ElseIf), ("mark_then_delete", SweepPasses::MarkThenDelete)];
            put(&mut to.sweep_passes, choice(value, &passes))
        }
        "guard" => put(&mut to.guard, choice(value, &[("none", Guard::None), ("ratio", Guard::Ratio)])),
        "guard_min_instances" => put(&mut to.guard_min_instances, number(value)),
        "guard_min_healthy_pct" => put(&mut to.guard_min_healthy_pct, number(value)),
        "guard_scope" => put(
            &mut to.guard_scope,
            choice(value, &[("both", GuardScope::Both), ("soft_only", GuardScope::SoftOnly)]),
        ),
        "guard_cap" => put(&mut to.guard_cap, flag(value)),
        "read_protect_threshold" => {
            put(&mut to.read_protect_threshold, unless(value, "none", |it| it.as_f64()))
        }
        "notify_on_reregister" => put(&mut to.notify_on_reregister, flag(value)),
        "register_stamps_heartbeat" => put(&mut to.register_stamps_heartbeat, flag(value)),
        "register_existing" => {
            let ways = [("keep", RegisterExisting::Keep), ("heal", RegisterExisting::Heal)];
            put(&mut to.register_existing, choice(value, &ways))
        }
        "epoch" => put(&mut to.epoch, flag(value)),
        "resume_order" => {
            let orders =
                [("sweep_first", ResumeOrder::SweepFirst), ("requests_first", ResumeOrder::RequestsFirst)];
            put(&mut to.resume_order, choice(value, &orders))
        }
        "registry_persistent" => put(&mut to.registry_persistent, flag(value)),
        "watch_park_ms" => put(&mut to.watch_park_ms, number(value)),
        "watch_timeout_payload" => {
            let payloads = [("empty", WatchTimeoutPayload::Empty), ("full", WatchTimeoutPayload::Full)];
            put(&mut to.watch_timeout_payload, choice(value, &payloads))
        }
        "push_delay_ms" => put(&mut to.push_delay_ms, number(value)),
        "push_loss" => put(&mut to.push_loss, value.as_f64().ok_or_else(|| "a probability".to_owned())),
        "push_ack_timeout_ms" => put(&mut to.push_ack_timeout_ms, number(value)),
        "push_max_resend" => put(&mut to.push_max_resend, number(value)),
        "subscriber_ttl_ms" => put(&mut to.subscriber_ttl_ms, number(value)),
        "worker_threads" => put(&mut to.worker_threads, unless(value, "unlimited", as_u32)),
        _ => return None,
    })
}

fn set_in_client(to: &mut ClientConfig, name: &str, value: &Value) -> Option<Result<(), String>> {
    let schedules = [("fixed_delay", Schedule::FixedDelay), ("fixed_rate", Schedule::FixedRate)];
    Some(match name {
        "heartbeat_interval_ms" => put(&mut to.heartbeat_interval_ms, number(value)),
        "first_heartbeat_delay_ms" => put(&mut to.first_heartbeat_delay_ms, number(value)),
        "heartbeat_schedule" => put(&mut to.heartbeat_schedule, choice(value, &schedules)),
        "discovery" => {
            let ways = [
                ("poll", Discovery::Poll),
                ("long_poll", Discovery::LongPoll),
                ("push_plus_poll", Discovery::PushPlusPoll),
            ];
            put(&mut to.discovery, choice(value, &ways))
        }
        "poll_interval_ms" => put(&mut to.poll_interval_ms, number(value)),
        "backoff" => put(&mut to.backoff, backoff(value)),
        "empty_is_failure" => put(&mut to.empty_is_failure, flag(value)),
        "warn_after_failures" => put(&mut to.warn_after_failures, number(value)),
        "watch_timeout_ms" => put(&mut to.watch_timeout_ms, number(value)),
        "watch_ack" => put(&mut to.watch_ack, ack(value)),
        "watch_reissue_gap_ms" => put(&mut to.watch_reissue_gap_ms, number(value)),
        "discard_poll_after_push" => put(&mut to.discard_poll_after_push, flag(value)),
        "accept_stale_push" => put(&mut to.accept_stale_push, flag(value)),
        "sanity" => {
            let checks = [("half", Sanity::Half), ("none", Sanity::None), ("push_empty", Sanity::PushEmpty)];
            put(&mut to.sanity, choice(value, &checks))
        }
        "start_applies_unchecked" => put(&mut to.start_applies_unchecked, flag(value)),
        "disk_mode" => {
            let modes =
                [("atomic", DiskMode::Atomic), ("in_place", DiskMode::InPlace), ("none", DiskMode::None)];
            put(&mut to.disk_mode, choice(value, &modes))
        }
        "disk_write_on" => {
            let moments = [("every_success", DiskWriteOn::EverySuccess), ("change", DiskWriteOn::Change)];
            put(&mut to.disk_write_on, choice(value, &moments))
        }
        "disk_load_at_start" => put(&mut to.disk_load_at_start, flag(value)),
        "disk_write_ms" => put(&mut to.disk_write_ms, number(value)),
        "on_corrupt_file" => {
            let ways = [("fail_start", OnCorruptFile::FailStart), ("ignore", OnCorruptFile::Ignore)];
            put(&mut to.on_corrupt_file, choice(value, &ways))
        }
        "request_timeout_ms" => put(&mut to.request_timeout_ms, number(value)),
        "deregister_linger_ms" => put(&mut to.deregister_linger_ms, number(value)),
        "stop_heartbeat_before_deregister" => put(&mut to.stop_heartbeat_before_deregister, flag(value)),
        _ => return None,
    })
}

/// `watch_ack`, of the settings or of an operation.
pub(crate) fn ack(value: &Value) -> Result<WatchAck, String> {
    choice(value, &[("on_apply", WatchAck::OnApply), ("always", WatchAck::Always)])
}

fn put<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

fn choice<T: Copy>(value: &Value, choices: &[(&str, T)]) -> Result<T, String> {
    let chosen = choices.iter().find(|choice| value.as_str() == Some(choice.0));
    let names: Vec<_> = choices.iter().map(|choice| choice.0).collect();
    chosen.map(|choice| choice.1).ok_or_else(|| format!("{value} is none of {}", names.join(", ")))
}

fn as_u32(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|it| u32::try_from(it).ok())
}

fn number(value: &Value) -> Result<u32, String> {
    as_u32(value).ok_or_else(|| format!("{value} is no number"))
}

fn flag(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("{value} is neither true nor false"))
}

/// A value, or a word or null for none.
fn unless<T>(value: &Value, word: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>, String> {
    if value.is_null() || value.as_str() == Some(word) {
        return Ok(None);
    }
    read(value).map(Some).ok_or_else(|| format!("{value} is neither a number nor {word}"))
}

/// `{"base_ms": 1000, "max_shift": 5, "cap_ms": 30000}`.
fn backoff(value: &Value) -> Result<Backoff, String> {
    let field = |name: &str| value.get(name).map_or(Err(format!("no {name}")), number);
    Ok(Backoff { base_ms: field("base_ms")?, max_shift: field("max_shift")?, cap_ms: field("cap_ms")? })
}
