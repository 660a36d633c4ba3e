//! What servers had to do, by minute: requests, items of peers' batches, and how busy their threads were.

use super::data::LoadMinute;
use crate::engine::{SimDuration, SimTime};
use crate::model::id::ServerId;
use crate::model::message::{Reply, RequestKind};

/// The length of a row.
const ROW: SimDuration = SimDuration::from_secs(60);

/// The counts of a replicate.
#[derive(Clone)]
pub(super) struct LoadCounts {
    servers: usize,
    /// By minute and server, up to the last minute of which anything is known.
    rows: Vec<LoadMinute>,
}

impl LoadCounts {
    /// Nothing yet, of so many servers.
    pub(super) fn new(servers: usize) -> Self {
        Self { servers, rows: Vec::new() }
    }

    /// A server answered a request.
    #[inline]
    pub(super) fn answered(&mut self, server: ServerId, kind: RequestKind, reply: &Reply, now: SimTime) {
        let row = self.row(server, now);
        row.requests[kind as usize] += 1;
        row.refused += u64::from(reply.status >= 400);
    }

    /// A server processed one item of a batch.
    #[inline]
    pub(super) fn processed(&mut self, server: ServerId, item: RequestKind, now: SimTime) {
        self.row(server, now).items[item as usize] += 1;
    }

    /// So many requests wait for a server's threads.
    pub(super) fn waits(&mut self, server: ServerId, waiting: u32, now: SimTime) {
        let row = self.row(server, now);
        row.waiting_max = row.waiting_max.max(waiting);
    }

    /// One of a server's threads was busy for this time, in every minute that it touches.
    pub(super) fn busy(&mut self, server: ServerId, from: SimTime, until: SimTime) {
        let mut at = from;
        while at < until {
            let row = self.row(server, at);
            let end = until.min(row.from + ROW);
            row.busy_nanos += end.since(at).as_nanos();
            at = end;
        }
    }

    /// All rows, by time and server.
    pub(super) fn finish(self) -> Vec<LoadMinute> {
        self.rows
    }

    #[inline]
    fn row(&mut self, server: ServerId, at: SimTime) -> &mut LoadMinute {
        let row = (at.as_nanos() / ROW.as_nanos()) as usize * self.servers + server.index();
        if row >= self.rows.len() {
            self.fill(row);
        }
        &mut self.rows[row]
    }

    /// Makes rows for all servers, up to the minute of this one.
    #[cold]
    fn fill(&mut self, row: usize) {
        let end = (row / self.servers + 1) * self.servers;
        for number in self.rows.len()..end {
            let from = SimTime::ZERO + ROW * (number / self.servers) as u64;
            self.rows.push(LoadMinute {
                from,
                server: ServerId((number % self.servers) as u32),
                requests: [0; RequestKind::COUNT],
                refused: 0,
                items: [0; RequestKind::COUNT],
                busy_nanos: 0,
                waiting_max: 0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_row_in_every_minute_up_to_the_last() {
        let mut load = LoadCounts::new(2);
        load.answered(ServerId(0), RequestKind::Renew, &Reply::bare(404), SimTime::from_secs(59));
        load.processed(ServerId(1), RequestKind::Renew, SimTime::from_secs(130));
        let rows = load.finish();
        let told: Vec<_> = rows
            .iter()
            .map(|row| {
                (row.from.as_millis() / 1_000, row.server.0, row.requests[1], row.refused, row.items[1])
            })
            .collect();
        let expected = [
            (0, 0, 1, 1, 0),
            (0, 1, 0, 0, 0),
            (60, 0, 0, 0, 0),
            (60, 1, 0, 0, 0),
            (120, 0, 0, 0, 0),
            (120, 1, 0, 0, 1),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_thread_is_busy_in_every_minute_that_its_work_touches() {
        let mut load = LoadCounts::new(1);
        let at = SimTime::from_secs;
        load.waits(ServerId(0), 3, at(50));
        load.busy(ServerId(0), at(50), at(55));
        load.busy(ServerId(0), at(55), at(190));
        // 5 s and 5 s, two whole minutes, and 10 s of the last.
        let rows = load.finish();
        let told: Vec<_> = rows.iter().map(|row| (row.busy_nanos / 1_000_000_000, row.waiting_max)).collect();
        assert_eq!(told, [(10, 3), (60, 0), (60, 0), (10, 0)]);
    }
}
