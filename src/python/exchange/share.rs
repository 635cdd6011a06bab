//! Arrays for other processes; `PyGPU._sharing` has what is written in Python.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::ending;
use crate::gil::WithoutGil;
use crate::names::names;
use crate::once::intern;
use crate::runtime::event::PyEvent;
use pygpu_device::stream;
use pygpu_memory::{Access, ordered};

#[pymethods]
impl GpuArray {
    /// Names the array for other processes, which open it by `open_shared`: they see the same memory.
    ///
    /// Returns
    /// -------
    /// SharedHandle
    ///     It can be pickled: put it into a queue, or give it to a process. Whoever opens it comes behind what was done with the array
    ///     until now.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the memory is not such that other processes can open it.
    ///
    /// Notes
    /// -----
    /// This process must keep an array over the memory as long as any other one uses it.
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
        ending::run_python(py, || {
            py.import(intern!(py, "PyGPU._sharing.arrays"))?.call_method1(intern!(py, "share"), (slf,))
        })
    }
}

/// Records an event behind everything that uses an array's memory, or lets what uses it next wait for the event.
///
/// Parameters
/// ----------
/// array : GPUArray
///     Whose memory it is.
/// event : Event
///     Of the array's device.
/// record : bool
///     Which of the two; both are done on the current stream.
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
