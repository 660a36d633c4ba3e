//! `java.util.Random`, as far as the order of servers needs it: a linear congruential generator of 48 bits whose
//! numbers the Java class library documents and will not change. Releases up to Eureka 1.10.13 seed it with the
//! host's address, so a client's order can be told from its address alone (`eureka-client.md` 6.3).

/// The generator's state.
#[derive(Clone, Debug)]
pub(super) struct JavaRandom {
    state: u64,
}

/// The state has 48 bits.
const STATE_MASK: u64 = (1 << 48) - 1;
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;

impl JavaRandom {
    /// `new Random(seed)`.
    pub(super) fn new(seed: i32) -> Self {
        // Java widens the seed with its sign.
        Self { state: (i64::from(seed) as u64 ^ MULTIPLIER) & STATE_MASK }
    }

    /// `nextInt(bound)`: from 0 to `bound` - 1. The bound is from 1 to `i32::MAX`.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        assert!((1..=i32::MAX as u32).contains(&bound), "Java asks for a positive int");
        if bound.is_power_of_two() {
            // The high bits: the low ones of such a generator have short periods.
            return ((u64::from(bound) * u64::from(self.next_31_bits())) >> 31) as u32;
        }
        loop {
            let bits = self.next_31_bits();
            let remainder = bits % bound;
            // Thrown away if the last, incomplete run of `bound` numbers is hit: Java's sum overflows an int.
            if bits - remainder + (bound - 1) <= i32::MAX as u32 {
                return remainder;
            }
        }
    }

    fn next_31_bits(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & STATE_MASK;
        (self.state >> (48 - 31)) as u32
    }
}

/// `String.hashCode`, of a text of ASCII characters.
pub(super) fn java_hash_code(text: &str) -> i32 {
    text.bytes().fold(0_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: i32, bound: u32) -> Vec<u32> {
        let mut random = JavaRandom::new(seed);
        (0..6).map(|_| random.below(bound)).collect()
    }

    #[test]
    fn numbers_are_javas() {
        // The first int of `new Random(42)` is -1170105035, i.e. 3124862261 unsigned; its upper 31 bits are
        // 1562431130. Times 2 / 2^31 that is 1, modulo 10 it is 0.
        assert_eq!(JavaRandom::new(42).next_31_bits(), 1_562_431_130);
        assert_eq!(draws(42, 10), [0, 3, 8, 4, 0, 5]);
        assert_eq!(draws(42, 8), [5, 0, 5, 0, 2, 7]); // 1562431130 * 8 / 2^31 = 5.8
        // -1155484576 is 3139482720 unsigned: 1569741360 modulo 10.
        assert_eq!(draws(0, 10), [0, 8, 9, 7, 5, 3]);
    }

    #[test]
    fn an_incomplete_run_is_drawn_again() {
        // Just above 2^30 only one run fits into 31 bits, so about half of the draws are thrown away.
        let first_four = &draws(-1, (1 << 30) + 1)[..4];
        assert_eq!(first_four, [577_549_913, 943_952_225, 26_349_579, 894_294_477]);
    }

    #[test]
    fn hash_codes_are_javas() {
        assert_eq!(java_hash_code(""), 0);
        assert_eq!(java_hash_code("Ab"), 65 * 31 + 98);
        assert_eq!(java_hash_code("127.0.0.1"), 1_505_998_205);
        assert_eq!(java_hash_code("10.0.1.1"), 511_553_127);
        assert_eq!(java_hash_code("polygenelubricants"), i32::MIN); // wraps
    }
}
