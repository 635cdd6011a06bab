//! Images, kernels and launches, as far as the vendors' calls agree. An image is what the simulated compilers make: a shared
//! library of the host.

use std::ffi::c_void;

use crate::argument::In;
use crate::code::{INVALID_IMAGE, INVALID_VALUE, Outcome};
use crate::driver::Driver;
use crate::kernel::Function;
use crate::kernel::engine::Shape;

/// The bytes of an image, which end where its own header says.
///
/// # Errors
/// A code.
pub fn bytes(image: In<u8>) -> Outcome<Vec<u8>> {
    let magic: [u8; 4] = image.cast().get()?;
    if magic != *b"\x7fELF" {
        return Err(INVALID_IMAGE);
    }
    let header: [u8; 64] = image.cast().get()?;
    let number =
        |at: usize, size: usize| header[at..at + size].iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    // The table of sections stands at the end of what a linker writes.
    let length = number(40, 8).checked_add(number(58, 2) * number(60, 2)).ok_or(INVALID_IMAGE)?;
    (0..length as usize).map(|position| image.at(position)).collect()
}

/// Launches with an array of pointers to the values of the parameters.
///
/// # Errors
/// A code.
pub fn launch(
    driver: &Driver,
    call: &'static str,
    device: usize,
    function: u64,
    shape: Shape,
    stream: u64,
    arguments: In<*const c_void>,
) -> Outcome<()> {
    let function = driver.function_of(function)?;
    let values = function.kernel.parameters.iter().enumerate().map(|(position, &(bytes, _))| {
        let value = arguments.at(position)?;
        if value.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller of the C function promises as many bytes as the parameter has.
        Ok(unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) }.to_vec())
    });
    let values = values.collect::<Outcome<Vec<_>>>()?;
    driver.launch(call, device, function, shape, values, stream)
}

/// Most threads of a block that a kernel takes.
pub fn max_threads(function: &Function) -> i32 {
    if function.kernel.max_threads == 0 { 1024 } else { function.kernel.max_threads as i32 }
}

/// Blocks that run at once on a multiprocessor of 2048 threads.
///
/// # Errors
/// A code.
pub fn active_blocks(threads: i32) -> Outcome<i32> {
    if threads > 0 { Ok((2048 / threads).min(32)) } else { Err(INVALID_VALUE) }
}

/// Blocks that fill so many multiprocessors, and the threads of a block; `limit` 0 is none.
pub fn suggested_shape(function: &Function, multiprocessors: i32, limit: i32) -> (i32, i32) {
    let most = max_threads(function);
    let best = if limit > 0 { most.min(limit) } else { most };
    (multiprocessors * (2048 / best), best)
}
