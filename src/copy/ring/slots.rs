//! The pinned slots through which pageable memory passes: a bounded store for each device.
//!
//! A slot whose copy is still under way goes back into the store with the event behind that copy; who takes it waits for the
//! event before touching it. A slot of which nobody can say any more whether a copy uses it is never used again.

use std::sync::Arc;

use smallvec::SmallVec;

use super::settings::Settings;
use pygpu_backend::{Address, HostFlags};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::{Global, Guard};
use pygpu_device::stream::{Mark, Stream};
use pygpu_device::{Device, PerDevice, per_device};
use pygpu_memory::recycled;

/// What a copy engine has to do with a slot.
enum State {
    Idle,
    /// A copy uses it until the mark.
    Flying(Arc<Mark>),
    /// A copy may use it for ever.
    Lost,
}

/// A piece of pinned memory, in the store or in one hand.
pub(super) struct Slot {
    address: Address,
    bytes: usize,
    state: State,
    /// The copy stands behind other work of its stream, which may take any time.
    is_held: bool,
}

impl Slot {
    pub(super) fn address(&self) -> Address {
        self.address
    }

    /// Waits until no copy uses the slot.
    pub(super) fn wait(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Lost) {
            State::Idle => {}
            State::Flying(mark) => mark.event().synchronize()?,
            State::Lost => return Err(Error::value("an earlier copy left pinned memory in an unknown state")),
        }
        self.state = State::Idle;
        Ok(())
    }

    /// Puts a copy that uses the slot on the stream.
    pub(super) fn launch(&mut self, stream: &Stream, hold: bool, copy: impl FnOnce() -> Result<()>) -> Result<()> {
        self.state = State::Lost;
        self.is_held = hold;
        let launched = copy().and_then(|()| Mark::record(stream));
        match launched {
            Ok(mark) => {
                self.state = State::Flying(Arc::new(mark));
                Ok(())
            }
            Err(error) => {
                if stream.synchronize().is_ok() {
                    self.state = State::Idle;
                }
                Err(error)
            }
        }
    }

    /// The copy that uses it, `None` for none, for a question to the driver that is not asked under the lock.
    fn sight(&self) -> Option<Sight> {
        let mark = match &self.state {
            State::Idle => None,
            State::Flying(mark) => Some(Arc::clone(mark)),
            State::Lost => return None,
        };
        Some(Sight { address: self.address, bytes: self.bytes, mark })
    }
}

/// What the store knew of a slot when somebody looked.
struct Sight {
    address: Address,
    bytes: usize,
    mark: Option<Arc<Mark>>,
}

impl Sight {
    /// Whether no copy uses the slot, as far as can be seen.
    fn is_over(&self) -> bool {
        self.mark.as_ref().is_none_or(|mark| mark.event().query().unwrap_or(false))
    }

    fn is_of(&self, slot: &Slot) -> bool {
        let same = match (&self.mark, &slot.state) {
            (None, State::Idle) => true,
            (Some(mark), State::Flying(other)) => Arc::ptr_eq(mark, other),
            _ => false,
        };
        same && slot.address == self.address
    }
}

/// The slots of one device that nobody has in hand, and all that there are.
struct Store {
    slots: Vec<Slot>,
    /// Bytes of all slots, those in hand too.
    bytes: usize,
    epoch: u32,
    /// Why the driver gave no more. It is not asked again before somebody trims or sets a limit.
    refused: Option<String>,
}

impl Store {
    const EMPTY: Self = Self { slots: Vec::new(), bytes: 0, epoch: 0, refused: None };

    /// The slots that may be idle, the latest first, up to one that is.
    fn sights(&self, bytes: usize) -> SmallVec<[Sight; 16]> {
        let mut found_idle = false;
        let suitable = self.slots.iter().rev().filter(|slot| slot.bytes >= bytes).filter_map(Slot::sight);
        suitable.take_while(|sight| !std::mem::replace(&mut found_idle, sight.mark.is_none())).collect()
    }

    fn take_seen(&mut self, sight: &Sight) -> Option<Slot> {
        let place = self.slots.iter().position(|slot| sight.is_of(slot))?;
        Some(self.slots.swap_remove(place))
    }

    /// The slot whose copy will be over first, of those that stand behind nothing but other copies.
    fn take_flying(&mut self, bytes: usize) -> Option<Slot> {
        let soon = |slot: &Slot| slot.bytes >= bytes && !slot.is_held && !matches!(slot.state, State::Lost);
        let place = self.slots.iter().position(soon)?;
        Some(self.slots.remove(place))
    }
}

static STORES: PerDevice<Global<Store>> = per_device!(Global::new(Store::EMPTY));

/// The store; what a reset has destroyed is gone from it.
fn store(device: Device) -> Guard<Store> {
    let mut store = STORES.of(device).lock();
    if store.epoch != device.epoch() {
        store.slots.iter().for_each(|slot| forget(slot.address));
        *store = Store { epoch: device.epoch(), ..Store::EMPTY };
    }
    store
}

/// A slot that no copy uses; the latest, which the processor's caches may still hold. The driver is asked without the lock.
fn take_idle(device: Device, bytes: usize) -> Option<Slot> {
    let sights = store(device).sights(bytes);
    sights.iter().filter(|sight| sight.is_over()).find_map(|sight| store(device).take_seen(sight))
}

/// New pinned memory. Whole huge pages are registered, which takes a fifth of the time that the driver needs to make memory.
fn pin(device: Device, bytes: usize) -> Result<Address> {
    let memory = if bytes < recycled::LEAST { None } else { recycled::allocate(bytes) };
    let Some(address) = memory else {
        return device.backend().allocate_host(device.index(), bytes, HostFlags::default());
    };
    recycled::set_inherited(address, false);
    // SAFETY: the memory is ours and new, and stays until `unpin`.
    let registered = unsafe {
        recycled::touch(address);
        device.backend().register_host(device.index(), address, bytes, HostFlags::default())
    };
    if registered.is_err() {
        forget(address);
    }
    registered.map(|()| address)
}

/// Gives registered memory back that no device knows any more; memory that a driver has made is none of it.
fn forget(address: Address) {
    if recycled::size(address) > 0 {
        recycled::set_inherited(address, true);
        // SAFETY: the memory came from `recycled`, and no slot has it any more.
        unsafe { recycled::free(address) };
    }
}

/// # Safety
/// The address came from `pin` with the same bytes, and nothing uses the memory.
unsafe fn unpin(device: Device, address: Address, bytes: usize) -> Result<()> {
    // SAFETY: promised by the caller.
    unsafe {
        if recycled::size(address) == 0 {
            return device.backend().free_host(device.index(), address, bytes);
        }
        device.backend().unregister_host(device.index(), address)?;
    }
    forget(address);
    Ok(())
}

/// A slot of at least so many bytes, within the limit: an idle one, a new one, or one whose copy will soon be over.
fn take(device: Device, bytes: usize, settings: &Settings) -> Option<Slot> {
    if let Some(slot) = take_idle(device, bytes) {
        return Some(slot);
    }
    {
        let mut store = store(device);
        if store.refused.is_some() || store.bytes + bytes > settings.limit() {
            return store.take_flying(bytes);
        }
        store.bytes += bytes; // before the lock is left, so that the limit holds
    }
    let made = pin(device, bytes);
    let mut store = store(device);
    match made {
        Ok(address) => Some(Slot { address, bytes, state: State::Idle, is_held: false }),
        Err(error) => {
            store.bytes = store.bytes.saturating_sub(bytes);
            store.refused = Some(error.to_string());
            store.take_flying(bytes)
        }
    }
}

/// The slots of one thread during one copy. They go back into the store when it is dropped.
pub(super) struct Hand<'a> {
    device: Device,
    epoch: u32,
    bytes: usize,
    settings: &'a Settings,
    slots: Vec<Slot>,
}

impl<'a> Hand<'a> {
    /// No slot yet, and slots of `bytes` later.
    pub(super) fn new(device: Device, bytes: usize, settings: &'a Settings) -> Self {
        Self { device, epoch: device.epoch(), bytes, settings, slots: Vec::new() }
    }

    /// Takes one more; `false` where there is none.
    pub(super) fn grow(&mut self) -> bool {
        let taken = take(self.device, self.bytes, self.settings);
        let grown = taken.is_some();
        self.slots.extend(taken);
        grown
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn slot(&mut self, place: usize) -> &mut Slot {
        &mut self.slots[place]
    }
}

impl Drop for Hand<'_> {
    fn drop(&mut self) {
        let mut store = store(self.device);
        if self.epoch == store.epoch {
            store.slots.append(&mut self.slots);
        } else {
            self.slots.iter().for_each(|slot| forget(slot.address));
        }
    }
}

/// What a device's store holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Bytes of pinned memory.
    pub bytes: usize,
    /// Why the driver gave no more, if it refused.
    pub refused: Option<String>,
}

/// What a device's store holds.
pub fn figures(device: Device) -> Figures {
    let store = store(device);
    Figures { bytes: store.bytes, refused: store.refused.clone() }
}

/// Why a driver gave no more pinned memory, if one did.
pub fn refusal() -> Option<String> {
    let reason = |store: &'static Global<Store>| store.lock().refused.clone();
    STORES.all().find_map(reason)
}

/// Bytes of slots whose copies stand behind other work.
pub(super) fn held(device: Device) -> usize {
    let sights: Vec<Sight> = store(device).slots.iter().filter(|slot| slot.is_held).filter_map(Slot::sight).collect();
    sights.iter().filter(|sight| !sight.is_over()).map(|sight| sight.bytes).sum()
}

/// Gives back to the driver, which waits for the device, what no copy uses, and asks it again later where it refused.
///
/// # Errors
/// The driver's.
pub fn trim(device: Device, keep: usize) -> Result<()> {
    store(device).refused = None;
    let mut surplus: Vec<Slot> = Vec::new();
    while store(device).bytes > keep
        && let Some(slot) = take_idle(device, 0)
    {
        let mut store = store(device);
        store.bytes = store.bytes.saturating_sub(slot.bytes);
        surplus.push(slot);
    }
    surplus.into_iter().try_for_each(|slot| {
        // SAFETY: the memory came from `pin`, no copy uses it and no store knows it.
        unsafe { unpin(device, slot.address, slot.bytes) }
    })
}
