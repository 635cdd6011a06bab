//! Streams.

use super::driver::Hip;
use crate::vendor::VendorStreams;

/// A runtime that is too old to tell the device of a stream has no other function for it.
impl VendorStreams for Hip {}
