//! Mistakes: live instances that the registry removed, and how long that lasted (T_M).

use std::collections::BTreeMap;

use super::data::Mistake;
use crate::engine::SimTime;
use crate::model::id::InstanceId;
use crate::model::stage::Stage;

/// The mistakes of one server.
#[derive(Default)]
pub(super) struct Mistakes {
    ended: Vec<Mistake>,
    /// Who is removed though alive, and since when. Every registration looks here, so it is no list.
    open: BTreeMap<InstanceId, SimTime>,
}

impl Mistakes {
    /// A live instance was evicted.
    pub(super) fn begin(&mut self, instance: InstanceId, now: SimTime) {
        let earlier = self.open.insert(instance, now);
        assert!(earlier.is_none(), "an instance is removed once before it is registered again");
    }

    /// The instance is registered again (`corrected`), or its process has ended.
    pub(super) fn end(&mut self, instance: InstanceId, corrected: bool, now: SimTime) {
        let Some(at) = self.open.remove(&instance) else { return };
        self.ended.push(Mistake {
            instance,
            instances: 1,
            stage: Stage::Registry,
            at,
            lasted: now.since(at),
            corrected,
            count: 1,
        });
    }

    /// Mistakes that last.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// All of them, by time and instance.
    pub(super) fn finish(mut self, now: SimTime) -> Vec<Mistake> {
        for instance in self.open.keys().copied().collect::<Vec<_>>() {
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
