//! Contains the native part of `PyGPU.fft`, which computes the functions of `numpy.fft` for arrays on a device. NumPy
//! transforms arrays in host memory.

mod axes;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_like};
use crate::convert::argument_errors;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::host_transfers::cpu_view;
use crate::library_search::search_paths;
use crate::py_once::intern;
use axes::{FftAxes, FftFunction};
use pygpu_array::Array;
use pygpu_backend::libraries::fft::{self as libraries, Fft};
use pygpu_base::dtype::DType;
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_memory::stream_captures;
use pygpu_ops::fft::{self, FftProblem, Transform, columns, plans};
use pygpu_ops::ufunc::Casting;

/// Transform an array like the function `name` of `numpy.fft`. If `ours` is true, the transform may overwrite the
/// operand.
#[pyfunction]
#[pyo3(signature = (
    name: "str", a: "Any", n: "int | Sequence[int | None] | None", axis: "int | Sequence[int] | None",
    norm: "str | None", out: "GPUArray | None", ours: "bool" = false
) -> "GPUArray")]
#[allow(clippy::too_many_arguments)] // these are the parameters of NumPy's functions
fn _fft<'py>(
    name: &str,
    a: &Bound<'py, PyAny>,
    n: Option<&Bound<'py, PyAny>>,
    axis: Option<&Bound<'py, PyAny>>,
    norm: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    ours: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = a.py();
    let result;
    let operand = match a.cast::<GpuArray>() {
        Ok(operand) => operand,
        Err(_) => {
            let arrays = py.import(intern!(py, "PyGPU._functions.array_arguments"))?;
            result = arrays.call_method1(intern!(py, "array"), (a, name))?.cast_into::<GpuArray>()?;
            &result
        }
    };
    let out = match out {
        None => None,
        Some(out) => Some(out.cast::<GpuArray>().map_err(|_| argument_errors::output(Some(name), out))?),
    };
    let function = FftFunction::from_name(name)?;
    let axes = function.axes(operand.get().layout(), n, axis)?;
    let factor = function.factor(norm, &axes)?;
    if axes.is_empty() {
        return Ok(operand.clone());
    }
    let array = operand.get().array(py)?;
    let device = array.device();
    if device.is_cpu() {
        return transform_with_numpy(operand, name, &axes, norm, out);
    }
    let kind = array.dtype().kind();
    if function.transform.computes_in(kind).is_none() {
        return Err(PyTypeError::new_err(format!(
            "ufunc '{}' not supported for the input types, and the inputs could not be safely coerced to any supported types according \
             to the casting rule ''safe''",
            function.ufunc_name(axes[axes.len() - 1].1)
        )));
    }
    let problem = FftProblem {
        library: library(py, device)?,
        input: array,
        is_ours: ours,
        out: None,
        transform: function.transform,
        axes: &axes,
        factor,
    };
    if let Some(out) = out {
        check_out(function, &problem, out)?;
    }
    let out_array = out.map(|out| out.get().array(py)).transpose()?;
    let _inherited = allocator_inheritance::inherit(py, [array].into_iter())?;
    let result = py.without_gil(|| run(&FftProblem { out: out_array, ..problem }))?;
    match out {
        Some(out) => Ok(out.clone()),
        None => new_like(operand, GpuArray::from_array(result)),
    }
}

/// Returns the vendor's FFT library. The first call opens the library.
fn library(py: Python<'_>, device: Device) -> PyResult<&'static Fft> {
    if let Some(opened) = libraries::opened(device.kind()) {
        return Ok(opened);
    }
    let search_paths = search_paths(py, "cufft")?;
    Ok(py.without_gil(|| libraries::open(device.kind(), device.backend().driver_version(), &search_paths))?)
}

/// Transforms an array on the current stream. The library computes all axes in one call, or, if an axis is repeated,
/// one axis per call.
fn run(problem: &FftProblem<'_>) -> Result<Array> {
    let stream = stream::current(problem.input.device());
    let is_repeated = |index: usize| problem.axes[..index].iter().any(|axis| axis.0 == problem.axes[index].0);
    if !(1..problem.axes.len()).any(is_repeated) {
        return fft::run(problem, &stream);
    }
    let is_half = problem.transform == Transform::ToReal;
    let last = problem.axes.len() - 1;
    // A real transform stores only half of the spectrum along the last axis. Therefore a forward transform begins with
    // this axis, and an inverse transform ends with it.
    let order: Vec<usize> = if is_half { (0..=last).collect() } else { (0..=last).rev().collect() };
    let mut result: Option<Array> = None;
    for (step, &index) in order.iter().enumerate() {
        let input = result.as_ref().unwrap_or(problem.input);
        let transform = match problem.transform {
            Transform::FromReal if index != last => Transform::Forward,
            Transform::ToReal if index != last => Transform::Inverse,
            transform => transform,
        };
        let is_last = step == last;
        let next = fft::run(
            &FftProblem {
                input,
                is_ours: step > 0,
                out: problem.out.filter(|_| is_last),
                transform,
                axes: &problem.axes[index..=index],
                factor: if is_last { problem.factor } else { 1.0 },
                ..*problem
            },
            &stream,
        )?;
        result = Some(next);
    }
    result.ok_or_else(|| Error::value("a transform along no axis"))
}

/// Checks that the device, shape and type of an output array match the result of a transform.
fn check_out(function: FftFunction, problem: &FftProblem<'_>, out: &Bound<'_, GpuArray>) -> PyResult<()> {
    let out_array = out.get();
    let name = function.ufunc_name(problem.axes[problem.axes.len() - 1].1);
    out_array.check_writable(name)?;
    if out_array.device() != problem.input.device() {
        return Err(PyValueError::new_err(format!(
            "{name}: out is on {} and the array on {}; give an array there",
            out_array.device(),
            problem.input.device()
        )));
    }
    if !out_array.layout().shape().eq(problem.shape().iter().copied()) {
        return Err(PyValueError::new_err("output array has wrong shape."));
    }
    let Some(kind) = function.transform.results_in(problem.input.dtype().kind(), problem.axes.len()) else {
        return Ok(());
    };
    match Casting::SameKind.allows(kind, out_array.dtype().kind()) {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!(
            "Cannot cast ufunc '{name}' output from dtype('{}') to dtype('{}') with casting rule 'same_kind'",
            DType::new(kind).name(),
            out_array.dtype().name()
        ))),
    }
}

/// Transforms an array in host memory by a call of NumPy.
fn transform_with_numpy<'py>(
    operand: &Bound<'py, GpuArray>,
    name: &str,
    axes: &FftAxes,
    norm: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, GpuArray>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = operand.py();
    let array = operand.get().array(py)?;
    stream_captures::refuse(
        "a Fourier transform of an array in host memory, which NumPy makes at once",
        &stream::current(array.device()),
    )?;
    let (axis_numbers, points): (Vec<usize>, Vec<i64>) = axes.iter().copied().unzip();
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "norm"), norm)?;
    if let Some(out) = out {
        out.get().check_writable(name)?;
        keywords.set_item(intern!(py, "out"), cpu_view::owning(py, out.get().array(py)?)?)?;
    }
    let view = cpu_view::owning(py, array)?;
    let function = py.import(intern!(py, "numpy.fft"))?.getattr(name)?;
    let result = match name.ends_with('n') {
        true => function.call((view, points, axis_numbers), Some(&keywords))?,
        false => function.call((view, points[0], axis_numbers[0]), Some(&keywords))?,
    };
    if let Some(out) = out {
        return Ok(out.clone());
    }
    let options = PyDict::new(py);
    options.set_item(intern!(py, "device"), "cpu")?;
    options.set_item(intern!(py, "copy"), false)?;
    let array_of_result =
        py.import(intern!(py, "PyGPU._core"))?.call_method(intern!(py, "asarray"), (result,), Some(&options))?;
    Ok(array_of_result.cast_into::<GpuArray>()?)
}

/// Return the version of cuFFT or hipFFT; None if the library is not found.
#[pyfunction]
#[pyo3(signature = () -> "int | None")]
fn _fft_library_version(py: Python<'_>) -> PyResult<Option<i32>> {
    let device = Device::current()?;
    Ok(library(py, device).ok().map(Fft::version))
}

/// Return the number of cached plans of the current device, and the limit for all devices; None if unlimited.
#[pyfunction]
#[pyo3(signature = () -> "tuple[int, int | None]")]
fn _fft_plan_counts() -> PyResult<(usize, Option<usize>)> {
    let (count, most) = plans::counts(Device::current()?);
    Ok((count, (most != usize::MAX).then_some(most)))
}

/// Remove the cached plans of the current device.
#[pyfunction]
#[pyo3(signature = () -> "None")]
fn _clear_fft_plans(py: Python<'_>) -> PyResult<()> {
    let device = Device::current()?;
    py.without_gil(|| plans::clear(device));
    Ok(())
}

/// Change the largest number of cached plans of all devices; None for no limit.
#[pyfunction]
#[pyo3(signature = (most: "int | None") -> "None")]
fn _limit_fft_plans(py: Python<'_>, most: Option<usize>) {
    py.without_gil(|| plans::set_most(most.unwrap_or(usize::MAX)));
}

/// Change the smallest number of elements that PyGPU's kernels transform, and the size in bytes of their pieces of long
/// transforms; None for the default.
#[pyfunction]
#[pyo3(signature = (fewest: "int | None" = None, piece: "int | None" = None) -> "None")]
fn _limit_fft_columns(fewest: Option<i64>, piece: Option<i64>) {
    columns::limit(fewest, piece);
}

names! {
    internal_functions: _fft_library_version, _fft, _fft_plan_counts, _clear_fft_plans, _limit_fft_plans,
        _limit_fft_columns;
}
