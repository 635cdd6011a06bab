//! Classifies a copy between two layouts: one contiguous block, evenly spaced rows, or several groups of such rows.

use super::{ContiguousRuns, Layout, Odometer, SharedAxes, SharedAxis};
use pygpu_base::error::Result;

/// The byte ranges of a copy, in the largest units that a copy engine supports. Offsets are relative to the start of
/// the memory blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CopyBlocks {
    /// The copy is one contiguous range, which is empty if `bytes` is 0.
    One {
        /// Byte offset of the range in the destination.
        dst: i64,
        /// Byte offset of the range in the source.
        src: i64,
        /// Length of the range in bytes.
        bytes: i64,
    },
    /// The copy consists of evenly spaced rows, which one 2-D or 3-D copy moves.
    Uniform(Uniform),
    /// The copy consists of several uniform blocks. Either each block is moved by one copy, or all blocks are moved by
    /// one copy kernel.
    Many(RepeatedBlocks),
}

/// `depth` slices of `height` rows of `width` bytes: the arguments of a pitched 2-D (`depth` 1) or 3-D copy.
///
/// Pitches are at least `width`. If `depth` is above 1, the slices do not interleave, and the distance between slices
/// is a multiple of the pitch, because `cuMemcpy3D` takes this distance as a number of rows (`dst_slice / dst_pitch`).
/// This module does not compare the pitches with the maximum pitch of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uniform {
    /// Byte offset of the first row in the destination.
    pub dst: i64,
    /// Byte offset of the first row in the source.
    pub src: i64,
    /// Number of bytes in a row.
    pub width: i64,
    /// Number of rows in a slice.
    pub height: i64,
    /// Number of slices.
    pub depth: i64,
    /// Distance between rows in the destination, in bytes.
    pub dst_pitch: i64,
    /// Distance between rows in the source, in bytes.
    pub src_pitch: i64,
    /// Distance between slices in the destination, in bytes.
    pub dst_slice: i64,
    /// Distance between slices in the source, in bytes.
    pub src_slice: i64,
}

/// Several [`Uniform`] blocks of equal shape and pitches. Their positions form a grid along the axes of `outer`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepeatedBlocks {
    /// The first block of the grid.
    pub block: Uniform,
    /// Axes along which the block repeats, outermost first. An axis has two strides, first for the destination and then
    /// for the source.
    pub outer: SharedAxes<2>,
}

impl CopyBlocks {
    /// Decomposes the copy between two layouts of equal shape and itemsize into blocks.
    ///
    /// Does not check whether the layouts overlap: see [`overlap`](super::overlap()) and
    /// [`Layout::has_internal_overlap`].
    pub fn of(dst: &Layout, src: &Layout) -> Result<Self> {
        if dst.is_c_contiguous() && src.is_c_contiguous() && dst.itemsize == src.itemsize && dst.shape().eq(src.shape())
        {
            // Shortcut for the most common copy, between C-contiguous layouts of equal shape. The shortcut takes a
            // tenth of the time of the general path.
            return Ok(Self::One { dst: dst.offset, src: src.offset, bytes: dst.nbytes() });
        }
        let ContiguousRuns { mut axes, dst, src, width } = ContiguousRuns::of(dst, src)?;
        if axes.is_empty() {
            return Ok(Self::One { dst, src, bytes: width });
        }
        let mut block = Uniform::row(dst, src, width);
        if axes.last().is_some_and(|axis| block.takes_rows(axis)) {
            block.take_rows(axes.pop());
            if axes.last().is_some_and(|axis| block.takes_slices(axis)) {
                block.take_slices(axes.pop());
            }
        }
        Ok(if axes.is_empty() { Self::Uniform(block) } else { Self::Many(RepeatedBlocks { block, outer: axes }) })
    }
}

impl Uniform {
    const fn row(dst: i64, src: i64, width: i64) -> Self {
        let (dst_pitch, src_pitch, dst_slice, src_slice) = (width, width, width, width);
        Self { dst, src, width, height: 1, depth: 1, dst_pitch, src_pitch, dst_slice, src_slice }
    }

    fn takes_rows(&self, axis: &SharedAxis<2>) -> bool {
        axis.strides.iter().all(|pitch| *pitch >= self.width)
    }

    fn take_rows(&mut self, axis: Option<SharedAxis<2>>) {
        if let Some(SharedAxis { len, strides: [dst, src] }) = axis {
            (self.height, self.dst_pitch, self.src_pitch) = (len, dst, src);
            // If `depth` is 1, the slice distances are the smallest for which slices do not interleave. These products
            // can overflow only near the end of the address range; they wrap in this case.
            (self.dst_slice, self.src_slice) = (dst.wrapping_mul(len), src.wrapping_mul(len));
        }
    }

    fn takes_slices(&self, axis: &SharedAxis<2>) -> bool {
        let pitches = [self.dst_pitch, self.src_pitch];
        axis.strides.iter().zip(pitches).all(|(slice, pitch)| slice % pitch == 0 && slice / pitch >= self.height)
    }

    fn take_slices(&mut self, axis: Option<SharedAxis<2>>) {
        if let Some(SharedAxis { len, strides: [dst, src] }) = axis {
            (self.depth, self.dst_slice, self.src_slice) = (len, dst, src);
        }
    }

    /// Returns the byte offsets `(dst, src)` of every row.
    pub fn rows(&self) -> impl Iterator<Item = (i64, i64)> + use<> {
        let block = *self;
        (0..block.depth).flat_map(move |slice| {
            let (dst, src) = (block.dst + slice * block.dst_slice, block.src + slice * block.src_slice);
            (0..block.height).map(move |row| (dst + row * block.dst_pitch, src + row * block.src_pitch))
        })
    }
}

impl RepeatedBlocks {
    /// Returns the number of uniform blocks.
    pub fn count(&self) -> i64 {
        self.outer.iter().map(|axis| axis.len).product()
    }

    /// Returns every uniform block.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = Uniform> + '_ {
        let block = self.block;
        Odometer::new(&self.outer, [block.dst, block.src]).map(move |[dst, src]| Uniform { dst, src, ..block })
    }

    /// Returns every contiguous range, as `(dst, src, bytes)`.
    pub fn runs(&self) -> impl Iterator<Item = (i64, i64, i64)> + '_ {
        self.blocks().flat_map(|block| block.rows().map(move |(dst, src)| (dst, src, block.width)))
    }
}
