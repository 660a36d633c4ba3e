//! Pauses. A paused process keeps what arrives and what comes due; on resume it first takes what had arrived,
//! then the timers that are due, each in order: an answer that came during the pause beats its time-out.

use super::World;
use super::event::Event;
use super::node::{State, Waiting};
use crate::engine::{Schedule, SimTime};
use crate::model::effect::ServiceTimer;
use crate::model::id::{ClientId, ServerId};

impl State {
    /// Stops what runs, and lets what is stopped stand for as long as the longer of both pauses.
    fn pause(&mut self, now: SimTime, until: SimTime) {
        *self = match *self {
            Self::Down => Self::Down,
            Self::Running => Self::Paused { since: now, until },
            Self::Paused { since, until: before } => Self::Paused { since, until: before.max(until) },
        };
    }

    /// Lets what is stopped go on, if its time has come; says since when it stood.
    fn resume(&mut self, now: SimTime) -> Option<SimTime> {
        match *self {
            Self::Paused { since, until } if until <= now => {
                *self = Self::Running;
                Some(since)
            }
            _ => None,
        }
    }
}

impl World<'_> {
    /// Stops a process in its tracks.
    pub(super) fn pause(&mut self, client: ClientId, now: SimTime, until: SimTime) {
        self.clients[client.index()].state.pause(now, until);
        self.touch(client);
    }

    /// Lets it go on, unless a longer pause holds it or it was killed meanwhile.
    pub(super) fn resume(&mut self, client: ClientId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let node = &mut self.clients[client.index()];
        let Some(since) = node.state.resume(now) else { return };
        let waiting = *node.waiting.take().unwrap_or_default();
        self.touch(client);
        self.step_client(client, schedule, |client, config, step| {
            client.on_resume(config, since, step);
        });
        let (status, stop) = (waiting.status, waiting.stop);
        self.take_up(waiting, schedule);
        if let Some(status) = status {
            self.set_status(client, status, schedule);
        }
        if stop {
            self.stop(client, schedule);
        }
    }

    /// Stops a server, and its own client with it.
    pub(super) fn pause_server(&mut self, server: ServerId, now: SimTime, until: SimTime) {
        let node = &mut self.servers[server.index()];
        node.state.pause(now, until);
        if let Some(client) = node.own_client {
            self.pause(client, now, until);
        }
    }

    /// Lets a server go on: first with what had arrived, then with its timers, at last with what an operator wanted.
    pub(super) fn resume_server(&mut self, server: ServerId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let node = &mut self.servers[server.index()];
        let Some(since) = node.state.resume(now) else { return };
        if let Some(threads) = &mut node.threads {
            threads.stood_still(since, now);
        }
        let mut waiting = std::mem::take(&mut node.waiting);
        if !self.scenario.setup.server().answers_backlog() {
            for arrival in std::mem::take(&mut waiting.arrivals) {
                match arrival {
                    Event::RequestArrives { exchange } => self.fabric.forget(exchange),
                    answer => waiting.arrivals.push(answer),
                }
            }
        }
        let refused_connections = std::mem::take(&mut waiting.refused_connections);
        if self.servers[server.index()].server.is_some() {
            self.step_server(server, schedule, |server, step| server.on_resume(since, step));
        }
        if self.scenario.setup.server().sweeps_first_after_pause() {
            let is_sweep = |event: &mut Event| {
                matches!(event, Event::ServiceTimerDue { timer: ServiceTimer::Sweep, .. })
            };
            for sweep in waiting.timers.extract_if(.., is_sweep).collect::<Vec<_>>() {
                self.dispatch(sweep, schedule);
            }
        }
        self.take_up(waiting, schedule);
        self.send_again(refused_connections, schedule);
        for request in std::mem::take(&mut self.servers[server.index()].operator_calls) {
            self.operate(server, request, schedule);
        }
        if let Some(client) = self.servers[server.index()].own_client {
            self.resume(client, schedule);
        }
    }

    fn take_up(&mut self, waiting: Waiting, schedule: &mut Schedule<Event>) {
        for event in waiting.arrivals.into_iter().chain(waiting.timers) {
            self.dispatch(event, schedule);
        }
    }
}
