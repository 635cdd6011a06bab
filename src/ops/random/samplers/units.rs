//! Uniform, normal and exponential numbers from random words.
//!
//! `tools/random_kernels.py` translates this file to CUDA. `functions!` also compiles it for processors with FMA.

use super::machine::*;
use super::mathematics::*;

functions! {
    /// Draws uniformly from [0, 1).
    pub(super) fn unit(words: &mut Words) -> f64 {
        return real(signed(words.next() >> 11)) * 1.110_223_024_625_156_5e-16;
    }

    /// Returns a number between 0 and 1, without both, from a word.
    pub(super) fn open_unit(word: u64) -> f64 {
        return (real(signed(word >> 12)) + 0.5) * 2.220_446_049_250_313e-16;
    }

    /// Returns the radius of the Box-Muller method.
    pub(super) fn radius(word: u64) -> f64 {
        return sqrt(-2.0 * ln(open_unit(word)));
    }

    /// Returns an exponentially distributed number from a word.
    pub(super) fn waiting_time(word: u64) -> f64 {
        return -ln(open_unit(word));
    }

    /// Returns a number between 0 and 1, without 0, in single precision.
    pub(super) fn open_unit32(word: u32) -> f32 {
        return fma32(real_of_word32(word), 2.328_306_436_538_696_3e-10_f32, 1.164_153_218_269_348_1e-10_f32);
    }

    /// Returns the radius of the Box-Muller method for two words, in single precision. A bit of the word of the angle
    /// negates the radius, and thereby sine and cosine.
    pub(super) fn radius32(word: u32, angle: u32) -> f32 {
        let rest: f32 = open_unit32(word);
        let length: f32 = root32(minus_2_ln32(open_unit32(less32(0xffff_ffff_u32, word)), rest));
        return from_bits32(bits32(length) ^ (signed32(angle) & signed32(0x8000_0000_u32)));
    }

    /// Returns an exponentially distributed number from a word, in single precision.
    pub(super) fn waiting_time32(word: u32) -> f32 {
        return 0.5_f32 * minus_2_ln32(open_unit32(word), open_unit32(less32(0xffff_ffff_u32, word)));
    }

    /// Draws from the exponential distribution with mean 1.
    pub(super) fn exponential(words: &mut Words) -> f64 {
        return waiting_time(words.next());
    }

    /// Draws from the normal distribution with mean 0 and variance 1.
    pub(super) fn normal(words: &mut Words) -> f64 {
        let length: f64 = radius(words.next());
        return length * turn(words.next()).cosine;
    }
}
