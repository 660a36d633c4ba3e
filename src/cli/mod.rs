//! The command line: flags in, an answer and an exit code out. The only room that knows of terminals, the
//! environment and the process's end.
//!
//! ```text
//!   args.rs (LowArgs: as typed) -> run.rs, sweep.rs … (what each command does) -> Exit
//!                                        |                      |
//!                                    wiring.rs              printer.rs
//!                              (the rooms below it)   (the only one that prints)
//! ```
//!
//! Results go to standard output, everything else to standard error. A closed pipe is no error. A panic is a
//! bug of ours and says so.

mod args;
mod check;
mod compare;
mod exit;
mod interrupt;
mod many;
mod printer;
mod progress;
mod quote;
mod run;
mod stopwatch;
mod sweep;
mod texts;
mod tips;
mod wiring;

pub use exit::Exit;

use std::panic;
use std::process::ExitCode;

use clap::Parser;

use self::args::{Command, LowArgs, RunArgs};
use self::printer::Printer;

/// The program.
pub fn main() -> ExitCode {
    panic::set_hook(Box::new(printer::bug));
    let exit = panic::catch_unwind(parse_and_run).unwrap_or(Exit::Bug);
    exit.into()
}

fn parse_and_run() -> Exit {
    let arguments = match LowArgs::try_parse() {
        Ok(arguments) => arguments,
        Err(message) => return printer::usage(&tips::with_tip(message)),
    };
    let printer = Printer::new(arguments.color);
    match arguments.command {
        None => run::run(&RunArgs::default(), &printer),
        Some(Command::Run(arguments)) => run::run(&arguments, &printer),
        Some(Command::Sweep(arguments)) => sweep::sweep(&arguments, &printer),
        Some(Command::Compare(arguments)) => compare::compare(&arguments, &printer),
        Some(Command::Check(arguments)) => check::check(&arguments, &printer),
        Some(Command::Scenarios { name }) => texts::scenarios(name.as_deref(), &printer),
        Some(Command::Schema { of }) => texts::schema(of, &printer),
        Some(Command::Completions { shell }) => texts::completions(shell, &printer),
        Some(Command::Man { command }) => texts::man(command.as_deref(), &printer),
    }
}
