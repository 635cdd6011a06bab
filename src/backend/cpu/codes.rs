//! The few error codes that the CPU backend raises, spelled as CUDA's runtime spells them.

use crate::error::{DriverError, Error};

pub const INVALID_VALUE: u32 = 1;
pub const OUT_OF_MEMORY: u32 = 2;
pub const INVALID_DEVICE: u32 = 101;
pub const INVALID_HANDLE: u32 = 400;
pub const NOT_SUPPORTED: u32 = 801;

const UNKNOWN: &str = "unrecognized error code";

const TABLE: [(u32, &str, &str); 7] = [
    (0, "cudaSuccess", "no error"),
    (INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"),
    (OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"),
    (INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"),
    (INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"),
    (600, "cudaErrorNotReady", "device not ready"),
    (NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"),
];

/// The name of a code.
pub fn name(code: u32) -> &'static str {
    TABLE.iter().find(|row| row.0 == code).map_or(UNKNOWN, |row| row.1)
}

/// The explanation of a code.
pub fn text(code: u32) -> &'static str {
    TABLE.iter().find(|row| row.0 == code).map_or(UNKNOWN, |row| row.2)
}

/// The refusal of a call.
#[cold]
pub fn refuse(operation: &'static str, code: u32, detail: String) -> Error {
    Error::Driver(Box::new(DriverError {
        operation,
        code,
        name: name(code).to_owned(),
        text: text(code).to_owned(),
        device: "cpu".to_owned(),
        detail,
    }))
}
