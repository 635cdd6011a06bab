//! Allocates special memory of drivers: managed memory, mapped pinned memory, and memory shared between processes. Two
//! other functions return the block that contains an address, and the device address of pinned host memory.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::convert::buffer::handle_bytes;
use crate::convert::number;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::interop::memory_argument::MemoryArgument;
use crate::runtime::device_memory::{DeviceAllocation, no_bytes};
use crate::runtime::stream::stream_or_default;
use pygpu_backend::{Address, Attachment};
use pygpu_base::error::Error;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::{Allocation, address_registry};

fn attachment(flags: &Bound<'_, PyAny>) -> PyResult<Attachment> {
    let number = number::unsigned(flags, "mem_flags")?;
    [Attachment::Global, Attachment::Host, Attachment::Single]
        .into_iter()
        .find(|candidate| u64::from(candidate.number()) == number)
        .ok_or_else(|| PyValueError::new_err(format!("mem_flags is 1 (GLOBAL), 2 (HOST) or 4 (SINGLE), not {number}")))
}

/// Allocate memory that host and device can access.
///
/// Parameters
/// ----------
/// nbytes : int
///     Number of bytes, at least 1.
/// mem_flags : int
///     Initial access to the memory. 1: global. 2: by the host. `attach_managed` changes the access.
///
/// Returns
/// -------
/// DeviceAllocation
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.allocate_managed(1024, 1).nbytes
/// 1024
#[pyfunction]
#[pyo3(signature = (nbytes: "SupportsIndex", mem_flags: "SupportsIndex") -> "DeviceAllocation")]
fn allocate_managed(nbytes: &Bound<'_, PyAny>, mem_flags: &Bound<'_, PyAny>) -> PyResult<DeviceAllocation> {
    let (bytes, attachment) = (number::size(nbytes, "nbytes")?, attachment(mem_flags)?);
    let block = nbytes.py().without_gil(|| {
        let device = Device::current()?;
        if bytes == 0 {
            return Err(no_bytes("managed memory"));
        }
        let memory = device.backend().driver_memory()?;
        Allocation::from_driver(device, || Ok((memory.allocate_managed(device.index(), bytes, attachment)?, bytes)))
    })?;
    Ok(DeviceAllocation::new(block))
}

/// Set which of host, device and stream may access managed memory, from this point of the stream on.
///
/// Parameters
/// ----------
/// memory : DeviceAllocation
///     Memory from `allocate_managed`.
/// mem_flags : int
///     Access to the memory. 1: global. 2: by the host. 4: by the stream, and by the host while the stream is idle.
/// stream : Stream, object with `__cuda_stream__`, int or None
///     None is the legacy default stream.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.attach_managed(_core.allocate_managed(1024, 1), 1, None)
#[pyfunction]
#[pyo3(signature = (memory: "DeviceAllocation", mem_flags: "SupportsIndex", stream: "StreamLike") -> "None")]
fn attach_managed(
    memory: &Bound<'_, DeviceAllocation>,
    mem_flags: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = memory.py();
    let (block, attachment) = (memory.get().block()?, attachment(mem_flags)?);
    let stream = stream_or_default(py, stream, block.device())?;
    Ok(py.without_gil(move || {
        let device = block.device();
        let memory = device.backend().driver_memory()?;
        // SAFETY: the variables `block` and `stream` keep the memory block and the stream alive; the driver rejects
        // memory that is not managed.
        unsafe { memory.attach_managed(device.index(), block.address(), attachment, stream.handle()) }
    })?)
}

/// Return the block that contains an address.
///
/// Parameters
/// ----------
/// address : int
///     Any address of the block.
///
/// Returns
/// -------
/// base : int
///     Address of the first byte.
/// size : int
///     Number of bytes.
///
/// Raises
/// ------
/// CudaError
///     For memory unknown to the driver.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> memory = _core.allocate_device(1024)
/// >>> _core.address_range(memory.ptr + 5) == (memory.ptr, 1024)
/// True
#[pyfunction]
#[pyo3(signature = (address: "AddressLike") -> "tuple[int, int]")]
fn address_range(address: &Bound<'_, PyAny>) -> PyResult<(Address, usize)> {
    let py = address.py();
    let address = MemoryArgument::from_python(address)?.address();
    Ok(py.without_gil(|| {
        let device = Device::current()?;
        // For a block that PyGPU tracks, no driver call is needed. All blocks of the CPU, which has no driver, are
        // tracked.
        match address_registry::find(address) {
            Some(block) => Ok((block.address(), block.bytes())),
            None => device.backend().driver_memory()?.address_range(device.index(), address),
        }
    })?)
}

/// Return the address of pinned host memory on the current device.
///
/// Parameters
/// ----------
/// address : int
///     The host address.
///
/// Returns
/// -------
/// int
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> from PyGPU import _core
/// >>> pinned = PyGPU.empty_pinned(4, mapped=True)
/// >>> _core.device_address(pinned.ctypes.data) != 0
/// True
#[pyfunction]
#[pyo3(signature = (address: "SupportsIndex") -> "int")]
fn device_address(address: &Bound<'_, PyAny>) -> PyResult<Address> {
    let host = number::size(address, "address")?;
    Ok(address.py().without_gil(|| {
        let device = Device::current()?;
        device.backend().driver_memory()?.device_address(device.index(), host)
    })?)
}

/// Export a block to other processes.
///
/// Parameters
/// ----------
/// address : int or DeviceAllocation
///     Address of the first byte of memory outside the driver's pools, such as memory from `allocate_device`. The
///     driver does not share memory of its pools, and arrays are in these pools.
///
/// Returns
/// -------
/// bytearray
///     The driver's handle of the block, 64 bytes long.
///
/// Raises
/// ------
/// CudaError
///     For memory that cannot be shared.
/// NotSupportedError
///     On the CPU.
#[pyfunction]
#[pyo3(signature = (address: "AddressLike") -> "bytearray")]
fn share_memory<'py>(address: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
    let py = address.py();
    let address = MemoryArgument::from_python(address)?.address();
    let handle = py.without_gil(|| {
        let device = Device::current()?;
        device.backend().driver_memory()?.share_memory(device.index(), address)
    })?;
    Ok(PyByteArray::new(py, &handle))
}

/// Memory that another process shared. The drop closes the memory.
struct IpcMapping {
    device: Device,
    address: Address,
}

impl Drop for IpcMapping {
    fn drop(&mut self) {
        let close = || {
            // The driver's function that closes shared memory does not wait for uses of the memory.
            self.device.synchronize()?;
            let memory = self.device.backend().driver_memory()?;
            // SAFETY: `open_shared_memory` opened the memory, and all uses of the memory are complete after the
            // synchronization above.
            unsafe { memory.close_shared_memory(self.device.index(), self.address) }
        };
        shutdown::defer(close());
    }
}

/// Open memory that another process shared.
///
/// Parameters
/// ----------
/// handle : bytes-like
///     Result of `share_memory` in that process.
///
/// Returns
/// -------
/// DeviceAllocation
///     The opened memory, which `free()` closes.
///
/// Raises
/// ------
/// ValueError
///     If the handle is not 64 bytes long.
/// CudaError
///     If the driver rejects the handle.
/// NotSupportedError
///     On the CPU.
#[pyfunction]
#[pyo3(signature = (handle: "Buffer") -> "DeviceAllocation")]
fn open_shared_memory(handle: &Bound<'_, PyAny>) -> PyResult<DeviceAllocation> {
    let py = handle.py();
    let handle = &handle_bytes(handle)?;
    let block = py.without_gil(|| {
        let device = Device::current()?;
        let memory = device.backend().driver_memory()?;
        let address = memory.open_shared_memory(device.index(), handle)?;
        let owner = Box::new(IpcMapping { device, address });
        let (start, bytes) = memory.address_range(device.index(), address)?;
        let bytes = bytes.saturating_sub(address - start);
        // SAFETY: the driver guarantees that the memory is valid until `owner` closes it.
        Ok::<_, Error>(unsafe { Allocation::imported(address, bytes, Stream::default_of(device), owner) })
    })?;
    Ok(DeviceAllocation::new(block))
}

names! {
    internal_functions: allocate_managed, attach_managed, address_range, device_address, share_memory,
        open_shared_memory;
}
