//! The run directory: written beside its place and put there whole, so that nobody ever meets half of one.
//!
//! [`RunDirectory::prepare`] comes before the run, so that a place that cannot be written is known before any
//! work is lost; [`RunDirectory::commit`] comes after it. In between, and if it never comes to a commit,
//! nothing but an empty directory of our own stands beside the place, and dropping the value removes it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use thiserror::Error;

use super::manifest::{TOOL, hex};
use super::{Contents, Host, Manifest, OUTPUTS, Output};
use crate::sweep::on_threads;

const MANIFEST: &str = "manifest.json";
const HOST: &str = "host.json";

/// A place for the results of one run.
#[derive(Debug)]
pub struct RunDirectory {
    place: PathBuf,
    /// Beside the place, on the same file system.
    workshop: TempDir,
    /// Parents that did not exist, outermost first; removed again if nothing is committed.
    parents: MadeParents,
}

/// Why no results can go there.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// It has a file or directory in it, named here, that no run wrote: not ours to replace.
    #[error("{} is not a run directory of stillup: it holds {:?}; choose another --out", .0.display(), .1)]
    Occupied(PathBuf, OsString),
    /// No directory stands there, but something else.
    #[error("{} is not a directory; choose another --out", .0.display())]
    NoDirectory(PathBuf),
    /// The current directory, or one around it.
    #[error("{} holds the current directory and cannot be replaced; choose another --out", .0.display())]
    InUse(PathBuf),
    /// Reading or writing failed.
    #[error("cannot write results to {}: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
}

impl RunDirectory {
    /// Makes sure that a run directory can be put at `place`, which may be absent, empty or a run directory.
    ///
    /// # Errors
    /// If something else stands there, or if its parent cannot be written.
    pub fn prepare(place: &Path) -> Result<Self, PrepareError> {
        let failed = |error| PrepareError::Io(place.to_owned(), error);
        let resolved = match fs::canonicalize(place) {
            Ok(resolved) => {
                require_replaceable(place, &resolved)?;
                resolved
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link to nothing is there, and cannot be replaced by a directory.
                if place.file_name().is_none() || place.symlink_metadata().is_ok() {
                    return Err(failed(error));
                }
                std::path::absolute(place).map_err(failed)?
            }
            Err(error) => return Err(failed(error)),
        };
        let parent = resolved.parent().ok_or_else(|| PrepareError::InUse(place.to_owned()))?;
        let parents = MadeParents::make(parent).map_err(failed)?;
        let workshop = tempfile::Builder::new().prefix(".stillup-").tempdir_in(parent).map_err(failed)?;
        Ok(Self { place: resolved, workshop, parents })
    }

    /// Writes all files and puts the directory at its place, in place of the one that stood there.
    /// `interrupted` is asked once more before that last step; if it says yes, nothing changes.
    ///
    /// Returns whether the directory was put there.
    ///
    /// # Errors
    /// If writing fails. Then what stood at the place still stands there.
    pub fn commit(
        mut self,
        contents: &Contents<'_>,
        host: Host,
        interrupted: impl Fn() -> bool,
    ) -> io::Result<bool> {
        // A directory of its own: the temporary one around it is readable by its owner only.
        let fresh = self.workshop.path().join("run");
        fs::create_dir(&fresh)?;
        let written: io::Result<Vec<_>> = on_threads(host.jobs, || {
            let outputs = OUTPUTS.par_iter().filter(|output| output.applies_to(contents));
            outputs.map(|output| write_hashed(*output, contents, &fresh)).collect()
        });
        let hashes: BTreeMap<&'static str, String> = written?.into_iter().collect();
        fs::write(fresh.join(HOST), host.to_json())?;
        fs::write(fresh.join(MANIFEST), Manifest::of(contents.report, hashes).to_json())?;
        if interrupted() {
            return Ok(false);
        }
        self.exchange(&fresh)?;
        self.parents.keep();
        // What stood there before is in the workshop now. It is no loss if it cannot be removed.
        let _ = self.workshop.close();
        Ok(true)
    }

    fn exchange(&mut self, fresh: &Path) -> io::Result<()> {
        let old = self.workshop.path().join("old");
        let replaces = self.place.exists();
        if replaces {
            // The run may have taken long, and others may have put something there.
            require_replaceable(&self.place, &self.place).map_err(io::Error::other)?;
            fs::rename(&self.place, &old)?;
        }
        let placed = fs::rename(fresh, &self.place);
        if placed.is_err() && replaces && fs::rename(&old, &self.place).is_err() {
            // The old results stay where they are: hidden is better than gone.
            self.workshop.disable_cleanup(true);
        }
        placed
    }
}

fn require_replaceable(place: &Path, resolved: &Path) -> Result<(), PrepareError> {
    let failed = |error| PrepareError::Io(place.to_owned(), error);
    if !resolved.is_dir() {
        return Err(PrepareError::NoDirectory(place.to_owned()));
    }
    if let Some(foreign) = foreign_entry(resolved).map_err(failed)? {
        return Err(PrepareError::Occupied(place.to_owned(), foreign));
    }
    let here = std::env::current_dir().map_err(failed)?;
    if here.starts_with(resolved) {
        return Err(PrepareError::InUse(place.to_owned()));
    }
    Ok(())
}

/// The first entry by name that no run of this program put into the directory: all that its manifest does not
/// name. Notes that somebody keeps beside their results, or a run within a run, are not ours to remove.
fn foreign_entry(directory: &Path) -> io::Result<Option<OsString>> {
    let ours = files_of_the_run(directory);
    let mut first: Option<OsString> = None;
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let foreign = !name.to_str().is_some_and(|name| ours.contains(name));
        if foreign && first.as_ref().is_none_or(|first| name < *first) {
            first = Some(name);
        }
    }
    Ok(first)
}

/// The names of a run's files, from its manifest; none if there is no manifest of this program.
fn files_of_the_run(directory: &Path) -> BTreeSet<String> {
    let read = || -> Option<BTreeSet<String>> {
        let text = fs::read_to_string(directory.join(MANIFEST)).ok()?;
        let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
        let files = manifest["files"].as_object().filter(|_| manifest["tool"] == TOOL)?;
        Some(files.keys().cloned().chain([MANIFEST, HOST].map(str::to_owned)).collect())
    };
    read().unwrap_or_default()
}

fn write_hashed(
    output: &dyn Output,
    contents: &Contents<'_>,
    directory: &Path,
) -> io::Result<(&'static str, String)> {
    let name = output.file_name();
    let write = || {
        let file = File::create(directory.join(name))?;
        let mut hashing = Hashing { hash: Sha256::new(), into: BufWriter::new(file) };
        output.write(contents, &mut hashing)?;
        hashing.flush()?;
        Ok((name, hex(&hashing.hash.finalize())))
    };
    write().map_err(|error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}")))
}

/// Hashes what passes through.
struct Hashing<W> {
    hash: Sha256,
    into: W,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.into.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

/// Directories that were made on the way to the place.
#[derive(Debug)]
struct MadeParents(Vec<PathBuf>);

impl MadeParents {
    fn make(parent: &Path) -> io::Result<Self> {
        let missing = parent.ancestors().take_while(|ancestor| !ancestor.exists());
        let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        missing.reverse();
        let mut made = Self(Vec::new());
        for directory in missing {
            match fs::create_dir(&directory) {
                Ok(()) => made.0.push(directory),
                // Another run was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }

    fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for MadeParents {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // One that has been filled by somebody else meanwhile stays.
            let _ = fs::remove_dir(directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;
    use crate::report::made_up::Made;

    const HOST: Host = Host { jobs: 2, cpus: 4, wall_time_ms: 1 };

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What is in the way at a place.
    fn foreign(place: &Path) -> String {
        match RunDirectory::prepare(place) {
            Err(PrepareError::Occupied(_, name)) => name.into_string().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn commit(place: &Path, interrupted: bool) -> bool {
        let made = Made::calling(5, true);
        let report = made.report();
        let summary = Summary::of(&report);
        let directory = RunDirectory::prepare(place).unwrap();
        directory.commit(&Contents { report: &report, summary: &summary }, HOST, || interrupted).unwrap()
    }

    #[test]
    fn a_run_directory_explains_itself_and_is_replaced_whole() {
        let around = TempDir::new().unwrap();
        let place = around.path().join("output/run");
        assert!(commit(&place, false));
        let first = names(&place);
        assert_eq!(first.len(), OUTPUTS.len() + 2);
        let manifest: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(place.join(MANIFEST)).unwrap()).unwrap();
        for output in OUTPUTS {
            let bytes = fs::read(place.join(output.file_name())).unwrap();
            assert_eq!(manifest["files"][output.file_name()], hex(&Sha256::digest(&bytes)));
        }
        assert_eq!(manifest["files"].as_object().unwrap().len(), OUTPUTS.len());

        let before: Vec<_> = first.iter().map(|name| fs::read(place.join(name)).unwrap()).collect();
        // A file of a version that wrote more of them.
        let manifest = fs::read_to_string(place.join(MANIFEST)).unwrap();
        let older = manifest.replace("\"files\": {", "\"files\": {\n    \"old.csv\": \"00\",");
        fs::write(place.join(MANIFEST), older).unwrap();
        fs::write(place.join("old.csv"), "").unwrap();
        assert!(commit(&place, false));
        assert_eq!(names(&place), first);
        let after: Vec<_> = first.iter().map(|name| fs::read(place.join(name)).unwrap()).collect();
        assert!(before == after, "the same run gives the same bytes");
        assert_eq!(names(place.parent().unwrap()), ["run"]);
    }

    #[test]
    fn nothing_is_left_of_a_run_that_was_interrupted() {
        let around = TempDir::new().unwrap();
        assert!(!commit(&around.path().join("output/deep/run"), true));
        assert!(names(around.path()).is_empty());
        drop(RunDirectory::prepare(&around.path().join("output/run")).unwrap());
        assert!(names(around.path()).is_empty());
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let around = TempDir::new().unwrap();
        let place = around.path().join("precious");
        fs::create_dir(&place).unwrap();
        drop(RunDirectory::prepare(&place).unwrap());
        assert!(place.is_dir(), "an empty directory will do, and stays");
        fs::write(place.join("thesis.txt"), "").unwrap();
        assert_eq!(foreign(&place), "thesis.txt");
        fs::write(place.join(MANIFEST), "{\"name\": \"somebody's web app\"}").unwrap();
        assert_eq!(foreign(&place), MANIFEST);
        let file = place.join("thesis.txt");
        assert!(matches!(RunDirectory::prepare(&file), Err(PrepareError::NoDirectory(_))));
        assert!(matches!(RunDirectory::prepare(&file.join("run")), Err(PrepareError::Io(..))));
        assert!(matches!(RunDirectory::prepare(Path::new("/")), Err(PrepareError::Occupied(..))));
        assert_eq!(names(around.path()), ["precious"]);
    }

    #[test]
    fn what_somebody_keeps_within_a_run_directory_is_not_ours() {
        let around = TempDir::new().unwrap();
        let place = around.path().join("run");
        assert!(commit(&place, false));
        fs::write(place.join("notes.txt"), "the p99 is odd").unwrap();
        assert_eq!(foreign(&place), "notes.txt");
        fs::remove_file(place.join("notes.txt")).unwrap();
        assert!(commit(&place.join("inner"), false));
        assert_eq!(foreign(&place), "inner");
    }

    #[test]
    fn what_comes_to_the_place_during_the_run_is_not_replaced() {
        let around = TempDir::new().unwrap();
        let place = around.path().join("run");
        let made = Made::crashes(5, 8);
        let report = made.report();
        let summary = Summary::of(&report);
        let directory = RunDirectory::prepare(&place).unwrap();
        fs::create_dir(&place).unwrap();
        fs::write(place.join("thesis.txt"), "").unwrap();
        let contents = Contents { report: &report, summary: &summary };
        let error = directory.commit(&contents, HOST, || false).unwrap_err();
        assert!(error.to_string().contains("thesis.txt"), "{error}");
        assert_eq!(names(&place), ["thesis.txt"]);
        assert_eq!(names(around.path()), ["run"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_refused_before_the_run() {
        let around = TempDir::new().unwrap();
        let link = around.path().join("link");
        std::os::unix::fs::symlink("nothing", &link).unwrap();
        assert!(matches!(RunDirectory::prepare(&link), Err(PrepareError::Io(..))));
        assert_eq!(names(around.path()), ["link"]);
    }
}
