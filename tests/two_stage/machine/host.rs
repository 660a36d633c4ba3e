//! The registry's host: its process, that stands still or is gone, its clock, and what waits for it.

use std::sync::Arc;

use stillup::engine::SimTime;
use stillup::model::clock::{Now, WallMs};
use stillup::model::effect::{PushId, ServerEffect, ServiceTimer, Ticket};
use stillup::model::id::ClientId;
use stillup::model::message::{Reply, Request};
use stillup::model::step::Step;
use stillup::model::two_stage::{ResumeOrder, Saved, TwoStageServer};

use super::ledger::Ledger;
use super::{Caller, Event, Machine, ORIGIN_MS, WALL_START_MS, class};
use crate::row::What;

/// What the loop knows of the registry's process.
#[derive(Default)]
pub(super) struct Host {
    /// The process, unless it is gone.
    pub(super) server: Option<TwoStageServer>,
    /// Lives so far, round and round.
    generation: u8,
    saved: Option<Saved>,
    /// What was added to the wall clock.
    pub(super) skew_ms: i64,
    /// Since when it stands still, and until when.
    paused: Option<(u64, u64)>,
    waiting: Vec<(Ticket, Request)>,
    overdue: Vec<(ServiceTimer, u32, u8)>,
    /// Who waits for an answer, by the place of the ticket.
    asked: Vec<Option<(Caller, Request)>>,
    /// What its facts add up to.
    pub(super) ledger: Ledger,
}

impl Machine {
    /// A life begins.
    pub(super) fn start_registry(&mut self, saved: Option<Saved>) {
        let config = Arc::new(self.vector.knobs.server.clone());
        let generation = self.host.generation;
        self.host.ledger.new_life(saved.is_some());
        let (server, effects) = self.lend(|step| TwoStageServer::start(config, generation, saved, step));
        self.host.server = Some(server);
        self.follow(effects);
    }

    fn clocks(&self) -> Now {
        let mono = Self::mono(self.now);
        Now { mono, wall: WallMs(WALL_START_MS + self.host.skew_ms).plus((ORIGIN_MS + self.now) as i64) }
    }

    fn lend<T>(&mut self, act: impl FnOnce(&mut Step<'_, ServerEffect>) -> T) -> (T, Vec<ServerEffect>) {
        let (now, mut out) = (self.clocks(), Vec::new());
        let rng = self.streams.with(&self.seed);
        let result = act(&mut Step { now, rng, views: &mut self.views, out: &mut out });
        (result, out)
    }

    /// One step of the registry, and what follows from it.
    fn step_registry<T>(
        &mut self,
        act: impl FnOnce(&mut TwoStageServer, &mut Step<'_, ServerEffect>) -> T,
    ) -> (T, Vec<ServerEffect>) {
        let mut server = self.host.server.take().expect("the registry is up");
        let (result, effects) = self.lend(|step| act(&mut server, step));
        self.host.server = Some(server);
        (result, effects)
    }

    fn follow(&mut self, effects: Vec<ServerEffect>) {
        for effect in effects {
            match effect {
                ServerEffect::SetServiceTimer { timer, number, at, generation } => {
                    let t = (at.max(Self::mono(0)).since(SimTime::from_millis(ORIGIN_MS))).as_millis();
                    let class = if timer == ServiceTimer::Sweep { class::SWEEP } else { class::LATE };
                    self.at(t, class, Event::ServerTimer { timer, number, generation });
                }
                ServerEffect::Answer { ticket, reply } => self.answer(ticket, reply),
                ServerEffect::Push { to, app, payload, push } => self.pushed(to, app, payload, push),
                ServerEffect::Fact(fact) => self.note(fact),
                ServerEffect::SetTimer { .. }
                | ServerEffect::SetPeerTimer { .. }
                | ServerEffect::Replicate { .. } => unreachable!("only Eureka does that"),
            }
        }
    }

    /// A request reaches the registry's host.
    pub(super) fn request_arrives(&mut self, caller: Caller, request: Request) {
        if self.host.server.is_none() {
            return self.fail(caller);
        }
        let ticket = Ticket { place: self.host.asked.len() as u32, generation: 0 };
        self.host.asked.push(Some((caller, request)));
        if self.host.paused.is_some() {
            self.host.waiting.push((ticket, request));
        } else {
            self.take_up(ticket, request);
        }
        if self.host.asked[ticket.place as usize].is_some() {
            self.limit(caller, &request);
        }
    }

    fn take_up(&mut self, ticket: Ticket, request: Request) {
        if let Some((Caller::Watcher(watcher), _)) = self.host.asked[ticket.place as usize] {
            self.watch_taken_up(watcher);
        }
        let (reply, effects) =
            self.step_registry(|server, step| server.on_request(&request, Some(ticket), step));
        self.follow(effects);
        self.check_ledger();
        if let Some(reply) = reply {
            self.answer(ticket, reply);
        }
    }

    fn answer(&mut self, ticket: Ticket, reply: Reply) {
        let asked = self.host.asked[ticket.place as usize].take();
        let (caller, request) = asked.expect("a ticket is answered once");
        if let (Request::Renew { instance, .. }, 404) = (request, reply.status) {
            self.instance_row("hb_false", instance, None);
        }
        match caller {
            Caller::Script | Caller::Subscriber(_) => {}
            Caller::Agent(agent, call) => self.answer_agent(agent, call, &request, reply),
            Caller::Watcher(watcher) => self.answer_watcher(watcher, reply),
        }
    }

    fn fail(&mut self, caller: Caller) {
        match caller {
            Caller::Script | Caller::Subscriber(_) => {}
            Caller::Agent(agent, call) => self.refuse_agent(agent, call),
            Caller::Watcher(watcher) => self.refuse_watcher(watcher),
        }
    }

    pub(super) fn server_timer_due(&mut self, timer: ServiceTimer, number: u32, generation: u8) {
        if self.host.paused.is_some() {
            self.host.overdue.push((timer, number, generation));
        } else if self.host.server.is_some() {
            let ((), effects) =
                self.step_registry(|server, step| server.on_timer(timer, number, generation, step));
            self.host.ledger.sweeping = timer == ServiceTimer::Sweep;
            self.follow(effects);
            self.host.ledger.sweeping = false;
            self.check_ledger();
        }
    }

    pub(super) fn acknowledged(&mut self, from: ClientId, push: PushId) {
        if let (Some(server), None) = (&mut self.host.server, self.host.paused) {
            server.on_acknowledged(from, push);
        }
    }

    /// What a fetch would return.
    pub(super) fn fetch(&mut self) -> Option<Reply> {
        self.host.server.as_ref()?;
        let (reply, effects) =
            self.step_registry(|server, step| server.on_request(&Request::FetchFull, None, step));
        assert!(effects.is_empty(), "a fetch changes nothing: {effects:?}");
        reply
    }

    pub(super) fn log_fetch(&mut self) {
        let Some(payload) = self.fetch().and_then(|reply| reply.payload) else { return };
        let map = self.map(payload.full_view(), &Default::default());
        self.row("fetch", "", What::Map(map));
    }

    pub(super) fn pause(&mut self, until: u64) {
        if self.host.server.is_none() {
            return;
        }
        let (since, before) = self.host.paused.unwrap_or((self.now, 0));
        self.host.paused = Some((since, until.max(before)));
        self.at(until, class::FAULT, Event::Resume);
    }

    pub(super) fn resume(&mut self) {
        let Some((since, _)) = self.host.paused.filter(|paused| paused.1 <= self.now) else { return };
        self.host.paused = None;
        let since = Self::mono(since);
        let ((), effects) = self.step_registry(|server, step| server.on_resume(since, step));
        self.follow(effects);
        let (sweeps, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.host.overdue)
            .into_iter()
            .partition(|overdue| overdue.0 == ServiceTimer::Sweep);
        for (timer, number, generation) in others {
            self.at(self.now, class::LATE, Event::ServerTimer { timer, number, generation });
        }
        let sweep_first = self.vector.knobs.server.resume_order == ResumeOrder::SweepFirst;
        let (first, last) = if sweep_first { (sweeps, Vec::new()) } else { (Vec::new(), sweeps) };
        for (timer, number, generation) in first {
            self.server_timer_due(timer, number, generation);
        }
        for (ticket, request) in std::mem::take(&mut self.host.waiting) {
            self.take_up(ticket, request);
        }
        for (timer, number, generation) in last {
            self.server_timer_due(timer, number, generation);
        }
    }

    /// The process is gone; whoever waited for it learns it at once.
    pub(super) fn registry_goes_down(&mut self) {
        let Some(server) = self.host.server.take() else { return };
        let waiting: Vec<Ticket> = std::mem::take(&mut self.host.waiting).iter().map(|it| it.0).collect();
        let mut open = server.held();
        open.extend(waiting);
        open.sort();
        let asked = self.host.asked.iter().enumerate().filter(|it| it.1.is_some());
        let asked: Vec<Ticket> = asked.map(|it| Ticket { place: it.0 as u32, generation: 0 }).collect();
        assert_eq!(open, asked, "the registry holds what is not answered");
        self.host.saved = server.into_saved();
        self.host.generation = self.host.generation.wrapping_add(1);
        self.host.paused = None;
        self.host.overdue.clear();
        self.row("registry_down", "", What::Nothing);
        for ticket in asked {
            let (caller, _) = self.host.asked[ticket.place as usize].take().expect("not answered");
            self.fail(caller);
        }
    }

    pub(super) fn registry_comes_up(&mut self) {
        self.registry_goes_down();
        let saved = self.host.saved.take();
        let kind = if saved.is_some() { "registry_up" } else { "registry_up_empty" };
        self.row(kind, "", What::Nothing);
        self.start_registry(saved);
        self.check_ledger();
    }
}
