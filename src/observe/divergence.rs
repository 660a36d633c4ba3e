//! How far several servers agree: for each instance the status that each server's registry shows, kept from facts.
//!
//! Two servers disagree about an instance if one has it and the other has not, or with another status. A fact about
//! one instance is looked at in as many steps as there are servers; only a server that comes or goes costs a walk over
//! all instances. Heartbeats are no facts, so that they cost nothing.
//!
//! What is so for no time at all is not told: several facts of one moment count as one change.

use super::data::Divergence;
use super::replicate::ReplicateData;
use super::servers::Servers;
use crate::engine::{NANOS_PER_S, SimTime};
use crate::model::id::{InstanceId, ServerId};
use crate::model::view::Presence;

/// What one byte says of a registry that does not have the instance; any other is one more than its status.
const ABSENT: u8 = 0;

/// The record of a replicate.
#[derive(Clone)]
pub(super) struct Divergences {
    /// What each registry shows, by instance and server.
    shown: Vec<u8>,
    servers: usize,
    /// The last moment of which anything was told, and how it stands since.
    now: DivergenceState,
    /// How it stood before that moment; none if nothing was ever told.
    before: Option<DivergenceState>,
    rows: Vec<Divergence>,
}

/// How it stands from a moment on.
#[derive(Clone, Copy, Default)]
struct DivergenceState {
    at: SimTime,
    servers: u32,
    differing: u32,
}

impl Divergences {
    /// All of so many servers are down.
    pub(super) fn new(servers: usize) -> Self {
        Self { shown: Vec::new(), servers, now: DivergenceState::default(), before: None, rows: Vec::new() }
    }

    /// A server's registry shows this of an instance. Nothing is kept of a lone server, here and below.
    pub(super) fn show(
        &mut self,
        (server, instance): (ServerId, InstanceId),
        presence: Presence,
        now: SimTime,
        servers: &Servers,
    ) {
        if self.servers == 1 {
            return;
        }
        let first = instance.index() * self.servers;
        if self.shown.len() < first + self.servers {
            self.shown.resize(first + self.servers, ABSENT);
        }
        let before = self.differs(instance.index(), servers);
        self.shown[first + server.index()] = match presence {
            Presence::Absent => ABSENT,
            Presence::Present(status) => status as u8 + 1,
        };
        let after = self.differs(instance.index(), servers);
        if before != after {
            self.pass(now);
            self.now.differing = if after { self.now.differing + 1 } else { self.now.differing - 1 };
        }
    }

    /// A server has started, with an empty registry, or has ended, and its registry with it: `servers` says so already.
    pub(super) fn begin_anew(&mut self, server: ServerId, now: SimTime, servers: &Servers) {
        if self.servers == 1 {
            return;
        }
        self.pass(now);
        self.shown.iter_mut().skip(server.index()).step_by(self.servers).for_each(|shown| *shown = ABSENT);
        let instances = self.shown.len() / self.servers;
        let differing = (0..instances).filter(|&instance| self.differs(instance, servers)).count();
        (self.now.servers, self.now.differing) = (servers.up_count(), differing as u32);
    }

    /// All rows, by time.
    pub(super) fn finish(mut self) -> Vec<Divergence> {
        self.settle();
        self.rows
    }

    /// Whether two servers that run disagree about an instance.
    fn differs(&self, instance: usize, servers: &Servers) -> bool {
        let first = instance * self.servers;
        let mut shown = servers.up().map(|server| self.shown[first + server]);
        shown.next().is_some_and(|one| shown.any(|other| other != one))
    }

    /// Something changes now: what changed at an earlier moment is a row.
    fn pass(&mut self, now: SimTime) {
        if self.now.at < now || self.before.is_none() {
            self.settle();
            self.before = Some(self.now);
            self.now.at = now;
        }
    }

    fn settle(&mut self) {
        let Some(before) = self.before else { return };
        let DivergenceState { at, servers, differing } = self.now;
        if (servers, differing) == (before.servers, before.differing) {
            return;
        }
        let second = |at: SimTime| at.as_nanos() / NANOS_PER_S;
        // What stood before this moment stood in the same second, unless that begins just here.
        let stood = if at.as_nanos() % NANOS_PER_S == 0 { 0 } else { before.differing };
        let row = Divergence { at, servers, differing, differing_max: differing.max(stood) };
        match self.rows.last_mut().filter(|last| second(last.at) == second(at)) {
            Some(last) => {
                *last = Divergence { differing_max: row.differing_max.max(last.differing_max), ..row }
            }
            None => self.rows.push(row),
        }
    }
}

impl ReplicateData {
    /// How many instances servers disagreed about at this moment; 0 before the first server started.
    pub fn differing_at(&self, at: SimTime) -> u32 {
        let rows = self.divergence.partition_point(|row| row.at <= at);
        rows.checked_sub(1).map_or(0, |row| self.divergence[row].differing)
    }

    /// The most instances that servers disagreed about at any moment from this one on, to the second: what they
    /// disagreed about earlier in the second of a change counts too.
    pub fn differing_max_from(&self, from: SimTime) -> u32 {
        let later = self.divergence.iter().filter(|row| row.at > from);
        later.map(|row| row.differing_max).max().unwrap_or(0).max(self.differing_at(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Status;
    use crate::observe::layout::Layout;

    const UP: Presence = Presence::Present(Status::Up);
    const DOWN: Presence = Presence::Present(Status::Down);

    struct Scene {
        servers: Servers,
        divergences: Divergences,
    }

    impl Scene {
        fn new(servers: usize) -> Self {
            let mut scene = Self {
                servers: Servers::new(Layout::of_eureka(servers)),
                divergences: Divergences::new(servers),
            };
            (0..servers as u32).for_each(|server| scene.set_up(server, true, 0));
            scene
        }

        fn set_up(&mut self, server: u32, up: bool, at_ms: u64) {
            self.servers.set_up(ServerId(server), up);
            self.divergences.begin_anew(ServerId(server), SimTime::from_millis(at_ms), &self.servers);
        }

        fn show(&mut self, server: u32, instance: u32, presence: Presence, at_ms: u64) {
            let pair = (ServerId(server), InstanceId(instance));
            self.divergences.show(pair, presence, SimTime::from_millis(at_ms), &self.servers);
        }

        /// (ms, servers, differing, the most of the second)
        fn rows(self) -> Vec<(u64, u32, u32, u32)> {
            let rows = self.divergences.finish();
            let told = |row: &Divergence| (row.at.as_millis(), row.servers, row.differing, row.differing_max);
            rows.iter().map(told).collect()
        }
    }

    #[test]
    fn an_instance_differs_while_two_servers_show_different_things_of_it() {
        let mut scene = Scene::new(3);
        // Half a second from server to server, then a status that one server alone has for 2 s.
        for (server, at_ms) in [(0, 1_200), (1, 1_700), (2, 2_300)] {
            scene.show(server, 0, UP, at_ms);
        }
        scene.show(1, 0, DOWN, 5_000);
        scene.show(1, 0, UP, 7_000);
        let expected = [(0, 3, 0, 0), (1_200, 3, 1, 1), (2_300, 3, 0, 1), (5_000, 3, 1, 1), (7_000, 3, 0, 0)];
        assert_eq!(scene.rows(), expected);
    }

    #[test]
    fn the_last_of_a_second_is_told_and_the_most_of_it() {
        let mut scene = Scene::new(2);
        for instance in 0..4 {
            scene.show(0, instance, UP, 1_100);
        }
        // Three are settled at once, the fourth within the same second.
        for (instance, at_ms) in [(0, 1_400), (1, 1_400), (2, 1_400), (3, 1_600)] {
            scene.show(1, instance, UP, at_ms);
        }
        assert_eq!(scene.rows(), [(0, 2, 0, 0), (1_600, 2, 0, 4)]);
    }

    #[test]
    fn what_is_so_for_no_time_is_not_told() {
        let mut scene = Scene::new(2);
        scene.show(0, 0, UP, 1_000);
        scene.show(1, 0, UP, 1_000);
        // It restarts and has copied its peer's registry in the same moment.
        scene.set_up(1, false, 3_000);
        scene.set_up(1, true, 9_000);
        scene.show(1, 0, UP, 9_000);
        assert_eq!(scene.rows(), [(0, 2, 0, 0), (3_000, 1, 0, 0), (9_000, 2, 0, 0)]);
    }

    #[test]
    fn a_server_that_restarts_empty_differs_in_all_that_the_other_has() {
        let mut scene = Scene::new(2);
        for (server, instance) in [(0, 0), (0, 1), (1, 0)] {
            scene.show(server, instance, UP, 500);
        }
        scene.set_up(1, false, 1_500);
        scene.set_up(1, true, 2_500);
        scene.show(1, 1, UP, 2_750);
        let expected = [(500, 2, 1, 1), (1_500, 1, 0, 1), (2_750, 2, 1, 2)];
        assert_eq!(scene.rows(), expected);
    }

    #[test]
    fn nothing_is_kept_of_a_lone_server() {
        let mut scene = Scene::new(1);
        scene.show(0, 0, UP, 500);
        scene.set_up(0, false, 900);
        assert!(scene.divergences.shown.is_empty());
        assert!(scene.rows().is_empty());
    }
}
