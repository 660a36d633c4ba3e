//! Tests that are files: a test for each shipped scenario and for each bad input, under the file's name.
//!
//! * `scenarios/NAME`: `scenarios/NAME.toml` keeps its promise, and comes out as `tests/scenarios/NAME.txt` says.
//! * `bad_inputs/SUBJECT/NAME`: `tests/bad_inputs/SUBJECT/NAME.toml` gets the message beside it.
//!
//! `cargo test --test cases crash` runs those with `crash` in their names, `--ignored` those that are too large for a
//! debug build. `INSTA_UPDATE=always cargo test --test cases` writes what came where something else was expected: read
//! `git diff` then.

mod bad_inputs;
mod expected;
mod scenarios;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = scenarios::trials();
    trials.extend(bad_inputs::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
