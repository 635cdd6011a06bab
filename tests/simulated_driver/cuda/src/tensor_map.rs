//! Creates tensor maps: the function checks its arguments as CUDA's manual requires, and writes a descriptor that
//! contains the arguments. Kernels cannot use the descriptor for copies.

use simulated_core::Outcome;
use simulated_core::error_codes::INVALID_VALUE;

use crate::entry::{In, Out, export};

/// The simulator's own contents for the opaque `CUtensorMap`, stored as 64-bit words.
#[repr(C)]
pub struct Descriptor {
    mark: u64,
    address: u64,
    /// The lower half contains the element type, the upper half the rank.
    kind: u64,
    lengths: [u64; 5],
    strides: [u64; 4],
    /// Extents of the box, with 12 bits per axis.
    extent: u64,
    /// Element strides, with 8 bits per axis.
    steps: u64,
    /// Interleave, swizzle, promotion and fill modes, with 8 bits each.
    modes: u64,
    end: u64,
}

/// Marks a descriptor by the letters "TENSOR".
const MARK: u64 = u64::from_le_bytes(*b"\0TENSOR\0");
const ITEMS: [u64; 10] = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2];
const WIDEST: [u64; 4] = [u64::MAX, 32, 64, 128];
const FLOATS: std::ops::RangeInclusive<u32> = 6..=9;

/// Modes that apply to all axes.
struct Modes {
    element: u32,
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
}

fn want(holds: bool) -> Outcome<()> {
    if holds { Ok(()) } else { Err(INVALID_VALUE) }
}

fn encoded(
    rank: u32,
    address: u64,
    (lengths, strides): (In<u64>, In<u64>),
    (extent, steps): (In<u32>, In<u32>),
    modes: &Modes,
) -> Outcome<Descriptor> {
    let Modes { element, interleave, swizzle, promotion, fill } = *modes;
    let item = *ITEMS.get(element as usize).ok_or(INVALID_VALUE)?;
    let divisor = if interleave == 2 { 32 } else { 16 };
    want(interleave <= 2 && swizzle <= 3 && promotion <= 3 && fill <= 1 && (fill == 0 || FLOATS.contains(&element)))?;
    want((if interleave == 0 { 1 } else { 3 }..=5).contains(&rank) && address != 0 && address.is_multiple_of(divisor))?;
    let mut made = Descriptor {
        mark: MARK,
        address,
        kind: u64::from(element) | u64::from(rank) << 32,
        lengths: [0; 5],
        strides: [0; 4],
        extent: 0,
        steps: 0,
        modes: u64::from(interleave | swizzle << 8 | promotion << 16 | fill << 24),
        end: MARK,
    };
    for axis in 0..rank as usize {
        let (length, side, step) = (lengths.at(axis)?, extent.at(axis)?, steps.at(axis)?);
        want((1..=1 << 32).contains(&length) && (1..=256).contains(&side) && (1..=8).contains(&step))?;
        made.lengths[axis] = length;
        made.extent |= u64::from(side) << (12 * axis);
        made.steps |= u64::from(step) << (8 * axis);
        if axis + 1 < rank as usize {
            let stride = strides.at(axis)?;
            want(stride.is_multiple_of(divisor) && stride < 1 << 40)?;
            made.strides[axis] = stride;
        }
    }
    let row = u64::from(extent.get()?) * item;
    want(interleave != 0 || (row.is_multiple_of(16) && row <= WIDEST[swizzle as usize]))?;
    want(interleave != 2 || swizzle == 1)?;
    Ok(made)
}

export! {
    fn cuTensorMapEncodeTiled(
        on,
        map: Out<Descriptor>,
        element: u32,
        rank: u32,
        address: u64,
        lengths: In<u64>,
        strides: In<u64>,
        extent: In<u32>,
        steps: In<u32>,
        interleave: u32,
        swizzle: u32,
        promotion: u32,
        fill: u32,
    ) {
        map.check()?;
        let _ = on;
        want(map.is_aligned(64))?;
        let modes = Modes { element, interleave, swizzle, promotion, fill };
        map.put(encoded(rank, address, (lengths, strides), (extent, steps), &modes)?)
    }
}
