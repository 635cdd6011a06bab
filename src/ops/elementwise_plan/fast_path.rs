//! Plans calls on a fast path, for dense, aligned arrays of one shape, without overlap between written arrays and
//! others.
//!
//! The kernels of such calls take little time. Checking for each feature that these calls do not use would cost as much
//! host time as the driver's launch.

use smallvec::SmallVec;

use super::super::user_source_analysis::Analysis;
use super::vectorize::{APART, BYTES, side_by_side};
use super::{AccessPattern, ElementOperand, ElementPlan, PackLayout};
use pygpu_array::Array;
use pygpu_layout::LoopNest;
use pygpu_memory::Access;

/// Plans a call if all arrays qualify for the fast path; otherwise returns `None`. The path for arrays of any layout
/// would return the same plan.
#[inline]
pub(super) fn plan(analysis: &Analysis, arrays: &[&Array]) -> Option<ElementPlan> {
    let first = arrays.first()?.layout();
    let size = first.size();
    if !analysis.is_plain || !first.is_c_contiguous() || size == 0 {
        return None;
    }
    let mut plan = ElementPlan::over(LoopNest::flat(size));
    let (mut smallest, mut largest) = (BYTES, 1);
    let mut spans: SmallVec<[(usize, usize, Access); 6]> = SmallVec::new();
    for (vector, array) in analysis.vectors.iter().zip(arrays) {
        let layout = array.layout();
        let is_like_first = layout.itemsize() == first.itemsize() && layout.axes() == first.axes();
        let is_dense = is_like_first || (layout.shape().eq(first.shape()) && layout.is_c_contiguous());
        if !is_dense || array.dtype().kind() != vector.kind {
            return None;
        }
        let address = array.allocation().address().wrapping_add_signed(layout.offset() as isize);
        let itemsize = layout.itemsize() as usize;
        let end = address + size as usize * itemsize;
        let meets = |&(other, other_end, access): &(usize, usize, Access)| {
            address < other_end && other < end && vector.access.max(access) == Access::Write
        };
        if !address.is_multiple_of(BYTES) || spans.iter().any(meets) {
            return None;
        }
        spans.push((address, end, vector.access));
        plan.operands.push(ElementOperand { address, form: AccessPattern::Contiguous, side: 0 });
        largest = largest.max(itemsize);
        if vector.access == Access::Write {
            smallest = smallest.min(itemsize);
        }
    }
    let pack = if largest < BYTES { side_by_side(smallest, largest) as u8 } else { APART };
    (plan.pack, plan.way) = match size < i64::from(pack) {
        true => (1, PackLayout::Contiguous),
        false => (pack, if largest < BYTES { PackLayout::Contiguous } else { PackLayout::BlockStrided }),
    };
    plan.choose_packs(analysis, arrays[0].device());
    Some(plan)
}

#[cfg(test)]
mod tests;
