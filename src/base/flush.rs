//! Operations that were put off: whether there are any, and how everything else makes sure that there are none any more.
//!
//! What is put off, how and why is `ops::expression`'s affair. Here is what the layers below it need: whoever is about to put work on a
//! queue, to wait for one, or to read an address asks [`close`] first, which costs one load where nothing waits.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::fork_safe::Once;

/// Why the operations that wait are launched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// An array's values or its address were asked for.
    Values,
    /// Work of another kind was put on a stream: a copy, a fill, a kernel, a graph.
    Work,
    /// Somebody waits, marks a place in a stream, changes the current stream, or begins a capture.
    Order,
    /// An operation that is not put off uses what waits, or comes behind it.
    Operation,
    /// As many operations wait as may.
    Nodes,
    /// The results that wait are as large as may be.
    Bytes,
    /// Operands that only waiting operations hold are as large as may be.
    Held,
    /// A device refused memory.
    Memory,
    /// The program said so: `flush`, another mode.
    Asked,
}

impl Cause {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 9] = [
        Self::Values,
        Self::Work,
        Self::Order,
        Self::Operation,
        Self::Nodes,
        Self::Bytes,
        Self::Held,
        Self::Memory,
        Self::Asked,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Work => "work",
            Self::Order => "order",
            Self::Operation => "operation",
            Self::Nodes => "nodes",
            Self::Bytes => "bytes",
            Self::Held => "held",
            Self::Memory => "memory",
            Self::Asked => "asked",
        }
    }
}

/// Who knows what waits.
pub struct Keeper {
    /// Launches all that waits, and waits for who is launching some of it.
    pub close: fn(Cause) -> Result<()>,
    /// The result of this number is not wanted any more, or its failure not remembered.
    pub forget: fn(u64),
    /// Why the operation of this number failed.
    pub failure: fn(u64) -> Error,
}

/// Operations that wait or are being launched, and failures that are remembered.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static KEEPER: Once<&'static Keeper> = Once::new();

thread_local! {
    /// Whether this thread is launching what waited: its own work passes.
    static LAUNCHING: Cell<bool> = const { Cell::new(false) };
}

/// Says who knows; the first one stays.
pub fn kept_by(keeper: &'static Keeper) {
    KEEPER.set(keeper);
}

/// Says how many they are. A plain store: who keeps them calls this with its lock.
#[inline]
pub fn set_count(count: usize) {
    COUNT.store(count, Ordering::Release);
}

/// Whether anything waits, is being launched, or has failed and is still held.
#[inline(always)]
pub fn is_any() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// Launches what waits, before anything that could show whether it was launched.
///
/// # Errors
/// The driver's, of what was put off.
#[inline(always)]
pub fn close(cause: Cause) -> Result<()> {
    if is_any() { close_now(cause) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn close_now(cause: Cause) -> Result<()> {
    match KEEPER.get() {
        Some(keeper) if !is_launching() => (keeper.close)(cause),
        _ => Ok(()),
    }
}

/// Says that nobody has the result of an operation any more.
#[cold]
pub fn forget(number: u64) {
    if let Some(keeper) = KEEPER.get() {
        (keeper.forget)(number);
    }
}

/// Why an operation failed whose result is asked for.
#[cold]
pub fn failure(number: u64) -> Error {
    match KEEPER.get() {
        Some(keeper) => (keeper.failure)(number),
        None => Error::value("the operation that makes this array failed"),
    }
}

/// Whether this thread is launching what waited.
pub fn is_launching() -> bool {
    LAUNCHING.try_with(Cell::get).unwrap_or(true)
}

/// Lets the work of this thread pass until it is dropped.
pub struct Launching(());

impl Launching {
    /// From now on.
    pub fn begin() -> Self {
        let _ = LAUNCHING.try_with(|flag| flag.set(true));
        Self(())
    }
}

impl Drop for Launching {
    fn drop(&mut self) {
        let _ = LAUNCHING.try_with(|flag| flag.set(false));
    }
}
