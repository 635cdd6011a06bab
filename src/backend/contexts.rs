//! What a driver keeps with a device's context: limits, the preference of its caches, access between devices, the profiler.

use crate::error::Result;

/// What a context limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextLimit {
    /// Bytes of a thread's stack.
    Stack,
    /// Bytes of the buffer of `printf`.
    PrintfBuffer,
    /// Bytes from which `malloc` of device code takes.
    MallocHeap,
    /// Depth to which kernels wait for kernels that they launched.
    SynchronizationDepth,
    /// Launches of kernels that wait.
    PendingLaunches,
}

impl ContextLimit {
    /// The limit under CUDA's number.
    pub const fn of_number(number: i32) -> Option<Self> {
        Some(match number {
            0 => Self::Stack,
            1 => Self::PrintfBuffer,
            2 => Self::MallocHeap,
            3 => Self::SynchronizationDepth,
            4 => Self::PendingLaunches,
            _ => return None,
        })
    }
}

/// What a driver does for the context of a device.
///
/// # Safety of the callers
/// As for [`Backend`](super::Backend).
pub trait Contexts: Send + Sync {
    /// The handle of the primary context.
    fn handle(&self, device: i32) -> Result<usize>;
    /// The version of the driver's interface that the context has.
    fn version(&self, device: i32) -> Result<u32>;
    /// A limit.
    fn limit(&self, device: i32, limit: ContextLimit) -> Result<usize>;
    /// Sets a limit.
    fn set_limit(&self, device: i32, limit: ContextLimit, value: usize) -> Result<()>;
    /// What the first-level cache is rather used for: 0 nothing, 1 shared memory, 2 cache, 3 equal.
    fn cache_preference(&self, device: i32) -> Result<i32>;
    /// Sets what `cache_preference` tells.
    fn set_cache_preference(&self, device: i32, preference: i32) -> Result<()>;
    /// Ends what `Backend::enable_peer_access` began.
    fn disable_peer_access(&self, device: i32, peer: i32) -> Result<()>;
    /// Lets a profiler that waits for it begin, or end.
    fn profile(&self, device: i32, on: bool) -> Result<()>;
}
