//! Defines `from_dlpack`, which shares arrays of other libraries without a copy.

use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::filled;
use crate::array::class::{GpuArray, new_exact, new_view_of};
use crate::exported_names::names;
use crate::host_transfers::copies::copy_to;
use crate::host_transfers::transfer;
use crate::interop::dlpack_exchange_table::{self, ExchangeOffer};
use crate::interop::dlpack_producer::{self, DlpackRequest};
use crate::interop::import::{self, finish, forbidden, ready_stream};
use pygpu_array::Array;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_interop::dlpack;

/// Create an array over another library's memory, by DLPack.
///
/// Parameters
/// ----------
/// x : object with ``__dlpack__`` and ``__dlpack_device__``, or a DLPack capsule
///     An array of any library: NumPy, CuPy, PyTorch, JAX, Numba, ...
/// device : Device, str or int, optional
///     Device of the array; that of `x` by default. Another device makes a copy.
/// copy : bool, optional
///     True always copies, False never copies, None copies only to another device.
/// stream : Stream, object with ``__cuda_stream__``, or int, optional
///     The stream on which the data becomes usable; the thread's current stream of the device by default. For a
///     capsule, whose producer cannot synchronize any more, the stream on which the data is already usable.
///
/// Returns
/// -------
/// GPUArray
///     An array that shares the memory of `x` and keeps this memory alive. The array is read-only if `x` is read-only.
///     Arrays in host memory become arrays of the device 'cpu'.
///
/// Raises
/// ------
/// AttributeError
///     If `x` lacks `__dlpack__` or `__dlpack_device__`.
/// BufferError
///     If `x` cannot be exported, or if PyGPU cannot import the exported tensor.
/// ValueError
///     If a copy is needed and forbidden, and for a consumed capsule.
///
/// See Also
/// --------
/// asarray : Convert any array-like. Host data is copied to a GPU; on the CPU an ndarray's memory is shared.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> x = np.arange(3)
/// >>> a = PyGPU.from_dlpack(x)
/// >>> x[0] = 7
/// >>> a.tolist()
/// [7, 1, 2]
#[pyfunction]
#[pyo3(signature = (
    x: "Any", /, *, device: "DeviceLike" = None, copy: "bool | None" = None, stream: "StreamLike" = None
) -> "GPUArray")]
pub(crate) fn from_dlpack<'py>(
    x: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
    stream: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = x.py();
    let device = device.map(|device| filled::target_device(py, Some(device))).transpose()?;
    let gpu_array = x.cast::<GpuArray>().ok();
    let (array, was_copied) = match &gpu_array {
        Some(gpu_array) => (gpu_array.get().array(gpu_array.py())?.clone(), false),
        None => import_array(x, device, copy == Some(false), stream)?,
    };
    let target = device.unwrap_or(array.device());
    if target != array.device() {
        if copy == Some(false) {
            return Err(forbidden(format_args!("from_dlpack: the data is on {}, not on {target}", array.device())));
        }
        let dense = array.layout().dense_like();
        return new_exact(py, GpuArray::from_array(copy_to(py, &array, target, dense)?));
    }
    match (copy, gpu_array) {
        (Some(false), _) if was_copied => Err(forbidden("from_dlpack: the producer copied the data")),
        (Some(true), _) if !was_copied => new_exact(py, GpuArray::from_array(transfer::device_copy_like(py, &array)?)),
        (_, Some(gpu_array)) => new_view_of(gpu_array, array),
        _ => new_exact(py, GpuArray::from_array(array)),
    }
}

/// Imports the array `x`, and returns whether the producer copied its data.
fn import_array(
    x: &Bound<'_, PyAny>,
    device: Option<Device>,
    no_copy: bool,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Array, bool)> {
    let py = x.py();
    if x.is_instance_of::<PyCapsule>() {
        let tensor = dlpack_producer::take(x)?;
        let ready = ready_stream(py, tensor.device()?, stream)?;
        return finish(tensor, ready);
    }
    let mut errors = import::ImportErrors::default();
    if let ExchangeOffer::Table(table) = dlpack_exchange_table::exchange_offer(x)? {
        match import::through_table(x, table, stream) {
            Ok(imported) => return Ok(imported),
            Err(error) => errors.push(error),
        }
    }
    through_methods(x, device, no_copy, stream).map_err(|error| errors.chain_before(py, error))
}

fn through_methods(
    x: &Bound<'_, PyAny>,
    device: Option<Device>,
    no_copy: bool,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Array, bool)> {
    let code = match dlpack_producer::dlpack_device(x) {
        Ok(code) => code,
        Err(error) if error.is_instance_of::<PyAttributeError>(x.py()) => return Err(missing_methods_error(x, error)),
        Err(error) => return Err(error),
    };
    // If PyGPU does not support the device of the producer, the producer can still be requested to copy its data to the
    // host.
    let is_unknown = device.is_some_and(Device::is_cpu) && dlpack::device_of(code.0, code.1).is_err();
    if is_unknown && !no_copy {
        let answer = dlpack_producer::request_tensor(x, DlpackRequest { to_host: true, ..DlpackRequest::default() })?;
        let device = answer.tensor.device()?;
        return finish(answer.tensor, Stream::default_of(device));
    }
    if dlpack::is_host(code.0) && stream.is_some_and(|stream| !stream.is_none()) {
        let cpu = Device::cpu()?;
        crate::runtime::stream::from_argument(x.py(), stream, cpu).map_err(|_| {
            PyValueError::new_err("from_dlpack: the data is in host memory, which has no streams: leave stream= out")
        })?;
    }
    import::through_method(x, code, stream, no_copy).map_err(|error| {
        if error.is_instance_of::<PyAttributeError>(x.py()) { missing_methods_error(x, error) } else { error }
    })
}

#[cold]
fn missing_methods_error(x: &Bound<'_, PyAny>, cause: PyErr) -> PyErr {
    let name = x.get_type().fully_qualified_name().map_or_else(|_| "this object".to_owned(), |name| name.to_string());
    let error = PyAttributeError::new_err(format!(
        "from_dlpack: {name} cannot be shared, since it has not both __dlpack__ and __dlpack_device__; asarray takes other \
         array-likes"
    ));
    error.set_cause(x.py(), Some(cause));
    error
}

names! {
    functions "Making arrays": from_dlpack;
}
