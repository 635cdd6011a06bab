//! Defines the operations of the samplers. They have the same result on every processor, because each is exact or
//! rounded once.
//!
//! `reproducible_operations.cu` defines the same names for GPUs.

use super::super::stream_position::{KEYS, block_of, later};

/// Random words of one element. They come from blocks of four words whose counters no other element or call uses. The
/// first words may come from a block that two elements share.
pub(in super::super) struct Words<'a> {
    keys: &'a [u64; KEYS],
    counter: [u64; 4],
    words: [u64; 4],
    used: usize,
    takes_sine: bool,
}

/// Determines from which block of four random words the first words of an element come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum First {
    /// The words come from a block that only this element uses.
    Own,
    /// The words are one half of a block that two elements share.
    Half,
    /// Two elements share two words, from which two normal numbers are computed. One further word belongs to this
    /// element alone.
    Normal,
}

/// Lane (index among the blocks of one counter) of the first of four elements. Rejected integers use the lanes 0 to 7
/// and 15 of a block.
const FIRST_LANE: u64 = 8;
/// Lane of the words of the first of two pairs of elements.
const PAIR_LANE: u64 = 12;

/// A block of words that a pair of elements shares, with the number of the pair.
pub(super) type Shared = Option<(u64, [u64; 4])>;

impl<'a> Words<'a> {
    /// Returns the words of the element with the given number in the sequence, counted from the block `counter`.
    #[inline]
    pub(super) fn of_element(
        counter: [u64; 4],
        number: u64,
        keys: &'a [u64; KEYS],
        first: First,
        shared: &mut Shared,
    ) -> Self {
        let block = later(counter, number / 4);
        let mut words = Self::new(block, FIRST_LANE + number % 4, keys);
        if first == First::Own {
            return words;
        }
        let (pair, odd) = (number / 2, number % 2);
        let [a, b, c, d] = match *shared {
            Some((kept, words)) if kept == pair => words,
            _ => block_of(Self::new(block, PAIR_LANE + pair % 2, keys).counter, keys),
        };
        *shared = Some((pair, [a, b, c, d]));
        let (e, f) = if odd == 0 { (a, b) } else { (c, d) };
        match first {
            First::Normal => {
                (words.words, words.used, words.takes_sine) = ([0, a, b, if odd == 0 { c } else { d }], 1, odd == 1)
            }
            _ => (words.words, words.used) = ([0, 0, e, f], 2),
        }
        words
    }

    /// Returns the words of lane `lane` of the block `counter`.
    #[inline]
    pub(in super::super) fn new(counter: [u64; 4], lane: u64, keys: &'a [u64; KEYS]) -> Self {
        let [low, high, upper, last] = counter;
        let counter = [low, high, lane, (0xA_51DE << 44) ^ upper ^ (last << 8)];
        Self { keys, counter, words: [0; 4], used: 4, takes_sine: false }
    }

    /// The Box-Muller method yields two normal numbers, one from the sine and one from the cosine of an angle. Returns
    /// whether the next normal number is the one from the sine, and selects the cosine for the following numbers.
    #[inline]
    pub(super) fn takes_sine(&mut self) -> bool {
        std::mem::take(&mut self.takes_sine)
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

/// The sine and the cosine of one angle.
#[derive(Clone, Copy)]
pub(in super::super) struct Pair {
    pub(in super::super) sine: f64,
    pub(in super::super) cosine: f64,
}

/// Parameters of the enclosing function ("hat") in Hoermann's transformed rejection. The hat bounds the density of
/// candidates.
#[derive(Clone, Copy)]
pub(super) struct Hat {
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) center: f64,
    pub(super) least: f64,
}

/// Constants of the method of Marsaglia and Tsang for gamma-distributed numbers.
#[derive(Clone, Copy)]
pub(super) struct Cube {
    pub(super) c: f64,
    pub(super) d: f64,
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
    fn hat(a: f64, b: f64, center: f64, least: f64) -> Hat { Hat { a, b, center, least } }
    fn cube(c: f64, d: f64) -> Cube { Cube { c, d } }
    fn infinity() -> f64 { f64::INFINITY }
    fn not_a_number() -> f64 { f64::NAN }
    fn choose(condition: bool, a: f64, b: f64) -> f64 { if condition { a } else { b } }
    fn fma(a: f64, b: f64, c: f64) -> f64 { a.mul_add(b, c) }
    fn fma32(a: f32, b: f32, c: f32) -> f32 { a.mul_add(b, c) }
    fn quotient(a: f64, b: f64) -> f64 { a / b }
    fn root(x: f64) -> f64 { x.sqrt() }
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
