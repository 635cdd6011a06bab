//! Streams and events: in which order work runs, and who waits for whom.
//!
//! Work goes to the thread's current stream of the device: the legacy default stream unless `push_current` says otherwise.
//! A stream waits for another by an event, never by stopping the host. A stream of another library is kept alive by an
//! opaque keeper; its handle may die without notice once the keeper is gone, so nothing records on it later than the call
//! that was given it. Which handles mean one stream, [`Identity`] says.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::backend::{EventFlags, EventHandle, HANDLE_BYTES, StreamFlags, StreamHandle};
use crate::device::{Device, MAX_DEVICES};
use crate::error::{Error, Result};
use crate::global::Global;
use crate::lifetime;

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
}

enum Owner {
    Ours,
    Foreign { _keeper: Option<Keeper> },
}

/// What two streams share exactly if work on one is known to be in the order of the other.
///
/// | stream | handle | serial |
/// |---|---|---|
/// | the legacy default one | 0 | 0 |
/// | one of ours | its own | its own, since a driver gives the handle of a destroyed one to the next |
/// | another library's, kept alive | its own | 0: as long as it lives nobody else has the handle |
/// | a bare number | its own | new each time that it is given: nothing says that it means the same stream as before |
/// | the per-thread default one | 2 | the calling thread's: it is another stream in each |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    device: Device,
    handle: StreamHandle,
    serial: u64,
}

/// CUDA's and HIP's names of the legacy and the per-thread default stream.
const LEGACY: StreamHandle = StreamHandle(1);
const PER_THREAD: StreamHandle = StreamHandle(2);

/// A number that no other stream and no other thread has.
fn new_serial() -> u64 {
    static LATEST: AtomicU64 = AtomicU64::new(0);
    LATEST.fetch_add(1, Ordering::Relaxed) + 1
}

fn serial_of_thread() -> u64 {
    thread_local! {
        static SERIAL: u64 = new_serial();
    }
    // A thread that is ending is a new one at each question: one wait too many.
    SERIAL.try_with(|serial| *serial).unwrap_or_else(|_| new_serial())
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
        let inner = Arc::new(Inner { device, handle, epoch, owner: Owner::Ours, serial: new_serial() });
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
        Self { device, inner: Some(Arc::new(Inner { device, handle, epoch: device.epoch(), owner, serial })) }
    }

    /// The stream of ours that has a handle.
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

    /// Lets work put on the stream from now on wait for an event, which may be of another device.
    ///
    /// # Errors
    /// The driver's.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        self.check_alive("wait_event")?;
        event.check_alive("wait_event")?;
        if self.device.kind() != event.device.kind() {
            return Err(Error::value(format!(
                "wait_event: a stream of {} cannot wait for an event of {}: no driver serves both",
                self.device, event.device
            )));
        }
        // SAFETY: the event is borrowed, the stream alive as in `synchronize`.
        unsafe { self.device.backend().wait_event(self.device.index(), self.handle(), event.handle) }
    }

    /// Lets work put on this stream from now on wait for all that is on `first` now.
    ///
    /// # Errors
    /// The driver's.
    pub fn wait_for(&self, first: &Self) -> Result<()> {
        if self == first {
            return Ok(());
        }
        let mark = Mark::record(first)?;
        self.wait_event(&mark.event)
    }

    fn check_alive(&self, operation: &str) -> Result<()> {
        match &self.inner {
            Some(inner) if inner.epoch != self.device.epoch() => Err(reset_error(operation, "stream", self.device)),
            _ => Ok(()),
        }
    }
}

/// Whether an address is aligned as an object of a driver is, and lies in memory that the process has mapped.
fn is_mapped(address: usize) -> bool {
    const PAGE: usize = 4096;
    if address < PAGE || !address.is_multiple_of(align_of::<usize>()) {
        return false;
    }
    // SAFETY: with MS_ASYNC the call does nothing but say ENOMEM where nothing is mapped.
    unsafe { libc::msync((address & !(PAGE - 1)) as *mut _, PAGE, libc::MS_ASYNC) == 0 }
}

/// The living streams of ours of each backend, by their handles, which no two have at a time.
static OURS: [Global<BTreeMap<usize, Weak<Inner>>>; 3] = [const { Global::new(BTreeMap::new()) }; 3];

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
        if !lifetime::exiting() && self.epoch == self.device.epoch() {
            // SAFETY: this is the last owner of a handle that `create_stream` gave.
            lifetime::defer(unsafe { self.device.backend().destroy_stream(self.device.index(), self.handle) });
        }
    }
}

fn reset_error(operation: &str, noun: &str, device: Device) -> Error {
    Error::value(format!("{operation}: the {noun} was destroyed when {device} was reset; make a new one"))
}

/// A point of a stream that others can wait for.
pub struct Event {
    device: Device,
    handle: EventHandle,
    epoch: u32,
}

impl Event {
    /// A new event that marks nothing yet.
    ///
    /// # Errors
    /// The driver's.
    pub fn create(device: Device, flags: EventFlags) -> Result<Self> {
        let epoch = device.epoch();
        Ok(Self { device, handle: device.backend().create_event(device.index(), flags)?, epoch })
    }

    /// An event of another process, by the name that it was given there.
    ///
    /// # Errors
    /// The driver's; `NotSupported` on the CPU.
    pub fn open_shared(device: Device, handle: &[u8; HANDLE_BYTES]) -> Result<Self> {
        let epoch = device.epoch();
        let handle = device.backend().driver_memory()?.open_shared_event(device.index(), handle)?;
        Ok(Self { device, handle, epoch })
    }

    /// Names the event for other processes.
    ///
    /// # Errors
    /// The driver's, for one that was not made for that; `NotSupported` on the CPU.
    pub fn share(&self) -> Result<[u8; HANDLE_BYTES]> {
        self.check_alive("share")?;
        // SAFETY: the handle is alive.
        unsafe { self.device.backend().driver_memory()?.share_event(self.device.index(), self.handle) }
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The driver's handle.
    pub fn handle(&self) -> EventHandle {
        self.handle
    }

    /// Marks the point that the stream has reached.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; the driver's.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.check_alive("record")?;
        stream.check_alive("record")?;
        if stream.device != self.device {
            return Err(Error::value(format!(
                "record: the event is of {} and the stream of {}; an event marks streams of its own device",
                self.device, stream.device
            )));
        }
        // SAFETY: both handles are alive and of one device.
        unsafe { self.device.backend().record_event(self.device.index(), self.handle, stream.handle()) }
    }

    /// Whether the marked point was reached; true for an event that marks nothing.
    ///
    /// # Errors
    /// The driver's.
    pub fn query(&self) -> Result<bool> {
        self.check_alive("query")?;
        // SAFETY: the handle is alive.
        unsafe { self.device.backend().query_event(self.device.index(), self.handle) }
    }

    /// Waits until the marked point was reached.
    ///
    /// # Errors
    /// The driver's.
    pub fn synchronize(&self) -> Result<()> {
        self.check_alive("synchronize")?;
        // SAFETY: the handle is alive.
        unsafe { self.device.backend().synchronize_event(self.device.index(), self.handle) }
    }

    /// Milliseconds from this event to `end`.
    ///
    /// # Errors
    /// The driver's: both must be recorded, reached, and made with timing.
    pub fn elapsed(&self, end: &Self) -> Result<f32> {
        self.check_alive("elapsed")?;
        end.check_alive("elapsed")?;
        // SAFETY: both handles are alive.
        unsafe { self.device.backend().elapsed(self.device.index(), self.handle, end.handle) }
    }

    /// Whether the driver still knows it: not after its device was reset.
    pub fn is_alive(&self) -> bool {
        self.epoch == self.device.epoch()
    }

    fn check_alive(&self, operation: &str) -> Result<()> {
        if self.is_alive() { Ok(()) } else { Err(reset_error(operation, "event", self.device)) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !lifetime::exiting() && self.epoch == self.device.epoch() {
            // SAFETY: this is the only owner of a handle that `create_event` gave.
            lifetime::defer(unsafe { self.device.backend().destroy_event(self.device.index(), self.handle) });
        }
    }
}

/// Events without timing that are kept for the next use: making one costs more than recording it.
static SPARE: [[Global<Vec<Event>>; MAX_DEVICES]; 3] = [const { [const { Global::new(Vec::new()) }; MAX_DEVICES] }; 3];

/// Most spare events of one device.
const MAX_SPARE: usize = 64;

/// A recorded event from the store of spare ones, to which it returns when dropped: a stream that was told to wait for it
/// keeps waiting for the point it marked then.
pub struct Mark {
    event: std::mem::ManuallyDrop<Event>,
}

impl Mark {
    /// Marks the point that a stream has reached.
    ///
    /// # Errors
    /// The driver's.
    pub fn record(stream: &Stream) -> Result<Self> {
        let mark = Self::unrecorded(stream.device)?;
        mark.event.record(stream)?;
        Ok(mark)
    }

    /// Marks the point that all streams of a device have reached; `None` where its driver cannot.
    ///
    /// # Errors
    /// The driver's.
    pub fn record_device(device: Device) -> Result<Option<Self>> {
        let mark = Self::unrecorded(device)?;
        // SAFETY: the event is alive and of the device.
        let recorded = unsafe { device.backend().record_event_of_device(device.index(), mark.event.handle)? };
        Ok(recorded.then_some(mark))
    }

    /// The event.
    pub fn event(&self) -> &Event {
        &self.event
    }

    fn unrecorded(device: Device) -> Result<Self> {
        let epoch = device.epoch();
        let spare = spare_of(device).lock().pop().filter(|event| event.epoch == epoch);
        let event = match spare {
            Some(event) => event,
            None => Event::create(device, EventFlags { timing: false, blocking_sync: false, interprocess: false })?,
        };
        Ok(Self { event: std::mem::ManuallyDrop::new(event) })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: the event is taken out once, here.
        let event = unsafe { std::mem::ManuallyDrop::take(&mut self.event) };
        let mut spare = spare_of(event.device).lock();
        if spare.len() < MAX_SPARE {
            spare.push(event);
            return;
        }
        drop(spare); // before the event, whose destruction calls the driver
        drop(event);
    }
}

fn spare_of(device: Device) -> &'static Global<Vec<Event>> {
    &SPARE[device.kind() as usize][device.slot()]
}

thread_local! {
    static CURRENT: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's current stream of a device.
#[inline]
pub fn current(device: Device) -> Stream {
    let top = CURRENT.try_with(|stack| stack.borrow().iter().rev().find(|stream| stream.device == device).cloned());
    top.ok().flatten().unwrap_or_else(|| Stream::default_of(device))
}

/// As [`current`], unless that is another library's and may be gone when memory is used again: then the default stream.
/// For notes that outlive a call.
pub fn own_current(device: Device) -> Stream {
    let current = current(device);
    if current.is_foreign() { Stream::default_of(device) } else { current }
}

/// Makes a stream the calling thread's current one of its device.
pub fn push_current(stream: Stream) {
    CURRENT.with(|stack| stack.borrow_mut().push(stream));
}

/// Takes back the latest `push_current` of this stream; `false` if there is none.
pub fn pop_current(stream: &Stream) -> bool {
    let removed = CURRENT.with(|stack| {
        let mut stack = stack.borrow_mut();
        let position = stack.iter().rposition(|other| other == stream);
        position.map(|position| stack.remove(position))
    });
    removed.is_some()
}
