//! Implements the part of streams that is specific to AMD's runtime.

use super::driver::Hip;
use crate::vendor::VendorStreams;

/// The default methods suffice. A runtime without the function that returns a stream's device has no other way to
/// determine this device.
impl VendorStreams for Hip {}
