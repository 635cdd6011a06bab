//! Defers operations and fuses them into kernels.
//!
//! An elementwise operation on private memory is recorded as a [`node::DeferredNode`]. The operation stays pending
//! until an access could observe whether it was computed. Then all operations of its queue (see [`queue`]) are launched
//! in order, [`group`]ed into as few kernels as possible. Results that are still referenced get memory; other results
//! stay in registers.
//!
//! `docs/design/fusion.md` contains the rules and the reasons why they are safe.

mod batch;
mod deferral_mode;
mod group;
mod helper_thread;
mod kernel_cache;
mod kernel_spec;
mod launch;
mod limits;
mod node;
mod operands;
mod queue;
mod report;
mod source;

pub use batch::flush;
pub use deferral_mode::{FusionMode, current, enter};
pub use helper_thread::{set_interval, start as start_helper};
pub use limits::{limit, reset_limits};
pub use node::{DeferredNode, DeferredOp, DeferredReduction};
pub use operands::{Operands, Scalar};
pub use queue::{
    Obstacle, Visibility, discard_result_without_error, figures, holds_too_much, install_hooks, pending_count, push,
};
pub use report::{EagerReason, FusionCounts, record_eager, watch};
