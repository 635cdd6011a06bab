//! Defines functions that move managed memory to a location, and that advise the driver about its use.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::number;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::interop::memory_argument::MemoryArgument;
use crate::runtime::stream::stream_or_default;
use pygpu_backend::{Address, Advice, Residence};
use pygpu_device::Device;
use pygpu_memory::stream_captures;

const ADVICE: [(&str, Advice); 6] = [
    ("read_mostly", Advice::SetReadMostly),
    ("not_read_mostly", Advice::UnsetReadMostly),
    ("preferred_location", Advice::SetPreferredLocation),
    ("no_preferred_location", Advice::UnsetPreferredLocation),
    ("accessed_by", Advice::SetAccessedBy),
    ("not_accessed_by", Advice::UnsetAccessedBy),
];

/// Converts a number to a location: a device index, or -1 for the host.
fn residence(object: &Bound<'_, PyAny>) -> PyResult<Residence> {
    match number::int32(object, "device")? {
        -1 => Ok(Residence::Host),
        device if device >= 0 => Ok(Residence::Device(device)),
        other => Err(PyValueError::new_err(format!("device is {other}: it is a device's number, or -1 for the host"))),
    }
}

/// Move a range of managed memory to the device or host that uses the range next, in the order of a stream.
///
/// Parameters
/// ----------
/// address : int or object with an address
///     First byte of the range.
/// nbytes : int
///     Number of bytes of the range.
/// device : int
///     The device that uses the range next; -1 is the host.
/// stream : Stream, object with `__cuda_stream__`, int or None
///     None is the legacy default stream.
///
/// Raises
/// ------
/// CudaError
///     With code 1 if the memory is not managed; with code 101 if the device does not exist.
/// NotSupportedError
///     While the stream is captured into a graph.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> memory = _core.allocate_managed(1024, 1)
/// >>> _core.prefetch_managed(memory, 1024, 0, None)  # doctest: +SKIP
#[pyfunction]
#[pyo3(signature = (
    address: "AddressLike", nbytes: "SupportsIndex", device: "SupportsIndex", stream: "StreamLike"
) -> "None")]
fn prefetch_managed(
    address: &Bound<'_, PyAny>,
    nbytes: &Bound<'_, PyAny>,
    device: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = address.py();
    let (start, bytes, target): (Address, _, _) =
        (MemoryArgument::from_python(address)?.address(), number::size(nbytes, "nbytes")?, residence(device)?);
    let current_device = py.without_gil(Device::current)?;
    let stream = stream_or_default(py, stream, current_device)?;
    Ok(py.without_gil(|| {
        stream_captures::refuse("a prefetch of managed memory", &stream)?;
        let memory = current_device.backend().driver_memory()?;
        // SAFETY: the variable `stream` keeps the stream alive; the driver rejects memory that is not managed.
        unsafe { memory.prefetch_managed(current_device.index(), start, bytes, target, stream.handle()) }
    })?)
}

/// Advise the driver of the use of a range of managed memory.
///
/// Parameters
/// ----------
/// address : int or object with an address
///     First byte of the range.
/// nbytes : int
///     Number of bytes of the range.
/// advice : str
///     'read_mostly', 'preferred_location' or 'accessed_by'. 'not_read_mostly', 'no_preferred_location' and
///     'not_accessed_by' revoke the earlier advice.
/// device : int
///     The device that the advice concerns; -1 is the host.
///
/// Raises
/// ------
/// ValueError
///     For unknown advice.
/// CudaError
///     With code 1 if the memory is not managed; with code 101 if the device does not exist or lacks the capability.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> memory = _core.allocate_managed(1024, 1)
/// >>> _core.advise_managed(memory, 1024, 'read_mostly', 0)  # doctest: +SKIP
#[pyfunction]
#[pyo3(signature = (address: "AddressLike", nbytes: "SupportsIndex", advice: "str", device: "SupportsIndex") -> "None")]
fn advise_managed(
    address: &Bound<'_, PyAny>,
    nbytes: &Bound<'_, PyAny>,
    advice: &str,
    device: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let py = address.py();
    let (start, bytes, location) =
        (MemoryArgument::from_python(address)?.address(), number::size(nbytes, "nbytes")?, residence(device)?);
    let Some((_, advice_value)) = ADVICE.iter().find(|(name, _)| *name == advice) else {
        let names = ADVICE.map(|(name, _)| format!("'{name}'")).join(", ");
        return Err(PyValueError::new_err(format!("advice is one of {names}, not '{advice}'")));
    };
    Ok(py.without_gil(|| {
        let current_device = Device::current()?;
        current_device.backend().driver_memory()?.advise_managed(
            current_device.index(),
            start,
            bytes,
            *advice_value,
            location,
        )
    })?)
}

names! {
    internal_functions: prefetch_managed, advise_managed;
}
