//! The kernels of somebody else: not CUDA's functions, but what an `nvcc` library of the user's would offer.

use simulated_core::Outcome;

use crate::context::top;
use crate::entry::{Call, export};

/// The device that a launch goes to: as with CUDA's runtime, a thread without a context gets that of device 0.
fn device(on: &Call) -> Outcome<usize> {
    if top().is_ok() { on.device() } else { on.driver.usable(on.driver.retain(0)?) }
}

simulated_core::export_guests!(export, device);
