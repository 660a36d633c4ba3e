//! The supervisor of a periodic task: fixed delay after completion, a time-out, and a back-off that only
//! time-outs feed. Source: `TimedSupervisorTask.run`; `eureka-client.md` 2.1.
//!
//! Nearly every job finishes in time, so its time-out is not set when it starts. It is set when the job makes
//! a second call, or when the world knows that the outcome of the first will not come in time
//! ([`Client::on_stall`]); both count from the start of the job, so nothing is lost.

use super::job::{Job, Task};
use super::machine::Client;
use super::record::lease_seconds;
use super::{ClientConfig, TransportKind};
use crate::engine::{SimDuration, SimTime};
use crate::model::effect::{ClientEffect, ClientTimer};
use crate::model::fact::Fact;
use crate::model::step::Step;

/// An outcome that comes just at the time-out is in time, so the time-out is due right after it.
const AFTER_THE_TIE: SimDuration = SimDuration::from_nanos(1);

/// How far the back-off has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supervisor {
    /// The delay in intervals: 1 unless jobs timed out.
    factor: u32,
}

/// A supervisor's settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supervision {
    /// The interval, which is also the time-out.
    pub(super) interval: SimDuration,
    /// The longest delay, in intervals.
    bound: u32,
    /// Workers.
    workers: u32,
    /// When the next job starts.
    next: ClientTimer,
    /// When the job that runs has timed out.
    timeout: ClientTimer,
}

impl Default for Supervisor {
    fn default() -> Self {
        Self { factor: 1 }
    }
}

impl Supervisor {
    /// A job finished in time, whatever came of it.
    fn finished(&mut self) {
        self.factor = 1;
    }

    /// A job did not finish in time.
    fn timed_out(&mut self, bound: u32) {
        self.factor = bound.min(self.factor.saturating_mul(2));
    }

    /// The delay in force.
    fn delay(&self, interval: SimDuration) -> SimDuration {
        interval * u64::from(self.factor)
    }
}

impl Supervision {
    /// The settings for `task`, which is a heartbeat or a fetch.
    pub(super) fn of(task: Task, config: &ClientConfig) -> Self {
        if task == Task::Heartbeat {
            Self {
                interval: config.heartbeat_interval(),
                bound: config.heartbeat_executor_exponential_back_off_bound,
                workers: config.heartbeat_executor_thread_pool_size,
                next: ClientTimer::Heartbeat,
                timeout: ClientTimer::HeartbeatTimeout,
            }
        } else {
            Self {
                interval: config.fetch_interval(),
                bound: config.cache_refresh_executor_exponential_back_off_bound,
                workers: config.cache_refresh_executor_thread_pool_size,
                next: ClientTimer::Fetch,
                timeout: ClientTimer::FetchTimeout,
            }
        }
    }
}

impl ClientConfig {
    /// Time between a heartbeat and the next, and a heartbeat's time-out.
    pub(super) fn heartbeat_interval(&self) -> SimDuration {
        SimDuration::from_secs(lease_seconds(self.lease_renewal_interval_in_seconds, 30) as u64)
    }

    /// Time between a fetch and the next, and a fetch's time-out.
    pub(super) fn fetch_interval(&self) -> SimDuration {
        SimDuration::from_secs(u64::from(self.registry_fetch_interval_seconds))
    }
}

impl Client {
    fn supervisor(&mut self, task: Task) -> &mut Supervisor {
        if task == Task::Heartbeat { &mut self.heartbeat_supervisor } else { &mut self.fetch_supervisor }
    }

    /// A task is due: a job for it, unless all workers are busy.
    pub(super) fn hand_off(
        &mut self,
        task: Task,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) -> Option<Job> {
        let supervision = Supervision::of(task, config);
        if self.background.is_some() && self.busy_workers(task) >= supervision.workers as usize {
            step.out.push(ClientEffect::Fact(Fact::SupervisorRejected));
            let delay = self.supervisor(task).delay(supervision.interval);
            self.timers.set(supervision.next, delay, step.out);
            return None;
        }
        Some(Job::new(task, step.now.mono))
    }

    /// Workers that still wait for calls of jobs that timed out.
    fn busy_workers(&self, task: Task) -> usize {
        self.background.iter().flat_map(|jobs| jobs.0.iter()).filter(|job| job.task == task).count()
    }

    /// A supervised job ended, well or not. One that timed out before has its worker back, no more.
    pub(super) fn task_finished(
        &mut self,
        job: &Job,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if job.interrupted {
            return;
        }
        let supervision = Supervision::of(job.task, config);
        self.supervisor(job.task).finished();
        self.timers.cancel(supervision.timeout);
        self.timers.set(supervision.next, supervision.interval, step.out);
    }

    /// Sets the time-out of a job that may need it. An outcome that comes just then is in time (`c - t <=
    /// T`), so the time-out is due right after it.
    pub(super) fn arm_timeout(
        &mut self,
        task: Task,
        began: SimTime,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        let supervision = Supervision::of(task, config);
        let due = began + supervision.interval + AFTER_THE_TIE;
        self.timers.set(supervision.timeout, due.since(step.now.mono), step.out);
    }

    /// The job that runs did not finish in time: it goes on in the background, interrupted, and the delay
    /// doubles.
    pub(super) fn task_timed_out(
        &mut self,
        task: Task,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        let supervision = Supervision::of(task, config);
        let Some(mut job) = self.take_running(task) else { return };
        step.out.push(ClientEffect::Fact(Fact::SupervisorTimedOut));
        self.supervisor(task).timed_out(supervision.bound);
        // The delay counts from the end of the wait: the time-out itself, or later if the process stood
        // still.
        let (ended, now) = (job.began + supervision.interval, step.now.mono);
        let ended = if now > ended + AFTER_THE_TIE { now } else { ended };
        let next = ended + self.supervisor(task).delay(supervision.interval);
        self.timers.set(supervision.next, next.since(step.now.mono), step.out);
        job.interrupted = true;
        if config.transport.kind == TransportKind::WebClient {
            // It waits on a latch, which the interrupt opens: the attempt fails at once (`eureka-client.md`
            // 2.2).
            self.attempt_failed(job, config, step);
        } else {
            self.keep(job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Answer, RTT, Rig, at_ms, healthy, secs};
    use super::*;
    use crate::model::eureka::Flavour;
    use crate::model::message::{Failure, Reply, RequestKind};

    #[test]
    fn permanent_time_outs_start_at_0_90_240_510_840_1170() {
        let interval = SimDuration::from_secs(30);
        let mut supervisor = Supervisor::default();
        let mut starts = vec![0];
        for _ in 0..5 {
            supervisor.timed_out(10);
            // 30 s of waiting, then the delay: 60, 120, 240, 300, 300.
            let wait = interval + supervisor.delay(interval);
            starts.push(starts.last().unwrap() + wait.as_millis() / 1_000);
        }
        assert_eq!(starts, [0, 90, 240, 510, 840, 1170]);
        supervisor.finished();
        assert_eq!(supervisor.delay(interval), interval);
    }

    /// A client whose heartbeats get no answer for `silence` from the second on.
    fn hanging(silence: SimDuration) -> Rig {
        let mut rig = Rig::new(Flavour::Spring);
        rig.answer(move |now, request, _, registry| match request.kind() {
            RequestKind::Renew if now >= at_ms(40_000) => Answer::Fail(silence, Failure::ReadTimeout),
            _ => healthy(request, registry),
        });
        rig.start();
        rig
    }

    #[test]
    fn time_outs_back_off_and_hung_jobs_keep_their_workers() {
        let mut rig = hanging(secs(180));
        rig.run_to(at_ms(700_000));
        // Constructor's fetch: 2 ms. Heartbeats at 30.002 and, 30 s after its answer, at t = 60.004. t + 30
        // time-out, delay 60: t + 90 the second; t + 120 time-out, delay 120: t + 240 the third, since both
        // workers came back at t + 180 and t + 270. t + 270 time-out, delay 240: t + 510.
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 60_004, 150_004, 300_004, 570_004]);
        let timed_out = rig.facts_ms(|fact| *fact == Fact::SupervisorTimedOut);
        assert_eq!(timed_out, [90_004, 180_004, 330_004, 600_004]);
        assert!(rig.facts_ms(|fact| *fact == Fact::SupervisorRejected).is_empty());
    }

    #[test]
    fn a_task_that_finds_all_workers_busy_comes_back_after_an_unchanged_delay() {
        let mut rig = hanging(secs(600));
        rig.run_to(at_ms(600_000));
        // Two workers hang from t and t + 90 on, t = 60.004; t + 240 is rejected with the delay at 120,
        // then every 120 s, until the first comes back at t + 600.
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 60_004, 150_004]);
        let rejected = rig.facts_ms(|fact| *fact == Fact::SupervisorRejected);
        assert_eq!(rejected, [300_004, 420_004, 540_004]);
    }

    #[test]
    fn an_answer_at_the_time_out_is_in_time() {
        for (late_ns, timed_out) in [(0, false), (2, true)] {
            let mut rig = Rig::new(Flavour::Spring);
            rig.answer(move |now, request, _, registry| match request.kind() {
                RequestKind::Renew if now < at_ms(31_000) => {
                    Answer::Reply(secs(30) + SimDuration::from_nanos(late_ns), registry.reply(request))
                }
                _ => healthy(request, registry),
            });
            rig.start();
            rig.run_to(at_ms(200_000));
            assert_eq!(!rig.facts_ms(|fact| *fact == Fact::SupervisorTimedOut).is_empty(), timed_out);
            // In time: 30 s after the answer at 60.002. Timed out: 30 + 60 s after the start at 30.002.
            let next = if timed_out { 120_002 } else { 90_002 };
            assert_eq!(rig.sent_ms(RequestKind::Renew)[1], next);
        }
    }

    #[test]
    fn refusals_do_not_back_off() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.answer(|now, request, _, registry| match request.kind() {
            RequestKind::Renew if now > at_ms(40_000) => Answer::Fail(RTT, Failure::Refused),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(130_000));
        // The delegate and the list's only server: two attempts of 2 ms; then one, since there is no
        // delegate.
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 60_004, 60_006, 90_008, 120_010]);
    }

    #[test]
    fn after_an_interrupt_a_pool_lets_no_further_attempt_out_but_jersey_does() {
        for (kind, attempts) in [(TransportKind::RestTemplate, 1), (TransportKind::Jersey, 2)] {
            let mut rig = hanging(secs(40));
            rig.config.transport = crate::model::eureka::client::TransportConfig::of_kind(kind);
            rig.run_to(at_ms(149_000));
            // The call of 60.004 is interrupted at 90.004 and fails at 100.004.
            let sent = rig.sent_ms(RequestKind::Renew);
            assert_eq!(sent.iter().filter(|&&at| at >= 60_004).count(), attempts, "{kind:?}");
        }
    }

    #[test]
    fn an_answer_that_came_in_a_pause_beats_the_time_out() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(30_002));
        rig.pause_to(at_ms(100_000));
        rig.run_to(at_ms(131_000));
        assert!(rig.facts_ms(|fact| *fact == Fact::SupervisorTimedOut).is_empty());
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 130_000]); // 30 s after the resume
    }

    #[test]
    fn a_time_out_that_came_due_in_a_pause_counts_from_its_end() {
        let mut rig = hanging(secs(180));
        rig.run_to(at_ms(61_000)); // the heartbeat of 60.004 hangs until 240.004
        rig.pause_to(at_ms(200_000));
        rig.run_to(at_ms(261_000));
        assert_eq!(rig.facts_ms(|fact| *fact == Fact::SupervisorTimedOut), [200_000]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 60_004, 260_000]); // 60 s after the resume
    }

    #[test]
    fn a_late_404_brings_no_registration_once_interrupted() {
        for (kind, registrations) in [(TransportKind::RestTemplate, 1), (TransportKind::Jersey, 2)] {
            let mut rig = Rig::new(Flavour::Spring);
            rig.config.transport = crate::model::eureka::client::TransportConfig::of_kind(kind);
            rig.answer(|now, request, _, registry| match request.kind() {
                RequestKind::Renew if now < at_ms(31_000) => Answer::Reply(secs(40), Reply::bare(404)),
                _ => healthy(request, registry),
            });
            rig.start();
            rig.run_to(at_ms(71_000)); // interrupted at 60.002, answered at 70.002
            assert_eq!(rig.sent_ms(RequestKind::Register).len(), registrations, "{kind:?}");
        }
    }

    #[test]
    fn a_heartbeat_due_in_a_pause_runs_once_at_its_end() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(40_000));
        rig.pause_to(at_ms(200_000));
        rig.run_to(at_ms(231_000));
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 200_000, 230_002]);
    }
}
