//! The minute bucket, whose ticks no log tells of: where they fall, and who renewed unseen.

use stillup::model::clock::WallMs;
use stillup::model::eureka::ServerTimer;
use stillup::model::id::InstanceId;
use stillup::model::message::Request;

use super::TIE_MS;
use super::gauges::READING_MS;
use super::records::{Call, FaultRow};
use super::server::Replay;

/// What is known of the minute bucket's next tick.
#[derive(Clone, Copy, Default)]
pub(super) struct Bucket {
    /// Renewals since the last tick.
    pub(super) renewals: u32,
    /// When the last tick was.
    pub(super) since_ms: i64,
    /// Nominal moment of the next tick, if the server is open.
    pub(super) due_ms: Option<i64>,
    /// The count at which it ticks, if the nominal moment would give another.
    pub(super) target: Option<u32>,
    pub(super) planned: bool,
}

impl Replay<'_> {
    /// Somebody is killed. If a heartbeat was due just then, and the dashboard counted one more than was
    /// recorded, then it arrived.
    pub(super) fn kill(&mut self, name: &str) {
        let own = |call: &&Call| call.instance == name && call.done_ms <= self.now_ms;
        let Some(last) = self.recording.calls.iter().rfind(own) else { return };
        if last.done_ms + self.recording.experiment.heartbeat_s as i64 * 1_000 > self.now_ms + TIE_MS {
            return;
        }
        let instance = self.id(name);
        self.doubtful.insert(instance, self.now_ms);
        if self.membership.is_one_of_many() {
            return;
        }
        let Some(due_ms) = self.bucket.due_ms else { return };
        let counted = self.bucket.renewals + self.successes(self.now_ms, due_ms);
        if self.recorded_renewals(due_ms).is_some_and(|recorded| recorded > counted) {
            let renewal = Request::Renew { instance, last_dirty: WallMs(0) };
            self.with(|server, step| server.on_request(&renewal, step));
            self.bucket.renewals += 1;
        }
    }

    /// Heartbeats that were answered with 200 from a moment until before another.
    fn successes(&self, from_ms: i64, before_ms: i64) -> u32 {
        let success = |call: &&Call| call.kind == "renew" && call.status == "200";
        let calls = self.recording.calls.iter().filter(success);
        calls.filter(|call| (from_ms..before_ms).contains(&call.done_ms)).count() as u32
    }

    /// Decides, a tie before the bucket is due, at which count it must tick.
    pub(super) fn plan_tick(&mut self, until_ms: i64) {
        let Some(due_ms) = self.bucket.due_ms else { return };
        if self.membership.is_one_of_many() || self.bucket.planned || until_ms < due_ms - TIE_MS {
            return;
        }
        self.bucket.planned = true;
        let Some(recorded) = self.recorded_renewals(due_ms) else { return };
        let coming = self.successes(self.now_ms.max(due_ms - TIE_MS), due_ms);
        if self.own_renewals() == 0 && self.bucket.renewals + coming != recorded {
            self.bucket.target = Some(recorded);
            if self.bucket.renewals == recorded {
                self.tick();
            }
        }
    }

    /// What the dashboard showed after the tick at `due_ms`, if it was read.
    fn recorded_renewals(&self, due_ms: i64) -> Option<u32> {
        let read_by = due_ms + READING_MS;
        let open_ms = self.timeline.life_at(due_ms)?.open_ms;
        let stops = |row: &&FaultRow| {
            let stops = matches!(row.fault.as_str(), "crash" | "pause") && row.target == self.timeline.server;
            stops && (due_ms..=read_by).contains(&row.t_ms)
        };
        if self.recording.faults.iter().any(|row| stops(&row)) || read_by > self.timeline.end_ms {
            return None;
        }
        let row = self.recording.gauges.iter().rev().find(|row| row.t_ms <= read_by)?;
        (row.t_ms >= open_ms).then_some(row.renews_last_min)
    }

    /// How many instances renew unseen.
    fn own_renewals(&self) -> usize {
        if self.config.register_with_eureka { self.timeline.unrecorded.len() } else { 0 }
    }

    pub(super) fn tick(&mut self) {
        self.renew_own();
        self.membership.take_slack(self.bucket.since_ms, self.now_ms);
        self.before_tick = self.server.clone().map(|server| (self.now_ms, server));
        self.fire(ServerTimer::RenewalBucket, None);
        let next = self.server.as_ref().and_then(|server| server.timer(ServerTimer::RenewalBucket));
        let due_ms = next.map(|(due, _)| self.after_pause(self.in_recording(due)));
        self.bucket = Bucket { due_ms, since_ms: self.now_ms, ..Bucket::default() };
    }

    /// The renewals that the server sent to itself in the bucket that is about to be closed.
    fn renew_own(&mut self) {
        if self.own_renewals() == 0 {
            return;
        }
        let Some(recorded) = self.recorded_renewals(self.now_ms) else { return };
        let unseen = i64::from(recorded) - i64::from(self.bucket.renewals);
        let beats = (self.now_ms - self.bucket.since_ms) / self.own.heartbeat_ms;
        if !(beats - 1..=beats + 1).contains(&unseen) {
            self.differ(format!("{unseen} renewals unseen, for {beats} beats of the server's own"));
        }
        let own: Vec<InstanceId> = self.timeline.unrecorded.iter().map(|name| self.id(name)).collect();
        for &instance in own.iter().cycle().take(unseen.max(0) as usize) {
            self.with(|server, step| {
                server.on_request(&Request::Renew { instance, last_dirty: WallMs(0) }, step)
            });
        }
    }
}
