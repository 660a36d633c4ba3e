//! What is done to a fleet: roll-outs, blue-green deployments, and spot instances that are taken back.

use super::targets::nearest;
use super::{ActiveFault, FaultContext, PairedStep};
use crate::engine::{SimDuration, SimTime};
use crate::model::id::{AppId, ClientId};
use crate::scenario::{Batch, FaultKind, Order, Selection, TargetChoice};
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
    fn of(verb: &FaultKind) -> Self {
        let &FaultKind::RollOut { application, wait, down_for, graceful, linger, new_id, order, .. } = verb
        else {
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
    pub(super) fn begin_roll_out(&mut self, verb: &FaultKind, context: &mut FaultContext<'_>) -> ActiveFault {
        let FaultKind::RollOut { batch, .. } = verb else { unreachable!("a roll-out") };
        let plan = Plan::of(verb);
        let mut active = ActiveFault::hits(self.running(plan.application));
        active.batch = match *batch {
            Batch::Count(count) => count as usize,
            Batch::Share(share) => nearest(share, active.hit.len()),
        }
        .max(1);
        let batches = active.hit.len().div_ceil(active.batch) as u64;
        if batches > 0 {
            let (within, between) = plan.waits();
            let until = context.now() + within * batches + between * (batches - 1);
            active.until = Some(until);
            self.half_of_batch(plan, PairedStep::first(0), &active, context);
        }
        active
    }

    pub(super) fn step_of_roll_out(&mut self, verb: &FaultKind, step: u32, context: &mut FaultContext<'_>) {
        let active = std::mem::take(self.active(context));
        self.half_of_batch(Plan::of(verb), PairedStep::of_step(step), &active, context);
        *self.active(context) = active;
    }

    fn half_of_batch(
        &mut self,
        plan: Plan,
        turn: PairedStep,
        active: &ActiveFault,
        context: &mut FaultContext<'_>,
    ) {
        let mut batches = active.hit.chunks(active.batch).skip(turn.target as usize);
        let batch = batches.next().expect("a step belongs to a batch");
        let is_last = batches.next().is_none();
        if turn.is_first == (plan.order == Order::StopFirst) {
            self.leave(batch, plan.graceful, plan.linger, context);
        } else if plan.new_id || plan.order == Order::StartFirst {
            self.start_new(plan.application, batch.len(), context);
        } else {
            self.bring_all_back(batch, false, context);
        }
        let (within, between) = plan.waits();
        if turn.is_first {
            self.plan.step_at(turn.other().step(), context.now() + within, context);
        } else if !is_last {
            self.plan.step_at(PairedStep::first(turn.target + 1).step(), context.now() + between, context);
        }
    }

    /// As many new ones start as run of the old, which all stop in the only step.
    pub(super) fn begin_blue_green(
        &mut self,
        from: AppId,
        to: AppId,
        wait: SimDuration,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let active = ActiveFault::hits(self.running(from));
        self.start_new(to, active.hit.len(), context);
        let until: SimTime = context.now() + wait;
        self.plan.step_at(0, until, context);
        active.until(Some(until))
    }

    pub(super) fn step_of_blue_green(&mut self, verb: &FaultKind, context: &mut FaultContext<'_>) {
        let &FaultKind::BlueGreen { from, graceful, linger, .. } = verb else {
            unreachable!("blue-green's step")
        };
        let old = self.running(from);
        self.leave(&old, graceful, linger, context);
    }

    /// Notice is given, which a share of the targets heeds. When it ends, whoever still runs is killed.
    pub(super) fn begin_reclaim(
        &mut self,
        targets: &Selection,
        notice: SimDuration,
        heeded: f64,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let mut hit = self.pick(targets, context);
        let heeding = self.draw_share(&mut hit, heeded, context);
        self.stop_all(&hit[..heeding], SimDuration::ZERO, context);
        let until = context.now() + notice;
        self.plan.end_at(until, context);
        ActiveFault::hits(hit).until(Some(until))
    }

    pub(super) fn end_reclaim(&mut self, active: &ActiveFault, context: &FaultContext<'_>) {
        self.kill(&active.hit, context.now());
    }

    /// Processes stop in order, or are killed: those of them that are still there.
    fn leave(
        &mut self,
        hit: &[ClientId],
        graceful: bool,
        linger: SimDuration,
        context: &mut FaultContext<'_>,
    ) {
        if graceful {
            self.stop_all(hit, linger, context);
        } else {
            self.kill(hit, context.now());
        }
    }

    /// Those of an application that run, by ordinal.
    fn running(&self, application: AppId) -> Vec<ClientId> {
        self.candidates(&Selection { application: Some(application), zone: None, which: TargetChoice::All })
    }
}
