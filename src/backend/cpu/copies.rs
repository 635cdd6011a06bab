//! Implements copies and fills for the CPU backend. A copy or fill is complete when its call returns, unless the stream
//! is capturing.

use super::driver::{Cpu, check_device};
use super::heap::pointer;
use crate::{Address, Copies, Direction, Extent, Pattern, Pitched, StreamHandle};
use pygpu_base::error::Result;

impl Copies for Cpu {
    unsafe fn copy(
        &self,
        _: i32,
        _: Direction,
        target: Address,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        self.run("copy", stream, move || {
            // SAFETY: the caller promises that source and target ranges are valid.
            unsafe { move_bytes(target, source, bytes) };
            Ok(())
        })
    }

    unsafe fn copy_pitched(
        &self,
        _: i32,
        _: Direction,
        target: Pitched,
        source: Pitched,
        extent: Extent,
        stream: StreamHandle,
    ) -> Result<()> {
        self.run("copy_pitched", stream, move || {
            // SAFETY: the caller promises that the boxes of source and target are valid.
            unsafe { move_box(target, source, extent) };
            Ok(())
        })
    }

    unsafe fn copy_peer(
        &self,
        target_device: i32,
        target: Address,
        source_device: i32,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        check_device("copy_peer", target_device)?;
        check_device("copy_peer", source_device)?;
        self.run("copy_peer", stream, move || {
            // SAFETY: the caller promises that source and target ranges are valid.
            unsafe { move_bytes(target, source, bytes) };
            Ok(())
        })
    }

    unsafe fn fill(
        &self,
        _: i32,
        target: Address,
        pitch: usize,
        pattern: Pattern,
        count: usize,
        height: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        self.run("fill", stream, move || {
            // SAFETY: the caller promises that the rows are valid and that address and pitch are aligned for the
            // pattern.
            unsafe { repeat(target, pitch, pattern, count, height) };
            Ok(())
        })
    }
}

/// Copies bytes; the ranges may overlap.
///
/// # Safety
/// Both ranges are valid.
unsafe fn move_bytes(target: Address, source: Address, bytes: usize) {
    if bytes != 0 {
        // SAFETY: the caller promises valid ranges; `copy` allows them to overlap.
        unsafe { std::ptr::copy(pointer(source), pointer(target), bytes) };
    }
}

/// Copies a 3-D region, row by row in the order of addresses.
///
/// # Safety
/// Both boxes are valid.
unsafe fn move_box(target: Pitched, source: Pitched, extent: Extent) {
    let Extent { width, height, depth } = extent;
    // SAFETY of every call below: the rows lie within the boxes, which the caller guarantees to be valid. The products
    // of counts and pitches cannot overflow, because the last row has a valid address. If the box has no rows, the
    // products are not computed.
    if width == target.row_pitch && width == source.row_pitch {
        for plane in 0..depth {
            // SAFETY: the caller guarantees that both boxes are valid. Here each box consists of complete planes, so it
            // is one contiguous range.
            unsafe { move_bytes(offset(target, plane, 0), offset(source, plane, 0), width * height) };
        }
        return;
    }
    for plane in 0..depth {
        for row in 0..height {
            // SAFETY: the row lies within the boxes, which the caller guarantees to be valid.
            unsafe { move_bytes(offset(target, plane, row), offset(source, plane, row), width) };
        }
    }
}

fn offset(side: Pitched, plane: usize, row: usize) -> Address {
    // The additions of pitches wrap around instead of failing, because a pitch may have any value if there is only one
    // row or plane.
    side.address.wrapping_add(plane.wrapping_mul(side.plane_pitch)).wrapping_add(row.wrapping_mul(side.row_pitch))
}

/// Repeats a pattern `count` times in each of `height` rows.
///
/// # Safety
/// The rows are valid; address and pitch are multiples of the pattern's size.
unsafe fn repeat(target: Address, pitch: usize, pattern: Pattern, count: usize, height: usize) {
    if count == 0 || height == 0 {
        return;
    }
    let size = match pattern {
        Pattern::U8(_) => 1,
        Pattern::U16(_) => 2,
        Pattern::U32(_) => 4,
    };
    let (count, height) = if pitch == count * size { (count * height, 1) } else { (count, height) };
    for row in 0..height {
        let address = target.wrapping_add(row.wrapping_mul(pitch));
        // SAFETY: the caller guarantees that the row is valid and aligned for the pattern.
        unsafe { fill_row(address, pattern, count) };
    }
}

/// Fills one row.
///
/// # Safety
/// The row is valid and aligned for the pattern.
unsafe fn fill_row(address: Address, pattern: Pattern, count: usize) {
    // The C library's memset is the fastest method. It can be used for a pattern whose bytes are all equal, most often
    // zero.
    let byte = match pattern {
        Pattern::U8(value) => Some(value),
        Pattern::U16(value) => same_bytes(&value.to_ne_bytes()),
        Pattern::U32(value) => same_bytes(&value.to_ne_bytes()),
    };
    // SAFETY: the caller guarantees a valid and aligned row of `count` patterns; writing does not require initialised
    // memory.
    unsafe {
        match (pattern, byte) {
            (Pattern::U8(_), Some(byte)) => pointer(address).write_bytes(byte, count),
            (Pattern::U16(_), Some(byte)) => pointer(address).write_bytes(byte, count * 2),
            (Pattern::U32(_), Some(byte)) => pointer(address).write_bytes(byte, count * 4),
            (Pattern::U8(value), None) => write_all(pointer(address), value, count),
            (Pattern::U16(value), None) => write_all(pointer(address).cast::<u16>(), value, count),
            (Pattern::U32(value), None) => write_all(pointer(address).cast::<u32>(), value, count),
        }
    }
}

fn same_bytes(bytes: &[u8]) -> Option<u8> {
    let first = *bytes.first()?;
    bytes.iter().all(|byte| *byte == first).then_some(first)
}

/// Writes `value` to `count` elements.
///
/// # Safety
/// `first` is aligned, and `count` values may be written there.
unsafe fn write_all<T: Copy>(first: *mut T, value: T, count: usize) {
    for position in 0..count {
        // SAFETY: the position is below `count`, so the write is within the range, which the caller guarantees to be
        // writable.
        unsafe { first.add(position).write(value) };
    }
}
