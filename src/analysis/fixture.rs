//! Scenarios for this room's tests: defaults, a fleet of applications `a0`, `a1` … and one crash.

use crate::engine::SimDuration;
use crate::model::client::ClientConfig;
use crate::model::eureka::{Flavour, ServerConfig};
use crate::scenario::{Application, Delay, Fault, Network, Scenario, Selection, Targets, Verb, Which};

/// All defaults, these many instances by application, one of all crashes.
pub(super) fn scenario(fleet: &[u32]) -> Scenario {
    let application = |(place, &instances): (usize, &u32)| Application {
        name: format!("a{place}"),
        instances,
        observers: true,
        balancer_first_call: None,
        client: ClientConfig::defaults(Flavour::Spring),
    };
    Scenario {
        title: String::new(),
        about: String::new(),
        seed: 1,
        replicates: 1,
        duration: SimDuration::from_secs(1_800),
        stop_when_settled: true,
        start_window: SimDuration::from_secs(30),
        warm_up: SimDuration::from_secs(300),
        event_budget: 1_000_000,
        release: "2025.0".into(),
        server: ServerConfig::defaults(Flavour::Spring),
        server_starts_at_second: None,
        server_client: ClientConfig::defaults(Flavour::Spring),
        applications: fleet.iter().enumerate().map(application).collect(),
        network: Network { latency: Delay::Constant(SimDuration::from_millis(1)) },
        faults: vec![crash_of(Selection { application: None, which: Which::Count(1) })],
        expectations: Vec::new(),
    }
}

/// A crash within the first minute.
pub(super) fn crash_of(selection: Selection) -> Fault {
    fault(0, Verb::Crash(Targets::Instances(selection)))
}

/// A fault within a minute of this second.
pub(super) fn fault(at_s: u64, verb: Verb) -> Fault {
    Fault { at: SimDuration::from_secs(at_s), within: SimDuration::from_secs(60), verb }
}
