//! Defines `round`, which rounds to a number of decimal digits, by NumPy's rules for dtypes and `out`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::super::operand::UfuncOperand;
use super::super::ufunc_call::UfuncKeywords;
use super::{compute, output_keywords};
use crate::array::array_argument;
use crate::array::class::GpuArray;
use crate::array::output_argument::OutputArg;
use crate::exported_names::names;
use crate::kernel::call::scalar_values;
use crate::py_once::intern;
use crate::views::copyto;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_layout::{Dims, tuple_text};
use pygpu_ops::ufunc::{PromotionOperand, builtin_row, ufunc_table};

/// Returns the dtype to which NumPy converts an operand; `None` for an object of a type that NumPy's ufuncs do not
/// accept.
fn kind_of(object: &Bound<'_, PyAny>) -> PyResult<Option<ScalarType>> {
    if let Ok(array) = object.cast::<GpuArray>() {
        return Ok(Some(array.get().dtype().kind()));
    }
    Ok(UfuncOperand::read(object)?.map(|operand| match operand.operand() {
        PromotionOperand::Strong(kind) => kind,
        PromotionOperand::Int => ScalarType::Int64,
        PromotionOperand::Float => ScalarType::Float64,
        PromotionOperand::Complex => ScalarType::Complex128,
    }))
}

fn is_complex(kind: ScalarType) -> bool {
    matches!(kind, ScalarType::Complex64 | ScalarType::Complex128)
}

/// The power of ten that moves the last digit that rounding keeps to the ones place. A number is multiplied by this
/// power to round after the decimal point, and divided by this power to round before the point.
struct Scale {
    exponent: u32,
    is_factor: bool,
}

impl Scale {
    fn of(decimals: i32) -> Self {
        Self { exponent: decimals.unsigned_abs(), is_factor: decimals > 0 }
    }

    fn float(&self) -> f64 {
        10f64.powf(f64::from(self.exponent))
    }

    /// Rounds the elements of an array with one kernel, in the dtype of the array.
    fn round<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        is_integer: bool,
        keywords: &UfuncKeywords<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let entry = if self.is_factor { &ufunc_table::ROUND_BEHIND } else { &ufunc_table::ROUND_BEFORE };
        let scale = match is_integer {
            true => 10i64.checked_pow(self.exponent).unwrap_or(i64::MAX).into_pyobject(a.py())?.into_any(),
            false => self.float().into_pyobject(a.py())?.into_any(),
        };
        compute(entry, &[a, &scale], keywords)
    }

    /// Rounds the elements of an array in the three steps of NumPy. The steps multiply or divide by a power of ten,
    /// round to an integer, and undo the first step. The results of all steps are written into `out`.
    ///
    /// # Errors
    /// `TypeError` if the casting rules do not permit a cast of quotients to the type of `out`.
    fn round_in_steps<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, GpuArray>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scale = self.float().into_pyobject(a.py())?.into_any();
        let (multiply, divide) = (const { builtin_row("multiply") }, const { builtin_row("divide") });
        let (first, last) = if self.is_factor { (multiply, divide) } else { (divide, multiply) };
        let scaled = compute(first, &[a, &scale], &output_keywords(out))?.cast_into::<GpuArray>()?;
        let into_scaled = UfuncKeywords::into_array(&scaled);
        compute(const { builtin_row("rint") }, &[scaled.as_any()], &into_scaled)?;
        compute(last, &[scaled.as_any(), &scale], &into_scaled)
    }

    /// Whether an integer type can represent 10 to the power of the number of digits.
    fn fits(&self, kind: ScalarType) -> bool {
        let bits = 8 * DType::new(kind).itemsize() as u32;
        let is_signed = matches!(kind, ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64);
        let most = u64::MAX >> (64 - bits + u32::from(is_signed));
        10u64.checked_pow(self.exponent).is_some_and(|power| power <= most && power <= i64::MAX as u64)
    }
}

/// Round to a number of decimal digits; halves are rounded to the even digit.
///
/// Parameters
/// ----------
/// a : GPUArray, number or sequence of numbers
/// decimals : int, optional
///     Digits after the decimal point; a negative value rounds digits before the point.
/// out : GPUArray, optional
///     Array for the result, of the same shape as `a`.
///
/// Returns
/// -------
/// GPUArray
///     An array with the dtype of `a`. For bools and `decimals` of 0, the dtype is float16.
///
/// Raises
/// ------
/// TypeError
///     For bools if `decimals` is not 0, and if the result cannot be cast to the dtype of `out`.
/// ValueError
///     For an `out` of another shape.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.round(PyGPU.to_gpu([0.5, 1.5, 2.25])).tolist()
/// [0.0, 2.0, 2.0]
/// >>> PyGPU.round(PyGPU.to_gpu([1234, 1250]), -2).tolist()
/// [1200, 1200]
#[pyfunction]
#[pyo3(signature = (a: "Operand", /, decimals: "int" = 0, out: "GPUArray | None" = None) -> "GPUArray")]
fn round<'py>(a: &Bound<'py, PyAny>, decimals: i32, out: Option<OutputArg<'py>>) -> PyResult<Bound<'py, PyAny>> {
    rounded(a, decimals, out.as_deref())
}

pub(crate) fn rounded<'py>(
    a: &Bound<'py, PyAny>,
    decimals: i32,
    out: Option<&Bound<'py, GpuArray>>,
) -> PyResult<Bound<'py, PyAny>> {
    if a.is_instance_of::<PyList>() || a.is_instance_of::<PyTuple>() {
        return rounded(array_argument::sequence_or_error(a)?.as_any(), decimals, out);
    }
    let kind = kind_of(a)?;
    // For complex numbers and `decimals` other than 0, the shapes of operand and `out` may differ: NumPy rounds the
    // real and imaginary parts and broadcasts them to the shape of `out`.
    if let Some(out) = out
        && !(kind.is_some_and(is_complex) && decimals != 0)
    {
        check_shape(a, out)?;
    }
    let is_integer = kind.is_some_and(|kind| scalar_values::is_integer(kind) && kind != ScalarType::Bool);
    if is_integer && decimals >= 0 {
        return copied(a, out);
    }
    if decimals == 0 {
        return compute(const { builtin_row("rint") }, &[a], &output_keywords(out));
    }
    let scale = Scale::of(decimals);
    match (kind, out) {
        (Some(ScalarType::Bool), None) => Err(PyTypeError::new_err(format!(
            "round: bools cannot be rounded to {decimals} decimal digits; convert them to numbers first, with .astype"
        ))),
        (Some(kind), None) if is_integer && !scale.fits(kind) => {
            let rounded = scale.round_in_steps(a, None)?;
            rounded.call_method1(intern!(a.py(), "astype"), (DType::new(kind).name(),))
        }
        (Some(kind), Some(out))
            if kind != out.get().dtype().kind() && !is_complex(kind) || scalar_values::is_integer(kind) =>
        {
            scale.round_in_steps(a, Some(out))
        }
        _ => scale.round(a, is_integer, &output_keywords(out)),
    }
}

/// Returns a copy of an operand of integers. Rounding integers to digits after the decimal point does not change them.
fn copied<'py>(a: &Bound<'py, PyAny>, out: Option<&Bound<'py, GpuArray>>) -> PyResult<Bound<'py, PyAny>> {
    let Some(out) = out else { return compute(const { builtin_row("positive") }, &[a], &UfuncKeywords::default()) };
    copyto::copyto(out.as_any(), a, "same_kind", None)?;
    Ok(out.clone().into_any())
}

/// Checks that the output array has the shape of the operand.
///
/// # Errors
/// `ValueError` for another shape.
fn check_shape(a: &Bound<'_, PyAny>, out: &Bound<'_, GpuArray>) -> PyResult<()> {
    let operand = UfuncOperand::read(a)?;
    let array = operand.as_ref().and_then(UfuncOperand::array);
    let shape = array.map_or_else(Dims::new, |array| array.layout().shape().collect());
    if out.get().layout().shape().eq(shape.iter().copied()) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "round: invalid output shape: out has shape {}, and the array has shape {}",
        tuple_text(out.get().layout().shape()),
        tuple_text(shape)
    )))
}

names! {
    functions "Functions of each element": round;
    aliases "Functions of each element": around = round;
}
