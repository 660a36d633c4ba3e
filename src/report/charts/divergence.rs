//! How far the servers agree, over the first replicate: instances that one has and another has not, or with another
//! status.

use plotters::prelude::*;

use super::axis::TimeAxis;
use super::faults;
use super::paint::{self, Canvas, DRAWN, FAINT, INK, RED};
use super::panels::{self, Panel};
use crate::model::stage::Stage;
use crate::observe::ReplicateData;
use crate::report::Contents;

const TOP: i32 = 132;
const HEIGHT: i32 = 260;
/// Steps of the line, at most: about one a pixel. Each shows the most in its time.
const STEPS: u64 = 860;
/// Changes are known to the second.
const SECOND_MS: u64 = 1_000;

const DIFFERING_INK: RGBColor = paint::colour(Stage::Registry);

/// The chart as SVG text.
pub(super) fn svg(contents: &Contents<'_>) -> String {
    let panel = Panel { top: TOP, height: HEIGHT, left: 64, is_last: true };
    paint::svg(panels::bottom(&[panel], TOP) + 12, |canvas| {
        let title = format!("Do the servers agree? {}", contents.report.scenario.title);
        let below = "Instances that one server has and another has not, or with another status, in the first replicate.";
        paint::title(canvas, &title, below);
        legend(canvas);
        if let Some(replicate) = contents.report.data.replicates.first() {
            draw(canvas, replicate, panel);
        }
    })
}

fn legend(canvas: &Canvas<'_>) {
    let line = |left: i32, ink: RGBColor| paint::fill(canvas, (left, 80), (left + 20, 83), ink.filled());
    line(24, DIFFERING_INK);
    paint::write(canvas, "instances that differ", 14, INK, (50, 76));
    line(222, RED);
    paint::write(canvas, "fault", 14, INK, (248, 76));
    paint::fill(canvas, (308, 74), (328, 88), RED.mix(0.09).filled());
    paint::write(canvas, "while it lasts", 14, INK, (334, 76));
}

fn draw(canvas: &Canvas<'_>, replicate: &ReplicateData, panel: Panel) {
    let steps = steps(replicate);
    let most = steps.iter().map(|step| step.2).max().unwrap_or(0);
    if most == 0 {
        paint::write(canvas, "They never differed.", 15, FAINT, (468, 75));
    }
    let ceiling = (f64::from(most) * 1.12).max(4.0);
    let axis = TimeAxis::over(0, replicate.ended_at.as_millis().max(1), 10);
    let area = panel.area(canvas);
    let mut chart = panel.chart(&area, &axis, ceiling);
    faults::shade(&mut chart, replicate, ceiling);
    panels::mesh(&mut chart, 6, &|instances| format!("{instances:.0}"));
    faults::draw(&mut chart, replicate, ceiling);
    let points = || {
        let step = |&(from, to, differing): &(u64, u64, u32)| {
            [(from as f64, f64::from(differing)), (to as f64, f64::from(differing))]
        };
        steps.iter().flat_map(step)
    };
    let below = AreaSeries::new(points(), 0.0, DIFFERING_INK.mix(0.2));
    chart.draw_series(below).expect(DRAWN);
    chart.draw_series(LineSeries::new(points(), DIFFERING_INK.stroke_width(2))).expect(DRAWN);
    faults::name(canvas, &replicate.faults, TOP, |at| chart.backend_coord(&(at, 0.0)).0);
}

/// From when, until when (ms), and the most that differed meanwhile. Equal neighbours are one step.
fn steps(replicate: &ReplicateData) -> Vec<(u64, u64, u32)> {
    let end = replicate.ended_at.as_millis();
    let width = SECOND_MS.max(end.div_ceil(STEPS));
    let mut rows = replicate.divergence.iter().peekable();
    let mut standing = 0;
    let mut steps: Vec<(u64, u64, u32)> = Vec::new();
    for from in (0..end).step_by(width as usize) {
        let to = (from + width).min(end);
        let mut most = standing;
        while let Some(row) = rows.next_if(|row| row.at.as_millis() < to) {
            most = most.max(row.differing_max);
            standing = row.differing;
        }
        match steps.last_mut() {
            Some(last) if last.2 == most => last.1 = to,
            _ => steps.push((from, to, most)),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::Fixture;

    #[test]
    fn a_step_shows_the_most_in_its_time() {
        let mut made = Fixture::cut_off(1, 3);
        let steps = steps(&made.data.replicates.remove(0));
        // Of 15 minutes 860 steps: 1047 ms each. 40 differed in the first minute, within the second that ends at 61 s.
        assert_eq!(steps[0], (0, 58 * 1_047, 0));
        assert_eq!(steps[1], (58 * 1_047, 59 * 1_047, 40));
        assert_eq!(steps[2].2, 0);
        // The last row is at 847 s, in the step that begins with 808 × 1047 ms.
        assert_eq!(steps.last().unwrap(), &(809 * 1_047, 900_000, 0));
        assert!(steps.iter().zip(&steps[1..]).all(|(step, next)| step.1 == next.0 && step.2 != next.2));
    }
}
