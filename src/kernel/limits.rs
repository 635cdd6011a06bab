//! What a launch may ask of a device, asked once for each device.

use super::function::Function;
use crate::backend::{LaunchLimits, LaunchShape};
use crate::device::{Device, MAX_DEVICES};
use crate::error::{Error, Result};
use crate::global::Once;

static LIMITS: [[Once<LaunchLimits>; MAX_DEVICES]; 3] = [const { [const { Once::new() }; MAX_DEVICES] }; 3];

/// The limits of a device.
///
/// # Errors
/// The driver's.
pub fn limits_of(device: Device) -> Result<&'static LaunchLimits> {
    let cell = &LIMITS[device.kind() as usize][device.slot()];
    match cell.get() {
        Some(limits) => Ok(limits),
        None => {
            let limits = device.backend().programs()?.launch_limits(device.index())?;
            Ok(cell.get_or_init(|| limits))
        }
    }
}

/// Refuses a shape that the device or the kernel cannot run.
///
/// # Errors
/// `ValueError` that says what was asked for and what there is.
#[inline]
pub fn check(function: &Function, shape: &LaunchShape) -> Result<()> {
    let limits = function.limits();
    let within =
        |asked: [u32; 3], most: [u32; 3]| asked.iter().zip(most).all(|(asked, most)| *asked > 0 && *asked <= most);
    let threads = shape.block.iter().fold(1u32, |product, &length| product.saturating_mul(length));
    let fits = within(shape.grid, limits.grid) && within(shape.block, limits.block);
    if !fits || threads > function.max_threads()? || (shape.cooperative && !limits.cooperative) {
        return Err(refused(function, shape, threads));
    }
    function.allow_shared(shape.shared)
}

#[cold]
fn refused(function: &Function, shape: &LaunchShape, threads: u32) -> Error {
    let (limits, name, device) = (function.limits(), function.name(), function.device());
    for (what, asked, most) in [("grid", shape.grid, limits.grid), ("block", shape.block, limits.block)] {
        for (axis, (asked_here, most)) in ["x", "y", "z"].iter().zip(asked.iter().zip(most)) {
            if *asked_here == 0 || *asked_here > most {
                return Error::value(format!(
                    "{name}: the {what} {asked:?} has {asked_here} along {axis}; {device} takes 1 to {most}"
                ));
            }
        }
    }
    let most = function.max_threads().unwrap_or(limits.threads_per_block);
    if threads <= most {
        return Error::not_supported(format!("{name}: {device} has no cooperative launches"));
    }
    let why = if most < limits.threads_per_block {
        "what its registers and its launch bounds allow"
    } else {
        "what the device allows"
    };
    Error::value(format!("{name}: the block {:?} has {threads} threads; {most} is {why}", shape.block))
}
