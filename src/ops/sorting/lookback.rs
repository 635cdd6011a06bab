//! Warp functions, and decoupled look-back: tiles publish their counts for later tiles.

use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::{Device, PerDevice, per_device};

/// The device code.
pub(super) const OF_WARPS: &str = include_str!("lookback.cu");

/// Row length from which on counts need 64 bits: two bits of a count encode its state.
pub(super) const LONG: i64 = 1 << 30;

/// Threads of a warp, queried once per device.
pub(super) fn warp(device: Device) -> i32 {
    static KNOWN: PerDevice<ForkSafeOnce<i32>> = per_device!(ForkSafeOnce::new());
    *KNOWN.of(device).get_or_init(|| device.properties().map_or(32, |known| known.warp_size))
}
