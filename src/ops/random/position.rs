//! Where a generator is in the stream of Philox4x64-10, and how far a call moves it on: what the host counts.

/// Numbers that a position is written down as, for kernels: the counter, the number within its block, whether half a number is
/// left, that half, and nothing.
pub const NUMBERS: usize = 8;
/// Words of the keys of all rounds.
pub const KEYS: usize = 2 * ROUNDS;

const ROUNDS: usize = 10;
const FACTORS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
const BUMPS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];

/// The keys of all rounds.
pub fn keys(key: [u64; 2]) -> [u64; KEYS] {
    std::array::from_fn(|place| key[place % 2].wrapping_add(BUMPS[place % 2].wrapping_mul((place / 2) as u64)))
}

/// The four numbers of a counter.
pub fn block(counter: [u64; 4], key: [u64; 2]) -> [u64; 4] {
    let product = |factor: u64, word: u64| {
        let product = u128::from(factor) * u128::from(word);
        (product as u64, (product >> 64) as u64)
    };
    keys(key).chunks_exact(2).fold(counter, |[a, b, c, d], key| {
        let ((low, high), (other_low, other_high)) = (product(FACTORS[0], a), product(FACTORS[1], c));
        [other_high ^ b ^ key[0], other_low, high ^ d ^ key[1], low]
    })
}

/// What a call takes of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Amount {
    /// So many numbers, or halves.
    pub count: u64,
    /// Whether halves of numbers are counted, of which one that is left is for the next call.
    pub halves: bool,
    /// Whether it begins at an even number.
    pub even: bool,
}

/// The next number of a stream, and the half of one that is left of the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    counter: [u64; 4],
    number: u64,
    half: Option<u32>,
}

impl Position {
    /// As it is written down.
    pub fn read(numbers: [u64; NUMBERS]) -> Self {
        let [a, b, c, d, number, has_half, half, _] = numbers;
        Self { counter: [a, b, c, d], number: number % 4, half: (has_half != 0).then_some(half as u32) }
    }

    /// Written down.
    pub fn numbers(&self) -> [u64; NUMBERS] {
        let [a, b, c, d] = self.counter;
        [a, b, c, d, self.number, u64::from(self.half.is_some()), self.half.unwrap_or(0).into(), 0]
    }

    /// Moves on behind what a call takes.
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

    /// To so many numbers behind the first one of this block.
    fn advance(&mut self, numbers: u64) {
        self.counter = later(self.counter, numbers / 4);
        self.number = numbers % 4;
    }
}

/// The counter so many blocks on.
fn later(counter: [u64; 4], blocks: u64) -> [u64; 4] {
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
    fn a_block_is_that_of_random123s_own_test() {
        // kat_vectors of Random123, philox4x64 with 10 rounds: all bits set.
        let ones = u64::MAX;
        assert_eq!(
            block([ones; 4], [ones; 2]),
            [0x87b0_92c3_013f_e90b, 0x438c_3c67_be8d_0224, 0x9cc7_d7c6_9cd7_77b6, 0xa09c_aebf_594f_0ba0]
        );
    }

    #[test]
    fn halves_that_are_left_are_for_the_next_call() {
        let key = [3, 5];
        let mut position = Position::read([u64::MAX, u64::MAX, 7, 0, 2, 0, 0, 0]);
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
