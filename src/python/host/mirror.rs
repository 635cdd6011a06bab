//! PybindGPU's `to_device` and `to_host`, over the ndarray that an array remembers: the one it was made over, or the one that
//! `get` returned last.

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;

use crate::array::class::GpuArray;
use crate::array::host_side::HostSide;
use crate::ending;
use crate::host::transfer::{get_on, set_on};
use crate::once::intern;
use crate::runtime::spare::Spare;
use pygpu_device::stream;

impl GpuArray {
    fn set_host(&self, host: HostSide) {
        let before = std::mem::replace(&mut *self.host_to_set(), host);
        // Without the lock: the end of an ndarray may run Python.
        drop(before);
    }

    /// What `get` returned last, for it to be filled again if the caller's reference and one more are the only ones.
    #[inline]
    pub(crate) fn last_result<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match &*self.host()? {
            HostSide::Own(host) => Some(host.bind(py).clone()),
            HostSide::Returned(_, Some(spare)) => spare.get(py),
            _ => None,
        }
    }

    /// Remembers what `get` returns. What is remembered of an array in PybindGPU's form is kept by it.
    pub(crate) fn remember(&self, result: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
        let is_own = self.host().is_some_and(|host| matches!(*host, HostSide::Own(_)));
        self.set_host(match is_own {
            true => HostSide::Own(result.clone().into_any().unbind()),
            false => HostSide::Returned(PyWeakrefReference::new(result)?.unbind(), Spare::keep(result)),
        });
        Ok(())
    }

    /// Uploads the host side.
    fn upload(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        match slf.get().host_side(py) {
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

    /// The host side, if there is one and somebody holds it.
    fn host_side<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.host()?.held(py)
    }
}

#[pymethods]
impl GpuArray {
    /// The array on a device; without one, uploads the host side: the ndarray that the array was made over, or that `get`
    /// returned last.
    ///
    /// Parameters
    /// ----------
    /// device : Device, str or int, optional
    ///     Where the array is wanted, as the array API has it. PybindGPU's method has no argument and uploads.
    /// stream : Stream or int, optional
    ///     The stream on which the copy is done; the current one by default.
    ///
    /// Returns
    /// -------
    /// GPUArray or None
    ///     The array itself if it is there already, else a copy; None for an upload.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an upload when there is no host side: nothing was returned yet, or nobody holds it any more. Only an array that was
    ///     made over an ndarray keeps its host side itself.
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
            (Some(device), stream) => ending::run_python(py, || {
                py.import(intern!(py, "PyGPU._protocols.moving"))?
                    .call_method1(intern!(py, "to_device"), (slf, device, stream))
            }),
        }
    }

    /// Uploads the host side, as `to_device` does.
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

    /// Refreshes the host side in place: the ndarray that the array was made over, or that `get` returned last. Without
    /// one, makes one.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     When the host side is read-only.
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
        match slf.get().host_side(py) {
            Some(host) => {
                get_on(slf, Some(&host), &stream, true)?;
            }
            None => {
                let made = get_on(slf, None, &stream, true)?;
                slf.get().set_host(HostSide::Own(made.into_any().unbind()));
            }
        }
        Ok(())
    }

    /// The ndarray that `to_device` uploads and `to_host` refreshes, or None.
    #[getter]
    // stub: -> NDArray[Any] | None
    fn host_array<'py>(slf: &Bound<'py, Self>) -> Option<Bound<'py, PyAny>> {
        slf.get().host_side(slf.py())
    }
}
