//! stillup: the instance is dead, so why is it still UP, and for how long?
//!
//! A deterministic discrete-event simulator of service registries, Eureka first. A [`scenario`] becomes a
//! [`world`] of processes; the [`engine`] moves virtual time; every process is a state machine of the [`model`];
//! what is worth knowing leaves the run as [facts](model::fact), of which [`observe`] makes rows, [`sweep`]
//! collects the replicates, and [`report`] writes tables and charts. Beside the simulation stands [`analysis`]:
//! closed forms that share no code with it.
//!
//! # Example
//!
//! A scenario with a changed setting, and when a client's local registry noticed the death:
//!
//! ```
//! use stillup::{EventKind, Outcome, Stage, scenario};
//!
//! let text = scenario::builtin("default-crash").unwrap();
//! let changed = ["replicates=3".into(), "eureka.client.registry-fetch-interval-seconds=5".into()];
//! let scenario = scenario::parse("default-crash", text, &changed)?.scenario;
//! let finished = stillup::run(&scenario);
//!
//! for seen in finished.detections(EventKind::Crash, Stage::Client) {
//!     let Outcome::Detected(after) = seen.outcome else { panic!("the run ended first") };
//!     println!("replicate {}: {} observers still saw {} for {after}", seen.replicate, seen.count, seen.instance);
//! }
//!
//! // The closed form of the same figure, which shares no code with the simulation.
//! let is_ours = |bound: &&stillup::analysis::Bound| (bound.event, bound.stage) == (EventKind::Crash, Stage::Client);
//! let range = finished.bounds().iter().find(is_ours).unwrap().range.clone().unwrap();
//! for seen in finished.detections(EventKind::Crash, Stage::Client) {
//!     assert!(matches!(seen.outcome, Outcome::Detected(after) if range.min <= after && after <= range.max));
//! }
//! # Ok::<(), stillup::scenario::Problems>(())
//! ```
//!
//! A [`Simulation`] is one replicate that goes step by step, and can be looked into and copied.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `cli` | the program, and all that touches files: scenario files, run directories, the journal of a sweep, comparisons; it takes the others with it |
//! | `charts` | charts as SVG |
//! | `png` | the same as PNG |
//! | `parallel` | replicates side by side |
//!
//! All are on by default. Without them there are no threads and no files, results are the same, and the crate builds
//! for `wasm32-unknown-unknown`.
//!
//! `docs/SCENARIO.md` and `docs/OUTPUT.md` are the references of what goes in and what comes out;
//! `docs/ARCHITECTURE.md`, in the repository, shows the house and has a glossary.
//!
//! # Sources
//!
//! Rules are cited by class and method of the original, as in `AbstractInstanceRegistry.evict`; public issues
//! by repository and number, as in Netflix #1266. `eureka-server.md` 4.3 and `eureka-client.md` section 6 are
//! sections of the pages in the repository's `docs/spec`, which say what those classes do in which version.

pub mod analysis;
#[cfg(feature = "cli")]
pub mod cli;
pub mod engine;
mod facade;
pub mod model;
pub mod observe;
pub mod report;
pub mod scenario;
pub mod sweep;
pub mod world;

pub use engine::{SimDuration, SimTime};
pub use facade::{Finished, Seen, run};
pub use model::stage::{EventKind, Stage};
pub use observe::Outcome;
pub use scenario::Scenario;
pub use world::Simulation;
