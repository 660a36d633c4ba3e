//! The servers: how each is booted and stepped, and what its effects mean.
//!
//! A server's process starts with its own client, if it has one that fetches: the constructor of that blocks until it
//! has fetched, or tried. Only then is there a server that copies what its client holds. Meanwhile nobody listens.

use std::sync::Arc;

use super::World;
use super::datagrams::{Datagram, DatagramPayload};
use super::event::Event;
use super::fabric::{ExchangeId, Held, Kind};
use super::node::State;
use crate::engine::{Schedule, SimTime};
use crate::model::clock::Now;
use crate::model::effect::{ServerEffect, Ticket};
use crate::model::eureka::{OwnRegistry, ServerTimer};
use crate::model::fact::Fact;
use crate::model::id::{ClientId, ServerId};
use crate::model::message::Record;
use crate::model::registry::Server;
use crate::model::step::Step;
use crate::model::view::View;
use crate::observe::Minute;

impl World<'_> {
    /// A timer of a server is due. It waits while the process stands still; that of an earlier life is stale.
    pub(super) fn server_timer_due(
        &mut self,
        server: ServerId,
        event: Event,
        schedule: &mut Schedule<Event>,
    ) {
        let node = &mut self.servers[server.index()];
        match node.state {
            State::Running if node.server.is_some() => self.run_server_timer(server, event, schedule),
            State::Paused { .. } => node.waiting.timers.push(event),
            State::Running | State::Down => {}
        }
    }

    fn run_server_timer(&mut self, server: ServerId, event: Event, schedule: &mut Schedule<Event>) {
        match event {
            Event::ServerTimerDue { timer, generation, .. } => {
                let view = self.own_view(server);
                let records =
                    if timer == ServerTimer::SyncRetry { self.records_of(view) } else { Vec::new() };
                let own = OwnRegistry { view, records: &records };
                self.step_server(server, schedule, |server, step| {
                    server.on_timer(timer, generation, own, step);
                });
            }
            Event::PeerTimerDue { peer, generation, .. } => {
                let peer = ServerId(peer.into());
                self.step_server(server, schedule, |server, step| {
                    server.on_peer_timer(peer, generation, step);
                });
            }
            Event::ServiceTimerDue { timer, generation, number, .. } => {
                self.step_server(server, schedule, |server, step| {
                    server.on_service_timer(timer, number, generation, step);
                });
            }
            _ => unreachable!("no timer of a server"),
        }
    }

    /// The local registry of a server's own client, if that fetches.
    fn own_view(&self, server: ServerId) -> Option<View> {
        let client = self.servers[server.index()]
            .own_client
            .filter(|_| self.scenario.setup.server().own_client_fetches())?;
        Some(self.clients[client.index()].client.view())
    }

    /// The records behind a view, as the server has or had them that it was fetched from, or else any other. By
    /// instance.
    fn records_of(&self, view: Option<View>) -> Vec<Record> {
        let Some(view) = view else { return Vec::new() };
        let alive = || self.servers.iter().filter_map(|node| node.server.as_ref());
        let source = alive().find(|server| view.life() == Some(server.life()));
        let instances = self.views.instances(view).into_iter();
        let record = |(instance, status)| {
            source.into_iter().chain(alive()).find_map(|server| server.record_shown_as(instance, status))
        };
        instances.filter_map(record).collect()
    }

    /// The own client of a server has made a step: it may have finished its constructor.
    pub(super) fn boot_if_ready(&mut self, client: ClientId, schedule: &mut Schedule<Event>) {
        let Some(server) = self.server_of(client) else { return };
        let node = &self.servers[server.index()];
        if node.boots && node.state == State::Running && self.clients[client.index()].client.has_started() {
            self.boot_server(server, schedule);
        }
    }

    /// The first step of a server's life, and what follows from it.
    pub(super) fn boot_server(&mut self, server: ServerId, schedule: &mut Schedule<Event>) {
        self.no_longer_boots(server);
        let view = self.own_view(server);
        let records = self.records_of(view);
        let own = OwnRegistry { view, records: &records };
        let node = &mut self.servers[server.index()];
        let (config, peers) = (node.config.clone(), Arc::clone(&node.peers));
        let (generation, saved) = (node.generation, node.saved.take());
        self.server_step(server, schedule, |server, step| {
            *server = Some(Server::start(&config, generation, saved, &peers, own, step));
        });
    }

    /// A server that was booting is not any more.
    pub(super) fn no_longer_boots(&mut self, server: ServerId) {
        let boots = std::mem::take(&mut self.servers[server.index()].boots);
        self.booting -= u32::from(boots);
    }

    /// The server that a client belongs to, if it is a server's own.
    pub(super) fn server_of(&self, client: ClientId) -> Option<ServerId> {
        let node = &self.clients[client.index()];
        let is_own = node.app.index() == self.scenario.applications.len();
        is_own.then(|| ServerId(node.ordinal - 1))
    }

    /// A server that runs or is paused, and has booted.
    #[inline]
    pub(super) fn live_server(&self, server: ServerId) -> &Server {
        self.servers[server.index()].server.as_ref().expect("a server that has booted is alive")
    }

    /// Whether requests to a server are answered: it runs, and listens.
    #[inline]
    pub(super) fn is_serving(&self, server: ServerId) -> bool {
        self.servers[server.index()].state == State::Running && self.listens(server)
    }

    /// Whether connections to a server are accepted: it has booted, and serves. Its kernel goes on to do so while the
    /// process stands still.
    #[inline]
    pub(super) fn listens(&self, server: ServerId) -> bool {
        self.servers[server.index()].server.as_ref().is_some_and(Server::is_serving)
    }

    /// One step of a server, and what follows from it.
    #[inline]
    pub(super) fn step_server<T>(
        &mut self,
        server: ServerId,
        schedule: &mut Schedule<Event>,
        step: impl FnOnce(&mut Server, &mut Step<'_, ServerEffect>) -> T,
    ) -> T {
        self.server_step(server, schedule, |server, lent| {
            step(server.as_mut().expect("a server that has booted is alive"), lent)
        })
    }

    /// Lends time, chance and views to a server's place, alive or not, and does what comes out.
    #[inline]
    fn server_step<T>(
        &mut self,
        server: ServerId,
        schedule: &mut Schedule<Event>,
        act: impl FnOnce(&mut Option<Server>, &mut Step<'_, ServerEffect>) -> T,
    ) -> T {
        let now = schedule.now();
        let mut effects = std::mem::take(&mut self.server_effects);
        let shown = self.server_clock(server, now);
        let node = &mut self.servers[server.index()];
        let mut lent = Step {
            now: shown,
            rng: node.streams.with(&self.seed),
            views: &mut self.views,
            out: &mut effects,
        };
        let result = act(&mut node.server, &mut lent);
        self.do_for_server(server, effects, schedule);
        result
    }

    #[inline]
    fn do_for_server(
        &mut self,
        server: ServerId,
        mut effects: Vec<ServerEffect>,
        schedule: &mut Schedule<Event>,
    ) {
        let now = schedule.now();
        for effect in effects.drain(..) {
            match effect {
                ServerEffect::SetTimer { timer, due, generation } => {
                    let at = due.observed_services(self.server_clock(server, now));
                    schedule.at(at.max(now), Event::ServerTimerDue { server, timer, generation });
                }
                ServerEffect::SetPeerTimer { peer, due, generation } => {
                    let at = due.observed_services(self.server_clock(server, now));
                    let (server, peer) = (server.0 as u8, peer.0 as u8);
                    schedule.at(at.max(now), Event::PeerTimerDue { server, peer, generation });
                }
                ServerEffect::Replicate { to, batch, items } => {
                    self.send_batch(server, to, batch, items, schedule);
                }
                ServerEffect::SetServiceTimer { timer, number, at, generation } => {
                    let server = server.0 as u8;
                    let event = Event::ServiceTimerDue { server, timer, generation, number };
                    schedule.at(at.max(now), event);
                }
                ServerEffect::Answer { ticket: Ticket { place, generation }, reply } => {
                    let id = ExchangeId::new(Kind::Call, place);
                    if self.fabric.is_current(Held { id, generation }) {
                        self.answer_request(id, reply, schedule);
                    }
                }
                ServerEffect::Push { to, app, payload, push } => {
                    let server_ended = self.servers[server.index()].ended;
                    let says = DatagramPayload::Push(app, payload);
                    let datagram = Datagram { client: to, server, server_ended, push, says };
                    self.send_datagram(datagram, schedule);
                }
                ServerEffect::Fact(fact) => self.note_server_fact(server, fact, now),
            }
        }
        self.server_effects = effects;
    }

    fn note_server_fact(&mut self, server: ServerId, fact: Fact, now: SimTime) {
        let registry = self.registry_view(server);
        self.recorder.server_fact(server, fact, registry, now, &self.views);
        self.update_impairments(fact, now);
        let Fact::RenewalsCounted { renewals } = fact else { return };
        let wall = self.server_clock(server, now).wall;
        let Some(figures) = self.live_server(server).minute_figures(wall) else { return };
        let minute = Minute {
            server,
            at: now,
            registered: figures.registered,
            expired: figures.expired,
            renewals,
            threshold: figures.threshold,
            expected: figures.expected,
            self_preservation: figures.self_preservation,
            evicted: 0,
        };
        self.recorder.minute(minute);
    }

    /// What a server's clocks show.
    #[inline]
    pub(super) fn server_clock(&self, server: ServerId, now: SimTime) -> Now {
        self.wall.now_off(now, &self.servers[server.index()].skew)
    }

    /// What a server's registry holds.
    pub(super) fn registry_view(&self, server: ServerId) -> View {
        let life = self.live_server(server).life();
        View::of(life, self.views.log(life).version())
    }
}
