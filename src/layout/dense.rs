//! Layouts for fresh memory that follow an existing one.

use super::{Axes, Axis, Dims, Layout, Order, dense_bytes};
use pygpu_base::error::Result;
use pygpu_base::small_sort;

/// A shape that an array without gaps may have: of no more bytes than can be addressed.
#[derive(Clone, Copy)]
pub struct Dense<'a> {
    pub(super) shape: &'a [i64],
    pub(super) itemsize: i64,
    pub(super) bytes: i64,
}

impl<'a> Dense<'a> {
    /// # Errors
    /// `ValueError` for a shape that is negative, of too many axes or too big.
    #[inline]
    pub fn of(shape: &'a [i64], itemsize: i64) -> Result<Self> {
        Ok(Self { shape, itemsize, bytes: dense_bytes(shape, itemsize)? })
    }

    /// The bytes of its elements.
    #[inline]
    pub fn bytes(self) -> usize {
        self.bytes as usize
    }

    /// The bytes of one of them.
    #[inline]
    pub fn itemsize(self) -> i64 {
        self.itemsize
    }
}

impl Layout {
    /// One element.
    pub fn scalar(itemsize: i64) -> Self {
        Self::from_parts(Axes::new(), 0, itemsize)
    }

    /// Writes into `slot` a layout of one element. Why: see `Array::write_view`.
    ///
    /// # Safety
    /// `slot` may be written and holds no layout yet.
    #[inline(always)]
    pub unsafe fn write_scalar(slot: *mut Self, itemsize: i64) {
        // SAFETY: each field of the slot is written once, without being read.
        unsafe {
            (&raw mut (*slot).axes).write(Axes::new());
            (&raw mut (*slot).offset).write(0);
            (&raw mut (*slot).itemsize).write(itemsize);
        }
    }

    /// Becomes a copy of another layout, in place.
    #[inline(always)]
    pub fn assign(&mut self, other: &Self) {
        self.axes.clear();
        for &axis in &other.axes {
            self.axes.push(axis); // inlined, which `extend_from_slice` is not
        }
        self.offset = other.offset;
        self.itemsize = other.itemsize;
    }

    /// A dense layout for items of another size: the same shape, and the axes in the same order.
    ///
    /// # Errors
    /// `ValueError` when the bytes do not fit in 64 bits.
    pub fn with_itemsize(&self, itemsize: i64) -> Result<Self> {
        let dense = self.dense_like();
        let shape: Dims = dense.shape().collect();
        // Checks the size for the new items; C order is as good as any for that.
        Self::contiguous(&shape, itemsize, Order::C)?;
        // Wraps only where strides mean nothing.
        let scaled = |stride: i64| (stride / dense.itemsize).wrapping_mul(itemsize);
        let axes = dense.axes.iter().map(|axis| Axis { len: axis.len, stride: scaled(axis.stride) });
        Ok(Self::from_parts(axes.collect(), 0, itemsize))
    }

    /// The same shape without gaps, with the axes in the same order in memory and all strides positive: NumPy's order
    /// `'K'`, and what a copy of an array gets so that the copy is one block or nearly so.
    pub fn dense_like(&self) -> Self {
        if self.is_c_contiguous() || self.is_f_contiguous() {
            return Self::from_parts(self.axes.clone(), 0, self.itemsize);
        }
        let mut innermost_last: Dims = (0..self.ndim() as i64).collect();
        // Stable, so that equal distances stay in C order, as in NumPy.
        small_sort::sort_by_key(&mut innermost_last, |&axis| {
            std::cmp::Reverse(self.axes[axis as usize].stride.unsigned_abs())
        });
        let mut axes = self.axes.clone();
        let mut stride = self.itemsize;
        for &axis in innermost_last.iter().rev() {
            axes[axis as usize].stride = stride;
            // Fits: the bytes of every layout do.
            stride *= axes[axis as usize].len.max(1);
        }
        Self::from_parts(axes, 0, self.itemsize)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Index, Layout, Order};

    #[test]
    fn a_dense_layout_keeps_the_order_of_axes_and_drops_gaps_and_signs() {
        let base = Layout::contiguous(&[4, 6, 8], 4, Order::C).unwrap();
        let slice = |step| Index::Slice { start: None, stop: None, step: Some(step) };
        let view = base.index(&[slice(2), slice(-1), slice(3)]).unwrap().transpose(Some(&[2, 0, 1])).unwrap();
        let dense = view.dense_like();
        assert_eq!(dense.shape().collect::<Vec<_>>(), [3, 2, 6]);
        assert_eq!(dense.strides().collect::<Vec<_>>(), [4, 72, 12]);
        assert_eq!(dense.offset(), 0);
    }

    #[test]
    fn strides_that_mean_nothing_may_be_any_value_when_the_itemsize_changes() {
        let empty = Layout::strided(&[0, 3], &[i64::MAX, i64::MIN], 0, 1).unwrap();
        assert!(empty.with_itemsize(8).unwrap().is_empty());
        let single = Layout::strided(&[2, 1], &[1, i64::MAX], 0, 1).unwrap().with_itemsize(8).unwrap();
        assert_eq!((single.strides().next(), single.extent()), (Some(8), Some((0, 16))));
    }

    #[test]
    fn contiguous_layouts_stay_as_they_are() {
        let base = Layout::contiguous(&[2, 3], 8, Order::F).unwrap();
        assert_eq!(base.dense_like(), base);
    }
}
