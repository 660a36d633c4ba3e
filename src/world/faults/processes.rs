//! Faults of single processes: crash, stop, restart, crash loop, start.

use super::{ActiveFault, FaultContext, HOW_LONG, Linger, PairedStep, WHEN};
use crate::engine::{SimDuration, SimTime};
use crate::model::id::{AppId, ClientId};
use crate::scenario::{FaultKind, Selection, Targets};
use crate::world::World;
use crate::world::node::State;

impl World<'_> {
    pub(super) fn begin_crash(&mut self, targets: &Targets, context: &mut FaultContext<'_>) -> ActiveFault {
        match targets {
            Targets::Servers(which) => {
                let servers = self.pick_servers(which, context);
                for &server in &servers {
                    self.crash_server(server, context.schedule);
                }
                ActiveFault::hits_servers(servers)
            }
            Targets::Instances(selection) => {
                let hit = self.pick(selection, context);
                self.crash(&hit, context.now());
                ActiveFault::hits(hit)
            }
        }
    }

    /// An orderly stop of each target, at once or at a moment of its own: step `n` is that of target `n`.
    pub(super) fn begin_stop(
        &mut self,
        targets: &Selection,
        linger: SimDuration,
        over: SimDuration,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let active = ActiveFault::hits(self.pick(targets, context));
        if over.is_zero() {
            self.stop_all(&active.hit, linger, context);
            return active;
        }
        self.spread(active, over, context)
    }

    pub(super) fn step_of_stop(&mut self, step: u32, linger: SimDuration, context: &mut FaultContext<'_>) {
        let client = self.active(context).hit[step as usize];
        self.stop_all(&[client], linger, context);
    }

    /// Processes stop in order, and go on to answer calls for `linger` after that.
    pub(super) fn stop_all(&mut self, hit: &[ClientId], linger: SimDuration, context: &mut FaultContext<'_>) {
        for &client in hit {
            let node = &self.clients[client.index()];
            if !linger.is_zero() && node.state != State::Down && !node.stopping {
                let linger = Linger { fault: context.fault, length: linger, until: None };
                self.plan.lingering.entry(client).or_insert(linger);
            }
            self.stop(client, context.schedule);
        }
    }

    /// A process has answered its last call, unless it was killed and came back meanwhile.
    pub(super) fn linger_ends(&mut self, client: ClientId, now: SimTime) {
        if self.plan.lingering.get(&client).is_some_and(|linger| linger.until == Some(now)) {
            self.end_process(client, now);
        }
    }

    pub(super) fn begin_restart(
        &mut self,
        targets: &Targets,
        down_for: SimDuration,
        graceful: bool,
        one_by_one: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        if let (Targets::Servers(which), Some(wait)) = (targets, one_by_one) {
            let servers = self.pick_servers(which, context);
            let turns = servers.len() as u64;
            let until = context.now() + down_for * turns + wait * turns.saturating_sub(1);
            self.plan.step_at(PairedStep::first(0).step(), context.now(), context);
            return ActiveFault::hits_servers(servers).until(Some(until));
        }
        let active = match targets {
            Targets::Instances(selection) if graceful => {
                let active = ActiveFault::hits(self.pick(selection, context));
                self.stop_all(&active.hit, SimDuration::ZERO, context);
                active
            }
            targets => self.begin_crash(targets, context),
        };
        let until = context.now() + down_for;
        self.plan.end_at(until, context);
        active.until(Some(until))
    }

    pub(super) fn end_restart(&mut self, active: &ActiveFault, new_id: bool, context: &mut FaultContext<'_>) {
        for &server in &active.servers {
            self.start_server(server, context.schedule);
        }
        self.bring_all_back(&active.hit, new_id, context);
    }

    /// Servers that are restarted one by one: of a server's steps the first kind crashes it, the second brings it
    /// back.
    pub(super) fn step_of_restart(&mut self, verb: &FaultKind, step: u32, context: &mut FaultContext<'_>) {
        let &FaultKind::Restart { down_for, one_by_one, .. } = verb else {
            unreachable!("a step of restarts")
        };
        let turn = PairedStep::of_step(step);
        let servers = &self.active(context).servers;
        let (server, is_last) = (servers[turn.target as usize], turn.target as usize + 1 == servers.len());
        if turn.is_first {
            self.crash_server(server, context.schedule);
            self.plan.step_at(turn.other().step(), context.now() + down_for, context);
        } else {
            self.start_server(server, context.schedule);
            if !is_last {
                let at = context.now() + one_by_one.unwrap_or_default();
                self.plan.step_at(PairedStep::first(turn.target + 1).step(), at, context);
            }
        }
    }

    /// Of a target's steps the first kind crashes it, the second brings it back.
    pub(super) fn begin_crash_loop(
        &mut self,
        verb: &FaultKind,
        targets: &Selection,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let until = length.map(|length| context.now() + length);
        let active = ActiveFault::hits(self.pick(targets, context)).until(until);
        let mut active = self.with_streams(active, None, context);
        self.crash(&active.hit, context.now());
        for target in 0..active.targets {
            self.next_of_crash_loop(&mut active, verb, PairedStep::first(target), context);
        }
        if let Some(until) = until {
            self.plan.end_at(until, context);
        }
        active
    }

    pub(super) fn step_of_crash_loop(&mut self, verb: &FaultKind, step: u32, context: &mut FaultContext<'_>) {
        let FaultKind::CrashLoop { new_id, .. } = verb else { unreachable!("a crash loop's step") };
        let mut active = std::mem::take(self.active(context));
        let turn = PairedStep::of_step(step);
        let client = active.hit[turn.target as usize];
        if turn.is_first {
            self.kill(&[client], context.now());
        } else {
            self.bring_all_back(&[client], *new_id, context);
        }
        self.next_of_crash_loop(&mut active, verb, turn, context);
        *self.active(context) = active;
    }

    /// Schedules what comes after a step, unless the loop is over by then.
    fn next_of_crash_loop(
        &mut self,
        active: &mut ActiveFault,
        verb: &FaultKind,
        turn: PairedStep,
        context: &mut FaultContext<'_>,
    ) {
        let FaultKind::CrashLoop { up_for, down_for, .. } = verb else { unreachable!("a crash loop's step") };
        let (distribution, purpose) = if turn.is_first { (*down_for, HOW_LONG) } else { (*up_for, WHEN) };
        let at = context.now() + active.draw(turn.target, distribution, purpose, &self.seed);
        if active.goes_on(at) {
            self.plan.step_at(turn.other().step(), at, context);
        }
    }

    pub(super) fn end_crash_loop(
        &mut self,
        active: &ActiveFault,
        new_id: bool,
        context: &mut FaultContext<'_>,
    ) {
        self.bring_all_back(&active.hit, new_id, context);
    }

    /// Starts new instances, at once or each at a moment of its own: step `n` is that of target `n`.
    pub(super) fn begin_start(
        &mut self,
        application: AppId,
        count: u32,
        over: SimDuration,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        if over.is_zero() {
            return ActiveFault::hits(self.start_new(application, count as usize, context));
        }
        let hit = (0..count).map(|_| self.add_newcomer(application)).collect();
        self.spread(ActiveFault::hits(hit), over, context)
    }

    pub(super) fn step_of_start(&mut self, step: u32, context: &mut FaultContext<'_>) {
        let client = self.active(context).hit[step as usize];
        self.start_client(client, context.schedule);
    }

    /// New instances of an application start now.
    pub(super) fn start_new(
        &mut self,
        app: AppId,
        count: usize,
        context: &mut FaultContext<'_>,
    ) -> Vec<ClientId> {
        let start = |_| {
            let client = self.add_newcomer(app);
            self.start_client(client, context.schedule);
            client
        };
        (0..count).map(start).collect()
    }

    pub(super) fn bring_all_back(&mut self, hit: &[ClientId], new_id: bool, context: &mut FaultContext<'_>) {
        for &client in hit {
            self.bring_back(client, new_id, context.schedule);
        }
    }

    /// Gives each target a uniform moment within `over` for its step.
    fn spread(
        &mut self,
        active: ActiveFault,
        over: SimDuration,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let until = context.now() + over;
        let mut active = self.with_streams(active, None, context).until(Some(until));
        for (step, streams) in (0..).zip(&mut active.streams) {
            let at: SimTime = context.now() + streams.with(&self.seed).duration_below(WHEN, over);
            self.plan.step_at(step, at, context);
        }
        active
    }
}
