//! All tests from outside the crate but the replays of recordings (`golden`), the vectors of the two-stage registry
//! (`two_stage`) and the tests that are files (`cases`): one program, so that the crate is linked once.
//!
//! One module an idea. `cargo test --test suite sweep::` runs those of one.

mod arithmetic;
mod citations;
mod cli;
mod closed_forms;
mod closed_forms_two_stage;
mod consumers_arithmetic;
mod determinism;
mod doors;
mod fault_arithmetic;
mod figures;
mod held;
mod partition_arithmetic;
mod peers;
mod program;
mod queue_differential;
mod readme;
mod scale;
mod servers_arithmetic;
mod shipped;
mod small_fleets;
mod source_text;
mod swarm;
mod sweep;
mod sweep_stopped;
mod two_stage_arithmetic;
#[path = "../benches/workload/mod.rs"]
mod workload;
mod workload_w;
