//! How well the servers and each observer told who is alive.

use super::rows::Tally;
use super::server::ServerMistakes;
use super::suspicion::Suspicions;
use super::wellness::Wellness;
use crate::model::stage::Stage;
use crate::observe::data::Quality;
use crate::observe::layout::Layout;
use crate::observe::observers::Observers;

/// Observers that have a row of their own at each stage at most: the worst.
const OWN_ROWS_MAX: usize = 1_000;

/// The rows of a replicate that has ended: the servers' by stage and server, then the observers' by stage: the worst
/// first, then the others that made mistakes, then those that made none.
pub(super) fn rows(
    layout: Layout,
    wellness: &Wellness,
    servers: &[ServerMistakes],
    suspicions: &Suspicions,
    observers: &Observers,
) -> Vec<Quality> {
    let mut rows = Vec::new();
    for (number, &stage) in layout.of_server.iter().enumerate() {
        for server in servers {
            let row = row(stage, wellness.good_nanos(None), server.tally(number));
            rows.push(Quality { server: Some(server.server()), ..row });
        }
    }
    for (number, &stage) in layout.of_observer.iter().enumerate() {
        let (mut wrong, mut right) = (Vec::new(), None);
        for place in (0..observers.len() as u32).filter(|&place| observers.was_shown(place, number)) {
            let own = row(stage, wellness.good_nanos(Some(place)), &suspicions.tally_of(place)[number]);
            if own.mistakes > 0 {
                wrong.push(Quality { observer: Some(observers.own(place)), ..own });
            } else {
                right = Some(right.map_or(own.clone(), |sum| together(sum, &own)));
            }
        }
        wrong.sort_by(|one, other| {
            worse(other, one)
                .then(other.mistaken_nanos.cmp(&one.mistaken_nanos))
                .then(one.observer.cmp(&other.observer))
        });
        let others = wrong.split_off(wrong.len().min(OWN_ROWS_MAX));
        rows.extend(wrong);
        let unnamed = others.into_iter().map(|row| Quality { observer: None, ..row });
        rows.extend(unnamed.reduce(|sum, row| together(sum, &row)));
        rows.extend(right);
    }
    rows
}

fn row(stage: Stage, good_nanos: u128, tally: &Tally) -> Quality {
    Quality {
        stage,
        server: None,
        observer: None,
        observers: 1,
        good_nanos,
        mistaken_nanos: tally.nanos,
        mistakes: tally.mistakes,
        corrected: tally.corrected,
    }
}

/// Which was wrong for the larger share of its time.
fn worse(one: &Quality, other: &Quality) -> std::cmp::Ordering {
    let share = |row: &Quality| row.mistaken_nanos as f64 / row.good_nanos.max(1) as f64;
    share(one).total_cmp(&share(other))
}

/// One row for both.
fn together(sum: Quality, row: &Quality) -> Quality {
    Quality {
        observers: sum.observers + row.observers,
        good_nanos: sum.good_nanos + row.good_nanos,
        mistaken_nanos: sum.mistaken_nanos + row.mistaken_nanos,
        mistakes: sum.mistakes + row.mistakes,
        corrected: sum.corrected + row.corrected,
        ..sum
    }
}
