//! Copies and fills memory by calls of AMD's runtime. The runtime has one copy function for all directions. Its
//! function that fills several rows takes a pattern of one byte only.

use std::ffi::{c_int, c_void};

use super::driver::Hip;
use super::sys::{
    hipExtent, hipMemcpy3DParms, hipMemcpyDeviceToDevice, hipMemcpyDeviceToHost, hipMemcpyHostToDevice, hipMemcpyKind,
    hipPitchedPtr, hipPos,
};
use crate::cuda_and_hip::{Driver, PitchedBox, Raw, VendorCopies, size, until_refused};
use crate::error_codes::SUCCESS;
use crate::{Address, Direction, Extent, Pattern, Pitched, StreamHandle};
use pygpu_base::error::Result;

/// Converts a device or host address to a pointer; any library may own the memory.
fn pointer(address: Address) -> *mut c_void {
    Raw::of(address)
}

impl VendorCopies for Hip {
    const PLANE: &'static str = "hipMemcpy2DAsync";
    const BOX: &'static str = "hipMemcpy3DAsync";
    /// Whether a copy call for rows or planes may return before the runtime has finished reading or writing pageable
    /// memory. The documentation of every runtime version guarantees synchronous copies of pageable memory only for a
    /// single contiguous range.
    const BOXES_RETURN_EARLY: bool = true;

    fn line_name(_: Direction) -> &'static str {
        "hipMemcpyAsync"
    }

    fn direction_suffix(direction: Direction) -> String {
        format!("{direction:?}, ")
    }

    #[inline]
    unsafe fn line(
        driver: &Driver<Self>,
        direction: Direction,
        to: Address,
        from: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> u32 {
        let copy = driver.api.hipMemcpyAsync;
        // SAFETY: the caller guarantees that source and target ranges are valid until the copy is complete.
        unsafe { copy(pointer(to), pointer(from), bytes, kind(direction), Raw::of(stream.0)) }
    }

    unsafe fn plane(driver: &Driver<Self>, sides: &PitchedBox, direction: Direction, stream: StreamHandle) -> u32 {
        let PitchedBox { target, source, extent } = *sides;
        // SAFETY: the caller guarantees that all rows are valid until the copy is complete.
        unsafe {
            (driver.api.hipMemcpy2DAsync)(
                pointer(target.address),
                target.row_pitch,
                pointer(source.address),
                source.row_pitch,
                extent.width,
                extent.height,
                kind(direction),
                Raw::of(stream.0),
            )
        }
    }

    /// Copies a 3-D region of memory by the older of the runtime's two functions, because the structure of
    /// hipDrvMemcpy3DAsync changed with HIP 6.
    unsafe fn cuboid(driver: &Driver<Self>, sides: &PitchedBox, direction: Direction, stream: StreamHandle) -> u32 {
        // SAFETY: the caller guarantees that all planes are valid until the copy is complete.
        unsafe { (driver.api.hipMemcpy3DAsync)(&planes(sides, direction), Raw::of(stream.0)) }
    }

    fn peer(driver: &Driver<Self>, device: i32, operation: &'static str) -> Result<c_int> {
        driver.slot(device, operation).map(|_| device)
    }

    fn fill_name(pattern: Pattern, one_row: bool) -> &'static str {
        match pattern {
            pattern if !one_row && repeated_byte(pattern).is_some() => "hipMemset2DAsync",
            Pattern::U8(_) => "hipMemsetD8Async",
            Pattern::U16(_) => "hipMemsetD16Async",
            Pattern::U32(_) => "hipMemsetD32Async",
        }
    }

    unsafe fn fill_32(driver: &Driver<Self>, target: Address, value: u32, count: usize, stream: StreamHandle) -> u32 {
        // SAFETY: the caller guarantees that the row is valid and aligned for the pattern.
        unsafe { (driver.api.hipMemsetD32Async)(pointer(target), value.cast_signed(), count, Raw::of(stream.0)) }
    }

    unsafe fn fill_rows(
        driver: &Driver<Self>,
        (target, pitch): (Address, usize),
        pattern: Pattern,
        (count, height): (usize, usize),
        stream: StreamHandle,
    ) -> Option<u32> {
        let width = count * size(pattern);
        if pitch < width {
            return None;
        }
        // SAFETY: the caller guarantees that the rows are valid and aligned for the pattern.
        Some(unsafe {
            if let Some(byte) = repeated_byte(pattern) {
                let fill = driver.api.hipMemset2DAsync;
                fill(pointer(target), pitch, byte.into(), width, height, Raw::of(stream.0))
            } else {
                match driver.fill_row(target, pattern, count, stream) {
                    SUCCESS => spread_first_row(driver, (target, pitch), (width, height), stream),
                    code => code,
                }
            }
        })
    }
}

const fn kind(direction: Direction) -> hipMemcpyKind {
    match direction {
        Direction::HostToDevice(_) => hipMemcpyHostToDevice,
        Direction::DeviceToHost(_) => hipMemcpyDeviceToHost,
        Direction::DeviceToDevice => hipMemcpyDeviceToDevice,
    }
}

/// Builds the runtime's structure for a 3-D copy. If neither side of the copy is a CUDA array, positions and sizes are
/// in bytes. The structure contains the distance between planes as a number of rows.
fn planes(sides: &PitchedBox, direction: Direction) -> hipMemcpy3DParms {
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

/// Returns the byte that a pattern repeats; `None` if the bytes of the pattern differ.
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

/// Copies the first row into all other rows. HIP fills several rows in one call only with a pattern of one byte, and
/// one call per row would take seconds for a column of a million rows. Instead each copy duplicates all rows that are
/// already filled.
///
/// # Safety
/// The conditions of `fill_rows` apply, and the rows do not overlap.
unsafe fn spread_first_row(
    driver: &Driver<Hip>,
    (target, pitch): (Address, usize),
    (width, height): (usize, usize),
    stream: StreamHandle,
) -> u32 {
    let doublings = std::iter::successors(Some(1_usize), |done| done.checked_mul(2)).take_while(|done| *done < height);
    until_refused(doublings.map(|done| {
        let side = |address| Pitched { address, row_pitch: pitch, plane_pitch: 0 };
        let extent = Extent { width, height: done.min(height - done), depth: 1 };
        let sides = PitchedBox { target: side(target + done * pitch), source: side(target), extent };
        // SAFETY: the source rows precede the target rows, and all rows are within the range, which the caller
        // guarantees to be valid.
        unsafe { Hip::plane(driver, &sides, Direction::DeviceToDevice, stream) }
    }))
}
