//! The terminal's table of servers, where there are several or their threads are counted: what each held, removed and had
//! to do.

use super::servers::{ServerSummary, Spread};
use super::summary::Summary;
use super::table::{Layout, bold, grouped, line, note, table_lines};

/// Servers that are shown; all are in `summary.json`.
const ROWS: usize = 16;
const HEADER: [&str; 8] =
    ["server", "leases", "protected", "evicted", "alive", "renewals", "from peers", "fetches"];
/// That of a two-stage registry.
const HEADER_OF_TWO_STAGES: [&str; 7] =
    ["server", "entries", "marked", "alive", "removed", "heartbeats", "fetches"];
/// Further columns, with a capacity.
const OF_THREADS: [&str; 3] = ["busy", "busiest", "queue"];

/// A row a server.
pub(super) fn servers_table(summary: &Summary) -> String {
    let shown = &summary.servers[..summary.servers.len().min(ROWS)];
    let has_capacity = shown.iter().any(|server| server.utilisation.is_some());
    let header: &[&str] = if summary.is_two_stage() { &HEADER_OF_TWO_STAGES } else { &HEADER };
    let header = header.iter().copied().chain(OF_THREADS.into_iter().filter(|_| has_capacity));
    let header = header.map(str::to_owned).collect();
    let mut text = String::new();
    bold(&mut text, "what each server held at the end, removed, and answered");
    let rows = shown.iter().map(cells);
    table_lines(header, rows, Layout::after_names(1)).iter().for_each(|row| line(&mut text, row));
    if summary.servers.len() > ROWS {
        note(&mut text, &format!("The other {} servers are in summary.json.", summary.servers.len() - ROWS));
    }
    let mut notes = notes(summary);
    if has_capacity {
        notes.push_str(" busy: the share of its threads' time, in the run and in the busiest minute, in %. queue: the most requests that waited.");
    }
    note(&mut text, &notes);
    if let Some(down) = down(summary) {
        note(&mut text, &down);
    }
    text
}

/// What the columns mean, but for those of threads.
fn notes(summary: &Summary) -> String {
    let means = if summary.replicates == 1 { "" } else { ", both on average" };
    let all = if summary.replicates == 1 { "" } else { " over all replicates" };
    if summary.is_two_stage() {
        let mean = if summary.replicates == 1 { "" } else { ", on average" };
        return format!(
            "entries: at the end, unhealthy ones included{mean}. marked{all}: entries that turned unhealthy, and how many of \
             the instances behind them were alive and well. removed: entries. heartbeats and fetches: a minute."
        );
    }
    format!(
        "leases: at the end. protected: minutes with self-preservation engaged{means}. evicted{all}, and how many of these \
         were alive and well. renewals (by clients, and passed on by peers) and fetches: a minute."
    )
}

fn cells(server: &ServerSummary) -> Vec<String> {
    let mut texts = vec![server.server.clone(), mean(server.left_at_end)];
    texts.extend(server.self_preservation_ms.map(|engaged| format!("{:.1}", engaged.mean / 60_000.0)));
    match server.soft_evicted {
        Some(marked) => texts.extend([marked, server.false_removals, server.evicted].map(grouped)),
        None => texts.extend([server.evicted, server.false_removals].map(grouped)),
    }
    texts.push(rate(server.renewals_per_minute));
    texts.extend(server.batch_renewals_per_minute.map(rate));
    texts.push(rate(server.fetches_per_minute));
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    texts.extend([server.utilisation, server.busiest_minute_utilisation].into_iter().flatten().map(percent));
    texts.extend(server.waiting_max.map(|waiting| grouped(waiting.into())));
    texts
}

/// A mean, with a decimal where that says more.
pub(super) fn mean(spread: Spread) -> String {
    let is_whole = spread.mean.fract() == 0.0;
    if is_whole || spread.mean >= 1_000.0 {
        grouped(spread.mean.round() as u64)
    } else {
        format!("{:.1}", spread.mean)
    }
}

/// A number a minute.
fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { grouped(rate.round() as u64) }
}

/// Which servers were not there at the end; `None` if all were.
fn down(summary: &Summary) -> Option<String> {
    let down = summary.servers.iter().filter(|server| server.up_at_end < summary.replicates);
    let told = down.take(ROWS).map(|server| match summary.replicates - server.up_at_end {
        _ if summary.replicates == 1 => server.server.clone(),
        replicates => format!("{} in {replicates} of {} replicates", server.server, summary.replicates),
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("Down at the end: {}.", told.join(", ")))
}
