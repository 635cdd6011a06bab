//! Copies and fills memory that is specified by addresses. If an address belongs to a memory block that PyGPU tracks,
//! the copied range must lie inside the block, and the copy waits for the block's other uses. For other memory, the
//! caller is responsible for lifetime and synchronization.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::raw_memory;
use super::stream;
use crate::convert::number;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use pygpu_backend::{Address, Direction, Extent, HostUse, Pattern, Pitched, PointerKind, quarantine};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_memory::address_registry::{self, AddressLookup, AddressedMemory, ContainingBlocks};
use pygpu_memory::{Access, Allocation, BlockUse, ordered, stream_captures};

/// Kinds of memory (host or device) of source and target of a copy, as specified by the caller.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemcpyKind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// The caller does not specify the kinds; the driver determines from the addresses whether each side is host or
    /// device memory.
    Default,
}

const KINDS: [(&str, MemcpyKind); 5] = [
    ("host_to_host", MemcpyKind::HostToHost),
    ("host_to_device", MemcpyKind::HostToDevice),
    ("device_to_host", MemcpyKind::DeviceToHost),
    ("device_to_device", MemcpyKind::DeviceToDevice),
    ("default", MemcpyKind::Default),
];

pub(super) fn parse_kind(object: &Bound<'_, PyString>) -> PyResult<MemcpyKind> {
    let name = object.to_str()?;
    KINDS.iter().find(|(tracked, _)| *tracked == name).map(|(_, kind)| *kind).ok_or_else(|| {
        let tracked = KINDS.map(|(tracked, _)| format!("'{tracked}'")).join(", ");
        PyValueError::new_err(format!("kind is one of {tracked}, not '{name}'"))
    })
}

/// Location (host or device) of the memory of one operand of a copy.
#[derive(Clone, Copy)]
enum CopyLocation {
    Host,
    Device(Device),
}

/// Operand of a copy or a fill. If PyGPU tracks the operand's memory, the lookup of the operand has checked that the
/// operand's range lies inside the memory, and that memory to be written is writable.
struct CopyEndpoint {
    location: CopyLocation,
    /// Memory block of the operand, if PyGPU tracks it. The operation waits for the block's earlier uses and is
    /// recorded as a use of the block.
    block: Option<Arc<Allocation>>,
}

impl CopyEndpoint {
    fn uses(&self, access: Access) -> impl Iterator<Item = BlockUse<'_>> {
        self.block.iter().map(move |block| (block, access))
    }

    /// Looks up the memory of a range in PyGPU's registry of addresses, and, if no registered block contains the range,
    /// in the driver of `default_device`. Managed memory counts as memory of `default_device`.
    ///
    /// # Errors
    /// The driver's `INVALID_VALUE` for memory that was freed, for a range that exceeds its memory, and for a write
    /// into read-only memory.
    fn lookup(default_device: Device, address: Address, bytes: usize, access: Access) -> Result<Self> {
        let operation = if access == Access::Write { "copy to an address" } else { "copy from an address" };
        let invalid = |reason: String| {
            Err(raw_memory::invalid_value(operation, format!("{bytes} bytes at {address:#x}: {reason}")))
        };
        let tracked = match address_registry::lookup(address) {
            AddressLookup::Freed => return invalid("the memory was freed".to_owned()),
            AddressLookup::Blocks(blocks) => blocks,
            AddressLookup::Unknown => ContainingBlocks::new(),
        };
        if quarantine::was_freed(address, bytes) {
            return invalid("it reaches into memory that was freed".to_owned());
        }
        let available = |block: &Allocation| block.address() + block.bytes() - address;
        let containing = tracked.iter().find(|(block, _)| available(block) >= bytes).or_else(|| tracked.first());
        match containing {
            Some((block, AddressedMemory::Own | AddressedMemory::Pinned)) if available(block) < bytes => {
                invalid(format!("the memory has {} from there on", available(block)))
            }
            Some((_, AddressedMemory::Lent { readonly: true })) if access == Access::Write => {
                invalid("the memory is read-only".to_owned())
            }
            Some((_, AddressedMemory::Pinned)) => Ok(Self { location: CopyLocation::Host, block: None }),
            Some((block, _)) => Ok(Self { location: location_on(block.device()), block: Some(Arc::clone(block)) }),
            None => Ok(Self { location: query_location(default_device, address)?, block: None }),
        }
    }
}

/// Rejects an operand that is in device memory although the caller specified host memory.
fn check_host_access(location: CopyLocation, address: Address) -> Result<()> {
    match location {
        CopyLocation::Device(device) if matches!(device.backend().pointer_kind(address)?, PointerKind::Device(_)) => {
            let detail = format!("{address:#x} is memory of {device}, and the kind says that the host copies");
            Err(raw_memory::invalid_value("copy on the host", detail))
        }
        _ => Ok(()),
    }
}

fn location_on(device: Device) -> CopyLocation {
    if device.is_cpu() { CopyLocation::Host } else { CopyLocation::Device(device) }
}

/// Queries the driver for the location of an address that PyGPU does not track.
fn query_location(default_device: Device, address: Address) -> Result<CopyLocation> {
    Ok(match default_device.backend().pointer_kind(address)? {
        _ if default_device.is_cpu() => CopyLocation::Host,
        PointerKind::Unregistered | PointerKind::Host => CopyLocation::Host,
        PointerKind::Device(index) => CopyLocation::Device(Device::new(default_device.backend(), index)?),
        PointerKind::Managed => CopyLocation::Device(default_device),
    })
}

/// Returns the device on which a copy or fill of `owner`'s memory runs: the device of the stream, which must have the
/// same driver as `owner`; or `owner` if there is no stream.
fn work_device(owner: Device, requested_stream: Option<&Stream>) -> Result<Device> {
    let Some(stream) = requested_stream else { return Ok(owner) };
    stream::check_kind(stream.device(), owner)?;
    Ok(stream.device())
}

/// Source and target of a copy: rows of equal width with a separate pitch (distance between rows) for each side, or one
/// contiguous range.
pub(super) struct CopyRows {
    pub(super) target: Pitched,
    pub(super) source: Pitched,
    pub(super) extent: Extent,
    /// Whether the rows are one contiguous range, for which drivers have separate calls.
    pub(super) is_range: bool,
}

pub(super) fn pitched(address: Address, pitch: usize) -> Pitched {
    Pitched { address, row_pitch: pitch, plane_pitch: pitch }
}

impl CopyRows {
    fn range(target: Address, source: Address, bytes: usize) -> Self {
        let extent = Extent { width: bytes, height: 1, depth: 1 };
        Self { target: pitched(target, bytes), source: pitched(source, bytes), extent, is_range: true }
    }

    /// Returns the number of bytes from the start of the first row to the end of the last row on one side of the copy.
    fn span(&self, location: &Pitched) -> usize {
        location.row_pitch * (self.extent.height - 1) + self.extent.width // cannot overflow: checked by the caller
    }

    /// Enqueues the copy on a stream of the device.
    ///
    /// # Safety
    /// The memory of both sides contains the rows, and stays allocated until the stream has passed the copy.
    unsafe fn enqueue(&self, device: Device, direction: Direction, stream: &Stream) -> Result<()> {
        let (backend, index, stream, Self { target, source, extent, .. }) =
            (device.backend(), device.index(), stream.handle(), self);
        // SAFETY: the caller guarantees that the memory of both sides contains the rows and stays allocated.
        unsafe {
            if self.is_range {
                backend.copy(index, direction, target.address, source.address, extent.width, stream)
            } else {
                backend.copy_pitched(index, direction, *target, *source, *extent, stream)
            }
        }
    }
}

/// Copies the rows in the order of `requested_stream`, and waits for the copy if `wait` is set. Without a stream,
/// copies the rows on the default stream of the device whose memory is copied, and always waits.
fn copy_and_wait(rows: &CopyRows, kind: MemcpyKind, requested_stream: Option<&Stream>, wait: bool) -> Result<()> {
    if rows.extent.width == 0 {
        return Ok(());
    }
    match requested_stream.filter(|_| wait) {
        None => copy(rows, kind, requested_stream),
        Some(stream) => {
            stream_captures::refuse("a copy that waits", stream)?;
            copy(rows, kind, requested_stream)?;
            stream.synchronize()
        }
    }
}

/// Copies the rows in the order of `requested_stream`, without waiting. Without a stream, copies the rows on the
/// default stream of the device whose memory is copied, and waits.
pub(super) fn copy(rows: &CopyRows, kind: MemcpyKind, requested_stream: Option<&Stream>) -> Result<()> {
    let default_device = requested_stream.map_or_else(Device::current, |stream| Ok(stream.device()))?;
    let to = CopyEndpoint::lookup(default_device, rows.target.address, rows.span(&rows.target), Access::Write)?;
    let from = CopyEndpoint::lookup(default_device, rows.source.address, rows.span(&rows.source), Access::Read)?;
    let uses: Vec<BlockUse<'_>> = to.uses(Access::Write).chain(from.uses(Access::Read)).collect();
    let (target, source) = (to.location, from.location);
    if kind == MemcpyKind::HostToHost {
        for (location, address) in [(target, rows.target.address), (source, rows.source.address)] {
            check_host_access(location, address)?;
        }
        return copy_on_host(rows, requested_stream);
    }
    if let (CopyLocation::Device(target), CopyLocation::Device(source)) = (target, source)
        && target != source
    {
        return copy_to_peer(rows, target, source, requested_stream, &uses);
    }
    let owner = match (target, source) {
        (CopyLocation::Device(device), _) | (_, CopyLocation::Device(device)) => device,
        (CopyLocation::Host, CopyLocation::Host) => default_device,
    };
    // The kinds of memory that the caller specified are passed unchanged to the driver, which rejects kinds that do not
    // match the addresses.
    let kind = match (kind, target, source) {
        (MemcpyKind::HostToDevice | MemcpyKind::DeviceToHost | MemcpyKind::DeviceToDevice, ..) if !owner.is_cpu() => {
            kind
        }
        (_, CopyLocation::Device(_), CopyLocation::Device(_)) => MemcpyKind::DeviceToDevice,
        (_, CopyLocation::Device(_), CopyLocation::Host) => MemcpyKind::HostToDevice,
        (_, CopyLocation::Host, CopyLocation::Device(_)) => MemcpyKind::DeviceToHost,
        (_, CopyLocation::Host, CopyLocation::Host) => return copy_on_host(rows, requested_stream),
    };
    let device = work_device(owner, requested_stream)?;
    let copy_stream = requested_stream.cloned().unwrap_or_else(|| Stream::default_of(device));
    let direction = match kind {
        MemcpyKind::HostToDevice => Direction::HostToDevice(host_use(rows.source.address, &copy_stream)?),
        MemcpyKind::DeviceToHost => Direction::DeviceToHost(host_use(rows.target.address, &copy_stream)?),
        _ => Direction::DeviceToDevice,
    };
    // SAFETY: ranges in memory that PyGPU tracks were checked above. For other ranges, the Python docstring obliges the
    // caller to keep them valid until the copy is complete.
    on_stream(device, requested_stream, &uses, |stream| unsafe { rows.enqueue(device, direction, stream) })
}

/// Returns how a copy uses host memory. A captured copy accepts only pinned host memory, which the caller must keep
/// alive as long as the graph may be launched.
fn host_use(address: Address, stream: &Stream) -> Result<HostUse> {
    stream_captures::host_use("a copy of ordinary host memory", stream, || {
        Ok(stream.device().backend().pointer_kind(address)? != PointerKind::Unregistered)
    })
}

/// Copies between host addresses with the host's processor, after waiting for the stream's earlier work. On a stream of
/// the CPU backend, enqueues the copy like other work.
fn copy_on_host(rows: &CopyRows, requested_stream: Option<&Stream>) -> Result<()> {
    if let Some(stream) = requested_stream {
        if stream.device().is_cpu() {
            // SAFETY: the Python docstring obliges the caller to pass ranges that stay valid until the copy is complete.
            return unsafe { rows.enqueue(stream.device(), Direction::DeviceToDevice, stream) };
        }
        stream_captures::refuse("a copy within host memory", stream)?;
        stream.synchronize()?;
    }
    for row in 0..rows.extent.height {
        let source: *const u8 = std::ptr::with_exposed_provenance(rows.source.address + row * rows.source.row_pitch);
        let target: *mut u8 = std::ptr::with_exposed_provenance_mut(rows.target.address + row * rows.target.row_pitch);
        // SAFETY: the Python docstring obliges the caller to pass valid ranges, and `copy` permits ranges that overlap.
        unsafe { std::ptr::copy(source, target, rows.extent.width) };
    }
    Ok(())
}

fn copy_to_peer(
    rows: &CopyRows,
    target: Device,
    source: Device,
    requested_stream: Option<&Stream>,
    uses: &[BlockUse<'_>],
) -> Result<()> {
    if !rows.is_range {
        return Err(Error::not_supported(format!(
            "rows of {source} are not copied to {target} by one call: copy them to the host, or whole by cudaMemcpyPeer"
        )));
    }
    match requested_stream {
        Some(stream) if stream.device() != source => {
            return Err(Error::value(format!(
                "the copy from {source} to {target} runs on a stream of {source}, and the given one is of {}",
                stream.device()
            )));
        }
        Some(_) => {}
        // Without a stream argument, the copy waits for earlier work on the default streams of both devices, as in
        // CUDA.
        None => Stream::default_of(source).wait_for(&Stream::default_of(target))?,
    }
    on_stream(source, requested_stream, uses, |stream| {
        // SAFETY: ranges in memory that PyGPU tracks were checked above, and the Python docstring obliges the caller to
        // keep other ranges valid until the copy is complete. The stream belongs to the source's device.
        unsafe {
            source.backend().copy_peer(
                target.index(),
                rows.target.address,
                source.index(),
                rows.source.address,
                rows.extent.width,
                stream.handle(),
            )
        }
    })
}

fn on_stream(
    device: Device,
    requested_stream: Option<&Stream>,
    uses: &[BlockUse<'_>],
    work: impl FnOnce(&Stream) -> Result<()>,
) -> Result<()> {
    match requested_stream {
        Some(stream) => ordered(uses, stream, || work(stream)),
        None => {
            let stream = Stream::default_of(device);
            ordered(uses, &stream, || work(&stream))?;
            stream.synchronize()
        }
    }
}

fn fill(target: Address, value: u8, bytes: usize, requested_stream: Option<&Stream>) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let default_device = requested_stream.map_or_else(Device::current, |stream| Ok(stream.device()))?;
    let endpoint = CopyEndpoint::lookup(default_device, target, bytes, Access::Write)?;
    let device = match endpoint.location {
        CopyLocation::Device(owner) => work_device(owner, requested_stream)?,
        CopyLocation::Host => default_device,
    };
    on_stream(device, requested_stream, &endpoint.uses(Access::Write).collect::<Vec<_>>(), |stream| {
        // SAFETY: a range in memory that PyGPU tracks was checked above. For another range, the Python docstring
        // obliges the caller to keep it valid until the fill is complete.
        unsafe { device.backend().fill(device.index(), target, bytes, Pattern::U8(value), bytes, 1, stream.handle()) }
    })
}

/// Checks that a range does not start at address 0 and does not exceed the address space.
pub(super) fn check_range(address: Address, bytes: usize, name: &str) -> PyResult<()> {
    if bytes > 0 && (address == 0 || address.checked_add(bytes).is_none()) {
        return Err(PyValueError::new_err(format!("{name} {address:#x} cannot hold {bytes} bytes")));
    }
    Ok(())
}

pub(super) fn stream_argument(py: Python<'_>, object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Stream>> {
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(None) };
    let default_device = py.without_gil(Device::current)?;
    stream::from_anywhere(py, object, default_device).map(Some)
}

/// Copies bytes between addresses.
///
/// Parameters
/// ----------
/// dst, src : int
///     Addresses of host or device memory that exists until the copy is complete.
/// nbytes : int
///     Bytes. 0 copies no memory, whatever the addresses are.
/// kind : {'default', 'host_to_host', 'host_to_device', 'device_to_host', 'device_to_device'}, optional
///     Kinds of memory at `src` and `dst`, in this order. By default the driver determines them.
/// stream : Stream, object with `__cuda_stream__`, or int, optional
///     Copy in the order of this stream and do not wait. By default the copy is ordered on the default stream and
///     complete when the call returns.
/// wait : bool, optional
///     Wait for the copy even if `stream` is passed.
///
/// Raises
/// ------
/// ValueError
///     For address 0, a negative size or an unknown kind.
/// NotSupportedError
///     For pageable host memory, or a copy that waits, on a stream that is captured into a graph.
/// CudaError
///     With code 1 for a range that exceeds a block tracked by PyGPU or lies in a freed block, and for a write into
///     read-only memory. Also if the driver reports other kinds of memory for the addresses than `kind`.
///
/// Warnings
/// --------
/// An invalid address that neither PyGPU nor the driver tracks may crash the process, as in C.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from PyGPU import _core
/// >>> a, b = np.arange(4, dtype=np.uint8), np.zeros(4, np.uint8)
/// >>> address = _core.raw_allocate(4)
/// >>> _core.raw_copy(address, a.ctypes.data, 4, 'host_to_device')
/// >>> _core.raw_copy(b.ctypes.data, address, 4)
/// >>> b
/// array([0, 1, 2, 3], dtype=uint8)
/// >>> _core.raw_free(address)
#[pyfunction]
#[pyo3(
    signature = (
        dst: "int", src: "int", nbytes: "int", kind: "CopyKind" = None, stream: "StreamLike" = None,
        wait: "bool" = false
    ) -> "None",
    text_signature = "(dst, src, nbytes, kind='default', stream=None, wait=False)"
)]
fn raw_copy(
    dst: &Bound<'_, PyAny>,
    src: &Bound<'_, PyAny>,
    nbytes: &Bound<'_, PyAny>,
    kind: Option<&Bound<'_, PyString>>,
    stream: Option<&Bound<'_, PyAny>>,
    wait: bool,
) -> PyResult<()> {
    let py = dst.py();
    let (target, source) = (number::size(dst, "dst")?, number::size(src, "src")?);
    let bytes = number::size(nbytes, "nbytes")?;
    let kind = kind.map_or(Ok(MemcpyKind::Default), parse_kind)?;
    check_range(target, bytes, "dst")?;
    check_range(source, bytes, "src")?;
    let stream = stream_argument(py, stream)?;
    Ok(py.without_gil(|| copy_and_wait(&CopyRows::range(target, source, bytes), kind, stream.as_ref(), wait))?)
}

/// Sets bytes of memory to a value.
///
/// Parameters
/// ----------
/// dst : int
///     Address of device memory that exists until the fill is complete.
/// value : int
///     0 to 255.
/// nbytes : int
///     Bytes. 0 fills no memory, whatever the address is.
/// stream : Stream, object with `__cuda_stream__`, or int, optional
///     Fill in the order of this stream and do not wait. By default the fill is ordered on the default stream and
///     complete when the call returns.
///
/// Raises
/// ------
/// ValueError
///     For address 0, a negative size or another value.
/// CudaError
///     With code 1 for a range that exceeds a block tracked by PyGPU or lies in a freed block, and for read-only
///     memory. Also if the driver reports that the address is not device memory.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> address = _core.raw_allocate(4)
/// >>> _core.raw_fill(address, 255, 4)
/// >>> _core.raw_free(address)
#[pyfunction]
#[pyo3(signature = (dst: "int", value: "int", nbytes: "int", stream: "StreamLike" = None) -> "None")]
fn raw_fill(
    dst: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    nbytes: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = dst.py();
    let (target, number) = (number::size(dst, "dst")?, number::signed(value, "value")?);
    let bytes = number::size(nbytes, "nbytes")?;
    let value = u8::try_from(number)
        .map_err(|_| PyValueError::new_err(format!("value is {number}, and a byte holds 0 to 255")))?;
    check_range(target, bytes, "dst")?;
    let stream = stream_argument(py, stream)?;
    Ok(py.without_gil(|| fill(target, value, bytes, stream.as_ref()))?)
}

names! {
    internal_functions: raw_copy, raw_fill;
}
