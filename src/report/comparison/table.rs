//! The terminal's answer: a line for each configuration and a table for each event, the extremes in words, the
//! expectations that were missed, the place of the files and the command that repeats it all.
//!
//! As many figures as 98 columns hold: all stages if they fit, or else the last one, where callers are.

use std::fmt::Write;
use std::path::Path;

use comfy_table::{Cell, CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};

use super::SCENARIO_AXIS;
use super::charts;
use super::figure::{Figure, Statistic, Value, after};
use super::summary::{ComparisonSummary, ConfigurationSummary};
use crate::model::stage::{EventKind, Stage};
use crate::report::in_words;
use crate::report::length::in_seconds_signed;
use crate::report::table::{BAD, BOLD, DIM, GOOD, WIDTH, grouped, line, paragraph};

/// A column's heading is broken at hyphens and dots to about so many letters.
const HEADING_WIDTH: usize = 14;
/// Configurations that a line about expectations lists.
const LISTED: usize = 12;

/// In which order configurations are shown; equal ones in plan order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sorting {
    /// By this; `None`: in plan order.
    pub by: Option<Figure>,
    /// The largest first, or the last of the plan.
    pub descending: bool,
}

impl Sorting {
    fn apply<'a>(&self, summary: &'a ComparisonSummary) -> Vec<&'a ConfigurationSummary> {
        let mut sorted: Vec<&ConfigurationSummary> = summary.configurations.iter().collect();
        match self.by {
            Some(figure) => {
                sorted.sort_by(|one, other| figure.of(one).order(figure.of(other), self.descending));
            }
            None if self.descending => sorted.reverse(),
            None => {}
        }
        sorted
    }
}

/// The whole answer, with colours; a printer that shows none strips them. `directory` is where the files are.
pub fn table(summary: &ComparisonSummary, sorting: &Sorting, directory: &Path) -> String {
    let mut text = String::new();
    paragraph(&mut text, &heading(summary, sorting));
    let sorted = sorting.apply(summary);
    let events = summary.events_watched();
    if events.is_empty() {
        line(&mut text, "");
        text.push_str(&event_table(summary, None, &sorted));
    }
    for event in events {
        line(&mut text, "");
        text.push_str(&event_table(summary, Some(event), &sorted));
        let extremes = extremes(summary, event);
        if !extremes.is_empty() {
            line(&mut text, "");
            paragraph(&mut text, &extremes);
        }
    }
    text.push_str(&verdicts(summary));
    line(&mut text, "");
    line(&mut text, &format!("{DIM}files {DIM:#} {}", directory.display()));
    line(&mut text, &format!("{DIM}repeat{DIM:#} {}", summary.command));
    text
}

fn heading(summary: &ComparisonSummary, sorting: &Sorting) -> String {
    let events = summary.configurations.iter().map(|configuration| configuration.events).sum();
    let order = match (sorting.by, sorting.descending) {
        (None, false) => String::new(),
        (None, true) => ", the last first".to_owned(),
        (Some(figure), false) => format!(", sorted by {figure}"),
        (Some(figure), true) => format!(", sorted by {figure}, the largest first"),
    };
    format!(
        "{BOLD}{}{BOLD:#}\n{}, {} each, seed {}, {} events{order}",
        summary.title,
        plural(summary.configurations.len() as u64, "configuration"),
        plural(summary.replicates.into(), "replicate"),
        summary.seed,
        grouped(events),
    )
}

/// A column: its heading, line by line, and what it says of a configuration.
struct Column<'a> {
    heading: Vec<String>,
    right: bool,
    say: Box<dyn Fn(&ConfigurationSummary) -> String + 'a>,
}

impl<'a> Column<'a> {
    fn new(heading: &[&str], say: impl Fn(&ConfigurationSummary) -> String + 'a) -> Self {
        let heading = heading.iter().map(|&line| line.to_owned()).collect();
        Self { heading, right: true, say: Box::new(say) }
    }

    fn figure(heading: [&str; 2], figure: Figure) -> Self {
        Self::new(&heading, move |configuration| match figure.of(configuration) {
            Value::Known(value) => figure.shown(value),
            Value::Beyond => "–".to_owned(),
            Value::Absent => String::new(),
        })
    }
}

fn event_table(
    summary: &ComparisonSummary,
    event: Option<EventKind>,
    sorted: &[&ConfigurationSummary],
) -> String {
    let stages = event.map(|event| summary.stages_watched(event)).unwrap_or_default();
    let last = stages.last().copied();
    let last_only: Vec<Stage> = last.into_iter().collect();
    // From the widest to the narrowest.
    let widest = [(&stages, true), (&stages, false), (&last_only, true), (&last_only, false)];
    let rendered =
        widest.map(|(stages, difference)| render(columns(summary, event, stages, difference), sorted));
    let fits = rendered.iter().find(|(_, width)| *width <= WIDTH);
    let (lines, _) = fits.unwrap_or(&rendered[rendered.len() - 1]);
    let mut text = String::new();
    if let Some(event) = event {
        line(&mut text, &format!("{BOLD}{}, in seconds{BOLD:#}", caption(event)));
    }
    lines.iter().for_each(|row| line(&mut text, row));
    let censored = |configuration: &&ConfigurationSummary| {
        let rows = configuration
            .stages
            .iter()
            .filter(|row| event.is_some_and(|one| row.figures.event == one.name()));
        rows.map(|row| row.figures.censored).sum::<u64>() > 0
    };
    if sorted.iter().any(censored) {
        let note = "–: not known, since not all observations had ended when the run did.";
        line(&mut text, &format!("{DIM}{note}{DIM:#}"));
    }
    text
}

fn columns<'a>(
    summary: &'a ComparisonSummary,
    event: Option<EventKind>,
    stages: &[Stage],
    difference: bool,
) -> Vec<Column<'a>> {
    let mut columns = vec![Column::new(&["#"], |configuration| configuration.configuration.to_string())];
    for (index, axis) in summary.axes.iter().enumerate() {
        let numeric = axis.values.iter().all(|value| value.starts_with(|c: char| c.is_ascii_digit()));
        let heading = broken(&charts::short_name(summary, axis));
        columns.push(Column {
            heading,
            right: numeric,
            say: Box::new(move |configuration| configuration.values[index].clone()),
        });
    }
    for &stage in stages {
        for (name, statistic) in [("mean", Statistic::Mean), ("p99", Statistic::P99)] {
            let heading = [if name == "mean" { stage.name() } else { "" }, name];
            columns.push(Column::figure(heading, Figure::DetectionTime(event, stage, statistic)));
        }
    }
    let last = stages.last().copied();
    if let (true, Some(event), Some(stage)) = (difference, event, last) {
        columns.push(Column::new(&["mean", "less #1"], move |configuration| {
            let difference = configuration.stage(event, stage).and_then(|row| row.difference);
            difference.map_or_else(String::new, |difference| {
                let half = difference.low_ms.zip(difference.high_ms).map(|(low, high)| (high - low + 1) / 2);
                let half = half.map(|half| format!(" ±{}", in_seconds_signed(half).trim_start_matches('+')));
                format!("{}{}", in_seconds_signed(difference.mean_ms), half.unwrap_or_default())
            })
        }));
    }
    columns.push(Column::figure(["requests", "/min"], Figure::Requests));
    if event.is_none() {
        // Without an event it is the load that is compared; this is of one server, where the other is of all.
        columns.push(Column::figure(["busiest", "minute"], Figure::BusiestMinute));
    }
    columns.push(Column::figure(["mis-", "takes"], Figure::Mistakes(Stage::Registry)));
    if summary.configurations.iter().any(|configuration| configuration.calls > 0) {
        columns.push(Column::figure(["failed", "calls %"], Figure::FailedCalls));
    }
    columns
}

/// The table's lines, and how wide the widest is.
fn render(columns: Vec<Column<'_>>, sorted: &[&ConfigurationSummary]) -> (Vec<String>, usize) {
    let mut table = Table::new();
    table.load_style(
        TableStyle::new()
            .header_lines(ContentLineStyle::none().junction(' '))
            .header_separator(LineStyle::none().fill('─').junction('─'))
            .content_lines(ContentLineStyle::none().junction(' ')),
    );
    let height = columns.iter().map(|column| column.heading.len()).max().unwrap_or(0);
    // Headings stand on the line.
    let heading = |column: &Column<'_>| {
        let above = std::iter::repeat_n(String::new(), height - column.heading.len());
        above.chain(column.heading.iter().cloned()).collect::<Vec<_>>().join("\n")
    };
    table.set_header(columns.iter().map(|column| Cell::new(heading(column))));
    for configuration in sorted {
        table.add_row(columns.iter().map(|column| Cell::new((column.say)(configuration))));
    }
    for (column, described) in table.column_iter_mut().zip(&columns) {
        column.set_padding((0, 1));
        if described.right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    (lines, width)
}

/// A name in lines, broken after hyphens and dots.
fn broken(name: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in name.split_inclusive(['-', '.']) {
        let last = lines.last_mut().expect("there is one");
        if !last.is_empty() && last.chars().count() + part.chars().count() > HEADING_WIDTH {
            lines.push(part.to_owned());
        } else {
            last.push_str(part);
        }
    }
    lines
}

/// From when until when, for a caption.
pub(super) fn caption(event: EventKind) -> String {
    let end = if event.is_end() { "no longer shows" } else { "shows" };
    let event = match event {
        EventKind::Unhealthy => "the moment health went DOWN",
        event => after(event),
    };
    format!("from {event} until a stage {end} the instance")
}

/// Between which configurations the mean at the last stage lies, in words.
fn extremes(summary: &ComparisonSummary, event: EventKind) -> String {
    let Some(stage) = summary.stages_watched(event).last().copied() else { return String::new() };
    let mean = |configuration: &ConfigurationSummary| configuration.stage(event, stage)?.figures.mean_ms;
    let known = || summary.configurations.iter().filter_map(|one| Some((mean(one)?, one)));
    let least = known().min_by_key(|(ms, one)| (*ms, one.configuration));
    let most = known().max_by_key(|(ms, one)| (*ms, std::cmp::Reverse(one.configuration)));
    let (Some((least_ms, least)), Some((most_ms, most))) = (least, most) else { return String::new() };
    if least_ms == most_ms {
        return String::new();
    }
    let named =
        |one: &ConfigurationSummary| format!("#{} ({})", one.configuration, named_values(summary, one));
    let open = |one: &&ConfigurationSummary| {
        one.stage(event, stage).is_some_and(|row| row.figures.count > 0 && row.figures.mean_ms.is_none())
    };
    let unknown = summary.configurations.iter().filter(open).count();
    let rest = match unknown {
        0 => String::new(),
        _ => {
            format!(" In {} not every observation had ended.", plural(unknown as u64, "other configuration"))
        }
    };
    format!(
        "The mean at the stage {} is least in {}, {}, and largest in {}, {}.{rest}",
        stage.name(),
        named(least),
        in_words(least_ms),
        named(most),
        in_words(most_ms),
    )
}

/// The configuration's values with the names of what varies: `a=1, b=2`.
fn named_values(summary: &ComparisonSummary, configuration: &ConfigurationSummary) -> String {
    let pairs = summary.axes.iter().zip(&configuration.values);
    let named = pairs.map(|(axis, value)| match axis.name.as_str() {
        SCENARIO_AXIS => value.clone(),
        _ => format!("{}={value}", charts::short_name(summary, axis)),
    });
    named.collect::<Vec<_>>().join(", ")
}

fn verdicts(summary: &ComparisonSummary) -> String {
    let mut text = String::new();
    let claims: usize = summary.configurations.iter().map(|one| one.expectations.len()).sum();
    if claims == 0 {
        return text;
    }
    line(&mut text, "");
    let missed = summary.missed();
    if missed.is_empty() {
        let all = plural(summary.configurations.len() as u64, "configuration");
        line(&mut text, &format!("{GOOD}held  {GOOD:#} every expectation, in {all}"));
    }
    for (expectation, numbers) in missed {
        let shown = numbers.iter().take(LISTED).map(|number| format!("#{number}"));
        let mut which = shown.collect::<Vec<_>>().join(", ");
        if numbers.len() > LISTED {
            write!(which, " and {} more", numbers.len() - LISTED).expect("a string takes everything");
        }
        paragraph(&mut text, &format!("{BAD}missed{BAD:#} {expectation} {DIM}(in {which}){DIM:#}"));
    }
    text
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::made_up;

    fn plain(summary: &ComparisonSummary, sorting: &Sorting) -> String {
        let text = table(summary, sorting, Path::new("output/made-up-sweep"));
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn one_axis_shows_all_stages() {
        let text = plain(&made_up::sweep(&[3], 20), &Sorting::default());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn three_axes_leave_room_for_the_last_stage() {
        let by = Some(Figure::parse("balancer.p99").unwrap());
        let text = plain(&made_up::sweep(&[2, 3, 2], 20), &Sorting { by, descending: true });
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_is_not_known_is_marked() {
        insta::assert_snapshot!(plain(&made_up::protected(), &Sorting::default()));
    }

    #[test]
    fn what_was_never_observed_is_not_said_to_be_unended() {
        let mut summary = made_up::scenarios(4);
        summary.configurations[3].stages.clear();
        assert!(!plain(&summary, &Sorting::default()).contains("had ended"));
    }

    #[test]
    fn nothing_watched_is_a_table_too() {
        insta::assert_snapshot!(plain(&made_up::quiet(), &Sorting::default()));
    }

    #[test]
    fn long_names_are_broken() {
        assert_eq!(broken("eviction-interval-timer-in-ms"), ["eviction-", "interval-", "timer-in-ms"]);
        assert_eq!(broken("seed"), ["seed"]);
    }
}
