//! Defines the base class of `In`, `Out` and `InOut`. These arguments are host arrays that are copied to the device
//! before a launch or back after the launch, or both.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::convert::dtype as dtypes;
use crate::convert::ndarray;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::py_once::{PyOnce, intern};
use pygpu_array::Array;
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_memory::stream_captures;

/// Host array as a kernel argument: the native base of `In`, `Out` and `InOut`, and of classes derived from them.
///
/// Parameters
/// ----------
/// array : array_like
///     An array with any strides. For `Out` and `InOut`, whose values are copied back from the device, it must be a
///     writable ndarray.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> PyGPU.In(np.array([1, 2]))
/// PyGPU.In(array([1, 2]))
/// >>> PyGPU.Out(np.zeros(2)).array
/// array([0., 0.])
#[pyclass(subclass, weakref, name = "HostArgument", module = "PyGPU")]
pub(crate) struct HostArgument {
    /// The host array, which `__init__` sets.
    array: Option<Py<PyAny>>,
}

/// The copy of a host array in device memory, which exists during a launch.
pub(crate) struct Temporary<'py> {
    host: Bound<'py, PyUntypedArray>,
    device: Array,
    is_written: bool,
}

/// The directions of the copies: whether a launch copies a host array to the device before the kernel, and whether it
/// copies the array back to the host after the kernel.
#[derive(Clone, Copy)]
pub(crate) struct CopyDirections {
    is_read: bool,
    is_written: bool,
}

/// Returns the Python classes `In`, `Out` and `InOut`, in this order.
fn classes(py: Python<'_>) -> PyResult<&[Py<PyType>; 3]> {
    static CLASSES: PyOnce<[Py<PyType>; 3]> = PyOnce::new();
    CLASSES.get_or_try_init(py, || {
        let module = py.import(intern!(py, "PyGPU._arguments.host_arguments"))?;
        let class = |name| Ok::<_, PyErr>(module.getattr(name)?.cast_into::<PyType>()?.unbind());
        Ok([class("In")?, class("Out")?, class("InOut")?])
    })
}

/// Returns the directions in which a launch copies the values of an object of the class `In`, `Out` or `InOut`. Returns
/// `None` for an instance of a derived class, because its own methods copy the values.
fn directions(host: &Bound<'_, HostArgument>) -> PyResult<Option<CopyDirections>> {
    let class = host.get_type_ptr();
    let index = classes(host.py())?.iter().position(|candidate| candidate.as_ptr().cast() == class);
    Ok(index.map(|index| CopyDirections { is_read: index != 1, is_written: index != 0 }))
}

/// Casts an object to a host argument. Returns the host argument, with the directions in which the launch copies its
/// values. Returns `None` for objects of other classes and of derived classes.
pub(crate) fn host_argument<'a, 'py>(
    value: &'a Bound<'py, PyAny>,
) -> PyResult<Option<(&'a Bound<'py, HostArgument>, CopyDirections)>> {
    let Ok(host) = value.cast::<HostArgument>() else { return Ok(None) };
    Ok(directions(host)?.map(|directions| (host, directions)))
}

#[pymethods]
impl HostArgument {
    // Python passes the arguments of a subclass's `__init__` to `__new__` too. Therefore `__new__` accepts any
    // arguments.
    #[new]
    #[pyo3(signature = (*args, **kwargs), text_signature = "(array)")]
    // stub: def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    fn new(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        let _ = (args, kwargs);
        Self { array: None }
    }

    #[pyo3(signature = (array: "Any") -> "None")]
    fn __init__(slf: &Bound<'_, Self>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::set_array(slf, array)
    }

    /// Host array.
    #[getter]
    fn array<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        host_array(slf)
    }

    #[setter]
    fn set_array(slf: &Bound<'_, Self>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let is_out = slf.is_instance(classes(py)?[1].bind(py))?;
        let array = match is_out {
            true => writable(array, &slf.get_type().name()?.to_string())?,
            false => ndarray::as_ndarray(array, None)?.into_any().unbind(),
        };
        slf.try_borrow_mut()?.array = Some(array);
        Ok(())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let prefix = if directions(slf)?.is_some() { "PyGPU." } else { "" };
        Ok(format!("{prefix}{}({})", slf.get_type().name()?, host_array(slf)?.repr()?))
    }
}

fn host_array<'py>(host: &Bound<'py, HostArgument>) -> PyResult<Bound<'py, PyAny>> {
    let py = host.py();
    host.try_borrow()?.array.as_ref().map(|array| array.bind(py).clone()).ok_or_else(|| {
        let class = host.get_type();
        PyRuntimeError::new_err(format!("{class} has no array: its __init__ is to call super().__init__(array)"))
    })
}

fn writable(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Py<PyAny>> {
    let Ok(target) = array.cast::<PyUntypedArray>() else {
        let class_name = array.get_type().fully_qualified_name()?;
        return Err(PyTypeError::new_err(format!(
            "{name} takes an ndarray, into which the kernel's values go, not {class_name}"
        )));
    };
    if !ndarray::is_writable(target) {
        return Err(PyValueError::new_err(format!("{name}: the ndarray is read-only")));
    }
    Ok(array.clone().unbind())
}

impl CopyDirections {
    /// Allocates memory on the stream's device, and uploads the host array if the kernel reads its values.
    pub(crate) fn enter<'py>(self, host: &Bound<'py, HostArgument>, stream: &Stream) -> PyResult<Temporary<'py>> {
        let py = host.py();
        let host = host_array(host)?.cast_into::<PyUntypedArray>()?;
        let dtype = dtypes::from_numpy(host.dtype().as_any())?;
        let buffer = ndarray::host_buffer(&host, dtype.itemsize())?;
        let is_read = self.is_read;
        let device: Result<Array> = py.without_gil(|| {
            stream_captures::refuse("an argument of host memory (In, Out, InOut)", stream)?;
            let array = Array::on_new_memory(buffer.layout.dense_like(), dtype, stream.clone())?;
            if is_read {
                // SAFETY: the caller keeps the ndarray alive until the launch has waited for the stream. A copy from
                // pinned memory may still run when this call returns, but ends before that wait does.
                unsafe { copy::to_device(&array, &buffer, stream)? };
            }
            Ok(array)
        });
        Ok(Temporary { host, device: device?, is_written: self.is_written })
    }
}

impl Temporary<'_> {
    /// Returns the array in device memory.
    pub(crate) fn array(&self) -> &Array {
        &self.device
    }

    /// Enqueues the download of the kernel's results into the host array. The caller must wait for the stream after the
    /// last download of the launch.
    pub(crate) fn leave(&self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        if !self.is_written {
            return Ok(());
        }
        let buffer = ndarray::host_buffer(&self.host, self.device.dtype().itemsize())?;
        let device = &self.device;
        // SAFETY: `self` keeps the ndarray alive until the caller has waited for the stream. The ndarray's elements do
        // not overlap.
        py.without_gil(|| unsafe { copy::to_host(&buffer, device, stream) })?;
        Ok(())
    }
}

names! {
    internal_classes: HostArgument;
}
