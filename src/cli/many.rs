//! What `sweep` and `compare` share: from a request to a directory and a table, over a journal that lets an interrupted
//! one go on.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::{ManyArgs, ManyFormat};
use super::exit::Exit;
use super::interrupt;
use super::printer::Printer;
use super::progress::Progress;
use super::quote::quote;
use super::run::refused;
use super::stopwatch::Stopwatch;
use super::wiring::whole_lines;
use crate::report::Host;
use crate::report::comparison::{Comparison, ComparisonContext, ComparisonDirectory, table};
use crate::sweep::{Journal, JournalError, Plan, PlanError, Request, ScenarioText, Stopped, run_all};

/// More configurations than this are run only if that is meant.
const CONFIGURATIONS_UNASKED: u64 = 10_000;
/// More configurations than this are a mistake: checking them alone would take minutes.
const CONFIGURATIONS_MAX: u64 = 1_000_000;
/// More events than this take hours, and are run only if that is meant.
const EVENTS_UNASKED: f64 = 1e11;

/// What a command asks for.
pub(super) struct Invocation<'a> {
    pub(super) texts: Vec<ScenarioText>,
    pub(super) axes: &'a [String],
    /// The command, up to what both share.
    pub(super) words: Vec<String>,
    /// Where results go, unless told otherwise.
    pub(super) place: PathBuf,
    pub(super) many: &'a ManyArgs,
}

/// Runs all configurations and shows them.
pub(super) fn run(invocation: Invocation<'_>, printer: &Printer) -> Exit {
    let interrupted = interrupt::listen();
    let watch = Stopwatch::start();
    let many = invocation.many;
    let command = command(&invocation);
    let request = Request {
        texts: invocation.texts,
        sets: many.sets.clone(),
        axes: invocation.axes.to_vec(),
        seed: many.seed,
        replicates: many.replicates,
    };
    if let Some(exit) = too_many(&request, many.yes, printer) {
        return exit;
    }
    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = many.jobs.map_or(cpus, usize::from);
    let plan = match Plan::of(&request, jobs, interrupted) {
        Ok((plan, warnings)) => {
            if !many.quiet {
                printer.note(&whole_lines(warnings.render(printer.notes_in_colour())));
            }
            plan
        }
        Err(PlanError::Wrong(problems)) => {
            printer.note(&whole_lines(problems.render(printer.notes_in_colour())));
            return Exit::Input;
        }
        Err(PlanError::Interrupted) => return nothing_written(printer),
    };
    let place = many.out.clone().unwrap_or(invocation.place);
    let session = Session { many, plan: &plan, command: &command, place: &place, interrupted, printer };
    match session.run(jobs) {
        Ok((directory, journal)) => {
            let wall_time_ms = u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX);
            session.report(directory, journal, Host { jobs, cpus, wall_time_ms })
        }
        Err(exit) => exit,
    }
}

/// Refuses what nobody can mean. Asks whether so many are meant; without anybody to ask, refuses.
fn too_many(request: &Request, yes: bool, printer: &Printer) -> Option<Exit> {
    let size = request.size();
    let events = request.events_at_most();
    if size > CONFIGURATIONS_MAX {
        let text = format!("these are more than {CONFIGURATIONS_MAX} configurations; leave out some values");
        return Some(printer.error(&text, Exit::Input));
    }
    if yes || (size <= CONFIGURATIONS_UNASKED && events.is_none_or(|events| events <= EVENTS_UNASKED)) {
        return None;
    }
    let events = events.map(|events| format!(", up to {events:.0e} events")).unwrap_or_default();
    let much = format!("these are {size} configurations{events}");
    match printer.ask(&format!("{much}; go on?")) {
        Some(true) => None,
        Some(false) => Some(nothing_written(printer)),
        None => Some(printer.error(&format!("{much}; say --yes if they are meant"), Exit::Input)),
    }
}

/// What a checked request is run with.
struct Session<'a> {
    many: &'a ManyArgs,
    plan: &'a Plan,
    command: &'a str,
    place: &'a Path,
    interrupted: &'a AtomicBool,
    printer: &'a Printer,
}

impl Session<'_> {
    /// Runs what is not finished.
    fn run(&self, jobs: usize) -> Result<(ComparisonDirectory, Journal), Exit> {
        let directory =
            ComparisonDirectory::prepare(self.place).map_err(|error| refused(&error, self.printer))?;
        let program = match option_env!("STILLUP_REVISION") {
            Some(revision) => format!("{} {revision}", env!("CARGO_PKG_VERSION")),
            None => env!("CARGO_PKG_VERSION").to_owned(),
        };
        let journal =
            Journal::open(directory.unfinished(), self.plan, &program, self.command, self.many.fresh);
        let journal = journal.map_err(|error| self.no_journal(&error))?;
        let size = self.plan.size();
        let had = journal.had_count();
        if had > 0 && !self.many.quiet {
            self.printer.note(&format!("Going on: {had} of {size} configurations were finished before.\n"));
        }
        let replicates = (size - had) as u64 * u64::from(self.plan.replicates());
        let progress = Progress::over(replicates, self.many.quiet);
        let ended = run_all(self.plan, &journal, jobs, self.interrupted, &|| progress.one_more());
        drop(progress);
        match ended {
            Ok(()) => Ok((directory, journal)),
            Err(stopped) => Err(self.stopped(&stopped, journal)),
        }
    }

    fn report(&self, directory: ComparisonDirectory, journal: Journal, host: Host) -> Exit {
        let kept = self.kept(&journal, "the same command");
        let about = ComparisonContext {
            command: self.command,
            command_of: &|index| command_of(self.plan, index),
            figure: self.many.figure,
            version: env!("CARGO_PKG_VERSION"),
            revision: option_env!("STILLUP_REVISION"),
        };
        let interrupted = || self.interrupted.load(Ordering::Relaxed);
        match directory.commit(self.plan, journal, &about, host, interrupted) {
            Ok(Some(comparison)) => self.show(&comparison),
            Ok(None) => self.printer.error(&format!("interrupted; {kept}"), Exit::Interrupted),
            Err(error) => {
                let text = format!("cannot write results to {}: {error}; {kept}", self.place.display());
                self.printer.error(&text, Exit::Io)
            }
        }
    }

    fn show(&self, comparison: &Comparison) -> Exit {
        let summary = &comparison.summary;
        let exit = if summary.missed().is_empty() { Exit::Fine } else { Exit::Missed };
        match self.many.format {
            ManyFormat::Json => self.printer.result(&summary.to_json(), exit),
            ManyFormat::Csv => self.printer.result(&comparison.to_csv(), exit),
            ManyFormat::Table if self.many.quiet => exit,
            ManyFormat::Table => self.printer.result(&table(summary, &self.many.sorting(), self.place), exit),
        }
    }

    fn no_journal(&self, error: &JournalError) -> Exit {
        match error {
            JournalError::Locked(..) => {
                self.printer.error(&format!("{error}; choose another --out"), Exit::Input)
            }
            JournalError::Changed { differences, command, .. } => {
                let differences: String =
                    differences.iter().map(|difference| format!("\n  {difference}")).collect();
                let text = format!(
                    "{error}:{differences}\nTo go on with it, give the command that began it: {command}\nTo give it \
                     up and start over, say --fresh; to keep both, choose another --out"
                );
                self.printer.error(&text, Exit::Input)
            }
            JournalError::Io(..) => self.printer.error(&error.to_string(), Exit::Io),
        }
    }

    /// Tells why not all were run, and what is left of it.
    fn stopped(&self, stopped: &Stopped, journal: Journal) -> Exit {
        let (exit, again) = match stopped {
            Stopped::Interrupted => (Exit::Interrupted, "the same command"),
            Stopped::OverBudget { .. } => {
                (Exit::Limit, "the same command with a larger `--set event-budget=N`")
            }
            Stopped::Io { .. } => (Exit::Io, "the same command"),
        };
        let left = if journal.count() > 0 {
            self.kept(&journal, again)
        } else {
            journal.remove();
            "nothing was written".to_owned()
        };
        self.printer.error(&format!("{stopped}; {left}"), exit)
    }

    fn kept(&self, journal: &Journal, again: &str) -> String {
        format!(
            "{} of {} configurations are kept in {}: {again} goes on from there",
            journal.count(),
            self.plan.size(),
            journal.directory().display(),
        )
    }
}

fn nothing_written(printer: &Printer) -> Exit {
    printer.error("interrupted; nothing was written", Exit::Interrupted)
}

/// The command that repeats it all: without what cannot change its results.
fn command(invocation: &Invocation<'_>) -> String {
    let many = invocation.many;
    let mut words = vec!["stillup".to_owned()];
    words.extend(invocation.words.iter().cloned());
    let option = |name: &str, value: Option<String>| {
        value.into_iter().flat_map(move |value| [format!("--{name}"), value]).collect::<Vec<_>>()
    };
    words.extend(option("seed", many.seed.map(|seed| seed.to_string())));
    words.extend(option("replicates", many.replicates.map(|replicates| replicates.to_string())));
    words.extend(many.sets.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
    words.extend(option("figure", many.figure.map(|figure| figure.to_string())));
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// The command that runs a configuration alone.
fn command_of(plan: &Plan, index: usize) -> String {
    let mut words: Vec<String> = ["stillup", "run", plan.path_of(index)].map(str::to_owned).to_vec();
    words.extend(["--seed".to_owned(), plan.seed().to_string()]);
    words.extend(["--replicates".to_owned(), plan.replicates().to_string()]);
    words.extend(plan.sets_of(index).into_iter().flat_map(|set| ["--set".to_owned(), set]));
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}
