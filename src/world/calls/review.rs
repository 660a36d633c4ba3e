//! When something changes: calls up to now are made with everything as it was, and then the change is taken in.

use super::conditions::Condition;
use super::line::{Line, Phase};
use super::{Calls, World};
use crate::engine::{SimDuration, SimTime};
use crate::model::id::{ClientId, InstanceId, ServerId};
use crate::model::view::View;
use crate::world::event::Event;

/// A watched caller may be quiet again. That is looked for so seldom, since whoever was in trouble may be so again
/// soon, and to watch somebody for too long changes nothing.
const SWEPT_EVERY: SimDuration = SimDuration::from_secs(60);

/// What has changed since the last review.
struct Changes {
    /// Processes, and how they are now.
    conditions: Vec<(ClientId, Condition)>,
    /// By application: whether callers may notice that one of its processes is not as it was.
    noticed: Vec<bool>,
    /// Links may have.
    links: bool,
    /// The registry or its answers have ceased to show somebody dead, or show one again.
    blame: bool,
    /// Processes that were touched, each once.
    touched: Vec<ClientId>,
}

impl Changes {
    /// Whether the calls of lines to others are not as they were.
    fn concern_others(&self) -> bool {
        self.links || self.blame || self.noticed.contains(&true)
    }

    /// Whether the calls of a line are not as they were.
    fn concern(&self, calls: &Calls, line: &Line) -> bool {
        self.links || self.blame || self.noticed[calls.pairs[line.pair].callee.index()]
    }
}

impl World<'_> {
    /// A process starts, ends, stands still or goes on.
    #[inline]
    pub(in crate::world) fn touch(&mut self, client: ClientId) {
        if let Some(calls) = &mut self.calls {
            calls.touched.push(client);
        }
    }

    /// A client has taken a step: it may have begun to call, or hold another list.
    #[inline]
    pub(in crate::world) fn caller_stepped(&mut self, client: ClientId, now: SimTime) {
        let Some(calls) = &self.calls else { return };
        if self.caller_has_changed(calls, client) {
            let mut calls = self.calls.take().expect("just looked at");
            self.review_caller(&mut calls, client, now);
            self.calls = Some(calls);
        }
    }

    /// After an event: takes in what it has changed.
    #[inline]
    pub(in crate::world) fn review_calls(&mut self, event: Event, now: SimTime) {
        let Some(calls) = &self.calls else { return };
        let changes_much = calls.may_change_all(event);
        let servers_show_others = !self.servers_show(&calls.servers);
        if changes_much || !calls.touched.is_empty() || servers_show_others || now >= calls.next_sweep {
            let mut calls = self.calls.take().expect("just looked at");
            self.take_in_changes(&mut calls, changes_much, now);
            self.calls = Some(calls);
        }
    }

    fn take_in_changes(&mut self, calls: &mut Calls, changes_much: bool, now: SimTime) {
        let changes = self.changes(calls, changes_much);
        for &client in &changes.touched {
            for number in calls.callers[client.index()].lines.clone() {
                self.settle(calls, number, now);
            }
        }
        if changes.concern_others() {
            for number in 0..calls.lines.len() {
                let line = &calls.lines[number];
                if line.next_call < now && changes.concern(calls, line) {
                    self.settle(calls, number, now);
                }
            }
        }
        self.note_changes(calls, &changes);
        if changes.links || changes.noticed.contains(&true) {
            for number in 0..calls.lines.len() {
                self.follow_changes(calls, &changes, number, now);
            }
        }
        for &client in &changes.touched {
            if self.caller_has_changed(calls, client) {
                self.review_caller(calls, client, now);
            }
        }
        if now >= calls.next_sweep {
            self.sweep(calls, now);
        }
    }

    fn changes(&self, calls: &mut Calls, changes_much: bool) -> Changes {
        let mut touched = std::mem::take(&mut calls.touched);
        if changes_much {
            touched.extend((0..self.clients.len() as u32).map(ClientId));
        }
        touched.sort_unstable();
        touched.dedup();
        let mut noticed = vec![false; self.members.len()];
        let mut conditions = Vec::new();
        for &client in &touched {
            let node = &self.clients[client.index()];
            if !calls.is_called(node.app) {
                continue;
            }
            let condition = self.condition_of(calls, client);
            if condition != calls.conditions[client.index()] {
                conditions.push((client, condition));
                // The first process of an identity is in nobody's list.
                let identities = [calls.conditions[client.index()].instance, condition.instance];
                noticed[node.app.index()] |=
                    identities.into_iter().any(|instance| self.views.was_ever_registered(instance));
            }
        }
        let blame = !self.servers_show(&calls.servers) && {
            let servers = self.server_views();
            let flipped = |(&instance, shown): (&_, &Box<_>)| self.shown_by(&servers, instance) != *shown;
            calls.shown_dead.iter().any(flipped)
        };
        Changes { conditions, noticed, links: changes_much && calls.links_fail, blame, touched }
    }

    /// What each server's registry and answers show now.
    pub(super) fn server_views(&self) -> Vec<[View; 2]> {
        (0..self.servers.len() as u32).map(|server| self.recorder.server_views(ServerId(server))).collect()
    }

    /// Whether they are just these.
    fn servers_show(&self, known: &[[View; 2]]) -> bool {
        known.iter().zip(0..).all(|(views, server)| *views == self.recorder.server_views(ServerId(server)))
    }

    /// Which of these show an instance.
    pub(super) fn shown_by(&self, servers: &[[View; 2]], instance: InstanceId) -> Box<[[bool; 2]]> {
        servers.iter().map(|views| views.map(|view| self.views.is_up(view, instance))).collect()
    }

    /// From now on things are as they are now.
    fn note_changes(&self, calls: &mut Calls, changes: &Changes) {
        if !self.servers_show(&calls.servers) {
            calls.servers = self.server_views();
            for (&instance, shown) in &mut calls.shown_dead {
                *shown = self.shown_by(&calls.servers, instance);
            }
            // Who is in none does not come back to any.
            calls.shown_dead.retain(|_, shown| shown.iter().flatten().any(|&shown| shown));
        }
        for &(client, condition) in &changes.conditions {
            let before = std::mem::replace(&mut calls.conditions[client.index()], condition);
            let stands = |condition: &Condition| u32::from(condition.stands_until != SimTime::ZERO);
            calls.stands_still = calls.stands_still + stands(&condition) - stands(&before);
            for instance in [before.instance, condition.instance] {
                if before.is_alive_as(instance) && !condition.is_alive_as(instance) {
                    self.note_dead(calls, instance);
                }
            }
        }
        if !changes.conditions.is_empty() {
            calls.standings.clear();
        }
    }

    /// A line is watched as soon as somebody in its list is in trouble.
    fn follow_changes(&mut self, calls: &mut Calls, changes: &Changes, number: usize, now: SimTime) {
        let line = &calls.lines[number];
        let callee = calls.pairs[line.pair].callee;
        let is_affected = match line.phase {
            Phase::Silent => false,
            Phase::Watched(_) => changes.links,
            Phase::Quiet if changes.links => true,
            Phase::Quiet => {
                let view = line.view;
                changes.noticed[callee.index()] && !self.list_state(calls, view, callee).faulty.is_empty()
            }
        };
        if is_affected {
            self.review_line(calls, number, now);
        }
    }

    fn sweep(&mut self, calls: &mut Calls, now: SimTime) {
        calls.next_sweep = now + SWEPT_EVERY;
        for number in 0..calls.lines.len() {
            let line = &calls.lines[number];
            let Phase::Watched(watch) = &line.phase else { continue };
            let (is_empty, bad_links) = (watch.list().is_empty(), !watch.losses().is_empty());
            let (view, callee) = (line.view, calls.pairs[line.pair].callee);
            if !is_empty && !bad_links && self.list_state(calls, view, callee).faulty.is_empty() {
                self.review_line(calls, number, now);
            }
        }
    }

    fn review_caller(&mut self, calls: &mut Calls, client: ClientId, now: SimTime) {
        let lines = calls.callers[client.index()].lines.clone();
        // What was called before saw the local registry as it was.
        lines.clone().for_each(|number| self.settle(calls, number, now));
        calls.callers[client.index()].state = Some(self.caller_state(client));
        calls.callers[client.index()].asks = self.clients[client.index()].asks;
        lines.for_each(|number| self.review_line(calls, number, now));
    }

    fn caller_has_changed(&self, calls: &Calls, client: ClientId) -> bool {
        let caller = &calls.callers[client.index()];
        !caller.lines.is_empty() && caller.state != Some(self.caller_state(client))
    }
}
