//! Implements type promotion, which selects the type in which a function is computed for the types of its operands (NEP
//! 50). As in NumPy, the implementation for one type is called a loop.
//!
//! A type is strong (array or NumPy scalar) or weak (Python scalar). A weak operand gets the strong operands' type if
//! this type can represent the operand. Then the first loop is selected to which all operands can be cast safely.

use smallvec::SmallVec;

use super::ufunc_table::{Output, UfuncEntry, UfuncGroup};
use pygpu_base::dtype::ScalarType::{self, *};

/// Type of an operand, with the distinctions that type promotion needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromotionOperand {
    /// The type of an array or a NumPy scalar.
    Strong(ScalarType),
    /// A Python `int`.
    Int,
    /// A Python `float`.
    Float,
    /// A Python `complex`.
    Complex,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Bool,
    Integer,
    Real,
    Complex,
}

fn class(kind: ScalarType) -> Option<Class> {
    match kind {
        Bool => Some(Class::Bool),
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Some(Class::Integer),
        Float16 | BFloat16 | Float32 | Float64 => Some(Class::Real),
        Complex64 | Complex128 => Some(Class::Complex),
        _ => None,
    }
}

fn is_signed(kind: ScalarType) -> bool {
    matches!(kind, Int8 | Int16 | Int32 | Int64)
}

/// Returns the number of bits of an integer type.
fn bits(kind: ScalarType) -> u32 {
    match kind {
        Int8 | UInt8 => 8,
        Int16 | UInt16 => 16,
        Int32 | UInt32 => 32,
        _ => 64,
    }
}

/// Returns the maximum width in bits of integers that NumPy implicitly casts to a real type. For float64 it is 64.
fn reach(kind: ScalarType) -> u32 {
    match kind {
        Float16 | BFloat16 => 8,
        Float32 | Complex64 => 16,
        _ => 64,
    }
}

/// Whether NumPy considers a cast safe: `numpy.can_cast(from, to)`.
pub fn can_cast(from: ScalarType, to: ScalarType) -> bool {
    let (Some(low), Some(high)) = (class(from), class(to)) else { return from == to };
    match (low, high) {
        _ if from == to => true,
        (Class::Bool, _) => true,
        (Class::Integer, Class::Integer) => match (is_signed(from), is_signed(to)) {
            (false, true) => bits(from) < bits(to),
            (true, false) => false,
            _ => bits(from) <= bits(to),
        },
        (Class::Integer, Class::Real | Class::Complex) => bits(from) <= reach(to),
        (Class::Real, Class::Real) => match from {
            Float16 | BFloat16 => matches!(to, Float32 | Float64),
            Float32 => to == Float64,
            _ => false,
        },
        (Class::Real, Class::Complex) => from != Float64 || to == Complex128,
        (Class::Complex, Class::Complex) => from == Complex64,
        _ => false,
    }
}

/// Whether NumPy's `same_kind` rule allows storing a result of type `from` in an array of type `to`.
pub fn can_cast_same_kind(from: ScalarType, to: ScalarType) -> bool {
    if from == to || can_cast(from, to) {
        return true;
    }
    match (class(from), class(to)) {
        (Some(Class::Integer), Some(Class::Integer)) => !is_signed(from) || is_signed(to),
        (Some(low), Some(high)) => low < high || (low == high && low != Class::Bool),
        _ => false,
    }
}

/// NumPy's casting rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Casting {
    /// No cast is allowed.
    No,
    /// Allows only changes of the byte order. PyGPU's arrays always have the native byte order, so this rule allows no
    /// cast.
    Equiv,
    /// Allows only casts that preserve every value.
    Safe,
    /// Allows safe casts, and casts within a kind, such as float64 to float32.
    #[default]
    SameKind,
    /// Any cast.
    Unsafe,
}

impl Casting {
    /// All casting rules, each with its name in NumPy.
    pub const ALL: [(&'static str, Self); 5] = [
        ("no", Self::No),
        ("equiv", Self::Equiv),
        ("safe", Self::Safe),
        ("same_kind", Self::SameKind),
        ("unsafe", Self::Unsafe),
    ];

    /// Returns the rule's name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Whether the rule allows a cast.
    #[inline]
    pub fn allows(self, from: ScalarType, to: ScalarType) -> bool {
        from == to
            || match self {
                Self::No | Self::Equiv => false,
                Self::Safe => can_cast(from, to),
                Self::SameKind => can_cast_same_kind(from, to),
                Self::Unsafe => true,
            }
    }
}

/// Returns the type that an operand gets if `strong` contains the types of the strong operands.
fn weak(operand: PromotionOperand, strong: &[ScalarType]) -> ScalarType {
    let highest = strong.iter().copied().max_by_key(|kind| class(*kind));
    let class = highest.and_then(class);
    match (operand, highest, class) {
        (PromotionOperand::Strong(kind), ..) => kind,
        (PromotionOperand::Int, Some(kind), Some(Class::Integer | Class::Real | Class::Complex)) => kind,
        (PromotionOperand::Int, ..) => Int64,
        (PromotionOperand::Float, Some(kind), Some(Class::Real | Class::Complex)) => kind,
        (PromotionOperand::Float, ..) => Float64,
        (PromotionOperand::Complex, Some(kind), Some(Class::Complex)) => kind,
        (PromotionOperand::Complex, Some(Float16 | BFloat16 | Float32), _) => Complex64,
        (PromotionOperand::Complex, ..) => Complex128,
    }
}

/// Returns the types of the operands that determine the loop. The type of a weak operand is the one that it gets from
/// the strong operands.
fn deciding(row: &UfuncEntry, operands: &[PromotionOperand]) -> SmallVec<[ScalarType; 4]> {
    let deciding = || {
        let is_deciding = |place: usize| row.fixed.is_none_or(|(fixed, _)| fixed != place);
        operands.iter().enumerate().filter(move |(place, _)| is_deciding(*place)).map(|(_, operand)| *operand)
    };
    let mut strong: SmallVec<[ScalarType; 4]> = SmallVec::new();
    for operand in deciding() {
        if let PromotionOperand::Strong(kind) = operand {
            strong.push(kind);
        }
    }
    // NumPy's `ldexp` accepts exponents of any integer type. For these exponents, a Python integer as the first operand
    // selects the loop that a bool would select.
    let has_exponents = row
        .fixed
        .is_some_and(|(place, kind)| kind == Int64 && !matches!(operands[place], PromotionOperand::Strong(Bool)));
    let mut kinds = SmallVec::new();
    for operand in deciding() {
        kinds.push(if has_exponents && operand == PromotionOperand::Int { Bool } else { weak(operand, &strong) });
    }
    kinds
}

/// Returns whether a call passes an acceptable type for the operand that has a fixed type in the function's table
/// entry. Always true for functions without such an operand. The condition of `where` may have any type, because only
/// its truth value matters.
#[inline]
fn fits(row: &UfuncEntry, operands: &[PromotionOperand]) -> bool {
    let Some((place, kind)) = row.fixed else { return true };
    match operands[place] {
        PromotionOperand::Strong(operand_kind) => kind == Bool || can_cast(operand_kind, kind),
        PromotionOperand::Int => true,
        PromotionOperand::Float | PromotionOperand::Complex => kind == Bool,
    }
}

/// Returns the type in which the selected loop computes.
#[inline]
fn computing(row: &UfuncEntry, found: ScalarType) -> Option<ScalarType> {
    computed_by(row.group(found)?, found)
}

#[inline]
fn computed_by(group: &UfuncGroup, found: ScalarType) -> Option<ScalarType> {
    match group.output {
        Output::As(kind) => Some(kind),
        Output::Refused => None,
        _ => Some(found),
    }
}

/// Returns the common type of the operands that determine the loop. Returns `None` unless all strong operands have this
/// type and the weak operands can get it.
#[inline]
fn common(row: &UfuncEntry, operands: &[PromotionOperand]) -> Option<ScalarType> {
    let (mut common, mut least) = (None, None);
    for (place, operand) in operands.iter().enumerate() {
        match (*operand, common) {
            _ if row.fixed.is_some_and(|(fixed, _)| fixed == place) => {}
            (PromotionOperand::Strong(kind), None) => common = Some(kind),
            (PromotionOperand::Strong(kind), Some(first)) if kind == first => {}
            (PromotionOperand::Int, _) if row.fixed.is_none() => least = least.max(Some(Class::Integer)),
            (PromotionOperand::Float, _) if row.fixed.is_none() => least = least.max(Some(Class::Real)),
            _ => return None,
        }
    }
    common.filter(|kind| least.is_none() || class(*kind) >= least)
}

/// Selects the loop for some operands and returns its type; `None` if no loop is suitable.
#[inline]
pub fn resolve(row: &UfuncEntry, operands: &[PromotionOperand]) -> Option<ScalarType> {
    if !fits(row, operands) {
        return None;
    }
    // The most common case is handled first: all operands have one type, for which the function has a loop.
    if let Some(kind) = common(row, operands)
        && let Some(group) = row.group(kind)
    {
        return computed_by(group, kind);
    }
    let kinds = deciding(row, operands);
    // The loop for a type precedes all other loops that accept the type.
    if let [first, rest @ ..] = kinds.as_slice()
        && rest.iter().all(|kind| kind == first)
        && let Some(group) = row.group(*first)
    {
        return computed_by(group, *first);
    }
    let found = row.kinds().find(|kind| kinds.iter().all(|operand_kind| can_cast(*operand_kind, *kind)))?;
    computing(row, found)
}

/// Selects a loop among the loops with the result type `result`, and returns the loop's type. Selects the first loop to
/// whose type all operands can be cast safely; if there is no such loop, the first loop with this result type.
pub fn resolve_to(row: &UfuncEntry, operands: &[PromotionOperand], result: ScalarType) -> Option<ScalarType> {
    if !fits(row, operands) {
        return None;
    }
    let kinds = deciding(row, operands);
    let gives_result =
        |kind: &ScalarType| computing(row, *kind) == Some(*kind) && row.results(*kind).iter().all(|one| *one == result);
    let loops = || row.kinds().filter(gives_result);
    loops().find(|kind| kinds.iter().all(|operand_kind| can_cast(*operand_kind, *kind))).or_else(|| loops().next())
}
