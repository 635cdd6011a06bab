//! Determines the axes of a Fourier transform, how many points each axis has, and the scale factor.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::convert::shape;
use pygpu_layout::{Layout, normalize_axis};
use pygpu_ops::fft::Transform;

/// Axes of a transform, each with its number of points. The last axis is transformed first, as in NumPy.
pub(super) type FftAxes = SmallVec<[(usize, i64); 4]>;

/// A transform function of `numpy.fft`, such as `fft` or `irfftn`.
#[derive(Clone, Copy)]
pub(super) struct FftFunction {
    pub(super) transform: Transform,
    /// Whether the function accepts several axes.
    pub(super) accepts_several: bool,
}

impl FftFunction {
    /// Returns the function with the given name in `numpy.fft`.
    pub(super) fn from_name(name: &str) -> PyResult<Self> {
        let (base, accepts_several) = match name.strip_suffix('n') {
            Some(base) => (base, true),
            None => (name, false),
        };
        let transform = match base {
            "fft" => Transform::Forward,
            "ifft" => Transform::Inverse,
            "rfft" => Transform::FromReal,
            "irfft" => Transform::ToReal,
            _ => return Err(PyValueError::new_err(format!("there is no transform named {name}"))),
        };
        Ok(Self { transform, accepts_several })
    }

    pub(super) const fn is_forward(self) -> bool {
        matches!(self.transform, Transform::Forward | Transform::FromReal)
    }

    /// Returns the name of the NumPy ufunc that computes this transform along one axis of `points` points, for error
    /// messages.
    pub(super) const fn ufunc_name(self, points: i64) -> &'static str {
        match self.transform {
            Transform::Forward => "fft",
            Transform::Inverse => "ifft",
            Transform::FromReal if points % 2 == 0 => "rfft_n_even",
            Transform::FromReal => "rfft_n_odd",
            Transform::ToReal => "irfft",
        }
    }

    /// Resolves the arguments `axes` and `points` of a call to the transformed axes, each with its number of points.
    ///
    /// # Errors
    /// The same errors as in NumPy.
    pub(super) fn axes(
        self,
        layout: &Layout,
        points: Option<&Bound<'_, PyAny>>,
        axes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FftAxes> {
        let ndim = layout.ndim();
        let lengths = layout.axes();
        let mut resolved = FftAxes::new();
        match axes {
            Some(axis) if !self.accepts_several => {
                resolved.push((axis_index(axis, ndim)?, 0));
            }
            Some(axes) => {
                for axis in axes.try_iter()? {
                    resolved.push((axis_index(&axis?, ndim)?, 0));
                }
            }
            None if !self.accepts_several => return Err(PyTypeError::new_err("axis is an integer, not None")),
            None => {
                // Without `axes`, the last axes are transformed. Their number is the number of lengths in `points`;
                // without `points`, all axes are transformed.
                let count = points.map_or(Ok(ndim), |points| points.len())?;
                let Some(first) = ndim.checked_sub(count) else { return Err(too_many_lengths(points, ndim)) };
                resolved.extend((first..ndim).map(|axis| (axis, 0)));
            }
        }
        let is_half = self.transform == Transform::ToReal;
        let last = resolved.len().wrapping_sub(1);
        let default_points = |index: usize, axis: usize| match is_half && index == last {
            true => (lengths[axis].len - 1) * 2,
            false => lengths[axis].len,
        };
        match points {
            None => resolved.iter_mut().enumerate().for_each(|(index, entry)| entry.1 = default_points(index, entry.0)),
            Some(points) if !self.accepts_several => resolved[0].1 = shape::integer(points, "n")?,
            Some(points) => {
                let mut index = 0;
                for count in points.try_iter()? {
                    let count = count?;
                    let entry = resolved.get_mut(index).ok_or_else(different_lengths)?;
                    entry.1 = match count.is_none() {
                        true => default_points(index, entry.0),
                        false => match shape::integer(&count, "s")? {
                            -1 => lengths[entry.0].len,
                            count => count,
                        },
                    };
                    index += 1;
                }
                if index != resolved.len() {
                    return Err(different_lengths());
                }
            }
        }
        if resolved.is_empty() && !matches!(self.transform, Transform::Forward | Transform::Inverse) {
            return Err(PyIndexError::new_err("list index out of range"));
        }
        match resolved.iter().find(|(_, points)| *points < 1) {
            Some((_, points)) => {
                Err(PyValueError::new_err(format!("Invalid number of FFT data points ({points}) specified.")))
            }
            None => Ok(resolved),
        }
    }

    /// Returns the scale factor of the transform's result that the argument `norm` requires.
    ///
    /// # Errors
    /// `ValueError` for an unknown norm.
    pub(super) fn factor(self, norm: Option<&Bound<'_, PyAny>>, axes: &[(usize, i64)]) -> PyResult<f64> {
        let text = norm.map_or_else(|| Ok("backward".to_owned()), |norm| norm.str()?.extract::<String>())?;
        let points = || axes.iter().map(|(_, points)| *points as f64).product::<f64>();
        match (text.as_str(), self.is_forward()) {
            ("backward", true) | ("forward", false) => Ok(1.0),
            ("backward", false) | ("forward", true) => Ok(1.0 / points()),
            ("ortho", _) => Ok(1.0 / points().sqrt()),
            (other, is_forward) => {
                let space = if is_forward { "" } else { " " };
                Err(PyValueError::new_err(format!(
                    "Invalid norm value {other}; should be \"backward\",{space}\"ortho\" or \"forward\"."
                )))
            }
        }
    }
}

/// Converts an axis, which may be negative, to its index from the first axis.
fn axis_index(object: &Bound<'_, PyAny>, ndim: usize) -> PyResult<usize> {
    Ok(normalize_axis(shape::integer(object, "axis")?, ndim)?)
}

/// Returns the error that NumPy raises if a call passes more lengths than the array has axes: `IndexError` if NumPy
/// would read the length of a missing axis from the shape, otherwise `AxisError`.
#[cold]
fn too_many_lengths(points: Option<&Bound<'_, PyAny>>, ndim: usize) -> PyErr {
    let lengths = points.and_then(|points| points.extract::<Vec<Option<i64>>>().ok()).unwrap_or_default();
    let missing = lengths.len().saturating_sub(ndim);
    if lengths[..missing].iter().any(|length| length.is_none_or(|length| length == -1)) {
        return PyIndexError::new_err("tuple index out of range");
    }
    normalize_axis(-(ndim as i64) - 1, ndim).map_or_else(PyErr::from, |_| different_lengths())
}

#[cold]
fn different_lengths() -> PyErr {
    PyValueError::new_err("Shape and axes have different lengths.")
}
