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
//! The stages of a run are explicit. The first server starts at time zero, the others when the scenario says.
//! Instances start in the start window, which opens when all servers accept requests. The warm-up passes. Faults are
//! timed from its end. The run ends at the scenario's duration, or earlier once nothing watched can change any more.

mod ailments;
mod batches;
mod calls;
mod clock;
mod datagrams;
mod event;
mod faults;
mod flight;
mod lanes;
mod lifecycle;
mod limits;
mod links;
mod node;
mod pause;
mod places;
mod replication;
mod retransmission;
mod run;
mod server;
mod setup;
#[cfg(test)]
mod tests;
mod traffic;
mod work;

pub use event::Event;
pub use run::{Interrupted, run, trace};

use ailments::Ailments;
use batches::{Batch, Pools};
use calls::Calls;
use clock::WallClock;
use datagrams::Datagram;
use faults::FaultPlan;
use flight::Flight;
use lanes::Lanes;
use links::{Barrier, Between};
use node::{ClientNode, Identity, ServerNode, State};
use places::Places;
use setup::config_of;

use crate::engine::{Handler, Schedule, Seed, SimDuration, SimTime};
use crate::model::effect::{ClientEffect, ServerEffect};
use crate::model::fact::Fact;
use crate::model::id::ClientId;
use crate::model::registry::{Client, ClientConfig};
use crate::model::stage::EventKind;
use crate::model::step::Step;
use crate::model::view::Views;
use crate::observe::Recorder;
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
    servers: Vec<ServerNode>,
    /// Links between servers, as far as something is wrong with them.
    between: Between,
    batches: Places<Batch>,
    pools: Pools,
    views: Views,
    flights: Places<Flight>,
    datagrams: Places<Datagram>,
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
    /// Servers whose own client is still at its constructor.
    booting: u32,
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
            Event::ServerStarts { server } => self.start_server(server, now, schedule),
            Event::PeerTimerDue { .. } => self.peer_timer_due(event, now, schedule),
            Event::BatchArrives { batch } => self.batch_arrives(batch, now, schedule),
            Event::BatchAnswered { batch } => self.batch_answered(batch, now, schedule),
            Event::BatchLimit { batch, generation } => self.batch_limit(batch, generation, now, schedule),
            Event::BatchLeaves { batch } => self.batch_leaves(batch, now, schedule),
            Event::ServiceTimerDue { .. } => self.service_timer_due(event, now, schedule),
            Event::DatagramArrives { datagram } => self.datagram_arrives(datagram, now, schedule),
            Event::WorkDone { server, place } => self.work_done(server, place, now, schedule),
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

    /// One step of a client, and what follows from it.
    #[inline]
    fn step_client(
        &mut self,
        client: ClientId,
        now: SimTime,
        schedule: &mut Schedule<Event>,
        step: impl FnOnce(&mut Client, ClientConfig<'_>, &mut Step<'_, ClientEffect>),
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
        if self.booting > 0 {
            self.boot_if_ready(client, now, schedule);
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
