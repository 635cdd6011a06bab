//! Promotion: which loop serves operands of which kinds (NEP 50).
//!
//! A kind is strong, that of an array or a NumPy scalar, or weak, that of a number of Python's: a weak one takes the kind of the strong
//! ones where it can stand for it. Then the first loop is taken to which all operands can be cast without loss.

use super::table::{Output, Row};
use crate::dtype::Kind::{self, *};

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// Of an array or a NumPy scalar.
    Strong(Kind),
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

fn class(kind: Kind) -> Option<Class> {
    match kind {
        Bool => Some(Class::Bool),
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Some(Class::Integer),
        Float16 | BFloat16 | Float32 | Float64 => Some(Class::Real),
        Complex64 | Complex128 => Some(Class::Complex),
        _ => None,
    }
}

fn is_signed(kind: Kind) -> bool {
    matches!(kind, Int8 | Int16 | Int32 | Int64)
}

/// Bits of a whole number.
fn bits(kind: Kind) -> u32 {
    match kind {
        Int8 | UInt8 => 8,
        Int16 | UInt16 => 16,
        Int32 | UInt32 => 32,
        _ => 64,
    }
}

/// Up to how many bits whole numbers are cast to a kind of real ones without being asked for, as NumPy has it: float64 counts as
/// wide enough for 64.
fn reach(kind: Kind) -> u32 {
    match kind {
        Float16 | BFloat16 => 8,
        Float32 | Complex64 => 16,
        _ => 64,
    }
}

/// Whether every value of `from` has one in `to` that NumPy counts as the same: `numpy.can_cast(from, to)`.
pub fn can_cast(from: Kind, to: Kind) -> bool {
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

/// Whether a result may be written into an array of another kind, as NumPy's `same_kind` has it.
pub fn can_cast_same_kind(from: Kind, to: Kind) -> bool {
    if can_cast(from, to) {
        return true;
    }
    match (class(from), class(to)) {
        (Some(Class::Integer), Some(Class::Integer)) => !is_signed(from) || is_signed(to),
        (Some(low), Some(high)) => low < high || (low == high && low != Class::Bool),
        _ => false,
    }
}

/// The kind of an operand beside the strong ones.
fn weak(operand: Operand, strong: &[Kind]) -> Kind {
    let highest = strong.iter().copied().max_by_key(|kind| class(*kind));
    let class = highest.and_then(class);
    match (operand, highest, class) {
        (Operand::Strong(kind), ..) => kind,
        (Operand::Int, Some(kind), Some(Class::Integer | Class::Real | Class::Complex)) => kind,
        (Operand::Int, ..) => Int64,
        (Operand::Float, Some(kind), Some(Class::Real | Class::Complex)) => kind,
        (Operand::Float, ..) => Float64,
        (Operand::Complex, Some(kind), Some(Class::Complex)) => kind,
        (Operand::Complex, Some(Float16 | BFloat16 | Float32), _) => Complex64,
        (Operand::Complex, ..) => Complex128,
    }
}

/// The kind of the loop of a function that computes with these operands; `None` where there is no such loop.
pub fn resolve(row: &Row, operands: &[Operand]) -> Option<Kind> {
    let mut strong: smallvec::SmallVec<[Kind; 3]> = smallvec::SmallVec::new();
    for operand in operands {
        if let Operand::Strong(kind) = operand {
            strong.push(*kind);
        }
    }
    let found = row.kinds().find(|kind| operands.iter().all(|operand| can_cast(weak(*operand, &strong), *kind)))?;
    match row.group(found)?.output {
        Output::As(kind) => Some(kind),
        _ => Some(found),
    }
}
