//! The command line's door: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    stillup::cli::main()
}
