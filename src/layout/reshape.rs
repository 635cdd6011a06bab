//! Reshapes a layout, without a copy in the same cases as NumPy.

use super::{Axes, Axis, Dims, Layout, MemoryOrder, check_rank, check_size, errors, fill_contiguous};
use pygpu_base::error::{Error, Result};

/// Replaces the one unknown (negative) length of a requested shape, so that the shape has `size` elements.
pub fn resolve_shape(size: i64, shape: &[i64]) -> Result<Dims> {
    let unknown = unknown_length(size, shape)?;
    Ok(shape.iter().map(|&len| if len < 0 { unknown } else { len }).collect())
}

/// Returns the value of the unknown (negative) length in `shape`. If no length is unknown, the returned value has no
/// meaning.
#[inline(always)]
fn unknown_length(size: i64, shape: &[i64]) -> Result<i64> {
    check_rank(shape.len())?;
    let (mut known, mut fits, mut unknowns) = (1i64, true, 0);
    for &len in shape {
        if len < 0 {
            unknowns += 1;
        } else {
            let (product, overflows) = known.overflowing_mul(len);
            (known, fits) = (product, fits && !overflows);
        }
    }
    match unknowns {
        0 if fits && known == size => Ok(1),
        1 if fits && known != 0 && size % known == 0 => Ok(size / known),
        0 | 1 => Err(errors::reshape(size, shape)),
        _ => Err(Error::value("can only specify one unknown dimension")),
    }
}

/// Checks the size of an empty array's new shape. The product of the nonzero lengths may be larger in the new shape
/// than in the old one.
#[cold]
#[inline(never)]
fn check_empty(shape: &[i64], itemsize: i64) -> Result<()> {
    check_size(&resolve_shape(0, shape)?, itemsize)
}

impl Layout {
    /// Returns a view with another shape; `None` if a copy is needed, which is the case exactly if NumPy copies. The
    /// elements are read from this layout, and fill the new shape, in the memory order `order`. One length may be
    /// negative, meaning unknown.
    #[inline]
    pub fn reshape(&self, shape: &[i64], order: MemoryOrder) -> Result<Option<Self>> {
        let mut view = Self::scalar(self.itemsize);
        Ok(if self.reshape_into(&mut view, shape, order)? { Some(view) } else { None })
    }

    /// Reshapes like [`Layout::reshape`], but writes the result into `view`. Returns `false` if a copy is needed.
    #[inline(always)]
    pub fn reshape_into(&self, view: &mut Self, shape: &[i64], order: MemoryOrder) -> Result<bool> {
        let size = self.size();
        let unknown = unknown_length(size, shape)?;
        // This shortcut requires that no length is unknown. If a length is unknown, NumPy sets new strides for axes of
        // length 1, even if the shape is unchanged.
        if shape.len() == self.ndim() && self.shape().eq(shape.iter().copied()) {
            view.assign(self);
            return Ok(true);
        }
        (view.offset, view.itemsize) = (self.offset, self.itemsize);
        let axes = &mut view.axes;
        axes.clear();
        for &len in shape {
            axes.push(Axis { len: if len < 0 { unknown } else { len }, stride: 0 }); // `extend` is not inlined
        }
        if size == 0 {
            check_empty(shape, self.itemsize)?;
        }
        let packed = match order {
            MemoryOrder::C => self.is_c_contiguous(),
            MemoryOrder::F => self.is_f_contiguous(),
        };
        if packed {
            fill_contiguous(axes, self.itemsize, order);
            return Ok(true);
        }
        Ok(split_and_merge(&self.axes, axes, order))
    }

    /// Returns a view with one axis that contains all elements, in the memory order `order`; `None` if a copy is
    /// needed.
    #[inline]
    pub fn ravel(&self, order: MemoryOrder) -> Result<Option<Self>> {
        self.reshape(&[-1], order)
    }
}

/// Sets the strides of `new` as NumPy's `_attempt_nocopy_reshape` does; returns `false` if no strides are possible.
///
/// Traverses both shapes in groups of axes with equal products. The old axes of a group must form one evenly spaced
/// run of elements, which the new axes of the group divide. Both shapes have the same number of elements, at least
/// two, since a smaller array is contiguous; the products stay at or below that number.
#[inline(never)]
fn split_and_merge(old: &[Axis], new: &mut [Axis], order: MemoryOrder) -> bool {
    let old: Axes = old.iter().copied().filter(|axis| axis.len != 1).collect();
    let (mut old_start, mut new_start) = (0, 0);
    while old_start < old.len() && new_start < new.len() {
        let (mut old_end, mut new_end) = (old_start + 1, new_start + 1);
        let (mut old_product, mut new_product) = (old[old_start].len, new[new_start].len);
        while old_product != new_product {
            if new_product < old_product {
                new_product *= new[new_end].len;
                new_end += 1;
            } else {
                old_product *= old[old_end].len;
                old_end += 1;
            }
        }
        let old_group = &old[old_start..old_end];
        let even = old_group.windows(2).all(|pair| match order {
            MemoryOrder::C => pair[1].len.checked_mul(pair[1].stride) == Some(pair[0].stride),
            MemoryOrder::F => pair[0].len.checked_mul(pair[0].stride) == Some(pair[1].stride),
        });
        if !even {
            return false;
        }
        let new_group = &mut new[new_start..new_end];
        match order {
            MemoryOrder::C => spread(new_group.iter_mut().rev(), old_group[old_group.len() - 1].stride),
            MemoryOrder::F => spread(new_group.iter_mut(), old_group[0].stride),
        }
        (old_start, new_start) = (old_end, new_end);
    }
    let Some(last) = new_start.checked_sub(1).map(|last| new[last]) else { return true };
    // All remaining axes have length 1. Their strides have no meaning, but are equal to NumPy's.
    let stride = match order {
        MemoryOrder::C => last.stride,
        MemoryOrder::F => last.stride.wrapping_mul(last.len),
    };
    new[new_start..].iter_mut().for_each(|axis| axis.stride = stride);
    true
}

/// Sets the strides of axes that divide one evenly spaced run, fastest axis first. The last multiplication may wrap
/// around for axes of length 1, whose strides have no meaning.
fn spread<'a>(fastest_first: impl Iterator<Item = &'a mut Axis>, mut stride: i64) {
    for axis in fastest_first {
        axis.stride = stride;
        stride = stride.wrapping_mul(axis.len);
    }
}
