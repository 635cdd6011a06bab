//! Defines HIP's copy functions.

use simulated_core::Outcome;
use simulated_core::byte_region::Extent;
use simulated_core::copy::{Copy, Memory, Side};
use simulated_core::error_codes::INVALID_VALUE;
use simulated_core::stream::LEGACY;

use crate::attributes::MAX_PITCH;
use crate::entry::{Call, In, export};

/// Error code of an invalid copy kind.
const INVALID_DIRECTION: u32 = 21;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipPos {
    x: usize,
    y: usize,
    z: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipPitchedPtr {
    address: u64,
    pitch: usize,
    width: usize,
    height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipMemcpy3DParms {
    source_array: u64,
    source_position: hipPos,
    source: hipPitchedPtr,
    target_array: u64,
    target_position: hipPos,
    target: hipPitchedPtr,
    extent: [usize; 3],
    kind: u32,
}

/// Returns the memory kinds of target and source.
fn memories(kind: u32) -> Outcome<(Memory, Memory)> {
    match kind {
        0 => Ok((Memory::Host, Memory::Host)),
        1 => Ok((Memory::Device, Memory::Host)),
        2 => Ok((Memory::Host, Memory::Device)),
        3 => Ok((Memory::Device, Memory::Device)),
        4 => Ok((Memory::Either, Memory::Either)),
        _ => Err(INVALID_DIRECTION),
    }
}

impl hipPitchedPtr {
    fn side(&self, memory: Memory, at: hipPos, extent: Extent) -> Outcome<Side> {
        let (pitch, height) = (self.pitch as u64, self.height as u64);
        let fits = pitch <= MAX_PITCH && pitch >= extent.width && (extent.depth == 1 || height >= extent.height);
        // Offsets are supported for arrays only. For other memory, the calling program can add the offset to the
        // address instead.
        if !fits || (at.x, at.y, at.z) != (0, 0, 0) {
            return Err(INVALID_VALUE);
        }
        let plane_pitch = pitch.checked_mul(height).ok_or(INVALID_VALUE)?;
        Ok(Side { memory, start: self.address, row_pitch: pitch, plane_pitch })
    }
}

fn cuboid(on: &Call, copy: hipMemcpy3DParms, stream: u64, waits: bool) -> Outcome<()> {
    let device = on.device()?;
    let (to, from) = memories(copy.kind)?;
    let [width, height, depth] = copy.extent.map(|length| length as u64);
    // If an array takes part in the copy, widths are counted in elements of the array.
    let array = if copy.target_array != 0 { copy.target_array } else { copy.source_array };
    let item = if array == 0 { 1 } else { on.driver.array_item(array)? };
    let extent = Extent { width: width.checked_mul(item).ok_or(INVALID_VALUE)?, height, depth };
    if extent.is_empty() {
        return Ok(());
    }
    let side = |array: u64, plain: hipPitchedPtr, memory, at: hipPos| {
        if array == 0 {
            return plain.side(memory, at, extent);
        }
        let place = [at.x as u64 * item, at.y as u64, at.z as u64];
        on.driver.array_side(array, place, [extent.width, extent.height, extent.depth])
    };
    let target = side(copy.target_array, copy.target, to, copy.target_position)?;
    let source = side(copy.source_array, copy.source, from, copy.source_position)?;
    // SAFETY: the caller of the C function guarantees that the host memory is valid.
    unsafe { on.driver.copy(on.name, device, Copy { target, source, extent, waits }, stream) }
}

fn line(on: &Call, target: u64, source: u64, bytes: usize, kind: u32, (stream, waits): (u64, bool)) -> Outcome<()> {
    let (to, from) = memories(kind)?;
    let copy = Copy::line((to, target), (from, source), bytes as u64, waits);
    // SAFETY: the caller of the C function guarantees that the host memory is valid.
    unsafe { on.driver.copy(on.name, on.device()?, copy, stream) }
}

export! {
    fn hipMemcpy(on, target: u64, source: u64, bytes: usize, kind: u32) {
        line(on, target, source, bytes, kind, (LEGACY, kind != 3))
    }

    fn hipMemcpyAsync(on, target: u64, source: u64, bytes: usize, kind: u32, stream: u64) {
        line(on, target, source, bytes, kind, (stream, false))
    }

    fn hipMemcpy2DAsync(
        on,
        target: u64,
        target_pitch: usize,
        source: u64,
        source_pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
        stream: u64,
    ) {
        let origin = hipPos { x: 0, y: 0, z: 0 };
        let side = |address, pitch| hipPitchedPtr { address, pitch, width, height };
        let copy = hipMemcpy3DParms {
            source_array: 0,
            source_position: origin,
            source: side(source, source_pitch),
            target_array: 0,
            target_position: origin,
            target: side(target, target_pitch),
            extent: [width, height, 1],
            kind,
        };
        cuboid(on, copy, stream, false)
    }

    fn hipMemcpy3DAsync(on, copy: In<hipMemcpy3DParms>, stream: u64) {
        cuboid(on, copy.get()?, stream, false)
    }

    fn hipMemcpyPeerAsync(
        on,
        target: u64,
        target_device: i32,
        source: u64,
        source_device: i32,
        bytes: usize,
        stream: u64,
    ) {
        for (address, device) in [(target, target_device), (source, source_device)] {
            let device = on.driver.device(device)?;
            let known = on.driver.known(address);
            if bytes > 0 && known.is_some_and(|known| known.host.is_none() && known.device != device) {
                return Err(INVALID_VALUE);
            }
        }
        line(on, target, source, bytes, 3, (stream, false))
    }
}
