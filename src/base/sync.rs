//! Locks and atomics of the bookkeeping, replaced by the model checker's in `tests/hazard_model`.

pub use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Atomic integers.
pub mod atomic {
    pub use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
}
