//! What the tests draw that hold closed forms against the clocks themselves.

use crate::scenario::Delay;

/// Drawn from `[0, bound)` by SplitMix64: these tests need fair numbers, not the engine's streams.
pub(super) struct Draws(pub(super) u64);

impl Draws {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        ((u128::from(bits) * u128::from(bound)) >> 64) as u64
    }

    pub(super) fn latency(&mut self, delay: Delay) -> u64 {
        match delay {
            Delay::Constant(always) => always.as_nanos(),
            Delay::Uniform(low, high) => low.as_nanos() + self.below(high.as_nanos() - low.as_nanos() + 1),
            Delay::Drawn(_) => unreachable!("no closed form holds"),
        }
    }
}

/// The first point of a grid of this period at or after `now`; the grid's phase is drawn.
pub(super) fn next(draws: &mut Draws, now: u64, period: u64, grain: u64) -> u64 {
    let phase = draws.below(period / grain) * grain;
    now + (phase + period - now % period) % period
}
