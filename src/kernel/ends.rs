//! Whether a kernel wrote behind the blocks that it was given: told where a launch returns when the kernel has run, on the host.

use std::sync::Arc;

use super::function::Function;
use pygpu_base::error::Result;
use pygpu_memory::{Access, Allocation, Use, overrun};

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
                return Err(overrun(block, beyond, &format!("kernel {}", function.name()), &whose(block)));
            }
        }
    }
    Ok(())
}
