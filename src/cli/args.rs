//! The command line as it is typed. What is wrong in itself (an unknown flag, a number that is none) ends here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use clap_complete::Shell;

use super::exit::EXPLAINED;
use crate::report::comparison::{Figure, Sorting};

/// The instance is dead: why is it still UP, and for how long?
///
/// stillup simulates a service registry (Eureka, a two-stage one, or Nacos 1 as that) and thousands of its clients
/// in virtual time, and shows how long a dead instance stays visible at each stage: in the registry, in the answers
/// it serves, in a client's local copy, and in the list that a client's load balancer picks from.
///
/// Without a command it runs the built-in default scenario.
#[derive(Debug, Parser)]
#[command(name = "stillup", version, after_help = EXPLAINED, max_term_width = 100)]
pub(super) struct LowArgs {
    /// When to use colours; NO_COLOR is honoured
    #[arg(long, global = true, value_name = "WHEN", default_value_t, value_enum)]
    pub(super) color: ColorWhen,

    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a scenario and show how long it took to notice
    #[command(after_help = EXPLAINED)]
    Run(RunArgs),
    /// Run a scenario with every combination of some settings, and compare
    #[command(after_help = EXPLAINED)]
    Sweep(SweepArgs),
    /// Run several scenarios with the same draws, and compare
    #[command(after_help = EXPLAINED)]
    Compare(CompareArgs),
    /// Check a scenario without running it
    #[command(after_help = EXPLAINED)]
    Check(CheckArgs),
    /// List the scenarios that come with stillup, or print one
    Scenarios {
        /// Its name
        name: Option<String>,
    },
    /// Print the JSON schema of scenario files or of a summary
    Schema {
        /// Of what
        #[arg(default_value_t, value_enum)]
        of: SchemaOf,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page (roff), of the program or of one command
    Man {
        /// The command
        #[arg(value_parser = ["run", "sweep", "compare", "check", "scenarios", "schema", "completions", "man"])]
        command: Option<String>,
    },
}

/// `stillup run`.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct RunArgs {
    /// The scenario: a file (TOML), or the name of one that comes with stillup [default: default-crash]
    pub(super) scenario: Option<PathBuf>,

    /// The seed of all chance, instead of the scenario's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// How often to run the scenario, instead of the scenario's number
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=REPLICATES_MAX))]
    pub(super) replicates: Option<u32>,

    /// Replicates to run at the same time [default: one a processor]; changes no result
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=JOBS_MAX))]
    pub(super) jobs: Option<u16>,

    /// The run directory to write [default: output/SCENARIO]; replaced if it is one already
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    /// How to print the results
    #[arg(long, value_name = "FORMAT", default_value_t, value_enum)]
    pub(super) format: Format,

    /// Change a setting of the scenario, as in --set eureka.client.registry-fetch-interval-seconds=5
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,

    /// Print no table, no warnings and no progress; --format json still prints
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// Run everything a second time and show the first event that differs
    #[arg(long)]
    pub(super) verify_determinism: bool,
}

/// `stillup sweep`.
#[derive(Clone, Debug, Args)]
pub(super) struct SweepArgs {
    /// The scenario: a file (TOML), or the name of one that comes with stillup [default: default-crash]
    pub(super) scenario: Option<PathBuf>,

    /// A setting and its values, as in --axis eureka.client.registry-fetch-interval-seconds=5,15,30 or 1..20; given
    /// several times, every combination is run
    #[arg(long = "axis", value_name = "KEY=VALUE,…", required = true)]
    pub(super) axes: Vec<String>,

    #[command(flatten)]
    pub(super) many: ManyArgs,
}

/// `stillup compare`.
#[derive(Clone, Debug, Args)]
pub(super) struct CompareArgs {
    /// The scenarios: files (TOML), or names of those that come with stillup; the others are compared with the first
    #[arg(required = true, num_args = 2..)]
    pub(super) scenarios: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) many: ManyArgs,
}

/// What `sweep` and `compare` share.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ManyArgs {
    /// The seed of all chance, instead of the first configuration's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// How often to run each configuration, instead of the first one's number
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=REPLICATES_MAX))]
    pub(super) replicates: Option<u32>,

    /// Replicates to run at the same time [default: one a processor]; changes no result
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=JOBS_MAX))]
    pub(super) jobs: Option<u16>,

    /// The directory to write [default: in output/, by the scenarios' names]; replaced if it holds results
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    /// How to print the results
    #[arg(long, value_name = "FORMAT", default_value_t, value_enum)]
    pub(super) format: ManyFormat,

    /// Change a setting of all configurations, as in --set eureka.client.registry-fetch-interval-seconds=5
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,

    /// Sort the table by a figure, as in --sort balancer.p99, registry.mean, callers.mean (of different registries),
    /// requests, mistakes or failed-calls; with a minus before it the largest first
    #[arg(long, value_name = "FIGURE", allow_hyphen_values = true, value_parser = sorting)]
    pub(super) sort: Option<Sorting>,

    /// The largest first, or the last of the plan
    #[arg(long)]
    pub(super) descending: bool,

    /// The figure that heat maps show [default: the p99 of the last stage on the way to the callers]
    #[arg(long, value_name = "FIGURE", value_parser = Figure::parse)]
    pub(super) figure: Option<Figure>,

    /// Print no table, no warnings and no progress; --format json and csv still print
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// Run however many configurations there are, without asking
    #[arg(long, short)]
    pub(super) yes: bool,

    /// Start over, where an interrupted one would go on
    #[arg(long)]
    pub(super) fresh: bool,
}

impl ManyArgs {
    /// The order of the table.
    pub(super) fn sorting(&self) -> Sorting {
        let sorting = self.sort.unwrap_or_default();
        Sorting { descending: sorting.descending || self.descending, ..sorting }
    }
}

fn sorting(typed: &str) -> Result<Sorting, String> {
    let (name, descending) = typed.strip_prefix('-').map_or((typed, false), |name| (name, true));
    Ok(Sorting { by: Some(Figure::parse(name)?), descending })
}

/// More replicates than this are a typing error; the scenario's own limit.
const REPLICATES_MAX: i64 = 1_000_000;
/// More threads than this may be more than the operating system gives.
const JOBS_MAX: i64 = 1_024;

/// `stillup check`.
#[derive(Clone, Debug, Args)]
pub(super) struct CheckArgs {
    /// The scenario: a file (TOML), or the name of one that comes with stillup
    pub(super) scenario: PathBuf,

    /// Change a setting of the scenario first
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
}

/// How to print results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table and a sentence
    #[default]
    Table,
    /// The object of summary.json, and nothing else
    Json,
}

/// How to print the results of many configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ManyFormat {
    /// A line for each configuration
    #[default]
    Table,
    /// The object of summary.json, and nothing else
    Json,
    /// The rows of configurations.csv, and nothing else
    Csv,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorWhen {
    /// If the output is a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaOf {
    /// Scenario files
    #[default]
    Scenario,
    /// summary.json of a run
    Summary,
    /// summary.json of a sweep or a comparison
    Sweep,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        LowArgs::command().debug_assert();
    }

    #[test]
    fn nothing_typed_is_a_plain_run() {
        assert!(LowArgs::try_parse_from(["stillup"]).unwrap().command.is_none());
        let typed = LowArgs::try_parse_from(["stillup", "run"]).unwrap();
        let Some(Command::Run(typed)) = typed.command else { panic!("run is run") };
        assert_eq!(format!("{typed:?}"), format!("{:?}", RunArgs::default()));
    }

    #[test]
    fn a_minus_turns_the_order_round() {
        let order = |arguments: &[&str]| {
            let typed = [&["stillup", "sweep", "--axis", "a=1"], arguments].concat();
            let typed = LowArgs::try_parse_from(typed).unwrap().command;
            let Some(Command::Sweep(typed)) = typed else { panic!("sweep is sweep") };
            typed.many.sorting()
        };
        let by = Some(Figure::Requests);
        assert_eq!(order(&["--sort", "requests"]), Sorting { by, descending: false });
        assert_eq!(order(&["--sort", "-requests"]), Sorting { by, descending: true });
        assert_eq!(order(&["--sort", "requests", "--descending"]), Sorting { by, descending: true });
        assert_eq!(order(&[]), Sorting::default());
    }
}
