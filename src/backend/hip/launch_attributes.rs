//! Launches kernels with attributes. AMD's devices have no clusters of blocks, and do not support starting a kernel
//! before the previous kernel is complete.

use super::driver::Hip;
use crate::cuda_and_hip::{Driver, VendorLaunches};

impl VendorLaunches for Hip {
    fn has_carveout(_: &Driver<Self>) -> bool {
        false
    }
}
