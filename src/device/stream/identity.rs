//! Defines the identity of streams, which determines whether two handles denote the same stream.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Device;
use pygpu_backend::StreamHandle;

/// Identity of a stream. Streams with equal identities are the same stream, and thus execute their work in one order.
///
/// | stream | handle | serial |
/// |---|---|---|
/// | legacy default stream | 0 | 0 |
/// | created by PyGPU | its own | unique, because a driver reuses the handle of a destroyed stream |
/// | another library's, kept alive | its own | 0: while the stream exists no other stream has the handle |
/// | bare number | its own | new for each use, because the number may denote a different stream than before |
/// | per-thread default stream | 2 | the calling thread's: the handle denotes another stream in each thread |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamId {
    pub(super) device: Device,
    pub(super) handle: StreamHandle,
    pub(super) serial: u64,
}

/// Handle of the legacy default stream in CUDA and HIP; `PER_THREAD` is the handle of the per-thread default stream.
pub(super) const LEGACY: StreamHandle = StreamHandle(1);
pub(super) const PER_THREAD: StreamHandle = StreamHandle(2);

/// Returns a new serial number, which no other call of this function returns.
pub(super) fn new_serial() -> u64 {
    static LATEST: AtomicU64 = AtomicU64::new(0);
    LATEST.fetch_add(1, Ordering::Relaxed) + 1
}

pub(super) fn serial_of_thread() -> u64 {
    thread_local! {
        static SERIAL: u64 = new_serial();
    }
    // A terminating thread gets a new serial number at each call. Its per-thread default stream then seems to be a new
    // stream, which costs an unnecessary wait.
    SERIAL.try_with(|serial| *serial).unwrap_or_else(|_| new_serial())
}

/// Returns whether an address is aligned like a driver object and in mapped memory of the process.
pub(super) fn is_mapped(address: usize) -> bool {
    const PAGE: usize = 4096;
    if address < PAGE || !address.is_multiple_of(align_of::<usize>()) {
        return false;
    }
    // SAFETY: with MS_ASYNC the call only checks the mapping and returns ENOMEM for unmapped memory.
    unsafe { libc::msync((address & !(PAGE - 1)) as *mut _, PAGE, libc::MS_ASYNC) == 0 }
}
