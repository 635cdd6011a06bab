//! Scans along one axis of arrays of any layout, with the functions of the table of reductions.

pub mod plan;
pub mod run;
mod source;

pub use run::{Call, run};
