//! Reductions along any axes of arrays of any layout, reductions of segments, and scans along one axis. All three share
//! a table of functions; each has its own kernels.

mod input;
pub mod launch;
pub mod plan;
pub mod reduceat;
pub mod reduction_table;
pub mod scan;
mod source;

pub use input::{ComputedElements, Elements, InputExpression};
pub use launch::{AxisReduction, run};
pub use plan::{ReductionPlan, plan};
pub use reduction_table::{ReductionEntry, TABLE, row};
