//! Scans (cumulative reductions) along one axis of arrays of any layout, with functions of the table of reductions.

pub mod launch;
pub mod plan;
mod source;

pub use launch::{AxisScan, run};
