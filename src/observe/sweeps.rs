//! Sweeps of a two-stage registry, as far as they are worth a row: there is one a service every few seconds, and nearly
//! all of them find the guard as it was and nothing to do.

use std::collections::BTreeSet;

use super::data::SweepRow;
use crate::engine::SimTime;
use crate::model::fact::Sweep;
use crate::model::id::{AppId, ServerId};

/// The rows of a replicate.
#[derive(Clone, Default)]
pub(super) struct SweepLog {
    rows: Vec<SweepRow>,
    /// Whose guard the last sweep found shut. A guard that nobody has looked at yet is open.
    shut: BTreeSet<(ServerId, AppId)>,
}

impl SweepLog {
    /// A sweep was done with a service.
    pub(super) fn note(&mut self, server: ServerId, sweep: Sweep, now: SimTime) {
        let service = (server, sweep.app);
        let has_turned =
            if sweep.guard_open { self.shut.remove(&service) } else { self.shut.insert(service) };
        if has_turned || sweep.marked > 0 || sweep.removed > 0 {
            self.rows.push(SweepRow { at: now, server, sweep });
        }
    }

    /// A registry has ended, and every guard with it: in its next life they begin open, and no sweep would say so.
    pub(super) fn server_ended(&mut self, server: ServerId, now: SimTime) {
        while let Some(&service) = self.shut.range((server, AppId(0))..=(server, AppId(u32::MAX))).next() {
            self.shut.remove(&service);
            let sweep =
                Sweep { app: service.1, entries: 0, healthy: 0, guard_open: true, marked: 0, removed: 0 };
            self.rows.push(SweepRow { at: now, server, sweep });
        }
    }

    /// All rows, by time and server; those of one sweep by service, as it came to them.
    pub(super) fn finish(mut self) -> Vec<SweepRow> {
        self.rows.sort_by_key(|row| (row.at, row.server));
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_that_finds_all_as_it_was_and_does_nothing_has_no_row() {
        let mut log = SweepLog::default();
        let mut sweep = |at, app, guard_open, marked, removed| {
            let sweep = Sweep { app: AppId(app), entries: 20, healthy: 16, guard_open, marked, removed };
            log.note(ServerId(0), sweep, SimTime::from_secs(at));
        };
        // Nothing, four marked, shut, still shut; the other service is open all the time; open with two removed, open.
        sweep(33, 0, true, 0, 0);
        sweep(36, 0, true, 4, 0);
        sweep(39, 0, false, 0, 0);
        sweep(39, 1, true, 0, 0);
        sweep(42, 0, false, 0, 0);
        sweep(45, 0, true, 0, 2);
        sweep(48, 0, true, 0, 0);
        let rows = log.finish();
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.at.as_millis() / 1_000, row.sweep.guard_open, row.sweep.marked))
            .collect();
        assert_eq!(told, [(36, true, 4), (39, false, 0), (45, true, 0)]);
    }

    #[test]
    fn a_guard_is_not_shut_any_longer_than_its_registry_lives() {
        let mut log = SweepLog::default();
        let sweep = |app| Sweep {
            app: AppId(app),
            entries: 20,
            healthy: 16,
            guard_open: false,
            marked: 0,
            removed: 0,
        };
        // Two guards of the first server are shut, and one of the second. The first ends, and another sweep of its next
        // life finds one of them shut again.
        for (server, app) in [(0, 0), (0, 2), (1, 0)] {
            log.note(ServerId(server), sweep(app), SimTime::from_secs(39));
        }
        log.server_ended(ServerId(0), SimTime::from_secs(50));
        log.note(ServerId(0), sweep(2), SimTime::from_secs(90));
        log.note(ServerId(1), sweep(0), SimTime::from_secs(90));
        let rows = log.finish();
        let told: Vec<_> = rows[3..]
            .iter()
            .map(|row| (row.at.as_millis() / 1_000, row.server.0, row.sweep.app.0, row.sweep.guard_open))
            .collect();
        assert_eq!(told, [(50, 0, 0, true), (50, 0, 2, true), (90, 0, 2, false)]);
    }

    #[test]
    fn a_repaired_guard_that_is_shut_may_remove_all_the_same() {
        let mut log = SweepLog::default();
        for at in [39, 42] {
            let sweep =
                Sweep { app: AppId(0), entries: 20, healthy: 16, guard_open: false, marked: 0, removed: 1 };
            log.note(ServerId(0), sweep, SimTime::from_secs(at));
        }
        assert_eq!(log.finish().len(), 2);
    }
}
