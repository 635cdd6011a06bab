//! Operations of the samplers with the same result on every processor: each is exact or rounded once.
//!
//! `machine.cu` defines the same names for GPUs.

use super::super::stream_position::{KEYS, block_of, later};

/// Random words of one element: blocks of four words whose counters no other element or call uses.
pub(in super::super) struct Words<'a> {
    keys: &'a [u64; KEYS],
    counter: [u64; 4],
    words: [u64; 4],
    used: usize,
}

/// Lane of the first of four elements. Rejected integers use the lanes 0 to 7 and 15 of a block.
const FIRST_LANE: u64 = 8;

impl<'a> Words<'a> {
    /// Returns the words of the element at a number of the sequence, which is counted from the block `counter`.
    #[inline]
    pub(in super::super) fn of_element(counter: [u64; 4], number: u64, keys: &'a [u64; KEYS]) -> Self {
        Self::new(later(counter, number / 4), FIRST_LANE + number % 4, keys)
    }

    /// Returns the words of a lane of the block `counter`.
    #[inline]
    pub(in super::super) fn new(counter: [u64; 4], lane: u64, keys: &'a [u64; KEYS]) -> Self {
        let [low, high, upper, last] = counter;
        Self { keys, counter: [low, high, lane, (0xA_51DE << 44) ^ upper ^ (last << 8)], words: [0; 4], used: 4 }
    }

    /// Returns the next word.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        if self.used == 4 {
            self.next_block();
        }
        let word = self.words[self.used % 4];
        self.used += 1;
        word
    }

    /// Computes the next four words, and returns the first.
    #[inline]
    pub(in super::super) fn next_block(&mut self) -> u64 {
        self.words = block_of(self.counter, self.keys);
        self.counter[2] = self.counter[2].wrapping_add(16);
        self.used = 0;
        self.words[0]
    }
}

/// Sine and cosine of an angle.
#[derive(Clone, Copy)]
pub(in super::super) struct Pair {
    pub(in super::super) sine: f64,
    pub(in super::super) cosine: f64,
}

macro_rules! operations {
    ($(fn $name:ident($($parameter:ident: $of:ty),*) -> $result:ty { $body:expr })*) => {
        $(
            #[inline(always)]
            pub(super) fn $name($($parameter: $of),*) -> $result {
                $body
            }
        )*
    };
}

operations! {
    fn pair(sine: f64, cosine: f64) -> Pair { Pair { sine, cosine } }
    fn infinity() -> f64 { f64::INFINITY }
    fn not_a_number() -> f64 { f64::NAN }
    fn choose(condition: bool, a: f64, b: f64) -> f64 { if condition { a } else { b } }
    fn fma(a: f64, b: f64, c: f64) -> f64 { a.mul_add(b, c) }
    fn fma32(a: f32, b: f32, c: f32) -> f32 { a.mul_add(b, c) }
    fn sqrt(x: f64) -> f64 { x.sqrt() }
    fn floor(x: f64) -> f64 { x.floor() }
    fn fabs(x: f64) -> f64 { x.abs() }
    fn fabs32(x: f32) -> f32 { x.abs() }
    fn fmin(a: f64, b: f64) -> f64 { a.min(b) }
    fn fmax(a: f64, b: f64) -> f64 { a.max(b) }
    fn remainder_of(a: f64, b: f64) -> f64 { a % b }
    fn bits(x: f64) -> u64 { x.to_bits() }
    fn from_bits(x: u64) -> f64 { f64::from_bits(x) }
    fn bits32(x: f32) -> i32 { x.to_bits() as i32 }
    fn from_bits32(x: i32) -> f32 { f32::from_bits(x as u32) }
    fn signed(x: u64) -> i64 { x as i64 }
    fn unsigned(x: i64) -> u64 { x as u64 }
    fn signed32(x: u32) -> i32 { x as i32 }
    fn real(x: i64) -> f64 { x as f64 }
    fn whole(x: f64) -> i64 { x as i64 }
    fn plus(a: u64, b: u64) -> u64 { a.wrapping_add(b) }
    fn less(a: u64, b: u64) -> u64 { a.wrapping_sub(b) }
    fn low_product(a: u64, b: u64) -> u64 { a.wrapping_mul(b) }
    fn high_product(a: u64, b: u64) -> u64 { ((u128::from(a) * u128::from(b)) >> 64) as u64 }
}
