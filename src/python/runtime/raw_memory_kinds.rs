//! Allocates further kinds of memory that the caller refers to only by its address: the driver's plain memory, managed
//! memory, and memory that is allocated in the order of a stream. The module also queries the memory at an address.

use pyo3::prelude::*;

use super::raw_memory::{self, ON_DEVICE, STREAM_ORDERED, lock, store_block};
use super::stream;
use crate::convert::number;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use pygpu_backend::{Address, Attachment, PointerKind};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::address_registry::{self, AddressLookup, AddressedMemory};
use pygpu_memory::{Access, Allocation, stream_captures};

/// Allocates plain memory of the current device; other processes and network cards can access this memory.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes. 0 allocates nothing.
///
/// Returns
/// -------
/// int
///     The address, for `raw_free`; 0 for zero bytes.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.raw_free(_core.raw_allocate_plain(1024))
#[pyfunction]
#[pyo3(signature = (nbytes: "int") -> "int")]
fn raw_allocate_plain(nbytes: &Bound<'_, PyAny>) -> PyResult<Address> {
    let bytes = number::size(nbytes, "nbytes")?;
    Ok(nbytes.py().without_gil(|| {
        if bytes == 0 {
            return Ok(0);
        }
        let device = Device::current()?;
        let block = Allocation::from_driver(device, || Ok((device.backend().allocate(device.index(), bytes)?, bytes)))?;
        Ok::<_, Error>(store_block(&ON_DEVICE, block, AddressedMemory::Own))
    })?)
}

/// Allocates managed memory, which host and device can both access.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes. 0 allocates nothing.
/// of_host : bool, optional
///     Whether only the host may use the memory, until the memory is attached to a stream.
///
/// Returns
/// -------
/// int
///     The address, for `raw_free`; 0 for zero bytes.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.raw_free(_core.raw_allocate_managed(1024))
#[pyfunction]
#[pyo3(signature = (nbytes: "int", of_host: "bool" = false) -> "int")]
fn raw_allocate_managed(nbytes: &Bound<'_, PyAny>, of_host: bool) -> PyResult<Address> {
    let bytes = number::size(nbytes, "nbytes")?;
    let attachment = if of_host { Attachment::Host } else { Attachment::Global };
    Ok(nbytes.py().without_gil(|| {
        if bytes == 0 {
            return Ok(0);
        }
        let device = Device::current()?;
        let memory = device.backend().driver_memory()?;
        let block = Allocation::from_driver(device, || {
            Ok((memory.allocate_managed(device.index(), bytes, attachment)?, bytes))
        })?;
        Ok::<_, Error>(store_block(&ON_DEVICE, block, AddressedMemory::Own))
    })?)
}

fn to_stream(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Stream> {
    let current_device = py.without_gil(Device::current)?;
    stream::from_anywhere(py, object, current_device)
}

/// Allocates memory in stream order, from the pool that arrays use.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes. 0 allocates nothing.
/// stream : Stream, object with `__cuda_stream__`, or int
///     Work enqueued on this stream from now on may use the memory; other streams must wait for this stream.
///
/// Returns
/// -------
/// int
///     The address, for `raw_free_async` or `raw_free`; 0 for zero bytes.
///
/// Raises
/// ------
/// NotSupportedError
///     While the stream is captured into a graph.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> from PyGPU import _core
/// >>> stream = PyGPU.Stream()
/// >>> _core.raw_free_async(_core.raw_allocate_async(1024, stream), stream)
#[pyfunction]
#[pyo3(signature = (nbytes: "int", stream: "StreamLike") -> "int")]
fn raw_allocate_async(nbytes: &Bound<'_, PyAny>, stream: &Bound<'_, PyAny>) -> PyResult<Address> {
    let bytes = number::size(nbytes, "nbytes")?;
    let py = nbytes.py();
    let stream = to_stream(py, stream)?;
    Ok(py.without_gil(|| {
        stream_captures::refuse("memory that is given out by its address", &stream)?;
        if bytes == 0 {
            return Ok(0);
        }
        let block = std::sync::Arc::new(Allocation::new(bytes, stream.clone())?);
        // If `stream` belongs to another library, which may destroy `stream` before the block is freed, the block is
        // allocated on another stream. In this case, `stream` waits for the allocation.
        block.order_before(Access::Write, &stream)?;
        let address = block.address();
        address_registry::register(&block, AddressedMemory::Own);
        let previous = lock(&STREAM_ORDERED).insert(address, block);
        drop(previous);
        Ok::<_, Error>(address)
    })?)
}

fn free_on_stream(address: Address, stream: &Stream) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let Some(block) = lock(&STREAM_ORDERED).remove(&address) else {
        let detail = format!("address {address:#x} was not allocated in the order of a stream, or was freed already");
        return Err(raw_memory::invalid_value("cudaFreeAsync", detail));
    };
    // The free must wait for all work that is enqueued on the stream at this time, because this work includes all uses
    // of the block.
    let recorded = block.record_stream(stream);
    if recorded.is_err() {
        block.mark_untracked();
    }
    address_registry::forget(&block);
    shutdown::collect_errors(|| drop(block)).and(recorded)
}

/// Frees memory allocated by `raw_allocate_async`, in stream order.
///
/// Parameters
/// ----------
/// address : int
///     The address; 0 has no effect.
/// stream : Stream, object with `__cuda_stream__`, or int
///     The memory may be reused after the current work of this stream.
///
/// Raises
/// ------
/// CudaError
///     With code 1, for an address that `raw_allocate_async` did not return.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> from PyGPU import _core
/// >>> _core.raw_free_async(0, PyGPU.Stream())
#[pyfunction]
#[pyo3(signature = (address: "int", stream: "StreamLike") -> "None")]
fn raw_free_async(address: &Bound<'_, PyAny>, stream: &Bound<'_, PyAny>) -> PyResult<()> {
    let address_to_free = number::size(address, "address")?;
    let py = address.py();
    let stream = to_stream(py, stream)?;
    Ok(py.without_gil(|| free_on_stream(address_to_free, &stream))?)
}

const HOST: &str = "host";
const DEVICE: &str = "device";
const MANAGED: &str = "managed";

/// Returns the kind and device index of the memory at an address, from PyGPU's registry or else from the driver.
/// Returns `None` for unknown or freed memory.
fn memory_kind(address: Address) -> Result<Option<(&'static str, i32)>> {
    let current_device = Device::current()?;
    let driver_kind = current_device.backend().pointer_kind(address)?;
    let tracked = match address_registry::lookup(address) {
        AddressLookup::Freed => return Ok(None),
        AddressLookup::Blocks(blocks) => blocks.into_iter().next(),
        AddressLookup::Unknown => None,
    };
    let index = tracked.as_ref().map_or(current_device.index(), |(block, _)| block.device().index());
    Ok(match (driver_kind, tracked) {
        (PointerKind::Managed, _) => Some((MANAGED, index)),
        (PointerKind::Host, _) | (_, Some((_, AddressedMemory::Pinned))) => Some((HOST, index)),
        (PointerKind::Device(device), _) => Some((DEVICE, device)),
        (PointerKind::Unregistered, Some(_)) => Some((DEVICE, index)),
        (PointerKind::Unregistered, None) => None,
    })
}

/// Returns the kind, device and addresses of a block of memory.
///
/// Parameters
/// ----------
/// address : int
///     Any address.
///
/// Returns
/// -------
/// tuple of (str, int, int, int) or None
///     The kind, 'host' (pinned memory), 'device' or 'managed'; the number of the device; the address for access by the
///     device, 0 if the device has no access; and the address for access by the host, 0 if the host has no access. None
///     for unknown memory.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> address = _core.raw_allocate_managed(64)
/// >>> _core.pointer_attributes(address) == ('managed', 0, address, address)
/// True
/// >>> _core.raw_free(address)
#[pyfunction]
#[pyo3(signature = (address: "int") -> "tuple[Literal['host', 'device', 'managed'], int, int, int] | None")]
fn pointer_attributes(address: &Bound<'_, PyAny>) -> PyResult<Option<(&'static str, i32, Address, Address)>> {
    let queried = number::size(address, "address")?;
    Ok(address.py().without_gil(|| {
        let Some((kind, device)) = memory_kind(queried)? else { return Ok(None) };
        let (device_access, of_host) = match kind {
            DEVICE => (queried, 0),
            HOST => {
                let current_device = Device::current()?;
                let mapped = current_device
                    .backend()
                    .driver_memory()
                    .and_then(|m| m.device_address(current_device.index(), queried));
                (mapped.unwrap_or(0), queried)
            }
            _ => (queried, queried),
        };
        Ok::<_, Error>(Some((kind, device, device_access, of_host)))
    })?)
}

names! {
    internal_functions: raw_allocate_plain, raw_allocate_managed, raw_allocate_async, raw_free_async,
        pointer_attributes;
}
