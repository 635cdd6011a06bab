//! Reductions over any axes of arrays of any layout, and scans along one axis: their common table of functions, and the
//! kernels.

mod input;
pub mod launch;
pub mod plan;
pub mod scan;
mod source;
pub mod table;

pub use input::{Elements, Made, Map};
pub use launch::{Call, run};
pub use plan::{Plan, plan};
pub use table::{Row, TABLE, row};
