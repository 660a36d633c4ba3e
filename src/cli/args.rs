//! The command line as it is typed. What is wrong in itself (an unknown flag, a number that is none) ends here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use clap_complete::Shell;

use super::exit::EXPLAINED;

/// The instance is dead: why is it still UP, and for how long?
///
/// stillup simulates a service registry (Eureka) and thousands of its clients in virtual time, and shows how
/// long a dead instance stays visible at each stage: in the registry, in the answers it serves, in a client's
/// local copy, and in the list that a client's load balancer picks from.
///
/// Without a command it runs the built-in default scenario.
#[derive(Debug, Parser)]
#[command(name = "stillup", version, after_help = EXPLAINED, max_term_width = 100)]
pub(super) struct LowArgs {
    /// When to use colours; NO_COLOR is honoured
    #[arg(long, global = true, value_name = "WHEN", default_value_t, value_enum)]
    pub(super) color: When,

    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a scenario and show how long it took to notice
    #[command(after_help = EXPLAINED)]
    Run(RunArgs),
    /// Check a scenario without running it
    #[command(after_help = EXPLAINED)]
    Check(CheckArgs),
    /// List the scenarios that come with stillup, or print one
    Scenarios {
        /// Its name
        name: Option<String>,
    },
    /// Print the JSON schema of scenario files or of the summary
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
        #[arg(value_parser = ["run", "check", "scenarios", "schema", "completions", "man"])]
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

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
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
    /// summary.json
    Summary,
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
}
