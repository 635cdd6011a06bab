//! Decomposes a pair of arrays into pieces of equal size that are contiguous in both arrays. A copy moves the pieces
//! one after the other.

use smallvec::SmallVec;

use super::paired;
use crate::{Layout, errors};
use pygpu_base::error::Result;

/// An axis that `N` layouts share: a common length, and the stride in each layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedAxis<const N: usize> {
    /// Number of elements along the axis.
    pub len: i64,
    /// Distance between consecutive elements in each layout, in bytes; may be negative.
    pub strides: [i64; N],
}

/// The axes that several layouts share, outermost first.
pub type SharedAxes<const N: usize> = SmallVec<[SharedAxis<N>; 8]>;

/// A pair of layouts, described as pieces that are contiguous in both, and the axes along which the pieces repeat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContiguousRuns {
    /// Axes along which the contiguous pieces repeat, outermost first. An axis has two strides, first for the
    /// destination and then for the source.
    pub axes: SharedAxes<2>,
    /// Byte offset of the first contiguous piece in the destination.
    pub dst: i64,
    /// Byte offset of the first contiguous piece in the source.
    pub src: i64,
    /// Number of bytes in a piece: one element, or several that are contiguous in both layouts.
    pub width: i64,
}

impl ContiguousRuns {
    /// Decomposes two layouts of equal shape and itemsize into pieces that are contiguous in both layouts.
    ///
    /// # Errors
    /// `ValueError` for different shapes or itemsizes.
    pub fn of(dst: &Layout, src: &Layout) -> Result<Self> {
        if dst.itemsize != src.itemsize {
            return Err(errors::itemsizes_differ(dst.itemsize, src.itemsize));
        }
        // Shortcut for the most common copy: between contiguous layouts with equal axes. It needs no loop nest.
        if dst.axes == src.axes && dst.size() > 0 && (dst.is_c_contiguous() || dst.is_f_contiguous()) {
            return Ok(Self { axes: SharedAxes::new(), dst: dst.offset, src: src.offset, width: dst.nbytes() });
        }
        let (mut axes, [dst_offset, src_offset]) = paired(dst, src)?;
        let mut width = dst.itemsize;
        if let Some(inner) = axes.last().copied().filter(|axis| axis.strides == [width; 2]) {
            width *= inner.len;
            axes.pop();
        }
        Ok(Self { axes, dst: dst_offset, src: src_offset, width })
    }
}
