//! Defines samplers of integers, and of real mixtures that integers select. A sampler computes one element from the
//! random words that belong to it.
//!
//! `tools/random_kernels.py` translates this file to CUDA. The macro `functions!` also compiles it for processors with
//! FMA. Each loop ends for all parameters, including NaN.

use super::continuous::*;
use super::elementary_functions::*;
use super::reproducible_operations::*;
use super::standard_distributions::*;

/// If a parameter exceeds this limit, a normal approximation replaces the rejection method, whose sums of logarithms
/// would be too inexact to decide a rejection. The relative error of the approximation is below 1e-6.
const MANY: f64 = 1_099_511_627_776.0;

functions! {
    /// Draws an integer between `base` and `base + count - 1` by Lemire's method, or any integer if `count` is 0. The
    /// two parameters are doubles with the bits of 64-bit integers.
    pub(super) fn bounded(words: &mut Words, base: f64, range: f64) -> i64 {
        let count: u64 = bits(range);
        let mut x: u64 = words.next();
        if count != 0 {
            let threshold: u64 = less(0, count) % count;
            while low_product(x, count) < threshold {
                x = words.next();
            }
            x = high_product(x, count);
        }
        return signed(plus(bits(base), x));
    }

    /// Converts a uniform random number between -1/2 and 1/2 to the candidate of a rejection method. The candidate is
    /// distributed like the enclosing function ("hat"). It may be NaN for -1/2; NaN is never accepted.
    pub(super) fn candidate(hat: Hat, u: f64) -> f64 {
        return floor((quotient(2.0 * hat.a, 0.5 - fabs(u)) + hat.b) * u + hat.center);
    }

    /// Whether a rejection method accepts a candidate without computing the candidate's probability.
    pub(super) fn is_accepted(hat: Hat, u: f64, v: f64) -> bool {
        return 0.5 - fabs(u) >= 0.07 && v <= hat.least;
    }

    /// Returns the enclosing function ("hat") of the Poisson distribution for Hoermann's method PTRS. If another method
    /// is used for the mean, the hat accepts no candidate.
    pub(super) fn poisson_hat(mean: f64) -> Hat {
        let b: f64 = 0.931 + 2.53 * sqrt(mean);
        let least: f64 = choose(mean >= 10.0 && mean <= MANY, 0.9277 - 3.6224 / (b - 2.0), -1.0);
        return hat(-0.059 + 0.02483 * b, b, mean + 0.43, least);
    }

    /// Draws from the Poisson distribution: by inversion, or by Hoermann's transformed rejection (PTRS).
    pub(super) fn poisson(words: &mut Words, mean: f64) -> i64 {
        if !(mean > 0.0) {
            return 0;
        }
        if mean < 10.0 {
            let u: f64 = unit(words);
            let mut count: f64 = 0.0;
            let mut p: f64 = exponential_function(-mean);
            let mut sum: f64 = p;
            while u > sum && count < 200.0 {
                count += 1.0;
                p = p * (mean / count);
                sum += p;
            }
            return whole(count);
        }
        if mean > MANY {
            return whole(fmax(floor(fmin(mean, 9.2e18) + sqrt(fmin(mean, 9.2e18)) * normal(words) + 0.5), 0.0));
        }
        let hat: Hat = poisson_hat(mean);
        let logarithm: f64 = ln(mean);
        let inverse: f64 = 1.1239 + 1.1328 / (hat.b - 3.4);
        loop {
            let u: f64 = unit(words) - 0.5;
            let v: f64 = open_unit(words.next());
            let us: f64 = 0.5 - fabs(u);
            let count: f64 = candidate(hat, u);
            if is_accepted(hat, u, v) {
                return whole(count);
            }
            if count < 0.0 || (us < 0.013 && v > us) {
                continue;
            }
            if ln(v * inverse / (hat.a / (us * us) + hat.b)) <= count * logarithm - mean - ln_gamma(count + 1.0) {
                return whole(count);
            }
        }
    }

    /// Draws from the negative binomial distribution: a Poisson number whose mean has a gamma distribution.
    pub(super) fn negative_binomial(words: &mut Words, n: f64, p: f64) -> i64 {
        let mean: f64 = (1.0 - p) / p * standard_gamma(words, n);
        return poisson(words, mean);
    }

    /// Returns the enclosing function ("hat") of the binomial distribution with `p <= 1/2` for Hoermann's method BTRS.
    /// If another method is used for the parameters, the hat accepts no candidate.
    pub(super) fn few_binomial_hat(n: f64, p: f64) -> Hat {
        let mean: f64 = n * p;
        let b: f64 = 1.15 + 2.53 * sqrt(mean * (1.0 - p));
        let least: f64 = choose(mean >= 10.0 && n <= MANY, 0.92 - 4.2 / b, -1.0);
        return hat(-0.0873 + 0.0248 * b + 0.01 * p, b, mean + 0.5, least);
    }

    /// Draws from the binomial distribution with `p <= 1/2`: by inversion, or by Hoermann's transformed rejection (BTRS).
    fn few_binomial(words: &mut Words, n: f64, p: f64) -> f64 {
        let q: f64 = 1.0 - p;
        let mean: f64 = n * p;
        if mean < 10.0 {
            let start: f64 = exponential_function(n * ln_1p(-p));
            let most: f64 = fmin(n, floor(mean + 10.0 * sqrt(mean * q + 1.0)));
            loop {
                let mut u: f64 = unit(words);
                let mut count: f64 = 0.0;
                let mut chance: f64 = start;
                while u > chance && count <= most {
                    count += 1.0;
                    u = u - chance;
                    chance = ((n - count + 1.0) * p * chance) / (count * q);
                }
                if count <= most {
                    return count;
                }
            }
        }
        let deviation: f64 = sqrt(mean * q);
        if n > MANY {
            return fmin(fmax(floor(mean + deviation * normal(words) + 0.5), 0.0), n);
        }
        let hat: Hat = few_binomial_hat(n, p);
        let ratio: f64 = p / q;
        let alpha: f64 = (2.83 + 5.1 / hat.b) * deviation;
        let m: f64 = floor((n + 1.0) * p);
        let errors: f64 = stirling_error(m) + stirling_error(n - m);
        loop {
            let u: f64 = unit(words) - 0.5;
            let v: f64 = open_unit(words.next());
            let us: f64 = 0.5 - fabs(u);
            let k: f64 = candidate(hat, u);
            if is_accepted(hat, u, v) {
                return k;
            }
            if k < 0.0 || k > n {
                continue;
            }
            let height: f64 = ln(v * alpha / (hat.a / (us * us) + hat.b));
            let at_m: f64 = (m + 0.5) * ln((m + 1.0) / (ratio * (n - m + 1.0)));
            let at_k: f64 = (k + 0.5) * ln(ratio * (n - k + 1.0) / (k + 1.0));
            let both: f64 = (n + 1.0) * ln((n - m + 1.0) / (n - k + 1.0));
            if height <= at_m + both + at_k + errors - stirling_error(k) - stirling_error(n - k) {
                return k;
            }
        }
    }

    /// Draws from the binomial distribution.
    pub(super) fn binomial(words: &mut Words, n: f64, p: f64) -> i64 {
        if !(n > 0.0) || !(p > 0.0) || p > 1.0 {
            return 0;
        }
        let is_many: bool = p > 0.5;
        let count: f64 = few_binomial(words, n, choose(is_many, 1.0 - p, p));
        return whole(choose(is_many, n - count, count));
    }

    /// Draws from the geometric distribution, by inversion.
    pub(super) fn geometric(words: &mut Words, p: f64) -> i64 {
        let time: f64 = exponential(words);
        if !(p > 0.0) || p >= 1.0 {
            return 1;
        }
        return whole(fmax(-floor(time / ln_1p(-p)), 1.0));
    }

    /// Draws from the logarithmic series distribution (Kemp).
    pub(super) fn logseries(words: &mut Words, p: f64) -> i64 {
        if !(p > 0.0) || p >= 1.0 {
            return 1;
        }
        let r: f64 = ln_1p(-p);
        loop {
            let v: f64 = open_unit(words.next());
            if v >= p {
                return 1;
            }
            let q: f64 = -exponential_minus_1(r * open_unit(words.next()));
            if v <= q * q {
                let count: f64 = floor(1.0 + ln(v) / ln(q));
                if count >= 1.0 {
                    return whole(count);
                }
                continue;
            }
            if v >= q {
                return 1;
            }
            return 2;
        }
    }

    /// Draws from the Zipf distribution (Devroye).
    pub(super) fn zipf(words: &mut Words, a: f64) -> i64 {
        if !(a > 1.0) || a >= 1025.0 {
            return 1;
        }
        let rest: f64 = a - 1.0;
        let b: f64 = power(2.0, rest);
        let least: f64 = power(9_223_372_036_854_775_807.0, -rest);
        loop {
            let u: f64 = open_unit(words.next());
            let v: f64 = unit(words);
            let x: f64 = floor(power(u * least + (1.0 - u), -1.0 / rest));
            if !(x >= 1.0) || x >= 9_223_372_036_854_775_807.0 {
                continue;
            }
            let t: f64 = power(1.0 + 1.0 / x, rest);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b {
                return whole(x);
            }
        }
    }

    /// Returns the logarithm of `k!`.
    fn ln_factorial(k: f64) -> f64 {
        return ln_gamma(k + 1.0);
    }

    /// Draws from the hypergeometric distribution with few drawn elements, one element at a time.
    fn hypergeometric_one_by_one(words: &mut Words, good: f64, bad: f64, sample: f64) -> f64 {
        let mut left: f64 = sample;
        let mut total: f64 = good + bad;
        let mut good_left: f64 = good;
        while left > 0.0 && good_left > 0.0 && total > good_left {
            if real(signed(high_product(words.next(), unsigned(whole(total))))) < good_left {
                good_left = good_left - 1.0;
            }
            total = total - 1.0;
            left = left - 1.0;
        }
        if total == good_left {
            good_left = good_left - left;
        }
        return good - good_left;
    }

    /// Draws from the hypergeometric distribution by Stadlober's ratio of uniforms (HRUA).
    fn hypergeometric_ratio(words: &mut Words, good: f64, bad: f64, sample: f64) -> f64 {
        let total: f64 = good + bad;
        let fewer: f64 = fmin(good, bad);
        let more: f64 = fmax(good, bad);
        let p: f64 = fewer / total;
        let q: f64 = more / total;
        let a: f64 = sample * p + 0.5;
        let deviation: f64 = sqrt((total - sample) * sample * p * q / (total - 1.0) + 0.5);
        let h: f64 = 1.715_527_769_921_413_5 * deviation + 0.898_916_162_058_898_8;
        let m: f64 = floor((sample + 1.0) * (fewer + 1.0) / (total + 2.0));
        let g: f64 = ln_factorial(m) + ln_factorial(fewer - m) + ln_factorial(sample - m) + ln_factorial(more - sample + m);
        let b: f64 = fmin(fmin(sample, fewer) + 1.0, floor(a + 16.0 * deviation));
        loop {
            let u: f64 = open_unit(words.next());
            let v: f64 = unit(words);
            let x: f64 = a + h * (v - 0.5) / u;
            if x < 0.0 || x >= b {
                continue;
            }
            let k: f64 = floor(x);
            let terms: f64 = ln_factorial(k) + ln_factorial(fewer - k) + ln_factorial(sample - k);
            let t: f64 = g - (terms + ln_factorial(more - sample + k));
            if u * (4.0 - u) - 3.0 <= t {
                return choose(good > bad, sample - k, k);
            }
            if u * (u - t) >= 1.0 {
                continue;
            }
            if 2.0 * ln(u) <= t {
                return choose(good > bad, sample - k, k);
            }
        }
    }

    /// Draws from the hypergeometric distribution.
    pub(super) fn hypergeometric(words: &mut Words, good: f64, bad: f64, sample: f64) -> i64 {
        let total: f64 = good + bad;
        if !(good > 0.0) || !(sample > 0.0) || !(bad >= 0.0) || sample > total {
            return 0;
        }
        // The elements that are not drawn have the same distribution, so the method draws the smaller group: the drawn
        // or the remaining elements.
        let is_many: bool = sample > total - sample;
        let fewer: f64 = choose(is_many, total - sample, sample);
        if fewer < 10.0 {
            let few: f64 = hypergeometric_one_by_one(words, good, bad, fewer);
            return whole(choose(is_many, good - few, few));
        }
        let count: f64 = hypergeometric_ratio(words, good, bad, fewer);
        return whole(choose(is_many, good - count, count));
    }

    /// Draws from the noncentral chi-square distribution.
    pub(super) fn noncentral_chisquare(words: &mut Words, df: f64, nonc: f64) -> f64 {
        if nonc == 0.0 {
            return chisquare(words, df);
        }
        if df > 1.0 {
            let x: f64 = chisquare(words, df - 1.0);
            let y: f64 = normal(words) + sqrt(nonc);
            return x + y * y;
        }
        if !(nonc > 0.0) {
            return not_a_number();
        }
        let count: f64 = real(poisson(words, 0.5 * nonc));
        return chisquare(words, df + 2.0 * count);
    }

    /// Draws from the noncentral F distribution.
    pub(super) fn noncentral_f(words: &mut Words, dfnum: f64, dfden: f64, nonc: f64) -> f64 {
        let x: f64 = noncentral_chisquare(words, dfnum, nonc);
        let y: f64 = chisquare(words, dfden);
        return (x * dfden) / (y * dfnum);
    }
}
