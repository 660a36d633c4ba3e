//! A job: one run of one of the client's tasks, made of requests, each made of attempts.
//!
//! At most one heartbeat and one fetch run under their supervisors; they live inline. Everything else (the
//! replicator's registrations, jobs whose supervisor gave them up and that still wait for a hung call) lives
//! in a list that is rarely there at all. A job that waits is found again by the [`Call`] that it waits for.

use super::machine::Client;
use super::purpose;
use super::transport::Attempts;
use super::{ClientConfig, TransportKind};
use crate::engine::SimTime;
use crate::model::clock::WallMs;
use crate::model::effect::{Call, ClientEffect, ClientTimer};
use crate::model::fact::Fact;
use crate::model::message::{Failure, Reply, Request, RequestKind};
use crate::model::step::Step;

/// Whose run a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A supervised heartbeat.
    Heartbeat,
    /// A supervised registry fetch.
    Fetch,
    /// A registration by the replicator.
    Replicator,
    /// What the constructor does before any timer is set; nobody limits its time.
    Start,
    /// The de-registration of a process that stops.
    Stop,
}

/// Which request of a job is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Renew,
    Register,
    FetchDelta,
    FetchFull,
    Cancel,
}

impl Phase {
    const fn kind(self) -> RequestKind {
        match self {
            Self::Renew => RequestKind::Renew,
            Self::Register => RequestKind::Register,
            Self::FetchDelta => RequestKind::FetchDelta,
            Self::FetchFull => RequestKind::FetchFull,
            Self::Cancel => RequestKind::Cancel,
        }
    }

    const fn is_fetch(self) -> bool {
        matches!(self, Self::FetchDelta | Self::FetchFull)
    }
}

/// One run of a task.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) task: Task,
    pub(super) phase: Phase,
    /// Whether its supervisor gave it up.
    pub(super) interrupted: bool,
    /// Whether it has sent anything yet.
    sent: bool,
    /// The call that it waits for.
    awaited: Call,
    /// Generation of the local registry when the fetch that is under way began.
    pub(super) generation: u32,
    /// When it began, on the monotonic clock.
    pub(super) began: SimTime,
    /// The dirty timestamp that a registration is to clear.
    pub(super) dirty: WallMs,
    attempts: Attempts,
}

/// Jobs that no inline place is kept for.
#[derive(Clone, Debug)]
pub(super) struct Background(pub(super) Vec<Job>);

impl Job {
    /// A run of `task` that begins now.
    pub(super) fn new(task: Task, now: SimTime) -> Self {
        Self {
            task,
            phase: Phase::Renew,
            interrupted: false,
            sent: false,
            awaited: Call::NONE,
            generation: 0,
            began: now,
            dirty: WallMs(0),
            attempts: Attempts::default(),
        }
    }

    /// No job.
    pub(super) fn idle(task: Task) -> Self {
        Self::new(task, SimTime::ZERO)
    }

    /// Whether it waits for a call.
    pub(super) fn is_waiting(&self) -> bool {
        self.awaited != Call::NONE
    }

    /// Whether a supervisor watches it.
    fn is_supervised(&self) -> bool {
        matches!(self.task, Task::Heartbeat | Task::Fetch) && !self.interrupted
    }
}

impl Client {
    /// Begins the next request of a job.
    pub(super) fn request(
        &mut self,
        mut job: Job,
        phase: Phase,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        job.phase = phase;
        job.generation = self.generation;
        let (stack, purpose) = if phase.is_fetch() {
            (&mut self.query_stack, purpose::SESSION_OF_QUERY)
        } else {
            (&mut self.registration_stack, purpose::SESSION_OF_REGISTRATION)
        };
        let session_s = config.sessioned_client_reconnect_interval_seconds;
        job.attempts = stack.begin(step.now.wall, session_s, &mut step.rng, purpose);
        if self.servers.starts_polling() {
            self.timers.set(ClientTimer::ServerList, config.server_list_interval(), step.out);
        }
        self.attempt(job, config, step);
    }

    /// Makes the next attempt at a job's request, or gives the request up.
    fn attempt(&mut self, mut job: Job, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        let share = config.retryable_client_quarantine_refresh_percentage;
        let stack = if job.phase.is_fetch() { &mut self.query_stack } else { &mut self.registration_stack };
        let servers = self.servers.order();
        let mut next = stack.next(&mut job.attempts, servers, share);
        if job.interrupted && config.transport.interrupt_cancels_retries {
            // The interrupt is still pending on the thread, so taking a connection from the pool fails at once: no
            // attempt gets out, but each fails like any other, and costs even a healthy server its place as
            // delegate.
            while next.is_some() {
                stack.fail(&job.attempts, servers.len());
                next = stack.next(&mut job.attempts, servers, share);
            }
        }
        let Some((to, fresh)) = next else {
            self.gave_up(job, config, step);
            return;
        };
        if job.phase == Phase::Register && !self.registration_sent {
            self.registration_sent = true;
            step.out.push(ClientEffect::Fact(Fact::RegistrationSent { instance: self.instance }));
        }
        let fresh = fresh || self.connection_is_busy(&job);
        self.serial = Call::serial_after(self.serial);
        job.awaited = Call::numbered(self.serial, fresh);
        step.out.push(ClientEffect::Send { call: job.awaited, to, request: self.content(job.phase, config) });
        if job.sent && job.is_supervised() {
            self.arm_timeout(job.task, job.began, config, step);
        }
        job.sent = true;
        self.keep(job);
    }

    /// Whether another call is under way over the connection that `job` would use: the pool then opens one more to
    /// the same server.
    fn connection_is_busy(&self, job: &Job) -> bool {
        let inline = if job.phase.is_fetch() { &self.fetch } else { &self.heartbeat };
        let background = self.background.iter().flat_map(|jobs| jobs.0.iter());
        background.chain([inline]).any(|other| {
            other.is_waiting()
                && other.phase.is_fetch() == job.phase.is_fetch()
                && other.attempts.shares_connection(&job.attempts)
        })
    }

    fn content(&self, phase: Phase, config: &ClientConfig) -> Request {
        let instance = self.instance;
        match phase {
            Phase::Renew => Request::Renew { instance, last_dirty: self.record.last_dirty() },
            Phase::Register => Request::Register(self.record.record(config, self.app, instance)),
            Phase::FetchDelta => Request::FetchDelta,
            Phase::FetchFull => Request::FetchFull,
            Phase::Cancel => Request::Cancel { instance },
        }
    }

    /// An answer came to the call that `job` waited for.
    pub(super) fn answered(
        &mut self,
        job: Job,
        reply: Reply,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        // Jersey reads the body on the interrupted thread and fails (`eureka-client.md` 2.2).
        let unreadable =
            job.interrupted && job.phase.is_fetch() && config.transport.kind == TransportKind::Jersey;
        if unreadable || !config.transport.accepts(job.phase.kind(), reply.status) {
            self.attempt_failed(job, config, step);
            return;
        }
        if job.phase.is_fetch() {
            self.query_stack.accept(&job.attempts);
        } else {
            self.registration_stack.accept(&job.attempts);
        }
        match job.phase {
            Phase::Renew => self.renewed(job, reply.status, config, step),
            Phase::Register => self.registered(job, reply.status == 204, config, step),
            Phase::FetchDelta => self.fetched_delta(job, reply, config, step),
            Phase::FetchFull => self.fetched_full(job, reply, config, step),
            Phase::Cancel => self.exit(step),
        }
    }

    /// The attempt that `job` waited for came to nothing.
    pub(super) fn attempt_failed(
        &mut self,
        job: Job,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        let stack = if job.phase.is_fetch() { &mut self.query_stack } else { &mut self.registration_stack };
        stack.fail(&job.attempts, self.servers.order().len());
        self.attempt(job, config, step);
    }

    /// All attempts at a job's request failed: an exception, in the original.
    fn gave_up(&mut self, job: Job, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        match job.phase {
            Phase::Renew => self.task_finished(&job, config, step),
            Phase::Register => self.registration_failed(job, config, step),
            Phase::FetchDelta | Phase::FetchFull => self.fetch_ended(job, config, step),
            Phase::Cancel => self.exit(step),
        }
    }

    /// Forgets every job but the replicator's.
    pub(super) fn drop_jobs_of_pools(&mut self) {
        self.heartbeat = Job::idle(Task::Heartbeat);
        self.fetch = Job::idle(Task::Fetch);
        if let Some(jobs) = &mut self.background {
            jobs.0.retain(|job| job.task == Task::Replicator);
        }
    }

    /// Keeps a job that waits.
    pub(super) fn keep(&mut self, job: Job) {
        match job.task {
            Task::Heartbeat if !job.interrupted => self.heartbeat = job,
            Task::Fetch if !job.interrupted => self.fetch = job,
            Task::Start => self.fetch = job,
            _ => self.background.get_or_insert_with(|| Box::new(Background(Vec::new()))).0.push(job),
        }
    }

    /// Takes out the job that waits for `call`, if any does.
    pub(super) fn take_awaiting(&mut self, call: Call) -> Option<Job> {
        if self.heartbeat.awaited == call {
            return self.take_running(Task::Heartbeat);
        }
        if self.fetch.awaited == call {
            return self.take_running(Task::Fetch);
        }
        let jobs = &mut self.background.as_mut()?.0;
        let at = jobs.iter().position(|job| job.awaited == call)?;
        let job = jobs.remove(at);
        if jobs.is_empty() {
            self.background = None;
        }
        Some(job)
    }

    /// Takes out the job that runs under its supervisor, if there is one.
    pub(super) fn take_running(&mut self, task: Task) -> Option<Job> {
        let place = if task == Task::Heartbeat { &mut self.heartbeat } else { &mut self.fetch };
        place.is_waiting().then(|| std::mem::replace(place, Job::idle(task)))
    }

    /// Whether any job, given up by its supervisor or not, still waits for `call`: if none does, the connection is
    /// gone with it.
    pub fn awaits(&self, call: Call) -> bool {
        let background = self.background.iter().flat_map(|jobs| jobs.0.iter());
        [&self.heartbeat, &self.fetch].into_iter().chain(background).any(|job| job.awaited == call)
    }

    /// The outcome of `call` will not come within [`Self::stall_after`] from the start of its job: sets the
    /// supervisor's time-out for that job.
    pub fn on_stall(&mut self, config: &ClientConfig, call: Call, step: &mut Step<'_, ClientEffect>) {
        for (task, began) in [&self.heartbeat, &self.fetch]
            .map(|job| (job.awaited == call && job.is_supervised()).then_some((job.task, job.began)))
            .into_iter()
            .flatten()
        {
            self.arm_timeout(task, began, config, step);
        }
    }

    /// An answer arrived. One that nobody waits for any more is dropped.
    pub fn on_reply(
        &mut self,
        config: &ClientConfig,
        call: Call,
        reply: Reply,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if let Some(job) = self.take_awaiting(call) {
            self.answered(job, reply, config, step);
        }
    }

    /// A call came to nothing. One that nobody waits for any more is dropped. The kinds of failure are alike
    /// to the client; the world has already let their time pass.
    pub fn on_failure(
        &mut self,
        config: &ClientConfig,
        call: Call,
        failure: Failure,
        step: &mut Step<'_, ClientEffect>,
    ) {
        let _ = failure;
        if let Some(job) = self.take_awaiting(call) {
            self.attempt_failed(job, config, step);
        }
    }
}
