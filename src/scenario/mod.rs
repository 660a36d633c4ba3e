//! From a scenario file to a checked [`Scenario`].
mod check;
mod check_eureka;
mod check_fault;
mod check_fleet;
mod check_release;
mod diagnostic;
mod document;
mod duration;
mod expect;
mod format;
mod load;
mod properties;
mod set;
mod shape;
mod suggest;
mod types;
mod unmodelled;
mod values;

pub use diagnostic::{Place, Problem, Problems, Severity, Source, Sources};
pub use load::{LoadError, Loaded, load, parse};
pub use types::{
    Application, Claim, Comparison, Delay, Direction, Expectation, Fault, Network, Scenario, Selection,
    Statistic, Targets, Verb, Which,
};
