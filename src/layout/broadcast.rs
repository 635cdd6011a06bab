//! Implements broadcasting: the common shape of several shapes, and views that repeat elements with stride 0.

use super::{Axes, Axis, Dims, Layout, check_rank, check_size, errors};
use pygpu_base::error::{Error, Result};

/// Returns the shape to which all shapes broadcast.
pub fn broadcast_shapes(shapes: &[&[i64]]) -> Result<Dims> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    check_rank(rank)?;
    let mut common = Dims::from_elem(1, rank);
    for shape in shapes {
        for (target, &len) in common.iter_mut().rev().zip(shape.iter().rev()) {
            if len < 0 {
                return Err(Error::value("negative dimensions are not allowed"));
            }
            if *target == 1 {
                *target = len;
            } else if len != *target && len != 1 {
                return Err(errors::broadcast(shapes));
            }
        }
    }
    Ok(common)
}

impl Layout {
    /// Returns the view that broadcasts this layout to a larger shape. The view has stride 0 along every added axis,
    /// and every axis whose length changes from 1.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Self> {
        check_rank(shape.len())?;
        if shape.iter().any(|&len| len < 0) {
            return Err(Error::value("all elements of broadcast shape must be non-negative"));
        }
        let Some(added) = shape.len().checked_sub(self.ndim()) else {
            if shape.is_empty() {
                return Err(Error::value("cannot broadcast a non-scalar to a scalar array"));
            }
            return Err(Error::value("input operand has more dimensions than allowed by the axis remapping"));
        };
        let mut axes = Axes::new();
        axes.extend(shape[..added].iter().map(|&len| Axis { len, stride: 0 }));
        for (&axis, &len) in self.axes.iter().zip(&shape[added..]) {
            axes.push(match axis.len {
                1 => Axis { len, stride: 0 },
                found if found == len => axis,
                _ => return Err(errors::broadcast_to(self, shape)),
            });
        }
        check_size(shape, self.itemsize)?;
        Ok(Self::from_parts(axes, self.offset, self.itemsize))
    }
}
