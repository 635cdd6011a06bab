//! Defines elementary functions by exactly rounded operations, so that results have the same bits on every backend.
//!
//! `tools/random_kernels.py` translates this file to CUDA. The macro `functions!` also compiles it for processors with
//! FMA.

use super::reproducible_operations::*;

const LN_2: f64 = 0.693_147_180_559_945_3;
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;
const PI: f64 = 3.141_592_653_589_793;

functions! {
    /// Returns the natural logarithm of `x` times 2 to the power of `exponent`; `x` is a normal (not subnormal) number.
    pub(super) fn ln_of_normal(x: f64, exponent: i64) -> f64 {
        // The mantissa is reduced to a number between the square roots of 1/2 and of 2.
        let shifted: i64 = (signed(bits(x)) - 0x3fe6_a09e_667f_3bcd_i64) >> 52;
        let f: f64 = from_bits(less(bits(x), unsigned(shifted) << 52)) - 1.0;
        let s: f64 = quotient(f, 2.0 + f);
        let z: f64 = s * s;
        let mut r: f64 = fma(z, 1.479_819_860_511_658_6e-1, 1.531_383_769_920_937_3e-1);
        r = fma(z, r, 1.818_357_216_161_805e-1);
        r = fma(z, r, 2.222_219_843_214_978_4e-1);
        r = fma(z, r, 2.857_142_874_366_239e-1);
        r = fma(z, r, 3.999_999_999_940_942e-1);
        r = z * fma(z, r, 6.666_666_666_666_735e-1);
        let half: f64 = 0.5 * f * f;
        let n: f64 = real(exponent + shifted);
        return fma(n, LN_2, f - (half - fma(s, half + r, n * LN_2_REST)));
    }

    /// Returns the natural logarithm.
    pub(super) fn ln(x: f64) -> f64 {
        if x <= 0.0 {
            return choose(x == 0.0, -infinity(), not_a_number());
        }
        if !(x < infinity()) {
            return x;
        }
        if x < 2.225_073_858_507_201_4e-308 {
            return ln_of_normal(x * 18_014_398_509_481_984.0, -54);
        }
        return ln_of_normal(x, 0);
    }

    /// Returns 2 to the power of `k`, where `k` must be the exponent of a normal (not subnormal) number.
    pub(super) fn power_of_2(k: i64) -> f64 {
        return from_bits(unsigned(k + 1023) << 52);
    }

    /// Returns e to the power of `x`.
    pub(super) fn exponential_function(x: f64) -> f64 {
        if !(x < 709.782_712_893_384) {
            return choose(x > 0.0, infinity(), x);
        }
        if x < -745.2 {
            return 0.0;
        }
        let n: f64 = floor(fma(x, 1.442_695_040_888_963_4, 0.5));
        let r: f64 = fma(-n, LN_2_REST, fma(-n, LN_2, x));
        let mut p: f64 = fma(r, 1.605_904_383_682_161_3e-10, 2.087_675_698_786_81e-9);
        p = fma(r, p, 2.505_210_838_544_172e-8);
        p = fma(r, p, 2.755_731_922_398_589e-7);
        p = fma(r, p, 2.755_731_922_398_589e-6);
        p = fma(r, p, 2.480_158_730_158_73e-5);
        p = fma(r, p, 1.984_126_984_126_984_1e-4);
        p = fma(r, p, 1.388_888_888_888_889e-3);
        p = fma(r, p, 8.333_333_333_333_333e-3);
        p = fma(r, p, 4.166_666_666_666_666_4e-2);
        p = fma(r, p, 1.666_666_666_666_666_6e-1);
        p = fma(r, p, 0.5);
        p = fma(r, fma(r, p, 1.0), 1.0);
        let k: i64 = whole(n);
        let half: i64 = k >> 1;
        return p * power_of_2(half) * power_of_2(k - half);
    }

    /// Returns the logarithm of `1 + x`, accurate near 0.
    pub(super) fn ln_1p(x: f64) -> f64 {
        let u: f64 = 1.0 + x;
        if u == 1.0 {
            return x;
        }
        if !(u < infinity()) {
            return u;
        }
        return ln(u) * (x / (u - 1.0));
    }

    /// Returns `e^x - 1`, accurate near 0.
    pub(super) fn exponential_minus_1(x: f64) -> f64 {
        if fabs(x) < 1e-5 {
            return fma(0.5 * x, fma(x, 1.0 / 3.0, 1.0) * x, x);
        }
        let u: f64 = exponential_function(x);
        if !(fabs(x) < 40.0) {
            return u - 1.0;
        }
        return (u - 1.0) * (x / ln(u));
    }

    /// Returns `x` to the power of `y` for `x >= 0`.
    pub(super) fn power(x: f64, y: f64) -> f64 {
        if x == 0.0 {
            return choose(y == 0.0, 1.0, choose(y > 0.0, 0.0, infinity()));
        }
        return exponential_function(y * ln(x));
    }

    /// Returns `x`, or `-x` if the highest bit of a random word is set.
    fn negated_by(word: u64, x: f64) -> f64 {
        return from_bits(bits(x) ^ ((word >> 63) << 63));
    }

    /// Returns the sine and the cosine of an angle. A uniform word gives a uniform angle: 62 bits select an angle
    /// between -1/8 and 1/8 of a turn; two bits exchange sine and cosine, and negate both.
    pub(super) fn turn(word: u64) -> Pair {
        let angle: f64 = real(signed(word << 2)) * 8.515_303_950_216_386e-20;
        let z: f64 = angle * angle;
        let mut s: f64 = fma(z, 1.589_690_995_211_55e-10, -2.505_076_025_340_686_3e-8);
        s = fma(z, s, 2.755_731_370_707_006_8e-6);
        s = fma(z, s, -1.984_126_982_985_795e-4);
        s = fma(z, s, 8.333_333_333_322_49e-3);
        s = fma(z, s, -1.666_666_666_666_663_2e-1);
        s = fma(angle * z, s, angle);
        let mut c: f64 = fma(z, -1.135_964_755_778_819_5e-11, 2.087_572_321_298_175e-9);
        c = fma(z, c, -2.755_731_435_139_066_3e-7);
        c = fma(z, c, 2.480_158_728_947_673e-5);
        c = fma(z, c, -1.388_888_888_887_411e-3);
        c = fma(z, c, 4.166_666_666_666_66e-2);
        c = fma(z * z, c, fma(z, -0.5, 1.0));
        let is_exchanged: bool = ((word >> 62) & 1) == 1;
        return pair(negated_by(word, choose(is_exchanged, c, s)), negated_by(word, choose(is_exchanged, s, c)));
    }

    /// Returns the ratio of two polynomials by which fdlibm approximates the arc cosine.
    fn arc_ratio(z: f64) -> f64 {
        let mut p: f64 = fma(z, 3.479_331_075_960_212e-5, 7.915_349_942_898_145e-4);
        p = fma(z, p, -4.005_553_450_067_941e-2);
        p = fma(z, p, 2.012_125_321_348_629_3e-1);
        p = fma(z, p, -3.255_658_186_224_009e-1);
        p = z * fma(z, p, 1.666_666_666_666_666_6e-1);
        let mut q: f64 = fma(z, 7.703_815_055_590_194e-2, -6.882_839_716_054_533e-1);
        q = fma(z, q, 2.020_945_760_233_505_7);
        q = fma(z, q, -2.403_394_911_734_414_3);
        return p / fma(z, q, 1.0);
    }

    /// Returns the arc cosine, an angle between 0 and pi.
    pub(super) fn arc_cosine(x: f64) -> f64 {
        if fabs(x) < 0.5 {
            return 0.5 * PI - fma(x, arc_ratio(x * x), x);
        }
        if x < 0.0 {
            let y: f64 = (1.0 + x) * 0.5;
            let t: f64 = sqrt(y);
            return PI - 2.0 * fma(t, arc_ratio(y), t);
        }
        let z: f64 = fmax(1.0 - x, 0.0) * 0.5;
        let s: f64 = sqrt(z);
        return 2.0 * fma(s, arc_ratio(z), s);
    }

    /// Returns the logarithm of the gamma function for `x > 0`, by Stirling's series.
    pub(super) fn ln_gamma(x: f64) -> f64 {
        if x == 1.0 || x == 2.0 {
            return 0.0;
        }
        let mut y: f64 = x;
        let mut product: f64 = 1.0;
        while y < 7.0 {
            product = product * y;
            y += 1.0;
        }
        let z: f64 = 1.0 / (y * y);
        let mut s: f64 = fma(z, -1.392_432_216_905_9, 1.796_443_723_688_306e-1);
        s = fma(z, s, -2.955_065_359_477_124e-2);
        s = fma(z, s, 6.410_256_410_256_41e-3);
        s = fma(z, s, -1.917_526_917_526_917_6e-3);
        s = fma(z, s, 8.417_508_417_508_418e-4);
        s = fma(z, s, -5.952_380_952_380_953e-4);
        s = fma(z, s, 7.936_507_936_507_937e-4);
        s = fma(z, s, -2.777_777_777_777_778e-3);
        s = fma(z, s, 8.333_333_333_333_333e-2);
        s = s / y + 0.918_938_533_204_672_8 + (y - 0.5) * ln(y) - y;
        if product != 1.0 {
            return s - ln(product);
        }
        return s;
    }

    /// Returns the difference between the logarithm of `k!` and Stirling's approximation of it.
    pub(super) fn stirling_error(k: f64) -> f64 {
        let y: f64 = k + 1.0;
        if y < 16.0 {
            return ln_gamma(y) - ((k + 0.5) * ln(y) - y + 0.918_938_533_204_672_8);
        }
        let z: f64 = 1.0 / (y * y);
        return (0.083_333_333_333_333_33 - z * (0.002_777_777_777_777_778 - z * 7.936_507_936_507_937e-4)) / y;
    }
}
