//! Converts between dtypes: by a kernel on a device, or by NumPy in host memory.

use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::{cpu_view, result_arrays, transfer};
use crate::array::allocator_inheritance;
use crate::convert::{dtype, ndarray};
use crate::ffi::ndarray::write_item;
use crate::gil::WithoutGil;
use crate::py_once::{PyOnce, intern};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_copy as copy;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::Layout;
use pygpu_memory::stream_captures;
use pygpu_ops::Elementwise;
use pygpu_ops::ufunc::{self, CastSource};

/// Source of the values that a cast converts: an array, or one element.
#[derive(Clone, Copy)]
pub(crate) enum CastValues<'a> {
    /// An array on the target's device, broadcast to the target's shape.
    Array(&'a Array),
    /// One element for the whole target, as bytes of the target's dtype.
    Item(&'a [u8]),
}

/// Returns whether NumPy can read and write an array's memory in place. The result is false during a capture, because a
/// capture only records kernels.
///
/// # Errors
/// Driver errors.
pub(crate) fn uses_numpy(array: &Array, stream: &Stream) -> PyResult<bool> {
    Ok(array.device().is_cpu() && !stream_captures::is_capturing(stream)?)
}

/// Writes values into an array, converted to the array's dtype. With a mask, writes only where the mask is true.
///
/// # Errors
/// `ComplexWarning`, if it is configured as an error; `ValueError` for shapes that do not broadcast; driver errors.
pub(crate) fn cast_into(
    py: Python<'_>,
    target: &Array,
    values: CastValues<'_>,
    mask: Option<&Array>,
    stream: &Stream,
) -> PyResult<()> {
    cast_into_target(py, target, values, mask, false, stream)
}

/// Writes converted values into an array like [`cast_into`]. `is_new` is true if the target's memory is uninitialized,
/// so that nothing of it is kept.
fn cast_into_target(
    py: Python<'_>,
    target: &Array,
    values: CastValues<'_>,
    mask: Option<&Array>,
    is_new: bool,
    stream: &Stream,
) -> PyResult<()> {
    let (source, from) = match values {
        CastValues::Array(array) if array.dtype() == target.dtype() && mask.is_none() => {
            return Ok(py.without_gil(|| copy::between(target, array, stream))?);
        }
        CastValues::Item(bytes) if mask.is_none() => return Ok(py.without_gil(|| copy::fill(target, bytes, stream))?),
        CastValues::Array(array) => (CastSource::Array(array), array.dtype()),
        CastValues::Item(bytes) => (CastSource::Item(bytes), target.dtype()),
    };
    if uses_numpy(target, stream)? {
        return copy_with_numpy(py, target, values, mask);
    }
    if ufunc::is_castable(from, target.dtype()) {
        warn_dropped_imaginary(py, from, target.dtype())?;
        match py.without_gil(|| ufunc::cast(target, source, mask, stream)) {
            Err(Error::Unavailable(_)) => {} // no compiler, so the host casts
            other => return Ok(other?),
        }
    }
    through_the_host(py, target, values, mask, is_new, stream)
}

/// Casts an array to a new array with the given dtype and layout, on the same device.
///
/// # Errors
/// The errors of [`cast_into`]; `OutOfMemoryError`.
pub(crate) fn cast(py: Python<'_>, source: &Array, dtype: DType, layout: Layout, stream: &Stream) -> PyResult<Array> {
    let _inherited = allocator_inheritance::inherit(py, std::iter::once(source))?;
    let is_castable = source.dtype() != dtype && ufunc::is_castable(source.dtype(), dtype);
    let uses_kernel = is_castable && !uses_numpy(source, stream)?;
    if uses_kernel {
        warn_dropped_imaginary(py, source.dtype(), dtype)?;
    }
    let mut is_cast = false;
    let result = py.without_gil(|| -> Result<Array> {
        let result = Array::on_new_memory(layout, dtype, stream.clone())?;
        if uses_kernel {
            is_cast = match ufunc::cast(&result, CastSource::Array(source), None, stream) {
                Err(Error::Unavailable(_)) => false, // without a compiler for kernels, the host performs the cast
                other => other.map(|()| true)?,
            };
        }
        Ok(result)
    })?;
    if !is_cast {
        cast_into_target(py, &result, CastValues::Array(source), None, true, stream)?;
    }
    Ok(result)
}

/// Casts an array to a new array with the given dtype and the same memory order of axes, on the thread's current
/// stream.
///
/// # Errors
/// The errors of [`cast`].
pub(crate) fn cast_like(py: Python<'_>, source: &Array, dtype: DType) -> PyResult<Array> {
    let layout = source.layout().with_itemsize(dtype.itemsize() as i64)?;
    cast(py, source, dtype, layout, &stream::current(source.device()))
}

/// Returns whether a kernel performs a cast, without a warning. The result is false until the first kernel has run on a
/// device, because until then a compiler may be missing, and the host would perform the cast with a warning.
pub(crate) fn is_silent(from: DType, to: DType) -> bool {
    ufunc::is_castable(from, to) && !drops_imaginary(from, to) && Elementwise::was_run()
}

fn drops_imaginary(from: DType, to: DType) -> bool {
    from.kind().is_complex() && !to.kind().is_complex() && !matches!(to.kind(), ScalarType::Bool | ScalarType::Opaque)
}

/// Issues NumPy's warning about discarded imaginary parts.
///
/// # Errors
/// `ComplexWarning`, if it is configured as an error.
pub(crate) fn warn_dropped_imaginary(py: Python<'_>, from: DType, to: DType) -> PyResult<()> {
    if !drops_imaginary(from, to) {
        return Ok(());
    }
    let class = ndarray::numpy(py)?.getattr(intern!(py, "exceptions"))?.getattr(intern!(py, "ComplexWarning"))?;
    PyErr::warn(py, &class, c"Casting complex values to real discards the imaginary part", 1)
}

/// Calls `numpy.copyto` on ndarrays over the memory of the arrays.
fn copy_with_numpy(py: Python<'_>, target: &Array, values: CastValues<'_>, mask: Option<&Array>) -> PyResult<()> {
    let view = |array: &Array| cpu_view::borrowed(py, array);
    let source = match values {
        CastValues::Array(array) => view(array)?,
        CastValues::Item(bytes) => item(py, target.dtype(), bytes)?,
    };
    call_copyto(py, view(target)?.as_any(), source.as_any(), mask.map(view).transpose()?.as_ref().map(Bound::as_any))
}

/// Creates a zero-dimensional ndarray that contains one element.
fn item<'py>(py: Python<'py>, dtype: DType, bytes: &[u8]) -> PyResult<Bound<'py, PyUntypedArray>> {
    let result = ndarray::numpy(py)?.getattr(intern!(py, "empty"))?.call1(((), dtype::to_python(py, dtype)?))?;
    let result = result.cast_into::<PyUntypedArray>()?;
    write_item(&result, bytes, dtype.itemsize());
    Ok(result)
}

fn call_copyto(
    py: Python<'_>,
    target: &Bound<'_, PyAny>,
    source: &Bound<'_, PyAny>,
    mask: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    static COPYTO: PyOnce<Py<PyAny>> = PyOnce::new();
    let copyto =
        COPYTO.get_or_try_init(py, || Ok::<_, PyErr>(ndarray::numpy(py)?.getattr("copyto")?.unbind()))?.bind(py);
    match mask {
        Some(mask) => copyto.call1((target, source, intern!(py, "unsafe"), mask))?,
        None => copyto.call1((target, source, intern!(py, "unsafe")))?,
    };
    Ok(())
}

/// Casts values on the host, if no kernel supports their types (structured items, 8-bit floats), or if no compiler is
/// available.
#[cold]
fn through_the_host(
    py: Python<'_>,
    target: &Array,
    values: CastValues<'_>,
    mask: Option<&Array>,
    is_new: bool,
    stream: &Stream,
) -> PyResult<()> {
    py.without_gil(|| stream_captures::refuse("a conversion for which there is no kernel", stream))?;
    let download = |array: &Array| transfer::to_ndarray(py, array);
    // Unless the target is new, its values are downloaded first: elements that the mask excludes, and the padding of
    // structured items, must stay unchanged.
    let result =
        if is_new { result_arrays::empty_like(py, target.layout(), target.dtype())? } else { download(target)? };
    let source = match values {
        CastValues::Array(array) => download(array)?,
        CastValues::Item(bytes) => item(py, target.dtype(), bytes)?,
    };
    let mask = mask.map(download).transpose()?;
    call_copyto(py, result.as_any(), source.as_any(), mask.as_ref().map(Bound::as_any))?;
    transfer::upload(py, target, &result)
}

/// Checks a cast against one of NumPy's casting rules.
///
/// # Errors
/// `TypeError` if the rule forbids the cast; NumPy's error for an unknown rule.
pub(crate) fn check_casting(py: Python<'_>, from: DType, to: DType, casting: &str) -> PyResult<()> {
    if casting == "unsafe" {
        return Ok(());
    }
    let (from, to) = (dtype::to_python(py, from)?, dtype::to_python(py, to)?);
    let can_cast = ndarray::numpy(py)?.getattr(intern!(py, "can_cast"))?;
    if can_cast.call1((&from, &to, casting))?.is_truthy()? {
        return Ok(());
    }
    let (from, to) = (from.repr()?, to.repr()?);
    Err(PyTypeError::new_err(format!("Cannot cast array data from {from} to {to} according to the rule '{casting}'")))
}
