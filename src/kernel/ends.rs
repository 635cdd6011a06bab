//! Whether a kernel wrote behind the blocks that it was given: told where a launch returns when the kernel has run, on the host.

use std::sync::Arc;

use super::function::Function;
use crate::backend::ILLEGAL_ADDRESS;
use crate::error::{DriverError, Error, Result};
use crate::memory::{Access, Allocation, Use};

/// Looks behind each block that a launch may have written. `whose` says what a block is of, for the message.
///
/// # Errors
/// That the kernel wrote there, as a driver tells of an illegal address; once.
#[inline]
pub fn check_ends(function: &Function, uses: &[Use<'_>], whose: impl Fn(&Arc<Allocation>) -> String) -> Result<()> {
    if function.device().is_cpu() {
        for (block, access) in uses {
            let beyond = if *access == Access::Write { block.overrun() } else { 0 };
            if beyond != 0 {
                return Err(overrun(function, block.bytes(), beyond, &whose(block)));
            }
        }
    }
    Ok(())
}

#[cold]
fn overrun(function: &Function, bytes: usize, beyond: usize, whose: &str) -> Error {
    let (device, code, name) = (function.device(), ILLEGAL_ADDRESS, function.name());
    Error::Driver(Box::new(DriverError {
        operation: "launch",
        code,
        name: device.backend().error_name(code),
        text: device.backend().error_text(code),
        device: device.to_string(),
        detail: format!(
            "kernel {name} wrote beyond the end of the {bytes} bytes {whose}: at least {beyond} bytes behind it; \
             python -m PyGPU check shows the line"
        ),
    }))
}
