//! Implements `Ufunc.reduceat`, which reduces segments of an axis.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::super::{scan, ufunc};
use super::{output_argument, reduction_of_ufunc, ufunc_of_reduction, unsupported_method};
use crate::array::array_argument::ArrayArg;
use crate::array::class::{ArrayResult, GpuArray, new_like};
use crate::convert::{dtype, ndarray};
use crate::finalization;
use crate::gil::WithoutGil;
use crate::host_transfers::{cpu_view, device_arrays, transfer};
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_layout::{Dims, Layout, MemoryOrder, normalize_axis, tuple_text};
use pygpu_memory::stream_captures;
use pygpu_ops::reductions::ReductionEntry;
use pygpu_ops::reductions::reduceat::{self as segments, SegmentReduction};
use pygpu_ops::ufunc::{Casting, UfuncEntry};

const PARAMETERS: [&str; 5] = ["array", "indices", "axis", "dtype", "out"];

/// Computes `Ufunc.reduceat` from the positional and keyword arguments of its call.
///
/// # Errors
/// `TypeError`, `ValueError` and `IndexError`, as in NumPy; driver errors.
pub(in crate::operators) fn call<'py>(
    entry: &'static UfuncEntry,
    positional: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> ArrayResult<'py> {
    if entry.inputs != 2 {
        return Err(PyValueError::new_err("reduceat only supported for binary functions"));
    }
    if entry.outputs() != 1 {
        return Err(PyValueError::new_err("reduceat only supported for functions returning a single value"));
    }
    let arguments = ufunc::with_positional(&PARAMETERS, positional, keywords)?;
    check_names(&arguments)?;
    let argument = |name: &str| arguments.get_item(name);
    let required = |name: &str| {
        argument(name)?.ok_or_else(|| PyTypeError::new_err(format!("reduceat() missing required argument '{name}'")))
    };
    let operand: ArrayArg<'_> = required("array")?.extract()?;
    let indices = required("indices")?;
    let reduction = reduction_of_ufunc(entry.name).ok_or_else(|| unsupported_method(entry.name, "reduceat"))?;
    let ndim = operand.get().layout().ndim();
    if ndim == 0 {
        return Err(PyTypeError::new_err("cannot reduceat on a scalar"));
    }
    let axis = normalize_axis(scan::read_axis("reduceat", argument("axis")?, ndim)?, ndim)?;
    let starts = starts(entry.name, &operand, axis, &indices)?;
    reduced(reduction, &operand, &starts, axis, argument("dtype")?.as_ref(), argument("out")?.as_ref())
}

fn check_names(arguments: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, _) in arguments {
        let name = name.cast_into::<PyString>()?;
        if !PARAMETERS.contains(&name.to_str()?) {
            return Err(PyTypeError::new_err(format!("reduceat() got an unexpected keyword argument '{name}'")));
        }
    }
    Ok(())
}

/// Checks the starts of the segments. Returns them as an array of contiguous 64-bit integers on the operand's device.
fn starts<'py>(
    name: &str,
    operand: &Bound<'py, GpuArray>,
    axis: usize,
    indices: &Bound<'py, PyAny>,
) -> ArrayResult<'py> {
    let py = operand.py();
    let checked = finalization::run_python(py, || {
        let module = py.import(intern!(py, "PyGPU._functions.accumulation"))?;
        module.call_method1(intern!(py, "segment_starts"), (name, operand, axis, indices))
    })?;
    Ok(checked.cast_into()?)
}

fn reduced<'py>(
    entry: &'static ReductionEntry,
    operand: &Bound<'py, GpuArray>,
    starts: &Bound<'py, GpuArray>,
    axis: usize,
    requested: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
) -> ArrayResult<'py> {
    let py = operand.py();
    let array = operand.get().array(py)?;
    let kind = array.dtype().kind();
    let out = output_argument(entry, false, array, out)?;
    // If no casting rule allows the cast from the input's type to the output array's type, the computation ignores the
    // output's type: floats are reduced as floats, and the results are converted to the integers of the output array.
    let out_kind = out.as_ref().map(|out| out.get().dtype().kind()).filter(|out| Casting::SameKind.allows(kind, *out));
    let computed = scan::computed(entry, kind, requested, out_kind)?;
    let mut shape: Dims = array.layout().shape().collect();
    shape[axis] = starts.get().layout().size();
    let result_dtype = out.as_ref().map_or(DType::new(entry.output(computed)), |out| out.get().dtype());
    let new_target = || {
        let layout = Layout::contiguous(&shape, result_dtype.itemsize() as i64, MemoryOrder::C)?;
        device_arrays::new_dense(py, layout, result_dtype, array.device())
    };
    let out = match out {
        Some(out) if !out.get().layout().shape().eq(shape.iter().copied()) => {
            return Err(PyValueError::new_err(format!(
                "{}.reduceat: out has shape {} and the result {}",
                ufunc_of_reduction(entry.name),
                tuple_text(out.get().layout().shape()),
                tuple_text(shape)
            )));
        }
        Some(out) => out,
        None => new_like(operand, GpuArray::from_array(new_target()?))?,
    };
    let target = out.get().array(py)?;
    let stream = stream::current(array.device());
    if array.device().is_cpu() && !stream_captures::is_capturing(&stream)? {
        reduce_with_numpy(py, entry, (array, starts.get().array(py)?), axis, computed, &out)?;
        return Ok(out);
    }
    // The kernel requires contiguous arrays, and an output that does not overlap the other arrays. Otherwise it works
    // on copies.
    let is_plain = |array: &Array| array.layout().is_c_contiguous();
    let input = if is_plain(array) { array.clone() } else { transfer::device_copy(py, array, MemoryOrder::C)? };
    let starts = starts.get().array(py)?;
    let overlaps = copy::may_overlap(target, &input) || copy::may_overlap(target, starts);
    let written = if is_plain(target) && !overlaps { target.clone() } else { new_target()? };
    let call = SegmentReduction { row: entry, computed, input: &input, starts, out: &written, axis };
    py.without_gil(|| segments::run(&call, &stream))?;
    if !is_plain(target) || overlaps {
        py.without_gil(|| copy::between(target, &written, &stream))?;
    }
    Ok(out)
}

/// Calls NumPy's method `reduceat` with ndarrays over the memory of the arrays.
fn reduce_with_numpy(
    py: Python<'_>,
    entry: &ReductionEntry,
    (array, starts): (&Array, &Array),
    axis: usize,
    computed: ScalarType,
    out: &Bound<'_, GpuArray>,
) -> PyResult<()> {
    let keywords = PyDict::new(py);
    keywords.set_item("axis", axis)?;
    keywords.set_item("out", cpu_view::view(out)?)?;
    if !entry.is_of_truths() {
        keywords.set_item("dtype", dtype::to_python(py, DType::new(computed))?)?;
    }
    let function = ndarray::numpy(py)?.getattr(ufunc_of_reduction(entry.name))?.getattr("reduceat")?;
    function.call((cpu_view::owning(py, array)?, cpu_view::owning(py, starts)?), Some(&keywords))?;
    Ok(())
}
