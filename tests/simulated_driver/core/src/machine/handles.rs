//! The numbers that stand for streams, events, pools and contexts.
//!
//! A driver's handles are addresses of its own objects, and programs may ask whether something is mapped there, so these
//! lie in memory of our own too. Nobody may read it: a handle that is dereferenced crashes. As with a driver's objects, the
//! place of a stream or an event that ended is that of the next one: who knows such an object by its number only is wrong.

use crate::arena::pointer;

/// Enough for millions of handles; address space only.
const SPACE: u64 = 1 << 30;
const STEP: u64 = 0x40;

/// What is made and destroyed often, so that a driver uses the memory of the last one again.
#[derive(Clone, Copy)]
pub(crate) enum Reused {
    Stream,
    Event,
}

pub(crate) struct Handles {
    start: u64,
    next: u64,
    /// Numbers of what was destroyed, by what it was; the last one is given out first.
    free: [Vec<u64>; 2],
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
        Ok(Self { start, next: start, free: [const { Vec::new() }; 2] })
    }

    pub(crate) fn take(&mut self) -> u64 {
        self.next += STEP;
        self.next
    }

    /// A number that may have been that of another thing of the kind, which is destroyed.
    pub(crate) fn take_again(&mut self, kind: Reused) -> u64 {
        self.free[kind as usize].pop().unwrap_or_else(|| self.take())
    }

    pub(crate) fn give(&mut self, kind: Reused, handle: u64) {
        self.free[kind as usize].push(handle);
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: the mapping is our own and was never used as memory.
        unsafe { libc::munmap(pointer(self.start).cast(), SPACE as usize) };
    }
}
