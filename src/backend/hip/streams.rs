//! Implements the part of streams that is specific to AMD's runtime.

use super::driver::Hip;
use crate::vendor::VendorStreams;

/// Uses the default methods. If a runtime lacks the function that returns a stream's device, it has no other way to
/// determine the device.
impl VendorStreams for Hip {}
