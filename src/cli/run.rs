//! `stillup run`: from the words of the command line to a run directory and an answer.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::{Format, RunArgs};
use super::exit::Exit;
use super::interrupt;
use super::printer::Printer;
use super::progress::Progress;
use super::quote::quote;
use super::stopwatch::Stopwatch;
use super::wiring::{self, Verified};
use crate::observe::{Ending, RunData};
use crate::report::{Contents, Host, PrepareError, Report, RunDirectory, Summary, table};
use crate::scenario::Scenario;
use crate::sweep::verdict;

/// Runs.
pub(super) fn run(arguments: &RunArgs, printer: &Printer) -> Exit {
    let interrupted = interrupt::listen();
    let watch = Stopwatch::start();
    let loaded = wiring::load(arguments.scenario.as_deref(), &arguments.sets, printer.notes_in_colour());
    let mut input = match loaded {
        Ok(input) => input,
        Err(failure) => return failure.tell(printer),
    };
    if !arguments.quiet {
        printer.note(&input.warnings);
    }
    let scenario = &mut input.scenario;
    scenario.seed = arguments.seed.unwrap_or(scenario.seed);
    scenario.replicates = arguments.replicates.unwrap_or(scenario.replicates);

    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = arguments.jobs.map_or(cpus, usize::from);
    let place = arguments.out.clone().unwrap_or_else(|| default_place(arguments.scenario.as_deref()));
    let directory = match RunDirectory::prepare(&place) {
        Ok(directory) => directory,
        Err(error) => return refused(&error, printer),
    };
    let data = match simulate(arguments, scenario, jobs, interrupted, printer) {
        Ok(data) => data,
        Err(exit) => return exit,
    };
    let wall_time_ms = u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX);
    let finished = Finished { arguments, scenario, data: &data, place: &place, interrupted };
    finished.report(directory, Host { jobs, cpus, wall_time_ms }, printer)
}

/// Runs all replicates, twice if they are to be compared.
fn simulate(
    arguments: &RunArgs,
    scenario: &Scenario,
    jobs: usize,
    interrupted: &AtomicBool,
    printer: &Printer,
) -> Result<RunData, Exit> {
    let progress = Progress::over(scenario.replicates.into(), arguments.quiet);
    let data = wiring::run(scenario, jobs, interrupted, &|_| progress.one_more());
    drop(progress);
    let data = data.ok_or_else(|| stopped(printer))?;
    if let Some(exit) = out_of_budget(scenario, &data, printer) {
        return Err(exit);
    }
    if arguments.verify_determinism {
        let progress = Progress::over(scenario.replicates.into(), arguments.quiet);
        let again = wiring::verify_determinism(scenario, &data, jobs, interrupted, &|_| progress.one_more());
        drop(progress);
        match again.ok_or_else(|| stopped(printer))? {
            Verified::Same => printer.note("A second run came out the same, event by event.\n"),
            Verified::Differs(text) => return Err(printer.error(&text, Exit::Bug)),
        }
    }
    Ok(data)
}

/// A run that came to its end.
struct Finished<'a> {
    arguments: &'a RunArgs,
    scenario: &'a Scenario,
    data: &'a RunData,
    place: &'a Path,
    interrupted: &'a AtomicBool,
}

impl Finished<'_> {
    fn report(&self, directory: RunDirectory, host: Host, printer: &Printer) -> Exit {
        let scenario_text = wiring::canonical(self.scenario);
        let verdicts = verdict::judge(self.scenario, self.data);
        let report = Report {
            scenario: self.scenario,
            scenario_text: &scenario_text,
            data: self.data,
            bounds: &wiring::bounds(self.scenario),
            verdicts: &verdicts,
            command: command(self.arguments),
            version: env!("CARGO_PKG_VERSION"),
            revision: option_env!("STILLUP_REVISION"),
        };
        let summary = Summary::of(&report);
        let contents = Contents { report: &report, summary: &summary };
        match directory.commit(&contents, host, || self.interrupted.load(Ordering::Relaxed)) {
            Ok(true) => {}
            Ok(false) => return stopped(printer),
            Err(error) => {
                let place = self.place.display();
                return printer.error(&format!("cannot write results to {place}: {error}"), Exit::Io);
            }
        }
        let passed = verdicts.iter().all(|verdict| verdict.passed);
        let exit = if passed { Exit::Fine } else { Exit::Missed };
        match self.arguments.format {
            Format::Json => printer.result(&summary.to_json(), exit),
            Format::Table if self.arguments.quiet => exit,
            Format::Table => printer.result(&table(&summary, Some(self.place)), exit),
        }
    }
}

/// The command that repeats the run: without what cannot change its results.
fn command(arguments: &RunArgs) -> String {
    let mut words = vec!["stillup".to_owned(), "run".to_owned()];
    words.extend(arguments.scenario.as_ref().map(|path| path.display().to_string()));
    words.extend(arguments.seed.into_iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
    let replicates = arguments.replicates.into_iter();
    words.extend(replicates.flat_map(|count| ["--replicates".to_owned(), count.to_string()]));
    words.extend(arguments.sets.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

fn default_place(scenario: Option<&Path>) -> PathBuf {
    let stem = scenario.and_then(Path::file_stem).unwrap_or(wiring::DEFAULT_NAME.as_ref());
    Path::new("output").join(stem)
}

/// Prints why no results can go there.
pub(super) fn refused(error: &PrepareError, printer: &Printer) -> Exit {
    let exit = match error {
        PrepareError::Occupied(..) | PrepareError::NoDirectory(_) | PrepareError::InUse(_) => Exit::Input,
        PrepareError::Io(..) => Exit::Io,
    };
    printer.error(&error.to_string(), exit)
}

fn stopped(printer: &Printer) -> Exit {
    printer.error("interrupted; nothing was written", Exit::Interrupted)
}

/// The named outcome of a run that needed more events than it may have: its figures would not be whole.
fn out_of_budget(scenario: &Scenario, data: &RunData, printer: &Printer) -> Option<Exit> {
    let stopped = data.replicates.iter().find(|replicate| replicate.ending == Ending::Budget)?;
    let text = format!(
        "the event budget was used up: replicate {} had run {} events after {} of virtual time; nothing was \
         written. Raise `event-budget`, or shorten `duration`, or take a smaller fleet",
        stopped.replicate, scenario.event_budget, stopped.ended_at,
    );
    Some(printer.error(&text, Exit::Limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_repeat_names_what_decides_the_results_only() {
        let arguments = RunArgs {
            scenario: Some("my scenario.toml".into()),
            seed: Some(7),
            replicates: Some(3),
            jobs: Some(2),
            out: Some("elsewhere".into()),
            format: Format::Json,
            sets: vec!["title=it's".into(), "run.duration=5m".into()],
            quiet: true,
            verify_determinism: false,
        };
        assert_eq!(
            command(&arguments),
            r"stillup run 'my scenario.toml' --seed 7 --replicates 3 --set 'title=it'\''s' --set run.duration=5m"
        );
        assert_eq!(command(&RunArgs::default()), "stillup run");
    }

    #[test]
    fn results_are_placed_by_the_scenarios_name() {
        assert_eq!(default_place(None), Path::new("output/default-crash"));
        assert_eq!(
            default_place(Some(Path::new("scenarios/mass-death.toml"))),
            Path::new("output/mass-death")
        );
    }
}
