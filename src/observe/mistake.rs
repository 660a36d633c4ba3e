//! Mistakes: live instances that the registry removed, and how long that lasted (T_M).

use super::data::Mistake;
use crate::engine::SimTime;
use crate::model::id::InstanceId;
use crate::model::stage::Stage;

/// The mistakes of one server.
#[derive(Default)]
pub(super) struct Mistakes {
    ended: Vec<Mistake>,
    open: Vec<(InstanceId, SimTime)>,
}

impl Mistakes {
    /// A live instance was evicted.
    pub(super) fn begin(&mut self, instance: InstanceId, now: SimTime) {
        self.open.push((instance, now));
    }

    /// The instance is registered again (`corrected`), or its process has ended.
    pub(super) fn end(&mut self, instance: InstanceId, corrected: bool, now: SimTime) {
        let Some(place) = self.open.iter().position(|&(open, _)| open == instance) else { return };
        let (_, at) = self.open.swap_remove(place);
        self.ended.push(Mistake { instance, stage: Stage::Registry, at, lasted: now.since(at), corrected });
    }

    /// Mistakes that last.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// All of them, by time and instance.
    pub(super) fn finish(mut self, now: SimTime) -> Vec<Mistake> {
        for (instance, _) in self.open.clone() {
            self.end(instance, false, now);
        }
        self.ended.sort_by_key(|mistake| (mistake.at, mistake.instance));
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SimDuration;

    #[test]
    fn a_mistake_lasts_until_it_is_corrected_or_the_instance_ends_or_the_run_does() {
        let second = SimTime::from_secs;
        let mut mistakes = Mistakes::default();
        for instance in 0..3 {
            mistakes.begin(InstanceId(instance), second(10));
        }
        mistakes.end(InstanceId(0), true, second(12));
        mistakes.end(InstanceId(1), false, second(15));
        assert_eq!(mistakes.open(), 1);
        let ended = mistakes.finish(second(60));
        let rows: Vec<_> = ended.iter().map(|mistake| (mistake.lasted, mistake.corrected)).collect();
        let length = SimDuration::from_secs;
        assert_eq!(rows, [(length(2), true), (length(5), false), (length(50), false)]);
    }

    #[test]
    fn an_end_without_a_beginning_is_nothing() {
        let mut mistakes = Mistakes::default();
        mistakes.end(InstanceId(7), true, SimTime::ZERO);
        assert!(mistakes.finish(SimTime::ZERO).is_empty());
    }
}
