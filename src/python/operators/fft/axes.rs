//! Along which axes, with how many points, and by which factor.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::convert::shape;
use pygpu_layout::{Layout, normalize_axis};
use pygpu_ops::fft::Transform;

/// Axes and their points; the last one is transformed first, as NumPy does.
pub(super) type Axes = SmallVec<[(usize, i64); 4]>;

/// A function of NumPy's.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) transform: Transform,
    /// Whether it takes several axes.
    pub(super) takes_several: bool,
}

impl Named {
    /// By NumPy's name of it.
    pub(super) fn of(name: &str) -> PyResult<Self> {
        let (one, takes_several) = match name.strip_suffix('n') {
            Some(one) => (one, true),
            None => (name, false),
        };
        let transform = match one {
            "fft" => Transform::Forward,
            "ifft" => Transform::Inverse,
            "rfft" => Transform::FromReal,
            "irfft" => Transform::ToReal,
            _ => return Err(PyValueError::new_err(format!("there is no transform named {name}"))),
        };
        Ok(Self { transform, takes_several })
    }

    pub(super) const fn is_forward(self) -> bool {
        matches!(self.transform, Transform::Forward | Transform::FromReal)
    }

    /// NumPy's name of what is done along one axis.
    pub(super) const fn along_one(self, points: i64) -> &'static str {
        match self.transform {
            Transform::Forward => "fft",
            Transform::Inverse => "ifft",
            Transform::FromReal if points % 2 == 0 => "rfft_n_even",
            Transform::FromReal => "rfft_n_odd",
            Transform::ToReal => "irfft",
        }
    }

    /// The axes of a call.
    ///
    /// # Errors
    /// NumPy's.
    pub(super) fn axes(
        self,
        layout: &Layout,
        points: Option<&Bound<'_, PyAny>>,
        axes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Axes> {
        let ndim = layout.ndim();
        let lengths = layout.axes();
        let mut found = Axes::new();
        match axes {
            Some(axis) if !self.takes_several => {
                found.push((number_of(axis, ndim)?, 0));
            }
            Some(axes) => {
                for axis in axes.try_iter()? {
                    found.push((number_of(&axis?, ndim)?, 0));
                }
            }
            None if !self.takes_several => return Err(PyTypeError::new_err("axis is an integer, not None")),
            None => {
                // Of fewer lengths than there are axes the last ones are meant.
                let count = points.map_or(Ok(ndim), |points| points.len())?;
                let first = ndim.checked_sub(count).ok_or_else(different_lengths)?;
                found.extend((first..ndim).map(|axis| (axis, 0)));
            }
        }
        let is_half = self.transform == Transform::ToReal;
        let last = found.len().wrapping_sub(1);
        let usual = |place: usize, axis: usize| match is_half && place == last {
            true => (lengths[axis].len - 1) * 2,
            false => lengths[axis].len,
        };
        match points {
            None => found.iter_mut().enumerate().for_each(|(place, one)| one.1 = usual(place, one.0)),
            Some(points) if !self.takes_several => found[0].1 = shape::integer(points, "n")?,
            Some(points) => {
                let mut place = 0;
                for count in points.try_iter()? {
                    let count = count?;
                    let one = found.get_mut(place).ok_or_else(different_lengths)?;
                    one.1 = match count.is_none() {
                        true => usual(place, one.0),
                        false => match shape::integer(&count, "s")? {
                            -1 => lengths[one.0].len,
                            count => count,
                        },
                    };
                    place += 1;
                }
                if place != found.len() {
                    return Err(different_lengths());
                }
            }
        }
        if found.is_empty() && !matches!(self.transform, Transform::Forward | Transform::Inverse) {
            return Err(PyIndexError::new_err("list index out of range"));
        }
        match found.iter().find(|(_, points)| *points < 1) {
            Some((_, points)) => {
                Err(PyValueError::new_err(format!("Invalid number of FFT data points ({points}) specified.")))
            }
            None => Ok(found),
        }
    }

    /// What the sums of so many points are multiplied with.
    ///
    /// # Errors
    /// `ValueError` for a norm that is none.
    pub(super) fn factor(self, norm: Option<&str>, axes: &[(usize, i64)]) -> PyResult<f64> {
        let points = || axes.iter().map(|(_, points)| *points as f64).product::<f64>();
        match (norm.unwrap_or("backward"), self.is_forward()) {
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

/// An axis counted from the first one.
fn number_of(given: &Bound<'_, PyAny>, ndim: usize) -> PyResult<usize> {
    let axis = shape::integer(given, "axis")?;
    match normalize_axis(axis, ndim) {
        Ok(number) => Ok(number),
        Err(_) => {
            let errors = given.py().import("numpy.exceptions")?;
            Err(PyErr::from_value(errors.getattr("AxisError")?.call1((axis, ndim))?))
        }
    }
}

#[cold]
fn different_lengths() -> PyErr {
    PyValueError::new_err("Shape and axes have different lengths.")
}
