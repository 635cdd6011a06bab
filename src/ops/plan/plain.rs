//! The plan of most calls: dense arrays of one shape, aligned, of which none that is written meets another.
//!
//! Why apart: such a call is short, and to ask one by one for what it has not costs as much as the driver's launch.

use smallvec::SmallVec;

use super::super::argument::Argument;
use super::super::text::{Analysis, Written};
use super::Way;
use super::way::{APART, BYTES, side_by_side};
use crate::array::Array;
use crate::dtype::Kind;

/// How many elements are dealt with at once, and how these lie, where all arrays are plain; `None`: the general way has to say.
/// It says the same of these.
#[inline]
pub(super) fn pack(arguments: &[Argument], analysis: &Analysis, arrays: &[&Array]) -> Option<(u8, Way)> {
    let first = arrays.first()?.layout();
    if !analysis.in_packs || !first.is_c_contiguous() {
        return None;
    }
    let size = first.size();
    let (mut smallest, mut largest) = (BYTES, 1);
    let mut spans: SmallVec<[(usize, usize, bool); 6]> = SmallVec::new();
    let vectors = arguments.iter().zip(&analysis.usages).filter_map(|(argument, usage)| Some((argument, (*usage)?)));
    for ((argument, usage), array) in vectors.zip(arrays) {
        let (layout, kind) = (array.layout(), array.dtype().kind());
        if !usage.is_pointwise() || kind == Kind::Opaque || kind != argument.dtype.kind() {
            return None;
        }
        if !layout.shape().eq(first.shape()) || !layout.is_c_contiguous() {
            return None;
        }
        let (address, itemsize) = (array.address(), array.dtype().itemsize());
        let end = address + size as usize * itemsize;
        let is_written = usage.written > Written::No;
        let meets = |&(other, other_end, is_other_written): &(usize, usize, bool)| {
            (is_written || is_other_written) && address < other_end && other < end
        };
        if !address.is_multiple_of(BYTES) || spans.iter().any(meets) {
            return None;
        }
        spans.push((address, end, is_written));
        largest = largest.max(itemsize);
        if is_written {
            smallest = smallest.min(itemsize);
        }
    }
    let pack = if largest < BYTES { side_by_side(smallest, largest) as u8 } else { APART };
    Some(match size < i64::from(pack) {
        true => (1, Way::Neighbours),
        false => (pack, if largest < BYTES { Way::Neighbours } else { Way::Spread }),
    })
}

#[cfg(test)]
mod tests;
