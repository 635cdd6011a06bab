//! What waits, in the order in which it was written down; and the flight of what is being launched.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar};

use smallvec::SmallVec;

use super::limits::limit;
use super::node::Node;
use super::{failures, report, run};
use crate::array::Array;
use crate::backend;
use crate::deferral::{self, Cause, Keeper, Launching};
use crate::error::{Error, Result};
use crate::global::{Global, Guard};
use crate::lifetime;
use crate::memory::Allocation;

struct Window {
    /// The number of the first node.
    first: u64,
    /// `None` where nobody wants the result any more.
    nodes: Vec<Option<Box<Node>>>,
    /// Whether the last one goes into an array that was given, which what comes next may read.
    is_sealed: bool,
    /// Bytes of the results that wait.
    results: usize,
    /// Bytes of large operands, each as often as it is one.
    operands: usize,
    /// Whether a thread launches what it took out.
    flight: bool,
}

static WINDOW: Global<Window> =
    Global::new(Window { first: 1, nodes: Vec::new(), is_sealed: false, results: 0, operands: 0, flight: false });
static LANDED: Condvar = Condvar::new();

/// Bytes below which an operand is not looked at when what waits is weighed.
const LARGE: usize = 1 << 20;

impl Window {
    fn node(&self, number: u64) -> Option<&Node> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.nodes.get(place)?.as_deref()
    }

    /// Takes a node out; those at the end that are gone leave no place behind, so that a loop that drops its results never ends here.
    fn take(&mut self, number: u64) -> Option<Box<Node>> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let node = self.nodes.get_mut(place)?.take();
        while let Some(None) = self.nodes.last() {
            self.nodes.pop();
        }
        if self.nodes.is_empty() {
            (self.results, self.operands, self.is_sealed) = (0, 0, false);
        }
        node
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

    /// Why the window has to be closed before a node comes.
    fn is_full(&self, node: &Node) -> Option<Cause> {
        if self.nodes.is_empty() {
            return None;
        }
        if self.nodes.len() >= limit().nodes.load(Ordering::Relaxed) {
            return Some(Cause::Nodes);
        }
        let results = self.results.saturating_add(node.layout.nbytes() as usize);
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

/// Says to the layers below who knows what waits. `close` is what they call, which may leave Python's lock before it calls this
/// module's.
pub fn keep(close: fn(Cause) -> Result<()>) {
    static KEEPER: crate::global::Once<Keeper> = crate::global::Once::new();
    deferral::kept_by(KEEPER.get_or_init(|| Keeper { close, forget, failure: failures::of }));
}

/// Puts an operation off whose result goes into `block`. Gives the node back with the reason why the window has to be closed first: as
/// much waits as may, it is sealed, or another thread is launching one of the operands.
pub fn push(node: Box<Node>, block: &Allocation) -> std::result::Result<(), (Box<Node>, Cause)> {
    let mut window = WINDOW.lock();
    let first = window.first;
    let is_flying = |array: &Array| array.allocation().deferred().is_some_and(|number| number < first);
    if window.is_sealed || node.arrays().any(is_flying) {
        return Err((node, Cause::Operation));
    }
    if let Some(full) = window.is_full(&node) {
        return Err((node, full));
    }
    let operands = node.arrays().map(|array| array.allocation().bytes()).filter(|bytes| *bytes >= LARGE);
    let operands = operands.fold(0usize, usize::saturating_add);
    match node.target {
        Some(_) => window.is_sealed = true,
        None => block.wait_for(first + window.nodes.len() as u64),
    }
    window.results = window.results.saturating_add(node.layout.nbytes() as usize);
    window.operands = window.operands.saturating_add(operands);
    window.nodes.push(Some(node));
    deferral::add(1);
    report::put_off();
    Ok(())
}

/// How many operations wait.
pub fn waiting() -> usize {
    WINDOW.lock().nodes.iter().flatten().count()
}

/// Whether operands that only nodes hold will be too large without a holder of this block who is about to let go of it.
pub fn holds_too_much(block: &Arc<Allocation>) -> bool {
    block.bytes() >= LARGE && WINDOW.lock().holds_too_much(Some(block))
}

/// What a thread has taken out of the window, and launches.
struct Flight {
    first: u64,
    nodes: Vec<Option<Box<Node>>>,
    count: usize,
    _launching: Launching,
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut window = WINDOW.lock();
        window.flight = false;
        drop(window);
        deferral::remove(self.count);
        LANDED.notify_all();
    }
}

/// Waits until no other thread launches anything, and takes out all that waits.
fn take_off(cause: Cause) -> Option<Flight> {
    let mut window: Guard<Window> = WINDOW.lock();
    while window.flight {
        window = window.wait(&LANDED);
    }
    if window.nodes.is_empty() {
        return None;
    }
    window.flight = true;
    let (first, nodes) = (window.first, std::mem::take(&mut window.nodes));
    window.first += nodes.len() as u64;
    (window.results, window.operands, window.is_sealed) = (0, 0, false);
    drop(window);
    let count = nodes.iter().flatten().count();
    report::closed(cause);
    Some(Flight { first, nodes, count, _launching: Launching::begin() })
}

/// Launches all that waits, and waits for who is launching some of it. Not to be called with Python's lock.
///
/// # Errors
/// The first of what failed, which says how many operations did.
pub fn close(cause: Cause) -> Result<()> {
    // Nor from what a driver's stream calls, which may call no driver.
    if deferral::is_launching() || lifetime::exiting() || backend::is_host_call() {
        return Ok(());
    }
    if backend::is_forked() {
        abandon();
        return Ok(());
    }
    match take_off(cause) {
        Some(mut flight) => run::all(flight.first, &mut flight.nodes),
        None => Ok(()),
    }
}

/// Drops what waits in a forked child, which has no driver: the parent launches its own.
#[cold]
fn abandon() {
    let mut window = WINDOW.lock();
    let first = window.first;
    let nodes = std::mem::take(&mut window.nodes);
    window.first += nodes.len() as u64;
    window.is_sealed = false;
    drop(window);
    deferral::remove(nodes.iter().flatten().count());
    for (number, node) in (first..).zip(&nodes) {
        let forked = Error::Forked { operation: "the launch of what was put off", backend: "GPU" };
        node.iter().filter(|node| node.target.is_none()).for_each(|node| failures::remember(number, node, &forked));
    }
}

/// Says that nobody wants the result of a number any more.
pub fn forget(number: u64) {
    let node = WINDOW.lock().take(number);
    if let Some(node) = node {
        deferral::remove(1);
        report::dropped();
        drop(node); // not under the lock: operands may end with it
    } else {
        failures::forget(number);
    }
}

/// As [`forget`], where no operand ends with the operation, which may reach a driver; `false` where one would.
pub fn forget_quietly(number: u64) -> bool {
    let mut window = WINDOW.lock();
    if !window.node(number).is_some_and(|node| node.arrays().all(|array| Arc::strong_count(array.allocation()) > 1)) {
        return false;
    }
    let node = window.take(number);
    drop(window);
    deferral::remove(1);
    report::dropped();
    drop(node);
    true
}
