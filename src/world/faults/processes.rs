//! Faults of single processes: crash, stop, restart, crash loop, start.

use super::{Begun, Cue, HOW_LONG, Linger, Turn, WHEN};
use crate::engine::{SimDuration, SimTime};
use crate::model::id::{AppId, ClientId};
use crate::scenario::{Selection, Targets, Verb};
use crate::world::World;
use crate::world::node::State;

impl World<'_> {
    pub(super) fn begin_crash(&mut self, targets: &Targets, cue: &mut Cue<'_>) -> Begun {
        match targets {
            Targets::Servers(which) => {
                let servers = self.pick_servers(which, cue);
                for &server in &servers {
                    self.crash_server(server, cue.schedule);
                }
                Begun::hits_servers(servers)
            }
            Targets::Instances(selection) => {
                let hit = self.pick(selection, cue);
                self.crash(&hit, cue.now());
                Begun::hits(hit)
            }
        }
    }

    /// An orderly stop of each target, at once or at a moment of its own: step `n` is that of target `n`.
    pub(super) fn begin_stop(
        &mut self,
        targets: &Selection,
        linger: SimDuration,
        over: SimDuration,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let begun = Begun::hits(self.pick(targets, cue));
        if over.is_zero() {
            self.stop_all(&begun.hit, linger, cue);
            return begun;
        }
        self.spread(begun, over, cue)
    }

    pub(super) fn step_of_stop(&mut self, step: u32, linger: SimDuration, cue: &mut Cue<'_>) {
        let client = self.begun(cue).hit[step as usize];
        self.stop_all(&[client], linger, cue);
    }

    /// Processes stop in order, and go on to answer calls for `linger` after that.
    pub(super) fn stop_all(&mut self, hit: &[ClientId], linger: SimDuration, cue: &mut Cue<'_>) {
        for &client in hit {
            let node = &self.clients[client.index()];
            if !linger.is_zero() && node.state != State::Down && !node.stopping {
                let linger = Linger { fault: cue.fault, length: linger, until: None };
                self.plan.lingering.entry(client).or_insert(linger);
            }
            self.stop(client, cue.schedule);
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
        cue: &mut Cue<'_>,
    ) -> Begun {
        if let (Targets::Servers(which), Some(wait)) = (targets, one_by_one) {
            let servers = self.pick_servers(which, cue);
            let turns = servers.len() as u64;
            let until = cue.now() + down_for * turns + wait * turns.saturating_sub(1);
            self.plan.step_at(Turn::first(0).step(), cue.now(), cue);
            return Begun::hits_servers(servers).until(Some(until));
        }
        let begun = match targets {
            Targets::Instances(selection) if graceful => {
                let begun = Begun::hits(self.pick(selection, cue));
                self.stop_all(&begun.hit, SimDuration::ZERO, cue);
                begun
            }
            targets => self.begin_crash(targets, cue),
        };
        let until = cue.now() + down_for;
        self.plan.end_at(until, cue);
        begun.until(Some(until))
    }

    pub(super) fn end_restart(&mut self, begun: &Begun, new_id: bool, cue: &mut Cue<'_>) {
        for &server in &begun.servers {
            self.start_server(server, cue.schedule);
        }
        self.bring_all_back(&begun.hit, new_id, cue);
    }

    /// Servers that are restarted one by one: of a server's steps the first kind crashes it, the second brings it
    /// back.
    pub(super) fn step_of_restart(&mut self, verb: &Verb, step: u32, cue: &mut Cue<'_>) {
        let &Verb::Restart { down_for, one_by_one, .. } = verb else { unreachable!("a step of restarts") };
        let turn = Turn::of_step(step);
        let servers = &self.begun(cue).servers;
        let (server, is_last) = (servers[turn.target as usize], turn.target as usize + 1 == servers.len());
        if turn.is_first {
            self.crash_server(server, cue.schedule);
            self.plan.step_at(turn.other().step(), cue.now() + down_for, cue);
        } else {
            self.start_server(server, cue.schedule);
            if !is_last {
                let at = cue.now() + one_by_one.unwrap_or_default();
                self.plan.step_at(Turn::first(turn.target + 1).step(), at, cue);
            }
        }
    }

    /// Of a target's steps the first kind crashes it, the second brings it back.
    pub(super) fn begin_crash_loop(
        &mut self,
        verb: &Verb,
        targets: &Selection,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let until = length.map(|length| cue.now() + length);
        let begun = Begun::hits(self.pick(targets, cue)).until(until);
        let mut begun = self.with_dice(begun, None, cue);
        self.crash(&begun.hit, cue.now());
        for target in 0..begun.targets {
            self.next_of_crash_loop(&mut begun, verb, Turn::first(target), cue);
        }
        if let Some(until) = until {
            self.plan.end_at(until, cue);
        }
        begun
    }

    pub(super) fn step_of_crash_loop(&mut self, verb: &Verb, step: u32, cue: &mut Cue<'_>) {
        let Verb::CrashLoop { new_id, .. } = verb else { unreachable!("a crash loop's step") };
        let mut begun = std::mem::take(self.begun(cue));
        let turn = Turn::of_step(step);
        let client = begun.hit[turn.target as usize];
        if turn.is_first {
            self.kill(&[client], cue.now());
        } else {
            self.bring_all_back(&[client], *new_id, cue);
        }
        self.next_of_crash_loop(&mut begun, verb, turn, cue);
        *self.begun(cue) = begun;
    }

    /// Schedules what comes after a step, unless the loop is over by then.
    fn next_of_crash_loop(&mut self, begun: &mut Begun, verb: &Verb, turn: Turn, cue: &mut Cue<'_>) {
        let Verb::CrashLoop { up_for, down_for, .. } = verb else { unreachable!("a crash loop's step") };
        let (distribution, purpose) = if turn.is_first { (*down_for, HOW_LONG) } else { (*up_for, WHEN) };
        let at = cue.now() + begun.draw(turn.target, distribution, purpose, &self.seed);
        if begun.goes_on(at) {
            self.plan.step_at(turn.other().step(), at, cue);
        }
    }

    pub(super) fn end_crash_loop(&mut self, begun: &Begun, new_id: bool, cue: &mut Cue<'_>) {
        self.bring_all_back(&begun.hit, new_id, cue);
    }

    /// Starts new instances, at once or each at a moment of its own: step `n` is that of target `n`.
    pub(super) fn begin_start(
        &mut self,
        application: AppId,
        count: u32,
        over: SimDuration,
        cue: &mut Cue<'_>,
    ) -> Begun {
        if over.is_zero() {
            return Begun::hits(self.start_new(application, count as usize, cue));
        }
        let hit = (0..count).map(|_| self.add_newcomer(application)).collect();
        self.spread(Begun::hits(hit), over, cue)
    }

    pub(super) fn step_of_start(&mut self, step: u32, cue: &mut Cue<'_>) {
        let client = self.begun(cue).hit[step as usize];
        self.start_client(client, cue.schedule);
    }

    /// New instances of an application start now.
    pub(super) fn start_new(&mut self, app: AppId, count: usize, cue: &mut Cue<'_>) -> Vec<ClientId> {
        let start = |_| {
            let client = self.add_newcomer(app);
            self.start_client(client, cue.schedule);
            client
        };
        (0..count).map(start).collect()
    }

    pub(super) fn bring_all_back(&mut self, hit: &[ClientId], new_id: bool, cue: &mut Cue<'_>) {
        for &client in hit {
            self.bring_back(client, new_id, cue.schedule);
        }
    }

    /// Gives each target a uniform moment within `over` for its step.
    fn spread(&mut self, begun: Begun, over: SimDuration, cue: &mut Cue<'_>) -> Begun {
        let until = cue.now() + over;
        let mut begun = self.with_dice(begun, None, cue).until(Some(until));
        for (step, dice) in (0..).zip(&mut begun.dice) {
            let at: SimTime = cue.now() + dice.with(&self.seed).duration_below(WHEN, over);
            self.plan.step_at(step, at, cue);
        }
        begun
    }
}
