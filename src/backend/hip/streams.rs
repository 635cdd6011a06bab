//! Streams of AMD's runtime.

use super::driver::Hip;
use crate::vendor::VendorStreams;

/// Uses the defaults: a runtime too old to return the device of a stream has no other function for this.
impl VendorStreams for Hip {}
