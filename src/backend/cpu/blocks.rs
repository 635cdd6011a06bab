//! Blocks of host memory: allocation, copies and fills.
//!
//! Owns nothing. Addresses are integers here and everywhere above; they become pointers only inside this file.

use std::alloc::{Layout, LayoutError, alloc, dealloc};

use super::given_out;
use crate::backend::{Address, Extent, Pattern, Pitched};

/// A cache line, and what the widest vector registers want; smaller blocks have what every allocator gives anyway, since
/// to align a few bytes takes glibc longer than all else about a small array.
const fn layout(bytes: usize) -> Result<Layout, LayoutError> {
    Layout::from_size_align(bytes, if bytes < 1024 { 16 } else { 64 })
}

/// Memory of `bytes` bytes; `None` if there is none, also for sizes that no address space holds. `bytes` is not 0.
pub fn allocate(bytes: usize) -> Option<Address> {
    let layout = layout(bytes).ok().filter(|layout| layout.size() != 0)?;
    // SAFETY: the size is not 0.
    let mut address = unsafe { alloc(layout) };
    if address.is_null() {
        given_out::trim();
        // SAFETY: as above.
        address = unsafe { alloc(layout) };
    }
    if address.is_null() {
        return None;
    }
    let address = address.expose_provenance();
    want_huge_pages(address, bytes);
    Some(address)
}

/// Asks the system for huge pages below a large block, as NumPy does: the first touch of small ones takes longer than a copy.
fn want_huge_pages(address: Address, bytes: usize) {
    const LARGE: usize = 4 << 20;
    const PAGE: usize = 4096;
    if bytes < LARGE {
        return;
    }
    let first = address.next_multiple_of(PAGE);
    // Refused where there are none, which is no harm.
    #[cfg(target_os = "linux")]
    // SAFETY: whole pages within a block that is ours.
    unsafe {
        libc::madvise(pointer(first).cast(), (address + bytes - first) & !(PAGE - 1), libc::MADV_HUGEPAGE);
    }
}

/// Gives memory back; what was given out by its address, later.
///
/// # Safety
/// The address came from `allocate` with the same `bytes`, and nothing uses it any more.
pub unsafe fn free(address: Address, bytes: usize) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        if !given_out::keep_back(address, bytes) {
            free_at_once(address, bytes);
        }
    }
}

/// Lets the system have the whole pages within a block, whose addresses stay the block's.
///
/// # Safety
/// The block came from `allocate` with the same `bytes`, and its contents mean nothing any more.
pub(super) unsafe fn give_pages_back(address: Address, bytes: usize, page: usize) {
    let first = address.next_multiple_of(page);
    let whole = (address + bytes).saturating_sub(first) & !(page - 1);
    // SAFETY: whole pages within the block. Refused for locked pages, which then stay.
    unsafe { libc::madvise(pointer(first).cast(), whole, libc::MADV_DONTNEED) };
}

/// # Safety
/// As for [`free`].
pub(super) unsafe fn free_at_once(address: Address, bytes: usize) {
    let Ok(layout) = layout(bytes) else { return };
    // SAFETY: the caller promises that the block was allocated with this very layout.
    unsafe { dealloc(pointer(address), layout) };
}

/// Copies bytes; the ranges may overlap.
///
/// # Safety
/// Both ranges are valid.
pub unsafe fn copy(target: Address, source: Address, bytes: usize) {
    if bytes != 0 {
        // SAFETY: the caller promises valid ranges; `copy` allows them to overlap.
        unsafe { std::ptr::copy(pointer(source), pointer(target), bytes) };
    }
}

/// Copies a box, row by row in the order of addresses.
///
/// # Safety
/// Both boxes are valid.
pub unsafe fn copy_pitched(target: Pitched, source: Pitched, extent: Extent) {
    let Extent { width, height, depth } = extent;
    // SAFETY of every call below: the rows lie within the boxes that the caller promises; products cannot overflow where
    // the last row has an address, and they are not formed where there is no row.
    if width == target.row_pitch && width == source.row_pitch {
        for plane in 0..depth {
            // SAFETY: see above; whole planes are one range.
            unsafe { copy(offset(target, plane, 0), offset(source, plane, 0), width * height) };
        }
        return;
    }
    for plane in 0..depth {
        for row in 0..height {
            // SAFETY: see above.
            unsafe { copy(offset(target, plane, row), offset(source, plane, row), width) };
        }
    }
}

fn offset(side: Pitched, plane: usize, row: usize) -> Address {
    // Wrapping: a pitch that is never stepped over may be any number.
    side.address.wrapping_add(plane.wrapping_mul(side.plane_pitch)).wrapping_add(row.wrapping_mul(side.row_pitch))
}

/// Repeats a pattern `count` times in each of `height` rows.
///
/// # Safety
/// The rows are valid; address and pitch are multiples of the pattern's size.
pub unsafe fn fill(target: Address, pitch: usize, pattern: Pattern, count: usize, height: usize) {
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
        // SAFETY: the row is valid and aligned, as the caller promises.
        unsafe { fill_row(address, pattern, count) };
    }
}

/// # Safety
/// The row is valid and aligned for the pattern.
unsafe fn fill_row(address: Address, pattern: Pattern, count: usize) {
    // The C library's memset is the quickest there is; it serves every pattern whose bytes are equal, above all zero.
    let byte = match pattern {
        Pattern::U8(value) => Some(value),
        Pattern::U16(value) => same_bytes(&value.to_ne_bytes()),
        Pattern::U32(value) => same_bytes(&value.to_ne_bytes()),
    };
    // SAFETY: the caller promises a valid and aligned row of `count` patterns; writing needs no initialised memory.
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

/// # Safety
/// `first` is aligned and `count` values may be written there.
unsafe fn write_all<T: Copy>(first: *mut T, value: T, count: usize) {
    for position in 0..count {
        // SAFETY: within the range that the caller promises.
        unsafe { first.add(position).write(value) };
    }
}

/// The pointer of an address that some allocation, ours or a stranger's, gave out as a number.
fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address)
}
