//! Computes the tables from which kernels and the host compute normal and exponential numbers in single precision. A
//! table contains the quantile of a distribution as a polynomial of degree 3 in each of 256 intervals.
//!
//! A random word of 32 bits is a signed integer and is converted to a floating-point number. The exponent of its
//! absolute value and three bits of its mantissa select an interval. The rows of a table are computed by exactly
//! rounded operations, so that they have the same bits on every host.

use std::borrow::Cow;

use pygpu_base::fork_safe::ForkSafeOnce;

use super::elementary_functions::{ln, ln_1p};

/// Number of different 32-bit words.
const WORDS: f64 = 4_294_967_296.0;
/// Number of octaves (powers of two) of a word's absolute value, from 1 on. The last octave has only the value 2^31.
const OCTAVES: usize = 32;
/// Number of intervals per octave.
const PARTS: usize = 8;
/// Number of rows that a quantile table has for words of one sign.
const ROWS: usize = OCTAVES * PARTS;
/// Index of the first interval, which begins at 1. An index consists of the exponent and three bits of the mantissa.
const FIRST: usize = 127 * PARTS;

/// Coefficients of 1, y, y^2 and y^3, where y is the distance from the start of an interval.
pub(in super::super::super) type Row = [f32; 4];

/// Returns the rows of the normal distribution: one for the word 0, then those of the quantiles above the median,
/// ordered by the absolute value of a word.
pub(in super::super::super) fn normal_rows() -> &'static [Row] {
    static ROWS_OF_NORMAL: ForkSafeOnce<Vec<Row>> = ForkSafeOnce::new();
    ROWS_OF_NORMAL.get_or_init(|| {
        let value = |p: f64| -normal_quantile(p);
        [vec![of_zero(value)], rows(value)].concat()
    })
}

/// Returns the rows of the exponential distribution: one for the word 0, then those of the quantiles below the median,
/// which belong to negative words, and those of the quantiles above it.
pub(in super::super::super) fn exponential_rows() -> &'static [Row] {
    static ROWS_OF_EXPONENTIAL: ForkSafeOnce<Vec<Row>> = ForkSafeOnce::new();
    ROWS_OF_EXPONENTIAL.get_or_init(|| {
        let value = |p: f64| -ln(p);
        [vec![of_zero(value)], rows(|p| -ln_1p(-p)), rows(value)].concat()
    })
}

/// Contains the rows of a distribution's quantile table, multiplied by a scale.
pub(in super::super::super) struct Table<'a>(Cow<'a, [Row]>);

impl<'a> Table<'a> {
    /// Multiplies each coefficient by a scale.
    pub(in super::super::super) fn scaled(rows: &'a [Row], scale: f32) -> Self {
        if scale == 1.0 {
            return Self(rows.into());
        }
        Self(rows.iter().map(|row| row.map(|coefficient| coefficient * scale)).collect())
    }

    /// Returns the row of an interval. If the table has separate rows for negative numbers, these rows precede the rows
    /// for positive numbers.
    #[inline]
    pub(in super::super) fn row(&self, interval: i32, is_negative: u32) -> Row {
        // The index saturates at 0, the row for the word 0, because only the number 0 is below the first interval.
        let skipped = FIRST + ROWS + is_negative as usize * ROWS;
        self.0[((interval >> 20) as usize + self.0.len()).saturating_sub(skipped)]
    }
}

/// Returns the row for the word 0, which stands for half of the smallest absolute value.
fn of_zero(value: impl Fn(f64) -> f64) -> Row {
    [value(0.5 / WORDS) as f32, 0.0, 0.0, 0.0]
}

/// Returns the quantile table's rows for a function of probabilities up to 1/2. A probability is the absolute value of
/// a word, divided by 2^32.
fn rows(value: impl Fn(f64) -> f64) -> Vec<Row> {
    let row = |index: usize| {
        let (octave, part) = (index / PARTS, index % PARTS);
        if octave == OCTAVES - 1 {
            return [value(0.5) as f32, 0.0, 0.0, 0.0];
        }
        let scale = (1_u64 << octave) as f64;
        let start = 1.0 + part as f64 / PARTS as f64;
        let [c0, c1, c2, c3] = cubic(|y| value(scale / WORDS * (start + y)));
        [c0, c1 / scale, c2 / scale / scale, c3 / scale / scale / scale].map(|coefficient| coefficient as f32)
    };
    (0..ROWS).map(row).collect()
}

/// Returns the polynomial of degree 3 that equals a function at the Chebyshev nodes of an interval.
fn cubic(value: impl Fn(f64) -> f64) -> [f64; 4] {
    const OUTER: f64 = 0.923_879_532_511_286_7;
    const INNER: f64 = 0.382_683_432_365_089_8;
    let nodes = [-OUTER, -INNER, INNER, OUTER].map(|node| (1.0 + node) / (2 * PARTS) as f64);
    let mut differences = nodes.map(value);
    for order in 1..4 {
        for at in (order..4).rev() {
            differences[at] = (differences[at] - differences[at - 1]) / (nodes[at] - nodes[at - order]);
        }
    }
    // Converts the polynomial from Newton's form to coefficients of powers of y.
    let mut coefficients = [differences[3], 0.0, 0.0, 0.0];
    for at in (0..3).rev() {
        for power in (1..4).rev() {
            coefficients[power] = coefficients[power - 1] - nodes[at] * coefficients[power];
        }
        coefficients[0] = differences[at] - nodes[at] * coefficients[0];
    }
    coefficients
}

/// Returns the quantile of the normal distribution for a probability between 1e-11 and 1/2 (Wichura's algorithm AS 241).
fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q >= -0.425 {
        return q * ratio(0.180_625 - q * q, &CENTER);
    }
    -ratio((-ln(p)).sqrt() - 1.6, &TAIL)
}

/// Returns the ratio of two polynomials.
fn ratio(x: f64, [above, below]: &[[f64; 8]; 2]) -> f64 {
    let value = |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |sum, one| sum * x + one);
    value(above) / value(below)
}

const CENTER: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854_5,
    ],
];
const TAIL: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];
