//! What is expected, in files.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use similar::TextDiff;

/// A path below the package's folder.
pub(crate) fn in_the_package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The names in `folder` of what ends in `.ending`, without the ending, sorted; of folders if there is no ending.
pub(crate) fn names(folder: &Path, ending: Option<&str>) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let of_that_kind = paths.filter(|path| match ending {
        Some(ending) => path.extension().is_some_and(|extension| extension == ending),
        None => path.is_dir(),
    });
    let mut names: Vec<String> = of_that_kind
        .map(|path| path.file_stem().and_then(|stem| stem.to_str()).expect("a plain name").to_owned())
        .collect();
    names.sort();
    names
}

/// Compares byte by byte with the file, or writes it if `INSTA_UPDATE=always` says so, as `insta` does.
pub(crate) fn compare(came: &str, file: &Path) -> Result<(), Failed> {
    let expected = fs::read_to_string(file).unwrap_or_default();
    if came == expected {
        return Ok(());
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        return Ok(fs::write(file, came)?);
    }
    let diff = TextDiff::from_lines(expected.as_str(), came);
    let file = file.display();
    let shown = diff.unified_diff().header("expected", "came").to_string();
    Err(format!("{file}\n{shown}\nif that is meant, run it again with INSTA_UPDATE=always").into())
}
