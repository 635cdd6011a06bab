//! Implements copies and fills by the CUDA driver, which has one function per direction and pattern width.

use std::ffi::c_void;

use super::driver::Cuda;
use super::sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUarray, CUcontext, CUdeviceptr, CUmemorytype};
use crate::cuda_and_hip::{Driver, PitchedBox, Raw, VendorCopies};
use crate::{Address, Direction, Extent, Pattern, Pitched, StreamHandle};
use pygpu_base::error::Result;

/// Converts a host address, which may belong to memory of any library, to a pointer.
fn pointer(address: Address) -> *mut c_void {
    Raw::of(address)
}

impl VendorCopies for Cuda {
    const PLANE: &'static str = "cuMemcpy2DAsync";
    const BOX: &'static str = "cuMemcpy3DAsync";
    const BOXES_RETURN_EARLY: bool = false;

    fn line_name(direction: Direction) -> &'static str {
        match direction {
            Direction::HostToDevice(_) => "cuMemcpyHtoDAsync",
            Direction::DeviceToHost(_) => "cuMemcpyDtoHAsync",
            Direction::DeviceToDevice => "cuMemcpyDtoDAsync",
        }
    }

    fn direction_suffix(_: Direction) -> String {
        String::new()
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
        let (api, stream) = (&driver.api, Raw::of(stream.0));
        // SAFETY: the caller guarantees that source and target ranges are valid until the copy is complete.
        unsafe {
            match direction {
                Direction::HostToDevice(_) => (api.cuMemcpyHtoDAsync_v2)(Raw::of(to), pointer(from), bytes, stream),
                Direction::DeviceToHost(_) => (api.cuMemcpyDtoHAsync_v2)(pointer(to), Raw::of(from), bytes, stream),
                Direction::DeviceToDevice => (api.cuMemcpyDtoDAsync_v2)(Raw::of(to), Raw::of(from), bytes, stream),
            }
        }
    }

    unsafe fn plane(driver: &Driver<Self>, sides: &PitchedBox, direction: Direction, stream: StreamHandle) -> u32 {
        // SAFETY: the caller guarantees that all rows are valid until the copy is complete.
        unsafe { (driver.api.cuMemcpy2DAsync_v2)(&rows(sides, direction), Raw::of(stream.0)) }
    }

    unsafe fn cuboid(driver: &Driver<Self>, sides: &PitchedBox, direction: Direction, stream: StreamHandle) -> u32 {
        // SAFETY: the caller guarantees that all planes are valid until the copy is complete.
        unsafe { (driver.api.cuMemcpy3DAsync_v2)(&planes(sides, direction), Raw::of(stream.0)) }
    }

    unsafe fn line_at_once(
        driver: &Driver<Self>,
        device: i32,
        direction: Direction,
        target: Address,
        source: Address,
        bytes: usize,
    ) -> Option<Result<()>> {
        let detail = || format!("{bytes} bytes from {source:#x} to {target:#x}");
        Some(match direction {
            Direction::HostToDevice(_) => {
                let copy = driver.api.cuMemcpyHtoD_v2?;
                // SAFETY: the caller guarantees that source and target ranges are valid.
                let copy = || unsafe { copy(Raw::of(target), pointer(source), bytes) };
                driver.call(device, "cuMemcpyHtoD", |_| copy(), detail)
            }
            Direction::DeviceToHost(_) => {
                let copy = driver.api.cuMemcpyDtoH_v2?;
                // SAFETY: the caller guarantees that source and target ranges are valid.
                let copy = || unsafe { copy(pointer(target), Raw::of(source), bytes) };
                driver.call(device, "cuMemcpyDtoH", |_| copy(), detail)
            }
            Direction::DeviceToDevice => return None,
        })
    }

    fn peer(driver: &Driver<Self>, device: i32, operation: &'static str) -> Result<CUcontext> {
        driver.context_of(device, operation)
    }

    fn fill_name(pattern: Pattern, one_row: bool) -> &'static str {
        match (pattern, one_row) {
            (Pattern::U8(_), true) => "cuMemsetD8Async",
            (Pattern::U16(_), true) => "cuMemsetD16Async",
            (Pattern::U32(_), true) => "cuMemsetD32Async",
            (Pattern::U8(_), false) => "cuMemsetD2D8Async",
            (Pattern::U16(_), false) => "cuMemsetD2D16Async",
            (Pattern::U32(_), false) => "cuMemsetD2D32Async",
        }
    }

    unsafe fn fill_32(driver: &Driver<Self>, target: Address, value: u32, count: usize, stream: StreamHandle) -> u32 {
        // SAFETY: the caller guarantees that the row is valid and aligned for the pattern.
        unsafe { (driver.api.cuMemsetD32Async)(Raw::of(target), value, count, Raw::of(stream.0)) }
    }

    unsafe fn fill_rows(
        driver: &Driver<Self>,
        (target, pitch): (Address, usize),
        pattern: Pattern,
        (count, height): (usize, usize),
        stream: StreamHandle,
    ) -> Option<u32> {
        let (api, to, stream) = (&driver.api, Raw::of(target), Raw::of(stream.0));
        // SAFETY: the caller guarantees that the rows are valid and aligned for the pattern.
        Some(unsafe {
            match pattern {
                Pattern::U8(value) => (api.cuMemsetD2D8Async)(to, pitch, value, count, height, stream),
                Pattern::U16(value) => (api.cuMemsetD2D16Async)(to, pitch, value, count, height, stream),
                Pattern::U32(value) => (api.cuMemsetD2D32Async)(to, pitch, value, count, height, stream),
            }
        })
    }
}

/// Returns the memory kinds of source and target.
fn kinds(direction: Direction) -> (CUmemorytype, CUmemorytype) {
    let (host, device) = (CUmemorytype::CU_MEMORYTYPE_HOST, CUmemorytype::CU_MEMORYTYPE_DEVICE);
    match direction {
        Direction::HostToDevice(_) => (host, device),
        Direction::DeviceToHost(_) => (device, host),
        Direction::DeviceToDevice => (device, device),
    }
}

/// Builds the driver's structure for a 2-D copy. Both the host and the device address are set; the driver reads the one
/// selected by the memory kind.
fn rows(sides: &PitchedBox, direction: Direction) -> CUDA_MEMCPY2D {
    let (source_kind, target_kind) = kinds(direction);
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: source_kind,
        srcHost: pointer(sides.source.address),
        srcDevice: sides.source.address as CUdeviceptr,
        srcArray: std::ptr::null_mut(),
        srcPitch: sides.source.row_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: target_kind,
        dstHost: pointer(sides.target.address),
        dstDevice: sides.target.address as CUdeviceptr,
        dstArray: std::ptr::null_mut(),
        dstPitch: sides.target.row_pitch,
        WidthInBytes: sides.extent.width,
        Height: sides.extent.height,
    }
}

fn planes(sides: &PitchedBox, direction: Direction) -> CUDA_MEMCPY3D {
    let (source_kind, target_kind) = kinds(direction);
    let side = |kind, side: &Pitched| Side {
        kind,
        at: [0; 3],
        address: side.address,
        array: Raw::NONE,
        pitch: side.row_pitch,
        height: side.plane_pitch / side.row_pitch,
    };
    cuboid(&side(target_kind, &sides.target), &side(source_kind, &sides.source), sides.extent)
}

/// Describes the source or target of a 3-D copy: memory, or a CUDA array.
pub(super) struct Side {
    pub(super) kind: CUmemorytype,
    /// Position at which the copied region begins: the number of bytes along a row, of rows, and of planes.
    pub(super) at: [usize; 3],
    pub(super) address: Address,
    pub(super) array: CUarray,
    /// Number of bytes from one row to the next.
    pub(super) pitch: usize,
    /// Number of rows from one plane to the next.
    pub(super) height: usize,
}

/// Builds the driver's structure for a 3-D copy. Each side contains an address and an array; the driver reads the one
/// that the memory kind selects.
pub(super) fn cuboid(target: &Side, source: &Side, extent: Extent) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: source.at[0],
        srcY: source.at[1],
        srcZ: source.at[2],
        srcLOD: 0,
        srcMemoryType: source.kind,
        srcHost: pointer(source.address),
        srcDevice: source.address as CUdeviceptr,
        srcArray: source.array,
        reserved0: std::ptr::null_mut(),
        srcPitch: source.pitch,
        srcHeight: source.height,
        dstXInBytes: target.at[0],
        dstY: target.at[1],
        dstZ: target.at[2],
        dstLOD: 0,
        dstMemoryType: target.kind,
        dstHost: pointer(target.address),
        dstDevice: target.address as CUdeviceptr,
        dstArray: target.array,
        reserved1: std::ptr::null_mut(),
        dstPitch: target.pitch,
        dstHeight: target.height,
        WidthInBytes: extent.width,
        Height: extent.height,
        Depth: extent.depth,
    }
}
