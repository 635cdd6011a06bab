//! Contains helpers without state: error codes, vector clocks, address ranges and byte regions.

pub mod clock;
pub mod code;
pub mod ranges;
pub mod region;
