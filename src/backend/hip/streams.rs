//! Implements the part of streams that is specific to AMD's runtime.

use super::driver::Hip;
use crate::cuda_and_hip::VendorStreams;

/// The default methods of the trait suffice. If a runtime lacks the function that returns a stream's device, the device
/// cannot be determined.
impl VendorStreams for Hip {}
