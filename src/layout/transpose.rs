//! Creates views that move, drop, add or reverse whole axes.

use smallvec::SmallVec;

use super::{Axes, AxisSet, Layout, MemoryOrder, check_rank, errors, normalize_axis};
use pygpu_base::error::{Error, Result};

impl Layout {
    /// Returns the view with the axes in the order `axes`; for `None`, in reverse order.
    #[inline]
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Self> {
        match axes {
            Some(axes) => self.permute(axes),
            None => {
                let mut view = Self::scalar(self.itemsize);
                self.reverse_into(&mut view);
                Ok(view)
            }
        }
    }

    /// Writes the view with reversed axes into `view`.
    #[inline(always)]
    pub fn reverse_into(&self, view: &mut Self) {
        view.axes.clear();
        for &axis in self.axes.iter().rev() {
            view.axes.push(axis); // `push` is inlined, unlike `extend`
        }
        (view.offset, view.itemsize) = (self.offset, self.itemsize);
    }

    /// Returns the view whose axis `i` is axis `axes[i]` of this layout.
    #[inline]
    pub fn permute(&self, axes: &[i64]) -> Result<Self> {
        if axes.len() != self.ndim() {
            return Err(Error::value("axes don't match array"));
        }
        let mut seen = AxisSet::default();
        let mut permuted = Axes::new();
        for &axis in axes {
            let axis = normalize_axis(axis, self.ndim())?;
            if !seen.insert(axis) {
                return Err(Error::value("repeated axis in transpose"));
            }
            permuted.push(self.axes[axis]);
        }
        Ok(self.with_axes(permuted))
    }

    /// Returns the view in which two axes are exchanged.
    pub fn swap_axes(&self, axis1: i64, axis2: i64) -> Result<Self> {
        let (first, second) = self.two_axes(axis1, axis2)?;
        let mut axes = Axes::new();
        axes.extend(self.axes.iter().copied());
        axes.swap(first, second);
        Ok(self.with_axes(axes))
    }

    /// Returns the view in which the axes `source` are moved to the positions `destination`. The other axes keep their
    /// order.
    pub fn move_axis(&self, source: &[i64], destination: &[i64]) -> Result<Self> {
        let from = self.distinct_axes("source", source)?;
        let to = self.distinct_axes("destination", destination)?;
        if from.len() != to.len() {
            return Err(Error::value("`source` and `destination` arguments must have the same number of elements"));
        }
        let moved = AxisSet::of_distinct(&from).unwrap_or_default();
        let mut rest = self.axes.iter().enumerate().filter(|(axis, _)| !moved.contains(*axis)).map(|(_, axis)| *axis);
        let axes = (0..self.ndim()).filter_map(|place| match to.iter().position(|&to| to == place) {
            Some(pair) => Some(self.axes[from[pair]]),
            None => rest.next(),
        });
        Ok(self.with_axes(axes.collect()))
    }

    /// Returns the view without the axes `axes`, which must have length 1; for `None`, without any axis of length 1.
    pub fn squeeze(&self, axes: Option<&[i64]>) -> Result<Self> {
        let Some(axes) = axes else {
            return Ok(self.with_axes(self.axes.iter().copied().filter(|axis| axis.len != 1).collect()));
        };
        if self.ndim() == 0 && matches!(axes, [0 | -1]) {
            // NumPy accepts axis 0 or -1 of an array without axes, for compatibility with old programs.
            return Ok(self.clone());
        }
        let dropped = axis_set(axes, self.ndim(), "duplicate value in 'axis'")?;
        let kept = || self.axes.iter().enumerate().filter(|(axis, _)| !dropped.contains(*axis));
        if self.axes.iter().enumerate().any(|(axis, found)| dropped.contains(axis) && found.len != 1) {
            return Err(Error::value("cannot select an axis to squeeze out which has size not equal to one"));
        }
        Ok(self.with_axes(kept().map(|(_, axis)| *axis).collect()))
    }

    /// Returns the view with additional axes of length 1 at the given positions of the result.
    pub fn expand_dims(&self, axes: &[i64]) -> Result<Self> {
        let rank = self.ndim() + axes.len();
        check_rank(rank)?;
        let added = axis_set(axes, rank, "repeated axis")?;
        let mut old = self.shape();
        let shape: super::Dims =
            (0..rank).map(|axis| if added.contains(axis) { 1 } else { old.next().unwrap_or(1) }).collect();
        // As in NumPy, a reshape adds the axes, so that they have NumPy's strides. This reshape never needs a copy.
        Ok(self.reshape(&shape, MemoryOrder::C)?.unwrap_or_else(|| self.clone()))
    }

    /// Returns the view in which the axes `axes` are reversed; for `None`, all axes.
    pub fn flip(&self, axes: Option<&[i64]>) -> Result<Self> {
        let flipped = match axes {
            Some(axes) => axis_set(axes, self.ndim(), "repeated axis")?,
            None => AxisSet::all(self.ndim()),
        };
        let mut view = self.clone();
        for (place, axis) in view.axes.iter_mut().enumerate() {
            if flipped.contains(place) && axis.len > 0 {
                // The sum and the negation can wrap only in an empty array or on an axis of length 1, where offset or
                // stride has no meaning.
                view.offset = view.offset.wrapping_add((axis.len - 1).wrapping_mul(axis.stride));
                axis.stride = axis.stride.wrapping_neg();
            }
        }
        if view.is_empty() {
            view.offset = self.offset;
        }
        Ok(view)
    }

    /// Returns the diagonal of two axes as a new last axis, taken `offset` elements above (or below, if negative) the
    /// main diagonal.
    pub fn diagonal(&self, offset: i64, axis1: i64, axis2: i64) -> Result<Self> {
        if self.ndim() < 2 {
            return Err(Error::value("diag requires an array of at least two dimensions"));
        }
        let (first, second) = self.two_axes(axis1, axis2)?;
        if first == second {
            return Err(Error::value("axis1 and axis2 cannot be the same"));
        }
        let (row, column) = (self.axes[first], self.axes[second]);
        let (skipped, rows, columns, skip_stride) = if offset >= 0 {
            (offset, row.len, column.len.saturating_sub(offset), column.stride)
        } else {
            let skipped = offset.saturating_neg();
            (skipped, row.len.saturating_sub(skipped), column.len, row.stride)
        };
        let len = rows.min(columns).max(0);
        let others = self.axes.iter().enumerate().filter(|(axis, _)| *axis != first && *axis != second);
        let mut axes: Axes = others.map(|(_, axis)| *axis).collect();
        // The sum wraps only if there is at most one element.
        axes.push(super::Axis { len, stride: row.stride.wrapping_add(column.stride) });
        let mut view = self.with_axes(axes);
        if !view.is_empty() {
            view.offset += skipped * skip_stride;
        }
        Ok(view)
    }

    #[inline]
    fn with_axes(&self, axes: Axes) -> Self {
        Self::from_parts(axes, self.offset, self.itemsize)
    }

    fn two_axes(&self, axis1: i64, axis2: i64) -> Result<(usize, usize)> {
        let first = normalize_axis(axis1, self.ndim()).map_err(|error| errors::named("axis1", error))?;
        let second = normalize_axis(axis2, self.ndim()).map_err(|error| errors::named("axis2", error))?;
        Ok((first, second))
    }

    fn distinct_axes(&self, argument: &'static str, axes: &[i64]) -> Result<SmallVec<[usize; 8]>> {
        let counted = axes.iter().map(|&axis| normalize_axis(axis, self.ndim())).collect::<Result<SmallVec<_>>>();
        let counted = counted.map_err(|error| errors::named(argument, error))?;
        AxisSet::of_distinct(&counted).ok_or_else(|| errors::repeated(argument))?;
        Ok(counted)
    }
}

fn axis_set(axes: &[i64], ndim: usize, repeated: &'static str) -> Result<AxisSet> {
    let counted: SmallVec<[usize; 8]> = axes.iter().map(|&axis| normalize_axis(axis, ndim)).collect::<Result<_>>()?;
    AxisSet::of_distinct(&counted).ok_or_else(|| Error::value(repeated))
}
