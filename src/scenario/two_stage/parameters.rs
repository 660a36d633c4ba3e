//! The parameters of the two-stage registry under the specification's own names, in kebab case: each with its range,
//! its default in either preset, its meaning and the field that it sets.
//!
//! Names, defaults and meanings are those of `two-stage.md` section 6, and of its repairs in 1.9; the defaults' values
//! are [`ServerConfig::defaults`] and [`ClientConfig::defaults`]. The numbers in brackets are sections of that page.
//! See [`crate::scenario::eureka::properties`], which is the same for Eureka.

use crate::model::two_stage::{
    ClientConfig, Discovery, DiskMode, DiskWriteOn, Guard, GuardScope, OnCorruptFile, RegisterExisting,
    ResumeOrder, Sanity, Schedule, ServerConfig, SweepPasses, SweepPhase, WatchAck, WatchTimeoutPayload,
};
use crate::scenario::format::property::{Field, MS, MS_OR_NONE, Property, Words, properties};
use crate::scenario::format::{INSTANCES_MAX, Key, Shape};

const PERCENT: Shape = Shape::Count { min: 0, max: 100, unit: "percent" };
const INSTANCES: Shape = Shape::Count { min: 0, max: INSTANCES_MAX, unit: "instances" };
const TIMES: Shape = Shape::Count { min: 0, max: 1_000, unit: "times" };
const FAILURES: Shape = Shape::Count { min: 0, max: 1_000_000, unit: "failures" };
/// [`crate::model::two_stage::Backoff`] shifts by so much at most.
const SHIFT: Shape = Shape::Count { min: 0, max: 20, unit: "bits" };
const THREADS: Shape = Shape::CountOr { min: 1, max: 100_000, unit: "threads", word: "unlimited" };
const THRESHOLD: Shape = Shape::ShareOr { word: "none" };

macro_rules! words {
    ($($what:ident { $($value:ident = $word:literal),* })*) => {
        $(impl Words for $what {
            const WORDS: &'static [&'static str] = &[$($word),*];
            const VALUES: &'static [Self] = &[$(Self::$value),*];
        })*
    };
}

words! {
    SweepPhase { Global = "global", ServiceCreation = "service-creation" }
    Schedule { FixedDelay = "fixed-delay", FixedRate = "fixed-rate" }
    SweepPasses { ElseIf = "else-if", MarkThenDelete = "mark-then-delete" }
    Guard { Ratio = "ratio", None = "none" }
    GuardScope { Both = "both", SoftOnly = "soft-only" }
    RegisterExisting { Keep = "keep", Heal = "heal" }
    ResumeOrder { SweepFirst = "sweep-first", RequestsFirst = "requests-first" }
    WatchTimeoutPayload { Empty = "empty", Full = "full" }
    Discovery { Poll = "poll", LongPoll = "long-poll", PushPlusPoll = "push-plus-poll" }
    WatchAck { OnApply = "on-apply", Always = "always" }
    Sanity { Half = "half", None = "none", PushEmpty = "push-empty" }
    DiskMode { Atomic = "atomic", InPlace = "in-place", None = "none" }
    DiskWriteOn { EverySuccess = "every-success", Change = "change" }
    OnCorruptFile { FailStart = "fail-start", Ignore = "ignore" }
}

/// The registry's, of `[two-stage]` alone.
pub(crate) static SERVER: &[Property<ServerConfig>] = properties![
    "soft-timeout-ms", MS_OR_NONE, Count soft_timeout_ms, "15000",
        "Silence after which an instance turns unhealthy and is no longer served: strictly more than this (1.3).";
    "hard-timeout-ms", MS_OR_NONE, Count hard_timeout_ms, "two-stage: 60000; nacos-1: 30000",
        "Silence after which an entry is removed: strictly more than this (1.3).";
    "sweep-interval-ms", MS, Count sweep_interval_ms, "two-stage: 3000; nacos-1: 5000",
        "From one sweep to the next (1.3).";
    "sweep-initial-delay-ms", MS_OR_NONE, Count sweep_initial_delay_ms, "two-stage: 3000; nacos-1: 5000",
        "From the registry's start, or a service's creation, to the first sweep (1.5).";
    "sweep-phase", Shape::Choice(SweepPhase::WORDS), Word sweep_phase,
        "two-stage: global; nacos-1: service-creation",
        "Whether one sweep looks at all services, or each service has its own from its creation on (4.1).";
    "sweep-mode", Shape::Choice(Schedule::WORDS), Word sweep_mode, "fixed-delay",
        "After a standstill one overdue sweep (`fixed-delay`), or every missed one back to back (1.8).";
    "sweep-passes", Shape::Choice(SweepPasses::WORDS), Word sweep_passes,
        "two-stage: else-if; nacos-1: mark-then-delete",
        "Whether a sweep either marks an entry or removes it, or may do both (1.3, 4.1).";
    "guard", Shape::Choice(Guard::WORDS), Word guard, "two-stage: ratio; nacos-1: none",
        "Whether a sweep leaves out a service of which too small a share is healthy (1.3).";
    "guard-min-instances", INSTANCES, Count guard_min_instances, "10",
        "A service with fewer entries always passes the guard (1.3).";
    "guard-min-healthy-pct", PERCENT, Count guard_min_healthy_pct, "85",
        "The least share of healthy entries that passes the guard (1.3).";
    "guard-scope", Shape::Choice(GuardScope::WORDS), Word guard_scope, "both",
        "What a shut guard holds back: marks and removals, or (repaired) marks only (1.9).";
    "guard-cap", Shape::Flag, Flag guard_cap, "false",
        "Repair: whether a sweep stops marking when the next mark would break the guard's ratio (1.9).";
    "read-protect-threshold", THRESHOLD, MaybeShare read_protect_threshold, "two-stage: none; nacos-1: 0.0",
        "If no greater share of a service is healthy, all of it is served as healthy; `none`: never (4.1).";
    "notify-on-reregister", Shape::Flag, Flag notify_on_reregister, "two-stage: false; nacos-1: true",
        "Whether registering again notifies although nothing has changed (4.1).";
    "register-stamps-heartbeat", Shape::Flag, Flag register_stamps_heartbeat, "true",
        "Whether a new entry counts as just heard of (1.5).";
    "register-existing", Shape::Choice(RegisterExisting::WORDS), Word register_existing, "keep",
        "Whether registering keeps an unhealthy entry unhealthy, or (repaired) heals it (1.2, 1.9).";
    "epoch", Shape::Flag, Flag epoch, "false",
        "Repair: whether long polls compare the registry's life besides the revision (1.9).";
    "resume-order", Shape::Choice(ResumeOrder::WORDS), Word resume_order, "sweep-first",
        "Who comes first when the registry goes on after a pause: overdue sweeps or waiting requests (1.8).";
    "registry-persistent", Shape::Flag, Flag registry_persistent, "false",
        "Whether a restart keeps entries and revisions (1.8).";
    "watch-park-ms", MS, Count watch_park_ms, "200",
        "How often a long poll that is held looks whether the revision has changed (2.7).";
    "watch-timeout-payload", Shape::Choice(WatchTimeoutPayload::WORDS), Word watch_timeout_payload, "empty",
        "What a long poll is answered whose time is up: an empty list, or (repaired) the current one (2.7).";
    "push-delay-ms", MS_OR_NONE, Count push_delay_ms, "1000",
        "From a change to its push; what changes meanwhile goes with it (4.2).";
    "push-loss", Shape::Share, Share push_loss, "0.0",
        "The probability that a datagram, a push or its acknowledgement, is lost, besides the network's own loss (4.5).";
    "push-ack-timeout-ms", MS_OR_NONE, Count push_ack_timeout_ms, "10000",
        "How long an acknowledgement is waited for before the push is sent again, unchanged (4.2).";
    "push-max-resend", TIMES, Count push_max_resend, "1",
        "How often at most (4.2).";
    "subscriber-ttl-ms", MS_OR_NONE, Count subscriber_ttl_ms, "10000",
        "A subscriber whose last poll is older gets no pushes until it polls again (4.2).";
    "worker-threads", THREADS, MaybeCount worker_threads, "unlimited",
        "Requests at a time; a long poll holds a thread for as long as it waits (2.7).";
];

/// The processes', of `[two-stage]` and `[application.two-stage]`.
pub(crate) static CLIENT: &[Property<ClientConfig>] = properties![
    "heartbeat-interval-ms", MS, Count heartbeat_interval_ms, "5000",
        "From one heartbeat to the next (1.2).";
    "first-heartbeat-delay-ms", MS_OR_NONE, Count first_heartbeat_delay_ms, "5000",
        "From the registration to the first heartbeat (1.2).";
    "heartbeat-schedule", Shape::Choice(Schedule::WORDS), Word heartbeat_schedule,
        "two-stage: fixed-rate; nacos-1: fixed-delay",
        "Whether the interval counts from the heartbeat itself, or from its answer (4.2).";
    "discovery", Shape::Choice(Discovery::WORDS), Word discovery, "two-stage: poll; nacos-1: push-plus-poll",
        "How a consumer hears of changes: it fetches everything again and again, keeps a long poll open for each \
         service, or polls each service and is sent pushes (2.2, 2.7, 4.2).";
    "poll-interval-ms", MS, Count poll_interval_ms, "two-stage: 5000; nacos-1: 10000",
        "From the end of one poll to the next (2.2).";
    "backoff-base-ms", MS, Count backoff.base_ms, "1000",
        "After the `f`-th failure in a row a consumer waits `base << min(f, max-shift)`, `cap` at most (2.2).";
    "backoff-max-shift", SHIFT, Count backoff.max_shift, "two-stage: 5; nacos-1: 6",
        "How often that wait doubles at most (2.2).";
    "backoff-cap-ms", MS, Count backoff.cap_ms, "two-stage: 30000; nacos-1: 60000",
        "The longest wait after a failure (2.2).";
    "empty-is-failure", Shape::Flag, Flag empty_is_failure, "two-stage: false; nacos-1: true",
        "Whether an empty list counts as a failure (4.2).";
    "warn-after-failures", FAILURES, Count warn_after_failures, "two-stage: 3; nacos-1: 0",
        "After so many failures in a row a consumer warns in its log; 0: never (2.2).";
    "watch-timeout-ms", MS, Count watch_timeout_ms, "30000",
        "How long a long poll waits for a change (2.7).";
    "watch-ack", Shape::Choice(WatchAck::WORDS), Word watch_ack, "on-apply",
        "When a consumer takes a long poll's revision for its own: only with its list, or always (2.7).";
    "watch-reissue-gap-ms", MS_OR_NONE, Count watch_reissue_gap_ms, "1",
        "From an answer to the next long poll (2.7).";
    "discard-poll-after-push", Shape::Flag, Flag discard_poll_after_push, "two-stage: false; nacos-1: true",
        "Whether the answer to the first poll after a push is thrown away (4.2).";
    "accept-stale-push", Shape::Flag, Flag accept_stale_push, "true",
        "Whether a push is taken that is older than what is there (4.2).";
    "sanity", Shape::Choice(Sanity::WORDS), Word sanity, "two-stage: half; nacos-1: none",
        "Which answers a consumer refuses: those in which a service has lost more than half, none, or lists without a \
         healthy instance (2.3, 4.2).";
    "start-applies-unchecked", Shape::Flag, Flag start_applies_unchecked, "true",
        "Whether the first answer after a start is taken without that check (2.1).";
    "disk-mode", Shape::Choice(DiskMode::WORDS), Word disk_mode, "two-stage: atomic; nacos-1: in-place",
        "How a consumer keeps its list on disk: another file that is renamed, over the file, or not at all (2.4).";
    "disk-write-on", Shape::Choice(DiskWriteOn::WORDS), Word disk_write_on,
        "two-stage: every-success; nacos-1: change",
        "After which answers it writes (2.4).";
    "disk-load-at-start", Shape::Flag, Flag disk_load_at_start, "two-stage: true; nacos-1: false",
        "Whether it reads its file when it starts (2.1).";
    "disk-write-ms", MS_OR_NONE, Count disk_write_ms, "20",
        "How long writing takes; whoever is killed meanwhile leaves a torn file, `in-place` (2.4).";
    "disk-writable", Shape::Flag, Flag disk_writable, "true",
        "Ours: whether its folder can be written to at all.";
    "on-corrupt-file", Shape::Choice(OnCorruptFile::WORDS), Word on_corrupt_file,
        "two-stage: fail-start; nacos-1: ignore",
        "Whether a file that cannot be read keeps a process from starting (2.1).";
    "request-timeout-ms", MS, Count request_timeout_ms, "3000",
        "How long a call waits for its answer, a long poll that much beyond its own time (1.5).";
    "deregister-linger-ms", MS_OR_NONE, Count deregister_linger_ms, "two-stage: 3000; nacos-1: 0",
        "How long a process that stops goes on after it has deregistered (2.6).";
    "stop-heartbeat-before-deregister", Shape::Flag, Flag stop_heartbeat_before_deregister, "true",
        "Whether it ends its heartbeats before that (1.5, C12).";
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::two_stage::Preset;
    use crate::scenario::format::property::printed;

    /// A default in words, from its values in the two presets.
    fn in_words(two_stage: &str, nacos: &str) -> String {
        let [two_stage, nacos] = [two_stage, nacos].map(|value| value.trim_matches('"').to_owned());
        if two_stage == nacos { two_stage } else { format!("two-stage: {two_stage}; nacos-1: {nacos}") }
    }

    fn check<C: Clone>(properties: &[Property<C>], [two_stage, nacos]: [C; 2]) {
        for property in properties {
            let words = in_words(&printed(property, &two_stage), &printed(property, &nacos));
            assert_eq!(property.key.default, words, "{}", property.key.name);
        }
    }

    #[test]
    fn the_defaults_in_words_are_the_defaults() {
        let presets = [Preset::TwoStage, Preset::Nacos1];
        check(SERVER, presets.map(ServerConfig::defaults));
        check(CLIENT, presets.map(ClientConfig::defaults));
    }
}
