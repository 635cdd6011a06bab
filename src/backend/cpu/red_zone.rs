//! What lies behind each block of the heap: bytes of a known pattern, which a kernel that writes beyond an array changes.
//!
//! To write them costs an allocation some instructions, and to look at them a launch some nanoseconds an array; so they are always
//! there. Where the sanitizer of addresses is, it is told of them, and stops at the line that touches them.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes behind a block. What goes beyond an end nearly always begins right there.
pub(super) const BYTES: usize = 32;
/// No number that programs write: neither small, nor a pattern of one byte, nor a value of floats that anything computes.
const PATTERN: u64 = 0xf3a5_9c6e_d1b7_e82d;

/// The sanitizer's function, `NOBODY` where there is none, 0 before anybody asked.
static SANITIZER: AtomicUsize = AtomicUsize::new(0);
const NOBODY: usize = 1;

type OfRegion = unsafe extern "C" fn(*const u8, usize);

/// Writes the pattern behind a block, whose end this is.
///
/// # Safety
/// `BYTES` bytes are there, and nobody else's.
#[inline]
pub(super) unsafe fn write(end: *mut u8) {
    // SAFETY: promised by the caller.
    unsafe { end.cast::<[u64; BYTES / 8]>().write_unaligned([PATTERN; BYTES / 8]) };
    if SANITIZER.load(Ordering::Relaxed) != NOBODY {
        tell(end);
    }
}

#[cold]
fn tell(end: *const u8) {
    if SANITIZER.load(Ordering::Relaxed) == 0 {
        // SAFETY: only asks whether the process has the symbol.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_poison_memory_region".as_ptr()) } as usize;
        SANITIZER.store(if found == 0 { NOBODY } else { found }, Ordering::Relaxed);
    }
    let found = SANITIZER.load(Ordering::Relaxed);
    if found != NOBODY {
        // SAFETY: the sanitizer's function, of this type; the bytes are ours, and whoever gives them to the heap again tells it.
        unsafe { std::mem::transmute::<usize, OfRegion>(found)(end, BYTES) };
    }
}

/// How many bytes behind a block are known to have been written, at least; 0 for none. Writes the pattern anew, so that it is told
/// once.
///
/// # Safety
/// It is the end of a block that is alive, and behind which [`write`] wrote.
#[inline]
pub(super) unsafe fn overrun(end: *mut u8) -> usize {
    // SAFETY: promised by the caller. Another thread's kernel may write there at the same time: that is what is looked for.
    let words = unsafe { end.cast::<[u64; BYTES / 8]>().read_unaligned() };
    if words == [PATTERN; BYTES / 8] {
        return 0;
    }
    // SAFETY: as above.
    unsafe { changed(end, words) }
}

/// # Safety
/// As for [`overrun`].
#[cold]
unsafe fn changed(end: *mut u8, words: [u64; BYTES / 8]) -> usize {
    // SAFETY: promised by the caller.
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
    fn what_is_written_behind_a_block_is_told_once() {
        for bytes in [1, 7, 64, 1000, 4097, 5 << 20] {
            let address = block(bytes).unwrap();
            // SAFETY: a block of so many bytes, behind which are BYTES more that nobody uses.
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
