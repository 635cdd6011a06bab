//! Contains native functions for `PyGPU._functions.selection`: take and put along an axis, indices of nonzero elements,
//! and calls of NumPy functions on arrays in host memory.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::advanced_key::drop_axes;
use super::key_items::is_integer;
use crate::array::array_argument::ArrayArg;
use crate::array::class::{GpuArray, new_like};
use crate::array::output_argument::OutputArg;
use crate::convert::{dtype, ndarray, strict_mode};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::host_transfers::cast::{self, CastValues, cast_into, uses_numpy};
use crate::host_transfers::{cpu_view, device_arrays, transfer};
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Error;
use pygpu_copy::{self as copy, Bounds, Indexed, Selection};
use pygpu_device::stream;
use pygpu_layout::{Dims, normalize_axis};
use pygpu_ops::selection;
use pygpu_ops::ufunc::is_castable;

fn parse_mode(mode: &str) -> PyResult<Bounds> {
    match mode {
        "raise" => Ok(Bounds::Checked),
        "wrap" => Ok(Bounds::Wrapped),
        "clip" => Ok(Bounds::Clipped),
        other => {
            Err(PyValueError::new_err(format!("clipmode must be one of 'clip', 'raise', or 'wrap' (got '{other}')")))
        }
    }
}

/// Builds the [`Selection`] of the elements that `take` reads or `put` writes along an axis.
fn axis_selection(array: &Array, indices: &Array, axis: i64, mode: &str) -> PyResult<Selection> {
    let layout = array.layout();
    let axis_index = normalize_axis(axis, layout.ndim())?;
    let dimension = layout.axes()[axis_index];
    if !is_integer(indices.dtype()) || indices.device() != array.device() {
        return Err(PyTypeError::new_err("the indices are an array of whole numbers on the array's device"));
    }
    if dimension.len == 0 && !indices.layout().is_empty() {
        return Err(PyIndexError::new_err("cannot do a non-empty take from an empty axes."));
    }
    let view = drop_axes(layout, &[axis_index]).ok_or_else(|| PyValueError::new_err("the array has too many axes"))?;
    let bounds = parse_mode(mode)?;
    let shape: Dims = indices.layout().shape().collect();
    let indexed = vec![Indexed { index: indices.clone(), len: dimension.len, stride: dimension.stride, bounds }];
    Ok(Selection { view, indexed, shape, position: axis_index })
}

/// Returns the result of a kernel launch. If the kernel found an index out of range, the function calls NumPy's `take`
/// with the same indices, which raises NumPy's error.
fn check_indices<T>(
    py: Python<'_>,
    result: Result<T, Error>,
    array: &Array,
    indices: &Array,
    axis: i64,
) -> PyResult<T> {
    let Err(Error::Index(message)) = result else { return Ok(result?) };
    let shape: Vec<i64> = array.layout().shape().collect();
    let numpy = ndarray::numpy(py)?;
    let placeholder = numpy.getattr(intern!(py, "broadcast_to"))?.call1((0, PyTuple::new(py, shape)?))?;
    placeholder.call_method1(intern!(py, "take"), (transfer::to_ndarray(py, indices)?, axis))?;
    Err(PyIndexError::new_err(message))
}

#[cold]
fn no_kernel(function: &str) -> PyErr {
    Error::Unavailable(format!("{function}: there is no compiler of kernels")).into()
}

/// Takes elements along an axis by their indices, into a new array or into `out`.
#[pyfunction]
#[pyo3(signature = (
    array: "GPUArray", indices: "GPUArray", axis: "int", out: "GPUArray | None", mode: "str"
) -> "GPUArray")]
fn _take<'py>(
    array: &Bound<'py, GpuArray>,
    indices: &Bound<'py, GpuArray>,
    axis: i64,
    out: Option<OutputArg<'py>>,
    mode: &str,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = array.py();
    let (source, index) = (array.get().array(py)?, indices.get().array(py)?);
    let selection = axis_selection(source, index, axis, mode)?;
    let stream = stream::current(source.device());
    if let Some(out) = out.as_deref() {
        let target = out.get().array(py)?;
        target.check_writable("take")?;
        if !target.layout().shape().eq(selection.result_shape()) {
            return Err(PyValueError::new_err("output array does not match result of ndarray.take"));
        }
        cast::check_casting(py, target.dtype(), source.dtype(), "safe")?;
        if target.dtype() == source.dtype() && target.device() == source.device() {
            let result = py.without_gil(|| copy::gather_into(source, &selection, target, &stream));
            return match check_indices(py, result, source, index, axis)? {
                true => Ok(out.clone()),
                false => Err(no_kernel("take")),
            };
        }
    }
    let result = py.without_gil(|| copy::gather(source, &selection, &stream));
    let selected = check_indices(py, result, source, index, axis)?.ok_or_else(|| no_kernel("take"))?;
    match out {
        Some(out) => {
            cast_into(py, out.get().array(py)?, CastValues::Array(&selected), None, &stream)?;
            Ok(out.clone())
        }
        None => new_like(array, GpuArray::from_array(selected)),
    }
}

/// Writes values, which have the array's dtype, at indices of the array's only axis.
#[pyfunction]
#[pyo3(signature = (array: "GPUArray", indices: "GPUArray", values: "GPUArray", mode: "str") -> "None")]
fn _put(
    array: &Bound<'_, GpuArray>,
    indices: &Bound<'_, GpuArray>,
    values: &Bound<'_, GpuArray>,
    mode: &str,
) -> PyResult<()> {
    let py = array.py();
    let (target, index, values) = (array.get().array(py)?, indices.get().array(py)?, values.get().array(py)?);
    target.check_writable("put")?;
    let selection = axis_selection(target, index, 0, mode)?;
    let values = values.view(values.layout().broadcast_to(&selection.result_shape())?)?;
    let separate_values = match copy::may_overlap(target, &values) {
        true => transfer::device_copy_like(py, &values)?,
        false => values,
    };
    let result =
        py.without_gil(|| copy::scatter(target, &selection, &separate_values, &stream::current(target.device())));
    match check_indices(py, result, target, index, 0)? {
        true => Ok(()),
        false => Err(no_kernel("put")),
    }
}

/// Returns the indices of the nonzero elements, as a matrix with a row for each axis.
#[pyfunction]
#[pyo3(signature = (array: "GPUArray") -> "GPUArray")]
fn _nonzero<'py>(array: &Bound<'py, GpuArray>) -> PyResult<Bound<'py, GpuArray>> {
    let py = array.py();
    let source = array.get().array(py)?;
    let kind = DType::new(ScalarType::Bool);
    let stream = stream::current(source.device());
    let mask = match source.dtype().kind() {
        ScalarType::Bool => source.clone(),
        ScalarType::Int8 | ScalarType::UInt8 => source.view_as(source.layout().clone(), kind)?,
        _ if is_castable(source.dtype(), kind) => {
            cast::cast(py, source, kind, source.layout().with_itemsize(1)?, &stream)?
        }
        _ => {
            let name = source.dtype().name();
            return Err(PyTypeError::new_err(format!("nonzero: which elements of {name} are 0 is not known here")));
        }
    };
    let positions = py.without_gil(|| selection::nonzero(&mask, &stream))?;
    new_like(array, GpuArray::from_array(positions))
}

/// Calls the NumPy function `name` with ndarrays over the memory of the arrays. Returns `NotImplemented` if `array` is
/// not in host memory, and during a stream capture.
#[pyfunction]
#[pyo3(signature = (
    name: "str", array: "GPUArray", given: "tuple[Any, ...]", keywords: "dict[str, Any] | None" = None
) -> "Any")]
fn _by_numpy<'py>(
    name: &str,
    array: ArrayArg<'py>,
    given: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let inner = array.get().array(py)?;
    if !uses_numpy(inner, &stream::current(inner.device()))? {
        return Ok(py.NotImplemented().into_bound(py));
    }
    let mut views = Vec::new();
    let arguments = given.iter().map(|one| to_views(&one, &mut views)).collect::<PyResult<Vec<_>>>()?;
    let keyword_views = keywords.map(|keywords| {
        let keyword_views = PyDict::new(py);
        for (key, value) in keywords {
            keyword_views.set_item(key, to_views(&value, &mut views)?)?;
        }
        PyResult::Ok(keyword_views)
    });
    let keyword_views = keyword_views.transpose()?;
    // The name of the NumPy function may contain dots, such as `add.at`.
    let function =
        name.split('.').try_fold(ndarray::numpy(py)?.clone().into_any(), |object, part| object.getattr(part))?;
    let returned =
        strict_mode::without_host_arrays(|| function.call(PyTuple::new(py, arguments)?, keyword_views.as_ref()))?;
    wrap_result(&array, returned, &views)
}

type ViewedArguments<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

/// Replaces PyGPU arrays by ndarrays, also inside lists and tuples, and records each pair in `views`. For a CPU array
/// the ndarray is a view of the array's memory; for a GPU array the ndarray is a copy.
fn to_views<'py>(object: &Bound<'py, PyAny>, views: &mut ViewedArguments<'py>) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(array) = object.cast::<GpuArray>() {
        let view = match array.get().device().is_cpu() {
            true => cpu_view::view(array)?,
            false => transfer::to_ndarray(array.py(), array.get().array(array.py())?)?,
        };
        let view = view.into_any();
        views.push((view.clone(), object.clone()));
        return Ok(view);
    }
    let items = |views: &mut ViewedArguments<'py>| {
        object.try_iter()?.map(|one| to_views(&one?, views)).collect::<PyResult<Vec<_>>>()
    };
    if object.is_exact_instance_of::<PyList>() {
        return Ok(PyList::new(object.py(), items(views)?)?.into_any());
    }
    if object.is_exact_instance_of::<PyTuple>() {
        return Ok(PyTuple::new(object.py(), items(views)?)?.into_any());
    }
    Ok(object.clone())
}

/// Converts NumPy's result to a PyGPU array. If the result is the ndarray that replaced an argument, returns this
/// argument.
fn wrap_result<'py>(
    like: &Bound<'py, GpuArray>,
    returned: Bound<'py, PyAny>,
    views: &ViewedArguments<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = like.py();
    if let Some((_, argument)) = views.iter().find(|(view, _)| view.is(&returned)) {
        return Ok(argument.clone());
    }
    if returned.is_none() {
        return Ok(returned);
    }
    if let Ok(results) = returned.cast::<PyTuple>() {
        let items = results.iter().map(|one| wrap_result(like, one, views)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyTuple::new(py, items)?.into_any());
    }
    let array =
        ndarray::numpy(py)?.getattr(intern!(py, "asarray"))?.call1((returned,))?.cast_into::<PyUntypedArray>()?;
    let kind = dtype::from_numpy(array.dtype().as_any())?;
    let uploaded = device_arrays::upload_new(py, &array, kind, like.get().device())?;
    Ok(new_like(like, GpuArray::from_array(uploaded))?.into_any())
}

names! {
    internal_functions: _take, _put, _nonzero, _by_numpy;
}
