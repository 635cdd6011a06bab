//! Detects writes past the end of a memory block by a kernel launch on the CPU backend. Such a launch is complete when
//! its call returns, so its writes can be checked afterwards.

use std::sync::Arc;

use super::function::Function;
use pygpu_base::error::Result;
use pygpu_memory::{Access, Allocation, BlockUse, overrun};

/// Checks the red zone of each memory block that a launch may have written. `whose` returns the description of a block
/// for the error message.
///
/// # Errors
/// An illegal-address error like that of a GPU driver, once for each overrun.
#[inline]
pub fn check_ends(
    function: &Function,
    uses: &[BlockUse<'_>],
    whose: impl Fn(&Arc<Allocation>) -> String,
) -> Result<()> {
    if function.device().is_cpu() {
        for (block, access) in uses {
            let beyond = if *access == Access::Write { block.overrun() } else { 0 };
            if beyond != 0 {
                return Err(overrun(block, beyond, &format!("kernel {}", function.name()), &whose(block)));
            }
        }
    }
    Ok(())
}
