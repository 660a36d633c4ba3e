//! From a scenario file to a checked scenario.

mod types;

pub use types::{
    Application, Claim, Comparison, Delay, Direction, Expectation, Fault, Network, Scenario, Selection,
    Statistic, Targets, Verb, Which,
};
