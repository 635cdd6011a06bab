//! Reductions over any axes of arrays of any layout, and scans along one axis: their common table of functions, and the
//! kernels.

mod elements;
pub mod plan;
pub mod reduce;
pub mod scan;
mod source;
pub mod table;

pub use elements::{Elements, Made, Map};
pub use plan::{Plan, plan};
pub use reduce::{Call, run};
pub use table::{Row, TABLE, row};
