//! The servers that a client knows, and the order in which it tries them.
//! Source: `AsyncResolver`, `ResolverUtils.randomize`; `eureka-client.md` 6.3.
//!
//! The list is shuffled fairly at each start and at each refresh, as releases from 1.10.14 on do. Earlier
//! ones keep one order for a host; zones, lists from DNS and lists from the registry itself are left out.

use std::net::Ipv4Addr;

use crate::engine::{Dice, Purpose, SimDuration};
use crate::model::id::ServerId;

/// The servers that a client is configured with.
#[derive(Clone, Copy, Debug)]
pub struct ServerUrls<'a> {
    /// Those of its own zone: the first one of `availability-zones`. They are always tried first.
    pub own_zone: &'a [ServerId],
    /// Those of the other zones.
    pub other_zones: &'a [ServerId],
    /// The client's own address: what [`super::ServerOrder::ByHost`] goes by.
    pub address: Ipv4Addr,
}

impl<'a> ServerUrls<'a> {
    /// Servers that are all in the one zone there is.
    pub const fn in_one_zone(servers: &'a [ServerId]) -> Self {
        Self { own_zone: servers, other_zones: &[], address: Ipv4Addr::LOCALHOST }
    }
}

/// The registry servers that a client knows, in the order in which it tries them.
#[derive(Clone, Debug)]
pub(super) enum Servers {
    /// The only one.
    One(ServerId),
    /// Several.
    Many(Box<ServerList>),
}

/// A server list of several.
#[derive(Clone, Debug)]
pub(super) struct ServerList {
    order: Vec<ServerId>,
    /// Whether its refresh timer runs: from the first request on.
    polled: bool,
}

impl Servers {
    /// Time between two refreshes of the list (`eurekaServiceUrlPollIntervalSeconds`, default).
    pub(super) const REFRESH_INTERVAL: SimDuration = SimDuration::from_secs(300);

    /// The list as configured. An empty list is allowed: every request then fails at once.
    pub(super) fn new(configured: &[ServerId]) -> Self {
        match configured {
            [only] => Self::One(*only),
            several => Self::Many(Box::new(ServerList { order: several.to_vec(), polled: false })),
        }
    }

    /// The list in force.
    pub(super) fn order(&self) -> &[ServerId] {
        match self {
            Self::One(only) => std::slice::from_ref(only),
            Self::Many(list) => &list.order,
        }
    }

    /// Shuffles the list, fairly, as releases from 1.10.14 on do (`ResolverUtils.randomize`).
    pub(super) fn shuffle(&mut self, dice: &mut Dice<'_>, purpose: Purpose) {
        if let Self::Many(list) = self {
            for left in (2..=list.order.len()).rev() {
                list.order.swap(left - 1, dice.below(purpose, left as u64) as usize);
            }
        }
    }

    /// Notes that the process has just started.
    pub(super) fn reset(&mut self) {
        if let Self::Many(list) = self {
            list.polled = false;
        }
    }

    /// Notes a request; true for the first of a list that is worth refreshing (`AsyncResolver`).
    pub(super) fn starts_polling(&mut self) -> bool {
        match self {
            Self::One(_) => false,
            Self::Many(list) => !std::mem::replace(&mut list.polled, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Answer, RTT, Rig, at_ms, healthy, secs};
    use super::*;
    use crate::engine::SimTime;
    use crate::model::eureka::Flavour;
    use crate::model::message::{Failure, RequestKind};

    fn servers(count: u32) -> Vec<ServerId> {
        (0..count).map(ServerId).collect()
    }

    /// The servers that heartbeats were sent to from `from_ms` on, in order.
    fn heartbeats_to(rig: &Rig, from_ms: u64) -> Vec<u32> {
        let sent = rig.sent(RequestKind::Renew).into_iter();
        sent.filter(|(at, _, _)| *at >= at_ms(from_ms)).map(|(_, _, to)| to.0).collect()
    }

    #[test]
    fn every_order_of_three_is_drawn() {
        let mut rig = Rig::new(Flavour::Spring);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut list = Servers::new(&servers(3));
            rig.step(|_, _, step| list.shuffle(&mut step.dice, Purpose(2)));
            *seen.entry(list.order().to_vec()).or_insert(0) += 1;
        }
        // 1,000 of each of the 6 expected, with a standard deviation of 29.
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&count| (880..1_120).contains(&count)), "{seen:?}");
    }

    #[test]
    fn a_client_stays_where_it_was_answered() {
        let mut rig = Rig::with_servers(Flavour::Spring, &servers(5));
        rig.config.sessioned_client_reconnect_interval_seconds = 1_000_000;
        rig.start();
        rig.run_to(at_ms(3_000_000));
        let to = heartbeats_to(&rig, 0);
        assert!(to.len() > 90 && to.iter().all(|server| *server == to[0]));
        // Both stacks walk the same list, so fetches go there too.
        assert!(rig.sent(RequestKind::FetchDelta).iter().all(|(_, _, server)| server.0 == to[0]));
    }

    #[test]
    fn a_dead_server_is_left_within_the_same_heartbeat() {
        let mut rig = Rig::with_servers(Flavour::Spring, &servers(2));
        rig.config.sessioned_client_reconnect_interval_seconds = 1_000_000;
        rig.start();
        rig.run_to(at_ms(40_000));
        let dead = heartbeats_to(&rig, 0)[0];
        rig.answer(move |_, request, to, registry| {
            if to.0 == dead { Answer::Fail(RTT, Failure::Refused) } else { healthy(request, registry) }
        });
        rig.run_to(at_ms(61_000));
        // The delegate was first in the list: it is tried twice.
        assert_eq!(heartbeats_to(&rig, 50_000), [dead, dead, 1 - dead]);
        assert!(rig.client.is_registered());
    }

    #[test]
    fn the_list_is_shuffled_anew_every_five_minutes() {
        let mut rig = Rig::with_servers(Flavour::Spring, &servers(50));
        rig.start();
        let order = |rig: &Rig| rig.client.servers.order().to_vec();
        let at_start = order(&rig);
        rig.run_to(at_ms(299_999));
        assert_eq!(order(&rig), at_start);
        rig.run_to(at_ms(300_000));
        let refreshed = order(&rig);
        assert_ne!(refreshed, at_start);
        rig.run_to(at_ms(600_000));
        assert_ne!(order(&rig), refreshed);
    }

    #[test]
    fn a_session_ends_after_half_to_one_and_a_half_of_its_base() {
        let mut rig = Rig::with_servers(Flavour::Spring, &servers(50));
        rig.start();
        rig.run_to(at_ms(40_000_000));
        let to = heartbeats_to(&rig, 0);
        let moves = to.windows(2).filter(|pair| pair[0] != pair[1]).count();
        // 40,000 s of sessions of 1,200 s on the average: about 33; at least 40,000 / 1,830, at most 40,000 /
        // 600.
        assert!((21..=66).contains(&moves), "{moves} moves");
    }

    #[test]
    fn without_servers_every_request_fails_at_once() {
        let mut rig = Rig::with_servers(Flavour::Spring, &[]);
        rig.start();
        rig.run_to(SimTime::ZERO + secs(100));
        assert!(rig.log.is_empty());
        assert!(rig.client.is_running() && !rig.client.is_registered());
    }
}
