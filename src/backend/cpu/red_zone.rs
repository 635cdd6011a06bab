//! Manages the red zone after each heap block: bytes of a known pattern, which a kernel changes if it writes past the
//! end of an array.
//!
//! A write of the red zone costs a few instructions per allocation, and a check costs a few nanoseconds per array of a
//! launch. Therefore the red zone is always enabled. With AddressSanitizer the zone is poisoned as well, so that the
//! program stops at the line that accesses the zone.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Size of the red zone in bytes. Overruns nearly always begin directly after the end of a block.
pub(super) const BYTES: usize = 32;
/// The pattern of the red zone, a value that programs are unlikely to write: not small, without repeated bytes, and not
/// a plausible floating-point value.
const PATTERN: u64 = 0xf3a5_9c6e_d1b7_e82d;

/// Address of AddressSanitizer's poison function; `NOBODY` if the process runs without the sanitizer, 0 before the
/// function has been looked up.
static SANITIZER: AtomicUsize = AtomicUsize::new(0);
const NOBODY: usize = 1;

type OfRegion = unsafe extern "C" fn(*const u8, usize);

/// Writes the pattern after a memory block that ends at `end`.
///
/// # Safety
/// `BYTES` bytes after `end` belong to the block's allocation.
#[inline]
pub(super) unsafe fn write(end: *mut u8) {
    // SAFETY: the caller guarantees that `BYTES` bytes after `end` belong to the allocation.
    unsafe { end.cast::<[u64; BYTES / 8]>().write_unaligned([PATTERN; BYTES / 8]) };
    if SANITIZER.load(Ordering::Relaxed) != NOBODY {
        report_overrun(end);
    }
}

#[cold]
fn report_overrun(end: *const u8) {
    if SANITIZER.load(Ordering::Relaxed) == 0 {
        // SAFETY: the call only looks up a symbol in the process.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_poison_memory_region".as_ptr()) } as usize;
        SANITIZER.store(if found == 0 { NOBODY } else { found }, Ordering::Relaxed);
    }
    let found = SANITIZER.load(Ordering::Relaxed);
    if found != NOBODY {
        // SAFETY: the sanitizer's function has this type; the poisoned bytes belong to the block's allocation, and the
        // allocator unpoisons them when they are freed.
        unsafe { std::mem::transmute::<usize, OfRegion>(found)(end, BYTES) };
    }
}

/// Returns the minimum number of bytes that were written after a block, or 0 if none were. Restores the pattern, so
/// that each overrun is reported once.
///
/// # Safety
/// `end` is the end of a live block after which [`write`] wrote the pattern.
#[inline]
pub(super) unsafe fn overrun(end: *mut u8) -> usize {
    // SAFETY: the caller guarantees that the red zone belongs to a live block. Another thread's kernel may write there
    // concurrently; detecting such writes is the purpose of the red zone.
    let words = unsafe { end.cast::<[u64; BYTES / 8]>().read_unaligned() };
    if words == [PATTERN; BYTES / 8] {
        return 0;
    }
    // SAFETY: the caller guarantees that the red zone belongs to a live block.
    unsafe { changed(end, words) }
}

/// Counts the changed bytes and restores the pattern.
///
/// # Safety
/// The conditions of [`overrun`] apply.
#[cold]
unsafe fn changed(end: *mut u8, words: [u64; BYTES / 8]) -> usize {
    // SAFETY: the caller guarantees that the red zone belongs to a live block.
    unsafe { write(end) };
    let is_changed = |byte: &usize| words[byte / 8].to_ne_bytes()[byte % 8] != PATTERN.to_ne_bytes()[byte % 8];
    (0..BYTES).rev().find(is_changed).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::undocumented_unsafe_blocks, missing_docs)]
    use super::super::heap;
    use super::super::memory::{block, give_back};
    use super::*;

    #[test]
    fn write_beyond_block_is_reported_once() {
        for bytes in [1, 7, 64, 1000, 4097, 5 << 20] {
            let address = block(bytes).unwrap();
            // SAFETY: the block has this many bytes, followed by a red zone of `BYTES` unused bytes.
            unsafe {
                heap::pointer(address).write_bytes(3, bytes);
                assert_eq!(heap::overrun(address, bytes), 0);
                for beyond in [0, 3, 8, BYTES - 1] {
                    heap::pointer(address + bytes + beyond).write(3);
                    assert_eq!(heap::overrun(address, bytes), beyond + 1, "{bytes}");
                    assert_eq!(heap::overrun(address, bytes), 0);
                }
                give_back(address, bytes);
            }
        }
    }
}
