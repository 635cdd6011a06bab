//! The few error codes that the CPU backend raises, spelled as CUDA's runtime spells them.

use crate::error::{DriverError, Error};

pub const INVALID_VALUE: u32 = 1;
pub const OUT_OF_MEMORY: u32 = 2;
pub const INVALID_CONFIGURATION: u32 = 9;
pub const INVALID_DEVICE: u32 = 101;
pub const INVALID_HANDLE: u32 = 400;
pub const ILLEGAL_STATE: u32 = 401;
pub const NOT_FOUND: u32 = 500;
pub const OUT_OF_RESOURCES: u32 = 701;
pub const LAUNCH_TIMEOUT: u32 = 702;
pub const ASSERT: u32 = 710;
pub const LAUNCH_FAILURE: u32 = 719;
pub const NOT_SUPPORTED: u32 = 801;
pub const CAPTURE_UNSUPPORTED: u32 = 900;
pub const CAPTURE_INVALIDATED: u32 = 901;
pub const CAPTURE_MERGE: u32 = 902;
pub const CAPTURE_UNMATCHED: u32 = 903;
pub const CAPTURE_ISOLATION: u32 = 905;
pub const CAPTURE_IMPLICIT: u32 = 906;
pub const CAPTURED_EVENT: u32 = 907;

const UNKNOWN: &str = "unrecognized error code";

const TABLE: [(u32, &str, &str); 21] = [
    (0, "cudaSuccess", "no error"),
    (INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"),
    (OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"),
    (INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"),
    (INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"),
    (INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"),
    (ILLEGAL_STATE, "cudaErrorIllegalState", "the operation cannot be performed in the present state"),
    (NOT_FOUND, "cudaErrorSymbolNotFound", "named symbol not found"),
    (600, "cudaErrorNotReady", "device not ready"),
    (OUT_OF_RESOURCES, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"),
    (LAUNCH_TIMEOUT, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"),
    (ASSERT, "cudaErrorAssert", "device-side assert triggered"),
    (LAUNCH_FAILURE, "cudaErrorLaunchFailure", "unspecified launch failure"),
    (NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"),
    (CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"),
    (
        CAPTURE_INVALIDATED,
        "cudaErrorStreamCaptureInvalidated",
        "operation failed due to a previous error during capture",
    ),
    (CAPTURE_MERGE, "cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"),
    (CAPTURE_UNMATCHED, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"),
    (CAPTURE_ISOLATION, "cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"),
    (
        CAPTURE_IMPLICIT,
        "cudaErrorStreamCaptureImplicit",
        "operation would make the legacy stream depend on a capturing blocking stream",
    ),
    (
        CAPTURED_EVENT,
        "cudaErrorCapturedEvent",
        "operation not permitted on an event last recorded in a capturing stream",
    ),
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
