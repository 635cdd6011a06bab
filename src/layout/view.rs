//! Reinterprets the bytes of an array as elements of another size: `ndarray.view(dtype)`.

use super::{Axes, Axis, Dims, Layout, check_size, errors};
use pygpu_base::error::{Error, Result};

impl Layout {
    /// Returns the view with another item size. The last axis must be contiguous; its bytes are divided into elements
    /// of the new size.
    #[inline]
    pub fn view_dtype(&self, itemsize: i64) -> Result<Self> {
        if itemsize == self.itemsize {
            return Ok(self.clone());
        }
        if itemsize < 1 {
            return Err(errors::itemsize(itemsize));
        }
        let Some(&last) = self.axes.last() else {
            return Err(Error::value(
                "Changing the dtype of a 0d array is only supported if the itemsize is unchanged",
            ));
        };
        if last.len != 1 && last.stride != self.itemsize && !self.is_empty() {
            return Err(Error::value("To change to a dtype of a different size, the last axis must be contiguous"));
        }
        let bytes = last.len * self.itemsize;
        if itemsize < self.itemsize && self.itemsize % itemsize != 0 {
            return Err(Error::value(
                "When changing to a smaller dtype, its size must be a divisor of the size of original dtype",
            ));
        }
        if bytes % itemsize != 0 {
            return Err(Error::value(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last \
                 axis of the array.",
            ));
        }
        let mut axes = Axes::new();
        axes.extend(self.axes.iter().copied());
        if let Some(axis) = axes.last_mut() {
            *axis = Axis { len: bytes / itemsize, stride: itemsize };
        }
        if last.len == 0 {
            // The size is checked again, because in an empty array the product of the nonzero lengths and the itemsize
            // may grow.
            let shape: Dims = self.shape().collect();
            check_size(&shape, itemsize)?;
        }
        Ok(Self::from_parts(axes, self.offset, itemsize))
    }
}
