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
//!                      ├──shape──▶ every value of its type and range       (the tables of `format`)
//!                      ├──check──▶ names resolved, defaults filled in      (registry, fleet, faults, expectations)
//!                      └──lint───▶ what is legal and will surprise
//!                      ▼
//!                  Scenario ──print──▶ canonical text ──▶ the same Scenario
//! ```
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

mod assignment;
#[cfg(test)]
mod bad_inputs;
mod belongs;
mod builtin;
mod check;
mod check_calls;
mod check_eureka;
mod check_fault;
mod check_fleet;
mod check_registry;
mod check_release;
mod check_servers;
mod check_targets;
mod check_verb;
mod claim;
mod diagnostic;
mod distribution;
mod document;
mod duration;
mod expect;
mod expect_form;
mod foreign;
mod format;
mod format_client;
mod format_fault;
mod format_server;
mod format_two_stage;
mod format_verb;
mod format_verb_keys;
mod format_world;
#[cfg(test)]
mod guide;
mod lint;
mod lint_capacity;
mod lint_consumer;
mod lint_expect;
mod lint_fault;
mod lint_fleet;
mod lint_idle;
mod lint_jam;
mod lint_lease;
mod lint_link;
mod lint_outage;
mod lint_protection;
mod lint_scale;
mod lint_servers;
mod lint_silence;
mod lint_two_stage;
mod load;
mod parameters;
mod print;
mod print_fault;
mod print_server;
mod print_two_stage;
mod properties;
mod property;
#[cfg(test)]
mod round_trip;
mod schema;
mod set;
mod setup;
mod shape;
mod shape_server;
mod suggest;
mod targets;
mod types;
mod unknown;
mod unmodelled;
mod values;
mod verb;

pub use assignment::Assignment;
pub use builtin::{BUILTIN, builtin, closest_builtin, default_scenario};
pub use claim::{Claim, Comparison, Expectation, Statistic};
pub use diagnostic::{Place, Problem, Problems, Severity, Source, Sources};
pub use load::{LoadError, Loaded, load, parse, parse_assigned, read};
pub use print::canonical;
pub use schema::json_schema;
pub(crate) use setup::with_registry;
pub use setup::{AppOf, ScenarioOf, Settings, Setup};
pub use suggest::closest;
pub use targets::{
    Batch, Change, Direction, HealthVia, Order, Peer, Selection, Targets, Which, WhichServers,
};
pub use types::{
    Application, Capacity, Clock, Delay, Fault, Network, SERVERS_MAX, Scenario, ServerList, ServerNode,
    Traffic, ZoneId,
};
pub use verb::Verb;
