//! Caches pinned host memory.
//!
//! A driver frees pinned memory only when the whole device is idle, and blocks the host until then. Dropping a pinned
//! array during asynchronous work would therefore block the host. The memory of dropped arrays is cached instead, up to
//! `LIMIT` bytes per device, and reused for requests of the same size and flags. Cached memory is reused only after the
//! device has completed all work enqueued before the drop, because work unknown to PyGPU may use the raw address.

use pygpu_backend::{Address, HostFlags};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_device::stream::PooledEvent;
use pygpu_device::{Device, PerDevice, per_device};

/// Maximum size in bytes of the cached memory of one device.
const LIMIT: usize = 256 << 20;

struct PinnedCache {
    address: Address,
    bytes: usize,
    flags: HostFlags,
    epoch: u32,
    /// Event that covers the work of all streams of the device at the time when the block was freed. `None` if the
    /// driver does not support such events.
    dropped_at: Option<PooledEvent>,
    /// Value of `Device::now` when the block was freed. The block is idle if the host has waited for the whole device
    /// since then.
    dropped_when: u64,
}

impl PinnedCache {
    /// Returns whether all device work that was in progress when the block was freed is complete.
    fn is_idle(&self, device: Device) -> bool {
        device.was_waited_for_since(self.dropped_when)
            || self.dropped_at.as_ref().is_some_and(|mark| mark.event().query().unwrap_or(false))
    }
}

static KEPT: PerDevice<ForkSafeMutex<Vec<PinnedCache>>> = per_device!(ForkSafeMutex::new(Vec::new()));

fn kept(device: Device) -> ForkSafeGuard<Vec<PinnedCache>> {
    KEPT.of(device).lock()
}

/// Allocates pinned memory of `bytes` bytes (not 0).
pub(super) fn allocate(device: Device, bytes: usize, flags: HostFlags) -> Result<Address> {
    let found = idle(device, take_alike(device, bytes, flags));
    match found {
        Some(kept) => Ok(kept.address),
        None => device.backend().allocate_host(device.index(), bytes, flags),
    }
}

/// Removes all blocks with the given size and flags from the cache and returns the removed blocks, oldest first. Other
/// threads cannot use the blocks until they are put back.
fn take_alike(device: Device, bytes: usize, flags: HostFlags) -> Vec<PinnedCache> {
    let epoch = device.epoch();
    let alike = |kept: &mut PinnedCache| kept.bytes == bytes && kept.flags == flags && kept.epoch == epoch;
    kept(device).extract_if(.., alike).collect()
}

/// Returns the most recently freed idle block in the list `alike`, and puts the list's other blocks back into the
/// cache. The lock of the cache is not held while the driver is queried, so that other threads do not wait for the
/// driver.
fn idle(device: Device, mut alike: Vec<PinnedCache>) -> Option<PinnedCache> {
    let place = alike.iter().rposition(|kept| kept.is_idle(device));
    let found = place.map(|place| alike.remove(place));
    if !alike.is_empty() {
        kept(device).splice(0..0, alike);
    }
    found
}

/// Caches a block of pinned memory that is no longer used. If the limit is then exceeded, frees the oldest cached
/// blocks.
///
/// # Safety
/// The address must come from `allocate` with the same size and flags.
pub(super) unsafe fn free(device: Device, address: Address, bytes: usize, flags: HostFlags, epoch: u32) -> Result<()> {
    let dropped_when = device.now();
    // The memory is cached even if no event can be recorded. It is then reused only after the host has waited for the
    // whole device.
    let marked = if device.is_cpu() { Ok(None) } else { PooledEvent::record_device(device) };
    let (dropped_at, outcome) = marked.map_or_else(|error| (None, Err(error)), |mark| (mark, Ok(())));
    let surplus = {
        let mut kept = kept(device);
        kept.push(PinnedCache { address, bytes, flags, epoch, dropped_at, dropped_when });
        take_surplus(&mut kept, if device.is_cpu() { 0 } else { LIMIT })
    };
    outcome.and(give_back(device, surplus))
}

/// Frees all cached memory. The driver waits for the device.
///
/// # Errors
/// Driver errors.
pub fn trim(device: Device) -> Result<()> {
    let all = std::mem::take(&mut *kept(device));
    give_back(device, all)
}

/// Removes the oldest blocks from `kept` until the total size of the remaining blocks is within the limit. Returns the
/// removed blocks.
fn take_surplus(kept: &mut Vec<PinnedCache>, limit: usize) -> Vec<PinnedCache> {
    let mut total: usize = kept.iter().map(|kept| kept.bytes).sum();
    let mut count = 0;
    while total > limit && count < kept.len() {
        total -= kept[count].bytes;
        count += 1;
    }
    kept.drain(..count).collect()
}

fn give_back(device: Device, blocks: Vec<PinnedCache>) -> Result<()> {
    let mut outcome = Ok(());
    for kept in blocks.into_iter().filter(|kept| kept.epoch == device.epoch()) {
        // SAFETY: the caller of `free` guaranteed that the address came from `allocate`, and the block was removed from
        // the cache, so nothing else can use it.
        let result = unsafe { device.backend().free_host(device.index(), kept.address, kept.bytes) };
        outcome = outcome.and(result);
    }
    outcome
}
