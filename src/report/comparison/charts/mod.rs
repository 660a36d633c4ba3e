//! The charts of a comparison: how T_D is distributed in each configuration, and how a figure depends on what varies:
//! lines for one axis, a heat map for two, several heat maps for more.
//!
//! Colours are safe for colour-blind people: Okabe and Ito's palette for what has no order, viridis for what has.

mod bands;
mod curves;
mod heat_map;
mod lines;

use plotters::prelude::*;

use super::figure::Figure;
use super::summary::{AxisSummary, ComparisonSummary, ConfigurationSummary};
use super::{Comparison, SCENARIO_AXIS};
use crate::sweep::Sample;

/// More configurations than this are not drawn as curves, but as bands.
pub(super) const CURVES_MAX: usize = 12;
/// A curve has at most this many steps.
const STEPS_MAX: usize = 400;

/// The distribution of T_D at one stage of one configuration: (ms, share ended by then), ascending.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// The steps of a sample; of many only some, evenly chosen, and always the last.
    pub(super) fn of(sample: &Sample) -> Self {
        let detected = sample.detected();
        let stride = detected.len().div_ceil(STEPS_MAX).max(1);
        let mut below = 0;
        let mut steps = Vec::new();
        for (index, &(length, count)) in detected.iter().enumerate() {
            below += count;
            if index == 0 || (index + 1).is_multiple_of(stride) || index + 1 == detected.len() {
                steps.push((length.as_millis() as f64, below as f64 / sample.count() as f64));
            }
        }
        Self(steps)
    }
}

/// All charts, each with the name of its files and its SVG text.
pub(super) fn all(comparison: &Comparison, figure: Option<Figure>) -> Vec<(&'static str, String)> {
    let summary = &comparison.summary;
    let distributions = if comparison.curves.iter().any(|own| !own.is_empty()) {
        curves::svg(comparison)
    } else {
        bands::svg(summary)
    };
    let figure = figure.unwrap_or_else(|| Figure::narrative(summary));
    let by_axes = match summary.axes.len() {
        1 => ("by-axis", lines::svg(summary)),
        _ => ("heat-map", heat_map::svg(summary, figure)),
    };
    vec![("detection-times", distributions), by_axes]
}

/// The name of what varies, as short as it is unique: without its sections.
pub(super) fn short_name(summary: &ComparisonSummary, axis: &AxisSummary) -> String {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let name = last(&axis.name);
    let alike = summary.axes.iter().filter(|other| last(&other.name) == name).count();
    if alike > 1 { axis.name.clone() } else { name }
}

/// What all configurations differ by, for a legend: `a · b`.
fn names(summary: &ComparisonSummary) -> String {
    let names: Vec<String> = summary.axes.iter().map(|axis| short_name(summary, axis)).collect();
    names.join(" · ")
}

/// What the configuration has of it: `5000 · true`.
fn values(configuration: &ConfigurationSummary) -> String {
    configuration.values.join(" · ")
}

/// Its values as numbers, in seconds if they are durations; `None` if they are neither, or not in ascending order.
fn numbers(axis: &AxisSummary) -> Option<Vec<f64>> {
    let number = |text: &String| -> Option<f64> {
        let length = || humantime::parse_duration(text).ok().map(|length| length.as_secs_f64());
        text.parse().ok().filter(|number: &f64| number.is_finite()).or_else(length)
    };
    let numbers: Vec<f64> = axis.values.iter().map(number).collect::<Option<_>>()?;
    numbers.is_sorted_by(|one, next| one < next).then_some(numbers)
}

/// Okabe and Ito's palette without its yellow, which is too light for a line on white.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// How the curve of a configuration is drawn.
struct Stroke {
    ink: RGBColor,
    dashed: bool,
}

/// The strokes of all configurations: shades where one axis has an order, colours where there is none.
fn strokes(summary: &ComparisonSummary) -> Vec<Stroke> {
    let count = summary.configurations.len();
    let ordered = matches!(summary.axes.as_slice(), [axis] if numbers(axis).is_some());
    let stroke = |index: usize| {
        if ordered && count > 3 {
            // The light end of the map would not be seen.
            return Stroke { ink: shade(0.12 + 0.88 * index as f64 / (count - 1) as f64), dashed: false };
        }
        Stroke { ink: PALETTE[index % PALETTE.len()], dashed: index >= PALETTE.len() }
    };
    (0..count).map(stroke).collect()
}

/// The colour map (viridis): 0 is light, 1 is dark.
fn shade(share: f64) -> RGBColor {
    ViridisRGB.get_color(1.0 - share.clamp(0.0, 1.0))
}

/// Whether the axis is the choice among scenarios.
fn is_scenarios(axis: &AxisSummary) -> bool {
    axis.name == SCENARIO_AXIS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SimDuration;
    use crate::report::comparison::fixtures;
    use crate::report::svg_to_png;

    fn cases() -> Vec<(&'static str, Comparison)> {
        vec![
            ("one-axis", fixtures::comparison(fixtures::sweep(&[6], 20))),
            ("one-axis-many", fixtures::comparison(fixtures::sweep(&[30], 20))),
            ("two-axes", fixtures::comparison(fixtures::sweep(&[4, 3], 20))),
            ("two-axes-many", fixtures::comparison(fixtures::sweep(&[14, 30], 20))),
            ("three-axes", fixtures::comparison(fixtures::sweep(&[3, 4, 3], 20))),
            ("scenarios", fixtures::comparison(fixtures::scenarios(4))),
            ("scenarios-many", fixtures::comparison(fixtures::scenarios(15))),
            ("protected", fixtures::comparison(fixtures::protected())),
            ("quiet", fixtures::comparison(fixtures::quiet())),
            ("registries", fixtures::comparison(fixtures::registries())),
        ]
    }

    /// Set `STILLUP_CHARTS` to a directory to look at what is drawn here.
    #[test]
    fn every_kind_of_comparison_can_be_drawn_twice_the_same() {
        for (case, comparison) in cases() {
            let drawn = all(&comparison, None);
            assert_eq!(drawn, all(&comparison, None));
            for (name, svg) in drawn {
                assert!(svg.len() < 1_000_000, "{case} {name}: {} bytes", svg.len());
                if let Some(directory) = std::env::var_os("STILLUP_CHARTS") {
                    let path = std::path::Path::new(&directory).join(format!("{case}-{name}.png"));
                    std::fs::write(path, svg_to_png(&svg)).unwrap();
                }
            }
        }
    }

    #[test]
    fn names_without_room_are_told_once() {
        // Two columns have no room for `instances=20 · of=1` above them, and fifteen scenarios none below.
        let many = fixtures::sweep(&[2, 2, 2, 2], 20);
        let maps = heat_map::svg(&many, Figure::narrative(&many));
        assert!(maps.contains("Maps: instances · of.") && maps.contains("20 · 1"), "{maps}");
        let names = lines::svg(&fixtures::scenarios(15));
        assert!(names.contains("#15 the-15-th-scenario-of-all"));
        assert!(!lines::svg(&fixtures::scenarios(2)).contains("#1 "));
    }

    #[test]
    fn a_curve_ends_where_the_last_was_detected() {
        let lengths = (1..=1_000).map(|ms| (SimDuration::from_millis(ms), 1)).collect();
        let curve = Curve::of(&Sample::rounded(lengths, 0, 1_000, 0));
        assert!(curve.0.len() <= STEPS_MAX + 2);
        assert_eq!(curve.0.last(), Some(&(1_000.0, 0.5)), "half of them are censored");
    }

    #[test]
    fn numbers_and_durations_have_an_order() {
        let axis = |values: &[&str]| AxisSummary {
            name: "a".to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        };
        assert_eq!(numbers(&axis(&["5", "30", "1000"])), Some(vec![5.0, 30.0, 1_000.0]));
        assert_eq!(numbers(&axis(&["500ms", "1m 30s"])), Some(vec![0.5, 90.0]));
        assert_eq!(numbers(&axis(&["true", "false"])), None);
        assert_eq!(numbers(&axis(&["30", "5"])), None);
    }
}
