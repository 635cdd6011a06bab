//! Native part of `PyGPU.fft`: NumPy's transforms on arrays of a device. NumPy transforms arrays in host memory.

mod axes;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_like};
use crate::gil::WithoutGil;
use crate::host::cpu_view;
use crate::library_search::places;
use crate::names::names;
use crate::py_once::intern;
use axes::{FftAxes, FftFunction};
use pygpu_array::Array;
use pygpu_backend::libraries::fft::{self as libraries, Fft};
use pygpu_base::dtype::DType;
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_memory::capture;
use pygpu_ops::fft::{self, FftProblem, Transform};
use pygpu_ops::ufunc::Casting;

/// Transform an array, by NumPy's name of the function. `ours` permits overwriting the operand.
#[pyfunction]
#[pyo3(signature = (
    name: "str", a: "Any", n: "int | Sequence[int] | None", axis: "int | Sequence[int] | None",
    norm: "str | None", out: "GPUArray | None", ours: "bool" = false
) -> "GPUArray")]
#[allow(clippy::too_many_arguments)] // NumPy's
fn _fft<'py>(
    name: &str,
    a: &Bound<'py, PyAny>,
    n: Option<&Bound<'py, PyAny>>,
    axis: Option<&Bound<'py, PyAny>>,
    norm: Option<&str>,
    out: Option<&Bound<'py, PyAny>>,
    ours: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = a.py();
    let made;
    let own = match a.cast::<GpuArray>() {
        Ok(own) => own,
        Err(_) => {
            let arrays = py.import(intern!(py, "PyGPU._functions.array_arguments"))?;
            made = arrays.call_method1(intern!(py, "array"), (a, name))?.cast_into::<GpuArray>()?;
            &made
        }
    };
    let out = match out {
        None => None,
        Some(out) => {
            Some(out.cast::<GpuArray>().map_err(|_| PyTypeError::new_err("return arrays must be of ArrayType"))?)
        }
    };
    let named = FftFunction::of(name)?;
    let axes = named.axes(own.get().layout(), n, axis)?;
    let factor = named.factor(norm, &axes)?;
    if axes.is_empty() {
        return Ok(own.clone());
    }
    let array = own.get().array(py)?;
    let device = array.device();
    if device.is_cpu() {
        return by_numpy(own, name, &axes, norm, out);
    }
    let computed = array.dtype().kind();
    if named.transform.computes_in(computed).is_none() {
        return Err(PyTypeError::new_err(format!(
            "ufunc '{}' not supported for the input types, and the inputs could not be safely coerced to any supported types according \
             to the casting rule ''safe''",
            named.along_one(axes[axes.len() - 1].1)
        )));
    }
    let task = FftProblem {
        library: library(py, device)?,
        input: array,
        is_ours: ours,
        out: None,
        transform: named.transform,
        axes: &axes,
        factor,
    };
    if let Some(out) = out {
        check_out(named, &task, out)?;
    }
    let out_array = out.map(|out| out.get().array(py)).transpose()?;
    let _inherited = allocator_inheritance::inherit(py, [array].into_iter())?;
    let made = py.without_gil(|| run(&FftProblem { out: out_array, ..task }))?;
    match out {
        Some(out) => Ok(out.clone()),
        None => new_like(own, GpuArray::from_array(made)),
    }
}

/// Returns the library, which the first call opens.
fn library(py: Python<'_>, device: Device) -> PyResult<&'static Fft> {
    if let Some(opened) = libraries::opened(device.kind()) {
        return Ok(opened);
    }
    let places = places(py, "cufft")?;
    Ok(py.without_gil(|| libraries::open(device.kind(), device.backend().driver_version(), &places))?)
}

/// Transforms in the order of the current stream: in one call, or sequentially by axis if an axis is repeated.
fn run(task: &FftProblem<'_>) -> Result<Array> {
    let stream = stream::current(task.input.device());
    let is_twice = |place: usize| task.axes[..place].iter().any(|one| one.0 == task.axes[place].0);
    if !(1..task.axes.len()).any(is_twice) {
        return fft::run(task, &stream);
    }
    let is_half = task.transform == Transform::ToReal;
    let last = task.axes.len() - 1;
    // Half of a spectrum is computed first and inverted last.
    let order: Vec<usize> = if is_half { (0..=last).collect() } else { (0..=last).rev().collect() };
    let mut made: Option<Array> = None;
    for (turn, &place) in order.iter().enumerate() {
        let input = made.as_ref().unwrap_or(task.input);
        let transform = match task.transform {
            Transform::FromReal if place != last => Transform::Forward,
            Transform::ToReal if place != last => Transform::Inverse,
            transform => transform,
        };
        let is_end = turn == last;
        let next = fft::run(
            &FftProblem {
                input,
                is_ours: turn > 0,
                out: task.out.filter(|_| is_end),
                transform,
                axes: &task.axes[place..=place],
                factor: if is_end { task.factor } else { 1.0 },
                ..*task
            },
            &stream,
        )?;
        made = Some(next);
    }
    made.ok_or_else(|| Error::value("a transform along no axis"))
}

/// Rejects an array that cannot take the result.
fn check_out(named: FftFunction, task: &FftProblem<'_>, out: &Bound<'_, GpuArray>) -> PyResult<()> {
    let own = out.get();
    let name = named.along_one(task.axes[task.axes.len() - 1].1);
    own.check_writable(name)?;
    if own.device() != task.input.device() {
        return Err(PyValueError::new_err(format!(
            "{name}: out is on {} and the array on {}; give an array there",
            own.device(),
            task.input.device()
        )));
    }
    if !own.layout().shape().eq(task.shape().iter().copied()) {
        return Err(PyValueError::new_err("output array has wrong shape."));
    }
    let Some(kind) = named.transform.results_in(task.input.dtype().kind(), task.axes.len()) else { return Ok(()) };
    match Casting::SameKind.allows(kind, own.dtype().kind()) {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!(
            "Cannot cast ufunc '{name}' output from dtype('{}') to dtype('{}') with casting rule 'same_kind'",
            DType::new(kind).name(),
            own.dtype().name()
        ))),
    }
}

/// Transforms an array in host memory with NumPy.
fn by_numpy<'py>(
    own: &Bound<'py, GpuArray>,
    name: &str,
    axes: &FftAxes,
    norm: Option<&str>,
    out: Option<&Bound<'py, GpuArray>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = own.py();
    let array = own.get().array(py)?;
    capture::refuse(
        "a Fourier transform of an array in host memory, which NumPy makes at once",
        &stream::current(array.device()),
    )?;
    let (numbers, points): (Vec<usize>, Vec<i64>) = axes.iter().copied().unzip();
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "norm"), norm)?;
    if let Some(out) = out {
        out.get().check_writable(name)?;
        keywords.set_item(intern!(py, "out"), cpu_view::kept(py, out.get().array(py)?)?)?;
    }
    let view = cpu_view::kept(py, array)?;
    let function = py.import(intern!(py, "numpy.fft"))?.getattr(name)?;
    let result = match name.ends_with('n') {
        true => function.call((view, points, numbers), Some(&keywords))?,
        false => function.call((view, points[0], numbers[0]), Some(&keywords))?,
    };
    if let Some(out) = out {
        return Ok(out.clone());
    }
    let given = PyDict::new(py);
    given.set_item(intern!(py, "device"), "cpu")?;
    given.set_item(intern!(py, "copy"), false)?;
    let made = py.import(intern!(py, "PyGPU._core"))?.call_method(intern!(py, "asarray"), (result,), Some(&given))?;
    Ok(made.cast_into::<GpuArray>()?)
}

/// Return the version of cuFFT or hipFFT; None if neither is found.
#[pyfunction]
#[pyo3(signature = () -> "int | None")]
fn _fft_library_version(py: Python<'_>) -> PyResult<Option<i32>> {
    let device = Device::current()?;
    Ok(library(py, device).ok().map(Fft::version))
}

names! {
    internal_functions: _fft_library_version, _fft;
}
