//! The terminal's answer: a table of detection times with the closed form beside it, one sentence, the
//! verdicts, the place of the files and the command that repeats the run. At most 100 columns wide.

use std::fmt::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};

use super::calls_table;
use super::length::in_seconds;
use super::mistake_table::mistake_table;
use super::servers_table::servers_table;
use super::stages::StageSummary;
use super::summary::{ExpectationSummary, Summary};
use super::two_stage_table::two_stage_table;
use crate::model::stage::EventKind;

/// Columns that text is wrapped to.
pub(super) const WIDTH: usize = 98;
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// The whole answer, with colours; a printer that shows none strips them. `directory` is where the files are.
pub fn table(summary: &Summary, directory: Option<&Path>) -> String {
    let mut text = String::new();
    paragraph(&mut text, &heading(summary));
    for event in summary.events_watched() {
        let rows: Vec<&StageSummary> = summary.stages.iter().filter(|row| row.event == event).collect();
        line(&mut text, "");
        text.push_str(&event_table(event, &rows));
    }
    if !summary.mistakes.is_empty() {
        line(&mut text, "");
        text.push_str(&mistake_table(summary));
    }
    if !summary.calls.is_empty() {
        line(&mut text, "");
        line(&mut text, &format!("{BOLD}{}{BOLD:#}", calls_table::caption(summary)));
        calls_table::lines(&summary.calls).iter().for_each(|row| line(&mut text, row));
        if let Some(blame) = calls_table::blame(summary) {
            paragraph(&mut text, &format!("{DIM}{blame}{DIM:#}"));
        }
    }
    if let Some(lines) = two_stage_table(summary) {
        line(&mut text, "");
        text.push_str(&lines);
    }
    let has_capacity = summary.servers.iter().any(|server| server.utilisation.is_some());
    if summary.servers.len() > 1 || has_capacity {
        line(&mut text, "");
        text.push_str(&servers_table(summary));
    }
    line(&mut text, "");
    paragraph(&mut text, &summary.answer);
    if !summary.expectations.is_empty() {
        line(&mut text, "");
        summary.expectations.iter().for_each(|expectation| line(&mut text, &verdict(expectation)));
    }
    line(&mut text, "");
    if let Some(directory) = directory {
        line(&mut text, &format!("{DIM}files {DIM:#} {}", directory.display()));
    }
    line(&mut text, &format!("{DIM}repeat{DIM:#} {}", summary.command));
    text
}

fn heading(summary: &Summary) -> String {
    let servers = match summary.servers.len() {
        1 => String::new(),
        several => format!("{several} servers, "),
    };
    let release = match summary.is_two_stage() {
        true => format!("{} registry", summary.release),
        false => format!("release {}", summary.release),
    };
    format!(
        "{BOLD}{}{BOLD:#}\n{release}, {servers}{} {}, seed {}, {} events",
        summary.title,
        grouped(summary.replicates.into()),
        if summary.replicates == 1 { "replicate" } else { "replicates" },
        summary.seed,
        grouped(summary.events),
    )
}

fn event_table(event: EventKind, rows: &[&StageSummary]) -> String {
    let superseded = rows.iter().any(|row| row.superseded > 0);
    let mut table = plain_table();
    table.set_header(header(superseded));
    for row in rows {
        table.add_row(cells(row, superseded));
    }
    let columns = table.column_count();
    for column in table.column_iter_mut() {
        // The closed form stands apart from what was simulated.
        let left = if column.index + 3 == columns { 3 } else { 0 };
        column.set_padding((left, 1));
        if column.index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let caption = caption(event);
    let closed = "closed form";
    let left = width.saturating_sub(closed.len());
    let mut text = String::new();
    if caption.len() < left {
        line(&mut text, &format!("{BOLD}{caption:<left$}{closed}{BOLD:#}"));
    } else {
        line(&mut text, &format!("{BOLD}{caption}\n{:<left$}{closed}{BOLD:#}", ""));
    }
    lines.iter().for_each(|row| line(&mut text, row));
    footnotes(&mut text, rows);
    text
}

/// A table with a line under its head and no other.
pub(super) fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(
        TableStyle::new()
            .header_lines(ContentLineStyle::none().junction(' '))
            .header_separator(LineStyle::none().fill('─').junction('─'))
            .content_lines(ContentLineStyle::none().junction(' ')),
    );
    table
}

fn caption(event: EventKind) -> &'static str {
    match event {
        EventKind::Crash => "from a crash until a stage no longer shows the instance, in seconds",
        EventKind::Stop => "from an orderly stop until a stage no longer shows the instance, in seconds",
        EventKind::Registration => "from a registration until a stage shows the instance, in seconds",
        EventKind::Unhealthy => {
            "from the moment health went DOWN until a stage no longer shows the instance, in seconds"
        }
        EventKind::Override => {
            "from an operator's override until a stage no longer shows the instance, in seconds"
        }
        EventKind::Recovery => "from a recovery until a stage shows the instance, in seconds",
    }
}

fn header(superseded: bool) -> Vec<Cell> {
    let counts: &[&str] = if superseded { &["obs.", "cens.", "supers."] } else { &["obs.", "cens."] };
    let figures = ["min", "mean", "p50", "p90", "p95", "p99", "max", "min", "mean", "max"];
    [&["stage"], counts, &figures].concat().into_iter().map(Cell::new).collect()
}

fn cells(row: &StageSummary, superseded: bool) -> Vec<Cell> {
    let mut texts = vec![row.stage.name().to_owned(), row.count.to_string(), row.censored.to_string()];
    if superseded {
        texts.push(row.superseded.to_string());
    }
    texts.extend(row.times_ms().map(|ms| ms.map_or_else(|| "–".to_owned(), in_seconds)));
    texts.into_iter().map(Cell::new).collect()
}

fn footnotes(text: &mut String, rows: &[&StageSummary]) {
    if rows.iter().any(|row| row.censored > 0) {
        let note = "cens.: not ended when the run did. A figure that these decide is left out (–).";
        line(text, &format!("{DIM}{note}{DIM:#}"));
    }
    let reasons: [(&str, Reason); 2] = [
        ("no closed form", |row| row.bound_absent_because.as_deref()),
        ("no closed mean", |row| row.bound_mean_absent_because.as_deref()),
    ];
    for (lack, reason) in reasons {
        let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
        for row in rows {
            let Some(because) = reason(row) else { continue };
            match told.iter_mut().find(|(known, _)| *known == because) {
                Some((_, stages)) => stages.push(row.stage.name()),
                None => told.push((because, vec![row.stage.name()])),
            }
        }
        for (because, stages) in told {
            paragraph(text, &format!("{DIM}{lack} for {}: {because}.{DIM:#}", stages.join(", ")));
        }
    }
}

/// Why a row lacks something.
type Reason = fn(&StageSummary) -> Option<&str>;

fn verdict(expectation: &ExpectationSummary) -> String {
    let (style, word) = if expectation.passed { (GOOD, "held  ") } else { (BAD, "missed") };
    format!(
        "{style}{word}{style:#} {} {DIM}(in {} of {}, required: {}){DIM:#}",
        expectation.expectation,
        grouped(expectation.held_in.into()),
        grouped(expectation.replicates.into()),
        share(expectation.required_share),
    )
}

fn share(share: f64) -> String {
    if share >= 1.0 { "all".to_owned() } else { format!("{} %", (share * 1e6).round() / 1e4) }
}

/// A number with a comma before every three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn line(text: &mut String, content: &str) {
    writeln!(text, "{content}").expect("a string takes everything");
}

/// Appends text, wrapped at spaces. Escape sequences count for nothing.
pub(super) fn paragraph(text: &mut String, content: &str) {
    for source in content.lines() {
        let mut used = 0;
        for word in source.split(' ') {
            let length = anstream::adapter::strip_str(word).to_string().chars().count();
            if used > 0 && used + 1 + length > WIDTH {
                text.push('\n');
                used = 0;
            } else if used > 0 {
                text.push(' ');
                used += 1;
            }
            text.push_str(word);
            used += length;
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made_up::Made;

    fn plain(made: &Made) -> String {
        let text = table(&Summary::of(&made.report()), Some(Path::new("output/default")));
        let text = anstream::adapter::strip_str(&text).to_string();
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
        text
    }

    #[test]
    fn the_default_question_is_answered() {
        insta::assert_snapshot!(plain(&Made::crashes(300, 99)));
    }

    #[test]
    fn what_is_censored_is_marked_and_explained() {
        insta::assert_snapshot!(plain(&Made::protected(20)));
    }

    #[test]
    fn mistakes_have_a_table_if_there_are_any() {
        insta::assert_snapshot!(plain(&Made::quiet(3)));
    }

    #[test]
    fn every_event_has_a_table() {
        insta::assert_snapshot!(plain(&Made::coming_and_going(20)));
    }

    #[test]
    fn calls_have_a_table_of_their_own() {
        insta::assert_snapshot!(plain(&Made::calling(20, true)));
    }

    #[test]
    fn several_servers_have_a_row_each() {
        insta::assert_snapshot!(plain(&Made::cut_off(3, 3)));
    }

    #[test]
    fn a_great_many_servers_do_not_fill_the_screen() {
        insta::assert_snapshot!(plain(&Made::cut_off(1, 40)));
    }

    #[test]
    fn a_two_stage_registry_has_an_entry_and_no_balancer() {
        insta::assert_snapshot!(plain(&Made::two_stages(300, 19)));
    }

    #[test]
    fn a_guard_that_is_shut_has_a_table() {
        insta::assert_snapshot!(plain(&Made::jammed(50)));
    }

    #[test]
    fn who_is_protected_from_being_hidden_is_told() {
        insta::assert_snapshot!(plain(&Made::only_instance(50)));
    }

    #[test]
    fn digits_stand_in_threes() {
        assert_eq!(["1", "123", "1,234", "1,234,567"], [1, 123, 1_234, 1_234_567].map(grouped).as_slice());
    }
}
