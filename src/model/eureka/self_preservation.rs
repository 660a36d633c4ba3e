//! Self-preservation: no lease expires while fewer renewals arrive than a threshold.
//!
//! The threshold follows from the *expected* number of clients, a counter of its own: it goes up with new
//! registrations (unless it is 0: then it can never rise by itself, Netflix #1459), down with cancellations,
//! from Eureka 1.9.17 on with evictions too (Netflix #1266), and is set by `openForTraffic` and by the
//! threshold update (T3). Whether leases may expire is decided anew at each eviction round; nothing latches.
//!
//! Up to 1.9.3 the counter was kept in renewals a minute, two a client, and no interval setting existed. (Below
//! 1.9.3 the update also compared with the threshold instead of the expectation; the one legacy profile takes
//! the rule of 1.9.3.)
//!
//! Source: `eureka-server.md` 4.2 to 4.6; `PeerAwareInstanceRegistryImpl`.

use super::config::{Flavour, ServerConfig};

/// `expectedNumberOfClientsSendingRenews` and `numberOfRenewsPerMinThreshold`.
#[derive(Clone, Copy, Debug)]
pub(super) struct RenewalThreshold {
    /// Clients; in the legacy profile renewals a minute.
    expected: u32,
    threshold: u32,
}

impl RenewalThreshold {
    /// As the registry's constructor leaves it: the threshold is 0 until something recomputes it.
    pub(super) fn new(config: &ServerConfig) -> Self {
        Self { expected: config.expected_number_of_clients_sending_renews, threshold: 0 }
    }

    /// Clients expected to send renewals.
    pub(super) fn expected(&self, config: &ServerConfig) -> u32 {
        self.expected / unit(config)
    }

    /// Renewals a minute that must be exceeded.
    pub(super) fn threshold(&self) -> u32 {
        self.threshold
    }

    /// `openForTraffic`: overwrites whatever was counted before.
    pub(super) fn open(&mut self, clients: u32, config: &ServerConfig) {
        self.expected = clients.saturating_mul(unit(config));
        self.recompute(config);
    }

    /// A client registered that had no lease. Returns whether anything was recomputed.
    pub(super) fn client_added(&mut self, config: &ServerConfig) -> bool {
        if self.expected == 0 {
            return false;
        }
        self.expected = self.expected.saturating_add(unit(config));
        self.recompute(config);
        true
    }

    /// A lease was cancelled or, where the release counts that, evicted. Returns whether anything was
    /// recomputed.
    pub(super) fn client_removed(&mut self, config: &ServerConfig) -> bool {
        if self.expected == 0 {
            return false;
        }
        self.expected = self.expected.saturating_sub(unit(config));
        self.recompute(config);
        true
    }

    /// `updateRenewalThreshold` (T3) with the number of instances that the server's own client sees. A drop
    /// is taken over only while it is less than the allowed share at one step, or with protection off.
    /// Returns whether anything was recomputed.
    pub(super) fn update(&mut self, count: u32, config: &ServerConfig) -> bool {
        let seen = count.saturating_mul(unit(config));
        let least = config.renewal_percent_threshold * f64::from(self.expected);
        if f64::from(seen) <= least && config.enable_self_preservation {
            return false;
        }
        self.expected = seen;
        self.recompute(config);
        true
    }

    /// `isLeaseExpirationEnabled`: with protection on, only while more renewals than the threshold came in
    /// the last closed minute.
    pub(super) fn permits_expiration(&self, renews_last_min: u32, config: &ServerConfig) -> bool {
        !config.enable_self_preservation || (self.threshold > 0 && renews_last_min > self.threshold)
    }

    /// `updateRenewsPerMinThreshold`, in Java's double arithmetic from left to right; the cast truncates and
    /// saturates as Java's does.
    fn recompute(&mut self, config: &ServerConfig) {
        let expected = f64::from(self.expected);
        let renewals = if config.rules.legacy_threshold {
            expected * config.renewal_percent_threshold
        } else {
            expected * (60.0 / f64::from(renewal_interval_s(config))) * config.renewal_percent_threshold
        };
        self.threshold = (renewals as i32).max(0) as u32;
    }
}

/// What one client counts for.
fn unit(config: &ServerConfig) -> u32 {
    if config.rules.legacy_threshold { 2 } else { 1 }
}

/// The configured interval; plain Netflix reads 0 as 30, Spring does not guard it.
fn renewal_interval_s(config: &ServerConfig) -> u32 {
    match (config.flavour, config.expected_client_renewal_interval_seconds) {
        (Flavour::Netflix, 0) => 30,
        (_, seconds) => seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spring() -> ServerConfig {
        ServerConfig::defaults(Flavour::Spring)
    }

    fn opened(clients: u32, config: &ServerConfig) -> RenewalThreshold {
        let mut threshold = RenewalThreshold::new(config);
        threshold.open(clients, config);
        threshold
    }

    #[test]
    fn v5_thresholds_by_expected_clients() {
        // ⌊1.7 n⌋: 1.7, 3.4, 5.1, 6.8, 8.5, 10.2, 11.9, 17, 18.7, 34, 170.
        let expected = [1, 2, 3, 4, 5, 6, 7, 10, 11, 20, 100];
        let thresholds = expected.map(|clients| opened(clients, &spring()).threshold());
        assert_eq!(thresholds, [1, 3, 5, 6, 8, 10, 11, 17, 18, 34, 170]);
    }

    #[test]
    fn the_default_threshold_is_the_floor_of_1_7_n() {
        for clients in 1..=100_000 {
            assert_eq!(opened(clients, &spring()).threshold(), clients * 17 / 10);
        }
    }

    #[test]
    fn v6_a_shorter_interval_expects_more() {
        let config = ServerConfig { expected_client_renewal_interval_seconds: 10, ..spring() };
        assert_eq!(opened(10, &config).threshold(), 51); // ⌊10 * 6 * 0.85⌋
    }

    #[test]
    fn an_unguarded_interval_of_zero_shuts_the_gate_for_good() {
        let config = ServerConfig { expected_client_renewal_interval_seconds: 0, ..spring() };
        assert_eq!(opened(1, &config).threshold(), i32::MAX as u32); // (int) (1 * ∞ * 0.85)
        let netflix = ServerConfig { flavour: Flavour::Netflix, ..config };
        assert_eq!(opened(10, &netflix).threshold(), 17); // read as 30
    }

    #[test]
    fn v7_the_gate_is_strict() {
        let ten = opened(10, &spring());
        assert_eq!(ten.threshold(), 17);
        assert!(!ten.permits_expiration(17, &spring()));
        assert!(ten.permits_expiration(18, &spring()));
        assert!(!opened(0, &spring()).permits_expiration(1_000, &spring()));
        let off = ServerConfig { enable_self_preservation: false, ..spring() };
        assert!(ten.permits_expiration(0, &off));
    }

    /// Section 4.4: how many of `clients` may die at once (two renewals a minute each) with the gate still
    /// open; `None` if it is never open.
    fn most_dead(clients: u32, expected: u32) -> Option<u32> {
        let threshold = opened(expected, &spring());
        (0..=clients).rev().find(|dead| threshold.permits_expiration(2 * (clients - dead), &spring()))
    }

    #[test]
    fn simultaneous_deaths_that_the_gate_survives() {
        let exact = [(1, 0), (6, 0), (7, 1), (8, 1), (10, 1), (15, 2), (20, 2), (30, 4), (50, 7), (100, 14)];
        for (clients, dead) in exact {
            assert_eq!(most_dead(clients, clients), Some(dead), "of {clients}");
        }
        assert_eq!(most_dead(1_000, 1_000), Some(149));
        // Standalone Spring expects one too many.
        for clients in 1..=5 {
            assert_eq!(most_dead(clients, clients + 1), None, "of {clients}");
        }
        for (clients, dead) in
            [(6, 0), (7, 0), (8, 0), (10, 0), (15, 1), (20, 2), (30, 3), (50, 6), (100, 14)]
        {
            assert_eq!(most_dead(clients, clients + 1), Some(dead), "of {clients}, expecting one more");
        }
    }

    #[test]
    fn v15_the_update_refuses_a_drop_of_15_percent() {
        let mut threshold = opened(20, &spring());
        assert!(!threshold.update(17, &spring())); // 17 > 0.85 * 20 = 17.0 is false
        assert_eq!(threshold.expected(&spring()), 20);
        assert!(threshold.update(18, &spring()));
        assert_eq!((threshold.expected(&spring()), threshold.threshold()), (18, 30)); // ⌊30.6⌋
    }

    #[test]
    fn the_update_takes_anything_with_protection_off() {
        let off = ServerConfig { enable_self_preservation: false, ..spring() };
        let mut threshold = opened(20, &off);
        assert!(threshold.update(0, &off)); // no own client: expected falls to 0
        assert_eq!((threshold.expected(&off), threshold.threshold()), (0, 0));
    }

    #[test]
    fn v25_from_zero_nothing_ever_rises() {
        let netflix = ServerConfig::defaults(Flavour::Netflix);
        let mut threshold = opened(0, &netflix);
        for _ in 0..5 {
            assert!(!threshold.client_added(&netflix));
        }
        assert_eq!((threshold.expected(&netflix), threshold.threshold()), (0, 0));
        assert!(!threshold.permits_expiration(1_000, &netflix));
    }

    #[test]
    fn v26_back_to_zero_is_for_good() {
        let netflix = ServerConfig::defaults(Flavour::Netflix);
        let mut threshold = opened(1, &netflix);
        assert!(threshold.client_removed(&netflix));
        assert_eq!(threshold.expected(&netflix), 0);
        assert!(!threshold.client_added(&netflix));
        assert_eq!(threshold.expected(&netflix), 0);
    }

    #[test]
    fn spring_starts_with_one_and_no_threshold() {
        let threshold = RenewalThreshold::new(&spring());
        assert_eq!((threshold.expected(&spring()), threshold.threshold()), (1, 0));
    }

    #[test]
    fn legacy_counts_two_renewals_a_client() {
        let mut config = spring();
        config.rules.legacy_threshold = true;
        config.expected_client_renewal_interval_seconds = 10; // no such setting then
        let mut threshold = opened(10, &config);
        assert_eq!((threshold.expected(&config), threshold.threshold()), (10, 17)); // ⌊20 * 0.85⌋
        threshold.client_added(&config);
        assert_eq!((threshold.expected(&config), threshold.threshold()), (11, 18)); // ⌊22 * 0.85⌋ = ⌊18.7⌋
    }
}
