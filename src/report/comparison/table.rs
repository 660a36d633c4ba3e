//! The terminal's answer: a line for each configuration and a table for each event, the extremes in words, the
//! expectations that were missed, the place of the files and the command that repeats it all.
//!
//! As many figures as 98 columns hold: all stages if they fit, or else the last one, where callers are.

use std::fmt::Write;
use std::path::Path;

use super::SCENARIO_AXIS;
use super::charts;
use super::columns::{Column, columns, layouts};
use super::figure::Figure;
use super::summary::{ComparisonSummary, ConfigurationSummary, StageComparison};
use crate::model::stage::{EventKind, Stage};
use crate::report::in_words;
use crate::report::table::{
    BAD, BOLD, DIM, GOOD, Layout, WIDTH, bold, grouped, line, note, paragraph, table_lines, width_of,
};
use crate::report::words::{caption, plural};

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

fn event_table(
    summary: &ComparisonSummary,
    event: Option<EventKind>,
    sorted: &[&ConfigurationSummary],
) -> String {
    let stages = event.map(|event| summary.stages_watched(event)).unwrap_or_default();
    let rendered: Vec<_> = layouts(summary, event, &stages)
        .iter()
        .map(|layout| render(columns(summary, event, layout), sorted))
        .collect();
    let fits = rendered.iter().find(|(_, width)| *width <= WIDTH);
    let (lines, _) = fits.unwrap_or(&rendered[rendered.len() - 1]);
    let mut text = String::new();
    if let Some(event) = event {
        bold(&mut text, &format!("{}, in seconds", caption(event, "a stage")));
    }
    lines.iter().for_each(|row| line(&mut text, row));
    let censored = |configuration: &&ConfigurationSummary| {
        let rows =
            configuration.stages.iter().filter(|row| event.is_some_and(|one| row.figures.event == one));
        rows.map(|row| row.figures.censored).sum::<u64>() > 0
    };
    if sorted.iter().any(censored) {
        note(&mut text, "–: not known, since not all observations had ended when the run did.");
    }
    if event.is_some() && summary.mixes_registries() {
        note(
            &mut text,
            "callers: at the last stage on the way to them, client or, where there is one, balancer. Left blank: a \
             stage that the registry does not have.",
        );
    }
    text
}

/// The table's lines, and how wide the widest is.
fn render(columns: Vec<Column<'_>>, sorted: &[&ConfigurationSummary]) -> (Vec<String>, usize) {
    let height = columns.iter().map(|column| column.heading.len()).max().unwrap_or(0);
    // Headings stand on the line.
    let heading = |column: &Column<'_>| {
        let above = std::iter::repeat_n(String::new(), height - column.heading.len());
        above.chain(column.heading.iter().cloned()).collect::<Vec<_>>().join("\n")
    };
    let header = columns.iter().map(heading).collect();
    let rows = sorted.iter().map(|one| columns.iter().map(|column| (column.say)(one)).collect());
    let lines = table_lines(header, rows, |column| Layout { right: columns[column].right, apart: false });
    let width = width_of(&lines);
    (lines, width)
}

/// Between which configurations the mean at the last stage lies, in words.
fn extremes(summary: &ComparisonSummary, event: EventKind) -> String {
    let Some(stage) = summary.last_stage(event) else { return String::new() };
    let mixed = summary.mixes_registries();
    let end = (!mixed).then_some(stage);
    let mean = |configuration: &ConfigurationSummary| at_end(configuration, event, end)?.figures.mean_ms;
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
        at_end(one, event, end).is_some_and(|row| row.figures.count > 0 && row.figures.mean_ms.is_none())
    };
    let unknown = summary.configurations.iter().filter(open).count();
    let rest = match unknown {
        0 => String::new(),
        _ => {
            format!(" In {} not every observation had ended.", plural(unknown as u64, "other configuration"))
        }
    };
    let mean = match mixed {
        true => "As callers see it, the mean".to_owned(),
        false => format!("The mean at the stage {}", stage.name()),
    };
    format!(
        "{mean} is least in {}, {}, and largest in {}, {}.{rest}",
        named(least),
        in_words(least_ms),
        named(most),
        in_words(most_ms),
    )
}

/// What is known of the event at this stage or, without one, where callers are.
fn at_end(
    configuration: &ConfigurationSummary,
    event: EventKind,
    stage: Option<Stage>,
) -> Option<&StageComparison> {
    stage.map_or_else(|| configuration.at_callers(event), |stage| configuration.stage(event, stage))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::fixtures;

    fn plain(summary: &ComparisonSummary, sorting: &Sorting) -> String {
        let text = table(summary, sorting, Path::new("output/made-up-sweep"));
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn one_axis_shows_all_stages() {
        let text = plain(&fixtures::sweep(&[3], 20), &Sorting::default());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn three_axes_leave_room_for_the_last_stage() {
        let by = Some(Figure::parse("balancer.p99").unwrap());
        let text = plain(&fixtures::sweep(&[2, 3, 2], 20), &Sorting { by, descending: true });
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_is_not_known_is_marked() {
        insta::assert_snapshot!(plain(&fixtures::protected(), &Sorting::default()));
    }

    #[test]
    fn registries_stand_side_by_side() {
        let text = plain(&fixtures::registries(), &Sorting::default());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_was_never_observed_is_not_said_to_be_unended() {
        let mut summary = fixtures::scenarios(4);
        summary.configurations[3].stages.clear();
        assert!(!plain(&summary, &Sorting::default()).contains("had ended"));
    }

    #[test]
    fn nothing_watched_is_a_table_too() {
        insta::assert_snapshot!(plain(&fixtures::quiet(), &Sorting::default()));
    }
}
