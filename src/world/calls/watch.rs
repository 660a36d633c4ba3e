//! A caller's list while its calls are made one by one: who is at which place, as far as that matters.
//!
//! A client shuffles what it fetched (`eureka-client.md` 3.6), so every caller has an order of its own. Only the
//! places of those who are or were in trouble are drawn, when they first are: the others are all alike.

use std::rc::Rc;

use crate::engine::{Purpose, Rng};
use crate::model::id::InstanceId;

/// Which places of the list are whose.
const PLACES: Purpose = Purpose(2);

/// A list and some of its order.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    list: Rc<[InstanceId]>,
    /// Places that are drawn, by instance.
    places: Vec<(InstanceId, u32)>,
    /// The same by place.
    instances: Vec<(u32, InstanceId)>,
    /// By instance: the probability that a call to it is lost, where that is not the usual one.
    losses: Vec<(InstanceId, f64)>,
}

impl Watch {
    /// A list, nobody's place in it known.
    pub(super) const fn new(list: Rc<[InstanceId]>, losses: Vec<(InstanceId, f64)>) -> Self {
        Self { list, places: Vec::new(), instances: Vec::new(), losses }
    }

    /// Who is in the list.
    pub(super) const fn list(&self) -> &Rc<[InstanceId]> {
        &self.list
    }

    /// Whose link is not the usual one.
    pub(super) fn losses(&self) -> &[(InstanceId, f64)] {
        &self.losses
    }

    /// Links have changed.
    pub(super) fn set_losses(&mut self, losses: Vec<(InstanceId, f64)>) {
        self.losses = losses;
    }

    /// Draws the places of those in trouble, and of those with bad links, that have none yet.
    pub(super) fn place(&mut self, faulty: &[InstanceId], rng: &mut Rng<'_>) {
        let bad_links = self.losses.iter().map(|&(instance, _)| instance);
        let is_new =
            |instance: &InstanceId| self.places.binary_search_by_key(instance, |placed| placed.0).is_err();
        let mut new: Vec<InstanceId> = faulty.iter().copied().chain(bad_links).filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        new.sort_unstable();
        new.dedup();
        let mut taken = vec![false; self.list.len()];
        for &(place, _) in &self.instances {
            taken[place as usize] = true;
        }
        let mut free: Vec<u32> = (0..self.list.len() as u32).filter(|&at| !taken[at as usize]).collect();
        for instance in new {
            let drawn = rng.below(PLACES, free.len() as u64) as usize;
            let place = free.swap_remove(drawn);
            self.places.push((instance, place));
            self.instances.push((place, instance));
        }
        self.places.sort_unstable();
        self.instances.sort_unstable();
    }

    /// Who is at a place; `None` for somebody who never was in trouble.
    pub(super) fn instance_at(&self, place: u32) -> Option<InstanceId> {
        let at = self.instances.binary_search_by_key(&place, |placed| placed.0).ok()?;
        Some(self.instances[at].1)
    }

    /// The probability that a call to the instance is lost, if that is not the usual one.
    pub(super) fn loss_to(&self, instance: InstanceId) -> Option<f64> {
        let at = self.losses.binary_search_by_key(&instance, |loss| loss.0).ok()?;
        Some(self.losses[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Seed, Streams};

    fn list(size: u32) -> Rc<[InstanceId]> {
        (0..size).map(InstanceId).collect()
    }

    #[test]
    fn a_place_is_drawn_once_and_is_nobody_elses() {
        let (seed, mut streams) = (Seed::new(3, 0), Streams::of("test"));
        let mut rng = streams.with(&seed);
        let mut watch = Watch::new(list(20), vec![(InstanceId(3), 0.5)]);
        watch.place(&[InstanceId(7)], &mut rng);
        let before = watch.places.clone();
        assert_eq!(before.iter().map(|placed| placed.0.0).collect::<Vec<_>>(), [3, 7]);
        let all: Vec<InstanceId> = list(20).to_vec();
        watch.place(&all, &mut rng);
        assert!(before.iter().all(|placed| watch.places.contains(placed)));
        let mut found: Vec<InstanceId> = (0..20).filter_map(|place| watch.instance_at(place)).collect();
        found.sort_unstable();
        assert_eq!(found, all);
        assert_eq!((watch.loss_to(InstanceId(3)), watch.loss_to(InstanceId(4))), (Some(0.5), None));
    }

    /// Each of ten places is the one's with probability 1/10: 10,000 of 100,000 with a deviation of 95; five of them.
    #[test]
    fn places_are_fair() {
        let (seed, mut streams) = (Seed::new(3, 0), Streams::of("test"));
        let mut rng = streams.with(&seed);
        let mut seen = [0_u32; 10];
        for _ in 0..100_000 {
            let mut watch = Watch::new(list(10), Vec::new());
            watch.place(&[InstanceId(2), InstanceId(9)], &mut rng);
            seen[watch.instances.iter().find(|placed| placed.1 == InstanceId(9)).unwrap().0 as usize] += 1;
        }
        assert!(seen.iter().all(|count| count.abs_diff(10_000) < 475), "{seen:?}");
    }
}
