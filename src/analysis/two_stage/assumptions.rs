//! What the closed forms of the two-stage registry take for granted, and the reason for an absence where it does not
//! hold. Everything is checked on the safe side.

use super::super::disturbances::undisturbed;
use super::super::fleet::{Hit, hits};
use super::super::latency::Latency;
use super::super::reason::Reason;
use super::consumer::Watching;
use super::ghosts::Death;
use super::reason::TwoStageReason;
use super::silence::{longest_silence, ms};
use super::{App, Case};
use crate::engine::SimDuration;
use crate::model::id::AppId;
use crate::model::stage::EventKind;
use crate::model::two_stage::{ClientConfig, Discovery, DiskMode, Sanity, SweepPasses};
use crate::scenario::FaultKind;

/// Nothing stands still or gets lost, every request is taken up at once, calls are short, and nobody who is well is
/// ever marked.
pub(super) fn ordinary(scenario: Case<'_>, latency: &Latency) -> Result<(), Reason> {
    undisturbed(&scenario)?;
    let server = scenario.server();
    if server.worker_threads.is_some() {
        return Err(TwoStageReason::Workers.into());
    }
    if !server.register_stamps_heartbeat {
        return Err(TwoStageReason::UnheardNewcomers.into());
    }
    for app in scenario.apps() {
        calls_are_short(scenario, app.client, latency)?;
        is_never_marked(scenario, app, latency)?;
    }
    Ok(())
}

fn calls_are_short(scenario: Case<'_>, client: &ClientConfig, latency: &Latency) -> Result<(), Reason> {
    let call = latency.round_trip().max;
    let watching = Watching::of(scenario.server(), client, latency);
    let given_up = match client.discovery {
        Discovery::LongPoll => {
            watching.held() + call > ms(client.watch_timeout_ms) + ms(client.request_timeout_ms)
        }
        Discovery::Poll | Discovery::PushPlusPoll => false,
    };
    let interval = ms(client.heartbeat_interval_ms.min(client.poll_interval_ms));
    if given_up || call * 2 > interval || call > ms(client.request_timeout_ms) {
        return Err(TwoStageReason::LongCalls.into());
    }
    Ok(())
}

fn is_never_marked(scenario: Case<'_>, app: App<'_>, latency: &Latency) -> Result<(), Reason> {
    let (server, client) = (scenario.server(), app.client);
    let patience_ms = match server.sweep_passes {
        SweepPasses::ElseIf => server.soft_timeout_ms,
        SweepPasses::MarkThenDelete => server.soft_timeout_ms.min(server.hard_timeout_ms),
    };
    let silence = longest_silence(client, latency);
    if client.registers && silence > ms(patience_ms) {
        let (application, patience) = (app.name.to_owned(), ms(patience_ms));
        return Err(TwoStageReason::LiveAreHidden { application, silence, patience }.into());
    }
    Ok(())
}

/// Every crash finds an instance that has sent a heartbeat since it registered, and sweeps that are under way.
pub(super) fn crashes_come_late(
    scenario: Case<'_>,
    crashes: &[Hit],
    latency: &Latency,
    deaths: &[Death],
) -> Result<(), Reason> {
    let arrivals = hits(&scenario, EventKind::Registration);
    let call = latency.round_trip().max;
    let first_sweep = ms(scenario.server().sweep_initial_delay_ms) + call * 3;
    for (place, app) in scenario.apps().enumerate() {
        let beats_by = call * 3 + ms(app.client.first_heartbeat_delay_ms);
        for hit in crashes.iter().filter(|hit| hit.at_most_of(place) > 0 && app.client.registers) {
            let mut others =
                arrivals.iter().filter(|new| new.fault != hit.fault && new.at_most_of(place) > 0);
            let no_newcomer = others.all(|new| hit.to < new.from || hit.from >= new.to + beats_by);
            if scenario.warm_up + hit.from < beats_by || !no_newcomer {
                return Err(TwoStageReason::NoHeartbeatYet.into());
            }
            if scenario.warm_up + hit.from + deaths[place].hidden.min < first_sweep {
                return Err(TwoStageReason::NoSweepYet.into());
            }
        }
    }
    Ok(())
}

/// Whoever deregisters is gone: no heartbeat follows that would be answered false (`two-stage.md` C12).
pub(super) fn stops_are_final(scenario: Case<'_>, stops: &[Hit], latency: &Latency) -> Result<(), Reason> {
    // A heartbeat that was sent before may arrive after.
    let may_overtake = latency.range.min < latency.range.max;
    for (place, app) in scenario.apps().enumerate() {
        let client = app.client;
        let hit = client.registers && stops.iter().any(|hit| hit.at_most_of(place) > 0);
        let goes_on = client.deregister_linger_ms > 0 || may_overtake;
        if hit && !client.stop_heartbeat_before_deregister && goes_on {
            return Err(TwoStageReason::RegistersAgain.into());
        }
    }
    Ok(())
}

/// How many entries of application `place` there are at the start, leave and come: none of one that does not register.
fn counts(scenario: Case<'_>, place: usize) -> [u64; 3] {
    let app = scenario.app(AppId(place as u32));
    let of_kind = |kind| -> u64 { hits(&scenario, kind).iter().map(|hit| hit.at_most_of(place)).sum() };
    if !app.client.registers {
        return [0; 3];
    }
    [
        u64::from(app.instances),
        of_kind(EventKind::Crash) + of_kind(EventKind::Stop),
        of_kind(EventKind::Registration),
    ]
}

/// What `client` hears of with the answer that tells it of application `place`.
fn told_together(scenario: Case<'_>, client: &ClientConfig, place: usize) -> Vec<usize> {
    match client.discovery {
        Discovery::Poll => (0..scenario.applications.len()).collect(),
        Discovery::LongPoll | Discovery::PushPlusPoll => vec![place],
    }
}

/// A consumer takes every answer that tells it of application `place` (`two-stage.md` 2.3).
pub(super) fn answers_are_taken(
    scenario: Case<'_>,
    client: &ClientConfig,
    place: usize,
) -> Result<(), Reason> {
    for other in told_together(scenario, client, place) {
        let [entries, leave, come] = counts(scenario, other);
        let (least, most) = (entries.saturating_sub(leave), entries + come);
        let refused = match client.sanity {
            Sanity::Half => least * 2 < most,
            Sanity::PushEmpty => least == 0,
            Sanity::None => false,
        };
        if refused && leave > 0 {
            let application = scenario.applications[other].name.clone();
            return Err(TwoStageReason::ListIsRefused { application, leave, entries }.into());
        }
    }
    Ok(())
}

/// No consumer's file matters: none is written to a full disk, and none shows who is not there yet.
pub(super) fn files_do_not_matter(
    scenario: Case<'_>,
    client: &ClientConfig,
    event: EventKind,
) -> Result<(), Reason> {
    if client.disk_mode == DiskMode::None {
        return Ok(());
    }
    let full = |verb: &FaultKind| matches!(verb, FaultKind::FullDisk { .. });
    if !client.disk_writable || scenario.faults.iter().any(|fault| full(&fault.verb)) {
        return Err(TwoStageReason::FullDisk.into());
    }
    let returns = |verb: &FaultKind| matches!(verb, FaultKind::Restart { new_id: false, .. });
    let some_return = scenario.faults.iter().any(|fault| returns(&fault.verb));
    if event == EventKind::Registration && client.disk_load_at_start && some_return {
        return Err(TwoStageReason::ShowsItsFile.into());
    }
    Ok(())
}

/// Whether nobody of application `place` may be there just before `event` makes `hit` come or go.
pub(super) fn may_be_empty(scenario: Case<'_>, event: EventKind, hit: &Hit, place: usize) -> bool {
    let [entries, leave, _] = counts(scenario, place);
    // Those whose end empties a list are seen by then.
    let own = if event.is_end() { hit.at_most_of(place) } else { 0 };
    entries == 0 || (leave > own && leave >= entries)
}

/// From the end of one poll to the next, of a consumer that waits to hear of application `place`: an empty list may
/// count as a failure (`two-stage.md` 4.2, N4).
pub(super) fn poll_interval(
    scenario: Case<'_>,
    client: &ClientConfig,
    (event, hit, place): (EventKind, &Hit, usize),
    latency: &Latency,
) -> Result<SimDuration, Reason> {
    let interval = ms(client.poll_interval_ms);
    let is_empty = match client.discovery {
        Discovery::Poll => {
            (0..scenario.applications.len()).all(|other| may_be_empty(scenario, event, hit, other))
        }
        Discovery::LongPoll => false,
        Discovery::PushPlusPoll => may_be_empty(scenario, event, hit, place),
    };
    if !client.empty_is_failure || !is_empty {
        return Ok(interval);
    }
    let backs_off = || TwoStageReason::BacksOff.into();
    let is_first = event == EventKind::Registration && counts(scenario, place) == [0, 0, 1];
    if !is_first || client.discovery != Discovery::PushPlusPoll {
        return Err(backs_off());
    }
    // The waits grow until they reach the longest.
    let longest = client.backoff.wait(u32::MAX);
    let ramp = (1..).map(|failures| client.backoff.wait(failures)).take_while(|wait| *wait < longest);
    let (count, waited) = ramp.fold((3, longest), |(count, sum), wait| (count + 1, sum + wait));
    if scenario.warm_up + hit.from < waited + interval + latency.round_trip().max * count {
        return Err(backs_off());
    }
    Ok(longest)
}
