//! Computes array layouts by pure arithmetic: shape, signed byte strides, byte offset and itemsize.
//!
//! The crate defines indexing, reshape, transpose, broadcast and dtype views, and decomposes a copy into blocks. Every
//! result and every message matches NumPy. This crate must not depend on pointers, devices or Python: the owner of a
//! memory block checks with [`Layout::extent`] whether a layout fits into the block.
//!
//! Each `a[i:j]` in Python creates a view, so creating one must take only a few nanoseconds. It therefore allocates no
//! heap memory up to rank 8, and errors are built out of line.
//!
//! Invariants of every [`Layout`], on which the submodules rely:
//! - the rank is at most [`MAX_RANK`], no length is negative, the itemsize is at least 1;
//! - itemsize times the product of all nonzero lengths fits in `i64` (NumPy's rule, which ensures that the size of any
//!   part of an empty array fits too);
//! - if there are elements, the addresses of their bytes and the distance between any two of them fit in `i64`.
//!   Strides of axes of length 1, and all strides of an empty layout, have no meaning and may have any value:
//!   arithmetic on them wraps.

mod broadcast;
mod copy_blocks;
mod dense_layout;
mod errors;
pub use errors::tuple_text;
mod index;
mod k_order;
mod loop_nest;
mod odometer;
mod overlap;
mod reshape;
mod transpose;
mod view;

use std::mem::MaybeUninit;
use std::ptr;

use smallvec::SmallVec;

use pygpu_base::error::{Error, Result};

pub use broadcast::broadcast_shapes;
pub use copy_blocks::{CopyBlocks, RepeatedBlocks, Uniform};
pub use dense_layout::Dense;
pub use index::{Index, Indexer};
pub use loop_nest::{
    ContiguousRuns, LoopNest, LoopNestRules, NARROW, SharedAxes, SharedAxis, StridePattern, fastest, paired,
};
pub use odometer::{Line, Odometer, for_each_line, for_each_line_of, for_each_run};
pub use overlap::overlap;
pub use reshape::resolve_shape;

/// Maximum rank, as in NumPy.
pub const MAX_RANK: usize = 64;

/// An axis of an array: its length, and the distance in bytes between consecutive elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Axis {
    /// Number of elements along the axis.
    pub len: i64,
    /// Distance from an element to the next element along the axis in bytes; may be negative.
    pub stride: i64,
}

/// The axes of a layout, outermost first.
pub type Axes = SmallVec<[Axis; 8]>;

/// The lengths of the axes of a layout, outermost first.
pub type Dims = SmallVec<[i64; 8]>;

/// The order in which a dense layout stores its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum MemoryOrder {
    /// Row-major order: the last axis varies fastest in memory.
    C,
    /// Column-major order: the first axis varies fastest in memory.
    F,
}

/// Positions of the elements of an array, relative to the start of its memory block.
#[derive(PartialEq, Eq, Debug)]
pub struct Layout {
    axes: Axes,
    offset: i64,
    itemsize: i64,
}

// `Clone` is implemented manually, because the derived implementation builds the axes separately and then moves them.
// Moving axes that were just written dominates the cost of a view, because wide loads wait for the preceding narrow
// stores. The whole crate therefore writes axes in place, with `extend` into a variable instead of `collect`, and moves
// them once.
impl Clone for Layout {
    #[inline]
    fn clone(&self) -> Self {
        let mut copy = Self { axes: Axes::new(), offset: self.offset, itemsize: self.itemsize };
        copy.axes.extend(self.axes.iter().copied());
        copy
    }
}

impl Layout {
    /// Clones the layout into `slot` with one move that is as wide as possible.
    #[inline]
    pub fn clone_to(&self, slot: &mut MaybeUninit<Self>) {
        if self.axes.spilled() {
            slot.write(self.clone());
            return;
        }
        // SAFETY: inline axes are `Copy` and own nothing, so both copies may be dropped; `slot` is a reference and
        // thus valid for writes.
        unsafe { ptr::copy_nonoverlapping(self, slot.as_mut_ptr(), 1) };
    }

    /// Returns the layout of a new array without gaps. As in NumPy, all strides of an empty array are zero.
    #[inline]
    pub fn contiguous(shape: &[i64], itemsize: i64, order: MemoryOrder) -> Result<Self> {
        let mut layout = Self::scalar(itemsize);
        layout.set_contiguous(shape, itemsize, order)?;
        Ok(layout)
    }

    /// Overwrites this layout with that of a new array without gaps, as [`Layout::contiguous`] returns it.
    #[inline(always)]
    pub fn set_contiguous(&mut self, shape: &[i64], itemsize: i64, order: MemoryOrder) -> Result<()> {
        self.set_dense(Dense::of(shape, itemsize)?, order);
        Ok(())
    }

    /// Overwrites this layout with a layout without gaps. The shape was already checked.
    #[inline(always)]
    pub fn set_dense(&mut self, Dense { shape, itemsize, bytes }: Dense<'_>, order: MemoryOrder) {
        self.axes.clear();
        for &len in shape {
            self.axes.push(Axis { len, stride: 0 }); // `push` is inlined, unlike `extend`
        }
        if bytes > 0 {
            fill_contiguous(&mut self.axes, itemsize, order);
        }
        (self.offset, self.itemsize) = (0, itemsize);
    }

    /// Returns a layout with the given signed strides. Returns an error if the byte offset of an element overflows.
    #[inline]
    pub fn strided(shape: &[i64], strides: &[i64], offset: i64, itemsize: i64) -> Result<Self> {
        if shape.len() != strides.len() {
            check_size(shape, itemsize)?; // an invalid shape is reported in preference to a wrong number of strides
            return Err(errors::strides_rank(shape.len(), strides.len()));
        }
        let axes = shape.iter().zip(strides).map(|(&len, &stride)| Axis { len, stride });
        Self::over_axes(axes, offset, itemsize)
    }

    /// Returns the same layout as [`Layout::strided`], but takes each axis as a pair of length and stride.
    #[inline]
    pub fn over_axes(axes: impl Iterator<Item = Axis>, offset: i64, itemsize: i64) -> Result<Self> {
        let layout = Self { axes: axes.collect(), offset, itemsize };
        dense_bytes(layout.shape(), itemsize)?;
        layout.within_address_space()
    }

    /// Returns the layout, or an error if the byte offset of an element overflows.
    #[inline]
    fn within_address_space(self) -> Result<Self> {
        match self.checked_extent() {
            Some(_) => Ok(self),
            None => Err(self.extent_overflow()),
        }
    }

    #[cold]
    fn extent_overflow(&self) -> Error {
        let (shape, strides): (Dims, Dims) = (self.shape().collect(), self.strides().collect());
        errors::extent_overflow(&shape, &strides, self.offset)
    }

    /// Returns the layout with another offset and the same strides.
    #[inline]
    pub fn with_offset(&self, offset: i64) -> Result<Self> {
        let layout = Self { offset, ..self.clone() };
        layout.within_address_space()
    }

    /// Builds a layout without checks. The caller guarantees the invariants of [`Layout`], which the crate
    /// documentation lists.
    #[inline]
    const fn from_parts(axes: Axes, offset: i64, itemsize: i64) -> Self {
        Self { axes, offset, itemsize }
    }

    /// Returns the axes, outermost first.
    #[inline]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the number of axes.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.axes.len()
    }

    /// Returns the lengths of the axes.
    #[inline]
    pub fn shape(&self) -> impl ExactSizeIterator<Item = i64> + DoubleEndedIterator + Clone + '_ {
        self.axes.iter().map(|axis| axis.len)
    }

    /// Returns the strides of the axes in bytes.
    #[inline]
    pub fn strides(&self) -> impl ExactSizeIterator<Item = i64> + DoubleEndedIterator + Clone + '_ {
        self.axes.iter().map(|axis| axis.stride)
    }

    /// Returns the number of elements.
    #[inline]
    pub fn size(&self) -> i64 {
        self.axes.iter().fold(1, |size, axis| size * axis.len)
    }

    /// Returns the number of elements times the itemsize. For a broadcast layout, this exceeds the number of bytes in
    /// memory.
    #[inline]
    pub fn nbytes(&self) -> i64 {
        self.size() * self.itemsize
    }

    /// Returns the size of an element in bytes.
    #[inline]
    pub const fn itemsize(&self) -> i64 {
        self.itemsize
    }

    /// Returns the byte offset of the first element from the start of the memory block.
    #[inline]
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// Returns whether the layout has no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| axis.len == 0)
    }

    /// Returns whether the elements are contiguous with the last axis fastest. Axes of length 1 are ignored.
    #[inline]
    pub fn is_c_contiguous(&self) -> bool {
        packed(self.axes.iter().rev(), self.itemsize) || self.is_empty()
    }

    /// Returns whether the elements are contiguous with the first axis fastest. Axes of length 1 are ignored.
    #[inline]
    pub fn is_f_contiguous(&self) -> bool {
        packed(self.axes.iter(), self.itemsize) || self.is_empty()
    }

    /// Returns the byte range `[low, high)` of the memory block that contains all elements; `None` without elements.
    pub fn extent(&self) -> Option<(i64, i64)> {
        // `checked_extent` returns `None` only if an address overflows, which the invariants of a layout exclude.
        self.checked_extent().flatten()
    }

    /// Computes the byte range that contains all elements. Returns `None` if an address overflows, and `Some(None)` if
    /// there are no elements.
    fn checked_extent(&self) -> Option<Option<(i64, i64)>> {
        if self.is_empty() {
            return Some(None);
        }
        let (mut low, mut high) = (self.offset, self.offset.checked_add(self.itemsize)?);
        for axis in &self.axes {
            let reach = (axis.len - 1).checked_mul(axis.stride)?;
            if reach < 0 {
                low = low.checked_add(reach)?;
            } else {
                high = high.checked_add(reach)?;
            }
        }
        high.checked_sub(low)?;
        Some(Some((low, high)))
    }
}

#[inline]
fn packed<'a>(innermost_first: impl Iterator<Item = &'a Axis>, itemsize: i64) -> bool {
    let mut expected = itemsize;
    for axis in innermost_first {
        if axis.len != 1 {
            if axis.stride != expected {
                return false;
            }
            expected = expected.wrapping_mul(axis.len);
        }
    }
    true
}

/// Sets the strides of an array without gaps. For the strides, a length of 0 counts as 1, as in NumPy, because
/// otherwise several strides would be 0.
#[inline]
fn fill_contiguous(axes: &mut [Axis], itemsize: i64, order: MemoryOrder) {
    let mut stride = itemsize;
    let mut set = |axis: &mut Axis| {
        axis.stride = stride;
        stride *= axis.len.max(1);
    };
    match order {
        MemoryOrder::C => axes.iter_mut().rev().for_each(&mut set),
        MemoryOrder::F => axes.iter_mut().for_each(&mut set),
    }
}

/// Checks rank, lengths, itemsize and size in bytes: the first two invariants of the crate documentation.
#[inline]
fn check_size(shape: &[i64], itemsize: i64) -> Result<()> {
    dense_bytes(shape.iter().copied(), itemsize).map(drop)
}

/// Returns the size in bytes of a dense array, after checking rank, lengths, itemsize and size: the first two
/// invariants of the crate documentation.
fn dense_bytes(shape: impl ExactSizeIterator<Item = i64>, itemsize: i64) -> Result<i64> {
    check_rank(shape.len())?;
    if itemsize < 1 {
        return Err(errors::itemsize(itemsize));
    }
    let (mut bytes, mut is_empty) = (Some(itemsize), false);
    for len in shape {
        if len < 0 {
            return Err(Error::value("negative dimensions are not allowed"));
        }
        if len == 0 {
            is_empty = true;
        } else {
            bytes = bytes.and_then(|bytes| bytes.checked_mul(len));
        }
    }
    match bytes {
        Some(_) if is_empty => Ok(0),
        Some(bytes) => Ok(bytes),
        None => Err(errors::too_big()),
    }
}

/// Checks the number of dimensions of an array.
///
/// # Errors
/// `ValueError` if it exceeds [`MAX_RANK`].
#[inline]
pub fn check_rank(rank: usize) -> Result<()> {
    if rank > MAX_RANK { Err(errors::rank(rank)) } else { Ok(()) }
}

/// Returns the index of an axis, counted from the start. A negative `axis` is counted from the end.
#[inline]
pub fn normalize_axis(axis: i64, ndim: usize) -> Result<usize> {
    // `ndim` is at most `MAX_RANK`, so neither the cast nor the sum can overflow.
    let counted = if axis < 0 { axis + ndim as i64 } else { axis };
    if (counted as u64) < ndim as u64 { Ok(counted as usize) } else { Err(errors::axis(axis, ndim)) }
}

/// Set of axes with one bit per axis, because the rank is at most 64.
#[derive(Clone, Copy, Default)]
struct AxisSet(u64);

impl AxisSet {
    /// Builds a set from a list of axes; `None` if an axis is repeated.
    #[inline]
    fn of_distinct(axes: &[usize]) -> Option<Self> {
        let mut set = Self::default();
        axes.iter().all(|&axis| set.insert(axis)).then_some(set)
    }

    const fn all(ndim: usize) -> Self {
        Self(if ndim == 0 { 0 } else { u64::MAX >> (MAX_RANK - ndim) })
    }

    /// Adds `axis`; returns `false` if the set already contains it.
    #[inline]
    fn insert(&mut self, axis: usize) -> bool {
        let fresh = !self.contains(axis);
        self.0 |= 1 << axis;
        fresh
    }

    #[inline]
    const fn contains(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }
}

#[cfg(test)]
mod tests;
