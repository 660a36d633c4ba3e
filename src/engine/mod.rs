//! The event engine: virtual time, one totally ordered queue, streams of chance, the loop and its digest.
//! It does not know what a registry is.
//!
//! # The idea
//!
//! A simulation is a list of what is still to happen. The [`Engine`] takes the first [event](Handler::Event)
//! off it, moves the time to it, and hands it to the world, a [`Handler`], which changes its state and adds to
//! the list. Nothing else moves time, so an hour without events costs nothing, and nothing runs beside it, so
//! there is one order of events, and a run is the same each time.
//!
//! # The order
//!
//! 1. Events run in order of their time, whole nanoseconds.
//! 2. Events of the same time run in the order in which they were scheduled, however they were scheduled.
//! 3. An event that is scheduled for now runs after all others of now that were scheduled before, and before
//!    time goes on.
//! 4. Nothing can be scheduled before now; to try it is a bug, and panics.
//! 5. No width, size, limit, build or machine has any part in this.
//!
//! To cancel an event, let it carry a number which its owner compares with its own when it happens (a
//! generation). That costs no more than taking an entry out would, and keeps handles out of the queue.
//!
//! # The queue
//!
//! Most events of such a world come after one of a few constant delays: periods, time-outs, steps of a
//! back-off, the latency of a link. Events with the same delay from now come due in the order in which they
//! were scheduled, so each such delay is a *lane*, a ring buffer that never sorts anything, and only the heads
//! of the lanes compete. What is irregular waits in a *wheel*, which sorts only what is near.
//!
//! ```text
//!   lane 30 s   ■■■■■■■■■■■■■■■■■■■■■■■■■ ─┐
//!   lane 60 s   ■■ ───────────────────────┤ smallest head ─┐
//!   lane 5 s    ■■■■■■ ───────────────────┘                ├─ the smaller is next
//!   wheel       |■|■|■■| |■|■| ... |■■■|■■| |■■| ... heap ──┘
//!                near: slots, each  far: buckets,   later
//!                a short list in    no order        still
//!                order
//! ```
//!
//! The order of the whole is decided by two comparisons of (time, number) and is exact; lanes and wheel only
//! decide how fast it comes. A test compares the queue with a sorted map over random mixtures.
//!
//! # Example
//!
//! Two machines that ping each other, with a constant latency:
//!
//! ```
//! use stillup::engine::{
//!     Engine, Fingerprint, Handler, LaneId, Limits, Outcome, Schedule, SimDuration, SimTime,
//! };
//!
//! #[derive(Clone, Copy)]
//! enum Event {
//!     Ping { hop: u32 },
//! }
//!
//! impl Fingerprint for Event {
//!     fn fingerprint(&self) -> u64 {
//!         let Event::Ping { hop } = *self;
//!         u64::from(hop)
//!     }
//! }
//!
//! struct World {
//!     link: LaneId,
//!     hops: u32,
//! }
//!
//! impl Handler for World {
//!     type Event = Event;
//!
//!     fn handle(&mut self, _now: SimTime, event: Event, schedule: &mut Schedule<Event>) {
//!         match event {
//!             Event::Ping { hop } => {
//!                 self.hops = hop;
//!                 schedule.after(self.link, Event::Ping { hop: hop + 1 });
//!             }
//!         }
//!     }
//! }
//!
//! let mut engine = Engine::new();
//! let link = engine.schedule().lane(SimDuration::from_millis(20));
//! engine.schedule().at(SimTime::ZERO, Event::Ping { hop: 1 });
//!
//! let mut world = World { link, hops: 0 };
//! let end = engine.run(&mut world, &Limits::until(SimTime::from_secs(1)));
//!
//! // At 0, 20, 40, … 1,000 ms.
//! assert_eq!((end.outcome, end.events, world.hops), (Outcome::Horizon, 51, 51));
//! ```

mod digest;
mod distribution;
mod draw;
mod entry;
mod lane;
mod near;
mod poisson;
mod queue;
mod rng;
mod run;
mod slots;
mod time;
#[cfg(feature = "parallel")]
mod verify;
mod wheel;

pub use digest::{Fingerprint, OrderDigest};
pub use distribution::{Distribution, DistributionError, Shape as DistributionShape};
pub use queue::{EventQueue, LaneId};
pub use rng::{Purpose, Rng, Seed, Streams};
pub use run::{Engine, Handler, Limits, Outcome, RunEnd, Schedule};
pub use time::{NANOS_PER_MS, NANOS_PER_S, SimDuration, SimTime};
#[cfg(feature = "parallel")]
pub use verify::{Difference, TimedEvent, first_difference};
