//! Checks the streams on which other libraries use memory that they exchange with PyGPU (`PYGPU_CHECK_STREAMS=1`). The
//! Python module `PyGPU._streams.stream_check` finds these streams and issues the warnings.
//!
//! [`hand_over`] and [`launch_address`] report their errors by `sys.unraisablehook`, so that a failed check does not
//! change the program.

use std::sync::Arc;

use pyo3::prelude::*;

use super::device::PyDevice;
use super::stream::PyStream;
use crate::callback::SendPyObject;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_device::stream::{self, Stream};
use pygpu_memory::stream_check::{self, Origin};
use pygpu_memory::{Access, Allocation};

pub(crate) use pygpu_memory::stream_check::is_on;

fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "PyGPU._streams.stream_check"))
}

fn unraisable<T>(py: Python<'_>, result: PyResult<T>) {
    if let Err(error) = result {
        error.write_unraisable(py, None);
    }
}

fn origin_of(origin: Bound<'_, PyAny>) -> Origin {
    Arc::new(SendPyObject::new(origin.unbind()))
}

/// Warns if PyGPU imports an array whose producer named no stream, and PyGPU's current stream does not wait for pending
/// work of the producer's library. `producer` is `None` if it is unknown; any library may then be the producer.
///
/// # Errors
/// The warning of a failed check, if the program turns warnings into exceptions.
#[cold]
pub(crate) fn check_import(py: Python<'_>, producer: Option<&Bound<'_, PyAny>>, array: &Array) -> PyResult<()> {
    let device = array.device();
    if device.is_cpu() || array.layout().size() == 0 {
        return Ok(());
    }
    let ready = PyStream::from(stream::own_current(device));
    module(py)?.call_method1(intern!(py, "check_import"), (producer, PyDevice::from(device), ready)).map(drop)
}

/// Warns if a write is pending on the memory of an array that is exported without synchronization.
///
/// # Errors
/// The warning of a failed check, if the program turns warnings into exceptions.
#[cold]
pub(crate) fn check_unordered_export(py: Python<'_>, array: &Array) -> PyResult<()> {
    match array.allocation().pending_writer() {
        Some(writer) if !array.device().is_cpu() => {
            module(py)?.call_method1(intern!(py, "report_export"), (writer.handle().0,)).map(drop)
        }
        _ => Ok(()),
    }
}

/// Records that another library receives the memory of an array. The library uses the memory on the stream `consumer`,
/// or on any stream if `consumer` is `None`. The text `way` describes, for warnings, how the library received the
/// memory.
#[cold]
pub(crate) fn hand_over(py: Python<'_>, array: &Array, consumer: Option<&Stream>, way: &str) {
    let (block, access) = (array.allocation(), array.exported_access());
    if !array.device().is_cpu() {
        unraisable(py, try_hand_over(py, block, access, consumer, way));
    }
}

fn try_hand_over(
    py: Python<'_>,
    block: &Allocation,
    access: Access,
    consumer: Option<&Stream>,
    way: &str,
) -> PyResult<()> {
    let device = PyDevice::from(block.device());
    let handle = consumer.map(|stream| stream.handle().0);
    let answer = module(py)?.call_method1(intern!(py, "hand_over"), (device, handle, way))?;
    let (origin, named, suspects): (Bound<'_, PyAny>, Option<Bound<'_, PyStream>>, Vec<Bound<'_, PyStream>>) =
        answer.extract()?;
    let origin = origin_of(origin);
    // If PyGPU created the consumer's stream, it is used directly, because it stays valid without the stream object of
    // the other library.
    let own = consumer.filter(|stream| !stream.is_foreign()).cloned();
    let named =
        own.map_or_else(|| named.map(|stream| stream.get().stream().cloned()).transpose(), |own| Ok(Some(own)))?;
    if let Some(stream) = named {
        stream_check::hand_over(block, stream, access, Arc::clone(&origin));
    }
    for stream in suspects {
        stream_check::suspect(block, stream.get().stream()?.clone(), Arc::clone(&origin));
    }
    Ok(())
}

/// Warns if a kernel launch, whose argument is an address in a memory block instead of an array, does not wait for
/// pending work on the block.
#[cold]
pub(crate) fn launch_address(py: Python<'_>, block: &Arc<Allocation>, access: Access, stream: &Stream) {
    let origin =
        module(py).and_then(|module| module.call_method1(intern!(py, "origin"), ("the launch with an address",)));
    match origin.map(origin_of) {
        Ok(origin) => py.without_gil(|| stream_check::launch_address(block, access, stream, origin)),
        Err(error) => error.write_unraisable(py, None),
    }
}

/// Returns whether new work on one stream would not wait for pending work of other libraries on another stream.
///
/// Parameters
/// ----------
/// waiter : Stream
///     The stream that should wait.
/// worker : Stream
///     The stream with pending work.
///
/// Returns
/// -------
/// bool
///     False if this is not certain.
#[pyfunction]
#[pyo3(signature = (waiter: "Stream", worker: "Stream") -> "bool")]
fn _is_unordered(py: Python<'_>, waiter: &Bound<'_, PyStream>, worker: &Bound<'_, PyStream>) -> PyResult<bool> {
    let (waiter, worker) = (waiter.get().stream()?, worker.get().stream()?);
    Ok(py.without_gil(|| stream_check::is_unordered(waiter, worker)))
}

names! {
    internal_functions: _is_unordered;
}
