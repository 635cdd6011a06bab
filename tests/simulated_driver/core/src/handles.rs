//! The numbers that stand for streams, events, pools and contexts.
//!
//! A driver's handles are addresses of its own objects, and programs may ask whether something is mapped there, so these
//! lie in memory of our own too. Nobody may read it: a handle that is dereferenced crashes. No handle is given out twice.

use crate::arena::pointer;

/// Enough for millions of handles; address space only.
const SPACE: u64 = 1 << 30;
const STEP: u64 = 0x40;

pub(crate) struct Handles {
    start: u64,
    next: u64,
}

impl Handles {
    pub(crate) fn new() -> std::io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, wherever the system likes.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), SPACE as usize, libc::PROT_NONE, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let start = address.expose_provenance() as u64;
        Ok(Self { start, next: start })
    }

    pub(crate) fn take(&mut self) -> u64 {
        self.next += STEP;
        self.next
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: the mapping is our own and was never used as memory.
        unsafe { libc::munmap(pointer(self.start).cast(), SPACE as usize) };
    }
}
