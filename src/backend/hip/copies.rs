//! Copies and fills in the order of a stream.

use super::context::beside_captures;
use super::driver::Hip;
use super::errors::{SUCCESS, refusal};
use super::memory::{pointer, pointer_kind};
use super::streams::raw;
use super::sys::{
    Api, hipExtent, hipMemcpy3DParms, hipMemcpyDeviceToDevice, hipMemcpyDeviceToHost, hipMemcpyHostToDevice,
    hipMemcpyKind, hipPitchedPtr, hipPos,
};
use crate::backend::pitched::{Plan, Sides, plan};
use crate::backend::{Address, Direction, Extent, Pattern, Pitched, PointerKind, StreamHandle};
use crate::error::{Error, Result};

/// Copies bytes.
///
/// # Safety
/// Both ranges stay valid until the stream has passed.
#[inline]
pub unsafe fn copy(
    hip: &Hip,
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
    let operation = "hipMemcpyAsync";
    let current = hip.enter(device, operation)?;
    // SAFETY: the caller's promise is the same.
    match unsafe { line(&hip.api, direction, target, source, bytes, stream) } {
        SUCCESS if !current.slot.reads_pageable => Ok(()),
        SUCCESS => settle(hip, device, direction, target, source, stream),
        code => {
            let detail =
                format!("{direction:?}, {bytes} bytes from {source:#x} to {target:#x}, stream {:#x}", stream.0);
            Err(refusal(&hip.api, code, operation, Some(device), detail))
        }
    }
}

const fn kind(direction: Direction) -> hipMemcpyKind {
    match direction {
        Direction::HostToDevice(_) => hipMemcpyHostToDevice,
        Direction::DeviceToHost(_) => hipMemcpyDeviceToHost,
        Direction::DeviceToDevice => hipMemcpyDeviceToDevice,
    }
}

/// # Safety
/// See [`copy`].
#[inline]
unsafe fn line(api: &Api, direction: Direction, to: Address, from: Address, bytes: usize, stream: StreamHandle) -> u32 {
    // SAFETY: the caller promises the ranges.
    unsafe { (api.hipMemcpyAsync)(pointer(to), pointer(from), bytes, kind(direction), raw(stream)) }
}

/// Keeps the promise about pageable memory where the runtime does not: on machines whose device reads the host's page tables
/// (MI300A), where it need not stage it, and for boxes. That it copies pageable memory synchronously is said, in every
/// version, of the copies of one range only.
fn settle(
    hip: &Hip,
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
    if pointer_kind(hip, host_side)? != PointerKind::Unregistered {
        return Ok(());
    }
    // SAFETY: the stream is alive, as the caller of the copy promises.
    match beside_captures(&hip.api, || unsafe { (hip.api.hipStreamSynchronize)(raw(stream)) }) {
        SUCCESS => Ok(()),
        code => Err(refusal(&hip.api, code, "hipStreamSynchronize", Some(device), "after a copy".to_owned())),
    }
}

/// Copies a box.
///
/// # Safety
/// Both boxes stay valid until the stream has passed.
pub unsafe fn copy_pitched(
    hip: &Hip,
    device: i32,
    direction: Direction,
    target: Pitched,
    source: Pitched,
    extent: Extent,
    stream: StreamHandle,
) -> Result<()> {
    let max_pitch = hip.slot(device, "hipMemcpy2DAsync")?.max_pitch;
    let detail = || format!("{direction:?}, {extent:?} from {source:?} to {target:?}, stream {:#x}", stream.0);
    let Some(plan) = plan(target, source, extent, max_pitch) else {
        return Err(Error::value(format!("the box does not fit the address space: {}", detail())));
    };
    let operation = match plan {
        Plan::Nothing => return Ok(()),
        // SAFETY: the caller's promise covers the range, which is the whole box.
        Plan::Line(bytes) => unsafe {
            return copy(hip, device, direction, target.address, source.address, bytes, stream);
        },
        Plan::EachRow(_) => "hipMemcpyAsync",
        Plan::Plane(_) | Plan::EachPlane(_) => "hipMemcpy2DAsync",
        Plan::Box(_) => "hipMemcpy3DAsync",
    };
    let _current = hip.enter(device, operation)?;
    // SAFETY: the caller's promise is the same.
    match unsafe { start(&hip.api, plan, direction, stream) } {
        SUCCESS => settle(hip, device, direction, target.address, source.address, stream),
        code => Err(refusal(&hip.api, code, operation, Some(device), detail())),
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
            Plan::Plane(sides) => plane(api, &sides, direction, stream),
            // Not hipDrvMemcpy3DAsync, whose structure grew with HIP 6.
            Plan::Box(sides) => (api.hipMemcpy3DAsync)(&cuboid(&sides, direction), raw(stream)),
            Plan::EachPlane(sides) => {
                let planes = (0..sides.extent.depth).map(|position| sides.plane(position));
                until_refused(planes.map(|sides| plane(api, &sides, direction, stream)))
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

/// # Safety
/// See [`copy_pitched`].
unsafe fn plane(api: &Api, sides: &Sides, direction: Direction, stream: StreamHandle) -> u32 {
    let Sides { target, source, extent } = *sides;
    // SAFETY: the caller promises the rows.
    unsafe {
        (api.hipMemcpy2DAsync)(
            pointer(target.address),
            target.row_pitch,
            pointer(source.address),
            source.row_pitch,
            extent.width,
            extent.height,
            kind(direction),
            raw(stream),
        )
    }
}

/// Positions and sizes are in bytes, since no array is named. Planes are counted in rows.
fn cuboid(sides: &Sides, direction: Direction) -> hipMemcpy3DParms {
    let origin = hipPos { x: 0, y: 0, z: 0 };
    let side = |side: &Pitched| hipPitchedPtr {
        ptr: pointer(side.address),
        pitch: side.row_pitch,
        xsize: sides.extent.width,
        ysize: side.plane_pitch / side.row_pitch,
    };
    let Extent { width, height, depth } = sides.extent;
    hipMemcpy3DParms {
        srcArray: std::ptr::null_mut(),
        srcPos: origin,
        srcPtr: side(&sides.source),
        dstArray: std::ptr::null_mut(),
        dstPos: origin,
        dstPtr: side(&sides.target),
        extent: hipExtent { width, height, depth },
        kind: kind(direction),
    }
}

/// Copies between two devices; the stream is the source's.
///
/// # Safety
/// Both ranges stay valid until the stream has passed.
pub unsafe fn copy_peer(
    hip: &Hip,
    (target_device, target): (i32, Address),
    (source_device, source): (i32, Address),
    bytes: usize,
    stream: StreamHandle,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let operation = "hipMemcpyPeerAsync";
    hip.slot(target_device, operation)?;
    let (to, from) = (pointer(target), pointer(source));
    hip.call(
        source_device,
        operation,
        // SAFETY: the caller promises the ranges; both devices exist.
        |on| unsafe { (on.api.hipMemcpyPeerAsync)(to, target_device, from, source_device, bytes, raw(stream)) },
        || format!("{bytes} bytes from {source:#x} to {target:#x} on device {target_device}, stream {:#x}", stream.0),
    )
}

/// Repeats a pattern.
///
/// # Safety
/// The rows stay valid until the stream has passed; address and pitch are multiples of the pattern's size.
pub unsafe fn fill(
    hip: &Hip,
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
    let (Some(width), Some(_)) = (width, end) else {
        return Err(Error::value(format!("the rows do not fit the address space: {}", detail())));
    };
    let (count, height) = if width == pitch { (count.saturating_mul(height), 1) } else { (count, height) };
    let one_call = height == 1 || repeated_byte(pattern).is_some();
    let operation = if height > 1 && one_call { "hipMemset2DAsync" } else { fill_name(pattern) };
    let current = hip.enter(device, operation)?;
    let api = &hip.api;
    // SAFETY: the rows lie within what the caller promises.
    let code = unsafe {
        if height == 1 {
            fill_row(api, target, pattern, count, stream)
        } else if !(width..=current.slot.max_pitch).contains(&pitch) {
            // Beyond the runtime's limit; such rows are gigabytes apart, hence few.
            let rows = (0..height).map(|row| target + row * pitch);
            until_refused(rows.map(|row| fill_row(api, row, pattern, count, stream)))
        } else if let Some(byte) = repeated_byte(pattern) {
            (api.hipMemset2DAsync)(pointer(target), pitch, byte.into(), width, height, raw(stream))
        } else {
            match fill_row(api, target, pattern, count, stream) {
                SUCCESS => spread_first_row(api, (target, pitch), (width, height), stream),
                code => code,
            }
        }
    };
    if code == SUCCESS { Ok(()) } else { Err(refusal(&hip.api, code, operation, Some(device), detail())) }
}

const fn size(pattern: Pattern) -> usize {
    match pattern {
        Pattern::U8(_) => 1,
        Pattern::U16(_) => 2,
        Pattern::U32(_) => 4,
    }
}

/// The byte of which a pattern consists, if it is one.
fn repeated_byte(pattern: Pattern) -> Option<u8> {
    let byte = match pattern {
        Pattern::U8(value) => value,
        Pattern::U16(value) => value as u8,
        Pattern::U32(value) => value as u8,
    };
    let same = match pattern {
        Pattern::U8(_) => true,
        Pattern::U16(value) => value == u16::from_ne_bytes([byte; 2]),
        Pattern::U32(value) => value == u32::from_ne_bytes([byte; 4]),
    };
    same.then_some(byte)
}

const fn fill_name(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::U8(_) => "hipMemsetD8Async",
        Pattern::U16(_) => "hipMemsetD16Async",
        Pattern::U32(_) => "hipMemsetD32Async",
    }
}

/// # Safety
/// See [`fill`].
unsafe fn fill_row(api: &Api, target: Address, pattern: Pattern, count: usize, stream: StreamHandle) -> u32 {
    let (to, stream) = (pointer(target), raw(stream));
    // SAFETY: the caller promises the row.
    unsafe {
        match pattern {
            Pattern::U8(value) => (api.hipMemsetD8Async)(to, value, count, stream),
            Pattern::U16(value) => (api.hipMemsetD16Async)(to, value, count, stream),
            Pattern::U32(value) => (api.hipMemsetD32Async)(to, value.cast_signed(), count, stream),
        }
    }
}

/// Copies the first row into all others. HIP sets rows of bytes only, and one call for each row would take seconds for a
/// column of a million: the rows that are done are copied behind themselves, which doubles them each time.
///
/// # Safety
/// See [`fill`]; the rows do not overlap.
unsafe fn spread_first_row(
    api: &Api,
    (target, pitch): (Address, usize),
    (width, height): (usize, usize),
    stream: StreamHandle,
) -> u32 {
    let doublings = std::iter::successors(Some(1_usize), |done| done.checked_mul(2)).take_while(|done| *done < height);
    until_refused(doublings.map(|done| {
        let side = |address| Pitched { address, row_pitch: pitch, plane_pitch: 0 };
        let extent = Extent { width, height: done.min(height - done), depth: 1 };
        let sides = Sides { target: side(target + done * pitch), source: side(target), extent };
        // SAFETY: the rows read are before the rows written, and all lie within what the caller promises.
        unsafe { plane(api, &sides, Direction::DeviceToDevice, stream) }
    }))
}
