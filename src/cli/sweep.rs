//! `stillup sweep`: a scenario with every combination of some settings.

use std::path::{Path, PathBuf};

use super::args::SweepArgs;
use super::exit::Exit;
use super::many::{self, Invocation};
use super::printer::Printer;
use super::wiring;

/// Sweeps.
pub(super) fn sweep(arguments: &SweepArgs, printer: &Printer) -> Exit {
    let scenario = arguments.scenario.as_deref();
    let name = stem(scenario);
    let text = match wiring::read(scenario, name.clone(), printer.notes_in_colour()) {
        Ok(text) => text,
        Err(failure) => return failure.tell(printer),
    };
    let mut words = vec!["sweep".to_owned()];
    words.extend(scenario.map(|path| path.display().to_string()));
    words.extend(arguments.axes.iter().flat_map(|axis| ["--axis".to_owned(), axis.clone()]));
    let invocation = Invocation {
        texts: vec![text],
        axes: &arguments.axes,
        words,
        place: PathBuf::from(format!("output/{name}-sweep")),
        many: &arguments.many,
    };
    many::run(invocation, printer)
}

fn stem(scenario: Option<&Path>) -> String {
    let stem = scenario.and_then(Path::file_stem);
    stem.map_or_else(|| wiring::DEFAULT_NAME.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
