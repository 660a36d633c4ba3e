//! Eviction rounds: gate, compensation, expired, limit and victims against the log.

use std::collections::BTreeSet;
use std::sync::Arc;

use stillup::engine::SimTime;
use stillup::model::clock::Now;
use stillup::model::eureka::{EurekaServer, Lease, Round, ServerConfig};
use stillup::model::id::InstanceId;

use super::server::Replay;
use super::timeline::RecordedRound;
use super::{Mutation, TIE_MS};

impl Replay<'_> {
    pub(super) fn round(&mut self, recorded: &RecordedRound) {
        let Some(server) = self.server.clone() else {
            return self.differ("a round of a server that is down".into());
        };
        let interval = i64::from(self.config.eviction_interval_timer_in_ms);
        let due_ms = self.last_round_ms.map_or_else(
            || self.timeline.life_at(self.now_ms).map_or(0, |life| life.open_ms + interval),
            |last| last + interval,
        );
        self.compare_due("Eviction", self.after_pause(due_ms));
        self.last_round_ms = Some(self.now_ms);
        self.rounds += 1;
        let now = self.now_for_round();
        let (mut opened, round) = self.open(server, now, recorded);
        self.compare_round(&mut opened, &round, now, recorded);
        let victims: Vec<InstanceId> = recorded.victims.iter().map(|name| self.id(name)).collect();
        for &victim in &victims {
            self.touched.insert(victim, self.now_ms);
        }
        self.server = Some(opened);
        self.with(|server, step| server.close_round(&round, &victims, step));
    }

    /// Opens the round, before or after a tick of the bucket that is within a tie of it: the order that gives
    /// the recorded gate, else the nominal one.
    fn open(&mut self, server: EurekaServer, now: Now, recorded: &RecordedRound) -> (EurekaServer, Round) {
        let mut nominal = server;
        let round = nominal.open_round(now);
        if round.enabled != recorded.gate_shut {
            return (nominal, round);
        }
        if let Some((at, before)) = &self.before_tick {
            let other = before.clone().open_round(now);
            if self.now_ms - at <= TIE_MS && other.enabled != recorded.gate_shut {
                return (nominal, Round { compensation_ms: round.compensation_ms, ..other });
            }
        }
        if self.bucket.due_ms.is_some_and(|due| due - self.now_ms <= TIE_MS) {
            self.tick();
            let mut ticked = self.server.clone().expect("it has just ticked");
            let other = ticked.open_round(now);
            if other.enabled != recorded.gate_shut {
                return (ticked, other);
            }
        }
        if let Some(other) = self.open_within_slack(&nominal, now, recorded) {
            return (nominal, Round { compensation_ms: round.compensation_ms, ..other });
        }
        (nominal, round)
    }

    /// The round with the recorded gate, if the renewals that were under way at the bucket's edges may make the
    /// difference.
    fn open_within_slack(&self, server: &EurekaServer, now: Now, recorded: &RecordedRound) -> Option<Round> {
        let (last, threshold, slack) = (server.renews_last_min(), server.threshold(), self.membership.slack);
        let undecided = last.saturating_sub(slack) <= threshold && threshold < last + slack;
        if !undecided || !self.config.enable_self_preservation {
            return None;
        }
        let config = ServerConfig { enable_self_preservation: !recorded.gate_shut, ..(*self.config).clone() };
        let mut other = server.clone();
        other.set_config(Arc::new(config));
        let round = other.open_round(now);
        Some(if recorded.gate_shut {
            Round { enabled: false, expired: Vec::new(), limit: 0, ..round }
        } else {
            round
        })
    }

    fn compare_round(
        &mut self,
        server: &mut EurekaServer,
        round: &Round,
        now: Now,
        recorded: &RecordedRound,
    ) {
        self.outcome.compared.rounds += 1;
        if round.enabled == recorded.gate_shut {
            let (last, threshold) = (server.renews_last_min(), server.threshold());
            self.differ(format!("gate: {} here ({last} against {threshold})", round.enabled));
        }
        if (round.compensation_ms - recorded.compensation_ms).abs() > TIE_MS {
            let (here, there) = (round.compensation_ms, recorded.compensation_ms);
            self.differ(format!("compensation: {here} here, {there} there"));
        }
        if recorded.gate_shut {
            return;
        }
        let expired_at = |sign: i64| -> BTreeSet<InstanceId> {
            let expired = |id: &InstanceId| {
                let Some(lease) = server.lease(*id) else { return false };
                let ms = sign * self.lease_slack_ms(*id, lease);
                lease.is_expired(now.wall.plus(ms), round.compensation_ms)
            };
            self.ids.values().copied().filter(expired).collect()
        };
        let (mut surely, perhaps) = (expired_at(-1), expired_at(1));
        surely.retain(|&id| !self.may_have_renewed(id));
        let (evicted, expired, limit) = recorded.batch.unwrap_or((0, 0, round.limit));
        let mut differences = Vec::new();
        if !(surely.len()..=perhaps.len()).contains(&(expired as usize)) {
            differences.push(format!("expired: {} to {} here, {expired} there", surely.len(), perhaps.len()));
        }
        if limit != round.limit && !self.timeline.population_changes_at(self.now_ms) {
            differences.push(format!("limit: {} here, {limit} there", round.limit));
        }
        if evicted != expired.min(limit) || evicted as usize != recorded.victims.len() {
            differences.push(format!("evicted: {} here, {evicted} there", round.quota()));
        }
        for name in &recorded.victims {
            self.outcome.compared.victims += 1;
            if !self.ids.get(name).is_some_and(|id| perhaps.contains(id)) {
                differences.push(format!("victim {name} is not expired here"));
            }
        }
        for difference in differences {
            self.differ(difference);
        }
    }

    /// How much earlier or later than here a lease may have been renewed there, ms.
    fn lease_slack_ms(&self, instance: InstanceId, lease: &Lease) -> i64 {
        let since = lease.last_update().0 - self.recording.experiment.t0_epoch_ms;
        let registered = self.touched.get(&instance).is_some_and(|&at| at == since);
        let renewed_ms = if registered { since } else { since - i64::from(lease.duration_ms()) };
        self.membership.lag_ms(instance, renewed_ms, self.now_ms).max(TIE_MS)
    }

    /// Whether a heartbeat may have reached the server in time for this round, although the model has it later
    /// or not at all: a call that was under way, or the last one of the killed.
    fn may_have_renewed(&self, instance: InstanceId) -> bool {
        let lease_ms = i64::from(self.recording.experiment.lease_s) * 1_000;
        let doubtful = self.doubtful.get(&instance);
        if doubtful.is_some_and(|killed_ms| self.now_ms <= killed_ms + 2 * lease_ms + TIE_MS) {
            return true;
        }
        self.recording.calls.iter().any(|call| {
            let under_way = call.sent_ms - TIE_MS <= self.now_ms && self.now_ms <= call.done_ms + TIE_MS;
            under_way && call.kind == "renew" && self.ids.get(&call.instance) == Some(&instance)
        })
    }

    fn now_for_round(&self) -> Now {
        let now = self.now();
        if self.mutation != Mutation::NoCompensation {
            return now;
        }
        let interval = i64::from(self.config.eviction_interval_timer_in_ms);
        Now { mono: SimTime::from_millis((self.rounds * interval) as u64), ..now }
    }
}
