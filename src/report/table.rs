//! The terminal's answer: a table of detection times with the closed form beside it, one sentence, the
//! verdicts, the place of the files and the command that repeats the run. At most 100 columns wide.

use std::fmt::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};

use super::calls_table;
use super::length::in_seconds;
use super::mistake_table::mistake_table;
use super::servers_table::servers_table;
use super::stages::StageSummary;
use super::summary::{ExpectationSummary, Summary};
use super::two_stage_table::two_stage_table;
use super::words::{caption, plural};
use crate::analysis::Reason;
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
        bold(&mut text, calls_table::caption(summary));
        calls_table::lines(&summary.calls).iter().for_each(|row| line(&mut text, row));
        if let Some(blame) = calls_table::blame(summary) {
            note(&mut text, &blame);
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
        "{BOLD}{}{BOLD:#}\n{release}, {servers}{}, seed {}, {} events",
        summary.title,
        plural(summary.replicates.into(), "replicate"),
        summary.seed,
        grouped(summary.events),
    )
}

fn event_table(event: EventKind, rows_of: &[&StageSummary]) -> String {
    let superseded = rows_of.iter().any(|row| row.superseded > 0);
    let rows = rows_of.iter().map(|row| cells(row, superseded));
    let header = header(superseded);
    // The closed form stands apart from what was simulated.
    let apart = header.len() - 3;
    let lines = table_lines(header, rows, |column| Layout { right: column > 0, apart: column == apart });
    let width = width_of(&lines);
    let caption = format!("{}, in seconds", caption(event, "a stage"));
    let closed = "closed form";
    let left = width.saturating_sub(closed.len());
    let mut text = String::new();
    if caption.len() < left {
        bold(&mut text, &format!("{caption:<left$}{closed}"));
    } else {
        bold(&mut text, &format!("{caption}\n{:<left$}{closed}", ""));
    }
    lines.iter().for_each(|row| line(&mut text, row));
    footnotes(&mut text, rows_of);
    text
}

/// How a column of a table stands.
pub(super) struct Layout {
    /// Whether its cells stand at its right edge.
    pub(super) right: bool,
    /// Whether there is more room before it than before others.
    pub(super) apart: bool,
}

impl Layout {
    /// Names in so many columns, and then numbers.
    pub(super) fn after_names(names: usize) -> impl Fn(usize) -> Self {
        move |column| Self { right: column >= names, apart: false }
    }
}

/// The lines of a table with a line under its head and no other.
pub(super) fn table_lines(
    header: Vec<String>,
    rows: impl IntoIterator<Item = Vec<String>>,
    layout: impl Fn(usize) -> Layout,
) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(
        TableStyle::new()
            .header_lines(ContentLineStyle::none().junction(' '))
            .header_separator(LineStyle::none().fill('─').junction('─'))
            .content_lines(ContentLineStyle::none().junction(' ')),
    );
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        let Layout { right, apart } = layout(column.index);
        column.set_padding((if apart { 3 } else { 0 }, 1));
        if right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The widest of some lines.
pub(super) fn width_of(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count()).max().unwrap_or(0)
}

fn header(superseded: bool) -> Vec<String> {
    let counts: &[&str] = if superseded { &["obs.", "cens.", "supers."] } else { &["obs.", "cens."] };
    let figures = ["min", "mean", "p50", "p90", "p95", "p99", "max", "min", "mean", "max"];
    [&["stage"], counts, &figures].concat().into_iter().map(str::to_owned).collect()
}

fn cells(row: &StageSummary, superseded: bool) -> Vec<String> {
    let mut texts = vec![row.stage.name().to_owned(), row.count.to_string(), row.censored.to_string()];
    if superseded {
        texts.push(row.superseded.to_string());
    }
    texts.extend(row.times_ms().map(|ms| ms.map_or_else(|| "–".to_owned(), in_seconds)));
    texts
}

fn footnotes(text: &mut String, rows: &[&StageSummary]) {
    if rows.iter().any(|row| row.censored > 0) {
        note(text, "cens.: not ended when the run did. A figure that these decide is left out (–).");
    }
    let reasons: [(&str, WhyAbsent); 2] = [
        ("no closed form", |row| row.bound_absent_because.as_ref()),
        ("no closed mean", |row| row.bound_mean_absent_because.as_ref()),
    ];
    for (lack, reason) in reasons {
        let mut told: Vec<(&Reason, Vec<&str>)> = Vec::new();
        for row in rows {
            let Some(because) = reason(row) else { continue };
            match told.iter_mut().find(|(known, _)| *known == because) {
                Some((_, stages)) => stages.push(row.stage.name()),
                None => told.push((because, vec![row.stage.name()])),
            }
        }
        for (because, stages) in told {
            note(text, &format!("{lack} for {}: {because}.", stages.join(", ")));
        }
    }
}

/// Why a row lacks something.
type WhyAbsent = fn(&StageSummary) -> Option<&Reason>;

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

/// A line that stands above a table.
pub(super) fn bold(text: &mut String, content: &str) {
    line(text, &format!("{BOLD}{content}{BOLD:#}"));
}

/// A note below a table, wrapped.
pub(super) fn note(text: &mut String, content: &str) {
    paragraph(text, &format!("{DIM}{content}{DIM:#}"));
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
    use crate::report::fixtures::Fixture;

    fn plain(made: &Fixture) -> String {
        let text = table(&Summary::of(&made.report()), Some(Path::new("output/default")));
        let text = anstream::adapter::strip_str(&text).to_string();
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
        text
    }

    #[test]
    fn the_default_question_is_answered() {
        insta::assert_snapshot!(plain(&Fixture::crashes(300, 99)));
    }

    #[test]
    fn what_is_censored_is_marked_and_explained() {
        insta::assert_snapshot!(plain(&Fixture::protected(20)));
    }

    #[test]
    fn mistakes_have_a_table_if_there_are_any() {
        insta::assert_snapshot!(plain(&Fixture::quiet(3)));
    }

    #[test]
    fn every_event_has_a_table() {
        insta::assert_snapshot!(plain(&Fixture::coming_and_going(20)));
    }

    #[test]
    fn calls_have_a_table_of_their_own() {
        insta::assert_snapshot!(plain(&Fixture::calling(20, true)));
    }

    #[test]
    fn several_servers_have_a_row_each() {
        insta::assert_snapshot!(plain(&Fixture::cut_off(3, 3)));
    }

    #[test]
    fn a_great_many_servers_do_not_fill_the_screen() {
        insta::assert_snapshot!(plain(&Fixture::cut_off(1, 40)));
    }

    #[test]
    fn a_two_stage_registry_has_an_entry_and_no_balancer() {
        insta::assert_snapshot!(plain(&Fixture::two_stages(300, 19)));
    }

    #[test]
    fn a_guard_that_is_shut_has_a_table() {
        insta::assert_snapshot!(plain(&Fixture::jammed(50)));
    }

    #[test]
    fn who_is_protected_from_being_hidden_is_told() {
        insta::assert_snapshot!(plain(&Fixture::only_instance(50)));
    }

    #[test]
    fn digits_stand_in_threes() {
        assert_eq!(["1", "123", "1,234", "1,234,567"], [1, 123, 1_234, 1_234_567].map(grouped).as_slice());
    }
}
