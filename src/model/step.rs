//! What a machine is lent for one step: the time on its own clocks, its dice, and a place for its effects.
//!
//! A machine (a server, a client) never calls anybody. It is told what happened, changes its own state, and
//! puts what should follow into `out`; the world decides what that means.

use super::clock::Now;
use super::view::Views;
use crate::engine::Rng;

/// The loan. `E` is the machine's own kind of effect.
pub struct Step<'a, E> {
    /// The node's clocks.
    pub now: Now,
    /// The node's dice, one stream a purpose.
    pub rng: Rng<'a>,
    /// What servers ever held: payloads and views point into it.
    pub views: &'a mut Views,
    /// Effects, in the order in which they happen.
    pub out: &'a mut Vec<E>,
}
