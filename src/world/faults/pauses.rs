//! Processes that stand still: once, or again and again as with garbage collection.

use super::{Begun, Cue, HOW_LONG, Target, Turn, WHEN};
use crate::engine::{Distribution, SimDuration, SimTime};
use crate::scenario::{Targets, Verb};
use crate::world::World;

impl World<'_> {
    /// One pause. Where lengths differ, step `n` is the end of that of target `n`.
    pub(super) fn begin_pause(
        &mut self,
        targets: &Targets,
        length: Distribution,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let mut begun = self.pick_processes(targets, cue);
        if let Some(length) = length.as_constant() {
            let until = cue.now() + length;
            for target in 0..begun.targets {
                self.pause_target(begun.target(target), until, cue);
            }
            self.plan.end_at(until, cue);
            return begun.until(Some(until));
        }
        begun = self.with_dice(begun, Some(targets), cue);
        for target in 0..begun.targets {
            let until = cue.now() + begun.draw(target, length, HOW_LONG, &self.seed);
            self.pause_target(begun.target(target), until, cue);
            self.plan.step_at(target, until, cue);
            begun.until = begun.until.max(Some(until));
        }
        begun
    }

    pub(super) fn end_pause(&mut self, begun: &Begun, cue: &mut Cue<'_>) {
        for target in 0..begun.targets {
            self.resume_target(begun.target(target), cue);
        }
    }

    pub(super) fn step_of_pause(&mut self, step: u32, cue: &mut Cue<'_>) {
        let begun = std::mem::take(self.begun(cue));
        self.resume_target(begun.target(step), cue);
        *self.begun(cue) = begun;
    }

    /// Pauses at random. Of a target's steps the first kind begins a pause, the second ends it.
    pub(super) fn begin_pauses(
        &mut self,
        targets: &Targets,
        every: Distribution,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let begun = self.pick_processes(targets, cue).until(length.map(|length| cue.now() + length));
        let mut begun = self.with_dice(begun, Some(targets), cue);
        for target in 0..begun.targets {
            self.await_pause(&mut begun, target, every, cue);
        }
        begun
    }

    pub(super) fn step_of_pauses(&mut self, verb: &Verb, step: u32, cue: &mut Cue<'_>) {
        let Verb::Pauses { every, lasting, .. } = verb else { unreachable!("a step of pauses") };
        let mut begun = std::mem::take(self.begun(cue));
        let turn = Turn::of_step(step);
        let target = turn.target;
        if turn.is_first {
            let until = cue.now() + begun.draw(target, *lasting, HOW_LONG, &self.seed);
            self.pause_target(begun.target(target), until, cue);
            self.plan.step_at(turn.other().step(), until, cue);
        } else {
            self.resume_target(begun.target(target), cue);
            self.await_pause(&mut begun, target, *every, cue);
        }
        *self.begun(cue) = begun;
    }

    /// Schedules the next pause of a target, unless the process is over by then.
    fn await_pause(&mut self, begun: &mut Begun, target: u32, every: Distribution, cue: &mut Cue<'_>) {
        let at = cue.now() + begun.draw(target, every, WHEN, &self.seed);
        if begun.goes_on(at) {
            self.plan.step_at(Turn::first(target).step(), at, cue);
        }
    }

    fn pick_processes(&mut self, targets: &Targets, cue: &Cue<'_>) -> Begun {
        match targets {
            Targets::Servers(which) => Begun::hits_servers(self.pick_servers(which, cue)),
            Targets::Instances(selection) => Begun::hits(self.pick(selection, cue)),
        }
    }

    fn pause_target(&mut self, target: Target, until: SimTime, cue: &Cue<'_>) {
        match target {
            Target::Server(server) => self.pause_server(server, cue.now(), until),
            Target::Instance(client) => self.pause(client, cue.now(), until),
        }
    }

    fn resume_target(&mut self, target: Target, cue: &mut Cue<'_>) {
        match target {
            Target::Server(server) => self.resume_server(server, cue.schedule),
            Target::Instance(client) => self.resume(client, cue.schedule),
        }
    }
}
