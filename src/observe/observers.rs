//! Who looks on, and what each shows: the observers' places, their local registries and balancer lists.
//!
//! An observer has two *slots*, one for each of its stages. Slots that show the same view are counted together, so
//! that a question about all observers is asked once for each view that is held.

use std::collections::BTreeMap;

use crate::engine::SimTime;
use crate::model::id::{ClientId, InstanceId, ServerId};
use crate::model::stage::Stage;
use crate::model::view::View;

/// No place.
pub(super) const NOBODY: u32 = u32::MAX;

/// When an observer noticed something, and whose answer it had then. As large as it must be: there is one for each
/// mark that observers keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(Rust, packed(4))]
pub(super) struct Noticed {
    at: SimTime,
    server: u32,
}

impl Noticed {
    /// What was not noticed at any time.
    pub(super) const NEVER: Self = Self { at: SimTime::MAX, server: NOBODY };

    /// At this moment, while this server was the one that had answered last.
    pub(super) fn new(at: SimTime, server: Option<ServerId>) -> Self {
        Self { at, server: server.map_or(NOBODY, |server| server.0) }
    }

    /// When.
    pub(super) fn at(self) -> SimTime {
        self.at
    }

    /// Whose answer it had; `None`: nobody's yet.
    pub(super) fn server(self) -> Option<ServerId> {
        let server = self.server;
        (server != NOBODY).then_some(ServerId(server))
    }
}

/// All observers of a replicate.
#[derive(Default)]
pub(super) struct Observers {
    /// A client's place among the observers, or [`NOBODY`].
    places: Vec<u32>,
    /// What each shows; `None` while it is down.
    shown: Vec<Option<[View; 2]>>,
    /// The instance that each is, or was when it was up.
    own: Vec<InstanceId>,
    /// Whether each stage of it ever held anything: who has no balancer never holds a list.
    was_shown: Vec<[bool; 2]>,
    /// How many slots show each view.
    held: BTreeMap<View, u32>,
    /// Who answered each one's last fetch.
    answered_by: Vec<Option<ServerId>>,
    /// Who answers the first fetch of whoever comes up, if there is no choice.
    lone_server: Option<ServerId>,
}

/// The stages of an observer, as they are numbered here.
pub(super) const STAGES: [Stage; 2] = [Stage::Client, Stage::Balancer];

/// The number of an observer's stage among its own.
pub(super) const fn number_of(stage: Stage) -> usize {
    stage as usize - Stage::Client as usize
}

impl Observers {
    /// Nobody yet. There is just this server, if there is one only.
    pub(super) fn new(lone_server: Option<ServerId>) -> Self {
        Self { lone_server, ..Self::default() }
    }

    /// A client exists; `observes` if its views count.
    pub(super) fn add(&mut self, client: ClientId, observes: bool) {
        if self.places.len() <= client.index() {
            self.places.resize(client.index() + 1, NOBODY);
        }
        if observes {
            self.places[client.index()] = self.shown.len() as u32;
            self.shown.push(None);
            self.own.push(InstanceId(u32::MAX));
            self.was_shown.push([false; 2]);
            self.answered_by.push(self.lone_server);
        }
    }

    /// A client's place, if it observes.
    pub(super) fn place(&self, client: ClientId) -> Option<u32> {
        Some(self.places[client.index()]).filter(|&place| place != NOBODY)
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    /// An observer comes up as `instance`, with empty hands.
    pub(super) fn start(&mut self, place: u32, instance: InstanceId) {
        self.stop(place);
        self.shown[place as usize] = Some([View::EMPTY; 2]);
        self.own[place as usize] = instance;
        self.answered_by[place as usize] = self.lone_server;
        *self.held.entry(View::EMPTY).or_insert(0) += 2;
    }

    /// An observer goes down.
    pub(super) fn stop(&mut self, place: u32) {
        for view in self.shown[place as usize].take().into_iter().flatten() {
            self.release(view);
        }
    }

    /// One of an observer's stages shows another view; returns the one before, or `None` if it is down.
    pub(super) fn change(&mut self, (place, stage): (u32, usize), to: View) -> Option<View> {
        let from = std::mem::replace(&mut self.shown[place as usize].as_mut()?[stage], to);
        *self.held.entry(to).or_insert(0) += 1;
        self.release(from);
        self.was_shown[place as usize][stage] = true;
        Some(from)
    }

    fn release(&mut self, view: View) {
        let count = self.held.get_mut(&view).expect("a view that is shown is counted");
        *count -= 1;
        if *count == 0 {
            self.held.remove(&view);
        }
    }

    /// What an observer shows; `None` while it is down.
    pub(super) fn shown(&self, place: u32) -> Option<[View; 2]> {
        self.shown[place as usize]
    }

    /// A server has answered an observer's fetch.
    pub(super) fn answer(&mut self, place: u32, server: ServerId) {
        self.answered_by[place as usize] = Some(server);
    }

    /// Who answered an observer's last fetch; `None`: nobody since it came up.
    pub(super) fn answered_by(&self, place: u32) -> Option<ServerId> {
        self.answered_by[place as usize]
    }

    /// Whether a stage of an observer ever held anything.
    pub(super) fn was_shown(&self, place: u32, stage: usize) -> bool {
        self.was_shown[place as usize][stage]
    }

    /// Every observer's place and what it shows, of those that are up.
    pub(super) fn up(&self) -> impl Iterator<Item = (u32, [View; 2])> + '_ {
        let places = self.shown.iter().enumerate();
        places.filter_map(|(place, shown)| shown.map(|views| (place as u32, views)))
    }

    /// The instance that an observer is, or was.
    pub(super) fn own(&self, place: u32) -> InstanceId {
        self.own[place as usize]
    }

    /// The views that are held, and by how many slots.
    pub(super) fn held(&self) -> impl Iterator<Item = (View, u32)> + '_ {
        self.held.iter().map(|(&view, &slots)| (view, slots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_twelve_bytes_and_tells_what_it_was_told() {
        assert_eq!(size_of::<Noticed>(), 8 + 4);
        let noticed = Noticed::new(SimTime::from_millis(7), Some(ServerId(2)));
        assert_eq!((noticed.at(), noticed.server()), (SimTime::from_millis(7), Some(ServerId(2))));
        assert_eq!(Noticed::NEVER.server(), None);
    }
}
