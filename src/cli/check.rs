//! `stillup check`: everything that is wrong with a scenario, without running it.

use super::args::CheckArgs;
use super::exit::Exit;
use super::printer::Printer;
use super::wiring;

/// Checks.
pub(super) fn check(arguments: &CheckArgs, printer: &Printer) -> Exit {
    let path = &arguments.scenario;
    match wiring::load(Some(path), &arguments.sets, printer.notes_in_colour()) {
        Ok(input) => {
            printer.note(&input.warnings);
            printer.result(&format!("{}: fine\n", path.display()), Exit::Fine)
        }
        Err(failure) => failure.tell(printer),
    }
}
