//! The fewest axes that say where the elements of one or several layouts of equal shape lie.
//!
//! For whoever visits all elements and does not care in which order: copies, kernels, comparisons.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::{Layout, errors};
use crate::error::Result;

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

/// What [`collapse`] leaves of `N` layouts.
///
/// No axis has length 1; no axes at all means one element. No elements: one axis of length 0. The strides of the
/// first layout are never negative and fall from the outermost axis to the innermost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Collapsed<const N: usize> {
    /// The axes that are left, outermost first.
    pub axes: SharedAxes<N>,
    /// Byte offset of the first element in each layout.
    pub offsets: [i64; N],
}

impl<const N: usize> Collapsed<N> {
    /// Number of elements.
    pub fn size(&self) -> i64 {
        self.axes.iter().map(|axis| axis.len).product()
    }
}

/// Drops, turns, sorts and merges axes, the first layout (the one that is written) taking precedence.
///
/// Elements that share an index before share one after, but the order in which they are met changes. Itemsizes may
/// differ.
pub fn collapse<const N: usize>(layouts: [&Layout; N]) -> Result<Collapsed<N>> {
    const { assert!(N > 0) };
    for other in &layouts[1..] {
        if !other.shape().eq(layouts[0].shape()) {
            return Err(errors::shapes_differ(layouts[0], other));
        }
    }
    let mut collapsed = Collapsed { axes: SharedAxes::new(), offsets: layouts.map(Layout::offset) };
    if layouts[0].is_empty() {
        collapsed.axes.push(SharedAxis { len: 0, strides: [0; N] });
        return Ok(collapsed);
    }
    for place in 0..layouts[0].ndim() {
        let len = layouts[0].axes[place].len;
        if len != 1 {
            let mut axis = SharedAxis { len, strides: layouts.map(|layout| layout.axes[place].stride) };
            turn(&mut axis, &mut collapsed.offsets);
            insert(&mut collapsed.axes, axis);
        }
    }
    merge(&mut collapsed.axes);
    Ok(collapsed)
}

/// Walks an axis from its other end if the first layout that moves along it moves down.
fn turn<const N: usize>(axis: &mut SharedAxis<N>, offsets: &mut [i64; N]) {
    if axis.strides.iter().find(|stride| **stride != 0).is_some_and(|stride| *stride < 0) {
        for (stride, offset) in axis.strides.iter_mut().zip(offsets) {
            // Fits: the length is at least 2, and the reach of an axis fits in both directions.
            *offset += (axis.len - 1) * *stride;
            *stride = -*stride;
        }
    }
}

/// Puts an axis before those of smaller strides; axes of equal strides keep their order.
fn insert<const N: usize>(axes: &mut SharedAxes<N>, axis: SharedAxis<N>) {
    let place = axes.iter().rposition(|before| by_stride(before, &axis).is_ge()).map_or(0, |before| before + 1);
    axes.insert(place, axis);
}

fn by_stride<const N: usize>(a: &SharedAxis<N>, b: &SharedAxis<N>) -> Ordering {
    a.strides.iter().map(|stride| stride.unsigned_abs()).cmp(b.strides.iter().map(|stride| stride.unsigned_abs()))
}

/// Joins neighbours that in every layout are one even run.
fn merge<const N: usize>(axes: &mut SharedAxes<N>) {
    axes.dedup_by(|inner, outer| {
        let even = |(&outer, &stride): (&i64, &i64)| inner.len.checked_mul(stride) == Some(outer);
        let joined = outer.strides.iter().zip(&inner.strides).all(even);
        if joined {
            // The product is at most the number of elements.
            *outer = SharedAxis { len: outer.len * inner.len, strides: inner.strides };
        }
        joined
    });
}

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
    pub fn of(dst: &Layout, src: &Layout) -> Result<Self> {
        if dst.itemsize != src.itemsize {
            return Err(errors::itemsizes_differ(dst.itemsize, src.itemsize));
        }
        let Collapsed { mut axes, offsets: [dst_offset, src_offset] } = collapse([dst, src])?;
        let mut width = dst.itemsize;
        if let Some(inner) = axes.last().copied().filter(|axis| axis.strides == [width; 2]) {
            width *= inner.len;
            axes.pop();
        }
        Ok(Self { axes, dst: dst_offset, src: src_offset, width })
    }
}
