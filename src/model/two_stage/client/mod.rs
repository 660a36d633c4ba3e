//! A process of an application under a two-stage registry: instance, consumer, or both, as one pure state machine.
//!
//! [`TwoStageClient`] is told what happens (it starts, a timer is due, an answer came) and answers with
//! [`ClientEffect`](crate::model::effect::ClientEffect)s. Its parts, by idea:
//!
//! ```text
//!   machine                  what it holds, its doors, and the life of the process up to its end
//!   start, shutdown          in which order things begin and end
//!   heartbeat                the instance: registers, beats, registers anew
//!   refresh                  the consumer that fetches everything again and again; back-off
//!   services                 the consumers that ask service by service, and their one timer
//!   watch                    a long poll for each of these
//!   push                     a poll for each of these, and what the registry pushes
//!   plausibility, store      whether an answer is taken, and what becomes of it
//!   disk                     the snapshot, which belongs to the host
//! ```
//!
//! Source: `two-stage.md` 1.2, 2.1 to 2.4, 2.6, 2.7, 4.2.

mod disk;
#[cfg(test)]
mod harness;
mod heartbeat;
mod machine;
mod plausibility;
mod push;
mod refresh;
mod services;
mod shutdown;
mod start;
mod store;
mod watch;

pub use machine::TwoStageClient;
