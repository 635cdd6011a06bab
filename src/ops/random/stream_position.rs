//! Computes the position in the random sequence of Philox4x64-10. The host computes the position after each call.

/// Number of 64-bit words of a stream position in device memory. The words are the counter (4 words), the index of the
/// next number in the counter's block, a flag that is set if half a number is left, this half, and padding.
pub const NUMBERS: usize = 8;
/// Number of 64-bit words in the keys of all Philox rounds.
pub const KEYS: usize = 2 * ROUNDS;

const ROUNDS: usize = 10;
const FACTORS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
const BUMPS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];

/// Returns the keys of all Philox rounds, computed from the generator's key.
pub fn keys(key: [u64; 2]) -> [u64; KEYS] {
    std::array::from_fn(|place| key[place % 2].wrapping_add(BUMPS[place % 2].wrapping_mul((place / 2) as u64)))
}

/// Returns the block of four random numbers for a counter.
pub fn block(counter: [u64; 4], key: [u64; 2]) -> [u64; 4] {
    block_of(counter, &keys(key))
}

/// Returns the block of four random numbers for a counter and the keys of all rounds.
#[inline]
pub(super) fn block_of(counter: [u64; 4], keys: &[u64; KEYS]) -> [u64; 4] {
    let product = |factor: u64, word: u64| {
        let product = u128::from(factor) * u128::from(word);
        (product as u64, (product >> 64) as u64)
    };
    let [mut a, mut b, mut c, mut d] = counter;
    for round in 0..ROUNDS {
        let ((low, high), (other_low, other_high)) = (product(FACTORS[0], a), product(FACTORS[1], c));
        (a, b, c, d) = (other_high ^ b ^ keys[2 * round], other_low, high ^ d ^ keys[2 * round + 1], low);
    }
    [a, b, c, d]
}

/// The part of the random sequence that a call uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Amount {
    /// Number of 64-bit numbers, or of halves of numbers if `halves` is set.
    pub count: u64,
    /// Whether `count` is in halves of numbers. If a half of the last number is unused, the next call uses it.
    pub halves: bool,
    /// Whether the call starts at an even index of the sequence; if the next number has an odd index, this number is
    /// skipped.
    pub even: bool,
}

/// The position of the next number of a random sequence, and the unused half of the previous number, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamPosition {
    counter: [u64; 4],
    number: u64,
    half: Option<u32>,
}

impl StreamPosition {
    /// Creates a position from the words by which device memory represents it.
    pub fn read(numbers: [u64; NUMBERS]) -> Self {
        let [a, b, c, d, number, has_half, half, _] = numbers;
        Self { counter: [a, b, c, d], number: number % 4, half: (has_half != 0).then_some(half as u32) }
    }

    /// Returns the words by which device memory represents the position.
    pub fn numbers(&self) -> [u64; NUMBERS] {
        let [a, b, c, d] = self.counter;
        [a, b, c, d, self.number, u64::from(self.half.is_some()), self.half.unwrap_or(0).into(), 0]
    }

    /// Returns the counter of the current block, and the index of the next number in that block.
    pub(super) fn start(&self) -> ([u64; 4], u64) {
        (self.counter, self.number)
    }

    /// Returns the unused half of the previous number.
    pub(super) fn half(&self) -> Option<u32> {
        self.half
    }

    /// Advances the position by the amount of random numbers that a call uses.
    pub fn pass(&mut self, amount: &Amount, key: [u64; 2]) {
        if !amount.halves {
            let start = self.number + if amount.even { self.number % 2 } else { 0 };
            return self.advance(start + amount.count);
        }
        if amount.count == 0 {
            return;
        }
        let own = amount.count - u64::from(self.half.is_some());
        let end = self.number + own.div_ceil(2);
        self.half = (own % 2 == 1).then(|| {
            let last = end - 1;
            (block(later(self.counter, last / 4), key)[(last % 4) as usize] >> 32) as u32
        });
        self.advance(end);
    }

    /// Sets the position to `numbers` numbers after the first number of the current block of four random numbers.
    fn advance(&mut self, numbers: u64) {
        self.counter = later(self.counter, numbers / 4);
        self.number = numbers % 4;
    }
}

/// Returns the counter of the block that is `blocks` blocks after the current one.
#[inline]
pub(super) fn later(counter: [u64; 4], blocks: u64) -> [u64; 4] {
    let mut carried = blocks;
    counter.map(|word| {
        let (sum, carries) = word.overflowing_add(carried);
        carried = carries.into();
        sum
    })
}

#[cfg(test)]
mod tests {
    #![allow(missing_docs)]
    use super::*;

    #[test]
    fn philox_block_matches_random123_test_vector() {
        // A test vector of the Random123 library (file `kat_vectors`, philox4x64 with 10 rounds). All bits of its key
        // and counter are set.
        let ones = u64::MAX;
        assert_eq!(
            block([ones; 4], [ones; 2]),
            [0x87b0_92c3_013f_e90b, 0x438c_3c67_be8d_0224, 0x9cc7_d7c6_9cd7_77b6, 0xa09c_aebf_594f_0ba0]
        );
    }

    #[test]
    fn unused_half_of_a_number_is_kept_for_next_call() {
        let key = [3, 5];
        let mut position = StreamPosition::read([u64::MAX, u64::MAX, 7, 0, 2, 0, 0, 0]);
        let halves = |count| Amount { count, halves: true, even: false };
        position.pass(&halves(1), key);
        let first = block([u64::MAX, u64::MAX, 7, 0], key)[2] >> 32;
        assert_eq!(position.numbers(), [u64::MAX, u64::MAX, 7, 0, 3, 1, first, 0]);
        position.pass(&Amount { count: 1, halves: false, even: true }, key);
        assert_eq!(position.numbers(), [0, 0, 8, 0, 1, 1, first, 0]);
        position.pass(&halves(1), key);
        assert_eq!(position.numbers(), [0, 0, 8, 0, 1, 0, 0, 0]);
        position.pass(&halves(0), key);
        position.pass(&halves(6), key);
        assert_eq!(position.numbers(), [1, 0, 8, 0, 0, 0, 0, 0]);
    }
}
