//! Stores the streams on which code outside PyGPU may use a memory block, and reports later uses of the block that do
//! not wait for these streams.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use super::findings::{self, FindingKind};
use super::stream_order_probe;
use super::{Origin, is_on};
use crate::{Access, Allocation};
use pygpu_backend::StreamHandle;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_device::stream::{PooledEvent, Stream};

/// Whether it is certain or only suspected that code outside PyGPU uses a memory block on a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// The code outside PyGPU named this stream when it received the block.
    Named,
    /// The code named no stream. The stream was the current stream of the code's library when the code received the
    /// block.
    Suspected,
}

/// A stream on which code outside PyGPU may use a memory block.
#[derive(Clone)]
struct Borrower {
    /// The stream. It stays valid, because its owner is alive as long as this value.
    stream: Stream,
    access: Access,
    claim: Claim,
    /// End of the work on the memory block, if known. Otherwise any work on the stream may use the block.
    end: Option<Arc<PooledEvent>>,
    origin: Origin,
}

/// Maximum number of streams that are stored for a block. The oldest is removed first.
const MOST: usize = 64;

/// For each memory block, the streams on which code outside PyGPU may use the block. The key is the address of the
/// block's `Allocation`.
static BORROWERS: ForkSafeMutex<BTreeMap<usize, Vec<Borrower>>> = ForkSafeMutex::new(BTreeMap::new());

fn key_of(block: &Allocation) -> usize {
    std::ptr::from_ref(block) as usize
}

fn add(block: &Allocation, borrower: Borrower) {
    let mut table = BORROWERS.lock();
    let list = table.entry(key_of(block)).or_default();
    let removed = if list.len() < MOST { None } else { Some(list.remove(0)) };
    list.push(borrower);
    drop(table);
    // The removed entry is dropped after the lock is released, because its stream may own a Python object.
    drop(removed);
}

/// Records that code outside PyGPU uses a memory block on a stream from now on. The owner of the stream must be alive
/// as long as `stream`.
pub fn hand_over(block: &Allocation, stream: Stream, access: Access, origin: Origin) {
    add(block, Borrower { stream, access, claim: Claim::Named, end: None, origin });
}

/// Records that code outside PyGPU may use a memory block on a stream that it did not name.
pub fn suspect(block: &Allocation, stream: Stream, origin: Origin) {
    add(block, Borrower { stream, access: Access::Write, claim: Claim::Suspected, end: None, origin });
}

/// Records that code outside PyGPU no longer enqueues work on the block on a stream. Later uses of the block must still
/// wait for the work that is already on this stream.
pub(crate) fn end_hand_over(block: &Allocation, handle: StreamHandle) {
    let is_ended = |one: &Borrower| one.claim == Claim::Named && one.end.is_none() && one.stream.handle() == handle;
    let find = || BORROWERS.lock().get(&key_of(block))?.iter().find(|one| is_ended(one)).map(|one| one.stream.clone());
    let Some(stream) = find() else { return };
    let is_idle = !matches!(stream.query(), Ok(false));
    let end = if is_idle { None } else { PooledEvent::record(&stream).ok().map(Arc::new) };
    let mut table = BORROWERS.lock();
    let Some(list) = table.get_mut(&key_of(block)) else { return };
    let Some(place) = list.iter().position(is_ended) else { return };
    let removed = match end {
        Some(end) => {
            list[place].end = Some(end);
            None
        }
        None => Some(list.remove(place)),
    };
    drop(table);
    drop(removed);
}

fn borrowers_of(block: &Allocation) -> Vec<Borrower> {
    BORROWERS.lock().get(&key_of(block)).cloned().unwrap_or_default()
}

fn is_unordered(waiter: &Stream, borrower: &Borrower) -> bool {
    match &borrower.end {
        Some(end) => stream_order_probe::is_event_unordered(waiter, &borrower.stream, end),
        None => stream_order_probe::is_unordered(waiter, &borrower.stream),
    }
}

/// Called before PyGPU uses a memory block on the stream `waiter`, which already waits for the recorded uses. Reports
/// each stream on which code outside PyGPU has conflicting work on the block, if `waiter` does not wait for this work.
#[cold]
pub(crate) fn check_use(block: &Allocation, access: Access, waiter: &Stream) {
    if block.device().is_cpu() {
        return;
    }
    for borrower in borrowers_of(block) {
        let conflicts = borrower.claim == Claim::Named && access.max(borrower.access) == Access::Write;
        if conflicts && is_unordered(waiter, &borrower) {
            findings::push(FindingKind::Use, waiter, &borrower.stream, Some(borrower.origin));
        }
    }
}

/// Called when a memory block is freed in the order of the stream `waiter`. Reports each stream on which code outside
/// PyGPU has work on the block, if `waiter` does not wait for this work. Removes the block from the table.
#[cold]
pub(crate) fn check_release(block: &Allocation, waiter: &Stream) {
    let removed = BORROWERS.lock().remove(&key_of(block));
    let mut found: Vec<Stream> = Vec::new();
    // Only the latest handover of the block to a stream is reported.
    for borrower in removed.into_iter().flatten().rev() {
        let is_new = !found.iter().any(|stream| stream.has_handle_of(&borrower.stream));
        if is_new && is_unordered(waiter, &borrower) {
            found.push(borrower.stream.clone());
            findings::push(FindingKind::Release, waiter, &borrower.stream, Some(borrower.origin));
        }
    }
}

/// Removes a memory block from the table without a check of its release.
#[cold]
pub(crate) fn forget(block: &Allocation) {
    let removed = BORROWERS.lock().remove(&key_of(block));
    // The removed entries are dropped after the lock is released, because a stream may own a Python object.
    drop(removed);
}

thread_local! {
    /// Memory blocks whose addresses the next kernel launch of this thread receives.
    static ADDRESSED: RefCell<Vec<(Weak<Allocation>, Access, Origin)>> = const { RefCell::new(Vec::new()) };
}

/// Called before a kernel is launched on the stream `waiter` with addresses in memory blocks. Reports each stream with
/// pending work on such a block, if `waiter` does not wait for this work.
#[cold]
pub fn launch_address(block: &Arc<Allocation>, access: Access, waiter: &Stream, origin: Origin) {
    for worker in block.unordered_streams(access, waiter) {
        if stream_order_probe::is_any_work_unordered(waiter, &worker) {
            findings::push(FindingKind::Address, waiter, &worker, None);
        }
    }
    let _ = ADDRESSED.try_with(|list| list.borrow_mut().push((Arc::downgrade(block), access, origin)));
}

/// Records that a kernel launched on `stream` uses the memory blocks whose addresses it received.
#[cold]
pub(crate) fn end_launch(stream: &Stream) {
    let list = ADDRESSED.try_with(|list| std::mem::take(&mut *list.borrow_mut())).unwrap_or_default();
    if list.is_empty() || !is_on() || stream.is_foreign() {
        return;
    }
    let Some(end) = PooledEvent::record(stream).ok().map(Arc::new) else { return };
    for (block, access, origin) in list {
        if let Some(block) = block.upgrade() {
            let (stream, end) = (stream.clone(), Some(Arc::clone(&end)));
            add(&block, Borrower { stream, access, claim: Claim::Named, end, origin });
        }
    }
}
