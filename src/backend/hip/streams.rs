//! Implements the part of streams that is specific to AMD's runtime.

use super::driver::Hip;
use crate::vendor::VendorStreams;

/// Uses the default methods: a runtime without the function that returns a stream's device has no other function that
/// returns this device.
impl VendorStreams for Hip {}
