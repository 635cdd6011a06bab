//! Reductions over any axes of arrays of any layout: one table of them, and one kernel that goes along the axes.

pub mod plan;
pub mod reduce;
mod source;
pub mod table;

pub use plan::{Plan, plan};
pub use reduce::{Call, run};
pub use table::{Row, TABLE, row};
