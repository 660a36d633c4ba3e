//! The world: processes, clocks, links and faults around the rules. It turns the engine's events into steps of
//! the machines, and their effects into messages, timers and facts.
//!
//! ```text
//!   event ──► dispatch ──► step of a client or of the server ──► effects
//!     ▲                                                            │
//!     │        timers, messages (traffic), ends of faults          │
//!     └────────────────────────────────────────────────────────────┘
//!                                                        facts ──► recorder
//! ```
//!
//! The stages of a run are explicit. The server starts at time zero. Instances start in the start window,
//! which opens when the server accepts requests. The warm-up passes. Faults are timed from its end. The run
//! ends at the scenario's duration, or earlier once nothing watched can change any more.

mod ailments;
mod calls;
mod clock;
mod event;
mod faults;
mod flight;
mod lanes;
mod lifecycle;
mod links;
mod node;
mod pause;
mod retransmission;
mod run;
mod setup;
#[cfg(test)]
mod tests;
mod traffic;

pub use event::Event;
pub use run::{Interrupted, run, trace};

use std::sync::Arc;

use ailments::Ailments;
use calls::Calls;
use clock::WallClock;
use faults::FaultPlan;
use flight::Flights;
use lanes::Lanes;
use links::Barrier;
use node::{ClientNode, Identity, ServerNode, State};
use setup::config_of;

use crate::engine::{Handler, Schedule, Seed, SimDuration, SimTime};
use crate::model::client::{Client, ClientConfig, ClientEffect};
use crate::model::clock::Now;
use crate::model::eureka::{EurekaServer, OwnRegistry, ServerEffect, ServerTimer};
use crate::model::fact::Fact;
use crate::model::id::ClientId;
use crate::model::stage::EventKind;
use crate::model::step::Step;
use crate::model::view::{View, Views};
use crate::observe::{Minute, Recorder};
use crate::scenario::Scenario;

/// One replicate in progress.
struct World<'a> {
    scenario: &'a Scenario,
    seed: Seed,
    wall: WallClock,
    lanes: Lanes,
    /// How long each application's clients wait before anything of theirs may time out.
    patience: Vec<SimDuration>,
    clients: Vec<ClientNode>,
    /// Each application's processes, by ordinal.
    members: Vec<Vec<ClientId>>,
    server: ServerNode,
    own_client: Option<ClientId>,
    views: Views,
    flights: Flights,
    plan: FaultPlan,
    /// What stands between instances now.
    barriers: Vec<Barrier>,
    ailments: Ailments,
    recorder: Recorder,
    /// The calls between instances, if any are counted.
    calls: Option<Box<Calls>>,
    /// By [`crate::model::id::InstanceId`].
    identities: Vec<Identity>,
    client_effects: Vec<ClientEffect>,
    server_effects: Vec<ServerEffect>,
    /// Processes that a fault started and that have not sent their registration yet.
    awaited_registrations: u32,
    may_settle: bool,
}

impl Handler for World<'_> {
    type Event = Event;

    #[inline]
    fn handle(&mut self, now: SimTime, event: Event, schedule: &mut Schedule<Event>) {
        self.dispatch(event, now, schedule);
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
    fn dispatch(&mut self, event: Event, now: SimTime, schedule: &mut Schedule<Event>) {
        match event {
            Event::ClientTimerDue { .. } => self.client_timer_due(event, now, schedule),
            Event::RequestArrives { flight } => self.request_arrives(flight, now, schedule),
            Event::AnswerArrives { flight } => self.answer_arrives(flight, now, schedule),
            Event::ServerTimerDue { .. } => self.server_timer_due(event, now, schedule),
            Event::LimitReached { flight, generation } => {
                self.limit_reached(flight, generation, now, schedule);
            }
            Event::ClientStarts { client } => self.start_client(client, now, schedule),
            Event::FaultBegins { fault } => self.begin_fault(fault, now, schedule),
            Event::FaultEnds { fault } => self.end_fault(fault, now, schedule),
            Event::FaultStep { fault, step } => self.fault_step(fault, step, now, schedule),
            Event::MessageLeaves { flight } => self.message_leaves(flight, now, schedule),
        }
    }

    /// Drops the views that nobody holds. Answers under way hold none: they are versions.
    #[cold]
    fn forget_views(&mut self) {
        if let Some(calls) = &mut self.calls {
            calls.forget_views();
        }
        let clients = self.clients.iter().map(|node| &node.client);
        let held = clients.flat_map(|client| [client.view(), client.balancer_view()]);
        self.views.keep_only(held.chain(self.recorder.views()));
    }

    fn is_settled(&self) -> bool {
        self.plan.is_over() && self.awaited_registrations == 0 && self.recorder.is_settled()
    }

    #[inline]
    fn client_timer_due(&mut self, event: Event, now: SimTime, schedule: &mut Schedule<Event>) {
        let Event::ClientTimerDue { client, timer, generation } = event else { unreachable!() };
        let node = &mut self.clients[client.index()];
        match node.state {
            State::Running => self.step_client(client, now, schedule, |client, config, step| {
                client.on_timer(config, timer, generation, step);
            }),
            State::Paused { .. } => node.waiting.get_or_insert_default().timers.push(event),
            State::Down => {}
        }
    }

    fn server_timer_due(&mut self, event: Event, now: SimTime, schedule: &mut Schedule<Event>) {
        let Event::ServerTimerDue { timer, generation, .. } = event else { unreachable!() };
        match self.server.state {
            State::Running => self.run_server_timer(timer, generation, now, schedule),
            State::Paused { .. } => self.server.waiting.timers.push(event),
            State::Down => {}
        }
    }

    fn run_server_timer(
        &mut self,
        timer: ServerTimer,
        generation: u16,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        let own_view = self.own_view();
        let own = OwnRegistry::of_itself(own_view);
        self.step_server(now, schedule, |server, step| server.on_timer(timer, generation, own, step));
    }

    /// One step of a client, and what follows from it.
    #[inline]
    fn step_client(
        &mut self,
        client: ClientId,
        now: SimTime,
        schedule: &mut Schedule<Event>,
        step: impl FnOnce(&mut Client, &ClientConfig, &mut Step<'_, ClientEffect>),
    ) {
        let node = &mut self.clients[client.index()];
        let mut effects = std::mem::take(&mut self.client_effects);
        let shown = match &node.trouble {
            None => self.wall.now(now),
            Some(trouble) => self.wall.now_off(now, &trouble.skew),
        };
        let mut lent = Step {
            now: shown,
            dice: node.chance.with(&self.seed),
            views: &mut self.views,
            out: &mut effects,
        };
        step(&mut node.client, config_of(self.scenario, node.app), &mut lent);
        for effect in effects.drain(..) {
            self.do_for_client(client, effect, now, schedule);
        }
        self.client_effects = effects;
        if self.calls.is_some() {
            self.caller_stepped(client, now);
        }
    }

    /// The local registry of the server's own client, if that fetches.
    fn own_view(&self) -> Option<View> {
        let client = self.own_client.filter(|_| self.scenario.server.fetch_registry)?;
        Some(self.clients[client.index()].client.view())
    }

    /// The first step of a server's life, and what follows from it.
    fn boot_server(&mut self, now: SimTime, schedule: &mut Schedule<Event>) {
        let own_view = self.own_view();
        let config = Arc::clone(&self.server.config);
        let generation = self.server.next_generation;
        self.lend_to_server(now, schedule, |server, step| {
            *server =
                Some(EurekaServer::start(config, generation, &[], OwnRegistry::of_itself(own_view), step));
        });
    }

    /// The server, which runs or is paused.
    #[inline]
    fn live_server(&self) -> &EurekaServer {
        self.server.server.as_ref().expect("a server that is not down is alive")
    }

    /// One step of the server, and what follows from it.
    #[inline]
    fn step_server<T>(
        &mut self,
        now: SimTime,
        schedule: &mut Schedule<Event>,
        step: impl FnOnce(&mut EurekaServer, &mut Step<'_, ServerEffect>) -> T,
    ) -> T {
        self.lend_to_server(now, schedule, |server, lent| {
            step(server.as_mut().expect("a server that is not down is alive"), lent)
        })
    }

    /// Lends time, chance and views to the server's place, alive or not, and does what comes out.
    #[inline]
    fn lend_to_server<T>(
        &mut self,
        now: SimTime,
        schedule: &mut Schedule<Event>,
        act: impl FnOnce(&mut Option<EurekaServer>, &mut Step<'_, ServerEffect>) -> T,
    ) -> T {
        let mut effects = std::mem::take(&mut self.server_effects);
        let mut lent = Step {
            now: self.server_clock(now),
            dice: self.server.chance.with(&self.seed),
            views: &mut self.views,
            out: &mut effects,
        };
        let result = act(&mut self.server.server, &mut lent);
        self.do_for_server(effects, now, schedule);
        result
    }

    #[inline]
    fn do_for_server(
        &mut self,
        mut effects: Vec<ServerEffect>,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        for effect in effects.drain(..) {
            match effect {
                ServerEffect::SetTimer { timer, due, generation } => {
                    let at = due.looks_at(self.server_clock(now));
                    let event = Event::ServerTimerDue { server: setup::SERVER, timer, generation };
                    schedule.at(at.max(now), event);
                }
                ServerEffect::Fact(fact) => self.note_server_fact(fact, now),
                ServerEffect::SetPeerTimer { .. } | ServerEffect::Replicate { .. } => {
                    unreachable!("no peers")
                }
            }
        }
        self.server_effects = effects;
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

    fn note_server_fact(&mut self, fact: Fact, now: SimTime) {
        let registry = self.registry_view();
        self.recorder.server_fact(setup::SERVER, fact, registry, now, &self.views);
        self.ailments_follow(fact, now);
        if let Fact::RenewalsCounted { renewals } = fact {
            let server = self.live_server();
            let minute = Minute {
                server: setup::SERVER,
                at: now,
                registered: server.registered(),
                expired: server.expired(self.server_clock(now).wall),
                renewals,
                threshold: server.threshold(),
                expected: server.expected(),
                self_preservation: server.self_preservation_engaged(),
                evicted: 0,
            };
            self.recorder.minute(minute);
        }
    }

    /// What the server's clocks show.
    #[inline]
    fn server_clock(&self, now: SimTime) -> Now {
        self.wall.now_off(now, &self.server.skew)
    }

    /// What the server's registry holds.
    fn registry_view(&self) -> View {
        let life = self.live_server().life();
        View::of(life, self.views.log(life).version())
    }
}
