//! Shares arrays with other processes. The Python part is in `PyGPU._sharing`.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::names::names;
use crate::py_once::intern;
use crate::runtime::event::PyEvent;
use pygpu_device::stream;
use pygpu_memory::{Access, ordered};

#[pymethods]
impl GpuArray {
    /// Returns a handle by which other processes map the same memory with `open_shared`.
    ///
    /// Returns
    /// -------
    /// SharedHandle
    ///     Handle that can be pickled: put the handle into a queue, or pass the handle to a process. The process that
    ///     opens the handle waits for all earlier work on the array.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the memory cannot be opened by other processes.
    ///
    /// Notes
    /// -----
    /// This process must keep an array over the memory alive while any other process uses the memory.
    ///
    /// Examples
    /// --------
    /// >>> import pickle
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3, shared=True)
    /// >>> handle = pickle.loads(pickle.dumps(a.share()))
    /// >>> b = PyGPU.open_shared(handle)
    /// >>> b[1] = 7
    /// >>> a.tolist()
    /// [0.0, 7.0, 0.0]
    #[pyo3(signature = () -> "SharedHandle")]
    fn share<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._sharing.arrays"))?.call_method1(intern!(py, "share"), (slf,))
        })
    }
}

/// Records an event after all uses of an array's memory, or makes the next use of the memory wait for the event.
///
/// Parameters
/// ----------
/// array : GPUArray
///     Array whose memory is ordered by the event.
/// event : Event
///     Event of the array's device.
/// record : bool
///     True records the event on the current stream. False makes the current stream, and with it the next use of the
///     memory, wait for the event.
#[pyfunction]
#[pyo3(signature = (array: "GPUArray", event: "Event", record: "bool") -> "None")]
fn _order_by_event(array: &Bound<'_, GpuArray>, event: &Bound<'_, PyEvent>, record: bool) -> PyResult<()> {
    let py = array.py();
    let (array, event) = (array.get().array(py)?, event.get().event()?);
    py.without_gil(|| {
        let stream = stream::current(array.device());
        ordered(&[(array.allocation(), Access::Write)], &stream, || match record {
            true => event.record(&stream),
            false => stream.wait_event(event),
        })
    })?;
    Ok(())
}

names! {
    internal_functions: _order_by_event;
}
