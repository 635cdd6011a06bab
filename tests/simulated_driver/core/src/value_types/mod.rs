//! Contains helpers without state: error codes, vector clocks, address ranges and byte regions.

pub mod byte_region;
pub mod error_codes;
pub mod ranges;
pub mod vector_clock;
