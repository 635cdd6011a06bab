//! Warps, and tiles that tell each other what they have counted.

use pygpu_base::fork_safe::Once;
use pygpu_device::{Device, PerDevice, per_device};

/// What kernels know of them.
pub(super) const OF_WARPS: &str = include_str!("warp.cu");

/// Rows from here on need numbers of 64 bits: two bits of a number say what it counts.
pub(super) const LONG: i64 = 1 << 30;

/// Threads of a warp, asked once for each device.
pub(super) fn warp(device: Device) -> i32 {
    static KNOWN: PerDevice<Once<i32>> = per_device!(Once::new());
    *KNOWN.of(device).get_or_init(|| device.properties().map_or(32, |known| known.warp_size))
}
