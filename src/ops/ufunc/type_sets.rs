//! Sets of element types.

use pygpu_base::dtype::ScalarType::{self, *};

/// Element types in the order in which NumPy tries a function's loops, i.e. its implementations for single types.
pub const ORDER: [ScalarType; 15] = [
    Bool, Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float16, BFloat16, Float32, Float64, Complex64,
    Complex128,
];

/// A set of types. It has one bit per type, because every call needs several membership tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeSet(u32);

impl TypeSet {
    /// The set of all types for which functions may have loops, i.e. implementations.
    pub const ALL: Self = Self::of(&ORDER);

    /// Returns the set of the types in a list.
    pub const fn of(list: &[ScalarType]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < list.len() {
            bits |= 1 << list[at] as u32;
            at += 1;
        }
        Self(bits)
    }

    /// Returns the union of two sets of types.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a type is in the set.
    #[inline]
    pub const fn contains(self, kind: ScalarType) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }
}
