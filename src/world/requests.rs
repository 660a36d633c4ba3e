//! What a client asks a server: how it is sent, served and answered.

use super::World;
use super::event::Event;
use super::fabric::{Answer, Exchange, ExchangeId, Host, Kind, Route};
use super::setup::config_of;
use crate::engine::Schedule;
use crate::model::effect::{Call, Silence, Ticket};
use crate::model::id::{ClientId, ServerId};
use crate::model::message::{Reply, Request, RequestKind};

/// What a client's call carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) call: Call,
    pub(super) request: Request,
    /// Once there is one.
    pub(super) reply: Option<Reply>,
}

impl World<'_> {
    /// A client sends a request. Whether that finds a connection is for its transport to say. A heartbeat may have to
    /// wait for its turn in a pool that starves.
    pub(super) fn send(
        &mut self,
        client: ClientId,
        call: Call,
        server: ServerId,
        request: Request,
        schedule: &mut Schedule<Event>,
    ) {
        let now = schedule.now();
        let node = &self.clients[client.index()];
        let connects = call.is_fresh() || !config_of(self.scenario, node.app).pools_connections();
        let is_slow = request.kind() == RequestKind::Renew && node.is_slow();
        let route = Route { from: self.host_of(client), to: server };
        let id = self.fabric.begin(Kind::Call, Exchange::new(route, connects, now));
        put(&mut self.asked, id, Asked { call, request, reply: None });
        if is_slow {
            let delay = self.clients[client.index()].heartbeat_delay(&self.seed);
            schedule.at(now + delay, Event::MessageLeaves { exchange: id });
            self.tell_of_stall(id, schedule);
        } else {
            self.leaves(id, schedule);
        }
    }

    /// The host that a client runs on: its own, or that of the server that it belongs to.
    #[inline]
    pub(super) fn host_of(&self, client: ClientId) -> Host {
        self.server_of(client).map_or(Host::Client(client), Host::Server)
    }

    /// The client that calls from a host.
    #[inline]
    pub(super) fn client_at(&self, host: Host) -> ClientId {
        match host {
            Host::Client(client) => client,
            Host::Server(server) => self.servers[server.index()].own_client.expect("it has called"),
        }
    }

    /// What a call carries.
    #[inline]
    pub(super) fn asked(&self, id: ExchangeId) -> &Asked {
        &self.asked[id.place() as usize]
    }

    /// A server answers a client's request, or keeps it for later.
    #[inline]
    pub(super) fn serve_request(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        let (server, request) = (self.fabric.exchange(id).route.to, self.asked(id).request);
        let ticket = Ticket { place: id.place(), generation: self.fabric.hold(id).generation };
        let reply = self
            .step_server(server, schedule, |server, step| server.on_request(&request, Some(ticket), step));
        match reply {
            Some(reply) => self.answer_request(id, reply, schedule),
            // It will come back to it; meanwhile the caller's limit counts.
            None if !self.fabric.exchange(id).has_limit() => {
                self.set_limit(id, Silence::Paused, schedule);
            }
            None => {}
        }
    }

    /// A server answers a request, at once or after it had held it.
    pub(super) fn answer_request(&mut self, id: ExchangeId, reply: Reply, schedule: &mut Schedule<Event>) {
        let kind = self.asked(id).request.kind();
        self.recorder.answered(self.fabric.exchange(id).route.to, kind, &reply, schedule.now());
        self.asked[id.place() as usize].reply = Some(reply);
        self.answer(id, Answer::Given, schedule);
    }

    /// A server's reply reaches the client.
    #[inline]
    pub(super) fn reply_arrives(
        &mut self,
        client: ClientId,
        server: ServerId,
        asked: Asked,
        schedule: &mut Schedule<Event>,
    ) {
        let reply = asked.reply.expect("an answer that is given is kept");
        let node = &mut self.clients[client.index()];
        if node.asks != server && reply.payload.is_some() {
            node.asks = server;
            self.recorder.observer_asks(client, server);
        }
        self.step_client(client, schedule, |client, config, step| {
            client.on_reply(config, asked.call, reply, step);
        });
    }
}

/// Keeps what an exchange carries at its place, until that is used again.
pub(super) fn put<T>(kept: &mut Vec<T>, id: ExchangeId, it: T) {
    match kept.get_mut(id.place() as usize) {
        Some(place) => *place = it,
        None => kept.push(it),
    }
}
