//! Whether layouts of one allocation share bytes. A wrong "yes" costs a temporary copy; there is no wrong "no".

use super::{Layout, Pieces};

/// Whether two layouts of the same allocation may share a byte.
///
/// "No" is certain. "Yes" is wrong where elements interleave in a way that neither their extents nor their positions
/// modulo the common divisor of all strides tell apart; the latter sees odd and even elements, and left and right
/// halves of rows. An exact answer would solve an NP-hard problem (NumPy bounds that search; here it is not worth it).
/// That a layout overlaps itself does not make `a[...] = a` unsafe: who copies element to element compares first.
pub fn overlap(a: &Layout, b: &Layout) -> bool {
    let (Some((a_low, a_high)), Some((b_low, b_high))) = (a.extent(), b.extent()) else { return false };
    a_low < b_high && b_low < a_high && !apart_in_every_period(a, b)
}

/// Whether the pieces of both keep to separate parts of every period, the greatest common divisor of all strides.
fn apart_in_every_period(a: &Layout, b: &Layout) -> bool {
    let (Ok(a), Ok(b)) = (Pieces::of(a, a), Pieces::of(b, b)) else { return false };
    let strides = a.axes.iter().chain(&b.axes).map(|axis| axis.strides[0]);
    let period = strides.fold(0, greatest_common_divisor);
    let Some(distance) = b.dst.checked_sub(a.dst) else { return false };
    if period == 0 {
        return false;
    }
    let start = distance.rem_euclid(period);
    // The pieces of `a` take up the first part of a period, those of `b` begin at `start`.
    start >= a.width && period - start >= b.width
}

/// Both at least 0.
const fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Layout {
    /// Whether two indices may name the same byte, as along an axis of stride 0, so that writing is ambiguous.
    ///
    /// "No" is certain; "yes" is wrong for a few layouts whose axes interleave without meeting.
    pub fn has_internal_overlap(&self) -> bool {
        let Ok(pieces) = Pieces::of(self, self) else { return true };
        if pieces.axes.iter().any(|axis| axis.len == 0) {
            return false;
        }
        let mut reach = pieces.width;
        pieces.axes.iter().rev().any(|axis| {
            let [stride, _] = axis.strides;
            let meets = stride < reach;
            // At most the whole extent.
            reach += (axis.len - 1) * stride;
            meets
        })
    }
}
