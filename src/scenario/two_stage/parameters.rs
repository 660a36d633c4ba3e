//! The parameters of the two-stage registry under the specification's own names, in kebab case: each with its range,
//! its meaning and the field that it sets.
//!
//! Names, defaults and meanings are those of `two-stage.md` section 6, and of its repairs in 1.9; the defaults' values
//! are [`ServerConfig::defaults`] and [`ClientConfig::defaults`] of either preset. The numbers in brackets are sections of
//! that page. See [`crate::scenario::eureka::properties`], which is the same for Eureka.

use crate::model::two_stage::{
    ClientConfig, Discovery, DiskMode, DiskWriteOn, Guard, GuardScope, OnCorruptFile, Preset,
    RegisterExisting, ResumeOrder, Sanity, Schedule, ServerConfig, SweepPasses, SweepPhase, WatchAck,
    WatchTimeoutPayload,
};
use crate::scenario::format::forms::{Count, Flag, MS, MS_OR_NONE, Or, SHARE, Share, words};
use crate::scenario::format::{INSTANCES_MAX, Presets, settings};

const PERCENT: Count<u32> = Count { min: 0, max: 100, unit: "percent" };
const INSTANCES: Count<u32> = Count { min: 0, max: INSTANCES_MAX, unit: "instances" };
const TIMES: Count<u32> = Count { min: 0, max: 1_000, unit: "times" };
const FAILURES: Count<u32> = Count { min: 0, max: 1_000_000, unit: "failures" };
/// [`crate::model::two_stage::Backoff`] shifts by so much at most.
const SHIFT: Count<u32> = Count { min: 0, max: 20, unit: "bits" };
const THREADS: Or<Count<u32>> = Or(Count { min: 1, max: 100_000, unit: "threads" }, "unlimited");
const THRESHOLD: Or<Share> = Or(SHARE, "none");

words! {
    SWEEP_PHASE: SweepPhase { Global = "global", ServiceCreation = "service-creation" }
    SCHEDULE: Schedule { FixedDelay = "fixed-delay", FixedRate = "fixed-rate" }
    SWEEP_PASSES: SweepPasses { ElseIf = "else-if", MarkThenDelete = "mark-then-delete" }
    GUARD: Guard { Ratio = "ratio", None = "none" }
    GUARD_SCOPE: GuardScope { Both = "both", SoftOnly = "soft-only" }
    REGISTER_EXISTING: RegisterExisting { Keep = "keep", Heal = "heal" }
    RESUME_ORDER: ResumeOrder { SweepFirst = "sweep-first", RequestsFirst = "requests-first" }
    WATCH_TIMEOUT_PAYLOAD: WatchTimeoutPayload { Empty = "empty", Full = "full" }
    DISCOVERY: Discovery { Poll = "poll", LongPoll = "long-poll", PushPlusPoll = "push-plus-poll" }
    WATCH_ACK: WatchAck { OnApply = "on-apply", Always = "always" }
    SANITY: Sanity { Half = "half", None = "none", PushEmpty = "push-empty" }
    DISK_MODE: DiskMode { Atomic = "atomic", InPlace = "in-place", None = "none" }
    DISK_WRITE_ON: DiskWriteOn { EverySuccess = "every-success", Change = "change" }
    ON_CORRUPT_FILE: OnCorruptFile { FailStart = "fail-start", Ignore = "ignore" }
}

impl Presets for ServerConfig {
    fn presets() -> [(&'static str, Self); 2] {
        [("two-stage", Self::defaults(Preset::TwoStage)), ("nacos-1", Self::defaults(Preset::Nacos1))]
    }
}

impl Presets for ClientConfig {
    fn presets() -> [(&'static str, Self); 2] {
        [("two-stage", Self::defaults(Preset::TwoStage)), ("nacos-1", Self::defaults(Preset::Nacos1))]
    }
}

settings! {
    /// The registry's, of `[two-stage]` alone.
    server: ServerConfig, by_presets, "two-stage";
    "soft-timeout-ms": MS_OR_NONE, soft_timeout_ms,
        "Silence after which an instance turns unhealthy and is no longer served: strictly more than this \
        (1.3).";
    "hard-timeout-ms": MS_OR_NONE, hard_timeout_ms,
        "Silence after which an entry is removed: strictly more than this (1.3).";
    "sweep-interval-ms": MS, sweep_interval_ms, "From one sweep to the next (1.3).";
    "sweep-initial-delay-ms": MS_OR_NONE, sweep_initial_delay_ms,
        "From the registry's start, or a service's creation, to the first sweep (1.5).";
    "sweep-phase": SWEEP_PHASE, sweep_phase,
        "Whether one sweep looks at all services, or each service has its own from its creation on (4.1).";
    "sweep-mode": SCHEDULE, sweep_mode,
        "After a standstill one overdue sweep (`fixed-delay`), or every missed one back to back (1.8).";
    "sweep-passes": SWEEP_PASSES, sweep_passes,
        "Whether a sweep either marks an entry or removes it, or may do both (1.3, 4.1).";
    "guard": GUARD, guard,
        "Whether a sweep leaves out a service of which too small a share is healthy (1.3).";
    "guard-min-instances": INSTANCES, guard_min_instances,
        "A service with fewer entries always passes the guard (1.3).";
    "guard-min-healthy-pct": PERCENT, guard_min_healthy_pct,
        "The least share of healthy entries that passes the guard (1.3).";
    "guard-scope": GUARD_SCOPE, guard_scope,
        "What a shut guard holds back: marks and removals, or (repaired) marks only (1.9).";
    "guard-cap": Flag, guard_cap,
        "Repair: whether a sweep stops marking when the next mark would break the guard's ratio (1.9).";
    "read-protect-threshold": THRESHOLD, read_protect_threshold,
        "If no greater share of a service is healthy, all of it is served as healthy; `none`: never (4.1).";
    "notify-on-reregister": Flag, notify_on_reregister,
        "Whether registering again notifies although nothing has changed (4.1).";
    "register-stamps-heartbeat": Flag, register_stamps_heartbeat,
        "Whether a new entry counts as just heard of (1.5).";
    "register-existing": REGISTER_EXISTING, register_existing,
        "Whether registering keeps an unhealthy entry unhealthy, or (repaired) heals it (1.2, 1.9).";
    "epoch": Flag, epoch,
        "Repair: whether long polls compare the registry's life besides the revision (1.9).";
    "resume-order": RESUME_ORDER, resume_order,
        "Who comes first when the registry goes on after a pause: overdue sweeps or waiting requests (1.8).";
    "registry-persistent": Flag, registry_persistent, "Whether a restart keeps entries and revisions (1.8).";
    "watch-park-ms": MS, watch_park_ms,
        "How often a long poll that is held looks whether the revision has changed (2.7).";
    "watch-timeout-payload": WATCH_TIMEOUT_PAYLOAD, watch_timeout_payload,
        "What a long poll is answered whose time is up: an empty list, or (repaired) the current one (2.7).";
    "push-delay-ms": MS_OR_NONE, push_delay_ms,
        "From a change to its push; what changes meanwhile goes with it (4.2).";
    "push-loss": SHARE, push_loss,
        "The probability that a datagram, a push or its acknowledgement, is lost, besides the network's own \
        loss (4.5).";
    "push-ack-timeout-ms": MS_OR_NONE, push_ack_timeout_ms,
        "How long an acknowledgement is waited for before the push is sent again, unchanged (4.2).";
    "push-max-resend": TIMES, push_max_resend, "How often at most (4.2).";
    "subscriber-ttl-ms": MS_OR_NONE, subscriber_ttl_ms,
        "A subscriber whose last poll is older gets no pushes until it polls again (4.2).";
    "worker-threads": THREADS, worker_threads,
        "Requests at a time; a long poll holds a thread for as long as it waits (2.7).";
}

settings! {
    /// The processes', of `[two-stage]` and `[application.two-stage]`.
    client: ClientConfig, by_presets, "two-stage";
    "heartbeat-interval-ms": MS, heartbeat_interval_ms, "From one heartbeat to the next (1.2).";
    "first-heartbeat-delay-ms": MS_OR_NONE, first_heartbeat_delay_ms,
        "From the registration to the first heartbeat (1.2).";
    "heartbeat-schedule": SCHEDULE, heartbeat_schedule,
        "Whether the interval counts from the heartbeat itself, or from its answer (4.2).";
    "discovery": DISCOVERY, discovery,
        "How a consumer hears of changes: it fetches everything again and again, keeps a long poll open for \
        each \
         service, or polls each service and is sent pushes (2.2, 2.7, 4.2).";
    "poll-interval-ms": MS, poll_interval_ms, "From the end of one poll to the next (2.2).";
    "backoff-base-ms": MS, base_ms in backoff,
        "After the `f`-th failure in a row a consumer waits `base << min(f, max-shift)`, `cap` at most \
        (2.2).";
    "backoff-max-shift": SHIFT, max_shift in backoff, "How often that wait doubles at most (2.2).";
    "backoff-cap-ms": MS, cap_ms in backoff, "The longest wait after a failure (2.2).";
    "empty-is-failure": Flag, empty_is_failure, "Whether an empty list counts as a failure (4.2).";
    "warn-after-failures": FAILURES, warn_after_failures,
        "After so many failures in a row a consumer warns in its log; 0: never (2.2).";
    "watch-timeout-ms": MS, watch_timeout_ms, "How long a long poll waits for a change (2.7).";
    "watch-ack": WATCH_ACK, watch_ack,
        "When a consumer takes a long poll's revision for its own: only with its list, or always (2.7).";
    "watch-reissue-gap-ms": MS_OR_NONE, watch_reissue_gap_ms, "From an answer to the next long poll (2.7).";
    "discard-poll-after-push": Flag, discard_poll_after_push,
        "Whether the answer to the first poll after a push is thrown away (4.2).";
    "accept-stale-push": Flag, accept_stale_push,
        "Whether a push is taken that is older than what is there (4.2).";
    "sanity": SANITY, sanity,
        "Which answers a consumer refuses: those in which a service has lost more than half, none, or lists \
        without a \
         healthy instance (2.3, 4.2).";
    "start-applies-unchecked": Flag, start_applies_unchecked,
        "Whether the first answer after a start is taken without that check (2.1).";
    "disk-mode": DISK_MODE, disk_mode,
        "How a consumer keeps its list on disk: another file that is renamed, over the file, or not at all \
        (2.4).";
    "disk-write-on": DISK_WRITE_ON, disk_write_on, "After which answers it writes (2.4).";
    "disk-load-at-start": Flag, disk_load_at_start, "Whether it reads its file when it starts (2.1).";
    "disk-write-ms": MS_OR_NONE, disk_write_ms,
        "How long writing takes; whoever is killed meanwhile leaves a torn file, `in-place` (2.4).";
    "disk-writable": Flag, disk_writable, "Ours: whether its folder can be written to at all.";
    "on-corrupt-file": ON_CORRUPT_FILE, on_corrupt_file,
        "Whether a file that cannot be read keeps a process from starting (2.1).";
    "request-timeout-ms": MS, request_timeout_ms,
        "How long a call waits for its answer, a long poll that much beyond its own time (1.5).";
    "deregister-linger-ms": MS_OR_NONE, deregister_linger_ms,
        "How long a process that stops goes on after it has deregistered (2.6).";
    "stop-heartbeat-before-deregister": Flag, stop_heartbeat_before_deregister,
        "Whether it ends its heartbeats before that (1.5, C12).";
}
