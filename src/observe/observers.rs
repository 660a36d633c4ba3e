//! Who looks on, and what each shows: the observers' places, their local registries and balancer lists.
//!
//! An observer has a *slot* for each of its stages: two, or one where the registry has no balancer. Slots that show the
//! same view, of observers that look at the same applications, are counted together, so that a question about all
//! observers is asked once for each view that is held.

use std::collections::BTreeMap;

use super::layout::Layout;
use super::scopes::{EVERYTHING, ObservedServices, Scope, Scopes};
use crate::engine::SimTime;
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
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
#[derive(Clone)]
pub(super) struct Observers {
    layout: Layout,
    /// What observers look at.
    pub(super) scopes: Scopes,
    /// A client's place among the observers, or [`NOBODY`], and its application.
    clients: Vec<(u32, AppId)>,
    /// What each looks at.
    scope: Vec<Scope>,
    /// What each shows; `None` while it is down.
    shown: Vec<Option<[View; 2]>>,
    /// The instance that each is, or was when it was up.
    own: Vec<InstanceId>,
    /// Whether each stage of it ever held anything: who has no balancer never holds a list.
    was_shown: Vec<[bool; 2]>,
    /// How many slots of each scope show each view.
    held: BTreeMap<(Scope, View), u32>,
    /// Who answered each one's last fetch.
    answered_by: Vec<Option<ServerId>>,
}

/// The stages of an observer, as they are numbered here. A registry may lack the last.
pub(super) const STAGES: [Stage; 2] = [Stage::Client, Stage::Balancer];

/// The number of an observer's stage among its own.
pub(super) const fn number_of(stage: Stage) -> usize {
    stage as usize - Stage::Client as usize
}

impl Observers {
    /// Nobody yet.
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            scopes: Scopes::default(),
            clients: Vec::new(),
            scope: Vec::new(),
            shown: Vec::new(),
            own: Vec::new(),
            was_shown: Vec::new(),
            held: BTreeMap::new(),
            answered_by: Vec::new(),
        }
    }

    /// A client of `app` exists, and looks at these.
    pub(super) fn add(&mut self, client: ClientId, app: AppId, observed_services: ObservedServices<'_>) {
        if self.clients.len() <= client.index() {
            self.clients.resize(client.index() + 1, (NOBODY, app));
        }
        self.clients[client.index()] = (NOBODY, app);
        let scope = match observed_services {
            ObservedServices::Nothing => return,
            ObservedServices::Everything => EVERYTHING,
            ObservedServices::Services(services) => self.scopes.number_of(services),
        };
        self.clients[client.index()].0 = self.shown.len() as u32;
        self.scope.push(scope);
        self.shown.push(None);
        self.own.push(InstanceId(u32::MAX));
        self.was_shown.push([false; 2]);
        self.answered_by.push(self.lone_server());
    }

    /// The stages of each.
    pub(super) fn stages(&self) -> &'static [Stage] {
        self.layout.of_observer
    }

    /// What an observer looks at.
    pub(super) fn scope(&self, place: u32) -> Scope {
        self.scope[place as usize]
    }

    /// Whether an observer looks at an instance.
    pub(super) fn observed_services(&self, place: u32, instance: InstanceId) -> bool {
        self.scopes.sees(self.scope(place), instance)
    }

    /// Who answers the first fetch of whoever comes up, if there is no choice.
    fn lone_server(&self) -> Option<ServerId> {
        (self.layout.servers == 1).then_some(ServerId(0))
    }

    /// A client's place, if it observes.
    pub(super) fn place(&self, client: ClientId) -> Option<u32> {
        Some(self.clients[client.index()].0).filter(|&place| place != NOBODY)
    }

    /// A client's process registers as `instance`, or would.
    pub(super) fn is_now(&mut self, client: ClientId, instance: InstanceId) {
        self.scopes.set_app(instance, self.clients[client.index()].1);
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
        self.answered_by[place as usize] = self.lone_server();
        let slots = self.stages().len() as u32;
        *self.held.entry((self.scope(place), View::EMPTY)).or_insert(0) += slots;
    }

    /// An observer goes down.
    pub(super) fn stop(&mut self, place: u32) {
        let slots = self.stages().len();
        for view in
            self.shown[place as usize].take().into_iter().flat_map(|shown| shown.into_iter().take(slots))
        {
            self.release(place, view);
        }
    }

    /// One of an observer's stages shows another view; returns the one before, or `None` if it is down.
    pub(super) fn change(&mut self, (place, stage): (u32, usize), to: View) -> Option<View> {
        assert!(stage < self.stages().len(), "the registry has this stage");
        let from = std::mem::replace(&mut self.shown[place as usize].as_mut()?[stage], to);
        *self.held.entry((self.scope(place), to)).or_insert(0) += 1;
        self.release(place, from);
        self.was_shown[place as usize][stage] = true;
        Some(from)
    }

    fn release(&mut self, place: u32, view: View) {
        let key = (self.scope(place), view);
        let count = self.held.get_mut(&key).expect("a view that is shown is counted");
        *count -= 1;
        if *count == 0 {
            self.held.remove(&key);
        }
    }

    /// What an observer shows, by stage; `None` while it is down.
    pub(super) fn shown(&self, place: u32) -> Option<&[View]> {
        self.shown[place as usize].as_ref().map(|shown| &shown[..self.stages().len()])
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
    pub(super) fn up(&self) -> impl Iterator<Item = (u32, &[View])> + '_ {
        (0..self.len() as u32).filter_map(|place| Some((place, self.shown(place)?)))
    }

    /// The instance that an observer is, or was.
    pub(super) fn own(&self, place: u32) -> InstanceId {
        self.own[place as usize]
    }

    /// The views that are held: by observers that look at what, and by how many slots of these.
    pub(super) fn held(&self) -> impl Iterator<Item = ((Scope, View), u32)> + '_ {
        self.held.iter().map(|(&held, &slots)| (held, slots))
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
