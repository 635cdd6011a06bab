//! Scans along one axis of arrays of any layout: each element becomes all up to it, joined by a row of the table of reductions.

pub mod plan;
pub mod run;
mod source;

pub use run::{Call, run};
