//! PybindGPU's `to_device` and `to_host`, over the ndarray that an array remembers: the one it was made over, or the one that
//! `get` returned last.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::array::GpuArray;
use super::transfer::{get_on, set_on};
use crate::stream;

#[pymethods]
impl GpuArray {
    /// Uploads the host side: the ndarray that the array was made over, or that `get` returned last.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     When there is no host side yet.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> x = np.array([1, 2, 3])
    /// >>> a = PyGPU.GPUArray(x)
    /// >>> x[0] = 7
    /// >>> a.to_device()
    /// >>> a.tolist()
    /// [7, 2, 3]
    fn to_device(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let host = slf.get().host().as_ref().map(|host| host.clone_ref(py));
        match host {
            Some(host) => {
                let array = slf.get().array();
                set_on(py, array, host.bind(py), &stream::current(array.device()), true)
            }
            None => Err(PyValueError::new_err(
                "to_device: the array has no host side yet; make it over an ndarray, or call get() and change what it \
                 returns, or use set()",
            )),
        }
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
    fn to_host(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let host = slf.get().host().as_ref().map(|host| host.clone_ref(py));
        let stream = stream::current(slf.get().array().device());
        match host {
            Some(host) => get_on(slf, Some(host.bind(py)), &stream, true)?,
            None => get_on(slf, None, &stream, true)?,
        };
        Ok(())
    }

    /// The ndarray that `to_device` uploads and `to_host` refreshes, or None.
    #[getter]
    fn host_array<'py>(slf: &Bound<'py, Self>) -> Option<Bound<'py, PyAny>> {
        let py = slf.py();
        slf.get().host().as_ref().map(|host| host.bind(py).clone())
    }
}
