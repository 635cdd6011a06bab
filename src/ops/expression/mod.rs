//! Operations that are put off, so that several are computed by one kernel.
//!
//! A result of an elementwise operation on memory that nobody else reaches is a [`node::Node`] until anything could show whether it was
//! computed: then the [`window`] is closed, and all that waits is launched in order, [`group`]ed into as few kernels as may be. What is
//! still held gets memory, what was dropped stays in registers.
//!
//! `docs/design/deferred_arithmetic.md` has the rules and why they are safe.

mod draft;
mod flight;
mod forms;
mod group;
mod helper;
mod limits;
mod mode;
mod node;
mod operands;
mod report;
mod run;
mod source;
mod window;

pub use flight::flush;
pub use helper::{set_interval, start as start_helper};
pub use limits::{limit, reset_limits};
pub use mode::{Mode, current, enter};
pub use node::{Node, Reduction, Work};
pub use operands::{Operands, Scalar};
pub use report::{Figures, Refused, refused, watch};
pub use window::{Obstacle, Reach, figures, forget_quietly, holds_too_much, keep, push, waiting};
