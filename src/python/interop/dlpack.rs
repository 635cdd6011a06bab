//! Defines `__dlpack__` and `__dlpack_device__`, which export arrays as DLPack capsules.
//!
//! The export is optimized, because every exchange contains an export. An export creates no string, no Python object
//! except the capsule, and only one heap block for the data that the consumer owns.

use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

use super::capsule::{capsule, integer_pair};
use crate::array::class::GpuArray;
use crate::convert::number;
use crate::ffi::interpreter::{holds_gil, with_interpreter};
use crate::gil::WithoutGil;
use crate::host_transfers::copies;
use crate::runtime::stream_check;
use pygpu_array::Array;
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream::{self, Stream};
use pygpu_interop::dlpack::{self, DlpackFlags, export};
use pygpu_interop::stream_numbers;
use pygpu_layout::{Dims, Layout, MemoryOrder};

#[pymethods]
impl GpuArray {
    /// Exports the array as a DLPack capsule, for ``from_dlpack`` of other libraries.
    ///
    /// Parameters
    /// ----------
    /// stream : int, optional
    ///     The consumer's stream. The stream waits for the data through an event, and the host does not wait. None is
    ///     the legacy default stream, -1 disables synchronization. On CUDA 1 is the legacy default stream, 2 is the
    ///     per-thread default stream, and 0 is an error. On ROCm 0 is the default stream, and 1 and 2 are errors.
    ///     Greater numbers are handles. For host memory only None and -1 are allowed.
    /// max_version : tuple of int, optional
    ///     Newest DLPack version that the consumer supports. Without `max_version` the capsule has the format used
    ///     before DLPack 1.0.
    /// dl_device : tuple of int, optional
    ///     Requested device: the array's own device, or ``(1, 0)`` for the host.
    /// copy : bool, optional
    ///     True always copies, in C order. False never copies. None copies only to another device.
    ///
    /// Returns
    /// -------
    /// capsule
    ///     Keeps the memory alive, but not the array object. Its deleter does not need the GIL.
    ///
    /// Raises
    /// ------
    /// BufferError
    ///     If the dtype is structured, if another device is requested, if a read-only array is exported without
    ///     `max_version`, or if a copy is needed and `copy` is False.
    /// ValueError
    ///     If the device does not have the stream.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3, device='cpu')
    /// >>> np.from_dlpack(a)[1] = 5
    /// >>> a.tolist()
    /// [0.0, 5.0, 0.0]
    #[pyo3(signature = (
        *, stream: "Any" = None, max_version: "tuple[int, int] | None" = None,
        dl_device: "tuple[int, int] | None" = None, copy: "bool | None" = None
    ) -> "Any")]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<&Bound<'py, PyAny>>,
        dl_device: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = slf.get().array(slf.py())?;
        let versioned = match max_version {
            Some(version) => integer_pair(version, "max_version")?.0 >= 1,
            None => false,
        };
        let stream = stream.map(|stream| number::signed(stream, "stream")).transpose()?;
        if let Some(requested) = dl_device
            && is_for_host(array.device(), integer_pair(requested, "dl_device")?)?
        {
            let copied = copy_to_host(py, array, stream, copy)?;
            return capsule(py, &copied, versioned, DlpackFlags::IS_COPIED, None);
        }
        let consumer = stream_numbers::of_dlpack_consumer(array.device().kind(), stream)?;
        let consumer = consumer.map(|handle| Stream::named(array.device(), handle)).transpose()?;
        if copy == Some(true) {
            let copied = copy_on_stream(py, array, consumer.as_ref())?;
            return capsule(py, &copied, versioned, DlpackFlags::IS_COPIED, consumer);
        }
        if let Some(consumer) = &consumer {
            if !array.allocation().is_in_order_of(consumer) {
                py.without_gil(|| array.allocation().order_before(array.exported_access(), consumer))?;
            }
            if stream_check::is_on() {
                stream_check::hand_over(py, array, Some(consumer), "__dlpack__");
            }
        } else if !array.device().is_cpu() && stream_check::is_on() {
            stream_check::check_unordered_export(py, array)?;
            stream_check::hand_over(py, array, None, "__dlpack__(stream=-1)");
        }
        capsule(py, array, versioned, DlpackFlags::empty(), consumer)
    }

    /// Returns the array's device in DLPack's format: ``(type, number)``. Makes no driver call.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///     Type 1 is the host, 2 is CUDA, 10 is ROCm.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.zeros(3, device='cpu').__dlpack_device__()
    /// (1, 0)
    #[pyo3(signature = () -> "tuple[int, int]")]
    fn __dlpack_device__(&self) -> (u32, i32) {
        dlpack::code_of(self.device())
    }
}

fn is_for_host(array_device: Device, requested: (i64, i64)) -> PyResult<bool> {
    let (array_type, array_id) = dlpack::code_of(array_device);
    if requested == (i64::from(array_type), i64::from(array_id)) {
        return Ok(false);
    }
    if requested == dlpack::HOST {
        return Ok(true);
    }
    Err(PyBufferError::new_err(format!(
        "__dlpack__: the array is on {array_device}, DLPack device ({array_type}, {array_id}); it is lent there or as a copy on the host, \
         (1, 0), not on {requested:?}"
    )))
}

/// Copies the values to new host memory in C order. The copy is complete when the function returns.
fn copy_to_host(py: Python<'_>, array: &Array, stream: Option<i64>, copy: Option<bool>) -> PyResult<Array> {
    if let Some(stream) = stream.filter(|&stream| stream != -1) {
        return Err(PyValueError::new_err(format!(
            "__dlpack__: stream={stream} with dl_device=(1, 0): on the host the data is there at once, and the only stream \
             is None"
        )));
    }
    if copy == Some(false) {
        return Err(PyBufferError::new_err(format!(
            "__dlpack__: the host cannot read the memory of {} in place, and copy=False forbids the copy",
            array.device()
        )));
    }
    let shape: Dims = array.layout().shape().collect();
    let dense = Layout::contiguous(&shape, array.layout().itemsize(), MemoryOrder::C)?;
    copies::copy_to(py, array, Device::cpu()?, dense)
}

/// Copies an array in C order on its device. The copy runs on the consumer's stream or, if there is none, on the
/// current stream.
fn copy_on_stream(py: Python<'_>, array: &Array, consumer: Option<&Stream>) -> PyResult<Array> {
    let stream = consumer.cloned().unwrap_or_else(|| stream::current(array.device()));
    Ok(py.without_gil(|| copy::duplicate(array, MemoryOrder::C, &stream))?)
}

/// Drops an array on any thread, with or without the GIL. Freeing the memory may wait for the driver, and a thread
/// inside the driver may wait for the GIL. Therefore the GIL is released during the drop if this thread holds it.
fn release(array: Array) {
    if array.device().is_cpu() || !holds_gil() {
        drop(array);
        return;
    }
    let mut array = Some(array);
    with_interpreter(|py| py.without_gil(|| drop(array.take())));
}

/// Registers the function with which lower layers drop arrays.
pub(crate) fn register() {
    export::set_release(release);
}
