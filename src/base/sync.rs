//! The locks of the bookkeeping that a model checker goes through: it puts its own in their place (`tests/order_model`).

pub use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Atomic numbers.
pub mod atomic {
    pub use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
}
