//! The two-stage registry against its specification.
//!
//! - **Vectors** ([`vector`], [`row`]): scripts and the rows that must come of them, computed by another model than
//!   ours. Those of `docs/spec/two-stage.md` section 7, and more in `tests/two_stage/vectors`, whose comments say their
//!   arithmetic. [`machine`] plays them with the real rules. `STILLUP_VECTORS=PATH cargo test --test two_stage` plays
//!   others: a page, a file, or a folder of them.
//! - **An oracle** ([`oracle`]): the same rules once more, as plainly as can be, millisecond by millisecond and without
//!   a queue. Random scripts under random settings must give the same rows.
//! - **Invariants** ([`invariants`]): what holds of every script.

mod ids;
mod invariants;
mod knobs;
mod machine;
mod oracle;
mod row;
mod scripts;
mod vector;
mod written;

use std::path::{Path, PathBuf};

use row::differences;
use vector::{Vector, vectors_of};

/// A page, a file of vectors, or every such file in a folder, in order.
fn vectors_at(path: &Path) -> Vec<Vector> {
    let mut files = vec![path.to_path_buf()];
    if path.is_dir() {
        let entries = path.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
        files = entries.filter(|file| file.extension().is_some_and(|kind| kind == "json")).collect();
        files.sort();
    }
    files.iter().flat_map(|file| vectors_of(file).unwrap_or_else(|problem| panic!("{problem}"))).collect()
}

fn play(path: &Path) -> usize {
    let vectors = vectors_at(path);
    let mut failures = Vec::new();
    for vector in &vectors {
        let log = machine::run(vector).unwrap_or_else(|problem| panic!("{problem}"));
        let lines = differences(&vector.expected(), &vector.counted(log));
        if !lines.is_empty() {
            failures.push(format!("{}:\n{}", vector.id, lines.join("\n")));
        }
    }
    assert!(failures.is_empty(), "- is missing, + is too much\n{}", failures.join("\n"));
    vectors.len()
}

fn in_the_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn vectors_of_the_specification() {
    assert_eq!(play(&in_the_repository("docs/spec/two-stage.md")), 12);
}

#[test]
fn further_vectors() {
    assert!(play(&in_the_repository("tests/two_stage/vectors")) > 10);
}

#[test]
fn vectors_of_others() {
    if let Some(path) = std::env::var_os("STILLUP_VECTORS") {
        assert!(play(Path::new(&path)) > 0, "no vectors in {}", path.to_string_lossy());
    }
}

/// A comparison that cannot fail proves nothing: each vector must notice that its rows are a millisecond late.
#[test]
fn late_rows_are_noticed() {
    for vector in vectors_at(&in_the_repository("docs/spec/two-stage.md")) {
        let mut log = machine::run(&vector).expect("a log");
        log.iter_mut().for_each(|row| row.t += 1);
        assert!(!differences(&vector.expected(), &vector.counted(log)).is_empty(), "{}", vector.id);
    }
}
