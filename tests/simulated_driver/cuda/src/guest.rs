//! Exports functions that launch kernels of other libraries. They are not functions of CUDA, but functions that a user's
//! library compiled by `nvcc` would have.

use simulated_core::Outcome;

use crate::context::top;
use crate::entry::{Call, export};

/// Returns the device of a launch. As in the CUDA runtime, a thread without a context uses the context of device 0.
fn device(on: &Call) -> Outcome<usize> {
    if top().is_ok() { on.device() } else { on.driver.usable(on.driver.retain(0)?) }
}

simulated_core::export_guests!(export, device);
