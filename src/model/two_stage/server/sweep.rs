//! The sweep: silence makes an entry unhealthy, and longer silence has it forgotten.
//!
//! A sweep judges by one reading of the wall clock, taken when it runs; when it runs goes by the monotonic clock. There
//! is one timer for all services, or one for each from its creation on. One that could not run in time, since the
//! process stood still, runs once and counts on from then, or makes up for every run that it missed, in one
//! instant (`two-stage.md` 1.8).
//!
//! Source: `two-stage.md` 1.3, 1.5, 1.8, 4.1 (`ClientBeatCheckTask#run`).

use super::super::config::{Schedule, ServerConfig, SweepPasses, SweepPhase};
use super::entries::Entry;
use super::guard::Verdict;
use super::{ServerStep, TwoStageServer, millis, tell};
use crate::engine::SimTime;
use crate::model::clock::WallMs;
use crate::model::effect::ServiceTimer;
use crate::model::fact::{Fact, Sweep};
use crate::model::id::{AppId, InstanceId};

/// The timer of the sweep that looks at all services.
const GLOBAL: u32 = 0;

/// When sweeps are due, and what their guards said.
#[derive(Clone, Default)]
pub(super) struct Sweeps {
    /// By number of the timer: [`GLOBAL`], or the service's.
    due: Vec<Option<SimTime>>,
    /// By service: whether the guard was shut at its last sweep.
    shut: Vec<bool>,
    /// How many are.
    shut_count: u32,
}

impl Sweeps {
    pub(super) fn any_is_shut(&self) -> bool {
        self.shut_count > 0
    }

    /// Notes a verdict; says whether it is another than that of the service's sweep before. Guards begin open.
    fn note(&mut self, app: AppId, is_open: bool) -> bool {
        if self.shut.len() <= app.index() {
            self.shut.resize(app.index() + 1, false);
        }
        let was_shut = std::mem::replace(&mut self.shut[app.index()], !is_open);
        self.shut_count = self.shut_count + u32::from(!is_open) - u32::from(was_shut);
        was_shut == is_open
    }
}

/// Whom a sweep takes, each in order.
#[derive(Debug, Default, PartialEq, Eq)]
struct SweepResult {
    /// Turns unhealthy.
    marks: Vec<InstanceId>,
    /// Is forgotten.
    removals: Vec<InstanceId>,
}

impl TwoStageServer {
    /// Sets the timers of a life that begins.
    pub(super) fn begin_sweeps(&mut self, step: &mut ServerStep<'_>) {
        match self.config.sweep_phase {
            SweepPhase::Global => self.set_first_sweep(GLOBAL, step),
            SweepPhase::ServiceCreation => {
                for app in self.entries.apps() {
                    self.set_first_sweep(app.0, step);
                }
            }
        }
    }

    /// A service is heard of for the first time.
    pub(super) fn service_created(&mut self, app: AppId, step: &mut ServerStep<'_>) {
        if self.config.sweep_phase == SweepPhase::ServiceCreation {
            self.set_first_sweep(app.0, step);
        }
    }

    pub(super) fn on_sweep_timer(&mut self, number: u32, step: &mut ServerStep<'_>) {
        let now = step.now.mono;
        let due = self.sweeps.due.get(number as usize).copied().flatten();
        let Some(mut due) = due.filter(|&due| due <= now) else { return };
        let interval = millis(self.config.sweep_interval_ms.max(1));
        match self.config.sweep_mode {
            Schedule::FixedDelay => {
                self.sweep(number, step);
                due = now + interval;
            }
            Schedule::FixedRate => {
                while due <= now {
                    self.sweep(number, step);
                    due += interval;
                }
            }
        }
        self.set_sweep(number, due, step);
        self.shown.tell(step);
    }

    fn set_first_sweep(&mut self, number: u32, step: &mut ServerStep<'_>) {
        let at = step.now.mono + millis(self.config.sweep_initial_delay_ms);
        self.set_sweep(number, at, step);
    }

    fn set_sweep(&mut self, number: u32, at: SimTime, step: &mut ServerStep<'_>) {
        let due = &mut self.sweeps.due;
        if due.len() <= number as usize {
            due.resize(number as usize + 1, None);
        }
        due[number as usize] = Some(at);
        self.set(ServiceTimer::Sweep, number, at, step);
    }

    fn sweep(&mut self, number: u32, step: &mut ServerStep<'_>) {
        match self.config.sweep_phase {
            SweepPhase::Global => {
                for app in self.entries.apps() {
                    self.sweep_service(app, step);
                }
            }
            SweepPhase::ServiceCreation => self.sweep_service(AppId(number), step),
        }
    }

    fn sweep_service(&mut self, app: AppId, step: &mut ServerStep<'_>) {
        let (entries, healthy) = (self.entries.of(app).len() as u32, self.entries.healthy(app));
        let verdict = Verdict::of(&self.config, healthy, entries);
        let has_turned = self.sweeps.note(app, verdict.is_open);
        let sweep_result = judge(&self.config, self.entries.of(app), healthy, verdict, step.now.wall);
        let SweepResult { marks, removals } = sweep_result;
        for &instance in &marks {
            self.entries.set_healthy(instance, false);
            tell(step, Fact::SoftEvicted { instance });
        }
        for &instance in &removals {
            self.entries.remove(instance);
            tell(step, Fact::LeaseEvicted { instance });
        }
        let (marked, removed) = (marks.len() as u32, removals.len() as u32);
        if marked + removed > 0 {
            self.changed(app, &[marks, removals].concat(), step);
        }
        if marked + removed > 0 || has_turned {
            let guard_open = verdict.is_open;
            tell(step, Fact::SweepEnded(Sweep { app, entries, healthy, guard_open, marked, removed }));
        }
    }
}

/// Whom a sweep takes of a service. Each entry is judged by its own fields, so the order in which they are looked at makes
/// no difference, unless a cap ends the marks: then the longest silent come first.
fn judge(
    config: &ServerConfig,
    entries: &[Entry],
    healthy: u32,
    verdict: Verdict,
    now: WallMs,
) -> SweepResult {
    let mut sweep_result = SweepResult::default();
    if !verdict.is_open && !verdict.may_remove {
        return sweep_result;
    }
    let (soft_ms, hard_ms) = (i64::from(config.soft_timeout_ms), i64::from(config.hard_timeout_ms));
    let least_ms = soft_ms.min(hard_ms);
    let removes_healthy = config.sweep_passes == SweepPasses::MarkThenDelete;
    let mut silent = Vec::new();
    for entry in entries {
        let silence_ms = now.since(entry.last);
        if silence_ms <= least_ms {
            continue;
        }
        if entry.healthy && silence_ms > soft_ms {
            silent.push((entry.last, entry.instance));
        }
        if verdict.may_remove && silence_ms > hard_ms && (!entry.healthy || removes_healthy) {
            sweep_result.removals.push(entry.instance);
        }
    }
    // Either or: who is removed goes first, being silent for longest, and what is left is what marks must not break. In
    // two passes all marks come first.
    let left = entries.len() - if removes_healthy { 0 } else { sweep_result.removals.len() };
    let marks_max = verdict.marks_max(config, healthy, left as u32);
    if silent.len() > marks_max {
        silent.sort_unstable();
        silent.truncate(marks_max);
    }
    sweep_result.marks = silent.into_iter().map(|(_, instance)| instance).collect();
    sweep_result.marks.sort_unstable();
    sweep_result.removals.sort_unstable();
    sweep_result
}
