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
    /// Microseconds between two looks of the thread that bounds the age of operations; 0 without a bound.
    pub(super) interval: AtomicU64,
    /// Bytes of operands and results of a queue for which that thread is woken where it sleeps.
    worth_waking: AtomicUsize,
}

const NODES: usize = 32;
const RESULTS: usize = 8 << 30;
const HELD: usize = 256 << 20;
const ARRAYS: usize = 12;
const OUTPUTS: usize = 8;
const INTERVAL: u64 = 100;
/// Why so many: the system call takes the host up to 13 us on a virtual machine, and 4 MiB take a device 1 us.
const WORTH_WAKING: usize = 4 << 20;

static LIMITS: Limits = Limits {
    nodes: AtomicUsize::new(NODES),
    results: AtomicUsize::new(RESULTS),
    held: AtomicUsize::new(HELD),
    arrays: AtomicUsize::new(ARRAYS),
    outputs: AtomicUsize::new(OUTPUTS),
    meetings: AtomicU64::new(0),
    interval: AtomicU64::new(INTERVAL),
    worth_waking: AtomicUsize::new(WORTH_WAKING),
};

impl Limits {
    /// Sets the time between two looks, and that any amount of work is worth a wake-up. The usual bounds without a value.
    pub(super) fn set_age(&self, microseconds: Option<u64>) {
        self.interval.store(microseconds.unwrap_or(INTERVAL), Ordering::Relaxed);
        self.worth_waking.store(if microseconds.is_some() { 0 } else { WORTH_WAKING }, Ordering::Relaxed);
    }

    /// Whether a queue with so many bytes of operands and results is worth the system call that wakes the thread.
    #[inline]
    pub(super) fn is_worth_waking(&self, bytes: usize) -> bool {
        bytes >= self.worth_waking.load(Ordering::Relaxed) && self.interval.load(Ordering::Relaxed) > 0
    }
}

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
