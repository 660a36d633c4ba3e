//! Places for what is on its way. An event names a place; whatever lies there is taken out when nobody will ask for it
//! any more, and the place is used again. So a place carries a generation, by which a late event finds out that what it
//! meant is gone.

/// Places, the last freed used first.
#[derive(Clone)]
pub(super) struct Places<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

#[derive(Clone)]
struct Place<T> {
    generation: u16,
    held: Option<T>,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Places<T> {
    /// Takes off; returns the place.
    #[inline]
    pub(super) fn take_off(&mut self, it: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.places[number as usize].held = Some(it);
                number
            }
            None => {
                self.places.push(Place { generation: 0, held: Some(it) });
                self.places.len() as u32 - 1
            }
        }
    }

    /// What is at a place that is taken.
    #[inline]
    pub(super) fn at(&self, number: u32) -> &T {
        self.places[number as usize].held.as_ref().expect("an event points at what has landed")
    }

    /// The same, to change.
    #[inline]
    pub(super) fn at_mut(&mut self, number: u32) -> &mut T {
        self.places[number as usize].held.as_mut().expect("an event points at what has landed")
    }

    /// The generation of a place.
    pub(super) fn generation(&self, number: u32) -> u16 {
        self.places[number as usize].generation
    }

    /// Whether what was there in that generation is still on its way.
    pub(super) fn is_current(&self, number: u32, generation: u16) -> bool {
        let place = &self.places[number as usize];
        place.generation == generation && place.held.is_some()
    }

    /// Lands: frees the place and returns what was there.
    #[inline]
    pub(super) fn land(&mut self, number: u32) -> T {
        let place = &mut self.places[number as usize];
        let it = place.held.take().expect("nothing lands twice");
        place.generation = place.generation.wrapping_add(1);
        self.free.push(number);
        it
    }
}
