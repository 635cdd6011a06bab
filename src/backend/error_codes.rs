//! Defines error codes that have the same values in the CUDA driver, the CUDA runtime and HIP. The CPU backend uses
//! these codes, too.

pub const SUCCESS: u32 = 0;
/// An argument of the call is invalid.
pub const INVALID_VALUE: u32 = 1;
pub const OUT_OF_MEMORY: u32 = 2;
pub const INVALID_DEVICE: u32 = 101;
pub const INVALID_HANDLE: u32 = 400;
pub const ILLEGAL_STATE: u32 = 401;
/// A module image does not contain the requested name.
pub const NOT_FOUND: u32 = 500;
pub const NOT_READY: u32 = 600;
/// A kernel or copy accessed an invalid address.
pub const ILLEGAL_ADDRESS: u32 = 700;
/// A launch requires more registers, shared memory or threads than available.
pub const OUT_OF_RESOURCES: u32 = 701;
pub const LAUNCH_TIMEOUT: u32 = 702;
pub const PEER_ACCESS_ALREADY_ENABLED: u32 = 704;
pub const ASSERT: u32 = 710;
pub const HARDWARE_STACK: u32 = 714;
pub const LAUNCH_FAILURE: u32 = 719;
/// A cooperative launch has more blocks than can run concurrently.
pub const COOPERATIVE_TOO_LARGE: u32 = 720;
/// A launch has a cluster shape that the device does not support.
pub const INVALID_CLUSTER: u32 = 912;
pub const NOT_SUPPORTED: u32 = 801;
pub const CAPTURE_UNSUPPORTED: u32 = 900;
pub const CAPTURE_INVALIDATED: u32 = 901;
pub const CAPTURE_MERGE: u32 = 902;
pub const CAPTURE_UNMATCHED: u32 = 903;
pub const CAPTURE_ISOLATION: u32 = 905;
pub const CAPTURE_IMPLICIT: u32 = 906;
pub const CAPTURED_EVENT: u32 = 907;
pub const GRAPH_UPDATE_FAILURE: u32 = 910;
