//! Allocates and frees memory that the caller refers to only by its address, as in C code and in the driver's
//! functions. This module stores the memory block of each allocated address. Therefore it can reject the free of an
//! address that this module did not allocate, or whose memory was already freed.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::device;
use crate::convert::number;
use crate::exported_names::names;
use crate::fusion;
use crate::gil::WithoutGil;
use pygpu_backend::{self as backend, Address, HostFlags};
use pygpu_base::error::{DriverError, Error, Result};
use pygpu_base::flush_points::FlushReason;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::Allocation;
use pygpu_memory::address_registry::{self, AddressedMemory};

pub(super) type AllocationMap<T> = ForkSafeMutex<BTreeMap<Address, T>>;

pub(super) static ON_DEVICE: AllocationMap<Arc<Allocation>> = ForkSafeMutex::new(BTreeMap::new());
static PINNED: AllocationMap<Arc<Allocation>> = ForkSafeMutex::new(BTreeMap::new());
/// Memory blocks that `raw_allocate_async` allocated in the order of a stream, by their addresses.
pub(super) static STREAM_ORDERED: AllocationMap<Arc<Allocation>> = ForkSafeMutex::new(BTreeMap::new());
static REGISTERED: AllocationMap<Device> = ForkSafeMutex::new(BTreeMap::new());

const INVALID_VALUE: u32 = 1;
const ALREADY_REGISTERED: u32 = 712;
const NOT_REGISTERED: u32 = 713;

/// Locks a table of memory blocks. The caller must hold the lock only for a few instructions: the caller removes values
/// whose drop calls a driver from the table, and drops these values after the lock is released.
pub(super) fn lock<T: Send>(table: &'static AllocationMap<T>) -> ForkSafeGuard<BTreeMap<Address, T>> {
    table.lock()
}

/// Removes the memory blocks of a device from all tables, because a reset of the device destroyed their memory.
pub(crate) fn forget(device: Device) {
    for table in [&ON_DEVICE, &PINNED, &STREAM_ORDERED] {
        // The blocks may be dropped while the lock is held, because the drop of a block that a reset destroyed calls no
        // driver.
        lock(table).retain(|_, block| block.device() != device);
    }
    lock(&REGISTERED).retain(|_, owner| *owner != device);
}

/// Creates the same error as a driver, for an invalid call that PyGPU detects without calling the driver.
fn driver_error(operation: &'static str, code: u32, detail: String) -> Error {
    let (name, text) = match backend::default_backend() {
        Ok(backend) => (backend.error_name(code), backend.error_text(code)),
        Err(_) => (String::from("error"), String::new()),
    };
    Error::Driver(Box::new(DriverError { operation, code, name, text, device: String::new(), detail }))
}

/// Creates the error that the driver returns for an invalid argument.
pub(crate) fn invalid_value(operation: &'static str, detail: String) -> Error {
    driver_error(operation, INVALID_VALUE, detail)
}

pub(super) fn store_block(
    table: &'static AllocationMap<Arc<Allocation>>,
    block: Allocation,
    kind: AddressedMemory,
) -> Address {
    let address = block.address();
    if address != 0 {
        let block = Arc::new(block);
        address_registry::register(&block, kind);
        // The table can contain a previous block with this address only if a reset of the device destroyed that block's
        // memory. The drop of such a block frees no memory.
        let previous = lock(table).insert(address, block);
        drop(previous);
    }
    address
}

fn remove_block(
    table: &'static AllocationMap<Arc<Allocation>>,
    operation: &'static str,
    address: Address,
) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let Some(block) = lock(table).remove(&address) else {
        let detail = format!("address {address:#x} was not allocated by this module, or was freed already");
        return Err(driver_error(operation, INVALID_VALUE, detail));
    };
    // The address is removed from the registry before the block is dropped, because arrays may keep the block alive
    // after the drop.
    address_registry::forget(&block);
    shutdown::collect_errors(|| drop(block))
}

fn allocate(device: Device, bytes: usize) -> Result<Address> {
    let stream = Stream::default_of(device);
    let block = Allocation::new(bytes, stream.clone())?;
    // The caller may use the address immediately and on any stream. Therefore the allocation must be complete when the
    // call returns. Because PyGPU does not track these uses, the free must wait for the whole device.
    block.mark_untracked();
    if bytes > 0 {
        stream.synchronize()?;
    }
    Ok(store_block(&ON_DEVICE, block, AddressedMemory::Own))
}

/// Allocates uninitialised memory of a device.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes. 0 allocates nothing.
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// int
///     The address, which every stream may use immediately; 0 for zero bytes. The memory stays allocated until
///     `raw_free`.
///
/// Raises
/// ------
/// OutOfMemoryError
///     If the device is out of memory, even after trimming its pool.
///
/// Notes
/// -----
/// The call waits for the default stream, unlike the creation of arrays.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> address = _core.raw_allocate(1024)
/// >>> address != 0
/// True
/// >>> _core.raw_free(address)
#[pyfunction]
#[pyo3(signature = (nbytes: "int", device: "DeviceLike" = None) -> "int")]
fn raw_allocate(nbytes: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Address> {
    let py = nbytes.py();
    let bytes = number::size(nbytes, "nbytes")?;
    let device = device::from_argument(py, device)?;
    Ok(py.without_gil(|| allocate(device, bytes))?)
}

/// Frees memory allocated by `raw_allocate` or a similar function, after all current work of the device.
///
/// Parameters
/// ----------
/// address : int
///     The address; 0 has no effect.
///
/// Raises
/// ------
/// CudaError
///     With code 1, for any other address, including addresses of arrays.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.raw_free(0)
#[pyfunction]
#[pyo3(signature = (address: "int") -> "None")]
fn raw_free(address: &Bound<'_, PyAny>) -> PyResult<()> {
    fusion::flush_pending(address.py(), FlushReason::StreamSync);
    let address_to_free = number::size(address, "address")?;
    Ok(address.py().without_gil(|| {
        let stream_ordered = lock(&STREAM_ORDERED).remove(&address_to_free);
        let Some(block) = stream_ordered else { return remove_block(&ON_DEVICE, "cudaFree", address_to_free) };
        // The free waits for the whole device, because the streams that used the memory block are unknown.
        block.mark_untracked();
        address_registry::forget(&block);
        shutdown::collect_errors(|| drop(block))
    })?)
}

/// Allocates uninitialised pinned host memory for the current device. On the CPU it is ordinary memory.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes. 0 allocates nothing.
/// portable : bool, optional
///     Whether the memory is pinned for every device, not only for the current device.
/// mapped : bool, optional
///     Whether the memory is mapped into the device's address space.
/// write_combined : bool, optional
///     Whether the memory is write-combined: fast for reads by the device, slow for reads by the host.
///
/// Returns
/// -------
/// int
///     The address; 0 for zero bytes. The memory stays allocated until `host_free`.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> address = _core.host_allocate(1024)
/// >>> _core.host_free(address)
#[pyfunction]
#[pyo3(signature = (
    nbytes: "int", portable: "bool" = false, mapped: "bool" = false, write_combined: "bool" = false
) -> "int")]
fn host_allocate(nbytes: &Bound<'_, PyAny>, portable: bool, mapped: bool, write_combined: bool) -> PyResult<Address> {
    let bytes = number::size(nbytes, "nbytes")?;
    Ok(nbytes.py().without_gil(|| {
        let block = Allocation::pinned(Device::current()?, bytes, HostFlags { portable, mapped, write_combined })?;
        Ok::<_, Error>(store_block(&PINNED, block, AddressedMemory::Pinned))
    })?)
}

/// Frees memory allocated by `host_allocate`, after waiting for the device.
///
/// Parameters
/// ----------
/// address : int
///     The address; 0 has no effect.
///
/// Raises
/// ------
/// CudaError
///     With code 1, for an address that `host_allocate` did not return.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.host_free(0)
#[pyfunction]
#[pyo3(signature = (address: "int") -> "None")]
fn host_free(address: &Bound<'_, PyAny>) -> PyResult<()> {
    fusion::flush_pending(address.py(), FlushReason::StreamSync);
    let address_to_free = number::size(address, "address")?;
    Ok(address.py().without_gil(|| remove_block(&PINNED, "cudaFreeHost", address_to_free))?)
}

fn register_range(address: Address, bytes: usize, flags: HostFlags) -> Result<()> {
    let device = Device::current()?;
    if lock(&REGISTERED).contains_key(&address) {
        let detail = format!("address {address:#x} is registered already");
        return Err(driver_error("cudaHostRegister", ALREADY_REGISTERED, detail));
    }
    // SAFETY: the Python docstring of `host_register` obliges the caller to keep the range allocated.
    unsafe { device.backend().register_host(device.index(), address, bytes, flags)? };
    lock(&REGISTERED).insert(address, device);
    Ok(())
}

fn unregister_range(address: Address) -> Result<()> {
    let Some(device) = lock(&REGISTERED).remove(&address) else {
        let detail = format!("address {address:#x} was not registered by this module, or was unregistered already");
        return Err(driver_error("cudaHostUnregister", NOT_REGISTERED, detail));
    };
    // SAFETY: `register_range` pinned the range; the Python docstring obliges the caller to wait for all copies of the
    // range before this call.
    let outcome = unsafe { device.backend().unregister_host(device.index(), address) };
    if outcome.is_err() {
        // The driver refused the call, so the memory is still pinned. Its entry in `REGISTERED` is restored, so that
        // the caller can call this function again.
        lock(&REGISTERED).insert(address, device);
    }
    outcome
}

/// Pins existing host memory, so that the device's copy engines can access it. Has no effect on the CPU.
///
/// Parameters
/// ----------
/// address : int
///     Address of the first byte. The memory must stay allocated until `host_unregister`.
/// nbytes : int
///     Bytes, at least one.
/// portable : bool, optional
///     Whether the memory is pinned for every device, not only for the current device.
/// mapped : bool, optional
///     Whether the memory is mapped into the device's address space.
///
/// Raises
/// ------
/// CudaError
///     With code 712 for memory that is already registered; errors of the driver.
/// ValueError
///     For address 0 and for zero bytes.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from PyGPU import _core
/// >>> a = np.zeros(4096, np.uint8)
/// >>> _core.host_register(a.ctypes.data, a.nbytes)
/// >>> _core.host_unregister(a.ctypes.data)
#[pyfunction]
#[pyo3(signature = (address: "int", nbytes: "int", portable: "bool" = false, mapped: "bool" = false) -> "None")]
fn host_register(address: &Bound<'_, PyAny>, nbytes: &Bound<'_, PyAny>, portable: bool, mapped: bool) -> PyResult<()> {
    let (start, bytes) = (number::size(address, "address")?, number::size(nbytes, "nbytes")?);
    if start == 0 || bytes == 0 || start.checked_add(bytes).is_none() {
        return Err(PyValueError::new_err(format!("no memory to pin: address {start:#x}, {bytes} bytes")));
    }
    let flags = HostFlags { portable, mapped, write_combined: false };
    Ok(address.py().without_gil(|| register_range(start, bytes, flags))?)
}

/// Unpins memory pinned by `host_register`.
///
/// Parameters
/// ----------
/// address : int
///     Address of the first byte.
///
/// Raises
/// ------
/// CudaError
///     With code 713 for an address that `host_register` did not pin.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from PyGPU import _core
/// >>> a = np.zeros(4096, np.uint8)
/// >>> _core.host_register(a.ctypes.data, a.nbytes)
/// >>> _core.host_unregister(a.ctypes.data)
#[pyfunction]
#[pyo3(signature = (address: "int") -> "None")]
fn host_unregister(address: &Bound<'_, PyAny>) -> PyResult<()> {
    let start = number::size(address, "address")?;
    Ok(address.py().without_gil(|| unregister_range(start))?)
}

/// Returns the default driver's name of an error code.
///
/// Parameters
/// ----------
/// code : int
///     The code.
///
/// Returns
/// -------
/// str
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> isinstance(_core.error_name(1), str)
/// True
#[pyfunction]
#[pyo3(signature = (code: "int") -> "str")]
fn error_name(code: &Bound<'_, PyAny>) -> PyResult<String> {
    let number = error_code(code)?;
    Ok(code.py().without_gil(|| backend::default_backend().map(|backend| backend.error_name(number)))?)
}

/// Returns the default driver's explanation of an error code.
///
/// Parameters
/// ----------
/// code : int
///     The code.
///
/// Returns
/// -------
/// str
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> isinstance(_core.error_text(1), str)
/// True
#[pyfunction]
#[pyo3(signature = (code: "int") -> "str")]
fn error_text(code: &Bound<'_, PyAny>) -> PyResult<String> {
    let number = error_code(code)?;
    Ok(code.py().without_gil(|| backend::default_backend().map(|backend| backend.error_text(number)))?)
}

fn error_code(code: &Bound<'_, PyAny>) -> PyResult<u32> {
    let number = number::unsigned(code, "code")?;
    u32::try_from(number).map_err(|_| PyValueError::new_err(format!("code is {number}, which is no driver's")))
}

names! {
    internal_functions: raw_allocate, raw_free, host_allocate, host_free, host_register, host_unregister, error_name,
        error_text;
}
