//! stillup: the instance is dead, so why is it still UP, and for how long?
//!
//! A deterministic discrete-event simulator of service registries, Eureka first. A [`scenario`] becomes a
//! [`world`] of processes; the [`engine`] moves virtual time; every process is a state machine of the [`model`];
//! what is worth knowing leaves the run as [facts](model::fact), of which [`observe`] makes rows, [`sweep`]
//! collects the replicates, and [`report`] writes tables and charts. Beside the simulation stands [`analysis`]:
//! closed forms that share no code with it.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use stillup::model::stage::{EventKind, Stage};
//! use stillup::observe::Outcome;
//! use stillup::{analysis, scenario, sweep};
//!
//! // 100 instances; one of them is killed.
//! let mut scenario = scenario::default_scenario().scenario;
//! scenario.replicates = 3;
//! let run = sweep::run(&scenario, 1, &AtomicBool::new(false), &|_| ()).unwrap();
//!
//! let bounds = analysis::bounds(&scenario);
//! let is_ours = |bound: &&analysis::Bound| (bound.event, bound.stage) == (EventKind::Crash, Stage::Balancer);
//! let range = bounds.iter().find(is_ours).unwrap().range.clone().unwrap();
//! for seen in run.replicates.iter().flat_map(|replicate| &replicate.detections) {
//!     if seen.stage == Stage::Balancer {
//!         let Outcome::Detected(after) = seen.outcome else { panic!("the run ended first") };
//!         assert!(range.min <= after && after <= range.max);
//!     }
//! }
//! ```
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
pub mod model;
pub mod observe;
pub mod report;
pub mod scenario;
pub mod sweep;
pub mod world;
