//! Contains device functions for communication within warps, and for decoupled look-back: each tile publishes its
//! counts, and a later tile adds up the counts of earlier tiles.

use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::{Device, PerDevice, per_device};

/// The device code of the functions for warps and for look-back.
pub(super) const OF_WARPS: &str = include_str!("decoupled_lookback.cu");

/// Minimum row length for which counts are stored in 64 bits instead of 32. Two bits of each word encode the state of
/// its count.
pub(super) const LONG: i64 = 1 << 30;

/// Returns the number of threads in a warp, which is queried once per device.
pub(super) fn warp(device: Device) -> i32 {
    static KNOWN: PerDevice<ForkSafeOnce<i32>> = per_device!(ForkSafeOnce::new());
    *KNOWN.of(device).get_or_init(|| device.properties().map_or(32, |known| known.warp_size))
}
