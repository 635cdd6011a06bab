//! Computes uniform, normal and exponential numbers from random words. `tools/random_kernels.py` translates this file
//! to CUDA. The macro `functions!` also compiles it for processors with FMA.

use super::elementary_functions::*;
use super::reproducible_operations::*;

functions! {
    /// Converts a random word to a number in [0, 1).
    pub(super) fn unit_of(word: u64) -> f64 {
        return real(signed(word >> 11)) * 1.110_223_024_625_156_5e-16;
    }

    /// Draws uniformly from [0, 1).
    pub(super) fn unit(words: &mut Words) -> f64 {
        return unit_of(words.next());
    }

    /// Converts a random word to a number in (0, 1), which excludes both ends.
    pub(super) fn open_unit(word: u64) -> f64 {
        return (real(signed(word >> 12)) + 0.5) * 2.220_446_049_250_313e-16;
    }

    /// Converts a random word to the radius of the Box-Muller method.
    pub(super) fn radius(word: u64) -> f64 {
        return root(-2.0 * ln_of_normal(open_unit(word), 0));
    }

    /// Converts a random word to an exponentially distributed number.
    pub(super) fn waiting_time(word: u64) -> f64 {
        return -ln_of_normal(open_unit(word), 0);
    }

    /// Returns the bits of the number at which the interval of |`number`| begins: the exponent and three bits of the
    /// mantissa of `number`.
    pub(super) fn interval_of(number: f32) -> i32 {
        return bits32(number) & 0x7ff0_0000_i32;
    }

    /// Evaluates the polynomial of an interval at the distance of a number's absolute value from the interval's start.
    pub(super) fn polynomial(number: f32, interval: i32, c0: f32, c1: f32, c2: f32, c3: f32) -> f32 {
        let y: f32 = fabs32(number) - from_bits32(interval);
        return fma32(y, fma32(y, fma32(y, c3, c2), c1), c0);
    }

    /// Returns `x`, or `-x` if `number` is negative.
    pub(super) fn negated_if(x: f32, number: f32) -> f32 {
        return from_bits32(bits32(x) ^ (bits32(number) & signed32(0x8000_0000_u32)));
    }

    /// Draws from the exponential distribution with mean 1.
    pub(super) fn exponential(words: &mut Words) -> f64 {
        return waiting_time(words.next());
    }

    /// Draws from the normal distribution with mean 0 and variance 1.
    pub(super) fn normal(words: &mut Words) -> f64 {
        let length: f64 = radius(words.next());
        let angle: Pair = turn(words.next());
        return length * choose(words.takes_sine(), angle.sine, angle.cosine);
    }
}
