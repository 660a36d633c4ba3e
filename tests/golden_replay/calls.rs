//! The calls of a played client: which recorded one each is, and how and when it ended.
//!
//! A server's access log has the calls that it took up. One that is not there failed, and the faults say why: a
//! server that is gone refuses; one whose process stands still answers nothing until it goes on. Whether it even
//! accepted the connection depends on how full its backlog was, which nobody recorded: a call is taken to have
//! ended at its connect limit if the client's own log says that the job failed then, else at its read limit, or
//! with the server's first answers if they come before.
//!
//! Calls that a client had given up on may be in the log when the server goes on: it reads what its kernel
//! kept.
//!
//! Allowances, ms: [`WARM_MS`] for a call, [`COLD_MS`] for the first calls of a JVM that has just started,
//! [`RETRY_MS`] for another attempt.

use std::ops::RangeInclusive;

use stillup::model::eureka::client::{Call, Client, OS_CONNECT_LIMIT, Silence};
use stillup::model::id::ServerId;
use stillup::model::message::{Failure, Reply, Request, RequestKind};

use super::client::{Event, Player, millis};
use super::compared::WATCH_MS;
use super::records::LogLine;
use super::tape::is_fetch;

/// How far a call may lie from its time.
const WARM_MS: i64 = 60;
/// The same for the first calls of a kind, [`COLD_CALLS`] of them: code is loaded, and the end of the
/// constructor, from which the timers count, is not known better.
const COLD_MS: i64 = 1_000;
const COLD_CALLS: u32 = 3;
/// How late the very first call may be, which also loads the HTTP client.
pub(super) const FIRST_MS: i64 = 3_000;
/// How late another attempt may be: the first failure is noticed and logged, the next connection opened.
const RETRY_MS: i64 = 250;
/// How late a job's failure at a read limit may be logged.
const LOGGED_LATE_MS: i64 = 1_000;
/// How far the operating system's connect limit may lie from what it is taken to be.
const CONNECT_LIMIT_VARIES_MS: i64 = 1_600;

/// How a call ended.
struct CallOutcome {
    at_ms: i64,
    outcome: Result<Reply, Failure>,
}

impl Player<'_> {
    /// Finds the recorded call that this one is, and lets it end as that did.
    pub(super) fn find(&mut self, call: Call, to: ServerId, request: &Request) {
        let (now_ms, kind) = (self.now_ms(), request.kind());
        // The full fetch after a mismatch is not announced in the log.
        let announced = kind == RequestKind::FetchFull && !self.after_failure;
        if announced && !std::mem::take(&mut self.after_mismatch) {
            self.said.push(("full-fetch", now_ms));
        }
        if kind == RequestKind::Register && self.after_not_found {
            self.said.push(("re-registering", now_ms));
        }
        self.made[slot(kind)] += 1;
        let server = self.server(to);
        let within = |spells: Vec<(i64, i64)>| {
            spells.into_iter().find(|(from, until)| (*from..*until).contains(&now_ms))
        };
        let fate = if within(self.recording.outages_of(&server)).is_some() {
            self.refused(kind)
        } else if let Some((_, resumes_ms)) = within(self.recording.pauses_of(&server)) {
            self.hangs(call, kind, to, resumes_ms)
        } else {
            self.answered(call, kind, to)
        };
        let at = millis(fate.at_ms).max(self.now);
        self.schedule(at, Event::Outcome(call, fate.outcome));
        if at > self.now + Client::stall_after(self.config) {
            self.step(|client, config, step| client.on_stall(config, call, step));
        }
    }

    /// When the constructor was done, whose fetch is made now: the timers count from there, so the next fetch, which
    /// is in full too since the registry was empty, began one interval later by the client's log.
    fn constructed_ms(&self) -> Option<i64> {
        let interval_ms = i64::from(self.config.registry_fetch_interval_seconds) * 1_000;
        let (now_ms, mut lines) = (self.now_ms(), self.recording.log.iter());
        let next = lines.find(|line| {
            line.server == self.name
                && line.event == "full-fetch"
                && (now_ms..=now_ms + FIRST_MS).contains(&(line.t_ms - interval_ms))
        });
        next.map(|line| line.t_ms - interval_ms)
    }

    /// The server is gone. A job whose last attempt this is logs its failure.
    fn refused(&mut self, kind: RequestKind) -> CallOutcome {
        let now_ms = self.now_ms();
        let at_ms = self.failure_logged(kind, now_ms..=now_ms + LOGGED_LATE_MS).unwrap_or(now_ms);
        CallOutcome { at_ms, outcome: Err(Failure::Refused) }
    }

    /// The server stands still until `resumes_ms`.
    fn hangs(&mut self, call: Call, kind: RequestKind, to: ServerId, resumes_ms: i64) -> CallOutcome {
        let now_ms = self.now_ms();
        let connect_ms = now_ms + OS_CONNECT_LIMIT.as_millis() as i64;
        let varied_ms = connect_ms - CONNECT_LIMIT_VARIES_MS..=connect_ms + CONNECT_LIMIT_VARIES_MS;
        let only_linux_limits = self.config.transport.connect_limit() == OS_CONNECT_LIMIT;
        if call.is_fresh()
            && only_linux_limits
            && let Some(at_ms) = self.failure_logged(kind, varied_ms)
        {
            return CallOutcome { at_ms, outcome: Err(Failure::ConnectTimeout) };
        }
        let (stall_after, failure) = self.config.transport.call_gives_up_after(call, Silence::Paused);
        let read_ms = now_ms + stall_after.as_millis() as i64;
        if read_ms <= resumes_ms {
            let logged_ms = self.failure_logged(kind, read_ms..=read_ms + LOGGED_LATE_MS);
            self.tape.claim(self.name, (kind, to), resumes_ms, resumes_ms..=resumes_ms + WATCH_MS);
            return CallOutcome { at_ms: logged_ms.unwrap_or(read_ms), outcome: Err(failure) };
        }
        // Linux repeats a SYN after ever longer gaps, at most as long as it has tried already.
        let until_ms = resumes_ms + (resumes_ms - now_ms) + WARM_MS;
        match self.claim(kind, to, now_ms, resumes_ms - WARM_MS..=until_ms) {
            Some(fate) => fate,
            None => self.missing(kind, to),
        }
    }

    /// The server is well.
    fn answered(&mut self, call: Call, kind: RequestKind, to: ServerId) -> CallOutcome {
        let first_fetch = is_fetch(kind) && self.made[slot(kind)] == 1;
        if let Some(constructed_ms) = self.constructed_ms().filter(|_| first_fetch) {
            // Of the clients that started at the same time the others' constructors took longer, or less long.
            let range_ms = self.now_ms()..=constructed_ms;
            let Some(fate) = self.claim(kind, to, constructed_ms, range_ms) else {
                return self.missing(kind, to);
            };
            return CallOutcome { at_ms: constructed_ms, ..fate };
        }
        let range_ms = self.range_ms(kind, to);
        let Some(fate) = self.claim(kind, to, self.now_ms(), range_ms) else { return self.missing(kind, to) };
        // One that came just before the server stood still may have waited longer than the client did.
        let (stall_after, failure) = self.config.transport.call_gives_up_after(call, Silence::Paused);
        if millis(fate.at_ms) > self.now + stall_after {
            let at_ms = self.now_ms() + stall_after.as_millis() as i64;
            return CallOutcome { at_ms, outcome: Err(failure) };
        }
        fate
    }

    /// Takes the recorded call that this one is, the nearest to `at_ms`, and its answer.
    fn claim(
        &mut self,
        kind: RequestKind,
        to: ServerId,
        at_ms: i64,
        range_ms: RangeInclusive<i64>,
    ) -> Option<CallOutcome> {
        let row = self.tape.claim(self.name, (kind, to), at_ms, range_ms)?;
        let (sent_ms, done_ms, status, recorded) = (row.sent_ms, row.done_ms, row.status, row.kind);
        if recorded != kind {
            self.differ(sent_ms, format!("{} where {} was recorded", kind.name(), recorded.name()));
        }
        let payload = if is_fetch(recorded) && status == 200 {
            self.answers.at(to, recorded == RequestKind::FetchFull, done_ms)
        } else {
            None
        };
        Some(CallOutcome { at_ms: done_ms, outcome: Ok(Reply { payload, ..Reply::bare(status) }) })
    }

    /// The recording does not have the call: it failed, if the client's own log says so.
    fn missing(&mut self, kind: RequestKind, to: ServerId) -> CallOutcome {
        let now_ms = self.now_ms();
        let logged_ms = self.failure_logged(kind, now_ms..=now_ms + LOGGED_LATE_MS);
        if logged_ms.is_none() {
            self.differ(now_ms, format!("{} to server {} was not recorded", kind.name(), to.0 + 1));
        }
        CallOutcome { at_ms: logged_ms.unwrap_or(now_ms), outcome: Err(Failure::Refused) }
    }

    /// When the recorded call may have been taken up.
    fn range_ms(&self, kind: RequestKind, to: ServerId) -> RangeInclusive<i64> {
        let (now_ms, made) = (self.now_ms(), self.made[slot(kind)]);
        let early_ms = if made <= COLD_CALLS { COLD_MS } else { WARM_MS };
        let (early_ms, late_ms) = match kind {
            // The web server drains first.
            RequestKind::Cancel => return now_ms - WARM_MS..=i64::MAX,
            // Logged just before it is made.
            _ if is_fetch(kind) && made == 1 => (0, FIRST_MS),
            _ if self.after_failure => (early_ms, early_ms.max(RETRY_MS)),
            _ => (early_ms, early_ms),
        };
        // A server that stands still takes a call up when it goes on.
        let pauses = self.recording.pauses_of(&self.server(to));
        let standing = pauses.iter().filter(|(from, until)| (from - late_ms..*until).contains(&now_ms));
        let latest_ms = standing.map(|&(_, until)| until).max().unwrap_or(now_ms);
        now_ms - early_ms..=latest_ms + late_ms
    }

    /// When, within `range_ms`, the client's own log says that a job failed whose call this is. The second attempt
    /// of a job fails with the job.
    fn failure_logged(&mut self, kind: RequestKind, range_ms: RangeInclusive<i64>) -> Option<i64> {
        let event = match kind {
            RequestKind::Renew | RequestKind::Register => "heartbeat-failed",
            RequestKind::FetchFull | RequestKind::FetchDelta => "fetch-failed",
            _ => return None,
        };
        let is_mine = |line: &&LogLine| {
            line.server == self.name && line.event == event && range_ms.contains(&line.t_ms)
        };
        let at_ms = self.recording.log.iter().find(is_mine)?.t_ms;
        if !self.said.contains(&(event, at_ms)) {
            self.said.push((event, at_ms));
        }
        Some(at_ms)
    }

    fn server(&self, id: ServerId) -> String {
        let name = self.recording.experiment.servers.keys().nth(id.0 as usize);
        name.expect("a client knows the recorded servers").clone()
    }
}

/// Where calls of a kind are counted: a delta as a full fetch.
fn slot(kind: RequestKind) -> usize {
    if is_fetch(kind) { RequestKind::FetchFull as usize } else { kind as usize }
}
