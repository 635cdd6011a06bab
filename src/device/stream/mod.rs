//! Streams and events: in which order work runs, and who waits for whom.
//!
//! Work goes to the thread's current stream of the device: the legacy default stream unless `push_current` says otherwise.
//! A stream waits for another by an event, never by stopping the host. A stream of another library is kept alive by an
//! opaque keeper; its handle may die without notice once the keeper is gone, so nothing records on it later than the call
//! that was given it. Which handles mean one stream, [`Identity`] says.

mod block_cache;
mod current_stream;
mod event;
mod identity;
mod pooled_event;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use self::block_cache::Spare;
pub use self::block_cache::{free_spare, spare_bytes, spare_size};
pub use self::current_stream::{current, own_current, pop_current, push_current};
pub use self::event::Event;
pub use self::identity::Identity;
use self::identity::{LEGACY, PER_THREAD, is_mapped, new_serial, serial_of_thread};
pub use self::pooled_event::Mark;
use crate::Device;
use crate::shutdown;
use pygpu_backend::{StreamFlags, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::Global;

/// A stream of a device. Clones are the same stream.
#[derive(Clone)]
pub struct Stream {
    device: Device,
    /// `None` is the legacy default stream, which needs no owner: cloning it costs nothing.
    inner: Option<Arc<Inner>>,
}

/// What another library's stream lives as long as.
pub type Keeper = Box<dyn Any + Send + Sync>;

struct Inner {
    device: Device,
    handle: StreamHandle,
    epoch: u32,
    owner: Owner,
    /// What tells it from others that have had the handle; [`Identity`].
    serial: u64,
    /// Blocks that were freed in its order.
    spare: Mutex<Spare>,
}

impl Inner {
    fn new(device: Device, handle: StreamHandle, epoch: u32, owner: Owner, serial: u64) -> Self {
        Self { device, handle, epoch, owner, serial, spare: Mutex::default() }
    }
}

enum Owner {
    Ours,
    Foreign { _keeper: Option<Keeper> },
}

impl PartialEq for Stream {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Stream {}

impl Stream {
    /// The legacy default stream of a device.
    #[inline]
    pub fn default_of(device: Device) -> Self {
        Self { device, inner: None }
    }

    /// A new stream.
    ///
    /// # Errors
    /// The driver's.
    pub fn create(device: Device, flags: StreamFlags) -> Result<Self> {
        let epoch = device.epoch();
        let handle = device.backend().create_stream(device.index(), flags)?;
        let inner = Arc::new(Inner::new(device, handle, epoch, Owner::Ours, new_serial()));
        ours(device).lock().insert(handle.0, Arc::downgrade(&inner));
        Ok(Self { device, inner: Some(inner) })
    }

    /// A stream that another library names by its handle: one of ours, if a living one has it. `keeper` keeps another
    /// library's alive as long as this object.
    pub fn foreign(device: Device, handle: StreamHandle, keeper: Option<Keeper>) -> Self {
        if matches!(handle, StreamHandle::DEFAULT | LEGACY) {
            return Self::default_of(device);
        }
        let (serial, keeper) = match (Self::of_ours(device, handle), keeper) {
            (Some(stream), None) => return stream,
            // Who holds it for its owner's sake keeps both.
            (Some(stream), Some(keeper)) => (stream.identity().serial, Some(Box::new((stream, keeper)) as Keeper)),
            (None, Some(keeper)) => (0, Some(keeper)),
            (None, None) => (new_serial(), None),
        };
        let owner = Owner::Foreign { _keeper: keeper };
        Self { device, inner: Some(Arc::new(Inner::new(device, handle, device.epoch(), owner, serial))) }
    }

    /// The stream of ours that has a handle.
    #[inline]
    fn of_ours(device: Device, handle: StreamHandle) -> Option<Self> {
        let inner = ours(device).lock().get(&handle.0)?.upgrade()?;
        let device = inner.device;
        (inner.epoch == device.epoch()).then_some(Self { device, inner: Some(inner) })
    }

    /// A stream that another library named by a bare number. A driver takes the number for an address and reads there, so
    /// what cannot be one is refused first; an address that is mapped and is no stream's cannot be told.
    ///
    /// # Errors
    /// `ValueError` for a number that is no stream's handle.
    #[inline]
    pub fn named(device: Device, handle: StreamHandle) -> Result<Self> {
        if matches!(handle, StreamHandle::DEFAULT | LEGACY) {
            return Ok(Self::default_of(device));
        }
        if let Some(stream) = Self::of_ours(device, handle) {
            return Ok(stream);
        }
        // 0, 1 and 2 are the default streams by name.
        if !device.is_cpu() && handle.0 > PER_THREAD.0 && !is_mapped(handle.0) {
            return Err(Error::value(format!(
                "{} is no handle of a stream of {device}: give the number that its library shows, or the stream itself",
                handle.0
            )));
        }
        Ok(Self::foreign(device, handle, None))
    }

    /// Its device.
    #[inline]
    pub fn device(&self) -> Device {
        self.device
    }

    /// The driver's handle.
    #[inline]
    pub fn handle(&self) -> StreamHandle {
        self.inner.as_ref().map_or(StreamHandle::DEFAULT, |inner| inner.handle)
    }

    /// Which stream it is, for the calling thread.
    #[inline]
    pub fn identity(&self) -> Identity {
        let serial = match &self.inner {
            None => 0,
            Some(inner) if inner.handle == PER_THREAD && !self.device.is_cpu() => serial_of_thread(),
            Some(inner) => inner.serial,
        };
        Identity { device: self.device, handle: self.handle(), serial }
    }

    /// Whether both have one handle, which means one stream only while both are known to live.
    #[inline]
    pub fn has_handle_of(&self, other: &Self) -> bool {
        self.handle() == other.handle() && self.device == other.device
    }

    /// Whether another library owns it, or nobody does: its handle may be gone, or mean another stream in another thread.
    #[inline]
    pub fn is_foreign(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| matches!(inner.owner, Owner::Foreign { .. }))
    }

    /// Waits until the stream has nothing left to do.
    ///
    /// # Errors
    /// The driver's, which may be that of earlier asynchronous work.
    pub fn synchronize(&self) -> Result<()> {
        self.check_alive("synchronize")?;
        // SAFETY: the handle is alive: ours by `inner`, a foreign one by its keeper.
        unsafe { self.device.backend().synchronize_stream(self.device.index(), self.handle()) }
    }

    /// Whether the stream has nothing left to do.
    ///
    /// # Errors
    /// The driver's.
    pub fn query(&self) -> Result<bool> {
        self.check_alive("query")?;
        // SAFETY: as in `synchronize`.
        unsafe { self.device.backend().query_stream(self.device.index(), self.handle()) }
    }

    #[inline]
    fn check_alive(&self, operation: &str) -> Result<()> {
        match &self.inner {
            Some(inner) if inner.epoch != self.device.epoch() => Err(reset_error(operation, "stream", self.device)),
            _ => Ok(()),
        }
    }
}

/// The living streams of ours of each backend, by their handles, which no two have at a time.
static OURS: [Global<BTreeMap<usize, Weak<Inner>>>; 3] = [const { Global::new(BTreeMap::new()) }; 3];

#[inline]
fn ours(device: Device) -> &'static Global<BTreeMap<usize, Weak<Inner>>> {
    &OURS[device.kind() as usize]
}

impl Drop for Inner {
    fn drop(&mut self) {
        if matches!(self.owner, Owner::Foreign { .. }) {
            return;
        }
        // Before the driver can give the handle to the next one.
        let mut ours = ours(self.device).lock();
        if ours.get(&self.handle.0).is_some_and(|other| std::ptr::eq(other.as_ptr(), self)) {
            ours.remove(&self.handle.0);
        }
        drop(ours);
        if !shutdown::exiting() && self.epoch == self.device.epoch() {
            shutdown::defer(block_cache::free_at_the_end(self.device, self.handle, &mut self.spare));
            // SAFETY: this is the last owner of a handle that `create_stream` gave.
            shutdown::defer(unsafe { self.device.backend().destroy_stream(self.device.index(), self.handle) });
        }
    }
}

fn reset_error(operation: &str, noun: &str, device: Device) -> Error {
    Error::value(format!("{operation}: the {noun} was destroyed when {device} was reset; make a new one"))
}
