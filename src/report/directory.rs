//! The run directory: written beside its place and put there whole, so that nobody ever meets half of one.
//!
//! [`RunDirectory::prepare`] comes before the run, so that a place that cannot be written is known before any
//! work is lost; [`RunDirectory::commit`] comes after it. In between, and if it never comes to a commit,
//! nothing but an empty directory of our own stands beside the place, and dropping the value removes it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::manifest::hex;
use super::place::{Place, PrepareError};
use super::{Contents, Host, Manifest, OUTPUTS, Output};
use crate::sweep::on_threads;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const HOST: &str = "host.json";

/// A place for the results of one run.
#[derive(Debug)]
pub struct RunDirectory {
    /// Beside the place, on the same file system. It goes before the place's parents do.
    workshop: TempDir,
    place: Place,
}

impl RunDirectory {
    /// Makes sure that a run directory can be put at `place`, which may be absent, empty or a run directory.
    ///
    /// # Errors
    /// If something else stands there, or if its parent cannot be written.
    pub fn prepare(place: &Path) -> Result<Self, PrepareError> {
        let failed = |error| PrepareError::Io(place.to_owned(), error);
        let prepared = Place::prepare(place)?;
        let beside = prepared.parent();
        let workshop = tempfile::Builder::new().prefix(".stillup-").tempdir_in(beside).map_err(failed)?;
        Ok(Self { workshop, place: prepared })
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
        let write = |output: &&dyn Output| {
            let name = output.file_name();
            Ok((name, write_hashed(&fresh, name, |into| output.write(contents, into))?))
        };
        let written: io::Result<Vec<_>> = on_threads(host.jobs, || {
            OUTPUTS.par_iter().filter(|output| output.applies_to(contents)).map(write).collect()
        });
        let hashes: BTreeMap<&'static str, String> = written?.into_iter().collect();
        fs::write(fresh.join(HOST), host.to_json())?;
        fs::write(fresh.join(MANIFEST), Manifest::of(contents.report, hashes).to_json())?;
        if interrupted() {
            return Ok(false);
        }
        let old = self.workshop.path().join("old");
        let placed = self.place.exchange(&fresh, &old);
        if placed.is_err() && old.exists() {
            // The old results stay where they are: hidden is better than gone.
            self.workshop.disable_cleanup(true);
        }
        placed?;
        // What stood there before is in the workshop now. It is no loss if it cannot be removed.
        let _ = self.workshop.close();
        Ok(true)
    }
}

/// Writes a file of this name into the directory and returns its SHA-256, hexadecimal.
pub(super) fn write_hashed(
    directory: &Path,
    name: &str,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<String> {
    let write = || {
        let file = File::create(directory.join(name))?;
        let mut hashing = Hashing { hash: Sha256::new(), into: BufWriter::new(file) };
        write(&mut hashing)?;
        hashing.flush()?;
        Ok(hex(&hashing.hash.finalize()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;
    use crate::report::fixtures::Fixture;

    const HOST: Host = Host { jobs: 2, cpus: 4, wall_time_ms: 1 };

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Files that only the two-stage registry has.
    const OF_TWO_STAGES: [&str; 3] = ["guard.png", "guard.svg", "sweeps.csv"];

    /// What is in the way at a place.
    fn foreign(place: &Path) -> String {
        match RunDirectory::prepare(place) {
            Err(PrepareError::Occupied(_, name)) => name.into_string().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn commit(place: &Path, interrupted: bool) -> bool {
        let mut made = Fixture::calling(5, true);
        // With peers there are all files that a run of Eureka can have.
        made.scenario.servers = Fixture::cut_off(1, 3).scenario.servers;
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
        let files = || OUTPUTS.iter().filter(|output| !OF_TWO_STAGES.contains(&output.file_name()));
        assert_eq!(first.len(), files().count() + 2);
        let manifest: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(place.join(MANIFEST)).unwrap()).unwrap();
        for output in files() {
            let bytes = fs::read(place.join(output.file_name())).unwrap();
            assert_eq!(manifest["files"][output.file_name()], hex(&Sha256::digest(&bytes)));
        }
        assert_eq!(manifest["files"].as_object().unwrap().len(), files().count());

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
    fn a_two_stage_registry_has_sweeps_and_no_minutes() {
        let around = TempDir::new().unwrap();
        let place = around.path().join("run");
        let made = Fixture::jammed(3);
        let report = made.report();
        let summary = Summary::of(&report);
        let directory = RunDirectory::prepare(&place).unwrap();
        directory.commit(&Contents { report: &report, summary: &summary }, HOST, || false).unwrap();
        let names = names(&place);
        assert!(OF_TWO_STAGES.iter().all(|name| names.iter().any(|known| known == name)), "{names:?}");
        for name in ["timeline.csv", "renewals.svg", "divergence.csv", "calls.csv"] {
            assert!(!names.iter().any(|known| known == name), "{name}");
        }
        let head =
            |name: &str| fs::read_to_string(place.join(name)).unwrap().lines().next().unwrap().to_owned();
        assert_eq!(
            head("load.csv"),
            "replicate,server,from_ms,register,renew,cancel,fetch-full,fetch-service,watch,refused,\
             utilisation_percent,waiting_max"
        );
        let sweeps = fs::read_to_string(place.join("sweeps.csv")).unwrap();
        assert!(sweeps.lines().nth(1).unwrap().ends_with(",orders,20,20,true,4,0"), "{sweeps}");
        for text in ["balancer", "self_preservation", "batch"] {
            assert!(!summary.to_json().contains(text), "{text}");
        }
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
        let made = Fixture::crashes(5, 8);
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
