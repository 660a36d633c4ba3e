//! The directory of a comparison. As that of a run, it is put to its place whole.
//!
//! What is not finished stands beside the place, in a directory of a fixed name: a comparison that was stopped finds
//! it there when it goes on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::manifest::ComparisonManifest;
use super::{Comparison, ComparisonContext, charts, rows};
use crate::report::directory::{HOST, MANIFEST, write_hashed};
use crate::report::place::{Place, PrepareError};
use crate::report::{Host, svg_to_png};
use crate::scenario::canonical;
use crate::sweep::{Journal, Plan, on_threads};

const FRESH: &str = "fresh";
const OLD: &str = "old";

/// A place for the results of one comparison.
#[derive(Debug)]
pub struct ComparisonDirectory {
    place: Place,
    unfinished: PathBuf,
}

/// A file that is made of the comparison alone.
struct Sheet {
    name: String,
    content: Content,
}

/// What is in it.
enum Content {
    /// This.
    Text(String),
    /// The picture of this SVG text.
    Png(String),
}

impl Sheet {
    fn write(&self, into: &mut dyn Write) -> io::Result<()> {
        match &self.content {
            Content::Text(text) => into.write_all(text.as_bytes()),
            Content::Png(svg) => into.write_all(&svg_to_png(svg)),
        }
    }
}

impl ComparisonDirectory {
    /// Makes sure that results can be put at `place`, which may be absent, empty or hold results.
    ///
    /// # Errors
    /// If something else stands there, or if its parent cannot be written.
    pub fn prepare(place: &Path) -> Result<Self, PrepareError> {
        let prepared = Place::prepare(place)?;
        let name: OsString = [".".into(), prepared.name(), ".unfinished".into()].into_iter().collect();
        let unfinished = prepared.parent().join(name);
        // Messages name it, and it is mostly below the current directory.
        let here = std::env::current_dir().ok();
        let below = here.and_then(|here| unfinished.strip_prefix(here).ok().map(Path::to_owned));
        let unfinished = below.unwrap_or(unfinished);
        Ok(Self { place: prepared, unfinished })
    }

    /// Where what is not finished stands: the place for the journal.
    pub fn unfinished(&self) -> &Path {
        &self.unfinished
    }

    /// Writes all files, puts the directory at its place, in place of the one that stood there, and removes the
    /// journal, which must have every configuration. `interrupted` is asked once more before the last step; if it says
    /// yes, nothing changes.
    ///
    /// Returns the comparison, or `None` if it was interrupted.
    ///
    /// # Errors
    /// If writing fails. Then what stood at the place still stands there, and the journal is whole.
    pub fn commit(
        mut self,
        plan: &Plan,
        journal: Journal,
        about: &ComparisonContext<'_>,
        host: Host,
        interrupted: impl Fn() -> bool,
    ) -> io::Result<Option<Comparison>> {
        let [fresh, old] = [FRESH, OLD].map(|name| self.unfinished.join(name));
        // What a go that was killed has left here.
        remove(&fresh)?;
        remove(&old)?;
        let written = on_threads(host.jobs, || write_all(&fresh, plan, &journal, about, host));
        let placed = written.and_then(|comparison| {
            if interrupted() {
                return Ok(None);
            }
            self.place.exchange(&fresh, &old)?;
            Ok(Some(comparison))
        });
        // Where an exchange failed half-way, the old results stay where they are: hidden is better than gone.
        if !matches!(placed, Ok(Some(_))) {
            let _ = remove(&fresh);
            return placed;
        }
        let _ = remove(&old);
        journal.remove();
        placed
    }
}

fn write_all(
    fresh: &Path,
    plan: &Plan,
    journal: &Journal,
    about: &ComparisonContext<'_>,
    host: Host,
) -> io::Result<Comparison> {
    fs::create_dir(fresh)?;
    let mut hashes = BTreeMap::new();
    let mut assembled = None;
    let observations = rows::OBSERVATIONS;
    let hash = write_hashed(fresh, observations, |into| {
        assembled = Some(Comparison::assemble(plan, journal, about, into)?);
        Ok(())
    })?;
    hashes.insert(observations.to_owned(), hash);
    let comparison = assembled.expect("it was written");
    let sheets = sheets(plan, &comparison, about);
    let written = sheets
        .par_iter()
        .with_max_len(1)
        .map(|sheet| Ok((sheet.name.clone(), write_hashed(fresh, &sheet.name, |into| sheet.write(into))?)));
    hashes.extend(written.collect::<io::Result<Vec<_>>>()?);
    fs::write(fresh.join(HOST), host.to_json())?;
    let manifest = ComparisonManifest::of(&comparison.summary, about, &hashes);
    fs::write(fresh.join(MANIFEST), manifest.to_json())?;
    Ok(comparison)
}

/// All files but the observations, slow ones first: they are written side by side.
fn sheets(plan: &Plan, comparison: &Comparison, about: &ComparisonContext<'_>) -> Vec<Sheet> {
    let sheet = |name: String, content| Sheet { name, content };
    let drawn = charts::all(comparison, about.figure);
    let mut sheets: Vec<Sheet> =
        drawn.iter().map(|(name, svg)| sheet(format!("{name}.png"), Content::Png(svg.clone()))).collect();
    sheets.extend(drawn.into_iter().map(|(name, svg)| sheet(format!("{name}.svg"), Content::Text(svg))));
    sheets.push(sheet("summary.json".to_owned(), Content::Text(comparison.summary.to_json())));
    sheets.push(sheet(rows::CONFIGURATIONS.to_owned(), Content::Text(comparison.to_csv())));
    let scenario = |index: usize| Content::Text(canonical(&plan.scenario(index)));
    if plan.compares_scenarios() {
        let all = 0..plan.size();
        sheets.extend(all.map(|index| sheet(format!("scenario-{}.toml", index + 1), scenario(index))));
    } else {
        sheets.push(sheet("scenario.toml".to_owned(), scenario(0)));
    }
    sheets
}

/// Removes a directory with all that is in it, if it is there.
fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
