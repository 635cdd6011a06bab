//! Defines streams and events: execution order and synchronization.
//!
//! Work goes to the thread's current stream of the device: the legacy default stream, or the stream set by
//! `push_current`. A stream waits for another stream through an event, without blocking the host. An opaque owner keeps
//! another library's stream alive; after that owner is dropped, the handle may become invalid at any time. Therefore no
//! event is recorded on a borrowed stream after the call that received the stream has returned. [`StreamId`] determines
//! whether two handles denote one stream.

mod current_stream;
mod event;
mod identity;
mod memory_block_cache;
mod pooled_event;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

pub use self::current_stream::{current, own_current, pop_current, push_current};
pub use self::event::Event;
pub use self::identity::StreamId;
use self::identity::{LEGACY, PER_THREAD, is_mapped, new_serial, serial_of_thread};
use self::memory_block_cache::StreamBlockCache;
pub use self::memory_block_cache::{free_spare, spare_bytes, spare_size};
pub use self::pooled_event::PooledEvent;
use crate::Device;
use crate::shutdown;
use pygpu_backend::{StreamFlags, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeMutex;

/// A stream of a device. Clones denote the same stream.
#[derive(Clone)]
pub struct Stream {
    device: Device,
    /// The stream's data, or `None` for the legacy default stream, which needs no owner: cloning `None` costs nothing.
    inner: Option<Arc<StreamInner>>,
}

/// An opaque value that keeps another library's stream alive.
pub type StreamOwner = Box<dyn Any + Send + Sync>;

struct StreamInner {
    device: Device,
    handle: StreamHandle,
    epoch: u32,
    owner: HandleOwner,
    /// Serial number, which distinguishes this stream from earlier and later streams with the same handle; see
    /// [`StreamId`].
    serial: u64,
    /// Memory blocks that were freed in this stream's order and are kept for reuse.
    block_cache: Mutex<StreamBlockCache>,
}

impl StreamInner {
    fn new(device: Device, handle: StreamHandle, epoch: u32, owner: HandleOwner, serial: u64) -> Self {
        Self { device, handle, epoch, owner, serial, block_cache: Mutex::default() }
    }
}

enum HandleOwner {
    Ours,
    Foreign { _owner: Option<StreamOwner> },
}

impl PartialEq for Stream {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Stream {}

impl Stream {
    /// Returns the legacy default stream of a device.
    #[inline]
    pub fn default_of(device: Device) -> Self {
        Self { device, inner: None }
    }

    /// Creates a stream with the given options.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn create(device: Device, flags: StreamFlags) -> Result<Self> {
        let epoch = device.epoch();
        let handle = device.backend().create_stream(device.index(), flags)?;
        let inner = Arc::new(StreamInner::new(device, handle, epoch, HandleOwner::Ours, new_serial()));
        ours(device).lock().insert(handle.0, Arc::downgrade(&inner));
        Ok(Self { device, inner: Some(inner) })
    }

    /// Returns the stream of a handle that another library passed. If a live PyGPU stream has the handle, the returned
    /// stream denotes the PyGPU stream. The returned stream stores `owner`, the value that keeps the other library's
    /// stream alive.
    pub fn foreign(device: Device, handle: StreamHandle, owner: Option<StreamOwner>) -> Self {
        if matches!(handle, StreamHandle::DEFAULT | LEGACY) {
            return Self::default_of(device);
        }
        let (serial, owner) = match (Self::of_ours(device, handle), owner) {
            (Some(stream), None) => return stream,
            // The owner of the returned stream keeps both the PyGPU stream and the caller's owner alive.
            (Some(stream), Some(owner)) => (stream.identity().serial, Some(Box::new((stream, owner)) as StreamOwner)),
            (None, Some(owner)) => (0, Some(owner)),
            (None, None) => (new_serial(), None),
        };
        let owner = HandleOwner::Foreign { _owner: owner };
        Self { device, inner: Some(Arc::new(StreamInner::new(device, handle, device.epoch(), owner, serial))) }
    }

    /// Returns the PyGPU stream that has this handle, if it is alive.
    #[inline]
    fn of_ours(device: Device, handle: StreamHandle) -> Option<Self> {
        let inner = ours(device).lock().get(&handle.0)?.upgrade()?;
        let device = inner.device;
        (inner.epoch == device.epoch()).then_some(Self { device, inner: Some(inner) })
    }

    /// Returns the stream whose handle another library passed as a bare number, without an owner. The driver would
    /// dereference the number as an address, so this function rejects numbers that are no mapped address. It cannot
    /// detect a mapped address that is not a stream's handle.
    ///
    /// # Errors
    /// `ValueError` for a number that cannot be a stream's handle.
    #[inline]
    pub fn named(device: Device, handle: StreamHandle) -> Result<Self> {
        if matches!(handle, StreamHandle::DEFAULT | LEGACY) {
            return Ok(Self::default_of(device));
        }
        if let Some(stream) = Self::of_ours(device, handle) {
            return Ok(stream);
        }
        // The handles 0, 1 and 2 denote the default streams.
        if !device.is_cpu() && handle.0 > PER_THREAD.0 && !is_mapped(handle.0) {
            return Err(Error::value(format!(
                "{} is no handle of a stream of {device}: give the number that its library shows, or the stream itself",
                handle.0
            )));
        }
        Ok(Self::foreign(device, handle, None))
    }

    /// Returns the device of the stream.
    #[inline]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the driver's handle of the stream.
    #[inline]
    pub fn handle(&self) -> StreamHandle {
        self.inner.as_ref().map_or(StreamHandle::DEFAULT, |inner| inner.handle)
    }

    /// Returns the identity of the stream, for the calling thread.
    #[inline]
    pub fn identity(&self) -> StreamId {
        let serial = match &self.inner {
            None => 0,
            Some(inner) if inner.handle == PER_THREAD && !self.device.is_cpu() => serial_of_thread(),
            Some(inner) => inner.serial,
        };
        StreamId { device: self.device, handle: self.handle(), serial }
    }

    /// Returns whether two streams have the same handle. If one of the streams may have been destroyed, equal handles
    /// need not denote the same stream.
    #[inline]
    pub fn has_handle_of(&self, other: &Self) -> bool {
        self.handle() == other.handle() && self.device == other.device
    }

    /// Returns whether the stream is borrowed from another library, with or without an owner. Its handle may become
    /// invalid, or may denote a different stream in another thread.
    #[inline]
    pub fn is_foreign(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| matches!(inner.owner, HandleOwner::Foreign { .. }))
    }

    /// Blocks the host until all work of the stream is complete.
    ///
    /// # Errors
    /// Errors of the driver, including those of earlier asynchronous work.
    pub fn synchronize(&self) -> Result<()> {
        self.check_alive("synchronize")?;
        // SAFETY: the handle is valid: `inner` owns a PyGPU stream, and `owner` keeps a borrowed one alive.
        unsafe { self.device.backend().synchronize_stream(self.device.index(), self.handle()) }
    }

    /// Returns whether all work of the stream is complete.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn query(&self) -> Result<bool> {
        self.check_alive("query")?;
        // SAFETY: as in `synchronize`.
        unsafe { self.device.backend().query_stream(self.device.index(), self.handle()) }
    }

    /// Returns the options of the stream, with the priority after the driver's clamping.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn flags(&self) -> Result<StreamFlags> {
        self.check_alive("stream_flags")?;
        // SAFETY: as in `synchronize`.
        unsafe { self.device.backend().stream_flags(self.device.index(), self.handle()) }
    }

    #[inline]
    fn check_alive(&self, operation: &str) -> Result<()> {
        match &self.inner {
            Some(inner) if inner.epoch != self.device.epoch() => Err(reset_error(operation, "stream", self.device)),
            _ => Ok(()),
        }
    }
}

/// The live PyGPU streams of each kind of backend, by handle. No two live streams share a handle.
static OURS: [ForkSafeMutex<BTreeMap<usize, Weak<StreamInner>>>; 3] =
    [const { ForkSafeMutex::new(BTreeMap::new()) }; 3];

#[inline]
fn ours(device: Device) -> &'static ForkSafeMutex<BTreeMap<usize, Weak<StreamInner>>> {
    &OURS[device.kind() as usize]
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        if matches!(self.owner, HandleOwner::Foreign { .. }) {
            return;
        }
        // The stream's entry in the table is removed first, before the driver can reuse the handle for another stream.
        let mut ours = ours(self.device).lock();
        if ours.get(&self.handle.0).is_some_and(|other| std::ptr::eq(other.as_ptr(), self)) {
            ours.remove(&self.handle.0);
        }
        drop(ours);
        if !shutdown::exiting() && self.epoch == self.device.epoch() {
            shutdown::defer(memory_block_cache::free_at_the_end(self.device, self.handle, &mut self.block_cache));
            // SAFETY: `self` is the last owner of the handle, which `create_stream` returned.
            shutdown::defer(unsafe { self.device.backend().destroy_stream(self.device.index(), self.handle) });
        }
    }
}

fn reset_error(operation: &str, noun: &str, device: Device) -> Error {
    Error::value(format!("{operation}: the {noun} was destroyed when {device} was reset; make a new one"))
}
