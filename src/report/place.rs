//! Where results go: a place that is checked before any work is lost, and to which a directory is moved whole.
//!
//! A place may be absent, empty, or hold what an earlier run put there. Everything else is somebody's, and is left
//! alone.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::directory::{HOST, MANIFEST};
use super::manifest::TOOL;

/// A place that results can be put to.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// Parents that did not exist, outermost first; removed again if nothing is put there.
    parents: CreatedParents,
}

/// Why no results can go there.
#[derive(Debug, Error)]
#[non_exhaustive]
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

impl Place {
    /// Makes sure that a directory can be put at `place`, which may be absent, empty or a run directory.
    pub(super) fn prepare(place: &Path) -> Result<Self, PrepareError> {
        let failed = |error| PrepareError::Io(place.to_owned(), error);
        let path = match fs::canonicalize(place) {
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
        let parent = path.parent().ok_or_else(|| PrepareError::InUse(place.to_owned()))?;
        let parents = CreatedParents::make(parent).map_err(failed)?;
        Ok(Self { path, parents })
    }

    /// The directory around it, which is there.
    pub(super) fn parent(&self) -> &Path {
        self.path.parent().expect("it was asked for when the place was prepared")
    }

    /// Its name within that.
    pub(super) fn name(&self) -> OsString {
        self.path.file_name().map(OsString::from).unwrap_or_default()
    }

    /// Moves the directory `fresh` to the place. What stood there is moved to `old`, which must be free.
    ///
    /// # Errors
    /// If it cannot be done. Then what stood at the place still stands there; or, if not even that could be put back,
    /// at `old`.
    pub(super) fn exchange(&mut self, fresh: &Path, old: &Path) -> io::Result<()> {
        let replaces = self.path.exists();
        if replaces {
            // The run may have taken long, and others may have put something there.
            require_replaceable(&self.path, &self.path).map_err(io::Error::other)?;
            fs::rename(&self.path, old)?;
        }
        let placed = fs::rename(fresh, &self.path);
        if placed.is_err() && replaces {
            let _ = fs::rename(old, &self.path);
        }
        placed?;
        self.parents.keep();
        Ok(())
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

/// Directories that were made on the way to the place.
#[derive(Debug)]
struct CreatedParents(Vec<PathBuf>);

impl CreatedParents {
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

impl Drop for CreatedParents {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // One that has been filled by somebody else meanwhile stays.
            let _ = fs::remove_dir(directory);
        }
    }
}
