//! Sums without a state: codes of errors, vector clocks, ranges and regions of bytes.

pub mod clock;
pub mod code;
pub mod ranges;
pub mod region;
