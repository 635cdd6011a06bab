//! Creates the handles of streams, events, pools and contexts.
//!
//! A real driver's handles are addresses of its own objects, and programs may check whether memory is mapped at these
//! addresses. Therefore the handles of this driver are addresses of mapped memory without access rights, so that a
//! dereference of a handle crashes. As in a real driver, a new stream or event gets the handle of a destroyed stream or
//! event. This reuse exposes code that identifies a stream or event only by its handle.

use crate::arena::pointer;

/// Size of the reserved range of addresses in bytes. It suffices for millions of handles and needs no memory.
const SPACE: u64 = 1 << 30;
const STEP: u64 = 0x40;

/// Kinds of objects for which a driver reuses the handles of destroyed objects.
#[derive(Clone, Copy)]
pub(crate) enum Reused {
    Stream,
    Event,
}

pub(crate) struct Handles {
    start: u64,
    next: u64,
    /// Handles of destroyed objects, by the kind of object. The handle of the object destroyed last is reused first.
    free: [Vec<u64>; 2],
}

impl Handles {
    pub(crate) fn new() -> std::io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: this call creates a new mapping at an address chosen by the system.
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

    /// Returns a handle for a new object of a kind: the handle of a destroyed object of this kind if there is one.
    pub(crate) fn take_again(&mut self, kind: Reused) -> u64 {
        self.free[kind as usize].pop().unwrap_or_else(|| self.take())
    }

    pub(crate) fn give(&mut self, kind: Reused, handle: u64) {
        self.free[kind as usize].push(handle);
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: this object owns the mapping, and no code accesses the mapping as memory.
        unsafe { libc::munmap(pointer(self.start).cast(), SPACE as usize) };
    }
}
