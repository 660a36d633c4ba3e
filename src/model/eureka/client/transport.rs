//! The transport below the client: which server an attempt goes to, when it is given up, and which answers
//! end a request.
//!
//! A client has two stacks, one for registrations and heartbeats and one for fetches. Each keeps a *delegate*
//! (the connection that worked last), a *quarantine* of servers that failed, and a *session* whose end drops
//! both. Sources: `RetryableEurekaHttpClient`, `SessionedEurekaHttpClient`, `ServerStatusEvaluators`;
//! `eureka-client.md` section 6. Redirects are left out, and so are the retries that HttpClient 5 makes by
//! itself on 429 and 503, which no registry server here answers.

use std::num::NonZeroU16;

use super::{TransportConfig, TransportKind};
use crate::engine::{Purpose, Rng, SimDuration};
use crate::model::clock::WallMs;
use crate::model::effect::Call;
pub use crate::model::effect::Silence;
use crate::model::id::ServerId;
use crate::model::message::{Failure, RequestKind};

/// Attempts that one request may take (`RetryableEurekaHttpClient`, not configurable).
const ATTEMPTS_MAX: u8 = 3;

impl TransportConfig {
    /// How long an attempt waits for a silent peer, and how it then fails (`eureka-client.md` 6.6), as
    /// [`Self::pooled`] has it. See [`Self::call_gives_up_after`] for a call that is known to be fresh.
    pub fn gives_up_after(&self, silence: Silence) -> (SimDuration, Failure) {
        match silence {
            Silence::BlackHole if !self.pooled => (self.connect_limit(), Failure::ConnectTimeout),
            Silence::BlackHole | Silence::Paused => (self.read_limit(), Failure::ReadTimeout),
        }
    }

    /// As [`Self::gives_up_after`], but a [fresh](Call::is_fresh) call finds no pooled connection and must
    /// connect first.
    pub fn call_gives_up_after(&self, call: Call, silence: Silence) -> (SimDuration, Failure) {
        Self { pooled: self.pooled && !call.is_fresh(), ..*self }.gives_up_after(silence)
    }

    /// Whether an answer with `status` ends a request (`ServerStatusEvaluators.legacyEvaluator`); any other
    /// counts as a failed attempt.
    pub(super) fn accepts(&self, kind: RequestKind, status: u16) -> bool {
        // WebClient's filter takes 400 for 200 (`WebClientTransportClientFactory`).
        let rewritten = self.kind == TransportKind::WebClient && status == 400;
        let success = (200..300).contains(&status) || status == 302 || rewritten;
        match kind {
            RequestKind::Renew => success || (status == 404 && self.understands_not_found),
            RequestKind::Register => success || status == 404,
            RequestKind::FetchDelta => success || status == 403 || status == 404,
            // RestTemplate throws on a 5xx before the evaluator sees it.
            RequestKind::Cancel => self.kind != TransportKind::RestTemplate || status < 500,
            RequestKind::FetchFull
            | RequestKind::Status
            | RequestKind::Replicate
            | RequestKind::FetchService
            | RequestKind::Watch => success,
        }
    }
}

/// A connection: the server and a number that tells it from others to the same server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Connection {
    server: ServerId,
    number: NonZeroU16,
}

/// Servers that failed, in the order in which they did.
#[derive(Clone, Debug)]
struct Quarantine(Vec<ServerId>);

/// One of the two stacks.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    delegate: Option<Connection>,
    /// Wall clock at which the session is over; the first request always finds it over.
    session_ends: WallMs,
    session: u16,
    /// Connections opened so far, round and round.
    connections: u16,
    quarantine: Option<Box<Quarantine>>,
}

/// How far one request has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    current: Option<Connection>,
    /// The session in which the request began: an older one's outcome does not touch the stack.
    session: u16,
    made: u8,
    /// Servers taken from the list.
    taken: u8,
    /// Whether the current connection was taken from the list.
    listed: bool,
    /// The list that is walked; `None` before it is needed, and always for a single server.
    walk: Option<Box<Walk>>,
}

#[derive(Clone, Debug)]
struct Walk(Vec<ServerId>);

impl Attempts {
    /// Whether both are at the same connection of one stack.
    pub(super) fn shares_connection(&self, other: &Self) -> bool {
        self.session == other.session && self.current.is_some() && self.current == other.current
    }
}

/// The share of the list that may be in quarantine (`retryableClientQuarantineRefreshPercentage`), as a
/// number of servers.
fn quarantine_threshold(servers: usize, share: f64) -> usize {
    ((servers as f64 * share) as usize).min(servers)
}

impl Default for Stack {
    fn default() -> Self {
        Self { delegate: None, session_ends: WallMs(i64::MIN), session: 0, connections: 0, quarantine: None }
    }
}

impl Stack {
    /// Begins a request: opens a new session if the old one is over (`SessionedEurekaHttpClient.execute`). A
    /// session lasts 0.5 to 1.5 times `base_s` seconds, uniformly.
    pub(super) fn begin(
        &mut self,
        now: WallMs,
        base_s: u32,
        rng: &mut Rng<'_>,
        purpose: Purpose,
    ) -> Attempts {
        if now >= self.session_ends {
            let base_ms = u64::from(base_s) * 1_000;
            let length_ms = base_ms / 2 + if base_ms == 0 { 0 } else { rng.below(purpose, base_ms) };
            self.session_ends = now.plus(length_ms as i64);
            self.session = self.session.wrapping_add(1);
            self.delegate = None;
            self.quarantine = None;
        }
        Attempts { session: self.session, ..Attempts::default() }
    }

    /// Where the next attempt goes, and whether over a fresh connection; `None` when the request has failed:
    /// three attempts were made, or the list is at its end (`RetryableEurekaHttpClient.execute`).
    pub(super) fn next(
        &mut self,
        attempts: &mut Attempts,
        servers: &[ServerId],
        quarantine_share: f64,
    ) -> Option<(ServerId, bool)> {
        if attempts.made == ATTEMPTS_MAX {
            return None;
        }
        attempts.made += 1;
        if let Some(delegate) = self.delegate.filter(|_| attempts.session == self.session) {
            attempts.current = Some(delegate);
            attempts.listed = false;
            return Some((delegate.server, false));
        }
        let server = self.take_from_list(attempts, servers, quarantine_share)?;
        let number = NonZeroU16::new(self.connections.wrapping_add(1)).unwrap_or(NonZeroU16::MIN);
        self.connections = number.get();
        attempts.current = Some(Connection { server, number });
        attempts.listed = true;
        Some((server, true))
    }

    /// The answer was accepted: the connection becomes the delegate. It does not end the quarantine.
    pub(super) fn accept(&mut self, attempts: &Attempts) {
        if attempts.session == self.session {
            self.delegate = attempts.current;
        }
    }

    /// The attempt failed. A server from the list is quarantined; a failing delegate is not.
    pub(super) fn fail(&mut self, attempts: &Attempts, servers: usize) {
        if attempts.session != self.session {
            return;
        }
        if self.delegate == attempts.current {
            self.delegate = None;
        }
        // A single server's quarantine is cleared as soon as anybody looks (threshold 0).
        if let Some(connection) = attempts.current.filter(|_| attempts.listed && servers > 1) {
            let quarantine = &mut self.quarantine.get_or_insert_with(|| Box::new(Quarantine(Vec::new()))).0;
            if !quarantine.contains(&connection.server) {
                quarantine.push(connection.server);
            }
        }
    }

    fn take_from_list(
        &mut self,
        attempts: &mut Attempts,
        servers: &[ServerId],
        quarantine_share: f64,
    ) -> Option<ServerId> {
        if servers.len() > 1 && attempts.walk.is_none() {
            attempts.walk = Some(Box::new(Walk(self.candidates(servers, quarantine_share))));
        }
        let list = attempts.walk.as_ref().map_or(servers, |walk| &walk.0);
        let server = list.get(usize::from(attempts.taken)).copied();
        attempts.taken += 1;
        server
    }

    /// The list without the quarantined, unless too many are (`getHostCandidates`).
    fn candidates(&mut self, servers: &[ServerId], share: f64) -> Vec<ServerId> {
        let Some(quarantine) = &mut self.quarantine else {
            return servers.to_vec();
        };
        quarantine.0.retain(|server| servers.contains(server));
        if quarantine.0.is_empty() || quarantine.0.len() >= quarantine_threshold(servers.len(), share) {
            self.quarantine = None;
            return servers.to_vec();
        }
        servers.iter().copied().filter(|server| !quarantine.0.contains(server)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: f64 = 0.66;

    fn servers(count: u32) -> Vec<ServerId> {
        (0..count).map(ServerId).collect()
    }

    /// A stack in the middle of a session.
    fn stack() -> Stack {
        Stack { session_ends: WallMs(i64::MAX), ..Stack::default() }
    }

    /// Runs one request; `alive` servers accept. Returns the servers tried.
    fn request(stack: &mut Stack, servers: &[ServerId], alive: &[u32]) -> Vec<u32> {
        let mut attempts = Attempts { session: stack.session, ..Attempts::default() };
        let mut tried = Vec::new();
        while let Some((server, _)) = stack.next(&mut attempts, servers, SHARE) {
            tried.push(server.0);
            if alive.contains(&server.0) {
                stack.accept(&attempts);
                break;
            }
            stack.fail(&attempts, servers.len());
        }
        tried
    }

    #[test]
    fn thresholds_are_two_thirds_rounded_down() {
        let thresholds: Vec<usize> = (1..=10).map(|n| quarantine_threshold(n, SHARE)).collect();
        assert_eq!(thresholds, [0, 1, 1, 2, 3, 3, 4, 5, 5, 6]);
        assert_eq!(quarantine_threshold(4, 1.5), 4); // Netflix #1012
    }

    #[test]
    fn one_server_is_tried_twice_only_if_it_worked_before() {
        let mut stack = stack();
        assert_eq!(request(&mut stack, &servers(1), &[]), [0]);
        assert_eq!(request(&mut stack, &servers(1), &[0]), [0]);
        assert_eq!(request(&mut stack, &servers(1), &[]), [0, 0]); // the delegate, then the list
        assert_eq!(request(&mut stack, &servers(1), &[]), [0]);
    }

    #[test]
    fn four_servers_the_first_two_dead_cost_one_call() {
        let mut stack = stack();
        assert_eq!(request(&mut stack, &servers(4), &[0, 1, 2, 3]), [0]);
        // Delegate 0, then the list 0, 1; quarantine {0, 1} reaches the threshold 2 and is cleared.
        assert_eq!(request(&mut stack, &servers(4), &[2, 3]), [0, 0, 1]);
        assert_eq!(request(&mut stack, &servers(4), &[2, 3]), [0, 1, 2]);
        assert_eq!(request(&mut stack, &servers(4), &[2, 3]), [2]); // sticky
    }

    #[test]
    fn four_to_six_servers_the_first_three_dead_are_never_left() {
        for count in 4..=6 {
            let mut stack = stack();
            for _ in 0..10 {
                // 3 in quarantine against thresholds of 2, 3 and 3: cleared (Netflix #998).
                assert_eq!(request(&mut stack, &servers(count), &[3, 4, 5]), [0, 1, 2]);
            }
        }
    }

    #[test]
    fn a_server_listed_in_four_zones_can_be_locked_out() {
        let (mut stack, list) = (stack(), [ServerId(0); 4]);
        assert_eq!(request(&mut stack, &list, &[]), [0, 0, 0]);
        // 1 in quarantine against a threshold of 2: nobody is left, well or not (Netflix #1208).
        assert!(request(&mut stack, &list, &[0]).is_empty());
        stack.quarantine = None; // as a new session does
        assert_eq!(request(&mut stack, &list, &[0]), [0]);
    }

    #[test]
    fn a_new_session_forgets_delegate_and_quarantine() {
        let mut rig = super::super::harness::Rig::new(crate::model::eureka::Flavour::Spring);
        let mut stack = stack();
        assert_eq!(request(&mut stack, &servers(7), &[1]), [0, 1]);
        stack.session_ends = WallMs(1_000);
        let mut begin = |now| {
            rig.step(|_, _, step| {
                stack.begin(WallMs(now), 1_200, &mut step.rng, Purpose(0));
            });
            (stack.delegate.is_some(), stack.quarantine.is_some(), stack.session_ends.0)
        };
        assert_eq!(begin(999), (true, true, 1_000));
        let (delegate, quarantine, ends) = begin(1_000); // the session is over at its length
        assert!(!delegate && !quarantine);
        assert!((601_000..1_801_000).contains(&ends), "{ends}"); // 10 to 30 min
    }

    #[test]
    fn seven_servers_the_first_three_dead_take_two_calls() {
        let mut stack = stack();
        assert_eq!(request(&mut stack, &servers(7), &[3]), [0, 1, 2]);
        assert_eq!(request(&mut stack, &servers(7), &[3]), [3]); // 3 < threshold 4: the rest of the list
    }

    #[test]
    fn success_does_not_end_the_quarantine() {
        let mut stack = stack();
        assert_eq!(request(&mut stack, &servers(7), &[1]), [0, 1]);
        // Delegate 1 fails without being quarantined; 0 still is.
        assert_eq!(request(&mut stack, &servers(7), &[2]), [1, 1, 2]);
    }

    #[test]
    fn two_servers_forget_at_once() {
        let mut stack = stack();
        assert_eq!(request(&mut stack, &servers(2), &[1]), [0, 1]);
        assert_eq!(request(&mut stack, &servers(2), &[0]), [1, 0]); // 1 >= threshold 1: cleared, the whole list
    }

    #[test]
    fn an_old_session_does_not_touch_the_new_one() {
        let mut stack = stack();
        let mut old = Attempts { session: stack.session, ..Attempts::default() };
        assert!(stack.next(&mut old, &servers(2), SHARE).is_some());
        stack.session += 1;
        stack.accept(&old);
        assert!(stack.delegate.is_none());
        stack.fail(&old, 2);
        assert!(stack.quarantine.is_none());
    }

    #[test]
    fn a_failing_older_connection_does_not_drop_the_delegate() {
        let mut stack = stack();
        let servers = servers(1);
        let mut hung = Attempts::default();
        stack.next(&mut hung, &servers, SHARE);
        let mut other = Attempts::default();
        stack.next(&mut other, &servers, SHARE);
        stack.accept(&other);
        stack.fail(&hung, 1);
        assert!(stack.delegate.is_some());
    }

    #[test]
    fn answers_are_accepted_by_operation() {
        let jersey = TransportConfig::of_kind(TransportKind::Jersey);
        let accepted = |kind| {
            [200, 204, 302, 400, 403, 404, 500]
                .into_iter()
                .filter(|&s| jersey.accepts(kind, s))
                .collect::<Vec<_>>()
        };
        assert_eq!(accepted(RequestKind::Register), [200, 204, 302, 404]);
        assert_eq!(accepted(RequestKind::Renew), [200, 204, 302, 404]);
        assert_eq!(accepted(RequestKind::FetchDelta), [200, 204, 302, 403, 404]);
        assert_eq!(accepted(RequestKind::FetchFull), [200, 204, 302]);
        assert_eq!(accepted(RequestKind::Cancel), [200, 204, 302, 400, 403, 404, 500]);
        let template = TransportConfig::of_kind(TransportKind::RestTemplate);
        assert!(!template.accepts(RequestKind::Cancel, 500));
        let deaf = TransportConfig { understands_not_found: false, ..jersey };
        assert!(!deaf.accepts(RequestKind::Renew, 404) && deaf.accepts(RequestKind::Register, 404));
    }

    #[test]
    fn silent_peers_cost_a_connect_or_a_read_limit() {
        let secs = SimDuration::from_secs;
        let jersey = TransportConfig::of_kind(TransportKind::Jersey);
        assert_eq!(jersey.gives_up_after(Silence::BlackHole), (secs(5), Failure::ConnectTimeout));
        assert_eq!(jersey.gives_up_after(Silence::Paused), (secs(8), Failure::ReadTimeout));
        let rest = TransportConfig::of_kind(TransportKind::RestClient);
        assert_eq!(rest.gives_up_after(Silence::BlackHole), (secs(180), Failure::ReadTimeout));
        // A fresh connection: the operating system gives up before the configured 180 s.
        let fresh = rest.call_gives_up_after(Call::numbered(1, true), Silence::BlackHole);
        assert_eq!(fresh, (super::super::OS_CONNECT_LIMIT, Failure::ConnectTimeout));
        let pooled = rest.call_gives_up_after(Call::numbered(1, false), Silence::BlackHole);
        assert_eq!(pooled, (secs(180), Failure::ReadTimeout));
    }
}
