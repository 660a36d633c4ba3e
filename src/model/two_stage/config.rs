//! The settings of a two-stage registry, its instances and its consumers, under the specification's own names.
//! Source: `two-stage.md` section 6.
//!
//! Two presets: [`Preset::TwoStage`] is the registry of the specification's sections 1 and 2, [`Preset::Nacos1`] is
//! Nacos 1.4.x as far as section 4.5 says that it can be expressed. What that leaves out is in the documentation of
//! [`super`].

use crate::engine::SimDuration;
use crate::model::id::AppId;

/// Whose defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The two-stage registry.
    TwoStage,
    /// Nacos 1.4.x.
    Nacos1,
}

/// When the sweeps of a service fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepPhase {
    /// One sweep looks at all services, from the start of the registry on.
    Global,
    /// Each service has a sweep of its own, from its creation on.
    ServiceCreation,
}

/// What a recurring job does that could not run in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Runs once; the next run comes one interval later.
    FixedDelay,
    /// Makes up for every missed run, then keeps to its old grid.
    FixedRate,
}

/// How a sweep takes its two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepPasses {
    /// Either or: an entry that this sweep marks is not removed by it.
    ElseIf,
    /// First all marks, then all removals, whether healthy or not: one sweep may do both.
    MarkThenDelete,
}

/// What keeps a sweep from a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Nothing.
    None,
    /// Too small a share of healthy entries.
    Ratio,
}

/// What a guard that is shut forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardScope {
    /// Marks and removals.
    Both,
    /// Marks only: a repair (`two-stage.md` 1.9).
    SoftOnly,
}

/// What registering does to an entry that is unhealthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterExisting {
    /// Renews its time only.
    Keep,
    /// Heals it, too: a repair (`two-stage.md` 1.9).
    Heal,
}

/// What comes first after the registry stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeOrder {
    /// Overdue sweeps, then requests that waited.
    SweepFirst,
    /// The other way round.
    RequestsFirst,
}

/// What a long poll is answered with whose time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchTimeoutPayload {
    /// The current revision and an empty list.
    Empty,
    /// The current revision and the current list: a repair (`two-stage.md` 2.7).
    Full,
}

/// The registry's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// Silence after which an entry turns unhealthy; strictly more than this, ms.
    pub soft_timeout_ms: u32,
    /// Silence after which an entry is removed; strictly more than this, ms.
    pub hard_timeout_ms: u32,
    /// From one sweep to the next, ms. At least 1.
    pub sweep_interval_ms: u32,
    /// From the start of the registry, or the creation of the service, to its first sweep, ms.
    pub sweep_initial_delay_ms: u32,
    /// When a service is swept.
    pub sweep_phase: SweepPhase,
    /// What becomes of missed sweeps.
    pub sweep_mode: Schedule,
    /// How a sweep takes its two steps.
    pub sweep_passes: SweepPasses,
    /// What keeps a sweep from a service.
    pub guard: Guard,
    /// Services with fewer entries pass the guard always.
    pub guard_min_instances: u32,
    /// The least share of healthy entries that passes the guard, percent, 0 to 100.
    pub guard_min_healthy_pct: u32,
    /// What the guard forbids.
    pub guard_scope: GuardScope,
    /// Whether a sweep stops marking when the next mark would break the guard's ratio: a repair (1.9).
    pub guard_cap: bool,
    /// If the share of healthy entries is not above this, all are handed out as healthy, 0 to 1; `None`: never.
    pub read_protect_threshold: Option<f64>,
    /// Whether registering again notifies subscribers and watchers although nothing has changed.
    pub notify_on_reregister: bool,
    /// Whether a new entry counts as having just been heard of.
    pub register_stamps_heartbeat: bool,
    /// What registering does to an entry that is unhealthy.
    pub register_existing: RegisterExisting,
    /// Whether long polls compare the registry's life, too: a repair (1.9).
    pub epoch: bool,
    /// What comes first after the registry stood still.
    pub resume_order: ResumeOrder,
    /// Whether a restart keeps the entries.
    pub registry_persistent: bool,
    /// From one look at a held long poll to the next, ms. At least 1.
    pub watch_park_ms: u32,
    /// What a long poll is answered with whose time is up.
    pub watch_timeout_payload: WatchTimeoutPayload,
    /// From a change to its push; what changes meanwhile goes with it, ms.
    pub push_delay_ms: u32,
    /// The probability that a datagram of a push, or of its acknowledgement, is lost beside what the network loses,
    /// 0 to 1.
    pub push_loss: f64,
    /// How long an acknowledgement is waited for, ms.
    pub push_ack_timeout_ms: u32,
    /// How often a push is sent again.
    pub push_max_resend: u32,
    /// A subscriber whose last poll is older than this gets no pushes any more, ms.
    pub subscriber_ttl_ms: u32,
    /// Requests that are worked at, or held, at a time; `None`: any number.
    pub worker_threads: Option<u32>,
}

impl ServerConfig {
    /// The preset's defaults.
    pub const fn defaults(preset: Preset) -> Self {
        let nacos = matches!(preset, Preset::Nacos1);
        Self {
            soft_timeout_ms: 15_000,
            hard_timeout_ms: if nacos { 30_000 } else { 60_000 },
            sweep_interval_ms: if nacos { 5_000 } else { 3_000 },
            sweep_initial_delay_ms: if nacos { 5_000 } else { 3_000 },
            sweep_phase: if nacos { SweepPhase::ServiceCreation } else { SweepPhase::Global },
            sweep_mode: Schedule::FixedDelay,
            sweep_passes: if nacos { SweepPasses::MarkThenDelete } else { SweepPasses::ElseIf },
            guard: if nacos { Guard::None } else { Guard::Ratio },
            guard_min_instances: 10,
            guard_min_healthy_pct: 85,
            guard_scope: GuardScope::Both,
            guard_cap: false,
            read_protect_threshold: if nacos { Some(0.0) } else { None },
            notify_on_reregister: nacos,
            register_stamps_heartbeat: true,
            register_existing: RegisterExisting::Keep,
            epoch: false,
            resume_order: ResumeOrder::SweepFirst,
            registry_persistent: false,
            watch_park_ms: 200,
            watch_timeout_payload: WatchTimeoutPayload::Empty,
            push_delay_ms: 1_000,
            push_loss: 0.0,
            push_ack_timeout_ms: 10_000,
            push_max_resend: 1,
            subscriber_ttl_ms: 10_000,
            worker_threads: None,
        }
    }
}

/// How a consumer hears of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// It fetches everything again and again.
    Poll,
    /// It keeps a long poll open for each service.
    LongPoll,
    /// It polls each service, and so subscribes to pushes.
    PushPlusPoll,
}

/// How long a consumer waits after the `f`-th failure in a row: `base_ms << min(f, max_shift)`, at most `cap_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// ms. At least 1.
    pub base_ms: u32,
    /// At most 20.
    pub max_shift: u32,
    /// ms. At least 1.
    pub cap_ms: u32,
}

impl Backoff {
    /// The wait after the `failures`-th failure in a row, from 1.
    pub fn wait(self, failures: u32) -> SimDuration {
        let shifted = u64::from(self.base_ms) << failures.min(self.max_shift);
        SimDuration::from_millis(shifted.min(u64::from(self.cap_ms)))
    }
}

/// When a consumer takes a long poll's revision for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchAck {
    /// When it has taken the list.
    OnApply,
    /// Even if it has refused the list.
    Always,
}

/// Which answers a consumer refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanity {
    /// One in which a service is missing, or has lost more than half of its instances.
    Half,
    /// None.
    None,
    /// A list without a healthy instance (`namingPushEmptyProtection`).
    PushEmpty,
}

/// How a consumer keeps what it knows on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskMode {
    /// It writes another file and renames that.
    Atomic,
    /// It writes over the file.
    InPlace,
    /// Not at all.
    None,
}

/// When a consumer writes its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskWriteOn {
    /// After every answer that it takes.
    EverySuccess,
    /// After answers that change something.
    Change,
}

/// What a consumer does at its start that cannot read its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCorruptFile {
    /// It does not start.
    FailStart,
    /// It goes on without.
    Ignore,
}

/// The settings of an application's processes: as instances and as consumers.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientConfig {
    /// Whether the process is an instance: it registers and sends heartbeats.
    pub registers: bool,
    /// Whether the process is a consumer.
    pub fetches: bool,
    /// From one heartbeat to the next, ms. At least 1.
    pub heartbeat_interval_ms: u32,
    /// From the registration to the first heartbeat, ms.
    pub first_heartbeat_delay_ms: u32,
    /// Whether the interval counts from the heartbeat's start, or from its end.
    pub heartbeat_schedule: Schedule,
    /// How it hears of changes.
    pub discovery: Discovery,
    /// Which services it watches or polls one by one; of no effect with [`Discovery::Poll`]. In order, none twice.
    pub services: Vec<AppId>,
    /// From the end of one poll to the next, ms. At least 1.
    pub poll_interval_ms: u32,
    /// How long it waits after failures.
    pub backoff: Backoff,
    /// Whether an empty list counts as a failure.
    pub empty_is_failure: bool,
    /// After so many failures in a row it says so in its log; 0: never.
    pub warn_after_failures: u32,
    /// How long a long poll waits for a change, ms. At least 1.
    pub watch_timeout_ms: u32,
    /// When it takes a long poll's revision for its own.
    pub watch_ack: WatchAck,
    /// From an answer to the next long poll, ms.
    pub watch_reissue_gap_ms: u32,
    /// Whether it throws away the answer to the first poll after a push.
    pub discard_poll_after_push: bool,
    /// Whether it takes a push that is older than what it has.
    pub accept_stale_push: bool,
    /// Which answers it refuses.
    pub sanity: Sanity,
    /// Whether it takes its first answer without that look.
    pub start_applies_unchecked: bool,
    /// How it keeps what it knows on disk.
    pub disk_mode: DiskMode,
    /// When it writes its file.
    pub disk_write_on: DiskWriteOn,
    /// Whether it reads its file when it starts.
    pub disk_load_at_start: bool,
    /// How long writing takes, ms.
    pub disk_write_ms: u32,
    /// What becomes of a file that cannot be read.
    pub on_corrupt_file: OnCorruptFile,
    /// Ours: whether its folder can be written to at all.
    pub disk_writable: bool,
    /// How long it waits for an answer, ms, besides [`Self::watch_timeout_ms`] for a long poll. At least 1.
    pub request_timeout_ms: u32,
    /// How long a process that stops goes on after it has deregistered, ms.
    pub deregister_linger_ms: u32,
    /// Whether a process that stops ends its heartbeats before it deregisters.
    pub stop_heartbeat_before_deregister: bool,
}

impl ClientConfig {
    /// The preset's defaults, of a process that is both instance and consumer.
    pub const fn defaults(preset: Preset) -> Self {
        let nacos = matches!(preset, Preset::Nacos1);
        Self {
            registers: true,
            fetches: true,
            heartbeat_interval_ms: 5_000,
            first_heartbeat_delay_ms: 5_000,
            heartbeat_schedule: if nacos { Schedule::FixedDelay } else { Schedule::FixedRate },
            discovery: if nacos { Discovery::PushPlusPoll } else { Discovery::Poll },
            services: Vec::new(),
            poll_interval_ms: if nacos { 10_000 } else { 5_000 },
            backoff: if nacos {
                Backoff { base_ms: 1_000, max_shift: 6, cap_ms: 60_000 }
            } else {
                Backoff { base_ms: 1_000, max_shift: 5, cap_ms: 30_000 }
            },
            empty_is_failure: nacos,
            warn_after_failures: if nacos { 0 } else { 3 },
            watch_timeout_ms: 30_000,
            watch_ack: WatchAck::OnApply,
            watch_reissue_gap_ms: 1,
            discard_poll_after_push: nacos,
            accept_stale_push: true,
            sanity: if nacos { Sanity::None } else { Sanity::Half },
            start_applies_unchecked: true,
            disk_mode: if nacos { DiskMode::InPlace } else { DiskMode::Atomic },
            disk_write_on: if nacos { DiskWriteOn::Change } else { DiskWriteOn::EverySuccess },
            disk_load_at_start: !nacos,
            disk_write_ms: 20,
            on_corrupt_file: if nacos { OnCorruptFile::Ignore } else { OnCorruptFile::FailStart },
            disk_writable: true,
            request_timeout_ms: 3_000,
            deregister_linger_ms: if nacos { 0 } else { 3_000 },
            stop_heartbeat_before_deregister: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_are_those_of_the_tables() {
        let waits = |preset: Preset, failures: std::ops::RangeInclusive<u32>| -> Vec<u64> {
            let backoff = ClientConfig::defaults(preset).backoff;
            failures.map(|failures| backoff.wait(failures).as_millis() / 1_000).collect()
        };
        assert_eq!(waits(Preset::TwoStage, 1..=7), [2, 4, 8, 16, 30, 30, 30]); // 2.2
        assert_eq!(waits(Preset::Nacos1, 1..=7), [2, 4, 8, 16, 32, 60, 60]); // 4.2
    }
}
