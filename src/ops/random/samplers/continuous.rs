//! Defines samplers of real numbers. A sampler computes one element from the random words that belong to it.
//!
//! `tools/random_kernels.py` translates this file to CUDA. The macro `functions!` also compiles it for processors with
//! FMA. Each loop ends for all parameters, including NaN.

use super::elementary_functions::*;
use super::reproducible_operations::*;
use super::standard_distributions::*;

functions! {
    /// Returns the constants of the method of Marsaglia and Tsang for gamma-distributed numbers.
    pub(super) fn gamma_cube(shape: f64) -> Cube {
        let d: f64 = choose(shape < 1.0, shape + 1.0, shape) - 1.0 / 3.0;
        return cube(1.0 / sqrt(9.0 * d), d);
    }

    /// Proposes a gamma-distributed number, computed from the normal number `x`, for a shape of at least 1. Returns the
    /// number if the uniform number `u` accepts it without computing a logarithm, otherwise a number below 0.
    pub(super) fn gamma_proposed(cube: Cube, x: f64, u: f64) -> f64 {
        let root: f64 = fma(cube.c, x, 1.0);
        let square: f64 = x * x;
        return choose(u < 1.0 - 0.0331 * square * square, cube.d * (root * root * root), -1.0);
    }

    /// Draws from the gamma distribution (Marsaglia and Tsang).
    pub(super) fn standard_gamma(words: &mut Words, shape: f64) -> f64 {
        if !(shape > 0.0) || !(shape < infinity()) {
            return shape;
        }
        let cube: Cube = gamma_cube(shape);
        let mut drawn: f64 = -1.0;
        while drawn < 0.0 {
            let x: f64 = normal(words);
            let u: f64 = open_unit(words.next());
            drawn = gamma_proposed(cube, x, u);
            let root: f64 = fma(cube.c, x, 1.0);
            if drawn < 0.0 && root > 0.0 {
                let v: f64 = root * root * root;
                if ln(u) < 0.5 * x * x + cube.d * (1.0 - v + ln(v)) {
                    drawn = cube.d * v;
                }
            }
        }
        if shape < 1.0 {
            drawn = exponential_function(-exponential(words) / shape) * drawn;
        }
        return drawn;
    }

    /// Draws from the gamma distribution with a scale.
    pub(super) fn gamma(words: &mut Words, shape: f64, scale: f64) -> f64 {
        return scale * standard_gamma(words, shape);
    }

    /// Draws from the beta distribution (Johnk's method for small parameters).
    pub(super) fn beta(words: &mut Words, a: f64, b: f64) -> f64 {
        if !(a > 0.0) || !(b > 0.0) {
            return not_a_number();
        }
        if a > 1.0 || b > 1.0 {
            let x: f64 = standard_gamma(words, a);
            let y: f64 = standard_gamma(words, b);
            return x / (x + y);
        }
        if a < 3e-103 && b < 3e-103 {
            return choose((a + b) * unit(words) < a, 1.0, 0.0);
        }
        loop {
            let u: f64 = open_unit(words.next());
            let v: f64 = open_unit(words.next());
            let ln_x: f64 = ln(u) / a;
            let ln_y: f64 = ln(v) / b;
            let x: f64 = exponential_function(ln_x);
            let y: f64 = exponential_function(ln_y);
            if x + y > 1.0 {
                continue;
            }
            if x + y > 0.0 {
                return x / (x + y);
            }
            let most: f64 = fmax(ln_x, ln_y);
            let sum: f64 = exponential_function(ln_x - most) + exponential_function(ln_y - most);
            return exponential_function(ln_x - most - ln(sum));
        }
    }

    /// Draws from the chi-square distribution.
    pub(super) fn chisquare(words: &mut Words, df: f64) -> f64 {
        return 2.0 * standard_gamma(words, 0.5 * df);
    }

    /// Draws from the F distribution.
    pub(super) fn f(words: &mut Words, dfnum: f64, dfden: f64) -> f64 {
        let x: f64 = chisquare(words, dfnum);
        let y: f64 = chisquare(words, dfden);
        return (x * dfden) / (y * dfnum);
    }

    /// Draws from Student's t distribution.
    pub(super) fn standard_t(words: &mut Words, df: f64) -> f64 {
        let x: f64 = normal(words);
        if df == infinity() {
            return x;
        }
        return sqrt(0.5 * df) * x / sqrt(standard_gamma(words, 0.5 * df));
    }

    /// Draws from the Cauchy distribution: the tangent of a uniformly distributed angle.
    pub(super) fn standard_cauchy(words: &mut Words) -> f64 {
        let angle: Pair = turn(words.next());
        return angle.sine / angle.cosine;
    }

    /// Draws from the Gumbel distribution.
    pub(super) fn gumbel(words: &mut Words, loc: f64, scale: f64) -> f64 {
        return loc - scale * ln(exponential(words));
    }

    /// Draws from the Laplace distribution.
    pub(super) fn laplace(words: &mut Words, loc: f64, scale: f64) -> f64 {
        let u: f64 = open_unit(words.next());
        if u >= 0.5 {
            return loc - scale * ln(2.0 - u - u);
        }
        return loc + scale * ln(u + u);
    }

    /// Draws from the logistic distribution.
    pub(super) fn logistic(words: &mut Words, loc: f64, scale: f64) -> f64 {
        let u: f64 = open_unit(words.next());
        return loc + scale * ln(u / (1.0 - u));
    }

    /// Draws from the log-normal distribution.
    pub(super) fn lognormal(words: &mut Words, mean: f64, sigma: f64) -> f64 {
        return exponential_function(fma(sigma, normal(words), mean));
    }

    /// Draws from the Pareto II distribution.
    pub(super) fn pareto(words: &mut Words, a: f64) -> f64 {
        return exponential_minus_1(exponential(words) / a);
    }

    /// Draws from the power distribution.
    pub(super) fn power_distribution(words: &mut Words, a: f64) -> f64 {
        return exponential_function(-exponential(words) / a);
    }

    /// Draws from the Rayleigh distribution.
    pub(super) fn rayleigh(words: &mut Words, scale: f64) -> f64 {
        return scale * radius(words.next());
    }

    /// Draws from the Weibull distribution.
    pub(super) fn weibull(words: &mut Words, a: f64) -> f64 {
        if a == 0.0 {
            return 0.0;
        }
        return power(exponential(words), 1.0 / a);
    }

    /// Draws from the triangular distribution.
    pub(super) fn triangular(words: &mut Words, left: f64, mode: f64, right: f64) -> f64 {
        let base: f64 = right - left;
        let left_base: f64 = mode - left;
        let ratio: f64 = left_base / base;
        let u: f64 = unit(words);
        if u <= ratio {
            return left + sqrt(u * (left_base * base));
        }
        return right - sqrt((1.0 - u) * ((right - mode) * base));
    }

    /// Draws from the Wald distribution. The number is one of two roots whose product is the square of the mean; a
    /// second random number selects the root.
    pub(super) fn wald(words: &mut Words, mean: f64, scale: f64) -> f64 {
        let x: f64 = normal(words);
        let u: f64 = unit(words);
        let y: f64 = mean * (x * x);
        let larger: f64 = mean + mean * ((y + sqrt(y * y + 4.0 * scale * y)) / (2.0 * scale));
        let smaller: f64 = mean * (mean / larger);
        return choose(u * (mean + smaller) <= mean, smaller, larger);
    }

    /// Returns an angle in [-pi, pi].
    fn wrapped(angle: f64) -> f64 {
        let size: f64 = remainder_of(fabs(angle) + 3.141_592_653_589_793, 6.283_185_307_179_586) - 3.141_592_653_589_793;
        return choose(angle < 0.0, -size, size);
    }

    /// Draws from the von Mises distribution (Best and Fisher).
    pub(super) fn vonmises(words: &mut Words, mu: f64, kappa: f64) -> f64 {
        if !(kappa >= 0.0) {
            return not_a_number();
        }
        if kappa < 1e-8 {
            return 3.141_592_653_589_793 * (2.0 * unit(words) - 1.0);
        }
        if kappa > 1e6 {
            return wrapped(mu + sqrt(1.0 / kappa) * normal(words));
        }
        let mut s: f64 = 1.0 / kappa + kappa;
        if kappa >= 1e-5 {
            let r: f64 = 1.0 + sqrt(1.0 + 4.0 * kappa * kappa);
            let rho: f64 = (r - sqrt(2.0 * r)) / (2.0 * kappa);
            s = (1.0 + rho * rho) / (2.0 * rho);
        }
        loop {
            let z: f64 = turn(words.next()).cosine;
            let w: f64 = (1.0 + s * z) / (s + z);
            let y: f64 = kappa * (s - w);
            let v: f64 = open_unit(words.next());
            if y * (2.0 - y) - v >= 0.0 || ln(y / v) + 1.0 - y >= 0.0 {
                let angle: f64 = arc_cosine(w);
                return wrapped(mu + choose(words.next() >> 63 == 1, -angle, angle));
            }
        }
    }
}
