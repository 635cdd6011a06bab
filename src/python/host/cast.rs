//! Values of one dtype as another: by a kernel on a device, by NumPy in host memory.

use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::{cpu_view, transfer};
use crate::array::heritage;
use crate::convert::{dtype, ndarray};
use crate::gil::WithoutGil;
use crate::once::{PyOnce, intern};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, Kind};
use pygpu_base::error::{Error, Result};
use pygpu_copy as copy;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::Layout;
use pygpu_memory::capture;
use pygpu_ops::Elementwise;
use pygpu_ops::ufunc::{self, Source};

/// What is written into an array.
#[derive(Clone, Copy)]
pub(crate) enum Values<'a> {
    /// The elements of an array of the same device, broadcast to the target's shape.
    Of(&'a Array),
    /// One element, as bytes of the target's dtype.
    Item(&'a [u8]),
}

/// Whether NumPy works on an array's memory in place. Not in a capture, which takes in kernels only.
///
/// # Errors
/// The driver's.
pub(crate) fn is_numpys(array: &Array, stream: &Stream) -> PyResult<bool> {
    Ok(array.device().is_cpu() && !capture::is_capturing(stream)?)
}

/// Writes values into an array, converted to its dtype, where a mask of bools is true.
///
/// # Errors
/// `ComplexWarning`, if it is an error; `ValueError` for shapes that do not broadcast; the driver's.
pub(crate) fn cast_into(
    py: Python<'_>,
    target: &Array,
    values: Values<'_>,
    mask: Option<&Array>,
    stream: &Stream,
) -> PyResult<()> {
    let (source, from) = match values {
        Values::Of(array) if array.dtype() == target.dtype() && mask.is_none() => {
            return Ok(py.without_gil(|| copy::between(target, array, stream))?);
        }
        Values::Item(bytes) if mask.is_none() => return Ok(py.without_gil(|| copy::fill(target, bytes, stream))?),
        Values::Of(array) => (Source::Array(array), array.dtype()),
        Values::Item(bytes) => (Source::Item(bytes), target.dtype()),
    };
    if is_numpys(target, stream)? {
        return by_numpy(py, target, values, mask);
    }
    if ufunc::is_castable(from, target.dtype()) {
        warn_of_dropped_parts(py, from, target.dtype())?;
        match py.without_gil(|| ufunc::cast(target, source, mask, stream)) {
            Err(Error::Unavailable(_)) => {} // no compiler of kernels
            other => return Ok(other?),
        }
    }
    through_the_host(py, target, values, mask, stream)
}

/// The values of an array as a new one of another dtype and of that layout, on the same device.
///
/// # Errors
/// As [`cast_into`]; `OutOfMemoryError`.
pub(crate) fn cast(py: Python<'_>, source: &Array, dtype: DType, layout: Layout, stream: &Stream) -> PyResult<Array> {
    let _inherited = heritage::inherit(py, std::iter::once(source))?;
    let is_castable = source.dtype() != dtype && ufunc::is_castable(source.dtype(), dtype);
    let is_kernels = is_castable && !is_numpys(source, stream)?;
    if is_kernels {
        warn_of_dropped_parts(py, source.dtype(), dtype)?;
    }
    let mut is_cast = false;
    let made = py.without_gil(|| -> Result<Array> {
        let made = Array::on_new_memory(layout, dtype, stream.clone())?;
        if is_kernels {
            is_cast = match ufunc::cast(&made, Source::Array(source), None, stream) {
                Err(Error::Unavailable(_)) => false, // no compiler of kernels
                other => other.map(|()| true)?,
            };
        }
        Ok(made)
    })?;
    if !is_cast {
        cast_into(py, &made, Values::Of(source), None, stream)?;
    }
    Ok(made)
}

/// As [`cast`], with the axes in the same order in memory, in the order of the thread's current stream.
///
/// # Errors
/// As [`cast`].
pub(crate) fn cast_like(py: Python<'_>, source: &Array, dtype: DType) -> PyResult<Array> {
    let layout = source.layout().with_itemsize(dtype.itemsize() as i64)?;
    cast(py, source, dtype, layout, &stream::current(source.device()))
}

/// Whether a device converts values without a word, and by a kernel: a device that has run none may have no compiler, and then the host
/// converts.
pub(crate) fn is_silent(from: DType, to: DType) -> bool {
    ufunc::is_castable(from, to) && !drops_parts(from, to) && Elementwise::was_run()
}

fn drops_parts(from: DType, to: DType) -> bool {
    from.kind().is_complex() && !to.kind().is_complex() && !matches!(to.kind(), Kind::Bool | Kind::Opaque)
}

/// Tells that imaginary parts are dropped, as NumPy does.
///
/// # Errors
/// The warning, where it is an error.
pub(crate) fn warn_of_dropped_parts(py: Python<'_>, from: DType, to: DType) -> PyResult<()> {
    if !drops_parts(from, to) {
        return Ok(());
    }
    let class = ndarray::numpy(py)?.getattr(intern!(py, "exceptions"))?.getattr(intern!(py, "ComplexWarning"))?;
    PyErr::warn(py, &class, c"Casting complex values to real discards the imaginary part", 1)
}

/// `numpy.copyto` of views of the same memory.
fn by_numpy(py: Python<'_>, target: &Array, values: Values<'_>, mask: Option<&Array>) -> PyResult<()> {
    let view = |array: &Array| cpu_view::borrowed(py, array);
    let source = match values {
        Values::Of(array) => view(array)?,
        Values::Item(bytes) => item(py, target.dtype(), bytes)?,
    };
    copy_by_numpy(py, view(target)?.as_any(), source.as_any(), mask.map(view).transpose()?.as_ref().map(Bound::as_any))
}

/// One element as an ndarray without axes.
fn item<'py>(py: Python<'py>, dtype: DType, bytes: &[u8]) -> PyResult<Bound<'py, PyUntypedArray>> {
    let made = ndarray::numpy(py)?.getattr(intern!(py, "empty"))?.call1(((), dtype::to_python(py, dtype)?))?;
    let made = made.cast_into::<PyUntypedArray>()?;
    let length = bytes.len().min(dtype.itemsize());
    // SAFETY: a new ndarray of one element of that size, which nobody else has seen yet.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), ndarray::address(&made) as *mut u8, length) };
    Ok(made)
}

fn copy_by_numpy(
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

/// What no kernel converts, structured items and numbers of 8 bits, and what there is no compiler for.
#[cold]
fn through_the_host(
    py: Python<'_>,
    target: &Array,
    values: Values<'_>,
    mask: Option<&Array>,
    stream: &Stream,
) -> PyResult<()> {
    py.without_gil(|| capture::refuse("a conversion for which there is no kernel", stream))?;
    let download = |array: &Array| transfer::to_ndarray(py, array);
    let made = download(target)?;
    let source = match values {
        Values::Of(array) => download(array)?,
        Values::Item(bytes) => item(py, target.dtype(), bytes)?,
    };
    let mask = mask.map(download).transpose()?;
    copy_by_numpy(py, made.as_any(), source.as_any(), mask.as_ref().map(Bound::as_any))?;
    transfer::upload(py, target, &made)
}

/// Refuses a cast that one of NumPy's rules forbids.
///
/// # Errors
/// `TypeError`; NumPy's for a rule that is none.
pub(crate) fn check_casting(py: Python<'_>, from: DType, to: DType, casting: &str) -> PyResult<()> {
    if casting == "unsafe" {
        return Ok(());
    }
    let (from, to) = (dtype::to_python(py, from)?, dtype::to_python(py, to)?);
    let judge = ndarray::numpy(py)?.getattr(intern!(py, "can_cast"))?;
    if judge.call1((&from, &to, casting))?.is_truthy()? {
        return Ok(());
    }
    let (from, to) = (from.repr()?, to.repr()?);
    Err(PyTypeError::new_err(format!("Cannot cast array data from {from} to {to} according to the rule '{casting}'")))
}
