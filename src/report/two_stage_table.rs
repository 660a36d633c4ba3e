//! The terminal's table of what only a two-stage registry does: its two kinds of eviction, its guards, and what its
//! consumers refused. It is shown if a guard was ever shut, or consumers did any of it.

use super::summary::Summary;
use super::table::{Layout, bold, grouped, line, note, table_lines};

/// One row; `None` if there is nothing to tell.
pub(super) fn two_stage_table(summary: &Summary) -> Option<String> {
    let consumers = summary.consumers?;
    let was_shut = summary.guard.filter(|guard| guard.shut_in > 0);
    if was_shut.is_none() && consumers.is_quiet() {
        return None;
    }
    let sum = |count: fn(&super::ServerSummary) -> u64| grouped(summary.servers.iter().map(count).sum());
    let mut cells = vec![
        ("marked", sum(|server| server.soft_evicted.unwrap_or(0))),
        ("alive", sum(|server| server.false_removals)),
        ("removed", sum(|server| server.evicted)),
    ];
    let mut notes =
        "marked: entries that turned unhealthy, and how many of the instances behind them were alive and \
                     well. removed: entries."
            .to_owned();
    if let Some(guard) = was_shut {
        let replicates = grouped(summary.replicates.into());
        let of = |count: u32| format!("{} of {replicates}", grouped(count.into()));
        cells.extend([
            ("guard shut in", of(guard.shut_in)),
            ("at the end", of(guard.shut_at_end)),
            ("minutes", format!("{:.1}", guard.shut_ms.mean / 60_000.0)),
        ]);
        let mean = if summary.replicates == 1 { "" } else { " on average" };
        notes.push_str(&format!(
            " guard shut: replicates in which it was, at whose end it was, and minutes{mean}."
        ));
    }
    if !consumers.is_quiet() {
        cells.extend([
            ("refused", grouped(consumers.refused_answers)),
            ("warnings", grouped(consumers.refresh_warnings)),
            ("failed starts", grouped(consumers.failed_starts)),
        ]);
        notes.push_str(
            " refused: answers that consumers took for implausible. warnings: that their refreshes fail. failed \
             starts: since a snapshot could not be read.",
        );
    }
    let (header, row) = cells.into_iter().map(|(name, text)| (name.to_owned(), text)).unzip();
    let mut text = String::new();
    bold(&mut text, "what the registry and its consumers did, over all replicates");
    table_lines(header, [row], Layout::after_names(0)).iter().for_each(|row| line(&mut text, row));
    note(&mut text, &notes);
    Some(text)
}
