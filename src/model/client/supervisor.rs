//! The supervisor of a periodic task: fixed delay after completion, a time-out, and a back-off that only
//! time-outs feed. Source: `TimedSupervisorTask.run`; `eureka-client.md` 2.1.
//!
//! Nearly every job finishes in time, so its time-out is not set when it starts. It is set when the job makes
//! a second call, or when the world knows that the outcome of the first will not come in time
//! ([`Client::on_stall`]); both count from the start of the job, so nothing is lost.

use super::client::Client;
use super::effect::{ClientEffect, ClientTimer};
use super::job::{Job, Task};
use super::record::lease_seconds;
use super::{ClientConfig, TransportKind};
use crate::engine::{SimDuration, SimTime};
use crate::model::fact::Fact;
use crate::model::step::Step;

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

    /// Sets the time-out of a job that may need it. An outcome that comes just then is in time (`c - t <= T`),
    /// so the time-out is due right after it.
    pub(super) fn arm_timeout(
        &mut self,
        task: Task,
        began: SimTime,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        let supervision = Supervision::of(task, config);
        let due = began + supervision.interval + SimDuration::from_nanos(1);
        self.timers.set(supervision.timeout, due.since(step.now.mono), step.out);
    }

    /// The job that runs did not finish in time: it goes on in the background, interrupted, and the delay doubles.
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
        let next = job.began + supervision.interval + self.supervisor(task).delay(supervision.interval);
        self.timers.set(supervision.next, next.since(step.now.mono), step.out);
        job.interrupted = true;
        if config.transport.kind == TransportKind::WebClient {
            // It waits on a latch, which the interrupt opens: the attempt fails at once (`eureka-client.md` 2.2).
            self.attempt_failed(job, config, step);
        } else {
            self.keep(job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
