//! Limits of pending operations and fused kernels.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Limits of pending operations and fused kernels.
pub struct Limits {
    /// Maximum number of pending operations.
    pub nodes: AtomicUsize,
    /// Maximum size of their results in bytes.
    pub results: AtomicUsize,
    /// Maximum size in bytes of operands that only pending operations keep alive, beyond the size of referenced results
    /// without memory.
    pub held: AtomicUsize,
    /// Maximum number of arrays of a kernel, including results.
    pub arrays: AtomicUsize,
    /// Maximum number of results of a kernel.
    pub outputs: AtomicUsize,
    /// Number of uses of a structure of several operations from which on it is compiled; 0 for the value of the
    /// environment.
    pub meetings: AtomicU64,
}

const NODES: usize = 32;
const RESULTS: usize = 8 << 30;
const HELD: usize = 256 << 20;
const ARRAYS: usize = 12;
const OUTPUTS: usize = 8;

static LIMITS: Limits = Limits {
    nodes: AtomicUsize::new(NODES),
    results: AtomicUsize::new(RESULTS),
    held: AtomicUsize::new(HELD),
    arrays: AtomicUsize::new(ARRAYS),
    outputs: AtomicUsize::new(OUTPUTS),
    meetings: AtomicU64::new(0),
};

/// The limits, which tests reduce.
pub fn limit() -> &'static Limits {
    &LIMITS
}

/// Restores the default limits.
pub fn reset_limits() {
    LIMITS.nodes.store(NODES, Ordering::Relaxed);
    LIMITS.results.store(RESULTS, Ordering::Relaxed);
    LIMITS.held.store(HELD, Ordering::Relaxed);
    LIMITS.arrays.store(ARRAYS, Ordering::Relaxed);
    LIMITS.outputs.store(OUTPUTS, Ordering::Relaxed);
    LIMITS.meetings.store(0, Ordering::Relaxed);
}
