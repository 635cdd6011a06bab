//! Creates the error for a write past the end of a block of host memory.

use super::allocation::Allocation;
use pygpu_backend::ILLEGAL_ADDRESS;
use pygpu_base::error::{DriverError, Error};

/// Returns an illegal-address error like that of a driver. Its message states that `who` wrote `beyond` bytes past the
/// end of a block; `whose` describes the block.
#[cold]
pub fn overrun(block: &Allocation, beyond: usize, who: &str, whose: &str) -> Error {
    let (device, code, bytes) = (block.device(), ILLEGAL_ADDRESS, block.bytes());
    Error::Driver(Box::new(DriverError {
        operation: "launch",
        code,
        name: device.backend().error_name(code),
        text: device.backend().error_text(code),
        device: device.to_string(),
        detail: format!(
            "{who} wrote beyond the end of the {bytes} bytes {whose}: at least {beyond} bytes behind it; \
             python -m PyGPU check shows the line"
        ),
    }))
}
