//! What the mean T_D goes on: each stage's share of it, as simulated and by closed form. A two-stage registry stores
//! the dead for longer than callers are given them: that stands after it, as an outline.

use plotters::coord::types::RangedCoordi32;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::TimeAxis;
use super::paint::{
    self, Canvas, DRAWN, FAINT, GRID, INK, LEFT_AREA, RIGHT_MARGIN, WIDTH, colour, fitting, font,
};
use crate::model::stage::{EventKind, Stage};
use crate::report::stages::StageSummary;
use crate::report::summary::Summary;
use crate::report::words::after;
use crate::report::{Contents, in_words};

const TOP: i32 = 108;
const BAR: i32 = 34;
const ROW: i32 = 46;
const EVENT_GAP: i32 = 36;
const AXIS: i32 = 44;
/// Room on the right for the total, and for two of them.
const TOTAL: i32 = 80;
const TWO_TOTALS: i32 = 250;

/// The chart as SVG text.
pub(super) fn svg(contents: &Contents<'_>) -> String {
    let summary = contents.summary;
    let events: Vec<(EventKind, [Bar; 2])> =
        summary.events_watched().map(|event| (event, bars(summary, event))).collect();
    let height = TOP + events.len() as i32 * (2 * ROW + EVENT_GAP) + AXIS;
    paint::svg(height.max(TOP + 60), |canvas| {
        let title = format!("Where does the time go? {}", contents.report.scenario.title);
        let below = "The mean detection time, split by the stage that it was spent before.";
        paint::title(canvas, &title, below);
        legend(canvas, summary.is_two_stage());
        if events.is_empty() {
            paint::write(canvas, "No event was watched.", 15, FAINT, (24, TOP + 10));
        } else {
            draw(canvas, &events, if summary.is_two_stage() { TWO_TOTALS } else { TOTAL });
        }
    })
}

/// A bar: pieces end where their stage's mean is.
struct Bar {
    name: &'static str,
    pieces: Vec<(Stage, u64)>,
    /// Why there is no piece for a stage, and for which.
    remark: Option<(Stage, String)>,
}

impl Bar {
    /// The mean at which callers saw it.
    fn callers(&self) -> u64 {
        let ends = self.pieces.iter().filter(|(stage, _)| *stage != Stage::Entry).map(|(_, end)| *end);
        ends.max().unwrap_or(0)
    }

    /// For how long the entry was stored, if it was for longer than callers were given the instance.
    fn stored(&self) -> Option<u64> {
        let stored = self.pieces.iter().find(|(stage, _)| *stage == Stage::Entry).map(|(_, end)| *end);
        stored.filter(|&end| end > self.callers())
    }

    /// What stands to the right of it.
    fn words(&self) -> String {
        let callers = in_words(self.callers());
        match (&self.remark, self.stored()) {
            (Some((Stage::Entry, remark)), _) => format!("{callers}; {remark}"),
            (Some((_, remark)), _) => remark.clone(),
            (None, Some(stored)) => format!("{callers}, stored for {}", in_words(stored)),
            (None, None) => callers,
        }
    }
}

fn bars(summary: &Summary, event: EventKind) -> [Bar; 2] {
    // To be shown is a matter of the callers alone: that the entry is there then says nothing more.
    let stages = Stage::ALL.into_iter().filter(|&stage| stage != Stage::Entry || event.is_end());
    let rows: Vec<(Stage, &StageSummary)> =
        stages.filter_map(|stage| Some((stage, summary.stage(event, stage)?))).collect();
    let pieces = |mean: fn(&StageSummary) -> Option<u64>| {
        let known = rows.iter().map_while(|(stage, row)| Some((*stage, mean(row)?)));
        known.collect::<Vec<_>>()
    };
    let simulated = pieces(|row| row.mean_ms);
    let closed = pieces(|row| row.bound_mean_ms);
    // The first stage without a mean is the one to explain.
    let censored = rows.get(simulated.len()).filter(|(_, row)| row.observed()).map(|&(stage, row)| {
        let remark = match stage {
            Stage::Entry => format!("{} of {} still stored", row.censored, row.count),
            _ => format!("{}: {} of {} not ended when the run did", stage.name(), row.censored, row.count),
        };
        (stage, remark)
    });
    let absent = rows.get(closed.len()).and_then(|&(stage, row)| {
        let because = row.bound_absent_because.as_ref().or(row.bound_mean_absent_because.as_ref());
        because.map(|because| (stage, format!("{}: {because}", stage.name())))
    });
    [
        Bar { name: "simulated", pieces: simulated, remark: censored },
        Bar { name: "closed form", pieces: closed, remark: absent },
    ]
}

const WORDS: [(Stage, &str); 4] = [
    (Stage::Registry, "until the registry dropped or took it"),
    (Stage::Served, "until its answers did"),
    (Stage::Client, "until the client fetched"),
    (Stage::Balancer, "until its balancer asked"),
];
const WORDS_OF_TWO_STAGES: [(Stage, &str); 4] = [
    (Stage::Registry, "until the registry marked or took it"),
    (Stage::Served, "until its answers did"),
    (Stage::Client, "until the client heard"),
    (Stage::Entry, "until the entry was forgotten"),
];

fn legend(canvas: &Canvas<'_>, is_two_stage: bool) {
    let words = if is_two_stage { WORDS_OF_TWO_STAGES } else { WORDS };
    let mut left = 24;
    for (stage, text) in words {
        paint::fill(canvas, (left, 75), (left + 12, 87), style(stage, 1.0));
        paint::write(canvas, text, 14, INK, (left + 18, 76));
        left += 18 + paint::text_width(canvas, text, 14) + 28;
    }
}

/// How a piece is filled: what no caller sees, with an outline only.
fn style(stage: Stage, strength: f64) -> ShapeStyle {
    let ink = colour(stage).mix(strength);
    if stage == Stage::Entry { ink.stroke_width(2) } else { ink.filled() }
}

fn draw(canvas: &Canvas<'_>, events: &[(EventKind, [Bar; 2])], total: i32) {
    let ends = events.iter().flat_map(|(_, bars)| bars).filter_map(|bar| bar.pieces.last());
    let longest = ends.map(|(_, end)| *end).max().unwrap_or(60_000);
    let axis = TimeAxis::over(0, longest, 8);
    let height = events.len() as i32 * (2 * ROW + EVENT_GAP);
    let area = canvas.clone().shrink((0, TOP), (WIDTH - RIGHT_MARGIN - total, height + AXIS));
    let mut chart = ChartBuilder::on(&area)
        .set_label_area_size(LabelAreaPosition::Left, LEFT_AREA)
        .set_label_area_size(LabelAreaPosition::Bottom, AXIS)
        .build_cartesian_2d(axis, RangedCoordi32::from(height..0))
        .expect(DRAWN);
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .label_style(font(14, FAINT))
        .draw()
        .expect(DRAWN);
    let mut top = 0;
    for (event, bars) in events {
        let width = paint::text_width(canvas, &heading(*event), 16);
        paint::fill(canvas, (24, TOP + top), (24 + width + 6, TOP + top + 24), WHITE.filled());
        paint::write(canvas, &heading(*event), 16, INK, (24, TOP + top + 4));
        top += EVENT_GAP - 4;
        for bar in bars {
            let middle = (HPos::Left, VPos::Center);
            paint::write_at(canvas, bar.name, font(14, INK), middle, (24, TOP + top + BAR / 2));
            let strength = if bar.name == "simulated" { 1.0 } else { 0.45 };
            let mut from = 0;
            for &(stage, end) in &bar.pieces {
                if stage == Stage::Entry && end <= from {
                    continue;
                }
                let end = end.max(from);
                let corners = [(from as f64, top), (end as f64, top + BAR)];
                chart.draw_series([Rectangle::new(corners, style(stage, strength))]).expect(DRAWN);
                let left = chart.backend_coord(&(from as f64, 0)).0;
                let right = chart.backend_coord(&(end as f64, 0)).0;
                let text = in_words(end - from);
                if right - left > paint::text_width(canvas, &text, 14) + 4 {
                    let at = ((left + right) / 2, TOP + top + BAR / 2);
                    let ink = if bar.name == "simulated" && stage == Stage::Registry { WHITE } else { INK };
                    paint::write_at(canvas, &text, font(14, ink), (HPos::Center, VPos::Center), at);
                }
                from = end;
            }
            let right = chart.backend_coord(&(from as f64, 0)).0;
            let at = (right + 8, TOP + top + BAR / 2);
            let text = fitting(canvas, &bar.words(), 14, WIDTH - right - 24);
            let ink = if bar.remark.is_some() { FAINT } else { INK };
            paint::write_at(canvas, &text, font(14, ink), middle, at);
            top += ROW;
        }
        top += 4;
    }
}

fn heading(event: EventKind) -> String {
    format!("After {}", after(event))
}
