//! A pair of arrays as equal pieces of adjacent bytes: what copies move.

use smallvec::SmallVec;

use super::paired;
use crate::{Layout, errors};
use pygpu_base::error::Result;

/// One axis that `N` layouts share: a common length, and the stride in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedAxis<const N: usize> {
    /// Number of elements along the axis.
    pub len: i64,
    /// Signed distance between neighbours in each layout, in bytes.
    pub strides: [i64; N],
}

/// Shared axes, outermost first.
pub type SharedAxes<const N: usize> = SmallVec<[SharedAxis<N>; 8]>;

/// A pair of layouts as equal pieces of adjacent bytes, and the axes along which these repeat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pieces {
    /// The axes along which pieces repeat, outermost first; strides in the order (written, read).
    pub axes: SharedAxes<2>,
    /// Byte offset of the first piece in the layout that is written.
    pub dst: i64,
    /// Byte offset of the first piece in the layout that is read.
    pub src: i64,
    /// Bytes of a piece: one element, or as many as lie side by side in both.
    pub width: i64,
}

impl Pieces {
    /// Of two layouts of equal shape and itemsize.
    ///
    /// # Errors
    /// `ValueError` for others.
    pub fn of(dst: &Layout, src: &Layout) -> Result<Self> {
        if dst.itemsize != src.itemsize {
            return Err(errors::itemsizes_differ(dst.itemsize, src.itemsize));
        }
        // What most copies are needs no plan.
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
