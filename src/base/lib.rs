//! Contains the foundations that all layers of PyGPU use.
//!
//! - [`error`]: the error type; [`dtype`]: element types;
//! - [`settings`]: environment variables, read once;
//! - [`fork_safe`]: process-wide locks that survive `fork`; [`locks_and_atomics`]: locks that a model checker replaces;
//! - [`ffi_guard`]: stops panics at `extern "C"` boundaries;
//! - [`flush_points`]: the hooks by which lower layers flush deferred operations;
//! - [`log_queue`]: messages for Python's `logging`;
//! - [`iterative_drop`]: drops long owner chains without recursion; [`small_sort`]: sorts short lists.

pub mod dtype;
pub mod error;
pub mod ffi_guard;
pub mod flush_points;
pub mod fork_safe;
pub mod iterative_drop;
pub mod locks_and_atomics;
pub mod log_queue;
mod pending_marks;
pub mod settings;
pub mod small_sort;
