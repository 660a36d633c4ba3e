//! The servers that a client knows, and the order in which it tries them.
//! Source: `ZoneAffinityClusterResolver`, `AsyncResolver`, `ResolverUtils.randomize`; `eureka-client.md` 6.3.
//!
//! Servers of the client's own zone come first; within its own zone, and within the rest, the release decides
//! ([`super::ServerOrder`]). Either way the order has nothing to do with the one in the configuration, but that
//! a biased shuffle starts from there. Preferring the own zone cannot be switched off: `prefer-same-zone-eureka`
//! changes the order before the shuffle, and so nothing. Lists from DNS and from the registry itself are left
//! out.
//!
//! The list is refreshed without any server being asked, so a refresh always succeeds, and at once.

use std::net::Ipv4Addr;

use super::java_random::{JavaRandom, java_hash_code};
use super::{ClientConfig, ServerOrder, purpose};
use crate::engine::{Rng, SimDuration};
use crate::model::id::ServerId;

/// The servers that a client is configured with, as its settings list them. One that is listed twice, in two
/// zones, counts twice (Netflix #1208).
#[derive(Clone, Copy, Debug)]
pub struct ServerUrls<'a> {
    /// Those of its own zone: the first one of `availability-zones`. They are always tried first.
    pub own_zone: &'a [ServerId],
    /// Those of the other zones, zone by zone.
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
    /// The only one: nothing to order, nothing to refresh.
    One(ServerId),
    /// Several, or none.
    Many(Box<ServerList>),
}

/// A server list of several.
#[derive(Clone, Debug)]
pub(super) struct ServerList {
    /// The servers of the own zone, then the others; before the first start as configured.
    order: Box<[ServerId]>,
    /// How many of them are in the own zone.
    own_zone: u32,
    address: Ipv4Addr,
    /// Whether they are in their host's order, which never changes.
    in_hosts_order: bool,
    /// Whether its refresh timer runs: from the first request on.
    polled: bool,
}

impl Servers {
    /// The list as configured. An empty list is allowed: every request then fails at once.
    pub(super) fn new(urls: ServerUrls<'_>) -> Self {
        match (urls.own_zone, urls.other_zones) {
            ([only], []) | ([], [only]) => Self::One(*only),
            (own, others) => Self::Many(Box::new(ServerList {
                order: own.iter().chain(others).copied().collect(),
                own_zone: own.len() as u32,
                address: urls.address,
                in_hosts_order: false,
                polled: false,
            })),
        }
    }

    /// The list in force.
    pub(super) fn order(&self) -> &[ServerId] {
        match self {
            Self::One(only) => std::slice::from_ref(only),
            Self::Many(list) => &list.order,
        }
    }

    /// Works the list out anew: at each start of a process, and at each refresh.
    pub(super) fn resolve(&mut self, order: ServerOrder, rng: &mut Rng<'_>) {
        let Self::Many(list) = self else { return };
        if order == ServerOrder::ByHost && list.in_hosts_order {
            return;
        }
        list.in_hosts_order = order == ServerOrder::ByHost;
        let seed = java_hash_code(&list.address.to_string());
        let (own, others) = list.order.split_at_mut(list.own_zone as usize);
        for zone in [own, others] {
            match order {
                ServerOrder::Shuffled => shuffle(zone, rng),
                ServerOrder::ByHost => order_by_host(zone, seed),
            }
        }
    }

    /// Holds the servers in one order, for tests.
    #[cfg(test)]
    pub(super) fn hold(&mut self, order: &[u32]) {
        let Self::Many(list) = self else { panic!("one server is in order") };
        list.order = order.iter().copied().map(ServerId).collect();
        list.in_hosts_order = true;
    }

    /// Notes that the process has just started.
    pub(super) fn reset(&mut self) {
        if let Self::Many(list) = self {
            list.polled = false;
        }
    }

    /// Notes a request; true for the first one of a list that refreshes can change (`AsyncResolver`).
    pub(super) fn starts_polling(&mut self) -> bool {
        match self {
            Self::One(_) => false,
            Self::Many(list) => !list.in_hosts_order && !std::mem::replace(&mut list.polled, true),
        }
    }
}

impl ClientConfig {
    /// From one refresh of the server list to the next; the first counts from the first request. The original
    /// hands this setting to the resolver of the configured list, and `asyncResolverRefreshIntervalMs` only to
    /// that of a list from the registry (`EurekaHttpClients.defaultBootstrapResolver`).
    pub(super) fn server_list_interval(&self) -> SimDuration {
        SimDuration::from_secs(u64::from(self.eureka_service_url_poll_interval_seconds))
    }
}

/// A fair permutation (`ResolverUtils.randomize` from 1.10.14 on).
fn shuffle(zone: &mut [ServerId], rng: &mut Rng<'_>) {
    for left in (2..=zone.len()).rev() {
        zone.swap(left - 1, rng.below(purpose::SERVER_ORDER, left as u64) as usize);
    }
}

/// The host's permutation (`ResolverUtils.randomize` up to 1.10.13). It is not fair: the place drawn for what
/// is left does not start at what is left, so a server that has its place can be moved again.
fn order_by_host(zone: &mut [ServerId], seed: i32) {
    let mut random = JavaRandom::new(seed);
    for at in 0..zone.len().saturating_sub(1) {
        zone.swap(at, random.below((zone.len() - at) as u32) as usize);
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
            let mut list = Servers::new(ServerUrls::in_one_zone(&servers(3)));
            rig.step(|_, _, step| list.resolve(ServerOrder::Shuffled, &mut step.rng));
            *seen.entry(list.order().to_vec()).or_insert(0) += 1;
        }
        // 1,000 of each of the 6 expected, with a standard deviation of 29.
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&count| (880..1_120).contains(&count)), "{seen:?}");
    }

    /// The order of `count` servers, configured as 0, 1, …, for a host.
    fn order_of_host(address: Ipv4Addr, count: u32) -> Vec<u32> {
        let mut rig = Rig::new(Flavour::Spring);
        let mut list = Servers::new(ServerUrls { address, ..ServerUrls::in_one_zone(&servers(count)) });
        rig.step(|_, _, step| list.resolve(ServerOrder::ByHost, &mut step.rng));
        list.order().iter().map(|server| server.0).collect()
    }

    #[test]
    fn of_254_neighbours_9_pick_the_first_of_two_servers() {
        let firsts: Vec<u8> =
            (1..255).filter(|&host| order_of_host(Ipv4Addr::new(10, 0, 1, host), 2)[0] == 0).collect();
        assert_eq!(firsts, [1, 2, 3, 4, 5, 6, 7, 8, 9]); // as `eureka-client.md` 6.3 counts them
    }

    #[test]
    fn an_order_by_host_prefers_the_second_of_three() {
        let mut firsts = [0; 3];
        for (net, host) in (0..16).flat_map(|net| (1..255).map(move |host| (net, host))) {
            firsts[order_of_host(Ipv4Addr::new(10, net, 77, host), 3)[0] as usize] += 1;
        }
        // 4,064 hosts; ideal seeds would give 1/3, 1/2 and 1/6 of them: 1,355, 2,032 and 677.
        assert!(firsts[1] > firsts[0] && firsts[0] > firsts[2] && firsts[2] > 0, "{firsts:?}");
    }

    #[test]
    fn a_host_keeps_its_order_and_draws_nothing() {
        let address = Ipv4Addr::new(10, 0, 1, 3);
        let mut rig =
            Rig::with_urls(Flavour::Spring, ServerUrls { address, ..ServerUrls::in_one_zone(&servers(4)) });
        rig.config.server_order = ServerOrder::ByHost;
        for _ in 0..3 {
            rig.start();
            rig.run_to(at_ms(1_000_000));
            // hash("10.0.1.3") = 511553129 draws the places 0 of 4, 1 of 3 and 0 of 2: first 0 and 1 stay, then 2
            // and 0 change places.
            assert_eq!(rig.client.servers.order(), [2, 1, 0, 3].map(ServerId));
            rig.step(|client, _, _| client.on_crash());
        }
        rig.step(|_, _, step| {
            let first = step.rng.bits(purpose::SERVER_ORDER);
            let mut untouched = Rig::new(Flavour::Spring);
            untouched.step(|_, _, step| assert_eq!(step.rng.bits(purpose::SERVER_ORDER), first));
        });
    }

    #[test]
    fn a_single_server_costs_no_draw_no_timer_and_no_memory() {
        assert!(size_of::<Servers>() <= 16, "{} bytes", size_of::<Servers>());
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(1_000_000));
        assert!(matches!(rig.client.servers, Servers::One(_)));
        assert!(!rig.client.servers.starts_polling());
        rig.step(|_, _, step| {
            let first = step.rng.bits(purpose::SERVER_ORDER);
            let mut untouched = Rig::new(Flavour::Spring);
            untouched.step(|_, _, step| assert_eq!(step.rng.bits(purpose::SERVER_ORDER), first));
        });
    }

    #[test]
    fn the_own_zone_comes_first_whatever_the_order() {
        let (own, others) = ([ServerId(3), ServerId(4)], [ServerId(0), ServerId(1), ServerId(2)]);
        let urls = ServerUrls { own_zone: &own, other_zones: &others, address: Ipv4Addr::new(10, 0, 1, 1) };
        let mut rig = Rig::new(Flavour::Spring);
        let mut list = Servers::new(urls);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..300 {
            rig.step(|_, _, step| list.resolve(ServerOrder::Shuffled, &mut step.rng));
            let mut zones = list.order().to_vec();
            seen.insert(zones.clone());
            zones[..2].sort();
            zones[2..].sort();
            assert_eq!(zones, [own.as_slice(), &others].concat());
        }
        assert_eq!(seen.len(), 2 * 6);
        // By host each zone is shuffled from the same seed: of two the first place stays, of three it does not.
        let mut list = Servers::new(urls);
        rig.step(|_, _, step| list.resolve(ServerOrder::ByHost, &mut step.rng));
        let three = order_of_host(urls.address, 3);
        let expected: Vec<ServerId> = [3, 4].into_iter().chain(three).map(ServerId).collect();
        assert_eq!(list.order(), expected);
    }

    #[test]
    fn a_zone_without_servers_is_no_hindrance() {
        let mut rig = Rig::new(Flavour::Spring);
        let others = servers(2);
        let mut list =
            Servers::new(ServerUrls { own_zone: &[], other_zones: &others, ..ServerUrls::in_one_zone(&[]) });
        rig.step(|_, _, step| list.resolve(ServerOrder::Shuffled, &mut step.rng));
        assert_eq!(list.order().len(), 2);
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
    fn the_poll_interval_is_how_often_the_list_is_shuffled() {
        let mut rig = Rig::with_servers(Flavour::Spring, &servers(50));
        rig.config.eureka_service_url_poll_interval_seconds = 40;
        rig.start();
        let at_start = rig.client.servers.order().to_vec();
        rig.run_to(at_ms(39_999));
        assert_eq!(rig.client.servers.order(), at_start);
        rig.run_to(at_ms(40_000));
        assert_ne!(rig.client.servers.order(), at_start);
    }

    #[test]
    fn by_host_a_new_session_goes_back_to_the_first_server() {
        let address = Ipv4Addr::new(10, 0, 1, 200); // the second of two
        let mut rig =
            Rig::with_urls(Flavour::Spring, ServerUrls { address, ..ServerUrls::in_one_zone(&servers(2)) });
        rig.config.server_order = ServerOrder::ByHost;
        // Server 1 is away for two minutes.
        rig.answer(|now, request, to, registry| {
            let away = (100_000..220_000).contains(&now.as_millis()) && to.0 == 1;
            if away { Answer::Fail(RTT, Failure::Refused) } else { healthy(request, registry) }
        });
        rig.start();
        rig.run_to(at_ms(2_300_000));
        let to = heartbeats_to(&rig, 0);
        assert_eq!(to[..6], [1, 1, 1, 1, 1, 0]); // 30 to 90 s; at 120 s the delegate, the list's head, the other
        // A session lasts 600 to 1,800 s: server 0 is kept until the next one begins, for good after that.
        let back = to.iter().skip(6).position(|&server| server == 1).expect("back") + 6;
        assert!((16..=62).contains(&back) && to[back..].iter().all(|&server| server == 1), "{back}");
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
