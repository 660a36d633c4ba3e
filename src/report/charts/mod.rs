//! Charts: each answers one question, and says it in its title.
//!
//! Everything is drawn as SVG, by whole pixels and with an embedded font for measuring, so that the same run
//! gives the same bytes anywhere. A PNG is the same SVG through a rasteriser, with the same font. A stage has
//! one colour everywhere (Okabe and Ito's palette, which colour-blind people can tell apart).

pub(super) mod axis;
mod breakdown;
mod calls;
mod detection_times;
mod divergence;
mod faults;
mod guard;
mod load;
pub(super) mod paint;
pub(super) mod panels;
#[cfg(feature = "png")]
mod raster;
mod renewals;

pub use detection_times::{Recorded, detection_times_svg};
#[cfg(feature = "png")]
pub use raster::svg_to_png;

use std::io::{self, Write};

use super::{Contents, Output};

/// A chart: the names of its files, and how it is drawn as SVG.
#[derive(Clone, Copy)]
pub(super) struct Chart {
    svg: &'static str,
    #[cfg_attr(not(feature = "png"), expect(dead_code, reason = "nothing else has this name"))]
    png: &'static str,
    draw: fn(&Contents<'_>) -> String,
    applies: fn(&Contents<'_>) -> bool,
}

/// How T_D is distributed at each stage, and the range that the closed form gives.
pub(super) const DETECTION_TIMES: Chart = Chart {
    svg: "detection-times.svg",
    png: "detection-times.png",
    draw: |contents| detection_times_svg(contents.report, contents.summary, &[]),
    applies: |_| true,
};

/// What the mean T_D goes on.
pub(super) const STAGE_BREAKDOWN: Chart =
    Chart { svg: "stage-breakdown.svg", png: "stage-breakdown.png", draw: breakdown::svg, applies: |_| true };

/// Renewals against the threshold, over the first replicate; a panel for each server. Of Eureka only.
pub(super) const RENEWALS: Chart = Chart {
    svg: "renewals.svg",
    png: "renewals.png",
    draw: renewals::svg,
    applies: |contents| !contents.report.is_two_stage(),
};

/// The healthy share of each service against what its guard asks for, over the first replicate; only with guards.
pub(super) const GUARD: Chart = Chart {
    svg: "guard.svg",
    png: "guard.png",
    draw: guard::svg,
    applies: |contents| contents.summary.guard.is_some(),
};

/// Instances that servers differ about, over the first replicate; only with several servers.
pub(super) const DIVERGENCE: Chart = Chart {
    svg: "divergence.svg",
    png: "divergence.png",
    draw: divergence::svg,
    applies: |contents| contents.report.has_several_servers(),
};

/// What each server had to do, over the first replicate; only with several servers or a capacity.
pub(super) const LOAD: Chart =
    Chart { svg: "load.svg", png: "load.png", draw: load::svg, applies: load::applies };

/// What the callers' attempts met, minute by minute; only if there are calls.
pub(super) const CALLS: Chart = Chart {
    svg: "calls.svg",
    png: "calls.png",
    draw: calls::svg,
    applies: |contents| !contents.summary.calls.is_empty(),
};

/// A chart as SVG.
pub(super) struct Svg(pub(super) Chart);

impl Output for Svg {
    fn file_name(&self) -> &'static str {
        self.0.svg
    }

    fn applies_to(&self, contents: &Contents<'_>) -> bool {
        (self.0.applies)(contents)
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        into.write_all((self.0.draw)(contents).as_bytes())
    }
}

/// A chart as PNG.
#[cfg(feature = "png")]
pub(super) struct Png(pub(super) Chart);

#[cfg(feature = "png")]
impl Output for Png {
    fn file_name(&self) -> &'static str {
        self.0.png
    }

    fn applies_to(&self, contents: &Contents<'_>) -> bool {
        (self.0.applies)(contents)
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        into.write_all(&svg_to_png(&(self.0.draw)(contents)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;
    use crate::report::fixtures::Fixture;

    fn cases() -> [(&'static str, Fixture); 17] {
        let mut agreed = Fixture::cut_off(1, 2);
        agreed.data.replicates[0].divergence.clear();
        agreed.scenario.capacity = None;
        let mut quiet = Fixture::jammed(1);
        quiet.data.replicates[0].sweeps.clear();
        [
            ("crashes", Fixture::crashes(300, 99)),
            ("one-crash", Fixture::crashes(1, 1)),
            ("protected", Fixture::protected(20)),
            ("coming-and-going", Fixture::coming_and_going(40)),
            ("quiet", Fixture::quiet(0)),
            ("long", Fixture::long()),
            ("calling", Fixture::calling(20, true)),
            ("all-went-well", Fixture::calling(2, false)),
            ("three-servers", Fixture::cut_off(3, 3)),
            ("eight-servers", Fixture::cut_off(1, 8)),
            ("twelve-servers", Fixture::cut_off(1, 12)),
            ("agreed", agreed),
            ("two-stages", Fixture::two_stages(300, 19)),
            ("jammed", Fixture::jammed(50)),
            ("only-instance", Fixture::only_instance(50)),
            ("three-guards", Fixture::three_guards()),
            ("no-sweep", quiet),
        ]
    }

    /// Set `STILLUP_CHARTS` to a directory to look at what is drawn here.
    #[test]
    fn every_kind_of_run_can_be_drawn_twice_the_same() {
        for (name, made) in cases() {
            let report = made.report();
            let summary = Summary::of(&report);
            let contents = Contents { report: &report, summary: &summary };
            let all = [DETECTION_TIMES, STAGE_BREAKDOWN, RENEWALS, GUARD, DIVERGENCE, LOAD, CALLS];
            // A chart of guards needs a registry that has some.
            let can_be_drawn = |chart: &Chart| chart.svg != GUARD.svg || (chart.applies)(&contents);
            for chart in all.into_iter().filter(can_be_drawn) {
                let svg = (chart.draw)(&contents);
                assert_eq!(svg, (chart.draw)(&contents));
                assert!(svg.len() < 400_000, "{name} {}: {} bytes", chart.svg, svg.len());
                if let Some(directory) = std::env::var_os("STILLUP_CHARTS") {
                    let path = std::path::Path::new(&directory).join(format!("{name}-{}", chart.png));
                    std::fs::write(path, svg_to_png(&svg)).unwrap();
                }
            }
        }
    }

    #[test]
    fn a_png_is_one() {
        let made = Fixture::crashes(5, 3);
        let report = made.report();
        let summary = Summary::of(&report);
        let mut bytes = Vec::new();
        Png(RENEWALS).write(&Contents { report: &report, summary: &summary }, &mut bytes).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
    }
}
