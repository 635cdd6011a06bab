//! Allocates and frees blocks on the C library's heap.
//!
//! This module has no state. Addresses are integers here and in all layers above; only this module and `copies` convert
//! them to pointers.

use std::alloc::{Layout, LayoutError, alloc, dealloc};

use super::red_zone;
use crate::Address;

/// Returns size and alignment of a block. Large blocks are aligned to a cache line of 64 bytes, the size of the widest
/// vector registers. Small blocks get the default alignment of the C library, 16 bytes. In glibc, a block of a few
/// bytes with a stricter alignment takes longer to allocate than all other steps of creating a small array.
const fn layout(bytes: usize) -> Result<Layout, LayoutError> {
    // If the addition of the red zone overflows, the size saturates. The allocation below then fails, because no memory
    // of that size exists.
    Layout::from_size_align(bytes.saturating_add(red_zone::BYTES), if bytes < 1024 { 16 } else { 64 })
}

/// Allocates `bytes` bytes. Returns `None` if memory is exhausted, also for sizes that exceed any address space.
/// `bytes` must not be 0.
pub fn allocate(bytes: usize) -> Option<Address> {
    let layout = layout(bytes).ok()?;
    // SAFETY: the size is not 0, because it includes the red zone.
    let address = unsafe { alloc(layout) };
    if address.is_null() {
        return None;
    }
    let address = address.expose_provenance();
    // The red zone is written before huge pages are requested, so that this write, the first access to the block's last
    // page, allocates only a small page.
    // SAFETY: the red zone is within the new allocation.
    unsafe { red_zone::write(pointer(address + bytes)) };
    want_huge_pages(address, bytes);
    Some(address)
}

/// Requests huge pages for a large block, as NumPy does: the first access to small pages takes longer than a copy.
fn want_huge_pages(address: Address, bytes: usize) {
    const LARGE: usize = 4 << 20;
    const PAGE: usize = 4096;
    if bytes < LARGE {
        return;
    }
    let first = address.next_multiple_of(PAGE);
    // An error of the request is ignored, because the block is usable without huge pages.
    #[cfg(target_os = "linux")]
    // SAFETY: the range consists of whole pages within a block that this module allocated.
    unsafe {
        libc::madvise(pointer(first).cast(), (address + bytes - first) & !(PAGE - 1), libc::MADV_HUGEPAGE);
    }
}

/// Returns the whole pages within a block to the system; the block's addresses stay reserved.
///
/// # Safety
/// The block came from `allocate` with the same `bytes`, and its contents are not needed any more.
pub unsafe fn give_pages_back(address: Address, bytes: usize, page: usize) {
    let first = address.next_multiple_of(page);
    let whole = (address + bytes).saturating_sub(first) & !(page - 1);
    // SAFETY: the range consists of whole pages within the block, whose contents the caller does not need. The system
    // rejects locked pages, which keep their contents.
    unsafe { libc::madvise(pointer(first).cast(), whole, libc::MADV_DONTNEED) };
}

/// Frees a block.
///
/// # Safety
/// The address came from `allocate` with the same `bytes`, and is no longer in use.
pub unsafe fn free(address: Address, bytes: usize) {
    let Ok(layout) = layout(bytes) else { return };
    // SAFETY: the caller guarantees that the block was allocated with this layout.
    unsafe { dealloc(pointer(address), layout) };
}

/// Returns the minimum number of bytes that were written past the end of a block; 0 for none. Each overrun is
/// reported once.
///
/// # Safety
/// The block is alive, came from `allocate`, and has this size.
#[inline]
pub unsafe fn overrun(address: Address, bytes: usize) -> usize {
    // SAFETY: the caller guarantees that the block is alive and has a red zone after `bytes` bytes.
    unsafe { red_zone::overrun(pointer(address + bytes)) }
}

/// Converts an address that any allocator exposed as an integer to a pointer.
pub fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address)
}
