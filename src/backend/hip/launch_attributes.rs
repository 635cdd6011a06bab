//! Launches kernels with attributes. AMD's devices have no clusters of blocks, and a kernel on them never starts before
//! the previous one is complete.

use super::driver::Hip;
use crate::vendor::{Driver, VendorLaunches};

impl VendorLaunches for Hip {
    fn has_carveout(_: &Driver<Self>) -> bool {
        false
    }
}
