//! Launches with attributes. AMD's devices have no clusters of blocks, and no kernel begins before the one in front of it has
//! ended.

use super::driver::Hip;
use crate::vendor::{Driver, VendorLaunches};

impl VendorLaunches for Hip {
    fn has_carveout(_: &Driver<Self>) -> bool {
        false
    }
}
