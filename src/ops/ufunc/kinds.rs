//! Sets of element types.

use super::table::ORDER;
use pygpu_base::dtype::ScalarType;

/// A set of types. It has one bit per type, because every call needs several membership tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kinds(u32);

impl Kinds {
    /// All types with loops.
    pub const ALL: Self = Self::of(&ORDER);

    /// The types of a list.
    pub const fn of(list: &[ScalarType]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < list.len() {
            bits |= 1 << list[at] as u32;
            at += 1;
        }
        Self(bits)
    }

    /// Whether a type is in the set.
    #[inline]
    pub const fn contains(self, kind: ScalarType) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }
}
