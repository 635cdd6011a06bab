//! Provides a bounded pool of pinned slots for each device. Pageable memory is copied through these slots.
//!
//! A slot whose copy is still running returns to the pool with an event that was recorded after the copy. The next
//! thread that takes the slot waits for the event before accessing it. If it cannot be determined whether a copy still
//! uses a slot, the slot is never reused.

use std::sync::Arc;

use smallvec::SmallVec;

use super::settings::RingSettings;
use pygpu_backend::{Address, HostFlags};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_device::stream::{PooledEvent, Stream};
use pygpu_device::{Device, PerDevice, per_device};
use pygpu_memory::host_block_cache;

/// State of a slot: whether a copy engine uses it.
enum SlotState {
    Idle,
    /// A copy engine may use the slot until this event is complete.
    Flying(Arc<PooledEvent>),
    /// The driver failed to record an event, so it is unknown whether a copy uses the slot. The slot is therefore never
    /// used again.
    Lost,
}

/// A buffer of pinned memory, which is in the pool or checked out by one thread.
pub(super) struct PinnedSlot {
    address: Address,
    bytes: usize,
    state: SlotState,
    /// Whether the slot's copy waits for earlier work of its stream, so that it is unknown when the slot becomes free.
    is_held: bool,
}

impl PinnedSlot {
    pub(super) fn address(&self) -> Address {
        self.address
    }

    /// Blocks the host until no copy uses the slot.
    pub(super) fn wait(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, SlotState::Lost) {
            SlotState::Idle => {}
            SlotState::Flying(mark) => mark.event().synchronize()?,
            SlotState::Lost => return Err(Error::value("an earlier copy left pinned memory in an unknown state")),
        }
        self.state = SlotState::Idle;
        Ok(())
    }

    /// Enqueues a copy that uses the slot, and records an event after it.
    pub(super) fn launch(&mut self, stream: &Stream, hold: bool, copy: impl FnOnce() -> Result<()>) -> Result<()> {
        self.state = SlotState::Lost;
        self.is_held = hold;
        let launched = copy().and_then(|()| PooledEvent::record(stream));
        match launched {
            Ok(mark) => {
                self.state = SlotState::Flying(Arc::new(mark));
                Ok(())
            }
            Err(error) => {
                if stream.synchronize().is_ok() {
                    self.state = SlotState::Idle;
                }
                Err(error)
            }
        }
    }

    /// Returns a snapshot of the slot's state, whose event can be queried after the lock of the pool is released.
    /// Returns `None` for a slot in the state `Lost`.
    fn sight(&self) -> Option<SlotSnapshot> {
        let mark = match &self.state {
            SlotState::Idle => None,
            SlotState::Flying(mark) => Some(Arc::clone(mark)),
            SlotState::Lost => return None,
        };
        Some(SlotSnapshot { address: self.address, bytes: self.bytes, mark })
    }
}

/// Copy of a slot's address, size and event. With this copy a thread can query the event after it has released the lock
/// of the pool.
struct SlotSnapshot {
    address: Address,
    bytes: usize,
    mark: Option<Arc<PooledEvent>>,
}

impl SlotSnapshot {
    /// Returns whether no copy uses the slot. If the query of the event fails, returns false although the copy may be
    /// complete.
    fn is_over(&self) -> bool {
        self.mark.as_ref().is_none_or(|mark| mark.event().query().unwrap_or(false))
    }

    fn is_of(&self, slot: &PinnedSlot) -> bool {
        let same = match (&self.mark, &slot.state) {
            (None, SlotState::Idle) => true,
            (Some(mark), SlotState::Flying(other)) => Arc::ptr_eq(mark, other),
            _ => false,
        };
        same && slot.address == self.address
    }
}

/// The pinned slots of one device that are not checked out, and statistics of all slots of the device.
struct SlotPool {
    slots: Vec<PinnedSlot>,
    /// Total size in bytes of all slots of the device, including those that are checked out.
    bytes: usize,
    epoch: u32,
    /// Error of the last failed attempt to pin memory. PyGPU does not attempt again to pin memory until the pool is
    /// trimmed or its limit is changed.
    refused: Option<String>,
}

impl SlotPool {
    const EMPTY: Self = Self { slots: Vec::new(), bytes: 0, epoch: 0, refused: None };

    /// Returns snapshots of the slots that may be idle, most recently used first. The list ends with the first slot
    /// that is known to be idle, because the caller needs no further candidates.
    fn sights(&self, bytes: usize) -> SmallVec<[SlotSnapshot; 16]> {
        let mut found_idle = false;
        let suitable = self.slots.iter().rev().filter(|slot| slot.bytes >= bytes).filter_map(PinnedSlot::sight);
        suitable.take_while(|sight| !std::mem::replace(&mut found_idle, sight.mark.is_none())).collect()
    }

    fn take_seen(&mut self, sight: &SlotSnapshot) -> Option<PinnedSlot> {
        let place = self.slots.iter().position(|slot| sight.is_of(slot))?;
        Some(self.slots.swap_remove(place))
    }

    /// Takes the slot whose copy will be complete first, among slots whose copies do not wait for other work.
    fn take_flying(&mut self, bytes: usize) -> Option<PinnedSlot> {
        let soon = |slot: &PinnedSlot| slot.bytes >= bytes && !slot.is_held && !matches!(slot.state, SlotState::Lost);
        let place = self.slots.iter().position(soon)?;
        Some(self.slots.remove(place))
    }
}

static STORES: PerDevice<ForkSafeMutex<SlotPool>> = per_device!(ForkSafeMutex::new(SlotPool::EMPTY));

/// Locks the slot pool of a device, and removes from it the slots that a device reset has destroyed.
fn store(device: Device) -> ForkSafeGuard<SlotPool> {
    let mut store = STORES.of(device).lock();
    if store.epoch != device.epoch() {
        store.slots.iter().for_each(|slot| forget(slot.address));
        *store = SlotPool { epoch: device.epoch(), ..SlotPool::EMPTY };
    }
    store
}

/// Takes the most recently used idle slot, whose memory may still be in the processor's caches. The lock of the pool is
/// not held while the driver is queried.
fn take_idle(device: Device, bytes: usize) -> Option<PinnedSlot> {
    let sights = store(device).sights(bytes);
    sights.iter().filter(|sight| sight.is_over()).find_map(|sight| store(device).take_seen(sight))
}

/// Allocates pinned memory. Registering whole huge pages with the driver takes a fifth of the time that an allocation
/// by the driver takes.
fn pin(device: Device, bytes: usize) -> Result<Address> {
    let memory = if bytes < host_block_cache::LEAST { None } else { host_block_cache::allocate(bytes) };
    let Some(address) = memory else {
        return device.backend().allocate_host(device.index(), bytes, HostFlags::default());
    };
    host_block_cache::set_inherited(address, false);
    // SAFETY: this function has just allocated the memory, which stays mapped until `unpin`.
    let registered = unsafe {
        host_block_cache::touch(address);
        device.backend().register_host(device.index(), address, bytes, HostFlags::default())
    };
    if registered.is_err() {
        forget(address);
    }
    registered.map(|()| address)
}

/// Returns the memory of a slot to the host block cache, after the driver has unregistered the memory. Does nothing for
/// memory that the driver allocated.
fn forget(address: Address) {
    if host_block_cache::size(address) > 0 {
        host_block_cache::set_inherited(address, true);
        // SAFETY: the memory came from the host block cache, and no slot refers to it any more.
        unsafe { host_block_cache::free(address) };
    }
}

/// Frees memory that `pin` allocated.
///
/// # Safety
/// The address must come from `pin` with the same size, and the memory must not be in use.
unsafe fn unpin(device: Device, address: Address, bytes: usize) -> Result<()> {
    // SAFETY: the caller guarantees that the memory came from `pin` and is not in use.
    unsafe {
        if host_block_cache::size(address) == 0 {
            return device.backend().free_host(device.index(), address, bytes);
        }
        device.backend().unregister_host(device.index(), address)?;
    }
    forget(address);
    Ok(())
}

/// Takes a slot of at least `bytes` bytes: an idle slot, a new slot if the size limit of the pool allows it, or a slot
/// whose copy will soon be complete.
fn take(device: Device, bytes: usize, settings: &RingSettings) -> Option<PinnedSlot> {
    if let Some(slot) = take_idle(device, bytes) {
        return Some(slot);
    }
    {
        let mut store = store(device);
        if store.refused.is_some() || store.bytes + bytes > settings.limit() {
            return store.take_flying(bytes);
        }
        // The bytes are counted before the lock is released, so that concurrent calls respect the limit.
        store.bytes += bytes;
    }
    let made = pin(device, bytes);
    let mut store = store(device);
    match made {
        Ok(address) => Some(PinnedSlot { address, bytes, state: SlotState::Idle, is_held: false }),
        Err(error) => {
            store.bytes = store.bytes.saturating_sub(bytes);
            store.refused = Some(error.to_string());
            store.take_flying(bytes)
        }
    }
}

/// The slots that one thread uses during one copy. They return to the pool on drop.
pub(super) struct CheckedOutSlots<'a> {
    device: Device,
    epoch: u32,
    bytes: usize,
    settings: &'a RingSettings,
    slots: Vec<PinnedSlot>,
}

impl<'a> CheckedOutSlots<'a> {
    /// Creates an empty set of slots. Slots that the set takes from the pool later have at least `bytes` bytes.
    pub(super) fn new(device: Device, bytes: usize, settings: &'a RingSettings) -> Self {
        Self { device, epoch: device.epoch(), bytes, settings, slots: Vec::new() }
    }

    /// Takes another slot from the pool. Returns `false` if none is available.
    pub(super) fn grow(&mut self) -> bool {
        let taken = take(self.device, self.bytes, self.settings);
        let grown = taken.is_some();
        self.slots.extend(taken);
        grown
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn slot(&mut self, place: usize) -> &mut PinnedSlot {
        &mut self.slots[place]
    }
}

impl Drop for CheckedOutSlots<'_> {
    fn drop(&mut self) {
        let mut store = store(self.device);
        if self.epoch == store.epoch {
            store.slots.append(&mut self.slots);
        } else {
            self.slots.iter().for_each(|slot| forget(slot.address));
        }
    }
}

/// Statistics of a device's pool of pinned slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotStatistics {
    /// Total size of the pinned slots in bytes.
    pub bytes: usize,
    /// Error of the last failed attempt to pin memory.
    pub refused: Option<String>,
}

/// Returns the statistics of a device's pool of pinned slots.
pub fn figures(device: Device) -> SlotStatistics {
    let store = store(device);
    SlotStatistics { bytes: store.bytes, refused: store.refused.clone() }
}

/// Returns the error of the last failed attempt to pin memory on any device.
pub fn refusal() -> Option<String> {
    let reason = |store: &'static ForkSafeMutex<SlotPool>| store.lock().refused.clone();
    STORES.all().find_map(reason)
}

/// Returns the total size in bytes of the slots whose copies wait for earlier work of their stream.
pub(super) fn held(device: Device) -> usize {
    let sights: Vec<SlotSnapshot> =
        store(device).slots.iter().filter(|slot| slot.is_held).filter_map(PinnedSlot::sight).collect();
    sights.iter().filter(|sight| !sight.is_over()).map(|sight| sight.bytes).sum()
}

/// Frees idle slots until at most `keep` bytes are left. If an earlier attempt to pin memory has failed, permits new
/// attempts. The driver waits for the device.
///
/// # Errors
/// Driver errors.
pub fn trim(device: Device, keep: usize) -> Result<()> {
    store(device).refused = None;
    let mut surplus: Vec<PinnedSlot> = Vec::new();
    while store(device).bytes > keep
        && let Some(slot) = take_idle(device, 0)
    {
        let mut store = store(device);
        store.bytes = store.bytes.saturating_sub(slot.bytes);
        surplus.push(slot);
    }
    surplus.into_iter().try_for_each(|slot| {
        // SAFETY: the memory came from `pin`, no copy uses it, and it was removed from the pool.
        unsafe { unpin(device, slot.address, slot.bytes) }
    })
}
