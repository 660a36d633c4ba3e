//! What one server's replay has to know of the others: to whom it tells what, and how much of what it hears from them
//! nobody recorded.

use std::collections::BTreeMap;
use std::rc::Rc;

use stillup::model::eureka::ServerEffect;
use stillup::model::id::{InstanceId, ServerId};

use super::LAG_MS;
use super::links::Links;
use crate::golden_replay::TIE_MS;

/// A heartbeat that a server answered with 200.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat {
    pub(super) at_ms: i64,
    pub(super) server: ServerId,
    pub(super) instance: InstanceId,
}

/// What all replays of a recording share.
#[derive(Debug, Default)]
pub(super) struct Hearsay {
    /// By time.
    pub(super) beats: Vec<Beat>,
    /// Moments at which somebody was killed: a call in flight may have arrived.
    pub(super) kills_ms: Vec<i64>,
    pub(super) heartbeat_ms: i64,
    pub(super) links: Links,
}

/// A server's place among its peers. The default is a server that stands alone.
#[derive(Debug)]
pub(crate) struct Membership {
    /// Itself.
    pub(super) server: ServerId,
    /// Whom it tells.
    pub(crate) peers: Vec<ServerId>,
    /// What it has to tell, and the settings of its peers' timers.
    pub(crate) outbox: Vec<ServerEffect>,
    /// By instance: when it registered with any server, by their logs.
    pub(crate) registered_ms: Rc<BTreeMap<String, Vec<i64>>>,
    /// By so much the renewals of the last minute may differ.
    pub(crate) slack: u32,
    pub(super) hearsay: Rc<Hearsay>,
}

impl Default for Membership {
    fn default() -> Self {
        Self {
            server: ServerId(0),
            peers: Vec::new(),
            outbox: Vec::new(),
            registered_ms: Rc::default(),
            slack: 0,
            hearsay: Rc::default(),
        }
    }
}

impl Membership {
    pub(crate) fn is_one_of_many(&self) -> bool {
        !self.peers.is_empty()
    }

    /// The minute from `since_ms` to `now_ms` is closed. It may hold one renewal more or less for each that was under
    /// way at its edges: one that a peer passed on takes up to [`LAG_MS`], one of its own up to [`TIE_MS`] since the
    /// bucket's tick is not logged; and for each that a peer had to tell while their link was unsettled, unless it
    /// cannot have got through.
    pub(crate) fn take_slack(&mut self, since_ms: i64, now_ms: i64) {
        if !self.is_one_of_many() {
            return;
        }
        let edges = [since_ms, now_ms];
        let uncertain = |beat: &Beat| {
            let own = beat.server == self.server;
            let lag_ms = if own { 0 } else { LAG_MS };
            let under_way =
                |edge_ms: i64| (edge_ms - lag_ms - TIE_MS..=edge_ms + TIE_MS).contains(&beat.at_ms);
            if own {
                return u32::from(edges.into_iter().any(under_way));
            }
            let (from, to, links) = (beat.server, self.server, &self.hearsay.links);
            let expiry_ms = beat.at_ms + self.hearsay.heartbeat_ms;
            if links.is_out_of_reach(from, to, beat.at_ms, expiry_ms) {
                return 0;
            }
            let unsettled = (since_ms - self.hearsay.heartbeat_ms..now_ms).contains(&beat.at_ms)
                && links.is_unsettled(from, to, beat.at_ms, beat.at_ms + LAG_MS);
            if unsettled || edges.into_iter().any(under_way) {
                links.tellings_max(from, to, beat.at_ms, expiry_ms)
            } else {
                0
            }
        };
        let killed = self.hearsay.kills_ms.iter().filter(|&&at_ms| (since_ms..now_ms).contains(&at_ms));
        self.slack = self.hearsay.beats.iter().map(uncertain).sum::<u32>() + killed.count() as u32;
    }

    /// How much earlier or later a lease may have been renewed that was renewed here at `renewed_ms`, ms: not at all,
    /// if its owner calls this server itself.
    pub(crate) fn lag_ms(&self, instance: InstanceId, renewed_ms: i64, now_ms: i64) -> i64 {
        let Some(home) = self.home(instance, now_ms).filter(|&home| home != self.server) else { return 0 };
        let links = &self.hearsay.links;
        let unsettled = links.is_unsettled(home, self.server, renewed_ms - LAG_MS, renewed_ms)
            && !links.is_out_of_reach(home, self.server, renewed_ms - LAG_MS, renewed_ms);
        LAG_MS + TIE_MS + if unsettled { self.hearsay.heartbeat_ms } else { 0 }
    }

    /// The server that answered the instance last.
    fn home(&self, instance: InstanceId, now_ms: i64) -> Option<ServerId> {
        let beats = self.hearsay.beats.iter().rev().filter(|beat| beat.at_ms <= now_ms);
        beats.filter(|beat| beat.instance == instance).map(|beat| beat.server).next()
    }
}
