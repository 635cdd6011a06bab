//! Creates layouts without gaps for new arrays, with the axis order of an existing layout.

use super::{Axes, Axis, Dims, Layout, MemoryOrder, dense_bytes};
use pygpu_base::error::Result;
use pygpu_base::small_sort;

/// Shape and item size of an array without gaps, whose size in bytes was checked to be addressable.
#[derive(Clone, Copy)]
pub struct Dense<'a> {
    pub(super) shape: &'a [i64],
    pub(super) itemsize: i64,
    pub(super) bytes: i64,
}

impl<'a> Dense<'a> {
    /// Checks that a dense array of this shape is possible.
    ///
    /// # Errors
    /// `ValueError` for a negative length, too many axes or too many bytes.
    #[inline]
    pub fn of(shape: &'a [i64], itemsize: i64) -> Result<Self> {
        Ok(Self { shape, itemsize, bytes: dense_bytes(shape.iter().copied(), itemsize)? })
    }

    /// Returns the total size of the elements in bytes.
    #[inline]
    pub fn bytes(self) -> usize {
        self.bytes as usize
    }

    /// Returns the size of an element in bytes.
    #[inline]
    pub fn itemsize(self) -> i64 {
        self.itemsize
    }
}

impl Layout {
    /// Returns the layout of a single element without axes.
    pub fn scalar(itemsize: i64) -> Self {
        Self::from_parts(Axes::new(), 0, itemsize)
    }

    /// Writes the layout of a single element into `slot`. `Array::write_view` documents why it is not returned by
    /// value.
    ///
    /// # Safety
    /// `slot` must be valid for writes and must not contain a layout.
    #[inline(always)]
    pub unsafe fn write_scalar(slot: *mut Self, itemsize: i64) {
        // SAFETY: the caller guarantees that `slot` is writable; each field is written once and not read before.
        unsafe {
            (&raw mut (*slot).axes).write(Axes::new());
            (&raw mut (*slot).offset).write(0);
            (&raw mut (*slot).itemsize).write(itemsize);
        }
    }

    /// Overwrites this layout with a copy of another one.
    #[inline(always)]
    pub fn assign(&mut self, other: &Self) {
        self.axes.clear();
        for &axis in &other.axes {
            self.axes.push(axis); // `push` is inlined, unlike `extend_from_slice`
        }
        self.offset = other.offset;
        self.itemsize = other.itemsize;
    }

    /// Returns a dense layout for items of another size, with the same shape and the same order of axes.
    ///
    /// # Errors
    /// `ValueError` if the size in bytes exceeds 64 bits.
    pub fn with_itemsize(&self, itemsize: i64) -> Result<Self> {
        let dense = self.dense_like();
        let shape: Dims = dense.shape().collect();
        // The result of this call is discarded: the call only checks the size in bytes, which does not depend on the
        // memory order.
        Self::contiguous(&shape, itemsize, MemoryOrder::C)?;
        // The product can wrap only for strides of axes of length 1 and strides of empty arrays. No address computation
        // uses these strides.
        let scaled = |stride: i64| (stride / dense.itemsize).wrapping_mul(itemsize);
        let axes = dense.axes.iter().map(|axis| Axis { len: axis.len, stride: scaled(axis.stride) });
        Ok(Self::from_parts(axes.collect(), 0, itemsize))
    }

    /// Returns a layout of the same shape without gaps, with the axes in the same memory order and all strides positive
    /// (NumPy's order `'K'`). A copy of an array gets this layout, so that the copy moves a single block or few blocks.
    pub fn dense_like(&self) -> Self {
        if self.is_c_contiguous() || self.is_f_contiguous() {
            return Self::from_parts(self.axes.clone(), 0, self.itemsize);
        }
        let innermost_last = self.axes_in_memory_order();
        let mut axes = self.axes.clone();
        let mut stride = self.itemsize;
        for &axis in innermost_last.iter().rev() {
            axes[axis as usize].stride = stride;
            // The product cannot overflow: the size in bytes of every layout fits in `i64`.
            stride *= axes[axis as usize].len.max(1);
        }
        Self::from_parts(axes, 0, self.itemsize)
    }

    /// Returns the axes in memory order: the axis whose stride has the greatest absolute value first.
    pub fn axes_in_memory_order(&self) -> Dims {
        let mut innermost_last: Dims = (0..self.ndim() as i64).collect();
        // The sort is stable, so axes with equal strides stay in C order, as in NumPy.
        small_sort::sort_by_key(&mut innermost_last, |&axis| {
            std::cmp::Reverse(self.axes[axis as usize].stride.unsigned_abs())
        });
        innermost_last
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Index, Layout, MemoryOrder};

    #[test]
    fn dense_layout_keeps_axis_order_without_gaps_or_negative_strides() {
        let base = Layout::contiguous(&[4, 6, 8], 4, MemoryOrder::C).unwrap();
        let slice = |step| Index::Slice { start: None, stop: None, step: Some(step) };
        let view = base.index(&[slice(2), slice(-1), slice(3)]).unwrap().transpose(Some(&[2, 0, 1])).unwrap();
        let dense = view.dense_like();
        assert_eq!(dense.shape().collect::<Vec<_>>(), [3, 2, 6]);
        assert_eq!(dense.strides().collect::<Vec<_>>(), [4, 72, 12]);
        assert_eq!(dense.offset(), 0);
    }

    #[test]
    fn unused_strides_may_have_any_value_when_itemsize_changes() {
        let empty = Layout::strided(&[0, 3], &[i64::MAX, i64::MIN], 0, 1).unwrap();
        assert!(empty.with_itemsize(8).unwrap().is_empty());
        let single = Layout::strided(&[2, 1], &[1, i64::MAX], 0, 1).unwrap().with_itemsize(8).unwrap();
        assert_eq!((single.strides().next(), single.extent()), (Some(8), Some((0, 16))));
    }

    #[test]
    fn dense_like_keeps_contiguous_layouts_unchanged() {
        let base = Layout::contiguous(&[2, 3], 8, MemoryOrder::F).unwrap();
        assert_eq!(base.dense_like(), base);
    }
}
