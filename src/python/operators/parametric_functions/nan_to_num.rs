//! Defines `nan_to_num`, which replaces NaN and infinities by numbers, or by elements of arrays.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::super::ufunc_call::UfuncKeywords;
use super::compute;
use crate::array::array_argument::{self, ArrayArg};
use crate::array::class::{GpuArray, new_like};
use crate::exported_names::names;
use crate::host_transfers::transfer;
use crate::py_once::intern;
use pygpu_base::dtype::ScalarType;
use pygpu_ops::ufunc::ufunc_table;

/// The replacement of NaN, or of one of the infinities.
enum Replacement<'py> {
    Number(f64),
    Array(Bound<'py, GpuArray>),
}

impl<'py> Replacement<'py> {
    /// Reads the argument for a replacement; a list or tuple is copied to the current device.
    fn read(object: Option<&Bound<'py, PyAny>>, default: f64) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::Number(default)) };
        if let Ok(array) = object.cast::<GpuArray>() {
            return Ok(Self::Array(array.clone()));
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return array_argument::sequence_or_error(object).map(Self::Array);
        }
        object.extract().map(Self::Number)
    }

    /// Returns the replacement as an operand of the type of `part`. An array is converted before the computation; its
    /// elements are therefore rounded only once.
    fn operand(&self, part: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = part.py();
        match self {
            Self::Number(number) => Ok(number.into_pyobject(py)?.into_any()),
            Self::Array(array) => {
                let dtype = part.getattr(intern!(py, "dtype"))?;
                array.call_method1(intern!(py, "astype"), (dtype, py.None(), "same_kind", true, false))
            }
        }
    }
}

/// Returns the greatest finite number of a type of floats or complex numbers; `None` for other types.
fn greatest(kind: ScalarType) -> Option<f64> {
    match kind {
        ScalarType::Float16 => Some(65504.0),
        ScalarType::BFloat16 => Some(3.389_531_389_251_535_5e38),
        ScalarType::Float32 | ScalarType::Complex64 => Some(f64::from(f32::MAX)),
        ScalarType::Float64 | ScalarType::Complex128 => Some(f64::MAX),
        _ => None,
    }
}

fn copied<'py>(x: &Bound<'py, GpuArray>) -> PyResult<Bound<'py, GpuArray>> {
    let copied = transfer::device_copy_like(x.py(), x.get().array(x.py())?)?;
    new_like(x, GpuArray::from_array(copied))
}

/// Replace NaN and infinities by finite numbers.
///
/// Parameters
/// ----------
/// x : GPUArray
/// copy : bool, optional
///     Whether to return a new array; False writes the result into `x`.
/// nan : float, GPUArray or sequence of numbers, optional
///     Replacement for NaN. Arrays are broadcast to the shape of `x`.
/// posinf, neginf : float, GPUArray or sequence of numbers, optional
///     Replacements for the infinities; by default the largest and the smallest finite number of the type.
///
/// Returns
/// -------
/// GPUArray
///     Real and imaginary parts of complex numbers are replaced separately.
///
/// Raises
/// ------
/// TypeError
///     For a replacement that is complex.
/// ValueError
///     For a replacement that does not broadcast to the shape of `x`.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.to_gpu([1.0, float("nan"), float("inf")])
/// >>> PyGPU.nan_to_num(a, posinf=9).tolist()
/// [1.0, 0.0, 9.0]
/// >>> PyGPU.nan_to_num(a, nan=PyGPU.to_gpu([10, 20, 30]), posinf=9).tolist()
/// [1.0, 20.0, 9.0]
#[pyfunction]
#[pyo3(
    signature = (
        x: "GPUArray", copy: "bool" = true, nan: "Operand" = None, posinf: "Operand | None" = None,
        neginf: "Operand | None" = None
    ) -> "GPUArray",
    text_signature = "(x, copy=True, nan=0.0, posinf=None, neginf=None)"
)]
fn nan_to_num<'py>(
    x: ArrayArg<'py>,
    copy: bool,
    nan: Option<&Bound<'py, PyAny>>,
    posinf: Option<&Bound<'py, PyAny>>,
    neginf: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let kind = x.get().dtype().kind();
    let Some(most) = greatest(kind) else {
        return if copy { copied(&x).map(Bound::into_any) } else { Ok(x.clone().into_any()) };
    };
    let replacements =
        [Replacement::read(nan, 0.0)?, Replacement::read(posinf, most)?, Replacement::read(neginf, -most)?];
    if replacements.iter().all(|one| matches!(one, Replacement::Number(_))) {
        let keywords = if copy { UfuncKeywords::default() } else { UfuncKeywords::into_array(&x) };
        return replace(x.as_any(), &replacements, &keywords);
    }
    // The result is written into an array with the shape and dtype of `x`. Otherwise replacements that are arrays could
    // enlarge the result by broadcasting, or change its type by promotion.
    let result = if copy { copied(&x)? } else { x.clone() };
    for part in parts(&result, kind)? {
        replace(part.as_any(), &replacements, &UfuncKeywords::into_array(&part))?;
    }
    Ok(result.into_any())
}

/// Returns views of the real and imaginary parts of a complex array; for another array, returns only the array.
fn parts<'py>(array: &Bound<'py, GpuArray>, kind: ScalarType) -> PyResult<Vec<Bound<'py, GpuArray>>> {
    let py = array.py();
    match kind {
        ScalarType::Complex64 | ScalarType::Complex128 => {
            Ok(vec![array.getattr(intern!(py, "real"))?.cast_into()?, array.getattr(intern!(py, "imag"))?.cast_into()?])
        }
        _ => Ok(vec![array.clone()]),
    }
}

fn replace<'py>(
    part: &Bound<'py, PyAny>,
    [nan, above, below]: &[Replacement<'py>; 3],
    keywords: &UfuncKeywords<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (nan, above, below) = (nan.operand(part)?, above.operand(part)?, below.operand(part)?);
    compute(&ufunc_table::NAN_TO_NUM, &[part, &nan, &above, &below], keywords)
}

names! {
    functions "Functions of each element": nan_to_num;
}
