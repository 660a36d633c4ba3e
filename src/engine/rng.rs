//! Streams of chance: many independent ones, each a number at rest.
//!
//! Every entity has a few streams, one a [`Purpose`], and a draw depends on nothing but its position: (seed,
//! replicate, entity's label, purpose, how many were drawn before). So an idle client more changes nobody
//! else's draws, and two configurations that are compared draw the same numbers for the same things (common
//! random numbers). Labels are names such as `client/orders/3`, never storage indices, so that numbering stays
//! free.
//!
//! A generator of `rand_chacha` holds 320 bytes. An entity here holds its name's hash and eight counters, 40
//! bytes, and each draw computes one block of the ChaCha8 key stream at its own place:
//!
//! ```text
//! key           SHA-256("stillup", seed, replicate)
//! nonce         first 8 bytes of SHA-256(label)
//! block number  purpose (8 bits) | zero (24 bits) | draw (32 bits)
//! ```
//!
//! ```
//! use stillup::engine::{Streams, Purpose, Seed};
//!
//! const PHASE: Purpose = Purpose(0);
//! let seed = Seed::new(42, 0);
//! let mut client = Streams::of("client/orders/3");
//! let die = 1 + client.with(&seed).below(PHASE, 6);
//! assert!((1..=6).contains(&die));
//! ```

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};
use sha2::{Digest, Sha256};

use super::time::SimDuration;

/// Words of 32 bits in a block of ChaCha.
const BLOCK_WORDS: u128 = 16;

/// What a draw is for, a number below [`Purpose::COUNT`]. Each (entity, purpose) pair is a stream of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose(pub u8);

/// The seed of one replicate.
#[derive(Clone, Debug)]
pub struct Seed {
    key: [u8; 32],
}

/// An entity's place in its streams: small, kept with the entity.
#[derive(Clone, Debug)]
pub struct Streams {
    entity: u64,
    drawn: [u32; Purpose::COUNT],
}

/// An entity's streams, lent together with the seed for some draws.
pub struct Rng<'a> {
    seed: &'a Seed,
    streams: &'a mut Streams,
}

impl Purpose {
    /// How many purposes an entity may have.
    pub const COUNT: usize = 8;
}

impl Seed {
    /// The seed of replicate `replicate` of a run with `seed`.
    pub fn new(seed: u64, replicate: u32) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"stillup");
        hash.update(seed.to_le_bytes());
        hash.update(replicate.to_le_bytes());
        Self { key: hash.finalize().into() }
    }
}

impl Streams {
    /// The streams of the entity that `label` names, e.g. `client/orders/3`. Equal labels name equal streams.
    pub fn of(label: &str) -> Self {
        let hash: [u8; 32] = Sha256::digest(label.as_bytes()).into();
        let mut entity = [0; 8];
        entity.copy_from_slice(&hash[..8]);
        Self { entity: u64::from_le_bytes(entity), drawn: [0; Purpose::COUNT] }
    }

    /// These streams, ready to draw from.
    pub fn with<'a>(&'a mut self, seed: &'a Seed) -> Rng<'a> {
        Rng { seed, streams: self }
    }
}

impl Rng<'_> {
    /// 64 fair bits.
    ///
    /// # Panics
    /// If the purpose is not below [`Purpose::COUNT`], or after 2³² draws of one purpose.
    pub fn bits(&mut self, purpose: Purpose) -> u64 {
        self.block(purpose).next_u64()
    }

    /// A fair number below `bound`, which is not 0.
    pub fn below(&mut self, purpose: Purpose, bound: u64) -> u64 {
        assert!(bound > 0, "nothing is below 0");
        // Lemire, "Fast random integer generation in an interval", 2019: the high half of the product is fair
        // once the few low halves that are one too many for some results are thrown away.
        let mut product = u128::from(self.bits(purpose)) * u128::from(bound);
        if (product as u64) < bound {
            let surplus = bound.wrapping_neg() % bound;
            while (product as u64) < surplus {
                product = u128::from(self.bits(purpose)) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A fair duration in `[0, bound)`; zero if `bound` is zero.
    pub fn duration_below(&mut self, purpose: Purpose, bound: SimDuration) -> SimDuration {
        match bound.as_nanos() {
            0 => SimDuration::ZERO,
            nanos => SimDuration::from_nanos(self.below(purpose, nanos)),
        }
    }

    /// A fair number in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn unit(&mut self, purpose: Purpose) -> f64 {
        unit_of(self.bits(purpose))
    }

    /// Two independent numbers as of [`Rng::unit`], for the price of one draw.
    pub fn unit_pair(&mut self, purpose: Purpose) -> (f64, f64) {
        let mut block = self.block(purpose);
        (unit_of(block.next_u64()), unit_of(block.next_u64()))
    }

    /// The key stream at the place of the next draw of `purpose`, which is taken.
    fn block(&mut self, purpose: Purpose) -> ChaCha8Rng {
        let drawn = &mut self.streams.drawn[usize::from(purpose.0)];
        let block = u64::from(purpose.0) << 56 | u64::from(*drawn);
        *drawn = drawn.checked_add(1).expect("fewer than 2^32 draws of one purpose");
        let mut stream = ChaCha8Rng::from_seed(self.seed.key);
        stream.set_stream(self.streams.entity);
        stream.set_word_pos(u128::from(block) * BLOCK_WORDS);
        stream
    }
}

/// The upper 53 bits as a number in `[0, 1)`: as many as a double holds exactly.
fn unit_of(bits: u64) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    (bits >> 11) as f64 * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Purpose = Purpose(0);
    const B: Purpose = Purpose(7);

    fn three(label: &str, purpose: Purpose) -> [u64; 3] {
        let seed = Seed::new(1, 0);
        let mut streams = Streams::of(label);
        [(); 3].map(|()| streams.with(&seed).bits(purpose))
    }

    /// The values come from a program of its own in Python (`hashlib`, and ChaCha8 written out). Recorded
    /// outputs stay reproducible only while they hold.
    #[test]
    fn draws_are_pinned() {
        assert_eq!(three("client/orders/1", A), GOLDEN_A);
        assert_eq!(three("client/orders/1", B), GOLDEN_B);
        assert_eq!(Streams::of("server/0").with(&Seed::new(1, 1)).bits(A), GOLDEN_REPLICATE);
    }

    const GOLDEN_A: [u64; 3] = [0x7341_E208_8ACA_1960, 0x1803_86BA_7A3A_D865, 0xB1AC_912A_7FB6_0BA6];
    const GOLDEN_B: [u64; 3] = [0xC89D_9154_BBF3_ED1E, 0x035B_E0DA_CDE5_12A0, 0xFA04_B879_E19C_D74C];
    const GOLDEN_REPLICATE: u64 = 0x734C_4245_4FFD_9298;

    #[test]
    fn a_draw_depends_on_its_own_position_only() {
        let seed = Seed::new(1, 0);
        let alone = three("client/orders/1", A);
        let mut streams = Streams::of("client/orders/1");
        let mut other = Streams::of("client/orders/2");
        let amid_others = [(); 3].map(|()| {
            other.with(&seed).bits(A);
            streams.with(&seed).bits(B);
            streams.with(&seed).unit_pair(Purpose(3));
            streams.with(&seed).bits(A)
        });
        assert_eq!(amid_others, alone);
    }

    #[test]
    fn streams_differ() {
        let one = three("client/orders/1", A);
        assert_ne!(one, three("client/orders/2", A));
        assert_ne!(one, three("client/orders/1", B));
        for other in [Seed::new(2, 0), Seed::new(1, 1)] {
            assert_ne!(one[0], Streams::of("client/orders/1").with(&other).bits(A));
        }
    }

    #[test]
    fn an_entity_holds_its_streams_in_40_bytes() {
        assert_eq!(size_of::<Streams>(), 40);
    }

    #[test]
    fn numbers_below_a_bound_are_even() {
        let (seed, mut streams) = (Seed::new(7, 0), Streams::of("test"));
        let mut seen = [0_u32; 6];
        for _ in 0..60_000 {
            seen[streams.with(&seed).below(A, 6) as usize] += 1;
        }
        // Binomial(60,000, 1/6): mean 10,000, standard deviation sqrt(60,000 · 1/6 · 5/6) = 91; five of them.
        assert!(seen.iter().all(|&n| n.abs_diff(10_000) < 455), "{seen:?}");
    }

    /// With bound 3·2⁶² a quarter of all 64-bit words must be thrown away; kept, they would make every third
    /// number twice as likely as the others.
    #[test]
    fn a_bound_that_divides_badly_stays_fair() {
        let (seed, mut streams) = (Seed::new(7, 0), Streams::of("test"));
        let mut thirds = [0_u32; 3];
        for _ in 0..30_000 {
            thirds[(streams.with(&seed).below(A, 3 << 62) % 3) as usize] += 1;
        }
        // Binomial(30,000, 1/3): mean 10,000, standard deviation 82; five of them.
        assert!(thirds.iter().all(|&n| n.abs_diff(10_000) < 410), "{thirds:?}");
        // 4/3 draws a number: 40,000 ± 5 · 115.
        assert!(streams.drawn[0].abs_diff(40_000) < 580, "{}", streams.drawn[0]);
    }

    #[test]
    fn units_fill_the_interval() {
        let (seed, mut streams) = (Seed::new(7, 0), Streams::of("test"));
        let mut sums = (0.0, 0.0);
        for _ in 0..20_000 {
            let (x, y) = streams.with(&seed).unit_pair(A);
            assert!((0.0..1.0).contains(&x) && (0.0..1.0).contains(&y));
            sums = (sums.0 + x, sums.1 + x * y);
        }
        // Mean 1/2 ± 5 · sqrt(1/12 / 20,000) = 0.0102; mean of the product of independent ones 1/4 ± 0.0078.
        assert!((sums.0 / 20_000.0 - 0.5).abs() < 0.0102);
        assert!((sums.1 / 20_000.0 - 0.25).abs() < 0.0078);
    }

    #[test]
    fn nothing_is_drawn_below_no_time() {
        let (seed, mut streams) = (Seed::new(7, 0), Streams::of("test"));
        assert_eq!(streams.with(&seed).duration_below(A, SimDuration::ZERO), SimDuration::ZERO);
        assert_eq!(streams.drawn, [0; 8]);
    }
}
