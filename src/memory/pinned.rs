//! Pinned host memory, kept for the next use.
//!
//! Why: a driver gives pinned memory back only when the whole device is idle, and waits for that, so that dropping a pinned
//! array in the middle of asynchronous work would stop the host. What is dropped is kept instead, up to `LIMIT` bytes a
//! device, and is given out again to who asks for as much with the same flags, once the device has passed the point at which
//! it was dropped: somebody may have used the bare address.

use pygpu_backend::{Address, HostFlags};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::{Global, Guard};
use pygpu_device::stream::Mark;
use pygpu_device::{Device, PerDevice, per_device};

/// Most bytes that are kept for one device.
const LIMIT: usize = 256 << 20;

struct Kept {
    address: Address,
    bytes: usize,
    flags: HostFlags,
    epoch: u32,
    /// Where all streams of the device were when the memory was dropped; `None` where the driver cannot mark that.
    dropped_at: Option<Mark>,
    /// The same as a time, which a wait for the whole device puts behind.
    dropped_when: u64,
}

impl Kept {
    /// Whether nothing that was under way when the memory was dropped can still use it.
    fn is_idle(&self, device: Device) -> bool {
        device.was_waited_for_since(self.dropped_when)
            || self.dropped_at.as_ref().is_some_and(|mark| mark.event().query().unwrap_or(false))
    }
}

static KEPT: PerDevice<Global<Vec<Kept>>> = per_device!(Global::new(Vec::new()));

fn kept(device: Device) -> Guard<Vec<Kept>> {
    KEPT.of(device).lock()
}

/// Pinned memory of `bytes` (not 0).
pub(super) fn allocate(device: Device, bytes: usize, flags: HostFlags) -> Result<Address> {
    let found = idle(device, take_alike(device, bytes, flags));
    match found {
        Some(kept) => Ok(kept.address),
        None => device.backend().allocate_host(device.index(), bytes, flags),
    }
}

/// What is kept and would do, the oldest first. Nobody else finds it until it is put back.
fn take_alike(device: Device, bytes: usize, flags: HostFlags) -> Vec<Kept> {
    let epoch = device.epoch();
    let alike = |kept: &mut Kept| kept.bytes == bytes && kept.flags == flags && kept.epoch == epoch;
    kept(device).extract_if(.., alike).collect()
}

/// The latest of the blocks that may be used now; the others are put back. The driver is asked without the lock.
fn idle(device: Device, mut alike: Vec<Kept>) -> Option<Kept> {
    let place = alike.iter().rposition(|kept| kept.is_idle(device));
    let found = place.map(|place| alike.remove(place));
    if !alike.is_empty() {
        kept(device).splice(0..0, alike);
    }
    found
}

/// Keeps memory that nothing uses any more, and gives the oldest back to the driver where that is too much.
///
/// # Safety
/// The address came from `allocate` with the same bytes and flags.
pub(super) unsafe fn free(device: Device, address: Address, bytes: usize, flags: HostFlags, epoch: u32) -> Result<()> {
    let dropped_when = device.now();
    // Kept also where it cannot be marked: then it is given out again only behind a wait for the whole device.
    let marked = if device.is_cpu() { Ok(None) } else { Mark::record_device(device) };
    let (dropped_at, outcome) = marked.map_or_else(|error| (None, Err(error)), |mark| (mark, Ok(())));
    let surplus = {
        let mut kept = kept(device);
        kept.push(Kept { address, bytes, flags, epoch, dropped_at, dropped_when });
        take_surplus(&mut kept, if device.is_cpu() { 0 } else { LIMIT })
    };
    outcome.and(give_back(device, surplus))
}

/// Gives all that is kept back to the driver, which waits for the device.
///
/// # Errors
/// The driver's.
pub fn trim(device: Device) -> Result<()> {
    let all = std::mem::take(&mut *kept(device));
    give_back(device, all)
}

/// The oldest blocks, as many as must go so that the rest is within the limit.
fn take_surplus(kept: &mut Vec<Kept>, limit: usize) -> Vec<Kept> {
    let mut total: usize = kept.iter().map(|kept| kept.bytes).sum();
    let mut count = 0;
    while total > limit && count < kept.len() {
        total -= kept[count].bytes;
        count += 1;
    }
    kept.drain(..count).collect()
}

fn give_back(device: Device, blocks: Vec<Kept>) -> Result<()> {
    let mut outcome = Ok(());
    for kept in blocks.into_iter().filter(|kept| kept.epoch == device.epoch()) {
        // SAFETY: `free` was promised that the address came from `allocate`, and it is in no list any more.
        let result = unsafe { device.backend().free_host(device.index(), kept.address, kept.bytes) };
        outcome = outcome.and(result);
    }
    outcome
}
