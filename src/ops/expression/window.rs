//! What waits, in the order in which it was written down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use smallvec::SmallVec;

use super::failures::Failures;
use super::limits::limit;
use super::node::Node;
use super::report::{self, Figures};
use pygpu_array::Array;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush::{self, Cause, Keeper};
use pygpu_base::fork_safe::{Global, Guard, Once};
use pygpu_memory::Allocation;

pub(super) struct Window {
    /// The number of the first node.
    first: u64,
    /// `None` where nobody wants the result any more.
    nodes: Vec<Option<Box<Node>>>,
    /// How many there are.
    live: usize,
    /// Whether the last one goes into an array that was given, which what comes next may read.
    is_sealed: bool,
    /// Bytes of the results that wait.
    results: usize,
    /// Bytes of large operands, each as often as it is one.
    operands: usize,
    /// Whether a thread launches what it took out.
    pub(super) is_flying: bool,
    failures: Failures,
    /// Operations that wait or are being launched, and failures that are remembered.
    count: usize,
    /// Operations that were put off since the process began, and those that nobody wanted any more.
    put_off: u64,
    dropped: u64,
}

/// What was taken out of a window.
pub(super) struct Taken {
    /// The number of the first node.
    pub(super) first: u64,
    pub(super) nodes: Vec<Option<Box<Node>>>,
    /// How many there are.
    pub(super) live: usize,
}

static WINDOW: Global<Window> = Global::new(Window {
    first: 1,
    nodes: Vec::new(),
    live: 0,
    is_sealed: false,
    results: 0,
    operands: 0,
    is_flying: false,
    failures: Failures::new(),
    count: 0,
    put_off: 0,
    dropped: 0,
});

/// The number of the first operation that waits, and whether a failure is remembered, for who asks without the lock.
static FIRST: AtomicU64 = AtomicU64::new(1);
static HAS_FAILURES: AtomicBool = AtomicBool::new(false);

/// The one there is.
pub(super) fn lock() -> Guard<Window> {
    WINDOW.lock()
}

/// Places of a flight: those of operations that nobody wanted any more are taken as long as others stand behind them.
const PLACES: usize = 128;
/// Bytes below which an operand is not looked at when what waits is weighed.
const LARGE: usize = 1 << 20;

impl Window {
    fn node(&self, number: u64) -> Option<&Node> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.nodes.get(place)?.as_deref()
    }

    fn add(&mut self, count: usize) {
        self.count += count;
        flush::set_count(self.count);
    }

    pub(super) fn remove(&mut self, count: usize) {
        self.count -= count;
        flush::set_count(self.count);
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Takes all of them out; the next one is numbered behind them.
    pub(super) fn take_all(&mut self) -> Taken {
        let taken = Taken { first: self.first, nodes: std::mem::take(&mut self.nodes), live: self.live };
        self.first += taken.nodes.len() as u64;
        FIRST.store(self.first, Ordering::Relaxed);
        (self.live, self.results, self.operands, self.is_sealed) = (0, 0, 0, false);
        taken
    }

    /// Takes the room of nodes that are gone for those to come, so that not every window asks for its own.
    pub(super) fn reuse(&mut self, room: Vec<Option<Box<Node>>>) {
        if room.is_empty() && self.nodes.capacity() == 0 {
            self.nodes = room;
        }
    }

    /// Takes out one that nobody wants any more.
    fn drop_one(&mut self, number: u64) -> Option<Box<Node>> {
        let node = self.take(number)?;
        self.remove(1);
        self.dropped += 1;
        Some(node)
    }

    /// Takes a node out; those at the end that are gone leave no place behind, so that a loop that drops its results never ends here.
    fn take(&mut self, number: u64) -> Option<Box<Node>> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let node = self.nodes.get_mut(place)?.take()?;
        self.live -= 1;
        self.results = self.results.saturating_sub(node.layout.nbytes() as usize);
        self.operands = self.operands.saturating_sub(large_operands(&node));
        while let Some(None) = self.nodes.last() {
            self.nodes.pop();
        }
        Some(node)
    }

    /// Bytes of large operands that only nodes hold, less those of held results.
    fn held(&self, leaving: Option<&Arc<Allocation>>) -> usize {
        let arrays = || self.nodes.iter().flatten().flat_map(|node| node.arrays());
        let mut seen: SmallVec<[usize; 32]> = SmallVec::new();
        let mut operands = 0usize;
        for array in arrays() {
            let block = array.allocation();
            let place = Arc::as_ptr(block).addr();
            if block.bytes() < LARGE || block.deferred().is_some() || seen.contains(&place) {
                continue;
            }
            seen.push(place);
            let is_leaving = leaving.is_some_and(|other| Arc::ptr_eq(other, block));
            let holders = arrays().filter(|other| Arc::ptr_eq(other.allocation(), block)).count();
            if Arc::strong_count(block) <= holders + usize::from(is_leaving) {
                operands = operands.saturating_add(block.bytes());
            }
        }
        let uses = |number: u64| arrays().filter(|array| array.allocation().deferred() == Some(number)).count();
        let results: usize = (self.first..)
            .zip(&self.nodes)
            .filter_map(|(number, node)| node.as_ref().map(|node| (number, node)))
            .filter(|(number, node)| node.result.strong_count() > uses(*number))
            .map(|(_, node)| node.layout.nbytes() as usize)
            .sum();
        operands.saturating_sub(results)
    }

    /// Why the window has to be closed before a node with a result of so many bytes comes.
    fn is_full(&self, bytes: usize) -> Option<Cause> {
        if self.is_empty() {
            return None;
        }
        if self.live >= limit().nodes.load(Ordering::Relaxed) || self.nodes.len() >= PLACES {
            return Some(Cause::Nodes);
        }
        let results = self.results.saturating_add(bytes);
        if results > limit().results.load(Ordering::Relaxed) {
            return Some(Cause::Bytes);
        }
        self.holds_too_much(None).then_some(Cause::Held)
    }

    fn holds_too_much(&self, leaving: Option<&Arc<Allocation>>) -> bool {
        let most = limit().held.load(Ordering::Relaxed);
        self.operands > most && self.held(leaving) > most
    }
}

/// Bytes of its large operands, each as often as it is one.
#[inline]
fn large_operands(node: &Node) -> usize {
    let bytes = node.arrays().iter().map(|array| array.allocation().bytes()).filter(|bytes| *bytes >= LARGE);
    bytes.fold(0, usize::saturating_add)
}

/// Says to the layers below who knows what waits. `close` is what they call, which may leave Python's lock before it calls this
/// module's.
pub fn keep(close: fn(Cause) -> Result<()>) {
    static KEEPER: Once<Keeper> = Once::new();
    let failure = |number| WINDOW.lock().failures.of(number);
    flush::kept_by(KEEPER.get_or_init(|| Keeper { close, forget, failure }));
}

/// Who reaches what an operation reads and writes, when it is written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// PyGPU alone.
    Private,
    /// Others too.
    Others,
}

/// Puts an operation off whose result goes into `block`. Gives the node back with the reason why the window has to be closed first: as
/// much waits as may, it is sealed, or another thread is launching one of the operands.
pub fn push(node: Box<Node>, block: &Allocation) -> std::result::Result<Reach, (Box<Node>, Cause)> {
    let mut window = WINDOW.lock();
    let first = window.first;
    let is_flying = |array: &Array| array.allocation().deferred().is_some_and(|number| number < first);
    if window.is_sealed || node.arrays().iter().any(is_flying) {
        return Err((node, Cause::Operation));
    }
    let bytes = node.layout.nbytes() as usize;
    if let Some(full) = window.is_full(bytes) {
        return Err((node, full));
    }
    let operands = large_operands(&node);
    let mut arrays = node.arrays().iter().chain(node.target.as_deref());
    let reach = if arrays.all(|array| array.allocation().is_private()) { Reach::Private } else { Reach::Others };
    match node.target {
        Some(_) => window.is_sealed = true,
        None => block.wait_for(first + window.nodes.len() as u64),
    }
    window.results = window.results.saturating_add(bytes);
    window.operands = window.operands.saturating_add(operands);
    window.nodes.push(Some(node));
    window.put_off += 1;
    window.live += 1;
    window.add(1);
    Ok(reach)
}

/// How many operations wait.
pub fn waiting() -> usize {
    WINDOW.lock().live
}

/// The counts of now.
pub fn figures() -> Figures {
    let (put_off, dropped) = {
        let window = WINDOW.lock();
        (window.put_off, window.dropped)
    };
    report::figures(put_off, dropped)
}

/// Remembers why an operation failed, for whoever asks for its result.
pub(super) fn remember_failure(number: u64, node: &Node, error: Error) {
    let Some(block) = node.result.upgrade() else { return };
    let mut window = WINDOW.lock();
    window.failures.add(number, error);
    HAS_FAILURES.store(true, Ordering::Relaxed);
    window.add(1);
    drop(window);
    block.fail(number);
}

/// Whether operands that only nodes hold will be too large without a holder of this block who is about to let go of it.
pub fn holds_too_much(block: &Arc<Allocation>) -> bool {
    block.bytes() >= LARGE && WINDOW.lock().holds_too_much(Some(block))
}

/// Says that nobody wants the result of a number any more.
pub fn forget(number: u64) {
    // Most results end when their operation was launched. Relaxed: numbers only grow, and who remembers a failure holds the block
    // meanwhile, so that whoever lets go of it last knows.
    if number < FIRST.load(Ordering::Relaxed) && !HAS_FAILURES.load(Ordering::Relaxed) {
        return;
    }
    let mut window = WINDOW.lock();
    let node = window.drop_one(number);
    let failure = if node.is_none() { window.failures.take(number) } else { None };
    if failure.is_some() {
        HAS_FAILURES.store(!window.failures.is_empty(), Ordering::Relaxed);
        window.remove(1);
    }
    drop(window);
    drop((node, failure)); // not under the lock: operands may end with the one, and the other may be somebody else's object
}

/// As [`forget`], where no operand ends with the operation, which may reach a driver; `false` where one would.
pub fn forget_quietly(number: u64) -> bool {
    let mut window = WINDOW.lock();
    let is_quiet = |node: &Node| node.arrays().iter().all(|array| Arc::strong_count(array.allocation()) > 1);
    if !window.node(number).is_some_and(is_quiet) {
        return false;
    }
    let node = window.drop_one(number);
    drop(window);
    drop(node);
    true
}
