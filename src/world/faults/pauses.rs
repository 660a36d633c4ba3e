//! Processes that stand still: once, or again and again as with garbage collection.

use super::{ActiveFault, FaultContext, HOW_LONG, PairedStep, Target, WHEN};
use crate::engine::{Distribution, SimDuration, SimTime};
use crate::scenario::{FaultKind, Targets};
use crate::world::World;

impl World<'_> {
    /// One pause. Where lengths differ, step `n` is the end of that of target `n`.
    pub(super) fn begin_pause(
        &mut self,
        targets: &Targets,
        length: Distribution,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let mut active = self.pick_processes(targets, context);
        if let Some(length) = length.as_constant() {
            let until = context.now() + length;
            for target in 0..active.targets {
                self.pause_target(active.target(target), until, context);
            }
            self.plan.end_at(until, context);
            return active.until(Some(until));
        }
        active = self.with_streams(active, Some(targets), context);
        for target in 0..active.targets {
            let until = context.now() + active.draw(target, length, HOW_LONG, &self.seed);
            self.pause_target(active.target(target), until, context);
            self.plan.step_at(target, until, context);
            active.until = active.until.max(Some(until));
        }
        active
    }

    pub(super) fn end_pause(&mut self, active: &ActiveFault, context: &mut FaultContext<'_>) {
        for target in 0..active.targets {
            self.resume_target(active.target(target), context);
        }
    }

    pub(super) fn step_of_pause(&mut self, step: u32, context: &mut FaultContext<'_>) {
        let active = std::mem::take(self.active(context));
        self.resume_target(active.target(step), context);
        *self.active(context) = active;
    }

    /// Pauses at random. Of a target's steps the first kind begins a pause, the second ends it.
    pub(super) fn begin_pauses(
        &mut self,
        targets: &Targets,
        every: Distribution,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let active = self.pick_processes(targets, context).until(length.map(|length| context.now() + length));
        let mut active = self.with_streams(active, Some(targets), context);
        for target in 0..active.targets {
            self.await_pause(&mut active, target, every, context);
        }
        active
    }

    pub(super) fn step_of_pauses(&mut self, verb: &FaultKind, step: u32, context: &mut FaultContext<'_>) {
        let FaultKind::Pauses { every, lasting, .. } = verb else { unreachable!("a step of pauses") };
        let mut active = std::mem::take(self.active(context));
        let turn = PairedStep::of_step(step);
        let target = turn.target;
        if turn.is_first {
            let until = context.now() + active.draw(target, *lasting, HOW_LONG, &self.seed);
            self.pause_target(active.target(target), until, context);
            self.plan.step_at(turn.other().step(), until, context);
        } else {
            self.resume_target(active.target(target), context);
            self.await_pause(&mut active, target, *every, context);
        }
        *self.active(context) = active;
    }

    /// Schedules the next pause of a target, unless the process is over by then.
    fn await_pause(
        &mut self,
        active: &mut ActiveFault,
        target: u32,
        every: Distribution,
        context: &mut FaultContext<'_>,
    ) {
        let at = context.now() + active.draw(target, every, WHEN, &self.seed);
        if active.goes_on(at) {
            self.plan.step_at(PairedStep::first(target).step(), at, context);
        }
    }

    fn pick_processes(&mut self, targets: &Targets, context: &FaultContext<'_>) -> ActiveFault {
        match targets {
            Targets::Servers(which) => ActiveFault::hits_servers(self.pick_servers(which, context)),
            Targets::Instances(selection) => ActiveFault::hits(self.pick(selection, context)),
        }
    }

    fn pause_target(&mut self, target: Target, until: SimTime, context: &FaultContext<'_>) {
        match target {
            Target::Server(server) => self.pause_server(server, context.now(), until),
            Target::Instance(client) => self.pause(client, context.now(), until),
        }
    }

    fn resume_target(&mut self, target: Target, context: &mut FaultContext<'_>) {
        match target {
            Target::Server(server) => self.resume_server(server, context.schedule),
            Target::Instance(client) => self.resume(client, context.schedule),
        }
    }
}
