//! How T_D is distributed where there are too many configurations for a curve each: a panel for each stage, and in it a
//! column for each configuration in plan order.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::model::stage::{EventKind, Stage};
use crate::report::charts::axis::TimeAxis;
use crate::report::charts::paint::{
    self, Canvas, DRAWN, FAINT, GRID, INK, LEFT_AREA, RIGHT_MARGIN, WIDTH, colour, font,
};
use crate::report::comparison::summary::ComparisonSummary;
use crate::report::stages::StageSummary;
use crate::report::words::{capital, caption};

const TOP: i32 = 104;
const CAPTION: i32 = 28;
const PANEL: i32 = 160;
const AXIS: i32 = 52;
/// More columns than this cannot be told apart.
const COLUMNS_MAX: usize = 750;

/// The chart as SVG text.
pub(super) fn svg(summary: &ComparisonSummary) -> String {
    let events: Vec<(EventKind, Vec<Stage>)> =
        summary.events_watched().into_iter().map(|event| (event, summary.stages_watched(event))).collect();
    let heights = events.iter().map(|(_, stages)| CAPTION + stages.len() as i32 * PANEL + AXIS);
    paint::svg(TOP + heights.sum::<i32>().max(60), |canvas| {
        let title = format!("How long until it shows? {}", summary.title);
        let below = "Detection times by configuration, in plan order: the last axis is the fastest.";
        paint::title(canvas, &title, below);
        if events.is_empty() {
            paint::write(canvas, "No event was watched.", 15, FAINT, (24, TOP - 24));
            return;
        }
        legend(canvas);
        let mut top = TOP;
        for (event, stages) in &events {
            paint::write(canvas, &capital(&caption(*event, "a stage")), 16, INK, (24, top));
            top += CAPTION;
            for (index, stage) in stages.iter().enumerate() {
                draw_panel(canvas, summary, (*event, *stage), top, index + 1 == stages.len());
                top += PANEL;
            }
            top += AXIS;
        }
    })
}

fn legend(canvas: &Canvas<'_>) {
    let ink = colour(Stage::Registry);
    let mut left = 24;
    for (strength, text) in [(0.2, "least to longest"), (0.45, "median to p99"), (1.0, "mean")] {
        let half = if strength < 1.0 { 6 } else { 1 };
        paint::fill(canvas, (left, 79 - half), (left + 20, 79 + half), ink.mix(strength).filled());
        paint::write(canvas, text, 14, INK, (left + 26, 72));
        left += 26 + paint::text_width(canvas, text, 14) + 28;
    }
}

fn draw_panel(
    canvas: &Canvas<'_>,
    summary: &ComparisonSummary,
    (event, stage): (EventKind, Stage),
    top: i32,
    last: bool,
) {
    let stride = summary.configurations.len().div_ceil(COLUMNS_MAX).max(1);
    let drawn = summary.configurations.iter().step_by(stride);
    let rows: Vec<(f64, &StageSummary)> =
        drawn.filter_map(|one| Some((one.configuration as f64, &one.stage(event, stage)?.figures))).collect();
    let most = rows.iter().flat_map(|(_, row)| [row.max_ms, row.p99_ms, row.p50_ms, row.min_ms]).flatten();
    let axis = TimeAxis::over(0, most.max().unwrap_or(60_000), 5);
    let height = PANEL - 14 + if last { AXIS } else { 0 };
    let area = canvas.clone().shrink((0, top), (WIDTH - RIGHT_MARGIN, height));
    let count = summary.configurations.len() as f64;
    let mut chart = ChartBuilder::on(&area)
        .set_label_area_size(LabelAreaPosition::Left, LEFT_AREA)
        .set_label_area_size(LabelAreaPosition::Bottom, if last { AXIS } else { 0 })
        .build_cartesian_2d(RangedCoordf64::from(0.5..count + 0.5), axis)
        .expect(DRAWN);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .x_labels(12)
        .x_label_formatter(&|number| format!("{number:.0}"))
        .x_desc(if last { "configuration" } else { "" })
        .axis_desc_style(font(14, FAINT))
        .label_style(font(14, FAINT))
        .draw()
        .expect(DRAWN);
    let ink = colour(stage);
    // Where columns are a few pixels wide, gaps between them would be of uneven width.
    let half = if count > 150.0 { 0.5 } else { 0.4 } * stride as f64;
    for (number, row) in rows {
        let mut bar = |from: Option<u64>, to: Option<u64>, strength: f64| {
            if let (Some(from), Some(to)) = (from, to) {
                let corners = [(number - half, from as f64), (number + half, to as f64)];
                chart.draw_series([Rectangle::new(corners, ink.mix(strength).filled())]).expect(DRAWN);
            }
        };
        bar(row.min_ms, row.max_ms, 0.2);
        bar(row.p50_ms, row.p99_ms, 0.45);
        if let Some(mean) = row.mean_ms.map(|ms| ms as f64) {
            let mark = PathElement::new([(number - half, mean), (number + half, mean)], ink.stroke_width(2));
            chart.draw_series([mark]).expect(DRAWN);
        }
    }
    let middle = top + (PANEL - 14) / 2;
    paint::write_at(canvas, stage.name(), font(16, INK), (HPos::Left, VPos::Center), (24, middle));
}
