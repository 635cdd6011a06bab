//! Creates evenly spaced values: `arange`, `linspace`. On a device, a kernel computes the elements from a few values
//! that NumPy computes.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyTuple, PyType};

use super::filled::target_device;
use crate::array::attributes::is_scalar;
use crate::array::class::{GpuArray, new_exact};
use crate::convert::argument_errors;
use crate::convert::{dtype, ndarray, number, strict_mode};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::host_transfers::cast;
use crate::host_transfers::device_arrays::{new_array, upload_new_on};
use crate::py_once::intern;
use crate::runtime::stream as stream_argument;
use crate::views::element_encoding;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Error;
use pygpu_device::Device;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::MemoryOrder;
use pygpu_memory::stream_captures;
use pygpu_ops::ufunc::{self, Spacing};

/// Whether NumPy, instead of a kernel, computes the values. NumPy does so for host memory, except during a capture,
/// because a capture records kernels only.
fn uses_numpy(device: Device, stream: &Stream) -> PyResult<bool> {
    Ok(device.is_cpu() && !stream_captures::is_capturing(stream)?)
}

/// Return evenly spaced values.
///
/// Parameters
/// ----------
/// start, stop, step : number
///     As in `numpy.arange`.
/// dtype : data-type, optional
///     Type of the elements; NumPy's choice by default. As in PyCUDA, a `numpy.dtype` may also be the last positional
///     argument.
/// device : Device, str or int, optional
///     Device of the result; the thread's current device by default.
/// stream : Stream, optional
///     The stream in whose order the elements are written; the thread's current stream by default.
///
/// Returns
/// -------
/// GPUArray
///     The elements equal NumPy's values bit for bit.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.arange(2, 8, 3).tolist()
/// [2, 5]
#[pyfunction]
#[pyo3(
    signature = (*args, device=None, stream=None, **kwargs),
    text_signature = "(start, stop=None, step=1, dtype=None, *, device=None, stream=None)"
)]
// stub: def arange(
// stub:     start: Any,
// stub:     stop: Any = None,
// stub:     step: Any = 1,
// stub:     dtype: DTypeLike | None = None,
// stub:     *,
// stub:     device: DeviceLike = None,
// stub:     stream: StreamLike = None,
// stub: ) -> GPUArray: ...
pub(crate) fn arange<'py>(
    py: Python<'py>,
    args: &Bound<'py, PyTuple>,
    device: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let device = target_device(py, device.filter(|device| !device.is_none()))?;
    let stream = stream_argument::from_argument(py, stream, device)?;
    let keywords = PyDict::new(py);
    if let Some(kwargs) = kwargs {
        keywords.update(kwargs.as_mapping())?;
    }
    let mut positional = args.clone();
    if let Some(last) = args.iter().last()
        && (last.is_instance_of::<PyType>() || last.hasattr("newbyteorder")?)
        && !keywords.contains("dtype")?
        && !is_scalar(&last)
    {
        keywords.set_item("dtype", last)?;
        positional = args.get_slice(0, args.len() - 1);
    }
    if let Some(dtype_argument) = keywords.get_item("dtype")?
        && !dtype_argument.is_none()
    {
        keywords.set_item("dtype", dtype::to_python(py, dtype::from_python(&dtype_argument)?)?)?;
    }
    if !uses_numpy(device, &stream)?
        && let Some(range) = ArangeSpec::read(&positional, &keywords)?
        && let Some(array) = range.on_device(&stream)?
    {
        return new_exact(py, GpuArray::from_array(array));
    }
    let numpy_arange = ndarray::numpy(py)?.getattr("arange")?;
    let values = strict_mode::without_host_arrays(|| numpy_arange.call(&positional, Some(&keywords)))
        .map_err(|error| argument_errors::range("arange", &positional, &error))?;
    upload(values, &stream)
}

fn upload<'py>(values: Bound<'py, PyAny>, stream: &Stream) -> PyResult<Bound<'py, GpuArray>> {
    let py = values.py();
    let values = values.cast_into::<PyUntypedArray>()?;
    let dtype = dtype::from_numpy(values.dtype().as_any())?;
    new_exact(py, GpuArray::from_array(upload_new_on(py, values, dtype, stream, false)?))
}

/// The arguments of `arange`, and the number of elements that they determine.
struct ArangeSpec<'py> {
    start: Bound<'py, PyAny>,
    step: Bound<'py, PyAny>,
    count: i64,
    dtype: DType,
}

impl<'py> ArangeSpec<'py> {
    /// Reads the arguments of `arange` like NumPy; returns `None` for unusual and invalid arguments, which NumPy
    /// evaluates.
    fn read(positional: &Bound<'py, PyTuple>, keywords: &Bound<'py, PyDict>) -> PyResult<Option<Self>> {
        const NAMES: [&str; 4] = ["start", "stop", "step", "dtype"];
        let py = positional.py();
        let mut arguments: [Option<Bound<'py, PyAny>>; 4] = Default::default();
        if positional.len() > NAMES.len() {
            return Ok(None);
        }
        for (slot, value) in arguments.iter_mut().zip(positional) {
            *slot = Some(value);
        }
        for (key, value) in keywords {
            let key: String = key.extract()?;
            match NAMES.iter().position(|name| *name == key) {
                Some(index) if arguments[index].is_none() => arguments[index] = Some(value),
                _ => return Ok(None),
            }
        }
        let [start, stop, step, dtype_argument] = arguments.map(|argument| argument.filter(|value| !value.is_none()));
        let (zero, one) = (0i64.into_pyobject(py)?.into_any(), 1i64.into_pyobject(py)?.into_any());
        let (start, stop) = match (start, stop) {
            (Some(stop), None) => (zero, stop),
            (start, Some(stop)) => (start.unwrap_or(zero), stop),
            (None, None) => return Ok(None),
        };
        let step = step.unwrap_or(one);
        if [&start, &stop, &step].into_iter().any(|number| !is_scalar(number)) {
            return Ok(None);
        }
        let dtype = match dtype_argument {
            Some(dtype_argument) => dtype::from_python(&dtype_argument)?,
            None => {
                let numpy = ndarray::numpy(py)?;
                let type_of = |number| ndarray::as_ndarray(number, None).map(|array| array.dtype());
                let types = (numpy.getattr(intern!(py, "intp"))?, type_of(&start)?, type_of(&stop)?, type_of(&step)?);
                let Ok(common) = numpy.call_method1(intern!(py, "result_type"), types) else { return Ok(None) };
                let Ok(common) = dtype::from_numpy(&common) else { return Ok(None) };
                common
            }
        };
        let Some(count) = count(&start, &stop, &step) else { return Ok(None) };
        Ok(Some(Self { start, step, count, dtype }))
    }

    /// Computes the values of `arange` with a kernel; returns `None` if the dtype has no kernel, or if no compiler
    /// exists.
    fn on_device(&self, stream: &Stream) -> PyResult<Option<Array>> {
        let (py, kind) = (self.start.py(), self.dtype.kind());
        if kind == ScalarType::Bool || !ufunc::is_castable(self.dtype, self.dtype) {
            return Ok(None);
        }
        let second = self.start.add(&self.step)?;
        // The first two values are converted to elements before their difference is computed. Values out of range are
        // thus rejected, and the difference is computed from the rounded values.
        let first = convert_numbers(py, self.dtype, &[&self.start, &second])?;
        let Some([first, second]) = first else { return Ok(None) };
        let (count, dtype) = (self.count, self.dtype);
        let array = py.without_gil(|| Array::empty(&[count], dtype, MemoryOrder::C, stream.clone()))?;
        if self.count == 0 {
            return Ok(Some(array));
        }
        match py.without_gil(|| ufunc::arange(&array, &first, &second, stream)) {
            Err(Error::Unavailable(_)) => Ok(None),
            launched => Ok(launched.map(|()| Some(array))?),
        }
    }
}

/// Returns the number of elements from `start` to `stop`; `None` if the computation fails, so that NumPy raises the
/// error.
fn count(start: &Bound<'_, PyAny>, stop: &Bound<'_, PyAny>, step: &Bound<'_, PyAny>) -> Option<i64> {
    const MAX_COUNT: f64 = (1i64 << 53) as f64;
    let quotient = stop.sub(start).ok()?.div(step).ok()?;
    // The cast to Python's float accepts NumPy's float64, a class derived from float, and rejects complex numbers.
    let number = quotient.cast::<PyFloat>().ok()?.value();
    // If the quotient of distance and step underflows to 0, the result has 1 or 0 elements, and NumPy decides which.
    let underflows = number == 0.0 && stop.ne(start).unwrap_or(true);
    (number.is_finite() && number.abs() < MAX_COUNT && !underflows).then(|| (number.ceil() as i64).max(0))
}

/// Converts numbers to elements of a dtype, and then to the type in which the dtype's kernels compute. Returns the
/// bytes of the converted elements. Returns `None` if NumPy rejects a number.
fn convert_numbers<const N: usize>(
    py: Python<'_>,
    dtype: DType,
    numbers: &[&Bound<'_, PyAny>; N],
) -> PyResult<Option<[element_encoding::ElementBytes; N]>> {
    let numpy = ndarray::numpy(py)?;
    let elements = numpy.getattr(intern!(py, "zeros"))?.call1((N, dtype::to_python(py, dtype)?))?;
    for (index, number) in numbers.iter().enumerate() {
        if elements.set_item(index, number).is_err() {
            return Ok(None);
        }
    }
    let kind = DType::new(ufunc::arange::computed_in(dtype.kind()));
    let elements = elements.call_method1(intern!(py, "astype"), (dtype::to_python(py, kind)?,))?;
    let elements = elements.cast_into::<PyUntypedArray>()?;
    let items: PyResult<Vec<element_encoding::ElementBytes>> =
        (0..N).map(|index| Ok(element_encoding::element(&elements, index, kind.itemsize()))).collect();
    Ok(items?.try_into().ok())
}

/// Return a number of evenly spaced values from `start` to `stop`.
///
/// Parameters
/// ----------
/// start, stop : number or GPUArray
///     The first value, and the last value or the value after the last one. Arrays and sequences are broadcast.
/// num : int, optional
///     Number of values.
/// endpoint : bool, optional
///     Whether `stop` is the last value.
/// retstep : bool, optional
///     Whether to return the step, too.
/// dtype : data-type, optional
///     Defaults to the floating or complex type of the numbers. Values of integer types are rounded down.
/// axis : int, optional
///     Axis of the result along which the values vary, if `start` or `stop` is an array.
/// device : Device, str or int, optional
///     Device of the result; that of the arrays or the thread's current device by default.
///
/// Returns
/// -------
/// GPUArray, or GPUArray and number
///     The elements equal NumPy's values bit for bit.
///
/// Raises
/// ------
/// ValueError
///     For a negative `num`.
/// AxisError
///     If the axis is out of range.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.linspace(0, 1, 5).tolist()
/// [0.0, 0.25, 0.5, 0.75, 1.0]
/// >>> PyGPU.linspace(0, PyGPU.to_gpu([1.0, 2.0]), 3, axis=1).tolist()
/// [[0.0, 0.5, 1.0], [0.0, 1.0, 2.0]]
#[pyfunction]
#[pyo3(signature = (start, stop, num=None, endpoint=true, retstep=false, dtype=None, axis=0, *, device=None))]
#[allow(clippy::too_many_arguments)]
// stub: @overload
// stub: def linspace(
// stub:     start: Any,
// stub:     stop: Any,
// stub:     num: SupportsIndex | None = None,
// stub:     endpoint: bool = True,
// stub:     retstep: Literal[False] = False,
// stub:     dtype: DTypeLike | None = None,
// stub:     axis: SupportsIndex = 0,
// stub:     *,
// stub:     device: DeviceLike = None,
// stub: ) -> GPUArray: ...
// stub: @overload
// stub: def linspace(
// stub:     start: Any,
// stub:     stop: Any,
// stub:     num: SupportsIndex | None = None,
// stub:     endpoint: bool = True,
// stub:     *,
// stub:     retstep: Literal[True],
// stub:     dtype: DTypeLike | None = None,
// stub:     axis: SupportsIndex = 0,
// stub:     device: DeviceLike = None,
// stub: ) -> tuple[GPUArray, Any]: ...
pub(crate) fn linspace<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    stop: &Bound<'py, PyAny>,
    num: Option<&Bound<'py, PyAny>>,
    endpoint: bool,
    retstep: bool,
    dtype: Option<&Bound<'py, PyAny>>,
    axis: i64,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if ![start, stop].into_iter().all(is_scalar) {
        let spaced = py.import(intern!(py, "PyGPU._functions.creation.spaced_numbers"))?;
        let count = num.map_or_else(|| PyInt::new(py, 50).into_any(), Bound::clone);
        let arguments = (start, stop, count, endpoint, retstep, dtype, axis, device);
        return spaced.call_method1(intern!(py, "between_arrays"), arguments);
    }
    if !(-1..=0).contains(&axis) {
        return Err(Error::Axis { argument: None, axis, ndim: 1 }.into());
    }
    let num = num.map_or(Ok(50), |num| number::signed(num, "linspace: num"))?;
    if num < 0 {
        return Err(PyValueError::new_err(format!("Number of samples, {num}, must be non-negative.")));
    }
    let device = target_device(py, device.filter(|device| !device.is_none()))?;
    let stream = stream::current(device);
    let dtype = dtype.filter(|dtype| !dtype.is_none()).map(dtype::from_python).transpose()?;
    let spec = LinspaceSpec { start, stop, num, endpoint, dtype };
    let (values, step) = spec.create(device, &stream)?;
    let values = values.into_any();
    if retstep { Ok(PyTuple::new(py, [values, step])?.into_any()) } else { Ok(values) }
}

fn is_integral(dtype: DType) -> bool {
    !dtype.kind().is_complex()
        && !matches!(
            dtype.kind(),
            ScalarType::Float16 | ScalarType::BFloat16 | ScalarType::Float32 | ScalarType::Float64
        )
}

/// The arguments of `linspace`.
struct LinspaceSpec<'a, 'py> {
    start: &'a Bound<'py, PyAny>,
    stop: &'a Bound<'py, PyAny>,
    num: i64,
    endpoint: bool,
    dtype: Option<DType>,
}

impl<'py> LinspaceSpec<'_, 'py> {
    /// Returns the elements and the step that `numpy.linspace` computes for `num` elements.
    fn with_numpy(&self, num: i64) -> PyResult<(Bound<'py, PyUntypedArray>, Bound<'py, PyAny>)> {
        let py = self.start.py();
        let keywords = PyDict::new(py);
        if let Some(dtype) = self.dtype {
            keywords.set_item(intern!(py, "dtype"), dtype::to_python(py, dtype)?)?;
        }
        let arguments = (self.start, self.stop, num, self.endpoint, true);
        let result = ndarray::numpy(py)?.getattr(intern!(py, "linspace"))?.call(arguments, Some(&keywords))?;
        let result = result.cast_into::<PyTuple>()?;
        Ok((result.get_item(0)?.cast_into()?, result.get_item(1)?))
    }

    fn create(&self, device: Device, stream: &Stream) -> PyResult<(Bound<'py, GpuArray>, Bound<'py, PyAny>)> {
        let py = self.start.py();
        if !uses_numpy(device, stream)?
            && let Some((result, step)) = self.on_device(device, stream)?
        {
            return Ok((new_exact(py, GpuArray::from_array(result))?, step));
        }
        let (values, step) = self.with_numpy(self.num)?;
        Ok((upload(values.into_any(), stream)?, step))
    }

    /// Computes the values of `linspace` with a kernel; returns `None` if a dtype has no kernel, or if no compiler
    /// exists.
    fn on_device(&self, device: Device, stream: &Stream) -> PyResult<Option<(Array, Bound<'py, PyAny>)>> {
        let py = self.start.py();
        let untyped = LinspaceSpec { dtype: None, ..*self };
        let compute_dtype = dtype::from_numpy(untyped.with_numpy(0)?.0.dtype().as_any())?;
        let dtype = self.dtype.unwrap_or(compute_dtype);
        // Complex numbers cannot be rounded down to integers. The call is passed to NumPy, which raises the error.
        if !ufunc::is_castable(compute_dtype, dtype) || (compute_dtype.kind().is_complex() && is_integral(dtype)) {
            return Ok(None);
        }
        let parts = if self.endpoint { self.num - 1 } else { self.num };
        let (distance, step) = self.steps(compute_dtype, parts)?;
        let underflows = parts > 0 && step.eq(0)?;
        // As in NumPy, a kernel multiplies by the distance instead of the step if the step underflows to 0, or if there
        // is at most one element.
        let factor = if underflows || parts <= 0 { &distance } else { &step };
        let Some([first, last, factor]) = convert_numbers(py, compute_dtype, &[self.start, self.stop, factor])? else {
            return Ok(None);
        };
        cast::warn_dropped_imaginary(py, compute_dtype, dtype)?;
        let result = new_array(py, &[self.num], dtype, MemoryOrder::C, device)?;
        if self.num > 0 {
            let ends = self.endpoint && self.num > 1;
            let parts = if underflows { parts } else { 0 };
            let spacing = Spacing { start: &first, stop: &last, step: &factor, parts, ends };
            match py.without_gil(|| ufunc::linspace(&result, compute_dtype.kind(), &spacing, stream)) {
                Err(Error::Unavailable(_)) => return Ok(None),
                launched => launched?,
            }
        }
        Ok(Some((result, step)))
    }

    /// Returns the distance from start to stop, and the step, as numbers of the type in which the kernel computes.
    fn steps(&self, dtype: DType, parts: i64) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = self.start.py();
        let numpy = ndarray::numpy(py)?;
        let keywords = PyDict::new(py);
        keywords.set_item(intern!(py, "dtype"), dtype::to_python(py, dtype)?)?;
        let distance = numpy.getattr(intern!(py, "subtract"))?.call((self.stop, self.start), Some(&keywords))?;
        let step = match parts > 0 {
            true => distance.div(parts)?,
            false => PyFloat::new(py, f64::NAN).into_any(),
        };
        Ok((distance, step))
    }
}

names! {
    functions "Making arrays": arange, linspace(host = ["start", "stop"]);
}
