//! Many configurations beside each other: a table, a directory that explains itself, and charts.
//!
//! As for a run, nothing is decided here. Finished configurations come one by one out of the sweep's journal; each is
//! reduced to its figures at once, and its observations are passed on to their file, so that of a comparison nothing
//! is held in memory but what its tables and charts show:
//!
//! ```text
//!   journal ──configuration by configuration──┬──▶ observations.csv
//!                                             └──▶ Comparison ──┬──▶ summary.json, and `--format json`
//!                                                  figures,     ├──▶ configurations.csv, and `--format csv`
//!                                                  curves       ├──▶ table.rs: the terminal's table
//!                                                               └──▶ charts/: SVG and PNG
//! ```
//!
//! All but `host.json` is the same, byte for byte, for the same scenarios, settings, seed and version, in however many
//! goes it was run.

mod charts;
mod columns;
mod directory;
mod figure;
mod manifest;
mod paired;
mod rows;
mod statistic;
mod summary;
mod table;

#[cfg(test)]
mod fixtures;

pub use directory::ComparisonDirectory;
pub use figure::{Figure, Value};
pub use paired::Difference;
pub use statistic::Statistic;
pub use summary::{
    AxisSummary, CallersDifference, ComparisonSummary, ConfigurationSummary, QualitySummary, StageComparison,
    json_schema,
};
pub use table::{Sorting, table};

use std::io::{self, Write};

use rayon::prelude::*;

use self::charts::Curve;
use self::summary::Means;
use crate::sweep::{Journal, Plan, SCENARIO as SCENARIO_AXIS};

/// What is said beside a comparison.
#[derive(Clone, Copy)]
pub struct ComparisonContext<'a> {
    /// The command line that repeats it: without what cannot change its results.
    pub command: &'a str,
    /// The command line that runs the configuration at this place alone.
    pub command_of: &'a (dyn Fn(usize) -> String + Sync),
    /// The figure that heat maps show; `None`: the one that tells most.
    pub figure: Option<Figure>,
    /// The version of this program.
    pub version: &'static str,
    /// The revision that it was built from, if that was known.
    pub revision: Option<&'static str>,
}

/// The CSV files, each with the table that explains its columns, in Markdown.
pub fn documented_columns() -> [(&'static str, String); 2] {
    [
        (rows::CONFIGURATIONS, rows::configuration_columns(&[]).documented()),
        (rows::OBSERVATIONS, rows::observation_columns().documented()),
    ]
}

/// Configurations that were run, in figures.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Every figure.
    pub summary: ComparisonSummary,
    /// The distributions of T_D, by configuration and in the order of its stages; empty if there are too many to be
    /// drawn one by one.
    curves: Vec<Vec<Curve>>,
}

impl Comparison {
    /// `configurations.csv`, as text.
    pub fn to_csv(&self) -> String {
        let mut text = Vec::new();
        rows::configurations(&self.summary, &mut text).expect("memory takes everything");
        String::from_utf8(text).expect("fields are UTF-8")
    }

    /// Takes all configurations out of the journal, which has them all, and writes their observations.
    fn assemble(
        plan: &Plan,
        journal: &Journal,
        about: &ComparisonContext<'_>,
        observations: &mut (dyn Write + Send),
    ) -> io::Result<Self> {
        let first = Means::of(plan.scenario(0).registry(), &journal.read(0)?);
        let draws_curves = plan.size() <= charts::CURVES_MAX;
        let (mut configurations, mut curves) = (Vec::new(), Vec::new());
        // So many at a time that all threads are busy, and no more. While they are, the rows of those before are written.
        let together = 8 * rayon::current_num_threads();
        let mut unwritten: Vec<Vec<u8>> = Vec::new();
        for from in (0..plan.size()).step_by(together) {
            let group = from..(from + together).min(plan.size());
            let figures = group.into_par_iter().map(|index| {
                let records = journal.read(index)?;
                let baseline = (index > 0).then_some(&first);
                let command = (about.command_of)(index);
                let (summary, samples) = ConfigurationSummary::of(plan, index, &records, baseline, command);
                let curves: Vec<Curve> = samples.iter().filter(|_| draws_curves).map(Curve::of).collect();
                Ok((summary, curves, rows::observations(index, &records)?))
            });
            let (figures, written) = rayon::join(
                || figures.collect::<io::Result<Vec<_>>>(),
                || unwritten.drain(..).try_for_each(|rows| observations.write_all(&rows)),
            );
            written?;
            for (summary, own, rows) in figures? {
                unwritten.push(rows);
                configurations.push(summary);
                curves.push(own);
            }
        }
        unwritten.iter().try_for_each(|rows| observations.write_all(rows))?;
        let axes = plan.dimensions().iter();
        let summary = ComparisonSummary {
            title: title(plan, &configurations),
            seed: plan.seed(),
            replicates: plan.replicates(),
            axes: axes
                .map(|one| AxisSummary { name: one.name.clone(), values: one.values.clone() })
                .collect(),
            configurations,
            version: about.version.to_owned(),
            command: about.command.to_owned(),
        };
        Ok(Self { summary, curves })
    }
}

fn title(plan: &Plan, configurations: &[ConfigurationSummary]) -> String {
    if !plan.compares_scenarios() {
        return configurations[0].title.clone();
    }
    let names = &plan.dimensions()[0].values;
    match names.as_slice() {
        [] | [_] => names.concat(),
        [first, second] => format!("{first} and {second} compared"),
        [first, .., last] if names.len() == 3 => format!("{first}, {} and {last} compared", names[1]),
        [first, ..] => format!("{first} and {} others compared", names.len() - 1),
    }
}
