//! Copies and fills in the order of a stream.

use super::context::{Current, beside_captures};
use super::driver::Cuda;
use super::errors::{SUCCESS, refusal};
use super::memory::{host, pointer_kind};
use super::streams::raw;
use super::sys::{Api, CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype};
use crate::backend::pitched::{Plan, Sides, plan};
use crate::backend::{Address, Direction, Extent, Pattern, Pitched, PointerKind, StreamHandle};
use crate::error::{Error, Result};

/// Copies bytes.
///
/// # Safety
/// Both ranges stay valid until the stream has passed.
#[inline]
pub unsafe fn copy(
    cuda: &Cuda,
    device: i32,
    direction: Direction,
    target: Address,
    source: Address,
    bytes: usize,
    stream: StreamHandle,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let operation = linear_name(direction);
    let current = cuda.enter(device, operation)?;
    // SAFETY: the caller's promise is the same.
    match unsafe { line(&cuda.api, direction, target, source, bytes, stream) } {
        SUCCESS => settle(cuda, &current, device, direction, target, source, stream),
        code => {
            let detail = format!("{bytes} bytes from {source:#x} to {target:#x}, stream {:#x}", stream.0);
            Err(refusal(&cuda.api, code, operation, Some(device), detail))
        }
    }
}

/// Copies bytes between host and device and waits for it. On the legacy default stream that is one call.
///
/// # Safety
/// Both ranges are valid.
pub unsafe fn copy_and_wait(
    cuda: &Cuda,
    device: i32,
    direction: Direction,
    target: Address,
    source: Address,
    bytes: usize,
    stream: StreamHandle,
) -> Result<()> {
    let (api, to_device, to_host) = (&cuda.api, cuda.api.cuMemcpyHtoD_v2, cuda.api.cuMemcpyDtoH_v2);
    let (operation, code) = match (direction, to_device, to_host) {
        _ if stream != StreamHandle::DEFAULT || bytes == 0 => ("", None),
        (Direction::HostToDevice(_), Some(copy), _) => {
            let _current = cuda.enter(device, "cuMemcpyHtoD")?;
            // SAFETY: the caller promises the ranges.
            ("cuMemcpyHtoD", Some(unsafe { copy(target as CUdeviceptr, host(source), bytes) }))
        }
        (Direction::DeviceToHost(_), _, Some(copy)) => {
            let _current = cuda.enter(device, "cuMemcpyDtoH")?;
            // SAFETY: the caller promises the ranges.
            ("cuMemcpyDtoH", Some(unsafe { copy(host(target), source as CUdeviceptr, bytes) }))
        }
        _ => ("", None),
    };
    match code {
        Some(SUCCESS) => Ok(()),
        Some(code) => {
            let detail = format!("{bytes} bytes from {source:#x} to {target:#x}");
            Err(refusal(api, code, operation, Some(device), detail))
        }
        // SAFETY: as promised by the caller; the stream is alive.
        None => unsafe {
            copy(cuda, device, direction, target, source, bytes, stream)?;
            super::streams::synchronize(cuda, device, stream)
        },
    }
}

const fn linear_name(direction: Direction) -> &'static str {
    match direction {
        Direction::HostToDevice(_) => "cuMemcpyHtoDAsync",
        Direction::DeviceToHost(_) => "cuMemcpyDtoHAsync",
        Direction::DeviceToDevice => "cuMemcpyDtoDAsync",
    }
}

/// # Safety
/// See [`copy`].
#[inline]
unsafe fn line(api: &Api, direction: Direction, to: Address, from: Address, bytes: usize, stream: StreamHandle) -> u32 {
    let stream = raw(stream);
    // SAFETY: the caller promises the ranges.
    unsafe {
        match direction {
            Direction::HostToDevice(_) => (api.cuMemcpyHtoDAsync_v2)(to as CUdeviceptr, host(from), bytes, stream),
            Direction::DeviceToHost(_) => (api.cuMemcpyDtoHAsync_v2)(host(to), from as CUdeviceptr, bytes, stream),
            Direction::DeviceToDevice => {
                (api.cuMemcpyDtoDAsync_v2)(to as CUdeviceptr, from as CUdeviceptr, bytes, stream)
            }
        }
    }
}

/// Keeps the promise about pageable memory on machines whose device reads the host's page tables (Grace, POWER): there
/// the driver need not stage it, and may still be at work when the copy returns.
#[inline]
fn settle(
    cuda: &Cuda,
    current: &Current<'_>,
    device: i32,
    direction: Direction,
    target: Address,
    source: Address,
    stream: StreamHandle,
) -> Result<()> {
    let host_side = match direction {
        Direction::DeviceToDevice => return Ok(()),
        Direction::HostToDevice(_) => source,
        Direction::DeviceToHost(_) => target,
    };
    if !current.slot.reads_pageable || pointer_kind(cuda, host_side)? != PointerKind::Unregistered {
        return Ok(());
    }
    // SAFETY: the stream is alive, as the caller of the copy promises.
    match beside_captures(&cuda.api, || unsafe { (cuda.api.cuStreamSynchronize)(raw(stream)) }) {
        SUCCESS => Ok(()),
        code => Err(refusal(&cuda.api, code, "cuStreamSynchronize", Some(device), "after a copy".to_owned())),
    }
}

/// Copies a box.
///
/// # Safety
/// Both boxes stay valid until the stream has passed.
pub unsafe fn copy_pitched(
    cuda: &Cuda,
    device: i32,
    direction: Direction,
    target: Pitched,
    source: Pitched,
    extent: Extent,
    stream: StreamHandle,
) -> Result<()> {
    let max_pitch = cuda.slot(device, "cuMemcpy2DAsync")?.max_pitch;
    let detail = || format!("{extent:?} from {source:?} to {target:?}, stream {:#x}", stream.0);
    let Some(plan) = plan(target, source, extent, max_pitch) else {
        return Err(Error::value(format!("the box does not fit the address space: {}", detail())));
    };
    let operation = match plan {
        Plan::Nothing => return Ok(()),
        // SAFETY: the caller's promise covers the range, which is the whole box.
        Plan::Line(bytes) => unsafe {
            return copy(cuda, device, direction, target.address, source.address, bytes, stream);
        },
        Plan::EachRow(_) => linear_name(direction),
        Plan::Plane(_) | Plan::EachPlane(_) => "cuMemcpy2DAsync",
        Plan::Box(_) => "cuMemcpy3DAsync",
    };
    let current = cuda.enter(device, operation)?;
    // SAFETY: the caller's promise is the same.
    match unsafe { start(&cuda.api, plan, direction, stream) } {
        SUCCESS => settle(cuda, &current, device, direction, target.address, source.address, stream),
        code => Err(refusal(&cuda.api, code, operation, Some(device), detail())),
    }
}

/// Starts the copies of a plan up to the first that is refused.
///
/// # Safety
/// See [`copy_pitched`].
unsafe fn start(api: &Api, plan: Plan, direction: Direction, stream: StreamHandle) -> u32 {
    // SAFETY: every part lies within the box that the caller promises.
    unsafe {
        match plan {
            Plan::Nothing | Plan::Line(_) => SUCCESS,
            Plan::Plane(sides) => (api.cuMemcpy2DAsync_v2)(&plane(&sides, direction), raw(stream)),
            Plan::Box(sides) => (api.cuMemcpy3DAsync_v2)(&cuboid(&sides, direction), raw(stream)),
            Plan::EachPlane(sides) => {
                let planes = (0..sides.extent.depth).map(|position| plane(&sides.plane(position), direction));
                until_refused(planes.map(|plane| (api.cuMemcpy2DAsync_v2)(&plane, raw(stream))))
            }
            Plan::EachRow(sides) => {
                let Extent { width, height, depth } = sides.extent;
                let rows = (0..depth).flat_map(|plane| (0..height).map(move |row| (plane, row)));
                until_refused(rows.map(|(plane, row)| {
                    let (to, from) = sides.row(plane, row);
                    line(api, direction, to, from, width, stream)
                }))
            }
        }
    }
}

/// Runs the calls that the iterator makes up to the first that is refused.
fn until_refused(mut codes: impl Iterator<Item = u32>) -> u32 {
    codes.find(|code| *code != SUCCESS).unwrap_or(SUCCESS)
}

/// The kinds of memory of the source and of the target.
fn kinds(direction: Direction) -> (CUmemorytype, CUmemorytype) {
    let (host, device) = (CUmemorytype::CU_MEMORYTYPE_HOST, CUmemorytype::CU_MEMORYTYPE_DEVICE);
    match direction {
        Direction::HostToDevice(_) => (host, device),
        Direction::DeviceToHost(_) => (device, host),
        Direction::DeviceToDevice => (device, device),
    }
}

/// Of the host and the device address the driver reads the one that the kind names.
fn plane(sides: &Sides, direction: Direction) -> CUDA_MEMCPY2D {
    let (source_kind, target_kind) = kinds(direction);
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: source_kind,
        srcHost: host(sides.source.address),
        srcDevice: sides.source.address as CUdeviceptr,
        srcArray: std::ptr::null_mut(),
        srcPitch: sides.source.row_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: target_kind,
        dstHost: host(sides.target.address),
        dstDevice: sides.target.address as CUdeviceptr,
        dstArray: std::ptr::null_mut(),
        dstPitch: sides.target.row_pitch,
        WidthInBytes: sides.extent.width,
        Height: sides.extent.height,
    }
}

fn cuboid(sides: &Sides, direction: Direction) -> CUDA_MEMCPY3D {
    let (source_kind, target_kind) = kinds(direction);
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: source_kind,
        srcHost: host(sides.source.address),
        srcDevice: sides.source.address as CUdeviceptr,
        srcArray: std::ptr::null_mut(),
        reserved0: std::ptr::null_mut(),
        srcPitch: sides.source.row_pitch,
        srcHeight: sides.source.plane_pitch / sides.source.row_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: target_kind,
        dstHost: host(sides.target.address),
        dstDevice: sides.target.address as CUdeviceptr,
        dstArray: std::ptr::null_mut(),
        reserved1: std::ptr::null_mut(),
        dstPitch: sides.target.row_pitch,
        dstHeight: sides.target.plane_pitch / sides.target.row_pitch,
        WidthInBytes: sides.extent.width,
        Height: sides.extent.height,
        Depth: sides.extent.depth,
    }
}

/// Copies between two devices; the stream is the source's.
///
/// # Safety
/// Both ranges stay valid until the stream has passed.
pub unsafe fn copy_peer(
    cuda: &Cuda,
    (target_device, target): (i32, Address),
    (source_device, source): (i32, Address),
    bytes: usize,
    stream: StreamHandle,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let operation = "cuMemcpyPeerAsync";
    let target_context = cuda.context_of(target_device, operation)?;
    let (to, from) = (target as CUdeviceptr, source as CUdeviceptr);
    cuda.call(
        source_device,
        operation,
        // SAFETY: the caller promises the ranges; both contexts are retained.
        |on| unsafe { (on.api.cuMemcpyPeerAsync)(to, target_context, from, on.context, bytes, raw(stream)) },
        || format!("{bytes} bytes from {source:#x} to {target:#x} on device {target_device}, stream {:#x}", stream.0),
    )
}

/// Repeats a pattern.
///
/// # Safety
/// The rows stay valid until the stream has passed; address and pitch are multiples of the pattern's size.
pub unsafe fn fill(
    cuda: &Cuda,
    device: i32,
    (target, pitch): (Address, usize),
    pattern: Pattern,
    (count, height): (usize, usize),
    stream: StreamHandle,
) -> Result<()> {
    if count == 0 || height == 0 {
        return Ok(());
    }
    let detail = || format!("{pattern:?}, {count} times in each of {height} rows {pitch} bytes apart from {target:#x}");
    let width = count.checked_mul(size(pattern));
    let end = (height - 1).checked_mul(pitch).and_then(|rows| rows.checked_add(width?)?.checked_add(target));
    if end.is_none() {
        return Err(Error::value(format!("the rows do not fit the address space: {}", detail())));
    }
    let gapless = width == Some(pitch);
    let (count, height) = if gapless { (count.saturating_mul(height), 1) } else { (count, height) };
    let operation = fill_name(pattern, height == 1);
    let current = cuda.enter(device, operation)?;
    // SAFETY: the rows lie within what the caller promises.
    let code = unsafe {
        if height == 1 {
            fill_row(&cuda.api, target, pattern, count, stream)
        } else if pitch <= current.slot.max_pitch {
            fill_rows(&cuda.api, (target, pitch), pattern, (count, height), stream)
        } else {
            // Beyond the driver's limit; such rows are gigabytes apart, hence few.
            let rows = (0..height).map(|row| target + row * pitch);
            until_refused(rows.map(|row| fill_row(&cuda.api, row, pattern, count, stream)))
        }
    };
    if code == SUCCESS { Ok(()) } else { Err(refusal(&cuda.api, code, operation, Some(device), detail())) }
}

const fn size(pattern: Pattern) -> usize {
    match pattern {
        Pattern::U8(_) => 1,
        Pattern::U16(_) => 2,
        Pattern::U32(_) => 4,
    }
}

const fn fill_name(pattern: Pattern, one_row: bool) -> &'static str {
    match (pattern, one_row) {
        (Pattern::U8(_), true) => "cuMemsetD8Async",
        (Pattern::U16(_), true) => "cuMemsetD16Async",
        (Pattern::U32(_), true) => "cuMemsetD32Async",
        (Pattern::U8(_), false) => "cuMemsetD2D8Async",
        (Pattern::U16(_), false) => "cuMemsetD2D16Async",
        (Pattern::U32(_), false) => "cuMemsetD2D32Async",
    }
}

/// # Safety
/// See [`fill`].
unsafe fn fill_row(api: &Api, target: Address, pattern: Pattern, count: usize, stream: StreamHandle) -> u32 {
    let (to, stream) = (target as CUdeviceptr, raw(stream));
    // SAFETY: the caller promises the row.
    unsafe {
        match pattern {
            Pattern::U8(value) => (api.cuMemsetD8Async)(to, value, count, stream),
            Pattern::U16(value) => (api.cuMemsetD16Async)(to, value, count, stream),
            Pattern::U32(value) => (api.cuMemsetD32Async)(to, value, count, stream),
        }
    }
}

/// # Safety
/// See [`fill`].
unsafe fn fill_rows(
    api: &Api,
    (target, pitch): (Address, usize),
    pattern: Pattern,
    (count, height): (usize, usize),
    stream: StreamHandle,
) -> u32 {
    let (to, stream) = (target as CUdeviceptr, raw(stream));
    // SAFETY: the caller promises the rows.
    unsafe {
        match pattern {
            Pattern::U8(value) => (api.cuMemsetD2D8Async)(to, pitch, value, count, height, stream),
            Pattern::U16(value) => (api.cuMemsetD2D16Async)(to, pitch, value, count, height, stream),
            Pattern::U32(value) => (api.cuMemsetD2D32Async)(to, pitch, value, count, height, stream),
        }
    }
}
