//! A scenario from a file: reading it, and what can be wrong before anybody looks into it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::diagnostics::{Place, Problem, Problems, Sources};
use super::load::{Loaded, parse};

/// Bytes of a file at most. A fleet of thousands of applications stays far below.
const FILE_MAX: u64 = 4 << 20;

/// Why a file gave no scenario.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// It was read, and is wrong.
    #[error(transparent)]
    Invalid(#[from] Problems),
}

/// Reads a scenario file and applies `sets`, each `KEY=VALUE`.
///
/// # Errors
/// [`LoadError::Io`] if it cannot be read (it is not there, or a directory), [`LoadError::Invalid`] with every
/// problem if it is wrong.
pub fn load(path: &Path, sets: &[String]) -> Result<Loaded, LoadError> {
    let text = read(path)?;
    Ok(parse(&path.display().to_string(), &text, sets)?)
}

/// Reads a scenario file without looking into it.
///
/// # Errors
/// [`LoadError::Io`] if it cannot be read (it is not there, or a directory), [`LoadError::Invalid`] if it is too long
/// or not UTF-8.
pub fn read(path: &Path) -> Result<String, LoadError> {
    let io = |error| LoadError::Io { path: path.to_owned(), error };
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes)).map_err(io)?;
    if bytes.len() as u64 > FILE_MAX {
        let title = format!("this file is longer than {} MiB: no scenario is", FILE_MAX >> 20);
        return Err(refused(name, String::new(), Problem::error(None, title)).into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let problem = Problem::error(Place::file(at..at + 1), "this is not UTF-8")
            .label("the first byte that is not")
            .hint("TOML files are UTF-8: save it so");
        refused(name, text, problem).into()
    })
}

fn refused(name: String, text: String, problem: Problem) -> Problems {
    Problems { sources: Sources { name, text, command_line: String::new() }, problems: vec![problem] }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(bytes).expect("it can be written");
        file
    }

    #[test]
    fn what_is_no_readable_file_is_an_io_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let missing = folder.path().join("missing.toml");
        for path in [folder.path(), missing.as_path()] {
            let error = load(path, &[]).expect_err("there is nothing to read");
            assert!(matches!(error, LoadError::Io { .. }));
            assert!(error.to_string().starts_with("cannot read "), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_not_utf_8_is_pointed_at() {
        let file = file(b"title = \"caf\xe9\"\n");
        let error = load(file.path(), &[]).expect_err("it is Latin-1");
        let text = error.to_string();
        assert!(text.contains("this is not UTF-8") && text.contains(":1:13"), "{text}");
    }

    #[test]
    fn a_file_without_end_is_refused() {
        let file = file(&vec![b'#'; FILE_MAX as usize + 1]);
        assert!(matches!(load(file.path(), &[]), Err(LoadError::Invalid(_))));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let file = file(&bytes);
            if let Err(error) = load(file.path(), &[]) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
