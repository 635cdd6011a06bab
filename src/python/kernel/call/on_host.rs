//! `In`, `Out` and `InOut`: host arrays that are copied to the device and back around a launch.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::Array;
use crate::copy;
use crate::error::Result;
use crate::memory::capture;
use crate::python::convert::dtype as dtypes;
use crate::python::convert::ndarray;
use crate::python::gil::WithoutGil;
use crate::stream::Stream;

/// A host array as a kernel's argument; made by `In`, `Out` and `InOut`.
#[pyclass(frozen, name = "HostArgument", module = "PyGPU")]
pub(crate) struct HostArgument {
    array: Py<PyAny>,
    is_read: bool,
    is_written: bool,
}

/// The device's side of a host array during a launch.
pub(crate) struct Temporary<'py> {
    host: Bound<'py, PyUntypedArray>,
    device: Array,
    is_written: bool,
}

#[pymethods]
impl HostArgument {
    /// The host array.
    #[getter]
    fn array<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.array.bind(py).clone()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = match (self.is_read, self.is_written) {
            (true, false) => "In",
            (false, _) => "Out",
            (true, true) => "InOut",
        };
        Ok(format!("PyGPU.{name}({})", self.array.bind(py).repr()?))
    }
}

/// A host array that is copied to the device before a kernel and not back.
///
/// Parameters
/// ----------
/// array : array_like
///     Of any strides.
///
/// Returns
/// -------
/// HostArgument
///     To be passed to a kernel.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> PyGPU.In(np.array([1, 2]))
/// PyGPU.In(array([1, 2]))
#[pyfunction(name = "In")]
fn in_(array: &Bound<'_, PyAny>) -> PyResult<HostArgument> {
    let array = ndarray::as_ndarray(array, None)?.into_any().unbind();
    Ok(HostArgument { array, is_read: true, is_written: false })
}

/// A host array that a kernel fills: its memory on the device is not initialised, and is copied back when the kernel is done.
///
/// Parameters
/// ----------
/// array : numpy.ndarray
///     Of any strides; writable.
///
/// Returns
/// -------
/// HostArgument
///     To be passed to a kernel.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> PyGPU.Out(np.zeros(2))
/// PyGPU.Out(array([0., 0.]))
#[pyfunction(name = "Out")]
fn out(array: &Bound<'_, PyAny>) -> PyResult<HostArgument> {
    Ok(HostArgument { array: writable(array, "Out")?, is_read: false, is_written: true })
}

/// A host array that is copied to the device before a kernel and back after it.
///
/// Parameters
/// ----------
/// array : numpy.ndarray
///     Of any strides; writable.
///
/// Returns
/// -------
/// HostArgument
///     To be passed to a kernel.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> PyGPU.InOut(np.ones(2))
/// PyGPU.InOut(array([1., 1.]))
#[pyfunction(name = "InOut")]
fn in_out(array: &Bound<'_, PyAny>) -> PyResult<HostArgument> {
    Ok(HostArgument { array: writable(array, "InOut")?, is_read: true, is_written: true })
}

fn writable(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Py<PyAny>> {
    let Ok(found) = array.cast::<PyUntypedArray>() else {
        let given = array.get_type().fully_qualified_name()?;
        return Err(PyTypeError::new_err(format!(
            "{name} takes an ndarray, into which the kernel's values go, not {given}"
        )));
    };
    if !ndarray::is_writable(found) {
        return Err(PyValueError::new_err(format!("{name}: the ndarray is read-only")));
    }
    Ok(array.clone().unbind())
}

impl HostArgument {
    /// Memory on the stream's device, with the host's values where the kernel reads them.
    pub(crate) fn enter<'py>(&self, py: Python<'py>, stream: &Stream) -> PyResult<Temporary<'py>> {
        let host = self.array.bind(py).clone().cast_into::<PyUntypedArray>()?;
        let dtype = dtypes::from_numpy(host.dtype().as_any())?;
        let side = ndarray::side(&host, dtype.itemsize())?;
        let is_read = self.is_read;
        let device: Result<Array> = py.without_gil(|| {
            capture::refuse("an argument of host memory (In, Out, InOut)", stream)?;
            let array = Array::on_new_memory(side.layout.dense_like(), dtype, stream.clone())?;
            if is_read {
                // SAFETY: the ndarray is held by the caller, and pinned memory is waited for below.
                unsafe { copy::to_device(&array, &side, stream)? };
            }
            Ok(array)
        });
        Ok(Temporary { host, device: device?, is_written: self.is_written })
    }
}

impl Temporary<'_> {
    /// The memory on the device.
    pub(crate) fn array(&self) -> &Array {
        &self.device
    }

    /// Copies back what the kernel wrote. The stream is to be waited for after the last one.
    pub(crate) fn leave(&self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        if !self.is_written {
            return Ok(());
        }
        let side = ndarray::side(&self.host, self.device.dtype().itemsize())?;
        let device = &self.device;
        // SAFETY: the ndarray is held by this until the stream was waited for; its elements do not overlap.
        py.without_gil(|| unsafe { copy::to_host(&side, device, stream) })?;
        Ok(())
    }
}

/// Puts the class and the functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HostArgument>()?;
    module.add_function(wrap_pyfunction!(in_, module)?)?;
    module.add_function(wrap_pyfunction!(out, module)?)?;
    module.add_function(wrap_pyfunction!(in_out, module)?)
}
