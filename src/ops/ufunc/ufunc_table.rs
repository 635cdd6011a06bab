//! Defines the table of operations, with one entry for each elementwise NumPy function.
//!
//! An entry has groups of types, each with the C expression of one element. `{a}`, `{b}` and so on are the operands in
//! the loop's type, `{T}` is that type, `{U}` the unsigned type in which integers wrap around. All operands of a loop
//! have the loop's type; in some entries one operand has a fixed type instead. The loops of an entry are tried in the
//! order of [`ORDER`], as in NumPy.

use smallvec::SmallVec;

use super::special::header::{Header, add_texts};
use super::special::shared_headers::LOGARITHM;
pub use super::type_sets::{ORDER, TypeSet};
use pygpu_base::dtype::ScalarType;
use pygpu_base::dtype::ScalarType::*;

const BOOL: &[ScalarType] = &[Bool];
const SIGNED: &[ScalarType] = &[Int8, Int16, Int32, Int64];
const UNSIGNED: &[ScalarType] = &[UInt8, UInt16, UInt32, UInt64];
const INTEGERS: &[ScalarType] = &[Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64];
const REAL: &[ScalarType] = &[Float16, BFloat16, Float32, Float64];
const HALF: &[ScalarType] = &[Float16, BFloat16];
const FLOAT: &[ScalarType] = &[Float32];
const DOUBLE: &[ScalarType] = &[Float64];
const WIDE: &[ScalarType] = &[Float32, Float64];
const COMPLEX: &[ScalarType] = &[Complex64, Complex128];
/// Group of loops that rejects bool operands, for functions that NumPy does not define for bools.
const NO_BOOL: UfuncGroup = with(BOOL, Output::Refused, "");

/// Definitions of the C functions that the table's expressions call.
const ARITHMETIC: &str = include_str!("arithmetic.h");
const PARTS: &str = include_str!("float_bits.h");
const SPECIAL: &str = include_str!("special.h");

/// Type of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// The operands' type.
    Same,
    /// A fixed type.
    Fixed(ScalarType),
    /// A fixed type, in which the loop computes its result, too.
    As(ScalarType),
    /// The real type with the operands' precision.
    Real,
    /// Result type of a group that rejects its operands although they could be cast to the type of another loop. For
    /// example, bools have no sign.
    Refused,
}

/// Group of loops, i.e. implementations of a function for one type each, that differ only in this type.
#[derive(Debug)]
pub struct UfuncGroup {
    /// The types of the loops.
    pub kinds: TypeSet,
    /// The type of the result.
    pub output: Output,
    /// The C expression that computes one element of the result.
    pub text: &'static str,
    /// The type and the expression of a second result, if there is one.
    pub second: Option<(Output, &'static str)>,
    /// Approximate time in milliseconds that NVRTC needs to compile the expression once; 0 if the time is below 2 ms.
    /// The loop over a thread's elements is unrolled less for a higher time. Weights from 2 on whose product with the
    /// number of elements in 16 bytes is at most 16, i.e. up to 4 for float32 and 8 for float64, let a thread load twice
    /// as many bytes. Functions that are faster with these loads have such a weight although they take longer or shorter
    /// to compile: `exp` of float64, and of float32 `pow`, `tan`, `arctan2` and the inverse hyperbolic functions.
    pub weight: u8,
    /// Whether the computation takes as long as reading the operands, although the weight is low.
    pub is_long: bool,
}

/// Requirements of a function on Python scalars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScalarRule {
    /// The type of the selected loop must be able to represent the scalar.
    Plain,
    /// No requirement: integers of any size are compared correctly.
    Comparison,
    /// No requirement: only the scalar's truth value matters.
    Logical,
    /// Integer exponents must not be negative.
    Power,
}

/// Determines how a function is evaluated for arrays in host memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostEvaluation {
    /// The function has the name of a NumPy ufunc, and this ufunc evaluates the function.
    Ufunc,
    /// Several NumPy calls evaluate the function.
    Steps,
    /// The compiled kernel evaluates the function. If there is no compiler, Python's module `math` evaluates it, one
    /// number at a time.
    Kernel,
    /// The function has the name of a SciPy ufunc. If SciPy is installed, this ufunc evaluates the function; otherwise
    /// the compiled kernel evaluates it.
    SciPy,
}

/// Entry of the table: one elementwise function.
#[derive(Debug)]
pub struct UfuncEntry {
    /// The function's name in NumPy.
    pub name: &'static str,
    /// Number of operands.
    pub inputs: usize,
    /// The loops of the function, i.e. its implementations for several types.
    pub groups: &'static [UfuncGroup],
    /// C functions that the loops' expressions use.
    pub preamble: &'static str,
    /// Headers with further C functions that the loops' expressions use.
    pub headers: &'static [&'static Header],
    /// Index and type of the operand whose type does not depend on the loop, if there is one.
    pub fixed: Option<(usize, ScalarType)>,
    /// Requirements of the function on Python scalars.
    pub nature: ScalarRule,
    /// How the function is evaluated for arrays in host memory.
    pub host: HostEvaluation,
    /// One-sentence description for the documentation.
    pub summary: &'static str,
}

impl UfuncEntry {
    /// An entry without a name and without loops, from which other entries are derived.
    pub const EMPTY: Self = Self::of("", 1, "");

    /// Adds the texts of the definitions that the loops' expressions use, unless the list contains them already.
    pub fn add_definitions(&self, texts: &mut Vec<&'static str>) {
        add_texts(self.headers, texts);
        if !texts.contains(&self.preamble) {
            texts.push(self.preamble);
        }
    }

    /// Returns the group of loops that contains the loop for a type.
    #[inline]
    pub fn group(&self, kind: ScalarType) -> Option<&UfuncGroup> {
        self.groups.iter().find(|group| group.kinds.contains(kind))
    }

    /// Returns the types for which the function has loops, in the order in which the loops are tried.
    pub fn kinds(&self) -> impl Iterator<Item = ScalarType> {
        ORDER.into_iter().filter(|kind| self.group(*kind).is_some_and(|group| group.output != Output::Refused))
    }

    /// Returns the number of results.
    pub fn outputs(&self) -> usize {
        1 + usize::from(self.groups.first().is_some_and(|group| group.second.is_some()))
    }

    /// Returns the type of operand `place` in the loop for type `kind`.
    #[inline]
    pub fn takes(&self, place: usize, kind: ScalarType) -> ScalarType {
        match self.fixed {
            Some((fixed, own)) if fixed == place => own,
            _ => kind,
        }
    }

    /// Returns the types of the results of the loop for type `kind`.
    #[inline(always)] // inlined, because a call would return the list through memory
    pub fn results(&self, kind: ScalarType) -> SmallVec<[ScalarType; 2]> {
        let mut results = SmallVec::new();
        if let Some(group) = self.group(kind) {
            results.push(group.output.of(kind));
            if let Some((output, _)) = group.second {
                results.push(output.of(kind)); // `push` is inlined, unlike `extend`
            }
        }
        results
    }
}

impl Output {
    /// Returns the type of the result for operands of type `kind`.
    #[inline]
    pub fn of(self, kind: ScalarType) -> ScalarType {
        match self {
            Self::Same | Self::Refused => kind,
            Self::Fixed(fixed) | Self::As(fixed) => fixed,
            Self::Real => match kind {
                Complex64 => Float32,
                Complex128 => Float64,
                other => other,
            },
        }
    }
}

/// Looks up an entry by name.
pub fn row(name: &str) -> Option<&'static UfuncEntry> {
    TABLE.iter().find(|row| row.name == name)
}

/// Looks up an entry at compile time; an unknown name causes a compile error.
pub const fn builtin_row(name: &str) -> &'static UfuncEntry {
    let mut place = 0;
    while !is_same(TABLE[place].name.as_bytes(), name.as_bytes()) {
        place += 1;
    }
    &TABLE[place]
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

const fn same(kinds: &'static [ScalarType], text: &'static str) -> UfuncGroup {
    with(kinds, Output::Same, text)
}

const fn to(kind: ScalarType, kinds: &'static [ScalarType], text: &'static str) -> UfuncGroup {
    with(kinds, Output::Fixed(kind), text)
}

const fn with(kinds: &'static [ScalarType], output: Output, text: &'static str) -> UfuncGroup {
    UfuncGroup { kinds: TypeSet::of(kinds), output, text, second: None, weight: 0, is_long: false }
}

const fn two(kinds: &'static [ScalarType], first: &'static str, second: Output, text: &'static str) -> UfuncGroup {
    UfuncGroup { second: Some((second, text)), ..with(kinds, Output::Same, first) }
}

impl UfuncGroup {
    const fn weighs(self, weight: u8) -> Self {
        Self { weight, ..self }
    }

    const fn long(self) -> Self {
        Self { is_long: true, ..self }
    }
}

impl UfuncEntry {
    const fn of(name: &'static str, inputs: usize, summary: &'static str) -> Self {
        let (nature, host) = (ScalarRule::Plain, HostEvaluation::Ufunc);
        Self { name, inputs, groups: &[], preamble: "", headers: &[], fixed: None, nature, host, summary }
    }

    const fn by(self, host: HostEvaluation) -> Self {
        Self { host, ..self }
    }

    const fn nature(self, nature: ScalarRule) -> Self {
        Self { nature, ..self }
    }

    const fn uses(self, headers: &'static [&'static Header]) -> Self {
        Self { headers, ..self }
    }

    const fn fixed(self, place: usize, kind: ScalarType) -> Self {
        Self { fixed: Some((place, kind)), ..self }
    }
}

macro_rules! row {
    ($name:literal $inputs:literal $summary:literal $preamble:expr; $($group:expr),+) => {
        UfuncEntry { groups: &[$($group),+], preamble: $preamble, ..UfuncEntry::of($name, $inputs, $summary) }
    };
}

/// Comparisons of complex numbers are lexicographic, as in NumPy.
macro_rules! comparison {
    ($name:literal $summary:literal $real:literal $complex:literal) => {
        row!($name 2 $summary "";
            to(Bool, BOOL, $real), to(Bool, INTEGERS, $real), to(Bool, REAL, $real), to(Bool, COMPLEX, $complex))
        .nature(ScalarRule::Comparison)
    };
}

/// Functions of real numbers that exist in C's mathematical library.
macro_rules! real {
    ($name:literal $summary:literal $text:literal [$half:literal $single:literal $double:literal] complex $complex:literal $heavy:literal) => {
        row!($name 1 $summary ARITHMETIC; same(HALF, $text).weighs($half), same(FLOAT, $text).weighs($single),
            same(DOUBLE, $text).weighs($double), same(COMPLEX, $complex).weighs($heavy))
    };
    ($name:literal $summary:literal $text:literal $weight:literal) => {
        row!($name 1 $summary ""; same(REAL, $text).weighs($weight))
    };
    ($name:literal $summary:literal $text:literal $weight:literal complex $complex:literal $heavy:literal) => {
        row!($name 1 $summary ARITHMETIC; same(REAL, $text).weighs($weight), same(COMPLEX, $complex).weighs($heavy))
    };
}

/// All functions.
pub static TABLE: &[UfuncEntry] = &[
    row!("add" 2 "Add the operands." "";
        same(BOOL, "{a} || {b}"), same(INTEGERS, "({U}){a} + ({U}){b}"), same(REAL, "{a} + {b}"), same(COMPLEX, "{a} + {b}")),
    row!("subtract" 2 "Subtract the second operand from the first." "";
        NO_BOOL, same(INTEGERS, "({U}){a} - ({U}){b}"), same(REAL, "{a} - {b}"), same(COMPLEX, "{a} - {b}")),
    row!("multiply" 2 "Multiply the operands." "";
        same(BOOL, "{a} && {b}"), same(INTEGERS, "({U}){a} * ({U}){b}"), same(REAL, "{a} * {b}"), same(COMPLEX, "{a} * {b}")),
    row!("divide" 2 "Divide the first operand by the second; integers give floating-point results." "";
        with(INTEGERS, Output::As(Float64), ""), same(REAL, "{a} / {b}"), same(COMPLEX, "{a} / {b}").weighs(10)),
    row!("floor_divide" 2 "Return the largest integer not above the quotient; 0 for integers divided by 0." ARITHMETIC;
        same(UNSIGNED, "{b} ? {a} / {b} : 0"), same(SIGNED, "pygpu_op::floor_divide<{T}>({a}, {b})"),
        same(REAL, "pygpu_op::floor_quotient<{T}>({a}, {b})").weighs(13)),
    row!("remainder" 2 "Return the remainder of `floor_divide`, with the divisor's sign; 0 for integers divided by 0." ARITHMETIC;
        same(UNSIGNED, "{b} ? {a} % {b} : 0"), same(SIGNED, "pygpu_op::floor_remainder<{T}>({a}, {b})"),
        same(REAL, "pygpu_op::floor_modulo<{T}>({a}, {b})").weighs(13)),
    row!("fmod" 2 "Return the remainder with the dividend's sign; 0 for integers divided by 0." ARITHMETIC;
        same(UNSIGNED, "{b} ? {a} % {b} : 0"), same(SIGNED, "{b} == 0 || {b} == -1 ? 0 : {a} % {b}"),
        same(REAL, "fmod({a}, {b})").weighs(13)),
    row!("power" 2 "Raise the first operand to the power of the second." ARITHMETIC;
        same(INTEGERS, "pygpu_op::power<{T}>({a}, {b})"), same(HALF, "pow({a}, {b})").weighs(8),
        same(FLOAT, "pow({a}, {b})").weighs(4).long(), same(DOUBLE, "pow({a}, {b})").weighs(8),
        same(COMPLEX, "pygpu_op::complex_power({a}, {b})").weighs(30)).nature(ScalarRule::Power),
    row!("float_power" 2 "Raise the first operand to the power of the second, in `float64` or `complex128`." ARITHMETIC;
        same(&[Float64], "pow({a}, {b})").weighs(8), same(&[Complex128], "pygpu_op::complex_power({a}, {b})").weighs(30)),
    row!("divmod" 2 "Return the results of `floor_divide` and `remainder`." ARITHMETIC;
        two(UNSIGNED, "{b} ? {a} / {b} : 0", Output::Same, "{b} ? {a} % {b} : 0"),
        two(SIGNED, "pygpu_op::floor_divide<{T}>({a}, {b})", Output::Same, "pygpu_op::floor_remainder<{T}>({a}, {b})"),
        two(REAL, "pygpu_op::floor_quotient<{T}>({a}, {b})", Output::Same, "pygpu_op::floor_modulo<{T}>({a}, {b})").weighs(16)),
    row!("maximum" 2 "Return the greater operand; NaN if an operand is NaN." ARITHMETIC;
        same(BOOL, "{a} || {b}"), same(INTEGERS, "{a} >= {b} ? {a} : {b}"),
        same(REAL, "{a} >= {b} || {a} != {a} ? {a} : {b}"), same(COMPLEX, "pygpu_op::maximum({a}, {b})")),
    row!("minimum" 2 "Return the lesser operand; NaN if an operand is NaN." ARITHMETIC;
        same(BOOL, "{a} && {b}"), same(INTEGERS, "{a} <= {b} ? {a} : {b}"),
        same(REAL, "{a} <= {b} || {a} != {a} ? {a} : {b}"), same(COMPLEX, "pygpu_op::minimum({a}, {b})")),
    row!("fmax" 2 "Return the greater operand; if one operand is NaN, return the other operand." ARITHMETIC;
        same(BOOL, "{a} || {b}"), same(INTEGERS, "{a} >= {b} ? {a} : {b}"),
        same(REAL, "{a} >= {b} || {b} != {b} ? {a} : {b}"), same(COMPLEX, "pygpu_op::fmax({a}, {b})")),
    row!("fmin" 2 "Return the lesser operand; if one operand is NaN, return the other operand." ARITHMETIC;
        same(BOOL, "{a} && {b}"), same(INTEGERS, "{a} <= {b} ? {a} : {b}"),
        same(REAL, "{a} <= {b} || {b} != {b} ? {a} : {b}"), same(COMPLEX, "pygpu_op::fmin({a}, {b})")),
    comparison!("equal" "Test whether the operands are equal." "{a} == {b}" "{a} == {b}"),
    comparison!("not_equal" "Test whether the operands differ." "{a} != {b}" "{a} != {b}"),
    comparison!("less" "Test whether the first operand is less than the second." "{a} < {b}"
        "{a}.real() < {b}.real() && {a}.imag() == {a}.imag() && {b}.imag() == {b}.imag() || {a}.real() == {b}.real() && {a}.imag() < {b}.imag()"),
    comparison!("less_equal" "Test whether the first operand is less than or equal to the second." "{a} <= {b}"
        "{a}.real() < {b}.real() && {a}.imag() == {a}.imag() && {b}.imag() == {b}.imag() || {a}.real() == {b}.real() && {a}.imag() <= {b}.imag()"),
    comparison!("greater" "Test whether the first operand is greater than the second." "{a} > {b}"
        "{a}.real() > {b}.real() && {a}.imag() == {a}.imag() && {b}.imag() == {b}.imag() || {a}.real() == {b}.real() && {a}.imag() > {b}.imag()"),
    comparison!("greater_equal" "Test whether the first operand is greater than or equal to the second." "{a} >= {b}"
        "{a}.real() > {b}.real() && {a}.imag() == {a}.imag() && {b}.imag() == {b}.imag() || {a}.real() == {b}.real() && {a}.imag() >= {b}.imag()"),
    comparison!("logical_and" "Test whether both operands are true." "{a} != 0 && {b} != 0" "{a} != 0 && {b} != 0").nature(ScalarRule::Logical),
    comparison!("logical_or" "Test whether at least one operand is true." "{a} != 0 || {b} != 0" "{a} != 0 || {b} != 0").nature(ScalarRule::Logical),
    comparison!("logical_xor" "Test whether exactly one operand is true." "({a} != 0) != ({b} != 0)" "({a} != 0) != ({b} != 0)").nature(ScalarRule::Logical),
    row!("bitwise_and" 2 "Compute the bitwise AND." ""; same(BOOL, "{a} && {b}"), same(INTEGERS, "{a} & {b}")),
    row!("bitwise_or" 2 "Compute the bitwise OR." ""; same(BOOL, "{a} || {b}"), same(INTEGERS, "{a} | {b}")),
    row!("bitwise_xor" 2 "Compute the bitwise XOR." ""; same(BOOL, "{a} != {b}"), same(INTEGERS, "{a} ^ {b}")),
    row!("left_shift" 2 "Shift bits to the left; 0 if the shift is not less than the width." ARITHMETIC;
        same(INTEGERS, "pygpu_op::left_shift<{T}>({a}, {b})")),
    row!("right_shift" 2 "Shift bits to the right; the sign bit is repeated." ARITHMETIC;
        same(INTEGERS, "pygpu_op::right_shift<{T}>({a}, {b})")),
    row!("arctan2" 2 "Return the angle of the point (second operand, first operand), in radians." ""; 
        same(HALF, "atan2({a}, {b})").weighs(7), same(FLOAT, "atan2({a}, {b})").weighs(4), same(DOUBLE, "atan2({a}, {b})").weighs(7)),
    row!("hypot" 2 "Return the hypotenuse of a right triangle with the operands as legs." ""; same(REAL, "hypot({a}, {b})").weighs(3)),
    row!("copysign" 2 "Return the first operand with the sign of the second." ""; same(REAL, "copysign({a}, {b})")),
    row!("logaddexp" 2 "Compute log(exp(x) + exp(y))." ""; same(REAL, "pygpu_special::logaddexp<{T}>({a}, {b})").weighs(2)).uses(&[&LOGARITHM]),
    row!("logaddexp2" 2 "Compute log2(2**x + 2**y)." ""; same(REAL, "pygpu_special::logaddexp2<{T}>({a}, {b})").weighs(2)).uses(&[&LOGARITHM]),
    row!("heaviside" 2 "Compute the Heaviside step function: 0 if x < 0, 1 if x > 0, the second operand if x is 0." "";
        same(REAL, "{a} != {a} ? {a} : {a} == 0 ? {b} : {a} < 0 ? ({T})0 : ({T})1")),
    row!("gcd" 2 "Return the greatest common divisor." ARITHMETIC; NO_BOOL, same(INTEGERS, "pygpu_op::gcd<{T}>({a}, {b})")),
    row!("lcm" 2 "Return the least common multiple." ARITHMETIC; NO_BOOL, same(INTEGERS, "pygpu_op::lcm<{T}>({a}, {b})")),
    row!("bitwise_count" 1 "Count the 1-bits of the absolute value." PARTS;
        to(UInt8, UNSIGNED, "pygpu_op::count_bits({a})"), to(UInt8, SIGNED, "pygpu_op::count_bits({a} < 0 ? 0 - ({U}){a} : ({U}){a})")),
    row!("nextafter" 2 "Return the next representable value after the first operand, towards the second." PARTS;
        same(&[Float16], "pygpu_op::next_of_16_bits<10, -14>({a}, {b})").weighs(5),
        same(&[BFloat16], "pygpu_op::next_of_16_bits<7, -126>({a}, {b})").weighs(5), same(WIDE, "nextafter({a}, {b})").weighs(3)),
    row!("spacing" 1 "Return the distance to the next representable value away from 0." PARTS;
        same(&[Float16], "{a} - {a} == 0 ? pygpu_op::next_of_16_bits<10, -14>({a}, 1e30f) - {a} : {a} - {a}").weighs(6),
        same(&[BFloat16], "pygpu_op::next_of_16_bits<7, -126>({a}, {a} * 2 + copysign(1.0f, {a})) - {a}").weighs(6),
        same(WIDE, "pygpu_op::spacing<{T}>({a})").weighs(3)),
    row!("ldexp" 2 "Compute x * 2**n for an integer n." PARTS;
        same(REAL, "pygpu_op::scaled<{T}>({a}, {b})")).fixed(1, Int64),
    row!("frexp" 1 "Split into a mantissa in [0.5, 1) and an exponent of 2." PARTS;
        two(REAL, "pygpu_op::mantissa<{T}>({a})", Output::Fixed(Int32), "pygpu_op::exponent<{T}>({a})")),
    row!("modf" 1 "Split into the fractional and the integral part, both with the sign of the operand." PARTS;
        two(REAL, "pygpu_op::fraction<{T}>({a})", Output::Same, "trunc({a})")),
    row!("negative" 1 "Negate the operand." "";
        NO_BOOL, same(INTEGERS, "0 - ({U}){a}"), same(REAL, "-{a}"), same(COMPLEX, "-{a}")),
    row!("positive" 1 "Return the operand unchanged." ""; NO_BOOL, same(INTEGERS, "{a}"), same(REAL, "{a}"), same(COMPLEX, "{a}")),
    row!("absolute" 1 "Compute the absolute value." "";
        same(BOOL, "{a}"), same(UNSIGNED, "{a}"), same(SIGNED, "{a} < 0 ? 0 - ({U}){a} : ({U}){a}"), same(REAL, "fabs({a})"),
        with(COMPLEX, Output::Real, "abs({a})")),
    row!("invert" 1 "Invert all bits." ""; same(BOOL, "!{a}"), same(INTEGERS, "~{a}")),
    row!("logical_not" 1 "Test whether the operand is false." "";
        to(Bool, BOOL, "!{a}"), to(Bool, INTEGERS, "{a} == 0"), to(Bool, REAL, "{a} == 0"),
        to(Bool, COMPLEX, "{a} == 0")),
    row!("square" 1 "Compute the square." "";
        same(INTEGERS, "({U}){a} * ({U}){a}"), same(REAL, "{a} * {a}"), same(COMPLEX, "{a} * {a}")),
    row!("conjugate" 1 "Return the complex conjugate." "";
        same(INTEGERS, "{a}"), same(REAL, "{a}"), same(COMPLEX, "conj({a})")),
    row!("isnan" 1 "Test for NaN." "";
        to(Bool, BOOL, "false"), to(Bool, INTEGERS, "false"), to(Bool, REAL, "{a} != {a}"),
        to(Bool, COMPLEX, "{a}.real() != {a}.real() || {a}.imag() != {a}.imag()")),
    row!("isfinite" 1 "Test whether the operand is neither infinite nor NaN." "";
        to(Bool, BOOL, "true"), to(Bool, INTEGERS, "true"), to(Bool, REAL, "{a} - {a} == 0"),
        to(Bool, COMPLEX, "{a}.real() - {a}.real() == 0 && {a}.imag() - {a}.imag() == 0")),
    row!("isinf" 1 "Test for infinity of either sign." "";
        to(Bool, BOOL, "false"), to(Bool, INTEGERS, "false"), to(Bool, REAL, "{a} == {a} && {a} - {a} != 0"),
        to(Bool, COMPLEX, "{a}.real() == {a}.real() && {a}.real() - {a}.real() != 0 || {a}.imag() == {a}.imag() && {a}.imag() - {a}.imag() != 0")),
    row!("sign" 1 "Return -1, 0 or 1; NaN for NaN, and `z / abs(z)` for complex numbers." ARITHMETIC;
        NO_BOOL, same(UNSIGNED, "{a} ? 1 : 0"), same(SIGNED, "{a} > 0 ? 1 : {a} < 0 ? -1 : 0"),
        same(REAL, "{a} > 0 ? ({T})1 : {a} < 0 ? ({T})-1 : {a} == 0 ? ({T})0 : {a}").weighs(3),
        same(COMPLEX, "pygpu_op::sign({a})").weighs(8)),
    row!("reciprocal" 1 "Compute 1 / x; 0 for the integer 0." "";
        same(INTEGERS, "{a} ? ({T})1 / {a} : 0"), same(REAL, "({T})1 / {a}").weighs(4), same(COMPLEX, "{T}(1) / {a}").weighs(8)),
    row!("floor" 1 "Round down to an integer." "";
        same(BOOL, "{a}"), same(INTEGERS, "{a}"), same(REAL, "floor({a})")),
    row!("ceil" 1 "Round up to an integer." "";
        same(BOOL, "{a}"), same(INTEGERS, "{a}"), same(REAL, "ceil({a})")),
    row!("trunc" 1 "Round towards 0 to an integer." ""; same(BOOL, "{a}"), same(INTEGERS, "{a}"), same(REAL, "trunc({a})")),
    row!("rint" 1 "Round to the nearest integer; of two equally near integers, to the even one." "";
        same(REAL, "rint({a})"), same(COMPLEX, "{T}(rint({a}.real()), rint({a}.imag()))")),
    row!("signbit" 1 "Test whether the sign bit is set, also for -0.0." ""; to(Bool, REAL, "copysign(({T})1, {a}) < 0")),
    real!("sqrt" "Compute the square root." "sqrt({a})" 0 complex "sqrt({a})" 8),
    real!("cbrt" "Compute the cube root." "cbrt({a})" 2),
    real!("exp" "Compute e**x." "exp({a})" [0 0 2] complex "pygpu_op::complex_exp({a})" 12),
    real!("exp2" "Compute 2**x." "exp2({a})" [0 0 2] complex "pygpu_op::complex_exp2({a})" 12),
    real!("expm1" "Compute exp(x) - 1, accurate near 0." "expm1({a})" 2 complex "pygpu_op::complex_expm1({a})" 17),
    real!("log" "Compute the natural logarithm." "log({a})" 2 complex "pygpu_op::complex_log({a})" 8),
    real!("log2" "Compute the logarithm to the base 2." "pygpu_op::binary_logarithm({a})" 2 complex "pygpu_op::complex_log2({a})" 8),
    real!("log10" "Compute the logarithm to the base 10." "log10({a})" 2 complex "pygpu_op::complex_log10({a})" 8),
    row!("log1p" 1 "Compute log(1 + x), accurate near 0." ARITHMETIC;
        same(HALF, "log1p({a})").weighs(3), same(FLOAT, "log1p({a})").weighs(3), same(DOUBLE, "pygpu_special::log1p_of_double({a})").weighs(3),
        same(COMPLEX, "pygpu_op::complex_log1p({a})").weighs(8)).uses(&[&LOGARITHM]),
    real!("sin" "Compute the sine of an angle in radians." "pygpu_op::sine({a})" 5 complex "sin({a})" 14),
    real!("cos" "Compute the cosine of an angle in radians." "pygpu_op::cosine({a})" 5 complex "cos({a})" 14),
    real!("tan" "Compute the tangent of an angle in radians." "pygpu_op::tangent({a})" [5 4 5] complex "tan({a})" 9),
    real!("arcsin" "Compute the inverse sine, in radians." "asin({a})" 2 complex "pygpu_op::complex_arcsin({a})" 16),
    real!("arccos" "Compute the inverse cosine, in radians." "acos({a})" 2 complex "pygpu_op::complex_arccos({a})" 16),
    real!("arctan" "Compute the inverse tangent, in radians." "atan({a})" 5 complex "pygpu_op::complex_arctan({a})" 14),
    real!("sinh" "Compute the hyperbolic sine." "sinh({a})" 3 complex "pygpu_op::complex_sinh({a})" 14),
    real!("cosh" "Compute the hyperbolic cosine." "cosh({a})" 2 complex "pygpu_op::complex_cosh({a})" 14),
    real!("tanh" "Compute the hyperbolic tangent." "tanh({a})" 2 complex "pygpu_op::complex_tanh({a})" 9),
    real!("arcsinh" "Compute the inverse hyperbolic sine." "asinh({a})" [13 4 8] complex "pygpu_op::complex_arcsinh({a})" 20),
    real!("arccosh" "Compute the inverse hyperbolic cosine." "acosh({a})" [6 4 6] complex "pygpu_op::complex_arccosh({a})" 16),
    real!("arctanh" "Compute the inverse hyperbolic tangent." "atanh({a})" 4 complex "pygpu_op::complex_arctanh({a})" 8),
    real!("fabs" "Compute the absolute value of real numbers, as floating-point numbers." "fabs({a})" 0),
    real!("rad2deg" "Convert radians to degrees." "{a} * ({T})57.29577951308232" 0),
    real!("deg2rad" "Convert degrees to radians." "{a} * ({T})0.017453292519943295" 0),
    real!("degrees" "Convert radians to degrees." "{a} * ({T})57.29577951308232" 0),
    real!("radians" "Convert degrees to radians." "{a} * ({T})0.017453292519943295" 0),
    row!("real" 1 "Return the real part." "";
        same(BOOL, "{a}"), same(INTEGERS, "{a}"), same(REAL, "{a}"), with(COMPLEX, Output::Real, "{a}.real()")).by(HostEvaluation::Steps),
    row!("imag" 1 "Return the imaginary part; 0 for real numbers." "";
        same(BOOL, "false"), same(INTEGERS, "0"), same(REAL, "0"), with(COMPLEX, Output::Real, "{a}.imag()")).by(HostEvaluation::Steps),
    row!("sinc" 1 "Compute sin(pi x) / (pi x); 1 at 0." SPECIAL;
        with(BOOL, Output::As(Float64), ""), with(INTEGERS, Output::As(Float64), ""), same(&[Float16, BFloat16], "pygpu_op::sinc<{T}>({a})").weighs(26),
        same(&[Float32], "pygpu_op::sinc<{T}>({a})").weighs(4), same(&[Float64], "pygpu_op::sinc<{T}>({a})").weighs(10),
        same(COMPLEX, "pygpu_op::complex_sinc({a})").weighs(24)).by(HostEvaluation::Steps),
    row!("i0" 1 "Compute the modified Bessel function of the first kind, of order 0." SPECIAL;
        with(BOOL, Output::As(Float64), ""), with(INTEGERS, Output::As(Float64), ""), same(REAL, "pygpu_op::i0<{T}>({a})").weighs(10)).by(HostEvaluation::Steps),
    real!("erf" "Compute the error function." "erf({a})" 2).by(HostEvaluation::Kernel),
    real!("erfc" "Compute 1 - erf(x), accurate where the result is small." "erfc({a})" 3).by(HostEvaluation::Kernel),
    real!("gamma" "Compute the gamma function; (x - 1)! for positive integers." "tgamma({a})" 13).by(HostEvaluation::Kernel),
    row!("lgamma" 1 "Compute the logarithm of the absolute value of the gamma function." "";
        same(HALF, "lgamma({a})").weighs(13), same(FLOAT, "lgamma({a})").weighs(5), same(DOUBLE, "lgamma({a})").weighs(8)).by(HostEvaluation::Kernel),
];

/// Entry of `where`. This entry and the following ones are not in [`TABLE`], because their functions have parameters
/// besides the arrays. `PyGPU` exposes them as separate functions.
pub static WHERE: UfuncEntry = row!("where" 3 "The second operand where the first is true, the third elsewhere." "";
    same(&ORDER, "{a} ? {b} : {c}"))
.fixed(0, Bool)
.by(HostEvaluation::Steps);
/// Entry of `clip`: the second and third operands are the lower and the upper limit.
pub static CLIP: UfuncEntry = row!("clip" 3 "The number, or the limit that it is beyond." ARITHMETIC;
    same(BOOL, "({a} || {b}) && {c}"), same(INTEGERS, "pygpu_op::clip<{T}>({a}, {b}, {c})"),
    same(REAL, "pygpu_op::clip<{T}>({a}, {b}, {c})"),
    same(COMPLEX, "pygpu_op::minimum(pygpu_op::maximum({a}, {b}), {c})"));
/// Rounding to decimals: the second operand is 10 to the power of the number of decimals.
pub static ROUND_BEHIND: UfuncEntry = row!("round_behind" 2 "Round to a number of decimal places." "";
    same(REAL, "rint({a} * {b}) / {b}"),
    same(COMPLEX, "{T}(rint({a}.real() * {b}.real()) / {b}.real(), rint({a}.imag() * {b}.real()) / {b}.real())"))
.by(HostEvaluation::Steps);
/// Rounding of integer digits: the second operand is 10 to the power of the number of digits before the decimal point
/// that become zero.
pub static ROUND_BEFORE: UfuncEntry = row!("round_before" 2 "Round to a multiple of a power of 10." "";
    same(INTEGERS, "({T})(rint((double){a} / (double){b}) * (double){b})"), same(REAL, "rint({a} / {b}) * {b}"),
    same(COMPLEX, "{T}(rint({a}.real() / {b}.real()) * {b}.real(), rint({a}.imag() / {b}.real()) * {b}.real())"))
.by(HostEvaluation::Steps);
/// The angle of a complex number, in radians.
pub static ANGLE: UfuncEntry = row!("angle" 1 "The angle of a complex number." ARITHMETIC;
    with(BOOL, Output::As(Float64), ""), same(REAL, "pygpu_op::angle({a})"), with(COMPLEX, Output::Real, "arg({a})"))
.by(HostEvaluation::Steps);
/// The angle of a complex number, in degrees.
pub static ANGLE_IN_DEGREES: UfuncEntry = row!("angle_in_degrees" 1 "The angle of a complex number." ARITHMETIC;
    with(BOOL, Output::As(Float64), ""), same(REAL, "pygpu_op::angle({a}) * ({T})57.29577951308232"), with(COMPLEX, Output::Real, "arg({a}) * 57.29577951308232"))
.by(HostEvaluation::Steps);
/// `nan_to_num`: the operands after the first replace NaN, positive infinity and negative infinity.
pub static NAN_TO_NUM: UfuncEntry = row!("nan_to_num" 4 "Finite numbers in place of NaN and the infinities." ARITHMETIC;
    same(REAL, "pygpu_op::finite<{T}>({a}, {b}, {c}, {d})"),
    same(COMPLEX, "{T}(pygpu_op::finite({a}.real(), {b}.real(), {c}.real(), {d}.real()), pygpu_op::finite({a}.imag(), {b}.real(), {c}.real(), {d}.real()))"))
.by(HostEvaluation::Steps);
/// The sum of two products: the first two operands form the first product, the last two operands the second product.
pub static WEIGHTED_SUM: UfuncEntry = row!("weighted_sum" 4 "The sum of two products." "";
    same(BOOL, "({a} && {b}) || ({c} && {d})"), same(INTEGERS, "({U}){a} * ({U}){b} + ({U}){c} * ({U}){d}"), same(REAL, "{a} * {b} + {c} * {d}"),
    same(COMPLEX, "{a} * {b} + {c} * {d}"))
.by(HostEvaluation::Steps);
