//! Native functions for `PyGPU._functions.selection`: take and put along an axis, indices of nonzero elements, and
//! calls of NumPy functions on arrays in host memory.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::advanced_key::without;
use super::key_items::is_integer;
use crate::array::array_argument::ArrayArg;
use crate::array::class::{GpuArray, new_like};
use crate::convert::{dtype, ndarray, strict};
use crate::gil::WithoutGil;
use crate::host::cast::{self, CastValues, cast_into, is_numpys};
use crate::host::{cpu_view, device_arrays, transfer};
use crate::names::names;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Error;
use pygpu_copy::{self as copy, Bounds, Indexed, Selection};
use pygpu_device::stream;
use pygpu_layout::{Dims, normalize_axis};
use pygpu_ops::selection;
use pygpu_ops::ufunc::is_castable;

fn bounds_of(mode: &str) -> PyResult<Bounds> {
    match mode {
        "raise" => Ok(Bounds::Checked),
        "wrap" => Ok(Bounds::Wrapped),
        "clip" => Ok(Bounds::Clipped),
        other => {
            Err(PyValueError::new_err(format!("clipmode must be one of 'clip', 'raise', or 'wrap' (got '{other}')")))
        }
    }
}

/// The selection for taking or putting along an axis.
fn along(array: &Array, indices: &Array, axis: i64, mode: &str) -> PyResult<Selection> {
    let layout = array.layout();
    let place = normalize_axis(axis, layout.ndim())?;
    let along = layout.axes()[place];
    if !is_integer(indices.dtype()) || indices.device() != array.device() {
        return Err(PyTypeError::new_err("the indices are an array of whole numbers on the array's device"));
    }
    if along.len == 0 && !indices.layout().is_empty() {
        return Err(PyIndexError::new_err("cannot do a non-empty take from an empty axes."));
    }
    let view = without(layout, &[place]).ok_or_else(|| PyValueError::new_err("the array has too many axes"))?;
    let bounds = bounds_of(mode)?;
    let shape: Dims = indices.layout().shape().collect();
    let indexed = vec![Indexed { index: indices.clone(), len: along.len, stride: along.stride, bounds }];
    Ok(Selection { view, indexed, shape, position: place })
}

/// The result of a kernel call, with NumPy's message for an index out of range.
fn checked<T>(py: Python<'_>, done: Result<T, Error>, array: &Array, indices: &Array, axis: i64) -> PyResult<T> {
    let Err(Error::Index(refused)) = done else { return Ok(done?) };
    let shape: Vec<i64> = array.layout().shape().collect();
    let numpy = ndarray::numpy(py)?;
    let stand_in = numpy.getattr(intern!(py, "broadcast_to"))?.call1((0, PyTuple::new(py, shape)?))?;
    stand_in.call_method1(intern!(py, "take"), (transfer::to_ndarray(py, indices)?, axis))?;
    Err(PyIndexError::new_err(refused))
}

#[cold]
fn no_kernel(what: &str) -> PyErr {
    Error::Unavailable(format!("{what}: there is no compiler of kernels")).into()
}

/// Takes elements along an axis by their indices.
#[pyfunction]
#[pyo3(signature = (
    array: "GPUArray", indices: "GPUArray", axis: "int", out: "GPUArray | None", mode: "str"
) -> "GPUArray")]
fn _take<'py>(
    array: &Bound<'py, GpuArray>,
    indices: &Bound<'py, GpuArray>,
    axis: i64,
    out: Option<&Bound<'py, GpuArray>>,
    mode: &str,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = array.py();
    let (own, index) = (array.get().array(py)?, indices.get().array(py)?);
    let selection = along(own, index, axis, mode)?;
    let stream = stream::current(own.device());
    if let Some(out) = out {
        let target = out.get().array(py)?;
        target.check_writable("take")?;
        if !target.layout().shape().eq(selection.result_shape()) {
            return Err(PyValueError::new_err("output array does not match result of ndarray.take"));
        }
        cast::check_casting(py, target.dtype(), own.dtype(), "safe")?;
        if target.dtype() == own.dtype() && target.device() == own.device() {
            let done = py.without_gil(|| copy::gather_into(own, &selection, target, &stream));
            return match checked(py, done, own, index, axis)? {
                true => Ok(out.clone()),
                false => Err(no_kernel("take")),
            };
        }
    }
    let done = py.without_gil(|| copy::gather(own, &selection, &stream));
    let taken = checked(py, done, own, index, axis)?.ok_or_else(|| no_kernel("take"))?;
    match out {
        Some(out) => {
            cast_into(py, out.get().array(py)?, CastValues::Of(&taken), None, &stream)?;
            Ok(out.clone())
        }
        None => new_like(array, GpuArray::from_array(taken)),
    }
}

/// Puts values of the array's dtype at indices of its only axis.
#[pyfunction]
#[pyo3(signature = (array: "GPUArray", indices: "GPUArray", values: "GPUArray", mode: "str") -> "None")]
fn _put(
    array: &Bound<'_, GpuArray>,
    indices: &Bound<'_, GpuArray>,
    values: &Bound<'_, GpuArray>,
    mode: &str,
) -> PyResult<()> {
    let py = array.py();
    let (own, index, values) = (array.get().array(py)?, indices.get().array(py)?, values.get().array(py)?);
    own.check_writable("put")?;
    let selection = along(own, index, 0, mode)?;
    let values = values.view(values.layout().broadcast_to(&selection.result_shape())?)?;
    let apart = match copy::may_overlap(own, &values) {
        true => transfer::device_copy_like(py, &values)?,
        false => values,
    };
    let done = py.without_gil(|| copy::scatter(own, &selection, &apart, &stream::current(own.device())));
    match checked(py, done, own, index, 0)? {
        true => Ok(()),
        false => Err(no_kernel("put")),
    }
}

/// Returns the indices of the nonzero elements, a row for each axis.
#[pyfunction]
#[pyo3(signature = (array: "GPUArray") -> "GPUArray")]
fn _nonzero<'py>(array: &Bound<'py, GpuArray>) -> PyResult<Bound<'py, GpuArray>> {
    let py = array.py();
    let own = array.get().array(py)?;
    let kind = DType::new(ScalarType::Bool);
    let stream = stream::current(own.device());
    let mask = match own.dtype().kind() {
        ScalarType::Bool => own.clone(),
        ScalarType::Int8 | ScalarType::UInt8 => own.view_as(own.layout().clone(), kind)?,
        _ if is_castable(own.dtype(), kind) => cast::cast(py, own, kind, own.layout().with_itemsize(1)?, &stream)?,
        _ => {
            let name = own.dtype().name();
            return Err(PyTypeError::new_err(format!("nonzero: which elements of {name} are 0 is not known here")));
        }
    };
    let found = py.without_gil(|| selection::nonzero(&mask, &stream))?;
    new_like(array, GpuArray::from_array(found))
}

/// Calls a NumPy function on arrays in host memory, through views of the same memory. Returns `NotImplemented` for
/// other arrays, and in a capture.
#[pyfunction]
#[pyo3(signature = (
    name: "str", array: "GPUArray", given: "tuple[Any, ...]", keywords: "dict[str, Any] | None" = None
) -> "Any")]
fn _by_numpy<'py>(
    name: &str,
    array: ArrayArg<'_, 'py>,
    given: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let own = array.get().array(py)?;
    if !is_numpys(own, &stream::current(own.device()))? {
        return Ok(py.NotImplemented().into_bound(py));
    }
    let mut views = Vec::new();
    let given = given.iter().map(|one| viewed(&one, &mut views)).collect::<PyResult<Vec<_>>>()?;
    let named = keywords.map(|keywords| {
        let named = PyDict::new(py);
        for (key, value) in keywords {
            named.set_item(key, viewed(&value, &mut views)?)?;
        }
        PyResult::Ok(named)
    });
    let named = named.transpose()?;
    // The name may be dotted, as `add.at`.
    let function = name.split('.').try_fold(ndarray::numpy(py)?.clone().into_any(), |of, part| of.getattr(part))?;
    let made = strict::without_host_arrays(|| function.call(PyTuple::new(py, given)?, named.as_ref()))?;
    wrapped(&array, made, &views)
}

type ViewedArguments<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

/// Replaces PyGPU arrays by views, also inside lists.
fn viewed<'py>(object: &Bound<'py, PyAny>, views: &mut ViewedArguments<'py>) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(own) = object.cast::<GpuArray>() {
        let view = match own.get().device().is_cpu() {
            true => cpu_view::view(own)?,
            false => transfer::to_ndarray(own.py(), own.get().array(own.py())?)?,
        };
        let view = view.into_any();
        views.push((view.clone(), object.clone()));
        return Ok(view);
    }
    let items = |views: &mut ViewedArguments<'py>| {
        object.try_iter()?.map(|one| viewed(&one?, views)).collect::<PyResult<Vec<_>>>()
    };
    if object.is_exact_instance_of::<PyList>() {
        return Ok(PyList::new(object.py(), items(views)?)?.into_any());
    }
    if object.is_exact_instance_of::<PyTuple>() {
        return Ok(PyTuple::new(object.py(), items(views)?)?.into_any());
    }
    Ok(object.clone())
}

/// Wraps NumPy's result as an array; a view of an argument is mapped back to the argument.
fn wrapped<'py>(
    like: &Bound<'py, GpuArray>,
    made: Bound<'py, PyAny>,
    views: &ViewedArguments<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = like.py();
    if let Some((_, own)) = views.iter().find(|(view, _)| view.is(&made)) {
        return Ok(own.clone());
    }
    if made.is_none() {
        return Ok(made);
    }
    if let Ok(several) = made.cast::<PyTuple>() {
        let items = several.iter().map(|one| wrapped(like, one, views)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyTuple::new(py, items)?.into_any());
    }
    let array = ndarray::numpy(py)?.getattr(intern!(py, "asarray"))?.call1((made,))?.cast_into::<PyUntypedArray>()?;
    let kind = dtype::from_numpy(array.dtype().as_any())?;
    let uploaded = device_arrays::upload_new(py, &array, kind, like.get().device())?;
    Ok(new_like(like, GpuArray::from_array(uploaded))?.into_any())
}

names! {
    internal_functions: _take, _put, _nonzero, _by_numpy;
}
