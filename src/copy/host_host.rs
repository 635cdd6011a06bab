//! Copies arrays within host memory. These functions copy CPU arrays, and pack data that a copy engine would otherwise
//! transfer item by item.

use super::CopyOperand;
use pygpu_backend::Address;
use pygpu_base::error::Result;
use pygpu_layout::{ContiguousRuns, Layout, Line, Odometer, SharedAxis, for_each_line_of};

/// Copies every element of the source to the target, in contiguous runs that are as long as both layouts permit.
///
/// # Safety
/// The source must be readable and the target writable wherever their layouts reach, and they must not overlap.
pub(super) unsafe fn copy(target: CopyOperand<'_>, source: CopyOperand<'_>) -> Result<()> {
    let pieces = ContiguousRuns::of(target.layout, source.layout)?;
    let offsets = [pieces.dst, pieces.src];
    match crossing(&pieces) {
        Some(rows) => {
            let mut axes = pieces.axes.clone();
            let (row, column) = (axes.remove(rows), axes.pop());
            for [dst, src] in Odometer::new(&axes, offsets) {
                let tiles = TiledPlane { row, column: column.unwrap_or(row), width: pieces.width };
                // SAFETY: the tiles are inside both layouts, for which the caller guarantees valid memory.
                unsafe { tiles.copy(target.base, source.base, [dst, src]) };
            }
        }
        None => for_each_line_of(&pieces, |line| {
            // SAFETY: the runs are inside both layouts, for which the caller guarantees valid memory.
            unsafe { copy_line(target.base, source.base, &line) };
        }),
    }
    Ok(())
}

/// Maximum size in bytes of items that are copied in tiles if source and target have different innermost axes.
const SMALL: i64 = 16;
/// Size of a cache line in bytes.
const CACHE_LINE: u64 = 64;
/// Number of the source's cache lines that stay in the L1 cache from one row of the target to the next.
const NEAR_LINES: i64 = 256;
/// Number of items of a tile along each axis. The cache lines that such a tile has in source and target fit into the L1
/// cache.
const TILE: i64 = 32;

/// Returns the index of the axis that is contiguous in the source but not in the target, as in a transposed copy. An
/// iteration along this axis, or along the axis that is contiguous in the target, would load a cache line for each
/// item.
fn crossing(pieces: &ContiguousRuns) -> Option<usize> {
    let (column, outer) = pieces.axes.split_last()?;
    let (place, row) = outer.iter().enumerate().min_by_key(|(_, axis)| axis.strides[1].unsigned_abs())?;
    let crosses = row.strides[1] != 0
        && row.strides[1].unsigned_abs() < column.strides[1].unsigned_abs()
        && column.strides[1].unsigned_abs() >= CACHE_LINE
        && column.len > NEAR_LINES
        && row.len.min(column.len) > 1
        && pieces.width <= SMALL;
    crosses.then_some(place)
}

/// A plane of items that is copied in square tiles.
struct TiledPlane {
    row: SharedAxis<2>,
    column: SharedAxis<2>,
    width: i64,
}

impl TiledPlane {
    /// Copies the items of one plane, tile by tile.
    ///
    /// # Safety
    /// The conditions of `copy` apply to the items of the plane.
    unsafe fn copy(&self, target: Address, source: Address, offsets: [i64; 2]) {
        let [dst_stride, src_stride] = self.column.strides;
        for left in (0..self.column.len).step_by(TILE as usize) {
            let count = TILE.min(self.column.len - left);
            for top in (0..self.row.len).step_by(TILE as usize) {
                for row in top..(top + TILE).min(self.row.len) {
                    let [dst, src] = [0, 1]
                        .map(|side| offsets[side] + row * self.row.strides[side] + left * self.column.strides[side]);
                    let line = Line { dst, src, count, dst_stride, src_stride, width: self.width };
                    // SAFETY: the caller guarantees valid memory for all items of the plane.
                    unsafe { copy_line(target, source, &line) };
                }
            }
        }
    }
}

/// Copies every element like `copy`, even if source and target overlap. In that case the whole source is read before
/// the target is written.
///
/// # Safety
/// The source must be readable and the target writable wherever their layouts reach.
pub(super) unsafe fn copy_overlapping(target: CopyOperand<'_>, source: CopyOperand<'_>) -> Result<()> {
    if !meet(target, source) {
        // SAFETY: the caller guarantees valid memory for both operands, and the check above shows that they do not
        // overlap.
        return unsafe { copy(target, source) };
    }
    let dense = source.layout.dense_like();
    let packed = Packed::new(&dense);
    // SAFETY: the caller guarantees valid memory; this function owns the packed buffer, which is as large as `dense`.
    unsafe {
        copy(packed.side(&dense), source)?;
        copy(target, packed.side(&dense))
    }
}

/// Returns whether the byte ranges of two operands overlap.
fn meet(target: CopyOperand<'_>, source: CopyOperand<'_>) -> bool {
    let (Some((low, high)), Some((source_low, source_high))) = (target.layout.extent(), source.layout.extent()) else {
        return false;
    };
    let base = source.base.wrapping_sub(target.base) as i64;
    low < source_high.wrapping_add(base) && source_low.wrapping_add(base) < high
}

/// Copies the contiguous runs of one row of items.
///
/// # Safety
/// The conditions of `copy` apply to the runs of one row.
unsafe fn copy_line(target: Address, source: Address, line: &Line) {
    let to = target.wrapping_add_signed(line.dst as isize) as *mut u8;
    let from = source.wrapping_add_signed(line.src as isize) as *const u8;
    // SAFETY: the caller guarantees valid memory for all runs of the row.
    unsafe {
        match line.width {
            1 => copy_items::<1>(to, from, line),
            2 => copy_items::<2>(to, from, line),
            4 => copy_items::<4>(to, from, line),
            8 => copy_items::<8>(to, from, line),
            16 => copy_items::<16>(to, from, line),
            width => {
                for index in 0..line.count as isize {
                    let (to, from) =
                        (to.offset(index * line.dst_stride as isize), from.offset(index * line.src_stride as isize));
                    std::ptr::copy_nonoverlapping(from, to, width as usize);
                }
            }
        }
    }
}

/// Copies items of `N` bytes, a size known at compile time, so that an item is one load and one store. The compiler
/// vectorizes loops with constant strides. Items may be unaligned.
///
/// # Safety
/// The conditions of `copy` apply to the items of one row.
unsafe fn copy_items<const N: usize>(to: *mut u8, from: *const u8, line: &Line) {
    let (item, count) = (N as i64, line.count);
    // SAFETY: the caller guarantees valid memory for all items of the row.
    unsafe {
        match (line.dst_stride, line.src_stride) {
            (to_stride, from_stride) if to_stride == item && from_stride == 2 * item => {
                copy_steps::<N>(to, from, count, N as isize, 2 * N as isize);
            }
            (to_stride, from_stride) if to_stride == 2 * item && from_stride == item => {
                copy_steps::<N>(to, from, count, 2 * N as isize, N as isize);
            }
            (to_stride, from_stride) if to_stride == item && from_stride == -item => {
                copy_steps::<N>(to, from, count, N as isize, -(N as isize));
            }
            (to_stride, from_stride) => copy_steps::<N>(to, from, count, to_stride as isize, from_stride as isize),
        }
    }
}

/// Copies `count` items of `N` bytes with constant strides.
///
/// # Safety
/// The conditions of `copy` apply to `count` items with the given strides.
#[inline(always)]
unsafe fn copy_steps<const N: usize>(to: *mut u8, from: *const u8, count: i64, to_stride: isize, from_stride: isize) {
    for index in 0..count as isize {
        // SAFETY: the caller guarantees valid memory for all `count` items; a byte array needs no alignment.
        unsafe {
            let item = from.offset(index * from_stride).cast::<[u8; N]>().read();
            to.offset(index * to_stride).cast::<[u8; N]>().write(item);
        }
    }
}

/// Copies contiguous bytes.
///
/// # Safety
/// The source must be readable and the target writable, and they must not overlap.
pub(super) unsafe fn copy_bytes(target: Address, source: Address, bytes: usize) {
    // SAFETY: the caller guarantees that source and target ranges are valid and do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(source as *const u8, target as *mut u8, bytes) }
}

/// Copies contiguous bytes with non-temporal stores, if the processor has them.
///
/// The function is intended for data that a device reads next. The device's reads would be delayed by modified cache
/// lines in the caches of other cores. On 16 cores, non-temporal stores reduce the time of an upload of 16 MiB to less
/// than half.
///
/// # Safety
/// The conditions of `copy_bytes` apply.
pub(super) unsafe fn copy_around_cache(target: Address, source: Address, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller guarantees that source and target ranges are valid and do not overlap; SSE2 is part of every
    // x86-64 processor.
    unsafe {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        const LINE: usize = 64;
        let head = (target.next_multiple_of(LINE) - target).min(bytes);
        copy_bytes(target, source, head);
        let lines = (bytes - head) / LINE;
        let mut to = (target + head) as *mut __m128i;
        let mut from = (source + head) as *const __m128i;
        for _ in 0..lines {
            let line = [0, 1, 2, 3].map(|part| _mm_loadu_si128(from.add(part)));
            line.into_iter().enumerate().for_each(|(part, value)| _mm_stream_si128(to.add(part), value));
            (to, from) = (to.add(4), from.add(4));
        }
        _mm_sfence(); // makes the stores visible to a copy engine that starts after this function returns
        let done = head + lines * LINE;
        copy_bytes(target + done, source + done, bytes - done);
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller guarantees that source and target ranges are valid and do not overlap.
    unsafe {
        copy_bytes(target, source, bytes)
    }
}

/// A host buffer for the elements of a dense layout.
pub(super) struct Packed {
    bytes: Vec<std::mem::MaybeUninit<u8>>,
}

impl Packed {
    pub(super) fn new(dense: &Layout) -> Self {
        let length = dense.nbytes() as usize;
        let mut bytes = Vec::with_capacity(length);
        // SAFETY: the vector has a capacity of `length` bytes, and `MaybeUninit` bytes may be uninitialized.
        unsafe { bytes.set_len(length) };
        Self { bytes }
    }

    pub(super) fn address(&self) -> Address {
        self.bytes.as_ptr() as Address
    }

    pub(super) fn side<'a>(&'a self, dense: &'a Layout) -> CopyOperand<'a> {
        CopyOperand { base: self.address(), layout: dense }
    }
}
