//! What is done to a fleet: roll-outs, blue-green deployments, and spot instances that are taken back.

use super::targets::nearest;
use super::{Begun, Cue, Turn};
use crate::engine::{SimDuration, SimTime};
use crate::model::id::{AppId, ClientId};
use crate::scenario::{Batch, Order, Selection, Verb, Which};
use crate::world::World;

/// How a roll-out goes about it.
#[derive(Clone, Copy)]
struct Plan {
    application: AppId,
    wait: SimDuration,
    down_for: SimDuration,
    graceful: bool,
    linger: SimDuration,
    new_id: bool,
    order: Order,
}

impl Plan {
    fn of(verb: &Verb) -> Self {
        let &Verb::RollOut { application, wait, down_for, graceful, linger, new_id, order, .. } = verb else {
            unreachable!("a roll-out's step")
        };
        Self { application, wait, down_for, graceful, linger, new_id, order }
    }

    /// From a batch's first half to its second, and from there to the next batch.
    fn waits(&self) -> (SimDuration, SimDuration) {
        match self.order {
            Order::StopFirst => (self.down_for, self.wait),
            Order::StartFirst => (self.wait, SimDuration::ZERO),
        }
    }
}

impl World<'_> {
    /// Batch after batch, by ordinal. Of a batch's steps the first is what comes first, the stop or the start.
    pub(super) fn begin_roll_out(&mut self, verb: &Verb, cue: &mut Cue<'_>) -> Begun {
        let Verb::RollOut { batch, .. } = verb else { unreachable!("a roll-out") };
        let plan = Plan::of(verb);
        let mut begun = Begun::hits(self.running(plan.application));
        begun.batch = match *batch {
            Batch::Count(count) => count as usize,
            Batch::Share(share) => nearest(share, begun.hit.len()),
        }
        .max(1);
        let batches = begun.hit.len().div_ceil(begun.batch) as u64;
        if batches > 0 {
            let (within, between) = plan.waits();
            let until = cue.now() + within * batches + between * (batches - 1);
            begun.until = Some(until);
            self.half_of_batch(plan, Turn::first(0), &begun, cue);
        }
        begun
    }

    pub(super) fn step_of_roll_out(&mut self, verb: &Verb, step: u32, cue: &mut Cue<'_>) {
        let begun = std::mem::take(self.begun(cue));
        self.half_of_batch(Plan::of(verb), Turn::of_step(step), &begun, cue);
        *self.begun(cue) = begun;
    }

    fn half_of_batch(&mut self, plan: Plan, turn: Turn, begun: &Begun, cue: &mut Cue<'_>) {
        let mut batches = begun.hit.chunks(begun.batch).skip(turn.target as usize);
        let batch = batches.next().expect("a step belongs to a batch");
        let is_last = batches.next().is_none();
        if turn.is_first == (plan.order == Order::StopFirst) {
            self.leave(batch, plan.graceful, plan.linger, cue);
        } else if plan.new_id || plan.order == Order::StartFirst {
            self.start_new(plan.application, batch.len(), cue);
        } else {
            self.bring_all_back(batch, false, cue);
        }
        let (within, between) = plan.waits();
        if turn.is_first {
            self.plan.step_at(turn.other().step(), cue.now() + within, cue);
        } else if !is_last {
            self.plan.step_at(Turn::first(turn.target + 1).step(), cue.now() + between, cue);
        }
    }

    /// As many new ones start as run of the old, which all stop in the only step.
    pub(super) fn begin_blue_green(
        &mut self,
        from: AppId,
        to: AppId,
        wait: SimDuration,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let begun = Begun::hits(self.running(from));
        self.start_new(to, begun.hit.len(), cue);
        let until: SimTime = cue.now() + wait;
        self.plan.step_at(0, until, cue);
        begun.until(Some(until))
    }

    pub(super) fn step_of_blue_green(&mut self, verb: &Verb, cue: &mut Cue<'_>) {
        let &Verb::BlueGreen { from, graceful, linger, .. } = verb else { unreachable!("blue-green's step") };
        let old = self.running(from);
        self.leave(&old, graceful, linger, cue);
    }

    /// Notice is given, which a share of the targets heeds. When it ends, whoever still runs is killed.
    pub(super) fn begin_reclaim(
        &mut self,
        targets: &Selection,
        notice: SimDuration,
        heeded: f64,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let mut hit = self.pick(targets, cue);
        let heeding = self.draw_share(&mut hit, heeded, cue);
        self.stop_all(&hit[..heeding], SimDuration::ZERO, cue);
        let until = cue.now() + notice;
        self.plan.end_at(until, cue);
        Begun::hits(hit).until(Some(until))
    }

    pub(super) fn end_reclaim(&mut self, begun: &Begun, cue: &Cue<'_>) {
        self.kill(&begun.hit, cue.now());
    }

    /// Processes stop in order, or are killed: those of them that are still there.
    fn leave(&mut self, hit: &[ClientId], graceful: bool, linger: SimDuration, cue: &mut Cue<'_>) {
        if graceful {
            self.stop_all(hit, linger, cue);
        } else {
            self.kill(hit, cue.now());
        }
    }

    /// Those of an application that run, by ordinal.
    fn running(&self, application: AppId) -> Vec<ClientId> {
        self.candidates(&Selection { application: Some(application), zone: None, which: Which::All })
    }
}
