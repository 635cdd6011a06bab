//! How much may wait.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How much may wait, and how much one kernel may be.
pub struct Limits {
    /// Operations that wait.
    pub nodes: AtomicUsize,
    /// Bytes of their results.
    pub results: AtomicUsize,
    /// Bytes of operands that only they hold, beyond the bytes of results that are held and have no memory yet.
    pub held: AtomicUsize,
    /// Arrays of one kernel, results among them.
    pub arrays: AtomicUsize,
    /// Results of one kernel.
    pub outputs: AtomicUsize,
    /// How often a structure of several operations is met before it is compiled; 0 for what the environment says.
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

/// The limits, which tests lower.
pub fn limit() -> &'static Limits {
    &LIMITS
}

/// The limits as they are when the process begins.
pub fn reset_limits() {
    LIMITS.nodes.store(NODES, Ordering::Relaxed);
    LIMITS.results.store(RESULTS, Ordering::Relaxed);
    LIMITS.held.store(HELD, Ordering::Relaxed);
    LIMITS.arrays.store(ARRAYS, Ordering::Relaxed);
    LIMITS.outputs.store(OUTPUTS, Ordering::Relaxed);
    LIMITS.meetings.store(0, Ordering::Relaxed);
}
