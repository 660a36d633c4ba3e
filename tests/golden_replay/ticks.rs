//! The server's timers: those whose runs were logged, and those that run when they are due.

use std::collections::BTreeSet;

use stillup::model::eureka::{EurekaServer, OwnRegistry, ServerTimer};
use stillup::model::id::InstanceId;
use stillup::model::view::View;

use super::server::Replay;
use super::{LATE_MS, TIE_MS};

impl Replay<'_> {
    pub(super) fn refresh(&mut self) {
        self.run_logged(ServerTimer::CacheRefresh, &[None], |_| true);
    }

    pub(super) fn update_threshold(&mut self, recorded: u32) {
        let views = self.own_views();
        self.run_logged(ServerTimer::ThresholdUpdate, &views, |server| server.threshold() == recorded);
        self.outcome.compared.thresholds += 1;
        let here = self.server.as_ref().map(EurekaServer::threshold);
        if here != Some(recorded) {
            self.differ(format!("threshold after its update: {here:?} here, {recorded} there"));
        }
    }

    /// What the server's own client may hold now: anything that was served since it may have fetched last.
    fn own_views(&self) -> Vec<Option<View>> {
        if !self.config.fetch_registry {
            return vec![None];
        }
        let oldest = self.now_ms - self.own.fetch_interval_ms - 1_000;
        self.served.views_since(oldest).into_iter().map(Some).collect()
    }

    /// A tick that was logged. It must come when it is due, give or take a tie; among the views that the
    /// server's own client may hold, the first that fits the recording counts.
    fn run_logged(
        &mut self,
        timer: ServerTimer,
        own_views: &[Option<View>],
        fits: impl Fn(&EurekaServer) -> bool,
    ) {
        let Some((due, generation)) = self.server.as_ref().and_then(|server| server.timer(timer)) else {
            // A refill of a life whose start is not logged, before it opened.
            return;
        };
        let due_ms = self.after_pause(self.in_recording(due));
        self.compare_due(&format!("{timer:?}"), due_ms);
        let logged_ms = self.now_ms;
        self.now_ms = self.now_ms.max(self.in_recording(due));
        let before = self.server.clone();
        for (at, &own_view) in own_views.iter().enumerate() {
            self.server.clone_from(&before);
            self.with(|server, step| {
                server.on_timer(timer, generation, OwnRegistry::of_itself(own_view), step)
            });
            if at + 1 == own_views.len() || self.server.as_ref().is_some_and(&fits) {
                break;
            }
        }
        self.now_ms = logged_ms;
    }

    /// No timer runs before it is due, nor much later. A line that was logged late makes the next look early.
    pub(super) fn compare_due(&mut self, timer: &str, due_ms: i64) {
        if (self.now_ms - due_ms).abs() > LATE_MS {
            self.differ(format!("{timer}: due at {due_ms} here"));
        }
    }

    /// Runs the timers that no log tells of, as far as they are due by `until_ms`.
    pub(super) fn run_unlogged(&mut self, until_ms: i64) {
        loop {
            self.plan_tick(until_ms);
            let once = [ServerTimer::DeltaRetention, ServerTimer::SyncRetry, ServerTimer::WarmUpEnd];
            let due = |timer| {
                let (due, _) = self.server.as_ref()?.timer(timer)?;
                Some((self.after_pause(self.in_recording(due)), Some(timer)))
            };
            let late = if self.bucket.target.is_some() { TIE_MS } else { 0 };
            let bucket = self.bucket.due_ms.map(|due_ms| (due_ms + late, None));
            let next = once.into_iter().filter_map(due).chain(bucket).min_by_key(|next| next.0);
            let Some((at_ms, timer)) = next.filter(|next| next.0 <= until_ms) else { return };
            self.now_ms = self.now_ms.max(at_ms);
            match timer {
                None => self.tick(),
                Some(ServerTimer::SyncRetry) => self.retry_sync(),
                Some(timer) => self.fire(timer, None),
            }
            self.note();
        }
    }

    fn retry_sync(&mut self) {
        let life = self.timeline.life_at(self.now_ms).expect("a server runs");
        let (last, life_open) = (self.now_ms + 5_000 >= life.open_ms, life.open_count);
        let views = if last { self.own_views() } else { vec![None] };
        let (count, copied) = (life.open_count, life.copied.clone());
        self.copied.clear();
        self.run_logged(ServerTimer::SyncRetry, &views, |server| {
            server.is_open() && server.expected() == count
        });
        let here: BTreeSet<InstanceId> = self.copied.clone();
        let there: BTreeSet<InstanceId> = copied.iter().map(|name| self.id(name)).collect();
        if here != there {
            self.differ(format!("copied at the start: {} here, {} there", here.len(), there.len()));
        }
        let opened = self.server.as_ref().map(EurekaServer::is_open);
        if opened != Some(last) {
            self.differ(format!("open: {opened:?} here; with {life_open} there at {}", life.open_ms));
        }
    }

    pub(super) fn fire(&mut self, timer: ServerTimer, own_view: Option<View>) {
        let Some((due, generation)) = self.server.as_ref().and_then(|server| server.timer(timer)) else {
            return;
        };
        let now_ms = self.now_ms;
        self.now_ms = now_ms.max(self.in_recording(due));
        self.with(|server, step| server.on_timer(timer, generation, OwnRegistry::of_itself(own_view), step));
        self.now_ms = now_ms;
    }
}
