//! Implements basic indexing by integers, slices, `...` and `None`. The caller passes the items of the key `a[key]` one
//! at a time, so that no list of items is built.

use super::{Axis, Layout, MAX_RANK, errors};
use pygpu_base::error::{Error, Result};

/// One item of the key of a basic index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// Selects one element of an axis and drops the axis; a negative index counts from the end.
    Integer(i64),
    /// Selects a part of an axis, with Python's rules for missing, negative and out-of-range values.
    Slice {
        /// First index of the slice.
        start: Option<i64>,
        /// End of the slice (exclusive).
        stop: Option<i64>,
        /// Distance between consecutive indices; not zero.
        step: Option<i64>,
    },
    /// An ellipsis: keeps all axes that the remaining items of the key do not consume.
    Ellipsis,
    /// Adds an axis of length 1.
    NewAxis,
}

/// Builds the view that a basic index selects, from the items of its key.
///
/// The caller traverses the key twice: first to count the items, then to pass them, because the number of axes that
/// `...` represents depends on all other items. An empty view keeps the offset of the array, so that the offset stays
/// inside the array's memory for any slice.
///
/// All successful paths are inlined into the caller, and the view is written directly to its final location. In
/// measurements, a view returned by value was copied several times, which took longer than all other work.
#[derive(Debug)]
pub struct Indexer<'a> {
    base: &'a Layout,
    view: &'a mut Layout,
    next: usize,
    consumed: usize,
    /// Number of `None` items whose new axis would make the rank exceed `MAX_RANK`. Only the error message uses this
    /// number.
    excess: usize,
    pending_ellipsis: bool,
    empty: bool,
}

impl<'a> Indexer<'a> {
    /// Begins a view of `base`, which will overwrite `view`. `consumed_axes` is the number of integers and slices in
    /// the key; `has_ellipsis` is whether the key contains an ellipsis.
    ///
    /// If the key consumes too many axes, the first call of `integer` or `slice` returns an error.
    #[inline(always)]
    pub fn new(base: &'a Layout, view: &'a mut Layout, consumed_axes: usize, has_ellipsis: bool) -> Self {
        view.axes.clear();
        view.offset = base.offset;
        view.itemsize = base.itemsize;
        Self { base, view, next: 0, consumed: consumed_axes, excess: 0, pending_ellipsis: has_ellipsis, empty: false }
    }

    /// Processes an integer: selects element `index` of the next axis.
    #[inline(always)]
    pub fn integer(&mut self, index: i64) -> Result<()> {
        let (place, axis) = self.next_axis()?;
        let counted = if index < 0 { index + axis.len } else { index };
        if counted as u64 >= axis.len as u64 {
            return Err(errors::out_of_bounds(index, place, axis.len));
        }
        self.advance(counted, axis.stride);
        Ok(())
    }

    /// Processes a slice of the next axis. `None` and out-of-range values have the same meaning as in Python.
    #[inline(always)]
    pub fn slice(&mut self, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Result<()> {
        let (_, axis) = self.next_axis()?;
        let (start, step, len) = clip(axis.len, start, stop, step)?;
        self.push_slice(axis, start, step, len);
        Ok(())
    }

    /// Processes a slice whose values were already clipped to the axis (`PySlice_AdjustIndices`).
    #[inline(always)]
    pub fn slice_clipped(&mut self, start: i64, step: i64, len: i64) -> Result<()> {
        let (place, axis) = self.next_axis()?;
        let inside = |index: i64| (index as u64) < axis.len as u64;
        let last = len.saturating_sub(1).checked_mul(step).and_then(|reach| reach.checked_add(start));
        if len < 0 || (len > 0 && !(inside(start) && last.is_some_and(inside))) {
            return Err(errors::slice_outside(start, step, len, place, axis.len));
        }
        self.push_slice(axis, start, step, len);
        Ok(())
    }

    /// Processes an ellipsis: keeps the axes that the remaining items of the key do not consume.
    #[inline]
    pub fn ellipsis(&mut self) -> Result<()> {
        if !self.pending_ellipsis {
            return Err(errors::second_ellipsis());
        }
        self.pending_ellipsis = false;
        self.keep(self.base.ndim().saturating_sub(self.consumed));
        Ok(())
    }

    /// Processes an ellipsis, for a caller that has counted the axes: keeps the next `count` axes.
    #[inline]
    pub fn ellipsis_of(&mut self, count: usize) {
        self.keep(count);
    }

    /// Processes `None`: adds an axis of length 1. [`Indexer::finish`] reports a rank above the maximum, because the
    /// final rank is unknown here.
    #[inline]
    pub fn new_axis(&mut self) -> Result<()> {
        if self.view.ndim() < MAX_RANK {
            self.view.axes.push(Axis { len: 1, stride: 0 });
        } else {
            self.excess += 1;
        }
        Ok(())
    }

    /// Keeps all remaining axes and completes the view.
    #[inline(always)]
    pub fn finish(mut self) -> Result<()> {
        if self.next < self.base.ndim() {
            self.keep(self.base.ndim() - self.next);
        }
        let rank = self.view.ndim() + self.excess;
        if rank > MAX_RANK {
            return Err(errors::index_rank(rank));
        }
        if self.empty {
            self.view.offset = self.base.offset;
        }
        Ok(())
    }

    #[inline(always)]
    fn next_axis(&mut self) -> Result<(usize, Axis)> {
        let ndim = self.base.ndim();
        match self.base.axes.get(self.next) {
            Some(&axis) if self.consumed <= ndim => {
                self.next += 1;
                Ok((self.next - 1, axis))
            }
            _ => Err(errors::too_many_indices(ndim, self.consumed.max(self.next + 1))),
        }
    }

    #[inline]
    fn keep(&mut self, count: usize) {
        let kept = self.base.axes.get(self.next..self.next + count).unwrap_or_default();
        self.next += kept.len();
        for &axis in kept {
            self.empty |= axis.len == 0;
            self.view.axes.push(axis);
        }
    }

    #[inline(always)]
    fn push_slice(&mut self, axis: Axis, start: i64, step: i64, len: i64) {
        // NumPy keeps the original stride of an axis that becomes empty.
        let step = if len == 0 { 1 } else { step };
        self.empty |= len == 0;
        self.advance(start, axis.stride);
        // The product may wrap only if the axis has a single element and the step is large. The stride of such an axis
        // has no meaning.
        self.view.axes.push(Axis { len, stride: axis.stride.wrapping_mul(step) });
    }

    // The sum of the offsets wraps only if an axis is empty. The offset of an empty array is not used.
    #[inline(always)]
    const fn advance(&mut self, index: i64, stride: i64) {
        self.view.offset = self.view.offset.wrapping_add(index.wrapping_mul(stride));
    }
}

/// Clips a slice to an axis of length `len` as CPython's `PySlice_Unpack` and `PySlice_AdjustIndices` do. Returns
/// start, step and number of elements.
#[inline]
fn clip(len: i64, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Result<(i64, i64, i64)> {
    // The smallest `i64` is replaced, as in CPython, so that the step can be negated.
    let step = step.unwrap_or(1).max(-i64::MAX);
    if step > 0 {
        let bound = |index: i64| if index < 0 { (index + len).max(0) } else { index.min(len) };
        let start = start.map_or(0, bound);
        let span = stop.map_or(len, bound) - start;
        let count = match step {
            _ if span <= 0 => 0,
            1 => span,
            _ => (span - 1) / step + 1,
        };
        Ok((start, step, count))
    } else if step < 0 {
        let bound = |index: i64| if index < 0 { (index + len).max(-1) } else { index.min(len - 1) };
        let start = start.map_or(len - 1, bound);
        let span = start - stop.map_or(-1, bound);
        Ok((start, step, if span <= 0 { 0 } else { (span - 1) / -step + 1 }))
    } else {
        Err(zero_step())
    }
}

#[cold]
fn zero_step() -> Error {
    Error::value("slice step cannot be zero")
}

impl Layout {
    /// Returns the view that a whole key selects.
    #[inline]
    pub fn index(&self, key: &[Index]) -> Result<Self> {
        let consumed = key.iter().filter(|item| matches!(item, Index::Integer(_) | Index::Slice { .. })).count();
        let ellipses = key.iter().filter(|item| matches!(item, Index::Ellipsis)).count();
        if ellipses > 1 {
            return Err(errors::second_ellipsis());
        }
        let mut view = Self::scalar(self.itemsize);
        let mut indexer = Indexer::new(self, &mut view, consumed, ellipses == 1);
        for &item in key {
            match item {
                Index::Integer(index) => indexer.integer(index)?,
                Index::Slice { start, stop, step } => indexer.slice(start, stop, step)?,
                Index::Ellipsis => indexer.ellipsis()?,
                Index::NewAxis => indexer.new_axis()?,
            }
        }
        indexer.finish()?;
        Ok(view)
    }
}
