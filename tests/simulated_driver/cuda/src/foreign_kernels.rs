//! Exports functions that launch kernels of other libraries. CUDA has no such functions; they simulate a user's library
//! that `nvcc` has compiled.

use simulated_core::Outcome;

use crate::context::top;
use crate::entry::{Call, export};

/// Returns the device of a launch. As in the CUDA runtime, a thread without a context uses the context of device 0.
fn device(on: &Call) -> Outcome<usize> {
    if top().is_ok() { on.device() } else { on.driver.usable(on.driver.retain(0)?) }
}

simulated_core::export_foreign_kernels!(export, device);
