//! Defines the error codes of the CPU backend, with the names of the CUDA runtime.

pub use crate::error_codes::{
    ASSERT, CAPTURE_IMPLICIT, CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_MERGE, CAPTURE_UNMATCHED,
    CAPTURE_UNSUPPORTED, CAPTURED_EVENT, GRAPH_UPDATE_FAILURE, HARDWARE_STACK, ILLEGAL_ADDRESS, ILLEGAL_STATE,
    INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE, LAUNCH_FAILURE, LAUNCH_TIMEOUT, NOT_FOUND, NOT_SUPPORTED,
    OUT_OF_MEMORY, OUT_OF_RESOURCES,
};
use crate::error_codes::{NOT_READY, SUCCESS};
use pygpu_base::error::{DriverError, Error};

/// The CUDA runtime's code of an invalid launch configuration. In the CUDA driver this number has another meaning.
pub const INVALID_CONFIGURATION: u32 = 9;

const UNKNOWN: &str = "unrecognized error code";

const TABLE: [(u32, &str, &str); 24] = [
    (SUCCESS, "cudaSuccess", "no error"),
    (INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"),
    (OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"),
    (INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"),
    (INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"),
    (INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"),
    (ILLEGAL_STATE, "cudaErrorIllegalState", "the operation cannot be performed in the present state"),
    (NOT_FOUND, "cudaErrorSymbolNotFound", "named symbol not found"),
    (NOT_READY, "cudaErrorNotReady", "device not ready"),
    (ILLEGAL_ADDRESS, "cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    (OUT_OF_RESOURCES, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"),
    (LAUNCH_TIMEOUT, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"),
    (ASSERT, "cudaErrorAssert", "device-side assert triggered"),
    (HARDWARE_STACK, "cudaErrorHardwareStackError", "hardware stack error"),
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
    (
        GRAPH_UPDATE_FAILURE,
        "cudaErrorGraphExecUpdateFailure",
        "the graph update was not performed because it included changes which violated constraints",
    ),
];

/// Returns the CUDA runtime's name of an error code.
pub fn name(code: u32) -> &'static str {
    TABLE.iter().find(|row| row.0 == code).map_or(UNKNOWN, |row| row.1)
}

/// Returns an explanation of an error code.
pub fn text(code: u32) -> &'static str {
    TABLE.iter().find(|row| row.0 == code).map_or(UNKNOWN, |row| row.2)
}

/// Creates the error of a failed call.
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
