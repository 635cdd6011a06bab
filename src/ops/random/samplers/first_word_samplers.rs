//! Computes elements from their first random words alone. Most elements of a distribution need no further words. GPUs
//! compute these elements first, and then draw all other elements together. For both, the samplers compute the same
//! values.
//!
//! `tools/random_kernels.py` translates this file to CUDA. The macro `functions!` also compiles it for processors with
//! FMA.

use super::continuous::*;
use super::discrete::*;
use super::reproducible_operations::*;
use super::standard_distributions::*;

functions! {
    /// Returns a gamma-distributed number that is computed from a normal number and a word, or a number below 0 if
    /// further words are needed.
    pub(super) fn quick_gamma(cube: Cube, shape: f64, scale: f64, x: f64, word: u64) -> f64 {
        let drawn: f64 = gamma_proposed(cube, x, open_unit(word));
        return choose(shape >= 1.0 && shape < infinity() && drawn >= 0.0, scale * drawn, -1.0);
    }

    /// Computes from two words the candidate of a rejection method with the enclosing function ("hat"). Returns the
    /// candidate if it is accepted without computing its probability, otherwise a number below 0.
    pub(super) fn quick_count(hat: Hat, first: u64, second: u64) -> f64 {
        let u: f64 = unit_of(first) - 0.5;
        return choose(is_accepted(hat, u, open_unit(second)), candidate(hat, u), -1.0);
    }

    /// Returns the enclosing function ("hat") of the binomial distribution. If `p` exceeds 1/2, the hat is that of the
    /// number of failures, which has the smaller probability `1 - p`.
    pub(super) fn binomial_hat(n: f64, p: f64) -> Hat {
        return few_binomial_hat(n, choose(p > 0.5, 1.0 - p, p));
    }

    /// Returns a binomially distributed number that is computed from two words, or a number below 0 if further words
    /// are needed.
    pub(super) fn quick_binomial(hat: Hat, n: f64, p: f64, first: u64, second: u64) -> f64 {
        let count: f64 = quick_count(hat, first, second);
        return choose(p > 0.5 && count >= 0.0, n - count, count);
    }
}
