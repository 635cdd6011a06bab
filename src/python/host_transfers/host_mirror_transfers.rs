//! PybindGPU's methods `to_device` and `to_host`. They use the host mirror of an array, i.e. the ndarray over which the
//! array was created, or the last result of `get`.

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;

use crate::array::class::GpuArray;
use crate::array::host_mirror::HostMirror;
use crate::finalization;
use crate::host_transfers::transfer::{get_on, set_on};
use crate::py_once::intern;
use crate::runtime::ndarray_cache::CacheSlot;
use pygpu_device::stream;

impl GpuArray {
    fn set_host(&self, host: HostMirror) {
        let previous = std::mem::replace(&mut *self.host_mut(), host);
        // The previous host mirror is dropped after its lock is released, because dropping an ndarray may run Python
        // code that needs this lock.
        drop(previous);
    }

    /// Returns the ndarray over which the array was created, or the cached last result of `get`; `None` if neither is
    /// available.
    #[inline]
    pub(crate) fn last_result<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match &*self.host()? {
            HostMirror::Owned(host) => Some(host.bind(py).clone()),
            HostMirror::Returned(_, Some(cached)) => cached.get(py),
            _ => None,
        }
    }

    /// Stores a result of `get` as the host mirror. The array keeps the result alive only if the array owned the
    /// previous mirror; otherwise the mirror is lost when the program drops the result.
    pub(crate) fn remember(&self, result: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
        let owns_mirror = self.host().is_some_and(|host| matches!(*host, HostMirror::Owned(_)));
        self.set_host(match owns_mirror {
            true => HostMirror::Owned(result.clone().into_any().unbind()),
            false => HostMirror::Returned(PyWeakrefReference::new(result)?.unbind(), CacheSlot::store(result)),
        });
        Ok(())
    }

    /// Uploads the host mirror to the device.
    fn upload(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        match slf.get().live_mirror(py) {
            Some(host) => {
                let array = slf.get().array(slf.py())?;
                set_on(py, array, &host, &stream::current(array.device()), true)
            }
            None => Err(PyValueError::new_err(
                "to_device: the array has no host side; make it over an ndarray, or call get(), hold what it returns and \
                 change that, or use set(); to have the array on another device name that: to_device('cuda:1')",
            )),
        }
    }

    /// Returns the host mirror; `None` if the array has no host mirror, or if the mirror was freed.
    fn live_mirror<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.host()?.live_ndarray(py)
    }
}

#[pymethods]
impl GpuArray {
    /// Move the array to a device, or upload the host mirror if no argument is given.
    ///
    /// The host mirror is the ndarray over which the array was created, or the last result of `get`.
    ///
    /// Parameters
    /// ----------
    /// device : Device, str or int, optional
    ///     Target device, as in the array API. PybindGPU's method has no argument and uploads.
    /// stream : Stream, optional
    ///     The stream of the copy; the thread's current stream by default.
    ///
    /// Returns
    /// -------
    /// GPUArray or None
    ///     The array itself if it is on the device already, otherwise a copy; None for an upload.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an upload without a host mirror. No host mirror exists if `get` was never called, or if the result of
    ///     `get` is no longer referenced. Only an array that was created over an ndarray keeps its host mirror alive.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> x = np.array([1, 2, 3])
    /// >>> a = PyGPU.GPUArray(x)
    /// >>> a.to_device(a.device) is a
    /// True
    /// >>> x[0] = 7
    /// >>> a.to_device()
    /// >>> a.tolist()
    /// [7, 2, 3]
    #[pyo3(signature = (device = None, /, *, stream = None))]
    // stub: @overload
    // stub: def to_device(self, device: None = None, /, *, stream: None = None) -> None: ...
    // stub: @overload
    // stub: def to_device(self, device: Device | str | int, /, *, stream: StreamLike = None) -> Self: ...
    fn to_device<'py>(
        slf: &Bound<'py, Self>,
        device: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match (device, stream) {
            (None, None) => Self::upload(slf).map(|()| py.None().into_bound(py)),
            (None, Some(_)) => Err(PyTypeError::new_err(
                "to_device: a stream goes with a device, to_device(device, stream=stream); an upload is done on the current \
                 stream: with stream: a.to_device()",
            )),
            (Some(device), stream) => finalization::run_python(py, || {
                py.import(intern!(py, "PyGPU._protocols.device_transfer"))?
                    .call_method1(intern!(py, "to_device"), (slf, device, stream))
            }),
        }
    }

    /// Upload the host mirror, as `to_device` does.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> x = np.zeros(3)
    /// >>> a = PyGPU.GPUArray(x)
    /// >>> x[1] = 2
    /// >>> a.to_gpu()
    /// >>> a.tolist()
    /// [0.0, 2.0, 0.0]
    #[pyo3(signature = () -> "None")]
    fn to_gpu(slf: &Bound<'_, Self>) -> PyResult<()> {
        Self::upload(slf)
    }

    /// Refresh the host mirror in place, or create one if there is none.
    ///
    /// The host mirror is the ndarray over which the array was created, or the last result of `get`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the host mirror is read-only.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> x = np.zeros(3)
    /// >>> a = PyGPU.GPUArray(x)
    /// >>> a.fill(5.0).to_host()
    /// >>> x
    /// array([5., 5., 5.])
    #[pyo3(signature = () -> "None")]
    fn to_host(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let stream = stream::current(slf.get().device());
        match slf.get().live_mirror(py) {
            Some(host) => {
                get_on(slf, Some(&host), &stream, true)?;
            }
            None => {
                let result = get_on(slf, None, &stream, true)?;
                slf.get().set_host(HostMirror::Owned(result.into_any().unbind()));
            }
        }
        Ok(())
    }

    /// ndarray that `to_device` uploads and `to_host` refreshes, or None.
    #[getter]
    // stub: -> NDArray[Any] | None
    fn host_array<'py>(slf: &Bound<'py, Self>) -> Option<Bound<'py, PyAny>> {
        slf.get().live_mirror(slf.py())
    }
}
