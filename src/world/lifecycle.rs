//! Processes: how they start, stop, die and come back.

use super::World;
use super::event::Event;
use super::fabric::{ExchangeId, Held, Hold, Kind};
use super::node::State;
use super::setup::config_of;
use super::work::Threads;
use crate::engine::{Schedule, SimDuration, SimTime};
use crate::model::id::{ClientId, ServerId};
use crate::model::message::Status;
use crate::model::registry::Server;
use crate::model::stage::EventKind;

impl World<'_> {
    /// A process starts.
    pub(super) fn start_client(&mut self, client: ClientId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let node = &mut self.clients[client.index()];
        assert_eq!(node.state, State::Down, "a process that runs is not started");
        node.state = State::Running;
        let instance = node.instance;
        if node.newcomer {
            self.awaited_registrations += 1;
        }
        self.recorder.process_started(client, instance, now);
        if self.impairments.has(instance) {
            self.recorder.not_well(instance, now);
        }
        self.touch(client);
        self.step_client(client, schedule, |client, config, step| client.on_start(config, step));
    }

    /// `kill -9`, all of them at once.
    pub(super) fn crash(&mut self, hit: &[ClientId], now: SimTime) {
        for &client in hit {
            self.end_process(client, now);
        }
        for &client in hit {
            let instance = self.clients[client.index()].instance;
            self.recorder.watch(EventKind::Crash, client, instance, now, &self.views);
        }
    }

    /// `kill -9` of whoever of these is still there. Of those that are stopping already the end is known and watched.
    pub(super) fn kill(&mut self, hit: &[ClientId], now: SimTime) {
        let up = hit.iter().copied().filter(|client| self.clients[client.index()].state != State::Down);
        let (stopping, running): (Vec<ClientId>, Vec<ClientId>) =
            up.partition(|client| self.clients[client.index()].stopping);
        for client in stopping {
            self.end_process(client, now);
        }
        self.crash(&running, now);
    }

    /// An orderly stop. A process that stands still hears of it when it goes on, one that is gone never.
    pub(super) fn stop(&mut self, client: ClientId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let node = &mut self.clients[client.index()];
        if node.stopping || node.state == State::Down {
            return;
        }
        if let State::Paused { .. } = node.state {
            node.waiting.get_or_insert_default().stop = true;
            return;
        }
        node.stopping = true;
        let instance = node.instance;
        self.recorder.watch(EventKind::Stop, client, instance, now, &self.views);
        self.recorder.not_well(instance, now);
        self.step_client(client, schedule, |client, config, step| client.on_stop(config, step));
    }

    /// The application sets its own status, once its process is running.
    pub(super) fn set_status(&mut self, client: ClientId, status: Status, schedule: &mut Schedule<Event>) {
        let node = &mut self.clients[client.index()];
        match node.state {
            State::Down => {}
            State::Paused { .. } => node.waiting.get_or_insert_default().status = Some(status),
            State::Running => self.step_client(client, schedule, |client, config, step| {
                client.on_status(status, config, step);
            }),
        }
    }

    /// The client has stopped in order. The process ends, unless it goes on to answer calls for a while.
    pub(super) fn process_exits(&mut self, client: ClientId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let Some((fault, linger)) = self.plan.linger_of(client) else {
            self.end_process(client, now);
            return;
        };
        let node = &mut self.clients[client.index()];
        node.lingers = true;
        self.recorder.process_ended(client, node.instance, now);
        self.plan.linger_until(client, fault, now + linger, schedule);
    }

    /// A process is gone: whatever it had or waited for is gone with it.
    pub(super) fn end_process(&mut self, client: ClientId, now: SimTime) {
        let node = &mut self.clients[client.index()];
        node.state = State::Down;
        node.stopping = false;
        let lingered = std::mem::take(&mut node.lingers);
        self.plan.lingers_no_more(client);
        let waiting = node.waiting.take().map_or_else(Default::default, |waiting| *waiting);
        for event in waiting.arrivals.into_iter().chain(waiting.timers) {
            match event {
                Event::AnswerArrives { exchange } | Event::MessageLeaves { exchange } => {
                    self.fabric.remove(exchange);
                }
                Event::DatagramArrives { datagram } => {
                    self.datagrams.remove(datagram);
                }
                // What a partition or a bad link has, nobody else will come back to.
                Event::LimitReached { exchange: id, generation }
                    if self.fabric.is_current(Held { id, generation })
                        && self.fabric.exchange(id).hold != Hold::UnderWay =>
                {
                    self.fabric.remove(id);
                }
                _ => {}
            }
        }
        if std::mem::take(&mut node.newcomer) {
            self.awaited_registrations -= 1;
        }
        node.client.on_crash(config_of(self.scenario, node.app), now);
        node.clear_process_faults();
        let instance = node.instance;
        self.impairments.process_ended(instance);
        if !lingered {
            self.recorder.process_ended(client, instance, now);
        }
        self.touch(client);
    }

    /// A process comes back, under another instance id if `new_id`. One that is still busy with its orderly stop has
    /// had its time; one that runs again already is left alone.
    pub(super) fn bring_back(&mut self, client: ClientId, new_id: bool, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let node = &self.clients[client.index()];
        match node.state {
            State::Down => {}
            _ if node.stopping => self.end_process(client, now),
            _ => return,
        }
        if new_id {
            let instance = self.new_identity(client);
            let node = &mut self.clients[client.index()];
            node.instance = instance;
            node.client.set_identity(instance);
        }
        self.clients[client.index()].newcomer = true;
        self.draw_first_call(client, SimDuration::ZERO);
        self.start_client(client, schedule);
    }

    /// A server and its own client start. There is a server once that client's constructor is done.
    pub(super) fn start_server(&mut self, server: ServerId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let node = &mut self.servers[server.index()];
        if node.state != State::Down {
            return;
        }
        node.state = State::Running;
        self.recorder.server_started(server, now);
        let Some(client) = self.own_client(server) else {
            self.boot_server(server, schedule);
            return;
        };
        self.servers[server.index()].boots = true;
        self.booting += 1;
        self.start_client(client, schedule);
    }

    /// `kill -9` of a server: its registry and overrides go with it, what it was to tell its peers, and its own client.
    pub(super) fn crash_server(&mut self, server: ServerId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        self.no_longer_boots(server);
        if self.servers[server.index()].state == State::Down {
            return;
        }
        self.count_unfinished_work(server, now);
        let node = &mut self.servers[server.index()];
        node.state = State::Down;
        node.ended += 1;
        node.operator_calls.clear();
        let life = node.server.take();
        if let Some(life) = &life {
            node.generation = life.next_generation(node.generation);
        }
        let mut waiting = std::mem::take(&mut node.waiting);
        let refused_connections = std::mem::take(&mut waiting.refused_connections);
        let held = life.as_ref().map(Server::held).unwrap_or_default();
        let work = node.threads.as_mut().map(Threads::abandon).unwrap_or_default();
        let limits = waiting.timers.into_iter().filter(|event| matches!(event, Event::LimitReached { .. }));
        for event in waiting.arrivals.into_iter().chain(limits) {
            self.dispatch(event, schedule);
        }
        let held = held.into_iter().map(|ticket| ExchangeId::new(Kind::Call, ticket.place));
        for exchange in work.into_iter().chain(held) {
            self.refuse(exchange, schedule);
        }
        // From now on their kernels are answered: nobody listens.
        self.send_again(refused_connections, schedule);
        self.fabric.pools.reset(server);
        // Its own client first: nobody can miss what has ended.
        if let Some(client) = self.servers[server.index()].own_client {
            self.end_process(client, now);
        }
        let registered = life.as_ref().map_or(0, Server::registered);
        let saved = life.and_then(Server::into_saved);
        // What the next life finds on its disk is not lost.
        let registered = if saved.is_some() { 0 } else { registered };
        self.servers[server.index()].saved = saved;
        self.recorder.server_ended(server, registered, now, &self.views);
        self.overrides_are_lost(now);
    }
}
