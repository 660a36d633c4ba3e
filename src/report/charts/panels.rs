//! A panel for each server, one below the other over the same axis of time.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::TimeAxis;
use super::faults::TimeChart;
use super::paint::{self, Canvas, DRAWN, FAINT, GRID, INK, RIGHT_MARGIN, WIDTH, font};
use crate::model::id::ServerId;
use crate::report::Report;

/// Servers that have a panel, at most.
const SERVERS: usize = 8;
/// The height of the axis of time.
pub(in crate::report) const AXIS: i32 = 44;
/// Free space above a panel that is not the first, so that marks of both stand apart.
pub(super) const GAP: i32 = 16;

/// The length of a tick beside a low panel.
const TICK: i32 = 6;

/// One panel's place.
#[derive(Clone, Copy)]
pub(in crate::report) struct Panel {
    pub(in crate::report) top: i32,
    pub(in crate::report) height: i32,
    /// Space for the names and marks of the vertical axis.
    pub(in crate::report) left: i32,
    /// Whether the axis of time stands below it.
    pub(in crate::report) is_last: bool,
}

/// The servers that have a panel: the first, by number.
pub(super) fn shown(report: &Report<'_>) -> Vec<ServerId> {
    let servers = report.scenario.servers.len().min(SERVERS);
    (0..servers as u32).map(ServerId).collect()
}

/// How a chart of panels says that there are more servers; nothing if there are not.
pub(super) fn left_out(report: &Report<'_>) -> Option<String> {
    let servers = report.scenario.servers.len();
    (servers > SERVERS).then(|| format!("The first {SERVERS} of {servers} servers."))
}

impl Panel {
    /// The part of the canvas that it is drawn on.
    pub(in crate::report) fn area<'b>(&self, canvas: &Canvas<'b>) -> Canvas<'b> {
        let below = if self.is_last { AXIS } else { 0 };
        canvas.clone().shrink((0, self.top), (WIDTH - RIGHT_MARGIN, self.height + below))
    }

    /// An empty chart on its area, of numbers from 0 to `ceiling`. What lies below the grid is drawn before [`mesh`].
    pub(super) fn chart<'a, 'b>(
        &self,
        area: &'a Canvas<'b>,
        axis: &TimeAxis,
        ceiling: f64,
    ) -> TimeChart<'a, 'b> {
        ChartBuilder::on(area)
            .set_label_area_size(LabelAreaPosition::Left, self.left)
            .set_label_area_size(LabelAreaPosition::Bottom, if self.is_last { AXIS } else { 0 })
            .build_cartesian_2d(axis.clone(), RangedCoordf64::from(0.0..ceiling))
            .expect(DRAWN)
    }

    /// A chart of shares on its area, 0 to 100 %, with its grid.
    pub(in crate::report) fn shares<'a, 'b>(
        &self,
        area: &'a Canvas<'b>,
        axis: &TimeAxis,
    ) -> TimeChart<'a, 'b> {
        let mut chart = self.chart(area, axis, 1.0);
        mesh(&mut chart, 3, &|share| format!("{:.0} %", share * 100.0));
        chart
    }

    /// Writes the panel's name to the left of it.
    pub(super) fn name(&self, canvas: &Canvas<'_>, name: &str) {
        let middle = (HPos::Left, VPos::Center);
        paint::write_at(canvas, name, font(14, INK), middle, (24, self.top + self.height / 2));
    }

    /// A panel of this height, so far below this one.
    pub(super) fn below(&self, gap: i32, height: i32) -> Self {
        Self { top: self.top + self.height + gap, height, ..*self }
    }
}

/// Draws the grid and the marks of a panel.
pub(super) fn mesh(chart: &mut TimeChart<'_, '_>, marks: usize, label: &dyn Fn(&f64) -> String) {
    // By default a tick is a share of the panel's height, which pulls the numbers of a low one onto its axis.
    let is_low = chart.plotting_area().dim_in_pixel().1 < 100;
    let mut mesh = chart.configure_mesh();
    if is_low {
        mesh.set_tick_mark_size(LabelAreaPosition::Left, TICK);
    }
    mesh.bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .y_labels(marks)
        .y_label_formatter(label)
        .label_style(font(14, FAINT))
        .draw()
        .expect(DRAWN);
}

/// So many panels of this height, from `top` down.
pub(super) fn stacked(count: usize, top: i32, height: i32, left: i32) -> Vec<Panel> {
    let first = Panel { top, height, left, is_last: false };
    let mut panels: Vec<Panel> =
        std::iter::successors(Some(first), |panel| Some(panel.below(GAP, height))).take(count).collect();
    if let Some(last) = panels.last_mut() {
        last.is_last = true;
    }
    panels
}

/// The lower edge of all that belongs to these panels.
pub(super) fn bottom(panels: &[Panel], top: i32) -> i32 {
    panels.last().map_or(top + 60, |panel| panel.top + panel.height + AXIS)
}
