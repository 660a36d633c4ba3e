//! From a scenario file to a checked [`Scenario`].
//!
//! A scenario says everything that decides a run but the seed's draws: the fleet, the registry's settings, the
//! network, the faults, and what must come out. It is a TOML file; `docs/SCENARIO.md` is its reference, with every
//! key, unit, range, default and source.
//!
//! # The idea
//!
//! Parse once, completely, and never again. Past this door nothing is optional that should be there, every name is
//! resolved and every number in range, so no other room has to ask. And because a person stands before the door,
//! it never says just "no": *every* problem is reported at once, at its place in the file or on the command line,
//! with what to do about it.
//!
//! ```text
//!  text ──document──▶ tree ◀──set── --set KEY=VALUE
//!                      │
//!                      ├──walk──▶ every value of its type and range       (`format`)
//!                      ├──read──▶ names resolved, defaults filled in      (`sections`, `fault`, `expect`)
//!                      └──lint──▶ what is legal and will surprise         (`lint`)
//!                      ▼
//!                  Scenario ──print──▶ canonical text ──▶ the same Scenario
//! ```
//!
//! The folders are subjects, and each may use those before it: `diagnostics` (what is wrong, and where), `document` (the
//! tree, and what the command line sets in it), `types` (what a checked scenario is), `format` (how a key is declared, read
//! and printed), `expect` (the language of expectations), `lint` (warnings of any registry), `eureka` and `two_stage` (what
//! only one registry has), `sections` (what a file has under any), `fault` (the verbs), `file` (the whole).
//!
//! The tree is our own and not `serde`'s: `serde` stops at the first wrong value, and knows no places for what the
//! command line has replaced. The format itself is data ([`json_schema`] is made from the same tables), so that a
//! key cannot be read without being documented, suggested and part of the schema.
//!
//! # The format
//!
//! Settings of Eureka stand under Eureka's own names in kebab case, in `[eureka.server]`, `[eureka.client]` and
//! `[eureka.instance]`, in Eureka's own units: one finds here what stands in one's `application.yml`. Our own settings
//! use durations with units. The parameters of the two-stage registry stand in `[two-stage]` under their specification's.
//!
//! | section | says |
//! |---|---|
//! | top | title, seed, replicates, duration; the registry, and of Eureka flavour and release |
//! | `[start]` | how the fleet starts: window and warm-up |
//! | `[eureka.…]` | the server's and the fleet's settings, under Eureka's names |
//! | `[two-stage]` | the registry's and its clients' parameters, if it is the two-stage one |
//! | `[balancer]`, `[transport]` | what stands above and below the clients |
//! | `[server]` | the servers: how many, who tells whom, what they can do, and their own clients |
//! | `[network]` | the links' latency and loss |
//! | `[traffic]` | the calls that applications make to each other |
//! | `[[application]]` | the fleet; each may override the clients' settings, links and calls |
//! | `[[fault]]` | what happens: one verb and its targets, at a time after the warm-up |
//! | `[[expect]]` | what must come out, and in which share of the replicates |
//!
//! Settings come in layers; a later one wins: the defaults of the release or the preset, the file's sections, an application's own
//! sections. Within `[balancer]` and `[transport]` a new `kind` starts from that kind's defaults.
//!
//! # Promises
//!
//! 1. Nothing here prints, and no input panics.
//! 2. `parse(canonical(s))` is `s`, for every scenario that came through this door.
//! 3. An error means that nothing can run; a warning ([`Loaded::warnings`]) means that it will surprise.
//!
//! # Example
//!
//! ```
//! use stillup::scenario;
//!
//! let text = "replicats = 5\n[[application]]\nname = \"orders\"\n";
//! let problems = scenario::parse("my.toml", text, &[]).unwrap_err();
//! assert!(problems.render(false).contains("did you mean `replicates`?"));
//!
//! let text = "[[application]]\nname = \"orders\"\ninstances = 20\n";
//! let loaded = scenario::parse("my.toml", text, &["replicates=5".into()]).unwrap();
//! assert_eq!(loaded.scenario.replicates, 5);
//! ```

pub use builtin::{BUILTIN, builtin, closest_builtin, default_scenario};
pub use diagnostics::suggest::closest;
pub use diagnostics::{Place, Problem, Problems, Severity, Source, Sources};
pub use document::assignment::Assignment;
pub use file::print::canonical;
pub use file::schema::json_schema;
pub use load::{Loaded, parse, parse_assigned};
#[cfg(feature = "cli")]
pub use read_file::{LoadError, load, read};
pub(crate) use setup::with_registry;
pub use setup::{AppOf, ScenarioOf, Settings, Setup};
pub use types::claim::{Claim, Comparison, Expectation, Statistic};
pub use types::targets::{
    Batch, Change, Direction, HealthVia, Order, Peer, Selection, ServerChoice, TargetChoice, Targets,
};
pub use types::verb::FaultKind;
pub use types::{
    Application, Capacity, Clock, Delay, Fault, Network, SERVERS_MAX, Scenario, ServerList, ServerNode,
    Traffic, ZoneId,
};

mod builtin;
mod diagnostics;
mod document;
mod eureka;
mod expect;
mod fault;
mod file;
mod format;
mod lint;
mod load;
#[cfg(feature = "cli")]
mod read_file;
#[cfg(test)]
mod round_trip;
mod sections;
mod setup;
mod two_stage;
mod types;
