//! Warnings about events of a fleet that self-preservation takes for an outage, by the two numbers of
//! [`crate::scenario::eureka::lint::protection`]: the renewals of a minute, and the threshold that they must exceed.
//!
//! A registration raises the expected number of clients at once, but its heartbeats fill a minute only later; a
//! killed instance's heartbeats are gone at once, but it is expected until its lease is evicted
//! (`eureka-server.md` 4.5, 4.6).

use crate::engine::SimDuration;
use crate::model::eureka::Eureka;
use crate::model::id::AppId;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::eureka::lint::protection::{self, threshold};
use crate::scenario::eureka::lint::servers::all_hear_all;
use crate::scenario::lint::seconds;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::types::Fault;
use crate::scenario::types::targets::{Batch, Order};
use crate::scenario::types::verb::FaultKind;

/// The minute in which renewals are counted.
const MINUTE: SimDuration = SimDuration::from_secs(60);

/// Whether a fault of the fleet engages self-preservation though nothing is wrong.
pub(crate) fn lint(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Option<Problem> {
    if !scenario.server().enable_self_preservation || !all_hear_all(&scenario) {
        return None;
    }
    let of = |app: AppId| scenario.app(app);
    match fault.verb {
        FaultKind::Start { application, count, over } => {
            storm(scenario, table, of(application), within_a_minute(f64::from(count), over))
        }
        FaultKind::BlueGreen { from, to, .. } => {
            storm(scenario, table, of(to), f64::from(of(from).instances))
        }
        FaultKind::RollOut { .. } => roll_out(scenario, &fault.verb, table),
        _ => None,
    }
}

/// The part of something spread over a while that falls into one minute at most.
fn within_a_minute(count: f64, over: SimDuration) -> f64 {
    if over <= MINUTE { count } else { count * MINUTE.as_secs_f64() / over.as_secs_f64() }
}

/// New instances that are expected before they can have renewed.
fn storm(
    scenario: ScenarioOf<'_, Eureka>,
    table: &Table,
    app: AppOf<'_, Eureka>,
    new: f64,
) -> Option<Problem> {
    let fleet = protection::Fleet::of(scenario);
    if !app.client.register_with_eureka || fleet.size == 0 {
        return None;
    }
    let counts = Counts::of(scenario, &fleet, new);
    if counts.engaged_before || fleet.renewals > counts.needed {
        return None;
    }
    // One alone cannot be started one after the other.
    let (title, raised, way_out) = if new < 1.5 {
        ("a new instance engages self-preservation".to_owned(), "it raises", "")
    } else {
        let title = format!("{new:.0} new instances engage self-preservation");
        (title, "they raise", "; start them one after the other with `over`")
    };
    Some(
        Problem::warning(table.place.clone(), title)
            .label("until a whole minute holds their heartbeats, nothing is evicted")
            .hint(format!(
                "{raised} the threshold to {} at once, and the {} there were renew {:.0} times a minute{way_out}",
                counts.needed, fleet.size, fleet.renewals
            )),
    )
}

/// Batches that are killed: either so many at once that a minute lacks their heartbeats, or, with new ids, so many
/// in the life of a lease that the dead and the new are expected together.
fn roll_out(scenario: ScenarioOf<'_, Eureka>, verb: &FaultKind, table: &Table) -> Option<Problem> {
    let FaultKind::RollOut { application, batch, wait, down_for, graceful: false, new_id, order, .. } = verb
    else {
        return None;
    };
    let app = scenario.app(*application);
    let fleet = protection::Fleet::of(scenario);
    if !app.client.register_with_eureka || app.instances == 0 {
        return None;
    }
    let of = f64::from(app.instances);
    let batch = match batch {
        Batch::Count(count) => f64::from(*count).min(of),
        Batch::Share(share) => (share * of).round().max(1.0),
    };
    let interval = app.client.lease_renewal_interval_in_seconds.max(1);
    let away = (down_for.as_secs_f64() / 60.0).min(1.0);
    let missing = if *order == Order::StopFirst { batch * away * (60.0 / f64::from(interval)) } else { 0.0 };
    // A lease lives for two durations, and then until the next round.
    let round = SimDuration::from_millis(u64::from(scenario.server().eviction_interval_timer_in_ms));
    let lease = seconds(app.client.lease_expiration_duration_in_seconds) * 2 + round;
    let period = (*wait + *down_for).as_secs_f64().max(1.0);
    let batches = (lease.as_secs_f64() / period).floor() + 1.0;
    let twice = if *new_id { (batch * batches).min(of) } else { 0.0 };
    let counts = Counts::of(scenario, &fleet, twice);
    let renewals = fleet.renewals - missing;
    if counts.engaged_before || renewals > counts.needed {
        return None;
    }
    let place = table.at(&["roll-out", "batch"]).or_else(|| table.at(&["roll-out", "batch-share"]));
    let place = place.map_or_else(|| table.place.clone(), |node| node.place.clone());
    let why = if *new_id {
        format!("{twice:.0} are replaced before the first dead lease is evicted: each is expected twice")
    } else {
        format!("{batch:.0} at once are away for {down_for}: their heartbeats are missed")
    };
    Some(
        Problem::warning(place, "this roll-out engages self-preservation, and the dead stay registered")
            .label(why)
            .hint(format!(
                "{renewals:.0} renewals a minute against a threshold of {}; with `graceful = true` nobody is expected \
                 that has left",
                counts.needed
            )),
    )
}

/// The threshold when some are expected besides the fleet.
struct Counts {
    needed: f64,
    /// Whether protection is on without them: that is told elsewhere.
    engaged_before: bool,
}

impl Counts {
    fn of(scenario: ScenarioOf<'_, Eureka>, fleet: &protection::Fleet, more: f64) -> Self {
        let server = scenario.server();
        let expected = fleet.size.saturating_add(server.default_open_for_traffic_count);
        let needed = threshold(server, expected.saturating_add(more as u32));
        Self { needed, engaged_before: fleet.renewals <= threshold(server, expected) }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::lint::tests::warnings;

    #[test]
    fn a_storm_is_taken_for_an_outage() {
        // 100 renew 200 times a minute; 17 more make ⌊1.7 · 118⌋ = 200, 16 more ⌊1.7 · 117⌋ = 198.
        let start = |fault: &str| warnings(&format!("[[fault]]\nstart = {{ application = \"a\", {fault} }}"));
        assert!(start("count = 17").contains("17 new instances engage self-preservation"));
        assert_eq!(start("count = 16"), "");
        assert_eq!(start("count = 48, over = \"3m\""), "");
        let off = "[eureka.server]\nenable-self-preservation = false\n[[fault]]\n";
        assert_eq!(warnings(&format!("{off}start = {{ application = \"a\", count = 200 }}")), "");
    }

    #[test]
    fn a_roll_out_that_kills_is_taken_for_an_outage() {
        let roll_out =
            |keys: &str| warnings(&format!("[[fault]]\nroll-out = {{ application = \"a\", {keys} }}"));
        // 10 every 40 s for 180 + 60 s: 7 batches, 70 are expected twice: ⌊1.7 · 171⌋ = 290 against 200.
        let text = roll_out("batch = 10, graceful = false");
        assert!(text.contains("70 are replaced before the first dead lease is evicted"), "{text}");
        // One every 240 s: two batches at most, ⌊1.7 · 103⌋ = 175.
        assert_eq!(roll_out("batch = 1, wait = \"4m\", down-for = \"0s\", graceful = false"), "");
        // 20 for a minute: 160 renewals against 171; 5: 190.
        let same = "down-for = \"1m\", graceful = false, new-id = false";
        assert!(roll_out(&format!("batch = 20, {same}")).contains("20 at once are away for 1m"));
        assert_eq!(roll_out(&format!("batch = 5, {same}")), "");
        assert_eq!(roll_out("batch = 10"), "");
    }
}
