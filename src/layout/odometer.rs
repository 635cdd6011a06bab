//! Iterates over the byte offsets of one or two layouts, for copies on the host. The indices advance like the digits of
//! an odometer.

use smallvec::SmallVec;

use super::{ContiguousRuns, Dims, Layout, SharedAxis};
use pygpu_base::error::Result;

/// Iterates over the byte offsets of all index combinations along some axes, last axis fastest.
#[derive(Clone, Debug)]
pub struct Odometer<'a, const N: usize> {
    axes: &'a [SharedAxis<N>],
    indices: Dims,
    offsets: [i64; N],
    left: i64,
}

impl<'a, const N: usize> Odometer<'a, N> {
    /// Creates an iterator over byte offsets. Its first item is `offsets`, the byte offsets of the first element.
    pub fn new(axes: &'a [SharedAxis<N>], offsets: [i64; N]) -> Self {
        let left = axes.iter().map(|axis| axis.len).product();
        Self { axes, indices: SmallVec::from_elem(0, axes.len()), offsets, left }
    }

    fn advance(&mut self) {
        for (axis, index) in self.axes.iter().zip(&mut self.indices).rev() {
            let wrapped = *index + 1 == axis.len;
            let steps = if wrapped { -*index } else { 1 };
            *index += steps;
            for (offset, stride) in self.offsets.iter_mut().zip(axis.strides) {
                *offset += steps * stride;
            }
            if !wrapped {
                return;
            }
        }
    }
}

impl<const N: usize> Iterator for Odometer<'_, N> {
    type Item = [i64; N];

    #[inline]
    fn next(&mut self) -> Option<[i64; N]> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let found = self.offsets;
        if self.left > 0 {
            self.advance();
        }
        Some(found)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<const N: usize> ExactSizeIterator for Odometer<'_, N> {}

/// A row of equally spaced pieces of equal size, each contiguous in both layouts: the inner loop of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Byte offset of the first piece in the destination.
    pub dst: i64,
    /// Byte offset of the first piece in the source.
    pub src: i64,
    /// Number of contiguous pieces in the row.
    pub count: i64,
    /// Distance between pieces in the destination, in bytes.
    pub dst_stride: i64,
    /// Distance between pieces in the source, in bytes; may be zero or negative.
    pub src_stride: i64,
    /// Number of bytes in a piece: one element, or several that are contiguous in both layouts.
    pub width: i64,
}

/// Calls `visit(dst_offset, src_offset, bytes)` for every range that is contiguous in both layouts.
pub fn for_each_run(dst: &Layout, src: &Layout, mut visit: impl FnMut(i64, i64, i64)) -> Result<()> {
    let pieces = ContiguousRuns::of(dst, src)?;
    for [dst, src] in Odometer::new(&pieces.axes, [pieces.dst, pieces.src]) {
        visit(dst, src, pieces.width);
    }
    Ok(())
}

/// Calls `visit` with a [`Line`] for every row of contiguous ranges along the innermost axis. Unlike in
/// [`for_each_run`], `visit` can choose its copy loop once for all ranges of a row.
pub fn for_each_line(dst: &Layout, src: &Layout, visit: impl FnMut(Line)) -> Result<()> {
    for_each_line_of(&ContiguousRuns::of(dst, src)?, visit);
    Ok(())
}

/// Calls `visit` like [`for_each_line`], for a caller that has already decomposed the layouts into contiguous pieces.
pub fn for_each_line_of(pieces: &ContiguousRuns, mut visit: impl FnMut(Line)) {
    let width = pieces.width;
    match pieces.axes.split_last() {
        None => visit(Line { dst: pieces.dst, src: pieces.src, count: 1, dst_stride: width, src_stride: width, width }),
        Some((inner, outer)) => {
            let [dst_stride, src_stride] = inner.strides;
            for [dst, src] in Odometer::new(outer, [pieces.dst, pieces.src]) {
                visit(Line { dst, src, count: inner.len, dst_stride, src_stride, width });
            }
        }
    }
}
