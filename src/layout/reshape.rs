//! Reshape without a copy where NumPy finds one.

use super::{Axes, Axis, Dims, Layout, Order, check_rank, check_size, errors, fill_contiguous};
use crate::error::{Error, Result};

/// Fills in the one unknown (negative) length of a wanted shape, so that it holds `size` elements.
pub fn resolve_shape(size: i64, wanted: &[i64]) -> Result<Dims> {
    check_rank(wanted.len())?;
    let mut unknown = None;
    let mut known = Some(1i64);
    for (axis, &len) in wanted.iter().enumerate() {
        if len >= 0 {
            known = known.and_then(|known| known.checked_mul(len));
        } else if unknown.replace(axis).is_some() {
            return Err(Error::value("can only specify one unknown dimension"));
        }
    }
    let mut shape = Dims::from_slice(wanted);
    match (known, unknown) {
        (Some(known), None) if known == size => Ok(shape),
        (Some(known), Some(axis)) if known != 0 && size % known == 0 => {
            shape[axis] = size / known;
            Ok(shape)
        }
        _ => Err(errors::reshape(size, wanted)),
    }
}

impl Layout {
    /// The view with another shape (one length may be negative: unknown), reading and placing the elements in
    /// `order`; `None` if they must be copied first. Decided exactly as NumPy does.
    pub fn reshape(&self, wanted: &[i64], order: Order) -> Result<Option<Self>> {
        let shape = resolve_shape(self.size(), wanted)?;
        if shape.len() == self.ndim() && self.shape().eq(shape.iter().copied()) {
            return Ok(Some(self.clone()));
        }
        check_size(&shape, self.itemsize)?;
        let packed = match order {
            Order::C => self.is_c_contiguous(),
            Order::F => self.is_f_contiguous(),
        };
        let mut axes = Axes::new();
        if packed {
            fill_contiguous(&mut axes, &shape, self.itemsize, order);
        } else {
            axes.extend(shape.iter().map(|&len| Axis { len, stride: 0 }));
            if !split_and_merge(&self.axes, &mut axes, order) {
                return Ok(None);
            }
        }
        Ok(Some(Self::from_parts(axes, self.offset, self.itemsize)))
    }

    /// All elements along one axis, in `order`; `None` if they must be copied first.
    pub fn ravel(&self, order: Order) -> Result<Option<Self>> {
        self.reshape(&[-1], order)
    }
}

/// NumPy's `_attempt_nocopy_reshape`: gives `new` its strides, or says that there are none.
///
/// Walks both shapes side by side in groups of axes with equal products: a group of old axes must be one even run of
/// elements, which the new axes of the group divide. Both hold the same number of elements, at least two, since
/// anything smaller is contiguous; the products stay below that number.
fn split_and_merge(old: &[Axis], new: &mut [Axis], order: Order) -> bool {
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
            Order::C => pair[1].len.checked_mul(pair[1].stride) == Some(pair[0].stride),
            Order::F => pair[0].len.checked_mul(pair[0].stride) == Some(pair[1].stride),
        });
        if !even {
            return false;
        }
        let new_group = &mut new[new_start..new_end];
        match order {
            Order::C => spread(new_group.iter_mut().rev(), old_group[old_group.len() - 1].stride),
            Order::F => spread(new_group.iter_mut(), old_group[0].stride),
        }
        (old_start, new_start) = (old_end, new_end);
    }
    let Some(last) = new_start.checked_sub(1).map(|last| new[last]) else { return true };
    // What is left has length 1; the value is NumPy's.
    let stride = match order {
        Order::C => last.stride,
        Order::F => last.stride.wrapping_mul(last.len),
    };
    new[new_start..].iter_mut().for_each(|axis| axis.stride = stride);
    true
}

/// Strides of axes that divide one even run, the fastest first. May wrap in the last step for axes of length 1.
fn spread<'a>(fastest_first: impl Iterator<Item = &'a mut Axis>, mut stride: i64) {
    for axis in fastest_first {
        axis.stride = stride;
        stride = stride.wrapping_mul(axis.len);
    }
}
