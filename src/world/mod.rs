//! The world: processes, clocks, links and faults around the rules. It turns the engine's events into steps of
//! the machines, and their effects into messages, timers and facts.
//!
//! ```text
//!   event ──► dispatch ──► step of a client or of a server ───► effects
//!     ▲                                                            │
//!     │        timers, messages (traffic), ends of faults          │
//!     └────────────────────────────────────────────────────────────┘
//!                                                        facts ──► recorder
//! ```
//!
//! Whoever makes something follow is lent the [`Schedule`], which also tells the time.
//!
//! The stages of a run are explicit. The first server starts at time zero, the others when the scenario says.
//! Instances start in the start window, which opens when all servers accept requests. The warm-up passes. Faults are
//! timed from its end. The run ends at the scenario's duration, or earlier once nothing watched can change any more.

mod batches;
mod calls;
mod clock;
mod datagrams;
mod event;
mod fabric;
mod faults;
mod impairments;
mod lanes;
mod lifecycle;
mod limits;
mod link_faults;
mod node;
mod pause;
mod requests;
mod run;
mod server;
mod setup;
mod simulation;
#[cfg(test)]
mod tests;
mod traffic;
mod work;

pub use event::Event;
pub use fabric::ExchangeId;
pub use run::{Interrupted, run, trace};
pub use simulation::{Activity, ProcessNow, ServerNow, Simulation};

use batches::Batch;
use calls::Calls;
use clock::WallClock;
use datagrams::{Datagram, DatagramPayload};
use fabric::{Fabric, Held, Slab};
use faults::FaultPlan;
use impairments::Impairments;
use lanes::Lanes;
use link_faults::InstanceLinkFault;
use node::{ClientNode, Identity, ServerNode, State};
use requests::Asked;
use setup::config_of;

use crate::engine::{Handler, Schedule, Seed, SimDuration, SimTime};
use crate::model::effect::{ClientEffect, ServerEffect};
use crate::model::fact::Fact;
use crate::model::id::{ClientId, ServerId};
use crate::model::registry::{Client, ClientConfig};
use crate::model::stage::EventKind;
use crate::model::step::Step;
use crate::model::view::Views;
use crate::observe::Recorder;
use crate::scenario::Scenario;

/// One replicate in progress.
#[derive(Clone)]
struct World<'a> {
    scenario: &'a Scenario,
    seed: Seed,
    wall: WallClock,
    lanes: Lanes,
    /// How long each application's clients wait before anything of theirs may time out.
    stall_after: Vec<SimDuration>,
    clients: Vec<ClientNode>,
    /// Each application's processes, by ordinal.
    members: Vec<Vec<ClientId>>,
    servers: Vec<ServerNode>,
    views: Views,
    fabric: Fabric,
    /// What calls carry, by their places in the fabric.
    asked: Vec<Asked>,
    /// The same of batches.
    batches: Vec<Batch>,
    datagrams: Slab<Datagram>,
    plan: FaultPlan,
    /// What stands between instances now.
    link_faults: Vec<InstanceLinkFault>,
    impairments: Impairments,
    recorder: Recorder,
    /// The calls between instances, if any are counted.
    calls: Option<Box<Calls>>,
    /// By [`crate::model::id::InstanceId`].
    identities: Vec<Identity>,
    client_effects: Vec<ClientEffect>,
    server_effects: Vec<ServerEffect>,
    /// Processes that a fault started and that have not sent their registration yet.
    awaited_registrations: u32,
    /// Servers whose own client is still at its constructor.
    booting: u32,
    may_settle: bool,
}

impl Handler for World<'_> {
    type Event = Event;

    #[inline]
    fn handle(&mut self, now: SimTime, event: Event, schedule: &mut Schedule<Event>) {
        self.dispatch(event, schedule);
        if self.calls.is_some() {
            self.review_calls(event, now);
        }
        if self.views.are_too_many() {
            self.forget_views();
        }
        if self.may_settle && self.is_settled() {
            schedule.stop();
        }
    }
}

impl World<'_> {
    fn dispatch(&mut self, event: Event, schedule: &mut Schedule<Event>) {
        match event {
            Event::ClientTimerDue { .. } => self.client_timer_due(event, schedule),
            Event::RequestArrives { exchange } => self.request_arrives(exchange, schedule),
            Event::AnswerArrives { exchange } => self.answer_arrives(exchange, schedule),
            Event::ServerTimerDue { server, .. } => self.server_timer_due(server, event, schedule),
            Event::LimitReached { exchange: id, generation } => {
                self.limit_reached(Held { id, generation }, schedule);
            }
            Event::ClientStarts { client } => self.start_client(client, schedule),
            Event::FaultBegins { fault } => self.begin_fault(fault, schedule),
            Event::FaultEnds { fault } => self.end_fault(fault, schedule),
            Event::FaultStep { fault, step } => self.fault_step(fault, step, schedule),
            Event::MessageLeaves { exchange } => self.message_leaves(exchange, schedule),
            Event::ServerStarts { server } => self.start_server(server, schedule),
            Event::PeerTimerDue { server, .. } | Event::ServiceTimerDue { server, .. } => {
                self.server_timer_due(ServerId(server.into()), event, schedule);
            }
            Event::DatagramArrives { datagram } => self.datagram_arrives(datagram, schedule),
            Event::WorkDone { server, place } => self.work_done(server, place, schedule),
        }
    }

    /// Drops the views that nobody holds. Answers under way hold none: they are versions.
    #[cold]
    fn forget_views(&mut self) {
        if let Some(calls) = &mut self.calls {
            calls.forget_views();
        }
        let clients = self.clients.iter().map(|node| &node.client);
        let held = clients.flat_map(Client::views);
        self.views.keep_only(held.chain(self.recorder.views()));
    }

    fn is_settled(&self) -> bool {
        self.plan.is_over() && self.awaited_registrations == 0 && self.recorder.is_settled()
    }

    #[inline]
    fn client_timer_due(&mut self, event: Event, schedule: &mut Schedule<Event>) {
        let Event::ClientTimerDue { client, timer, generation } = event else { unreachable!() };
        let node = &mut self.clients[client.index()];
        match node.state {
            State::Running => self.step_client(client, schedule, |client, config, step| {
                client.on_timer(config, timer, generation, step);
            }),
            State::Paused { .. } => node.waiting.get_or_insert_default().timers.push(event),
            State::Down => {}
        }
    }

    /// One step of a client, and what follows from it.
    #[inline]
    fn step_client(
        &mut self,
        client: ClientId,
        schedule: &mut Schedule<Event>,
        step: impl FnOnce(&mut Client, ClientConfig<'_>, &mut Step<'_, ClientEffect>),
    ) {
        let now = schedule.now();
        let node = &mut self.clients[client.index()];
        let mut effects = std::mem::take(&mut self.client_effects);
        let shown = match &node.node_faults {
            None => self.wall.now(now),
            Some(node_faults) => self.wall.now_off(now, &node_faults.skew),
        };
        let mut lent = Step {
            now: shown,
            rng: node.streams.with(&self.seed),
            views: &mut self.views,
            out: &mut effects,
        };
        step(&mut node.client, config_of(self.scenario, node.app), &mut lent);
        for effect in effects.drain(..) {
            self.do_for_client(client, effect, schedule);
        }
        self.client_effects = effects;
        if self.calls.is_some() {
            self.caller_stepped(client, now);
        }
        if self.booting > 0 {
            self.boot_if_ready(client, schedule);
        }
    }

    /// Does what a client's step asked for.
    fn do_for_client(&mut self, client: ClientId, effect: ClientEffect, schedule: &mut Schedule<Event>) {
        match effect {
            ClientEffect::Send { call, to, request } => self.send(client, call, to, request, schedule),
            ClientEffect::SetTimer { timer, delay, generation } => {
                self.lanes.after(delay, Event::ClientTimerDue { client, timer, generation }, schedule);
            }
            ClientEffect::Acknowledge { to, push } => {
                let server_ended = self.servers[to.index()].ended;
                let says = DatagramPayload::Acknowledged;
                self.send_datagram(Datagram { client, server: to, server_ended, push, says }, schedule);
            }
            ClientEffect::Fact(fact) => self.note_client_fact(client, fact, schedule.now()),
            ClientEffect::Exited => self.process_exits(client, schedule),
        }
    }

    fn note_client_fact(&mut self, client: ClientId, fact: Fact, now: SimTime) {
        if let Fact::RegistrationSent { instance } = fact
            && std::mem::take(&mut self.clients[client.index()].newcomer)
        {
            self.awaited_registrations -= 1;
            self.recorder.watch(EventKind::Registration, client, instance, now, &self.views);
        }
        self.recorder.client_fact(client, fact, now, &self.views);
    }
}
