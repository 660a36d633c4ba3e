//! Streams of chance (interface; see the module's docs).

use super::time::SimDuration;

/// What a draw is for. Each (entity, purpose) pair is a stream of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose(pub u8);

/// The seed of one replicate.
#[derive(Clone, Debug)]
pub struct Seed {
    key: [u8; 32],
}

/// An entity's place in its streams: small, kept with the entity.
#[derive(Clone, Debug)]
pub struct Chance {
    entity: u64,
    drawn: [u32; Purpose::COUNT],
}

/// An entity's streams, lent together with the seed for some draws.
pub struct Dice<'a> {
    seed: &'a Seed,
    chance: &'a mut Chance,
}

impl Purpose {
    /// How many purposes an entity may have.
    pub const COUNT: usize = 8;
}

impl Seed {
    /// The seed of replicate `replicate` of a run with `seed`.
    pub fn new(seed: u64, replicate: u32) -> Self {
        let _ = (seed, replicate);
        todo!()
    }
}

impl Chance {
    /// The streams of the entity that `label` names, e.g. `client/orders/3`.
    pub fn of(label: &str) -> Self {
        let _ = label;
        todo!()
    }

    /// These streams, ready to draw from.
    pub fn with<'a>(&'a mut self, seed: &'a Seed) -> Dice<'a> {
        Dice { seed, chance: self }
    }
}

impl Dice<'_> {
    /// 64 fair bits.
    pub fn bits(&mut self, purpose: Purpose) -> u64 {
        let _ = (purpose, &self.seed.key, self.chance.entity, self.chance.drawn);
        todo!()
    }

    /// A fair number below `bound`, which is not 0.
    pub fn below(&mut self, purpose: Purpose, bound: u64) -> u64 {
        let _ = (purpose, bound);
        todo!()
    }

    /// A fair duration in `[0, bound)`; zero if `bound` is zero.
    pub fn duration_below(&mut self, purpose: Purpose, bound: SimDuration) -> SimDuration {
        let _ = (purpose, bound);
        todo!()
    }

    /// A fair number in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn unit(&mut self, purpose: Purpose) -> f64 {
        let _ = purpose;
        todo!()
    }
}
