//! Copies within host memory, for CPU arrays and for packing what a copy engine would fetch item by item.

use super::Side;
use crate::backend::Address;
use crate::error::Result;
use crate::layout::{Layout, Line, for_each_line};

/// Copies element by element what the layouts say, in the largest runs they allow.
///
/// # Safety
/// The source is readable and the target writable wherever their layouts reach, and they do not overlap.
pub(super) unsafe fn copy(target: Side<'_>, source: Side<'_>) -> Result<()> {
    for_each_line(target.layout, source.layout, |line| {
        // SAFETY: promised by the caller: a line stays inside both layouts.
        unsafe { copy_line(target.base, source.base, &line) };
    })
}

/// As `copy`, for sides that may lie on each other: then all is read before anything is written.
///
/// # Safety
/// The source is readable and the target writable wherever their layouts reach.
pub(super) unsafe fn copy_overlapping(target: Side<'_>, source: Side<'_>) -> Result<()> {
    if !meet(target, source) {
        // SAFETY: promised by the caller, and they do not overlap.
        return unsafe { copy(target, source) };
    }
    let dense = source.layout.dense_like();
    let packed = Packed::new(&dense);
    // SAFETY: promised by the caller; the packed buffer is ours and as large as `dense`.
    unsafe {
        copy(packed.side(&dense), source)?;
        copy(target, packed.side(&dense))
    }
}

/// Whether the spans of two sides have a byte in common.
fn meet(target: Side<'_>, source: Side<'_>) -> bool {
    let (Some((low, high)), Some((source_low, source_high))) = (target.layout.extent(), source.layout.extent()) else {
        return false;
    };
    let base = source.base.wrapping_sub(target.base) as i64;
    low < source_high.wrapping_add(base) && source_low.wrapping_add(base) < high
}

/// # Safety
/// As `copy`, for the pieces of one line.
unsafe fn copy_line(target: Address, source: Address, line: &Line) {
    let to = target.wrapping_add_signed(line.dst as isize) as *mut u8;
    let from = source.wrapping_add_signed(line.src as isize) as *const u8;
    let (to_stride, from_stride) = (line.dst_stride as isize, line.src_stride as isize);
    // SAFETY: promised by the caller.
    unsafe {
        match line.width {
            1 => copy_items::<1>(to, from, line.count, to_stride, from_stride),
            2 => copy_items::<2>(to, from, line.count, to_stride, from_stride),
            4 => copy_items::<4>(to, from, line.count, to_stride, from_stride),
            8 => copy_items::<8>(to, from, line.count, to_stride, from_stride),
            16 => copy_items::<16>(to, from, line.count, to_stride, from_stride),
            width => {
                for index in 0..line.count as isize {
                    let (to, from) = (to.offset(index * to_stride), from.offset(index * from_stride));
                    std::ptr::copy_nonoverlapping(from, to, width as usize);
                }
            }
        }
    }
}

/// A loop whose item size the compiler knows, so that an item is one load and one store. Items may be unaligned.
///
/// # Safety
/// As `copy`, for `count` items at the given distances.
unsafe fn copy_items<const N: usize>(to: *mut u8, from: *const u8, count: i64, to_stride: isize, from_stride: isize) {
    for index in 0..count as isize {
        // SAFETY: promised by the caller; an array of bytes has no alignment.
        unsafe {
            let item = from.offset(index * from_stride).cast::<[u8; N]>().read();
            to.offset(index * to_stride).cast::<[u8; N]>().write(item);
        }
    }
}

/// A host buffer as large as a dense layout.
pub(super) struct Packed {
    bytes: Vec<std::mem::MaybeUninit<u8>>,
}

impl Packed {
    pub(super) fn new(dense: &Layout) -> Self {
        let length = dense.nbytes() as usize;
        let mut bytes = Vec::with_capacity(length);
        // SAFETY: uninitialised bytes are what `MaybeUninit` is for, and the capacity is there.
        unsafe { bytes.set_len(length) };
        Self { bytes }
    }

    pub(super) fn address(&self) -> Address {
        self.bytes.as_ptr() as Address
    }

    pub(super) fn side<'a>(&'a self, dense: &'a Layout) -> Side<'a> {
        Side { base: self.address(), layout: dense }
    }
}
