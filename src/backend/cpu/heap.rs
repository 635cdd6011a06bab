//! Blocks of the C library's heap.
//!
//! Owns nothing. Addresses are integers here and everywhere above; they become pointers only here and in `copies`.

use std::alloc::{Layout, LayoutError, alloc, dealloc};

use super::red_zone;
use crate::Address;

/// A cache line, and what the widest vector registers want; smaller blocks have what every allocator gives anyway, since
/// to align a few bytes takes glibc longer than all else about a small array.
const fn layout(bytes: usize) -> Result<Layout, LayoutError> {
    // What does not fit into a number fits into no memory either.
    Layout::from_size_align(bytes.saturating_add(red_zone::BYTES), if bytes < 1024 { 16 } else { 64 })
}

/// Memory of `bytes` bytes; `None` if there is none, also for sizes that no address space holds. `bytes` is not 0.
pub fn allocate(bytes: usize) -> Option<Address> {
    let layout = layout(bytes).ok()?;
    // SAFETY: the size is not 0, with what lies behind the block.
    let address = unsafe { alloc(layout) };
    if address.is_null() {
        return None;
    }
    let address = address.expose_provenance();
    // Before huge pages are wanted: this touch of the last page is to cost a small one.
    // SAFETY: within what was just had.
    unsafe { red_zone::write(pointer(address + bytes)) };
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

/// Lets the system have the whole pages within a block, whose addresses stay the block's.
///
/// # Safety
/// The block came from `allocate` with the same `bytes`, and its contents mean nothing any more.
pub unsafe fn give_pages_back(address: Address, bytes: usize, page: usize) {
    let first = address.next_multiple_of(page);
    let whole = (address + bytes).saturating_sub(first) & !(page - 1);
    // SAFETY: whole pages within the block. Refused for locked pages, which then stay.
    unsafe { libc::madvise(pointer(first).cast(), whole, libc::MADV_DONTNEED) };
}

/// Gives a block back.
///
/// # Safety
/// The address came from `allocate` with the same `bytes`, and nothing uses it any more.
pub unsafe fn free(address: Address, bytes: usize) {
    let Ok(layout) = layout(bytes) else { return };
    // SAFETY: the caller promises that the block was allocated with this very layout.
    unsafe { dealloc(pointer(address), layout) };
}

/// How many bytes behind a block are known to have been written, at least; 0 for none. It is told once.
///
/// # Safety
/// The block is alive, came from `allocate`, and has so many bytes.
#[inline]
pub unsafe fn overrun(address: Address, bytes: usize) -> usize {
    // SAFETY: promised by the caller.
    unsafe { red_zone::overrun(pointer(address + bytes)) }
}

/// The pointer of an address that some allocation, ours or a stranger's, gave out as a number.
pub fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address)
}
