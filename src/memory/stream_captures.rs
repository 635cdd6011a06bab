//! Tracks active stream captures: the resources that their graphs need, and objects whose drop must wait for the end of
//! the captures.
//!
//! Work enqueued on a capturing stream does not run, and many calls that are valid elsewhere invalidate the capture:
//! waits for other streams' work, stream-ordered allocation, events over all streams. A use of a memory block within a
//! PyGPU capture therefore waits for no earlier use. Instead the capture records the use, and each launch of the graph
//! waits for conflicting uses (`graph`). Memory that is released during a capture is freed after the capture. The
//! launches of another library's graph are unknown to PyGPU. Before a use of a block enters another library's capture,
//! the host therefore waits until the block is idle.
//!
//! While no capture is active, the tracking costs one atomic load per operation.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use crate::{Access, Allocation};
use pygpu_backend::{CaptureMode, GraphHandle, HostUse, NodeHandle, StreamFlags, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_device::stream::Stream;
use pygpu_device::{Device, PerDevice, per_device};

/// A resource that is kept alive as long as a graph that needs it. This type owns the resource and gives no access to
/// it.
pub type GraphResource = Box<dyn Any + Send>;

/// A resource that several graphs share. The resource is kept alive until the last of these graphs is destroyed.
pub type SharedResource = Arc<dyn Any + Send + Sync>;

/// A memory block that captured work uses, and the kind of access.
pub type UsedBlock = (Arc<Allocation>, Access);

/// One operation of a captured graph, with the memory blocks and the resource that it needs.
#[derive(Clone)]
pub struct CapturedNode {
    /// The driver's handle of the operation's graph node.
    pub node: NodeHandle,
    /// All memory blocks that the operation uses.
    pub uses: Vec<UsedBlock>,
    /// The resource from which the operation was created, e.g. a kernel.
    pub part: Option<SharedResource>,
}

/// A capture that PyGPU began.
pub struct Capture {
    device: Device,
    number: u64,
    contents: Mutex<GraphContents>,
    /// Set only if this is the capture of a conditional node's body: the capture that contains the conditional node,
    /// and the stream on which the node was captured.
    enclosing: Option<(Arc<Capture>, Stream)>,
    /// Number of conditional bodies inside this capture that are being captured.
    bodies: AtomicUsize,
    /// Number of uses of memory blocks recorded in this capture, not counting those of its conditional bodies.
    recorded: AtomicUsize,
}

/// A memory block that a captured graph uses.
pub struct CapturedBlock {
    /// The block.
    pub block: Arc<Allocation>,
    /// The access of the graph to the block: `Write` if any captured operation writes it, otherwise `Read`.
    pub access: Access,
    /// The last captured write of the block and all captured reads after it, with the streams of these uses.
    uses: SmallVec<[(Stream, Access); 1]>,
}

/// The operations of a captured graph, and the resources that they need.
#[derive(Default)]
pub struct GraphContents {
    /// The blocks that captured operations use, each once.
    pub blocks: Vec<CapturedBlock>,
    /// Resources other than blocks that must stay alive while the graph may run.
    pub things: Vec<GraphResource>,
    /// The captured operations whose resources are known individually.
    pub made: Vec<CapturedNode>,
    /// Uses of memory blocks for which it is unknown which captured operation makes them.
    pub shared: Vec<UsedBlock>,
    /// Number of operations that the stream had captured when [`Capture::begin_work`] was last called.
    seen: usize,
    /// The resource, such as a kernel, from which the next operation on the stream is created.
    part: Option<SharedResource>,
}

/// Twice the number of active PyGPU captures, plus [`OBSERVED`].
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
/// Bit of [`ACTIVE`] that makes [`observes_work`] true without captures. Only the check of streams sets it.
const OBSERVED: usize = 1;

#[derive(Default)]
struct ActiveCaptures {
    captures: Vec<Arc<Capture>>,
    /// Objects whose drop was postponed until the last active capture ends.
    afterwards: Vec<GraphResource>,
}

static TABLE: ForkSafeMutex<ActiveCaptures> =
    ForkSafeMutex::new(ActiveCaptures { captures: Vec::new(), afterwards: Vec::new() });
/// For each device, the stream in whose order memory for captured work is allocated.
static HOMES: PerDevice<ForkSafeMutex<Option<CaptureAllocStream>>> = per_device!(ForkSafeMutex::new(None));

struct CaptureAllocStream {
    epoch: u32,
    stream: Stream,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a PyGPU capture is active.
#[inline]
pub fn is_any() -> bool {
    ACTIVE.load(Ordering::Acquire) > OBSERVED
}

/// Returns whether submitted work must be observed, because a PyGPU capture is active or the check of streams is on.
/// One load tests both conditions.
#[inline]
pub(crate) fn observes_work() -> bool {
    ACTIVE.load(Ordering::Acquire) > 0
}

/// Makes [`observes_work`] true from now on, so that all submitted work is observed.
pub(crate) fn observe_all_work() {
    let table = TABLE.lock();
    ACTIVE.fetch_or(OBSERVED, Ordering::AcqRel);
    drop(table);
}

/// Stores the number of active captures. The caller holds the lock of the captures.
fn set_active(captures: usize) {
    let observed = ACTIVE.load(Ordering::Acquire) & OBSERVED;
    ACTIVE.store(2 * captures + observed, Ordering::Release);
}

/// Returns the driver's id of the capture in which a stream takes part, including captures by other libraries.
///
/// # Errors
/// Driver errors.
pub fn number_of(stream: &Stream) -> Result<Option<u64>> {
    let device = stream.device();
    // The legacy default stream cannot be captured, and querying it is an error while other streams are capturing.
    if matches!(stream.handle(), StreamHandle(0 | 1)) {
        return Ok(None);
    }
    match device.backend().graphs() {
        // SAFETY: the borrow of `stream` keeps its handle valid.
        Ok(graphs) => unsafe { graphs.capture_of(device.index(), stream.handle()) },
        Err(_) => Ok(None),
    }
}

/// Returns the PyGPU capture in which a stream takes part.
///
/// # Errors
/// Driver errors.
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

/// Returns whether a stream takes part in any capture. For streams that PyGPU created, this queries the driver only
/// while a PyGPU capture is active.
///
/// # Errors
/// Driver errors.
#[inline]
pub fn is_capturing(stream: &Stream) -> Result<bool> {
    Ok((is_any() || stream.is_foreign()) && number_of(stream)?.is_some())
}

/// Returns an error if a stream takes part in a capture, for work that cannot be captured.
///
/// # Errors
/// `NotSupported`; driver errors.
#[inline]
pub fn refuse(what: &str, stream: &Stream) -> Result<()> {
    if is_capturing(stream)? { Err(refusal(what)) } else { Ok(()) }
}

/// Checks that a copy on `stream` may use host memory. Every copy that uses host memory calls this function. A captured
/// graph accesses the memory at each launch, so on a capturing stream the memory must exist as long as the graph.
/// Whether the caller ensures this ([`Capture::retain`]) is the result of `lasting`, which is called only for a
/// capturing stream.
///
/// # Errors
/// `NotSupported` if the stream is capturing and `lasting` returns `false`; driver errors.
#[inline]
pub fn host_use(what: &str, stream: &Stream, lasting: impl FnOnce() -> Result<bool>) -> Result<HostUse> {
    if is_capturing(stream)? && !lasting()? {
        return Err(refusal(what));
    }
    // SAFETY: the stream takes part in no capture that PyGPU can detect, or `lasting` has confirmed that the memory
    // stays valid as long as the graph.
    Ok(unsafe { HostUse::promised() })
}

/// Returns the error for work that cannot be captured. The error is returned instead of making a driver call that would
/// invalidate the capture.
#[cold]
pub fn refusal(what: &str) -> Error {
    Error::not_supported(format!(
        "{what} cannot be captured, and the stream is capturing: a graph repeats work of the device, and this needs the host; \
         do it before or after the capture"
    ))
}

/// Returns the stream in whose order memory for captured work is allocated. This stream takes part in no capture,
/// because memory allocated inside a capture exists only while the graph runs.
///
/// # Errors
/// Driver errors.
pub(super) fn alloc_stream(device: Device) -> Result<Stream> {
    let slot = HOMES.of(device);
    let epoch = device.epoch();
    let known = |home: &Option<CaptureAllocStream>| {
        home.as_ref().filter(|home| home.epoch == epoch).map(|home| home.stream.clone())
    };
    if let Some(stream) = known(&slot.lock()) {
        return Ok(stream);
    }
    // The lock of `HOMES` is not held while the stream is created, because its creation calls the driver.
    let made = Stream::create(device, StreamFlags { non_blocking: true, priority: 0 })?;
    let mut home = slot.lock();
    let stream = known(&home).unwrap_or_else(|| made.clone());
    let before = home.replace(CaptureAllocStream { epoch, stream: stream.clone() });
    drop(home); // the lock is released before a surplus stream is dropped
    drop((before, made));
    Ok(stream)
}

/// Drops an object now if no PyGPU capture is active, otherwise when the last active capture ends.
pub fn drop_afterwards(thing: GraphResource) {
    let mut table = TABLE.lock();
    if is_any() {
        table.afterwards.push(thing);
        return;
    }
    drop(table); // the lock is released before the object is dropped, because its drop may call this function again
    drop(thing);
}

impl Capture {
    /// Begins a capture of the work that is enqueued on `stream`.
    ///
    /// # Errors
    /// Driver errors, e.g. for a default stream or a stream that is already capturing.
    pub fn begin(stream: &Stream, mode: CaptureMode) -> Result<Arc<Self>> {
        let device = stream.device();
        let graphs = device.backend().graphs()?;
        alloc_stream(device)?;
        // SAFETY: the borrow of `stream` keeps its handle valid.
        unsafe { graphs.begin_capture(device.index(), stream.handle(), mode) }?;
        Self::of_stream(stream, None)
    }

    /// Begins to capture the body of a conditional node. No other capture may use the stream.
    ///
    /// # Errors
    /// Driver errors.
    ///
    /// # Safety
    /// The body must belong to a node of `enclosing`, which must be active.
    pub unsafe fn begin_body(
        stream: &Stream,
        body: GraphHandle,
        mode: CaptureMode,
        enclosing: (Arc<Self>, Stream),
    ) -> Result<Arc<Self>> {
        let device = stream.device();
        // SAFETY: the borrow of `stream` keeps its handle valid; the caller guarantees that the body belongs to an
        // active capture.
        unsafe { device.backend().graphs()?.begin_body(device.index(), stream.handle(), body, mode) }?;
        enclosing.0.bodies.fetch_add(1, Ordering::AcqRel);
        Self::of_stream(stream, Some(enclosing))
    }

    fn of_stream(stream: &Stream, enclosing: Option<(Arc<Self>, Stream)>) -> Result<Arc<Self>> {
        let number = number_of(stream)?.unwrap_or_default();
        let capture = Arc::new(Self {
            device: stream.device(),
            number,
            contents: Mutex::default(),
            enclosing,
            bodies: AtomicUsize::new(0),
            recorded: AtomicUsize::new(0),
        });
        let mut table = TABLE.lock();
        table.captures.push(Arc::clone(&capture));
        set_active(table.captures.len());
        Ok(capture)
    }

    /// Ends the capture of a conditional node's body. Adds the resources of the body to those of the enclosing capture,
    /// whereas [`Capture::close`] returns the resources.
    pub fn close_body(&self) {
        let GraphContents { things, made, shared, .. } = self.close();
        let Some((enclosing, _)) = &self.enclosing else { return };
        enclosing.bodies.fetch_sub(1, Ordering::AcqRel);
        let mut contents = lock(&enclosing.contents);
        contents.things.extend(things);
        contents.shared.extend(shared);
        for made in made {
            contents.shared.extend(made.uses);
            contents.things.extend(made.part.map(|part| Box::new(part) as GraphResource));
        }
    }

    /// Returns the enclosing capture if this is the capture of a conditional body.
    pub fn enclosing(&self) -> Option<&Arc<Self>> {
        self.enclosing.as_ref().map(|(enclosing, _)| enclosing)
    }

    /// Returns the number of uses of memory blocks recorded in this capture, not counting those of its conditional
    /// bodies. If two calls return different numbers, the capture has recorded uses between them.
    pub fn recorded_count(&self) -> usize {
        self.recorded.load(Ordering::Acquire)
    }

    /// Makes a stream of the capture wait for every operation captured so far. The conditional body that is captured
    /// next may then use any memory block.
    ///
    /// # Errors
    /// Driver errors.
    pub fn gather(&self, stream: &Stream) -> Result<()> {
        let contents = lock(&self.contents);
        let uses = contents.blocks.iter().flat_map(|noted| &noted.uses).map(|(other, _)| other);
        let mut others: SmallVec<[Stream; 2]> = SmallVec::new();
        for other in uses {
            if !other.has_handle_of(stream) && !others.iter().any(|known| known.has_handle_of(other)) {
                others.push(other.clone());
            }
        }
        drop(contents); // the lock is released before the driver is called
        others.iter().try_for_each(|other| stream.wait_for(other))
    }

    /// Ends the capture and returns the operations and resources of its graph. If no other capture is active, drops the
    /// objects whose drop was postponed.
    pub fn close(&self) -> GraphContents {
        let mut table = TABLE.lock();
        table.captures.retain(|other| !std::ptr::eq(&raw const **other, self));
        set_active(table.captures.len());
        let dropped = if table.captures.is_empty() { std::mem::take(&mut table.afterwards) } else { Vec::new() };
        drop(table);
        drop(dropped);
        std::mem::take(&mut *lock(&self.contents))
    }

    /// Records a use of a block on a stream of the capture, after conflicting uses on other streams of the capture.
    pub(super) fn record_block(&self, block: &Arc<Allocation>, access: Access, stream: &Stream) -> Result<()> {
        self.check_open()?;
        block.mark_escaped(); // from now on, code with the graph's handle can access the block
        self.recorded.fetch_add(1, Ordering::AcqRel);
        self.record_use(block, access, stream)
    }

    /// Returns an error if a conditional node's body is being captured inside this capture.
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

    fn record_use(&self, block: &Arc<Allocation>, access: Access, stream: &Stream) -> Result<()> {
        if let Some((enclosing, origin)) = &self.enclosing {
            // In the enclosing graph, the conditional node that contains this body uses the block.
            enclosing.record_use(block, access, origin)?;
        }
        let is_before = |(other, earlier): &(Stream, Access)| {
            !other.has_handle_of(stream) && (access == Access::Write || *earlier == Access::Write)
        };
        let mut contents = lock(&self.contents);
        let place = contents.blocks.iter().position(|noted| Arc::ptr_eq(&noted.block, block));
        let Some(noted) = place.map(|place| &mut contents.blocks[place]) else {
            let uses = SmallVec::from_iter([(stream.clone(), access)]);
            contents.blocks.push(CapturedBlock { block: Arc::clone(block), access, uses });
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
        drop(contents); // the lock is released before the driver is called
        before.iter().try_for_each(|other| stream.wait_for(other))
    }

    /// Begins work that is expected to become one operation of the graph: records how many operations the stream has
    /// captured so far.
    pub(super) fn begin_work(&self, stream: &Stream) -> Result<()> {
        let device = self.device;
        // SAFETY: the borrow of `stream` keeps its handle valid.
        let now = unsafe { device.backend().graphs()?.captured(device.index(), stream.handle()) }?;
        lock(&self.contents).seen = now.nodes;
        Ok(())
    }

    /// Ends work that began with `begin_work`. If exactly one operation was captured since then, the uses are
    /// attributed to this operation.
    pub(super) fn end_work(&self, uses: &[(&Arc<Allocation>, Access)], stream: &Stream) -> Result<()> {
        let device = self.device;
        // SAFETY: the borrow of `stream` keeps its handle valid.
        let now = unsafe { device.backend().graphs()?.captured(device.index(), stream.handle()) }?;
        let uses = uses.iter().map(|(block, access)| (Arc::clone(block), *access));
        let mut contents = lock(&self.contents);
        let (before, part) = (std::mem::replace(&mut contents.seen, now.nodes), contents.part.take());
        let known = now.last.and_then(|last| contents.made.iter().rposition(|made| made.node == last));
        match (now.nodes.checked_sub(before), now.last, known) {
            (Some(1), Some(node), None) => contents.made.push(CapturedNode { node, uses: uses.collect(), part }),
            // Work that was nested in this work has already recorded the operation, so the uses are added to the
            // existing record.
            (Some(0), _, Some(place)) if place + 1 == contents.made.len() => contents.made[place].uses.extend(uses),
            _ => {
                contents.shared.extend(uses);
                contents.things.extend(part.map(|part| Box::new(part) as GraphResource));
            }
        }
        Ok(())
    }

    /// Records the resource, e.g. a kernel, from which the next captured operation is created.
    pub fn made_of(&self, part: SharedResource) {
        let before = lock(&self.contents).part.replace(part);
        drop(before); // the previous resource is dropped after the lock is released
    }

    /// Keeps an object alive as long as the captured graph.
    pub fn retain(&self, thing: GraphResource) {
        lock(&self.contents).things.push(thing);
    }
}
