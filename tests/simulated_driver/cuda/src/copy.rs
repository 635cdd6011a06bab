//! Defines CUDA's copy functions.

use simulated_core::Outcome;
use simulated_core::byte_region::Extent;
use simulated_core::copy::{Copy, Memory, Side};
use simulated_core::error_codes::INVALID_VALUE;
use simulated_core::stream::LEGACY;

use crate::attributes::MAX_PITCH;
use crate::entry::{Call, In, export};

/// Value of CUDA's enum constant for the memory kind of a CUDA array.
const ARRAY: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side2D {
    x: usize,
    y: usize,
    kind: u32,
    host: u64,
    device: u64,
    array: u64,
    pitch: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEMCPY2D {
    source: Side2D,
    target: Side2D,
    width: usize,
    height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side3D {
    x: usize,
    y: usize,
    z: usize,
    lod: usize,
    kind: u32,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: usize,
    height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEMCPY3D {
    source: Side3D,
    target: Side3D,
    width: usize,
    height: usize,
    depth: usize,
}

/// Returns the host address or the device address, depending on the memory kind.
fn memory(kind: u32, host: u64, device: u64) -> Outcome<(Memory, u64)> {
    match kind {
        1 => Ok((Memory::Host, host)),
        2 => Ok((Memory::Device, device)),
        4 => Ok((Memory::Either, device)),
        _ => Err(INVALID_VALUE),
    }
}

fn sum(terms: [(usize, usize); 3], start: u64) -> Outcome<u64> {
    let add = |sum: u64, (count, size): (usize, usize)| sum.checked_add((count as u64).checked_mul(size as u64)?);
    terms.into_iter().try_fold(start, add).ok_or(INVALID_VALUE)
}

impl Side3D {
    fn side(&self, on: &Call, extent: Extent) -> Outcome<Side> {
        if self.kind == ARRAY {
            let at = [self.x, self.y, self.z].map(|place| place as u64);
            return on.driver.array_side(self.array, at, [extent.width, extent.height, extent.depth]);
        }
        let (memory, start) = memory(self.kind, self.host, self.device)?;
        let (pitch, height) = (self.pitch as u64, self.height as u64);
        let end = (self.x as u64).checked_add(extent.width).ok_or(INVALID_VALUE)?;
        let last = (self.y as u64).checked_add(extent.height).ok_or(INVALID_VALUE)?;
        if pitch > MAX_PITCH || pitch < end || (extent.depth > 1 && height < last) || self.lod != 0 {
            return Err(INVALID_VALUE);
        }
        let plane_pitch = pitch.checked_mul(height).ok_or(INVALID_VALUE)?;
        let start = sum([(self.x, 1), (self.y, self.pitch), (self.z, plane_pitch as usize)], start)?;
        Ok(Side { memory, start, row_pitch: pitch, plane_pitch })
    }
}

impl From<Side2D> for Side3D {
    fn from(side: Side2D) -> Self {
        let Side2D { x, y, kind, host, device, array, pitch } = side;
        Self { x, y, z: 0, lod: 0, kind, host, device, array, reserved: 0, pitch, height: 0 }
    }
}

/// Copies a box between two endpoints, which structures of CUDA's interface describe.
fn cuboid(on: &Call, (source, target): (Side3D, Side3D), extent: [usize; 3], stream: u64, waits: bool) -> Outcome<()> {
    let device = on.device()?;
    let [width, height, depth] = extent.map(|length| length as u64);
    let extent = Extent { width, height, depth };
    if extent.is_empty() {
        return Ok(());
    }
    let copy = Copy { target: target.side(on, extent)?, source: source.side(on, extent)?, extent, waits };
    // SAFETY: the caller of the C function guarantees that the host memory is valid.
    unsafe { on.driver.copy(on.name, device, copy, stream) }
}

fn plane(on: &Call, copy: In<CUDA_MEMCPY2D>, stream: u64, waits: bool) -> Outcome<()> {
    let copy = copy.get()?;
    cuboid(on, (copy.source.into(), copy.target.into()), [copy.width, copy.height, 1], stream, waits)
}

fn line(on: &Call, target: (Memory, u64), source: (Memory, u64), bytes: usize, stream: u64) -> Outcome<()> {
    let copy = Copy::line(target, source, bytes as u64, false);
    // SAFETY: the caller of the C function guarantees that the host memory is valid.
    unsafe { on.driver.copy(on.name, on.device()?, copy, stream) }
}

fn line_and_wait(on: &Call, target: (Memory, u64), source: (Memory, u64), bytes: usize) -> Outcome<()> {
    let copy = Copy::line(target, source, bytes as u64, true);
    // SAFETY: the caller of the C function guarantees that the host memory is valid.
    unsafe { on.driver.copy(on.name, on.device()?, copy, LEGACY) }
}

/// Copies between the memory of two contexts. Each endpoint is an address and the context to which the memory belongs.
fn peer(on: &Call, target: (u64, u64), source: (u64, u64), bytes: usize, stream: u64) -> Outcome<()> {
    for (address, context) in [target, source] {
        let device = on.driver.device_of_context(context)?;
        let known = on.driver.known(address);
        if bytes > 0 && known.is_some_and(|known| known.host.is_none() && known.device != device) {
            return Err(INVALID_VALUE);
        }
    }
    line(on, (Memory::Device, target.0), (Memory::Device, source.0), bytes, stream)
}

export! {
    fn cuMemcpyHtoDAsync_v2(on, target: u64, source: u64, bytes: usize, stream: u64) {
        line(on, (Memory::Device, target), (Memory::Host, source), bytes, stream)
    }

    fn cuMemcpyDtoHAsync_v2(on, target: u64, source: u64, bytes: usize, stream: u64) {
        line(on, (Memory::Host, target), (Memory::Device, source), bytes, stream)
    }

    fn cuMemcpyDtoDAsync_v2(on, target: u64, source: u64, bytes: usize, stream: u64) {
        line(on, (Memory::Device, target), (Memory::Device, source), bytes, stream)
    }

    fn cuMemcpyAsync(on, target: u64, source: u64, bytes: usize, stream: u64) {
        line(on, (Memory::Either, target), (Memory::Either, source), bytes, stream)
    }

    fn cuMemcpyHtoD_v2(on, target: u64, source: u64, bytes: usize) {
        line_and_wait(on, (Memory::Device, target), (Memory::Host, source), bytes)
    }

    fn cuMemcpyDtoH_v2(on, target: u64, source: u64, bytes: usize) {
        line_and_wait(on, (Memory::Host, target), (Memory::Device, source), bytes)
    }

    fn cuMemcpyDtoD_v2(on, target: u64, source: u64, bytes: usize) {
        line(on, (Memory::Device, target), (Memory::Device, source), bytes, LEGACY)
    }

    fn cuMemcpy(on, target: u64, source: u64, bytes: usize) {
        line_and_wait(on, (Memory::Either, target), (Memory::Either, source), bytes)
    }

    fn cuMemcpy2DAsync_v2(on, copy: In<CUDA_MEMCPY2D>, stream: u64) {
        plane(on, copy, stream, false)
    }

    fn cuMemcpy2D_v2(on, copy: In<CUDA_MEMCPY2D>) {
        plane(on, copy, LEGACY, true)
    }

    fn cuMemcpy3DAsync_v2(on, copy: In<CUDA_MEMCPY3D>, stream: u64) {
        let copy = copy.get()?;
        cuboid(on, (copy.source, copy.target), [copy.width, copy.height, copy.depth], stream, false)
    }

    fn cuMemcpy3D_v2(on, copy: In<CUDA_MEMCPY3D>) {
        let copy = copy.get()?;
        cuboid(on, (copy.source, copy.target), [copy.width, copy.height, copy.depth], LEGACY, true)
    }

    fn cuMemcpyPeerAsync(
        on,
        target: u64,
        target_context: u64,
        source: u64,
        source_context: u64,
        bytes: usize,
        stream: u64,
    ) {
        peer(on, (target, target_context), (source, source_context), bytes, stream)
    }
}
