//! Declares the lock and atomic types of the code that the model checker in `tests/hazard_model` verifies. The model
//! checker replaces these types by its own.

pub use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Atomic integers, which the model checker replaces.
pub mod atomic {
    pub use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
}
