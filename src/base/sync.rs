//! Declares the locks and atomics of the code that the model checker in `tests/hazard_model` verifies. The model
//! checker replaces them by its own types.

pub use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Atomic integers, which the model checker replaces.
pub mod atomic {
    pub use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
}
