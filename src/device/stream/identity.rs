//! Which handles mean one stream.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Device;
use pygpu_backend::StreamHandle;

/// What two streams share exactly if work on one is known to be in the order of the other.
///
/// | stream | handle | serial |
/// |---|---|---|
/// | the legacy default one | 0 | 0 |
/// | one of ours | its own | its own, since a driver gives the handle of a destroyed one to the next |
/// | another library's, kept alive | its own | 0: as long as it lives nobody else has the handle |
/// | a bare number | its own | new each time that it is given: nothing says that it means the same stream as before |
/// | the per-thread default one | 2 | the calling thread's: it is another stream in each |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    pub(super) device: Device,
    pub(super) handle: StreamHandle,
    pub(super) serial: u64,
}

/// CUDA's and HIP's names of the legacy and the per-thread default stream.
pub(super) const LEGACY: StreamHandle = StreamHandle(1);
pub(super) const PER_THREAD: StreamHandle = StreamHandle(2);

/// A number that no other stream and no other thread has.
pub(super) fn new_serial() -> u64 {
    static LATEST: AtomicU64 = AtomicU64::new(0);
    LATEST.fetch_add(1, Ordering::Relaxed) + 1
}

pub(super) fn serial_of_thread() -> u64 {
    thread_local! {
        static SERIAL: u64 = new_serial();
    }
    // A thread that is ending is a new one at each question: one wait too many.
    SERIAL.try_with(|serial| *serial).unwrap_or_else(|_| new_serial())
}

/// Whether an address is aligned as an object of a driver is, and lies in memory that the process has mapped.
pub(super) fn is_mapped(address: usize) -> bool {
    const PAGE: usize = 4096;
    if address < PAGE || !address.is_multiple_of(align_of::<usize>()) {
        return false;
    }
    // SAFETY: with MS_ASYNC the call does nothing but say ENOMEM where nothing is mapped.
    unsafe { libc::msync((address & !(PAGE - 1)) as *mut _, PAGE, libc::MS_ASYNC) == 0 }
}
