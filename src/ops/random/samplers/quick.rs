//! Elements from their first words alone: most elements of a distribution take no further ones. GPUs compute those first,
//! and draw the others together. A sampler gives an element the same value.
//!
//! `tools/random_kernels.py` translates this file to CUDA. `functions!` also compiles it for processors with FMA.

use super::continuous::*;
use super::discrete::*;
use super::machine::*;
use super::units::*;

functions! {
    /// Returns a gamma-distributed number from a normal number and a word, or a number below 0.
    pub(super) fn quick_gamma(cube: Cube, shape: f64, scale: f64, x: f64, word: u64) -> f64 {
        let drawn: f64 = gamma_proposed(cube, x, open_unit(word));
        return choose(shape >= 1.0 && shape < infinity() && drawn >= 0.0, scale * drawn, -1.0);
    }

    /// Returns the number of a hat for two words if it is accepted without its chance, and else a number below 0.
    pub(super) fn quick_count(hat: Hat, first: u64, second: u64) -> f64 {
        let u: f64 = unit_of(first) - 0.5;
        return choose(is_accepted(hat, u, open_unit(second)), candidate(hat, u), -1.0);
    }

    /// Returns the hat of the binomial distribution, or of its failures if these are fewer.
    pub(super) fn binomial_hat(n: f64, p: f64) -> Hat {
        return few_binomial_hat(n, choose(p > 0.5, 1.0 - p, p));
    }

    /// Returns a binomial number from two words, or a number below 0.
    pub(super) fn quick_binomial(hat: Hat, n: f64, p: f64, first: u64, second: u64) -> f64 {
        let count: f64 = quick_count(hat, first, second);
        return choose(p > 0.5 && count >= 0.0, n - count, count);
    }
}
