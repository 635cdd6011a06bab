//! Checks whether layouts in one memory block overlap. The checks may report an overlap that does not exist, which
//! costs a temporary copy. They never miss an overlap.

use super::{ContiguousRuns, Layout};

/// Returns whether two layouts in the same memory block may share a byte.
///
/// `false` is always correct. `true` can be wrong for layouts with interleaved elements. The function compares the
/// extents of the layouts, and then the positions of their elements modulo the greatest common divisor of all strides.
/// (The second comparison separates even from odd elements, and left from right halves of rows.) An exact answer would
/// solve an NP-hard problem. NumPy searches for the exact answer with a bounded effort; here the search is not worth
/// its cost. A layout overlaps itself, yet `a[...] = a` is safe, because code that copies element to element first
/// checks whether the layouts are equal.
pub fn overlap(a: &Layout, b: &Layout) -> bool {
    let (Some((a_low, a_high)), Some((b_low, b_high))) = (a.extent(), b.extent()) else { return false };
    a_low < b_high && b_low < a_high && !apart_in_every_period(a, b)
}

/// Returns whether the contiguous pieces of both layouts occupy disjoint parts of every period. The period is the
/// greatest common divisor of all strides.
fn apart_in_every_period(a: &Layout, b: &Layout) -> bool {
    let (Ok(a), Ok(b)) = (ContiguousRuns::of(a, a), ContiguousRuns::of(b, b)) else { return false };
    let strides = a.axes.iter().chain(&b.axes).map(|axis| axis.strides[0]);
    let period = strides.fold(0, greatest_common_divisor);
    let Some(distance) = b.dst.checked_sub(a.dst) else { return false };
    if period == 0 {
        return false;
    }
    let start = distance.rem_euclid(period);
    // Relative to the start of a piece of `a`, the piece of `b` in the same period begins at `start`.
    start >= a.width && period - start >= b.width
}

/// Returns the greatest common divisor of two numbers, both of which must be at least 0.
const fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Layout {
    /// Returns whether elements of two different indices may share a byte, as along an axis of stride 0. The result of
    /// writing into such a layout is ambiguous.
    ///
    /// `false` is always correct. `true` is wrong for a few layouts whose axes interleave without overlapping.
    pub fn has_internal_overlap(&self) -> bool {
        let Ok(pieces) = ContiguousRuns::of(self, self) else { return true };
        if pieces.axes.iter().any(|axis| axis.len == 0) {
            return false;
        }
        let mut reach = pieces.width;
        pieces.axes.iter().rev().any(|axis| {
            let [stride, _] = axis.strides;
            let meets = stride < reach;
            // The sum cannot overflow, because it is at most the extent of the layout.
            reach += (axis.len - 1) * stride;
            meets
        })
    }
}
