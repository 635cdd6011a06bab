//! Defines limits of pending operations and fused kernels.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Upper limits of the number and size of pending operations, and of fused kernels.
pub struct FusionLimits {
    /// Maximum number of pending operations of a queue.
    pub nodes: AtomicUsize,
    /// Maximum total size in bytes of the results of a queue's pending operations.
    pub results: AtomicUsize,
    /// Maximum total size in bytes of the operands that only pending operations keep alive. Before the comparison, the
    /// size of results that are still referenced but have no memory yet is subtracted from the size of these operands.
    pub held: AtomicUsize,
    /// Maximum number of arrays of a kernel, including results.
    pub arrays: AtomicUsize,
    /// Maximum number of results of a kernel.
    pub outputs: AtomicUsize,
    /// Compile threshold: the number of uses at which a combination of several operations is compiled to one kernel. 0
    /// selects the value of the environment variable `PYGPU_FUSION_COMPILE`.
    pub compile_threshold: AtomicU64,
    /// Microseconds between two checks of the pending queues by the helper thread, which bounds the age of operations.
    /// 0 means that the age is not bounded.
    pub(super) interval: AtomicU64,
    /// Minimum size in bytes of a queue's operands and results for which the sleeping helper thread is woken.
    worth_waking: AtomicUsize,
}

const NODES: usize = 32;
const RESULTS: usize = 8 << 30;
const HELD: usize = 256 << 20;
const ARRAYS: usize = 12;
const OUTPUTS: usize = 8;
const INTERVAL: u64 = 100;
/// Default of `worth_waking` in bytes. The system call that wakes the thread takes up to 13 us on a virtual machine; a
/// device reads 4 MiB in 1 us.
const WORTH_WAKING: usize = 4 << 20;

static LIMITS: FusionLimits = FusionLimits {
    nodes: AtomicUsize::new(NODES),
    results: AtomicUsize::new(RESULTS),
    held: AtomicUsize::new(HELD),
    arrays: AtomicUsize::new(ARRAYS),
    outputs: AtomicUsize::new(OUTPUTS),
    compile_threshold: AtomicU64::new(0),
    interval: AtomicU64::new(INTERVAL),
    worth_waking: AtomicUsize::new(WORTH_WAKING),
};

impl FusionLimits {
    /// Sets the interval between two checks of the helper thread; operations of any size are then worth a wake-up.
    /// `None` restores the defaults.
    pub(super) fn set_age(&self, microseconds: Option<u64>) {
        self.interval.store(microseconds.unwrap_or(INTERVAL), Ordering::Relaxed);
        self.worth_waking.store(if microseconds.is_some() { 0 } else { WORTH_WAKING }, Ordering::Relaxed);
    }

    /// Whether a queue with this many bytes of operands and results is worth the system call that wakes the helper
    /// thread.
    #[inline]
    pub(super) fn is_worth_waking(&self, bytes: usize) -> bool {
        bytes >= self.worth_waking.load(Ordering::Relaxed) && self.interval.load(Ordering::Relaxed) > 0
    }
}

/// Returns the limits that are in effect. Tests set smaller limits.
pub fn limit() -> &'static FusionLimits {
    &LIMITS
}

/// Restores the default limits.
pub fn reset_limits() {
    LIMITS.nodes.store(NODES, Ordering::Relaxed);
    LIMITS.results.store(RESULTS, Ordering::Relaxed);
    LIMITS.held.store(HELD, Ordering::Relaxed);
    LIMITS.arrays.store(ARRAYS, Ordering::Relaxed);
    LIMITS.outputs.store(OUTPUTS, Ordering::Relaxed);
    LIMITS.compile_threshold.store(0, Ordering::Relaxed);
}
