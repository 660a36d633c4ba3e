//! A slab with generations: what an event names by a number stays at its place until it is taken out, and the place is
//! used again. So a place counts how often that has happened, by which a late event finds out that what it meant is
//! gone.

/// Things by place, the last freed place used first.
#[derive(Clone)]
pub(in crate::world) struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

#[derive(Clone)]
struct Place<T> {
    generation: u16,
    held: Option<T>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Puts it somewhere; returns the place.
    #[inline]
    pub(in crate::world) fn insert(&mut self, it: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize].held = Some(it);
                place
            }
            None => {
                self.places.push(Place { generation: 0, held: Some(it) });
                self.places.len() as u32 - 1
            }
        }
    }

    /// What is at a place that is taken.
    #[inline]
    pub(in crate::world) fn get(&self, place: u32) -> &T {
        self.places[place as usize].held.as_ref().expect("an event names what is still there")
    }

    /// The same, to change.
    #[inline]
    pub(in crate::world) fn get_mut(&mut self, place: u32) -> &mut T {
        self.places[place as usize].held.as_mut().expect("an event names what is still there")
    }

    /// The generation of a place.
    pub(in crate::world) fn generation(&self, place: u32) -> u16 {
        self.places[place as usize].generation
    }

    /// Whether what was there in that generation still is.
    pub(in crate::world) fn is_current(&self, place: u32, generation: u16) -> bool {
        let place = &self.places[place as usize];
        place.generation == generation && place.held.is_some()
    }

    /// Frees the place and returns what was there.
    #[inline]
    pub(in crate::world) fn remove(&mut self, place: u32) -> T {
        let freed = &mut self.places[place as usize];
        let it = freed.held.take().expect("nothing is removed twice");
        freed.generation = freed.generation.wrapping_add(1);
        self.free.push(place);
        it
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_used_again_in_another_generation() {
        let mut slab = Slab::default();
        let first = slab.insert("first");
        let generation = slab.generation(first);
        assert_eq!((*slab.get(first), slab.is_current(first, generation)), ("first", true));
        assert_eq!(slab.remove(first), "first");
        assert!(!slab.is_current(first, generation));
        assert_eq!(slab.insert("second"), first);
        assert!(!slab.is_current(first, generation) && slab.is_current(first, slab.generation(first)));
        assert_eq!(slab.insert("third"), first + 1);
    }

    #[test]
    fn the_place_that_was_freed_last_is_used_first() {
        let mut slab = Slab::default();
        let places: Vec<u32> = (0..3).map(|it| slab.insert(it)).collect();
        slab.remove(places[0]);
        slab.remove(places[2]);
        assert_eq!([slab.insert(7), slab.insert(8), slab.insert(9)], [places[2], places[0], 3]);
    }
}
