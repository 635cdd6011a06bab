//! Returns the real and imaginary parts of complex arrays as views: `a.real`, `a.imag`, `real(a)` and `imag(a)`.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyEllipsis;

use crate::array::class::{GpuArray, new_view_of};
use crate::array::output_argument::OutputArg;
use crate::create::like;
use crate::exported_names::names;
use crate::operators::parametric_functions::{compute, output_keywords};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_layout::{Dims, Layout};
use pygpu_ops::ufunc::builtin_row;

/// One component of a complex number.
#[derive(Clone, Copy)]
enum ComplexPart {
    Real,
    Imaginary,
}

/// Returns a view of one component of complex numbers; `None` for real numbers.
fn component_view(array: &Array, part: ComplexPart) -> PyResult<Option<Array>> {
    let kind = match array.dtype().kind() {
        ScalarType::Complex64 => ScalarType::Float32,
        ScalarType::Complex128 => ScalarType::Float64,
        _ => return Ok(None),
    };
    let dtype = DType::new(kind);
    let source_layout = array.layout();
    let (shape, strides): (Dims, Dims) = (source_layout.shape().collect(), source_layout.strides().collect());
    let itemsize = dtype.itemsize() as i64;
    let byte_offset = match part {
        ComplexPart::Real => 0,
        ComplexPart::Imaginary => itemsize,
    };
    let layout = match source_layout.is_empty() {
        true => source_layout.with_itemsize(itemsize)?,
        false => Layout::strided(&shape, &strides, source_layout.offset() + byte_offset, itemsize)?,
    };
    Ok(Some(array.view_as(layout, dtype)?))
}

#[pymethods]
impl GpuArray {
    /// View of the real parts; of real numbers the array itself.
    ///
    /// Writes into the view change the array, as in NumPy.
    #[getter]
    fn real<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        match component_view(slf.get().array(slf.py())?, ComplexPart::Real)? {
            Some(component) => new_view_of(slf, component),
            None => Ok(slf.clone()),
        }
    }

    #[setter(real)]
    fn set_real(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::real(slf)?.as_any().set_item(PyEllipsis::get(slf.py()), value)
    }

    /// View of the imaginary parts; of real numbers a new array of zeros.
    ///
    /// Writes into the view change the array, as in NumPy.
    #[getter]
    fn imag<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        match component_view(slf.get().array(slf.py())?, ComplexPart::Imaginary)? {
            Some(component) => new_view_of(slf, component),
            None => like::zeros_like(slf.py(), slf.as_any(), None, None, None, None),
        }
    }

    #[setter(imag)]
    fn set_imag(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(component) = component_view(slf.get().array(slf.py())?, ComplexPart::Imaginary)? else {
            return Err(PyAttributeError::new_err("array does not have imaginary part to set"));
        };
        new_view_of(slf, component)?.as_any().set_item(PyEllipsis::get(slf.py()), value)
    }
}

/// Return the real part of an array or number.
///
/// Parameters
/// ----------
/// val : GPUArray or number
/// out : GPUArray, optional
///     Array for the result.
///
/// Returns
/// -------
/// GPUArray
///     For a complex GPUArray, a view; writes into the view change the array. For a real GPUArray, the array itself.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.to_gpu([1 + 2j, 3 + 4j])
/// >>> PyGPU.real(a)[0] = 7
/// >>> a.tolist()
/// [(7+2j), (3+4j)]
#[pyfunction]
#[pyo3(signature = (val: "Operand", out: "GPUArray | None" = None) -> "GPUArray")]
fn real<'py>(val: &Bound<'py, PyAny>, out: Option<OutputArg<'py>>) -> PyResult<Bound<'py, PyAny>> {
    match (val.cast::<GpuArray>(), out.as_deref()) {
        (Ok(array), None) => Ok(GpuArray::real(array)?.into_any()),
        (_, out) => compute(builtin_row("real"), &[val], &output_keywords(out)),
    }
}

/// Return the imaginary part of an array or number; 0 for real numbers.
///
/// Parameters
/// ----------
/// val : GPUArray or number
/// out : GPUArray, optional
///     Array for the result.
///
/// Returns
/// -------
/// GPUArray
///     For a complex GPUArray, a view; writes into the view change the array. For a real GPUArray, a new array of
///     zeros.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.imag(PyGPU.to_gpu([1 + 2j, 3 + 4j])).tolist()
/// [2.0, 4.0]
#[pyfunction]
#[pyo3(signature = (val: "Operand", out: "GPUArray | None" = None) -> "GPUArray")]
fn imag<'py>(val: &Bound<'py, PyAny>, out: Option<OutputArg<'py>>) -> PyResult<Bound<'py, PyAny>> {
    match (val.cast::<GpuArray>(), out.as_deref()) {
        (Ok(array), None) => Ok(GpuArray::imag(array)?.into_any()),
        (_, out) => compute(builtin_row("imag"), &[val], &output_keywords(out)),
    }
}

names! {
    functions "Functions of each element": real, imag;
}
