//! Where the command line meets the rooms below it.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::exit::Exit;
use super::printer::Printer;
use crate::analysis::{self, Bound};
use crate::observe::RunData;
use crate::scenario::Scenario;
use crate::sweep;

/// A scenario that can run.
pub(super) struct Input {
    pub(super) scenario: Scenario,
    /// What will surprise, ready to be printed; may be empty.
    pub(super) warnings: String,
}

/// Why there is no scenario, ready to be printed.
pub(super) struct LoadFailure {
    text: String,
    exit: Exit,
}

impl LoadFailure {
    /// Prints it.
    pub(super) fn tell(&self, printer: &Printer) -> Exit {
        printer.error(&self.text, self.exit)
    }
}

/// Reads and checks a scenario file, or the built-in default.
pub(super) fn load(path: Option<&Path>, sets: &[String], colour: bool) -> Result<Input, LoadFailure> {
    let _ = (sets, colour);
    if let Some(path) = path {
        let failed =
            |error| LoadFailure { text: format!("cannot read {}: {error}", path.display()), exit: Exit::Io };
        std::fs::read_to_string(path).map_err(failed)?;
    }
    Ok(Input { scenario: placeholder::scenario(), warnings: String::new() })
}

/// The scenario's canonical text.
pub(super) fn canonical(scenario: &Scenario) -> String {
    format!("title = {:?}\n", scenario.title)
}

/// The JSON schema of scenario files, with a final newline.
pub(super) fn scenario_schema() -> String {
    "{}\n".to_owned()
}

/// What the closed forms say of the scenario.
pub(super) fn bounds(scenario: &Scenario) -> Vec<Bound> {
    analysis::bounds(scenario)
}

/// Runs all replicates. `None` if interrupted. `progress` is called once for each replicate that has ended.
pub(super) fn run(
    scenario: &Scenario,
    jobs: usize,
    interrupt: &AtomicBool,
    progress: &(dyn Fn(u32) + Sync),
) -> Option<RunData> {
    sweep::run(scenario, jobs, interrupt, progress).ok()
}

/// Whether a second run came out like the first.
pub(super) enum Verified {
    /// It did.
    Same,
    /// It did not: what differs first.
    Differs(String),
}

/// Runs all replicates again and compares. `None` if interrupted.
pub(super) fn verify_determinism(
    scenario: &Scenario,
    data: &RunData,
    jobs: usize,
    interrupt: &AtomicBool,
    progress: &(dyn Fn(u32) + Sync),
) -> Option<Verified> {
    let divergence = sweep::verify_determinism(scenario, data, jobs, interrupt, progress).ok()?;
    Some(divergence.map_or(Verified::Same, |divergence| {
        let first = match divergence.difference {
            Some(difference) => difference.to_string(),
            None => "all events are the same, but not what was recorded of them".to_owned(),
        };
        Verified::Differs(format!(
            "replicate {} does not come out the same twice: {first}",
            divergence.replicate
        ))
    }))
}

mod placeholder {
    use crate::engine::SimDuration;
    use crate::model::client::ClientConfig;
    use crate::model::eureka::{Flavour, ServerConfig};
    use crate::scenario::{Application, Delay, Fault, Network, Scenario, Selection, Targets, Verb, Which};

    /// The default scenario by hand.
    pub(super) fn scenario() -> Scenario {
        let crash = Selection { application: None, which: Which::Count(1) };
        Scenario {
            title: "One of 100 instances is killed".to_owned(),
            about: String::new(),
            seed: 1,
            replicates: 300,
            duration: SimDuration::from_secs(3_600),
            stop_when_settled: true,
            start_window: SimDuration::from_secs(30),
            warm_up: SimDuration::from_secs(300),
            event_budget: 100_000_000,
            release: "2025.0".to_owned(),
            server: ServerConfig::defaults(Flavour::Spring),
            server_starts_at_second: None,
            server_client: ClientConfig::defaults(Flavour::Spring),
            applications: vec![Application {
                name: "orders".to_owned(),
                instances: 100,
                observers: true,
                balancer_first_call: None,
                client: ClientConfig::defaults(Flavour::Spring),
            }],
            network: Network { latency: Delay::Constant(SimDuration::from_millis(1)) },
            faults: vec![Fault {
                at: SimDuration::ZERO,
                within: SimDuration::from_secs(60),
                verb: Verb::Crash(Targets::Instances(crash)),
            }],
            expectations: Vec::new(),
        }
    }
}
