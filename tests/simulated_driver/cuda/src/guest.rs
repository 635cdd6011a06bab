//! Kernels of other libraries: not functions of CUDA, but those that a user's `nvcc` library would have.

use simulated_core::Outcome;

use crate::context::top;
use crate::entry::{Call, export};

/// Returns the device of a launch: as in the CUDA runtime, a thread without a context gets that of device 0.
fn device(on: &Call) -> Outcome<usize> {
    if top().is_ok() { on.device() } else { on.driver.usable(on.driver.retain(0)?) }
}

simulated_core::export_guests!(export, device);
