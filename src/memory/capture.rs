//! Captures that are under way: what they take hold of, and what must wait for their end.
//!
//! While a stream captures, what is put on it does not run, and much that is harmless elsewhere makes the capture invalid: a
//! wait for other streams' work, an allocation in the stream's order, an event over all streams. So a block that is used in a
//! capture of ours is noted instead of waited for, and the order is kept when the graph is launched (`graph`); what is given
//! back meanwhile is given back afterwards. A capture that somebody else began cannot be told of launches: there the host waits
//! until a block is settled, before the block is captured.
//!
//! Never on the quick path: as long as no capture of ours is under way, one number is read.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use crate::{Access, Allocation};
use pygpu_backend::{CaptureMode, GraphHandle, HostUse, NodeHandle, StreamFlags, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::Global;
use pygpu_device::stream::Stream;
use pygpu_device::{Device, PerDevice, per_device};

/// What is only held.
pub type Thing = Box<dyn Any + Send>;

/// What is only held, by several graphs perhaps.
pub type Part = Arc<dyn Any + Send + Sync>;

/// A block and what is done to it.
pub type Used = (Arc<Allocation>, Access);

/// What is known of one operation of a graph.
#[derive(Clone)]
pub struct Made {
    /// The operation.
    pub node: NodeHandle,
    /// The blocks that it uses, all of them.
    pub uses: Vec<Used>,
    /// What it was made of.
    pub part: Option<Part>,
}

/// A capture of ours.
pub struct Capture {
    device: Device,
    number: u64,
    contents: Mutex<Contents>,
    /// The capture and its stream in whose operation this one is a body.
    around: Option<(Arc<Capture>, Stream)>,
    /// How many bodies are being captured into it.
    bodies: AtomicUsize,
    /// How many uses were noted, of its own.
    notes: AtomicUsize,
}

/// A block that a graph uses.
pub struct Noted {
    /// The block.
    pub block: Arc<Allocation>,
    /// The most that is done to it.
    pub access: Access,
    /// Its last write in the capture and the reads since, by their streams.
    uses: SmallVec<[(Stream, Access); 1]>,
}

/// What a graph uses.
#[derive(Default)]
pub struct Contents {
    /// The blocks, each once.
    pub blocks: Vec<Noted>,
    /// What else must be there when the graph runs.
    pub things: Vec<Thing>,
    /// The operations of which is known what they use.
    pub made: Vec<Made>,
    /// What is used by operations of which is not known which they are.
    pub shared: Vec<Used>,
    /// How many operations there were when the last work began.
    seen: usize,
    /// What the next operation is made of.
    part: Option<Part>,
}

/// How many captures of ours are under way.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

#[derive(Default)]
struct Table {
    captures: Vec<Arc<Capture>>,
    /// What is dropped when none is under way any more.
    afterwards: Vec<Thing>,
}

static TABLE: Global<Table> = Global::new(Table { captures: Vec::new(), afterwards: Vec::new() });
/// A stream of each device in whose order memory is made that a capture needs.
static HOMES: PerDevice<Global<Option<Home>>> = per_device!(Global::new(None));

struct Home {
    epoch: u32,
    stream: Stream,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a capture of ours is under way.
#[inline]
pub fn is_any() -> bool {
    ACTIVE.load(Ordering::Acquire) > 0
}

/// The driver's number of the capture in which a stream takes part, whoever began it.
///
/// # Errors
/// The driver's.
pub fn number_of(stream: &Stream) -> Result<Option<u64>> {
    let device = stream.device();
    // The legacy default stream never takes part, and to ask about it is an error while others do.
    if matches!(stream.handle(), StreamHandle(0 | 1)) {
        return Ok(None);
    }
    match device.backend().graphs() {
        // SAFETY: the stream is borrowed, and so alive.
        Ok(graphs) => unsafe { graphs.capture_of(device.index(), stream.handle()) },
        Err(_) => Ok(None),
    }
}

/// The capture of ours in which a stream takes part.
///
/// # Errors
/// The driver's.
#[inline]
pub fn of(stream: &Stream) -> Result<Option<Arc<Capture>>> {
    if is_any() { find(stream) } else { Ok(None) }
}

#[cold]
fn find(stream: &Stream) -> Result<Option<Arc<Capture>>> {
    let Some(number) = number_of(stream)? else { return Ok(None) };
    let found = TABLE.lock().captures.iter().find(|one| one.number == number && one.device == stream.device()).cloned();
    Ok(found)
}

/// Whether a stream takes part in a capture, as far as that is asked for everywhere: of streams that are ours only while a
/// capture of ours is under way.
///
/// # Errors
/// The driver's.
#[inline]
pub fn is_capturing(stream: &Stream) -> Result<bool> {
    Ok((is_any() || stream.is_foreign()) && number_of(stream)?.is_some())
}

/// Refuses what a stream that takes part in a capture cannot take in.
///
/// # Errors
/// `NotSupported`; the driver's.
#[inline]
pub fn refuse(what: &str, stream: &Stream) -> Result<()> {
    if is_capturing(stream)? { Err(refusal(what)) } else { Ok(()) }
}

/// The one door through which host memory comes to a copy: a graph uses it whenever it runs, not now, so in a capture it must be
/// `lasting`, which is asked only then. Who says so keeps the memory as long as the graph (`pending`).
///
/// # Errors
/// `NotSupported` for memory that does not last and a stream that takes part in a capture; the driver's.
#[inline]
pub fn host_use(what: &str, stream: &Stream, lasting: impl FnOnce() -> Result<bool>) -> Result<HostUse> {
    if is_capturing(stream)? && !lasting()? {
        return Err(refusal(what));
    }
    // SAFETY: the stream takes part in no capture that we are asked to know of, or the memory lasts.
    Ok(unsafe { HostUse::promised() })
}

/// What is told before the driver makes a capture invalid for something that it cannot take in.
#[cold]
pub fn refusal(what: &str) -> Error {
    Error::not_supported(format!(
        "{what} cannot be captured: a graph repeats work of the device, and this needs the host; do it before or after the \
         capture"
    ))
}

/// The stream in whose order memory is made that work on a capturing stream is to use: memory that is made in a capture is there
/// only while its graph runs.
///
/// # Errors
/// The driver's.
pub(super) fn home(device: Device) -> Result<Stream> {
    let slot = HOMES.of(device);
    let epoch = device.epoch();
    let known = |home: &Option<Home>| home.as_ref().filter(|home| home.epoch == epoch).map(|home| home.stream.clone());
    if let Some(stream) = known(&slot.lock()) {
        return Ok(stream);
    }
    let made = Stream::create(device, StreamFlags { non_blocking: true, priority: 0 })?; // not under the lock
    let mut home = slot.lock();
    let stream = known(&home).unwrap_or_else(|| made.clone());
    let before = home.replace(Home { epoch, stream: stream.clone() });
    drop(home); // before a stream that nobody needs
    drop((before, made));
    Ok(stream)
}

/// Drops a thing now, or when no capture of ours is under way any more.
pub fn drop_afterwards(thing: Thing) {
    let mut table = TABLE.lock();
    if is_any() {
        table.afterwards.push(thing);
        return;
    }
    drop(table); // before the thing, whose end may come here again
    drop(thing);
}

impl Capture {
    /// Begins a capture.
    ///
    /// # Errors
    /// The driver's, for a default stream and one that captures already.
    pub fn begin(stream: &Stream, mode: CaptureMode) -> Result<Arc<Self>> {
        let device = stream.device();
        let graphs = device.backend().graphs()?;
        home(device)?;
        // SAFETY: the stream is borrowed, and so alive.
        unsafe { graphs.begin_capture(device.index(), stream.handle(), mode) }?;
        Self::of_stream(stream, None)
    }

    /// Begins the capture of a body, by a stream that is to capture nothing else.
    ///
    /// # Errors
    /// The driver's.
    ///
    /// # Safety
    /// The body is one of an operation of `around`, which is not over.
    pub unsafe fn begin_body(
        stream: &Stream,
        body: GraphHandle,
        mode: CaptureMode,
        around: (Arc<Self>, Stream),
    ) -> Result<Arc<Self>> {
        let device = stream.device();
        // SAFETY: the stream is borrowed, and so alive; the rest is promised.
        unsafe { device.backend().graphs()?.begin_body(device.index(), stream.handle(), body, mode) }?;
        around.0.bodies.fetch_add(1, Ordering::AcqRel);
        Self::of_stream(stream, Some(around))
    }

    fn of_stream(stream: &Stream, around: Option<(Arc<Self>, Stream)>) -> Result<Arc<Self>> {
        let number = number_of(stream)?.unwrap_or_default();
        let capture = Arc::new(Self {
            device: stream.device(),
            number,
            contents: Mutex::default(),
            around,
            bodies: AtomicUsize::new(0),
            notes: AtomicUsize::new(0),
        });
        let mut table = TABLE.lock();
        table.captures.push(Arc::clone(&capture));
        ACTIVE.store(table.captures.len(), Ordering::Release);
        Ok(capture)
    }

    /// As [`Capture::close`], of a body: what it took hold of belongs to the graph as a whole.
    pub fn close_body(&self) {
        let Contents { things, made, shared, .. } = self.close();
        let Some((around, _)) = &self.around else { return };
        around.bodies.fetch_sub(1, Ordering::AcqRel);
        let mut contents = lock(&around.contents);
        contents.things.extend(things);
        contents.shared.extend(shared);
        for made in made {
            contents.shared.extend(made.uses);
            contents.things.extend(made.part.map(|part| Box::new(part) as Thing));
        }
    }

    /// The capture in whose operation this one is a body.
    pub fn around(&self) -> Option<&Arc<Self>> {
        self.around.as_ref().map(|(around, _)| around)
    }

    /// How many uses there were of its own, for whoever asks later whether there were more.
    pub fn notes(&self) -> usize {
        self.notes.load(Ordering::Acquire)
    }

    /// Lets a stream of the capture come after everything that it holds by now: a body may use all of it.
    ///
    /// # Errors
    /// The driver's.
    pub fn gather(&self, stream: &Stream) -> Result<()> {
        let contents = lock(&self.contents);
        let uses = contents.blocks.iter().flat_map(|noted| &noted.uses).map(|(other, _)| other);
        let mut others: SmallVec<[Stream; 2]> = SmallVec::new();
        for other in uses {
            if !other.has_handle_of(stream) && !others.iter().any(|known| known.has_handle_of(other)) {
                others.push(other.clone());
            }
        }
        drop(contents); // the driver is not called under the lock
        others.iter().try_for_each(|other| stream.wait_for(other))
    }

    /// Says that the capture is over: what was to be dropped meanwhile is dropped. What it took hold of is given out.
    pub fn close(&self) -> Contents {
        let mut table = TABLE.lock();
        table.captures.retain(|other| !std::ptr::eq(&raw const **other, self));
        ACTIVE.store(table.captures.len(), Ordering::Release);
        let dropped = if table.captures.is_empty() { std::mem::take(&mut table.afterwards) } else { Vec::new() };
        drop(table);
        drop(dropped);
        std::mem::take(&mut *lock(&self.contents))
    }

    /// Notes that a block is used on a stream of the capture, which other streams of it that have used the block come before.
    pub(super) fn note(&self, block: &Arc<Allocation>, access: Access, stream: &Stream) -> Result<()> {
        self.check_open()?;
        block.publish(); // who has the graph's handle reaches it
        self.notes.fetch_add(1, Ordering::AcqRel);
        self.note_use(block, access, stream)
    }

    /// Refuses what goes beside a body that is being captured.
    ///
    /// # Errors
    /// `ValueError`.
    pub fn check_open(&self) -> Result<()> {
        if self.bodies.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        Err(Error::value(
            "a body of a conditional node is being captured, and this goes beside it: put it on the stream of the body, or before \
             or after the body's `with`",
        ))
    }

    fn note_use(&self, block: &Arc<Allocation>, access: Access, stream: &Stream) -> Result<()> {
        if let Some((around, origin)) = &self.around {
            // The body's operation uses it.
            around.note_use(block, access, origin)?;
        }
        let is_before = |(other, earlier): &(Stream, Access)| {
            !other.has_handle_of(stream) && (access == Access::Write || *earlier == Access::Write)
        };
        let mut contents = lock(&self.contents);
        let place = contents.blocks.iter().position(|noted| Arc::ptr_eq(&noted.block, block));
        let Some(noted) = place.map(|place| &mut contents.blocks[place]) else {
            let uses = SmallVec::from_iter([(stream.clone(), access)]);
            contents.blocks.push(Noted { block: Arc::clone(block), access, uses });
            return Ok(());
        };
        let before: SmallVec<[Stream; 2]> =
            noted.uses.iter().filter(|used| is_before(used)).map(|(other, _)| other.clone()).collect();
        if access == Access::Write {
            (noted.access, noted.uses) = (access, SmallVec::new());
        }
        if !noted.uses.iter().any(|(other, _)| other.has_handle_of(stream)) {
            noted.uses.push((stream.clone(), access));
        }
        drop(contents); // the driver is not called under the lock
        before.iter().try_for_each(|other| stream.wait_for(other))
    }

    /// Says that work of the stream begins, which is to become an operation.
    pub(super) fn begin_work(&self, stream: &Stream) -> Result<()> {
        let device = self.device;
        // SAFETY: the stream is borrowed, and so alive.
        let now = unsafe { device.backend().graphs()?.captured(device.index(), stream.handle()) }?;
        lock(&self.contents).seen = now.nodes;
        Ok(())
    }

    /// Says that work of the stream was put on it: what it uses belongs to the operation that came of it, where it is one.
    pub(super) fn end_work(&self, uses: &[(&Arc<Allocation>, Access)], stream: &Stream) -> Result<()> {
        let device = self.device;
        // SAFETY: the stream is borrowed, and so alive.
        let now = unsafe { device.backend().graphs()?.captured(device.index(), stream.handle()) }?;
        let uses = uses.iter().map(|(block, access)| (Arc::clone(block), *access));
        let mut contents = lock(&self.contents);
        let (before, part) = (std::mem::replace(&mut contents.seen, now.nodes), contents.part.take());
        let known = now.last.and_then(|last| contents.made.iter().rposition(|made| made.node == last));
        match (now.nodes.checked_sub(before), now.last, known) {
            (Some(1), Some(node), None) => contents.made.push(Made { node, uses: uses.collect(), part }),
            // Work within other work.
            (Some(0), _, Some(place)) if place + 1 == contents.made.len() => contents.made[place].uses.extend(uses),
            _ => {
                contents.shared.extend(uses);
                contents.things.extend(part.map(|part| Box::new(part) as Thing));
            }
        }
        Ok(())
    }

    /// Says what the operation was made of that was put on a stream just now.
    pub fn made_of(&self, part: Part) {
        let before = lock(&self.contents).part.replace(part);
        drop(before); // without the lock
    }

    /// Keeps a thing as long as the graph.
    pub fn keep(&self, thing: Thing) {
        lock(&self.contents).things.push(thing);
    }
}
