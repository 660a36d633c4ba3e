//! Texts that the program has with it or writes about itself: scenarios, schemas, completions, the manual.

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use super::args::{LowArgs, SchemaOf};
use super::exit::Exit;
use super::printer::Printer;
use super::wiring;
use crate::report;
use crate::scenario::{BUILTIN, builtin, parse};

/// Lists the scenarios that come with the program, or prints the text of one.
pub(super) fn scenarios(name: Option<&str>, printer: &Printer) -> Exit {
    let Some(name) = name else {
        let width = BUILTIN.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let line = |(name, text): (&str, &str)| {
            let loaded = parse(name, text, &[]).expect("what is shipped is valid");
            format!("{name:<width$}  {}\n", loaded.scenario.title)
        };
        return printer.result(&BUILTIN.map(line).concat(), Exit::Fine);
    };
    match builtin(name) {
        Some(text) => printer.result(text, Exit::Fine),
        None => printer.error(&wiring::no_such_scenario(name), Exit::Input),
    }
}

/// Prints a JSON schema.
pub(super) fn schema(of: SchemaOf, printer: &Printer) -> Exit {
    let text = match of {
        SchemaOf::Scenario => wiring::scenario_schema(),
        SchemaOf::Summary => report::json_schema(),
        SchemaOf::Sweep => report::comparison::json_schema(),
    };
    printer.result(&text, Exit::Fine)
}

/// Prints a completion script.
pub(super) fn completions(shell: Shell, printer: &Printer) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut LowArgs::command(), "stillup", &mut script);
    printer.result(&String::from_utf8(script).expect("scripts are UTF-8"), Exit::Fine)
}

/// Prints the manual page of the program, or of one of its commands.
pub(super) fn man(command: Option<&str>, printer: &Printer) -> Exit {
    let mut program = LowArgs::command();
    program.build();
    let source = concat!("stillup ", env!("CARGO_PKG_VERSION"));
    let page = match command {
        None => Man::new(program).source(source),
        Some(name) => {
            let command = program.find_subcommand(name).expect("the name was checked").clone();
            let title = command.get_bin_name().unwrap_or(name).replace(' ', "-");
            Man::new(command).title(title).source(source)
        }
    };
    let mut text = Vec::new();
    page.render(&mut text).expect("memory takes everything");
    printer.result(&String::from_utf8(text).expect("pages are UTF-8"), Exit::Fine)
}
