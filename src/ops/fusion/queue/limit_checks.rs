//! Checks the limits of a queue: number of operations, bytes of results, and bytes of operands that only its nodes keep
//! alive.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{LARGE, PLACES, PendingQueue, PendingQueues, lock};
use crate::fusion::limits::limit;
use crate::fusion::node::DeferredNode;
use pygpu_base::flush_points::{FlushReason, Pending, Scope};
use pygpu_memory::Allocation;

impl PendingQueue {
    /// Returns the size in bytes of the large operands that only nodes keep alive, minus the size of referenced results
    /// that have no memory yet. The caller's reference to the block `leaving` is not counted, because the caller is
    /// about to drop it.
    fn held(&self, leaving: Option<&Arc<Allocation>>) -> usize {
        let arrays = || self.nodes.iter().flatten().flat_map(|node| node.arrays());
        let mut seen: SmallVec<[usize; 32]> = SmallVec::new();
        let mut operands = 0usize;
        for array in arrays() {
            let block = array.allocation();
            let place = Arc::as_ptr(block).addr();
            if block.bytes() < LARGE || !block.has_memory() || seen.contains(&place) {
                continue;
            }
            seen.push(place);
            let is_leaving = leaving.is_some_and(|other| Arc::ptr_eq(other, block));
            let holders = arrays().filter(|other| Arc::ptr_eq(other.allocation(), block)).count();
            if Arc::strong_count(block) <= holders + usize::from(is_leaving) {
                operands = operands.saturating_add(block.bytes());
            }
        }
        let uses = |result: &Allocation| arrays().filter(|array| std::ptr::eq(&**array.allocation(), result)).count();
        let held = |node: &DeferredNode| {
            let count = node.result.strong_count();
            node.target.is_none()
                && node.result.upgrade().is_some_and(|result| !result.has_memory() && count > uses(&result))
        };
        let results: usize =
            self.nodes.iter().flatten().filter(|node| held(node)).map(|node| node.layout.nbytes() as usize).sum();
        operands.saturating_sub(results)
    }

    /// Returns the reason for the flush that must precede a node with a result of `bytes` bytes, if the queue's limits
    /// would be exceeded.
    pub(super) fn is_full(&self, bytes: usize) -> Option<FlushReason> {
        if self.nodes.is_empty() {
            return None;
        }
        if self.live >= limit().nodes.load(Ordering::Relaxed) || self.nodes.len() >= PLACES {
            return Some(FlushReason::NodeLimit);
        }
        let results = self.results.saturating_add(bytes);
        if results > limit().results.load(Ordering::Relaxed) {
            return Some(FlushReason::ResultLimit);
        }
        self.holds_too_much(None).then_some(FlushReason::OperandLimit)
    }

    fn holds_too_much(&self, leaving: Option<&Arc<Allocation>>) -> bool {
        let most = limit().held.load(Ordering::Relaxed);
        self.operands > most && self.held(leaving) > most
    }
}

impl PendingQueues {
    /// Whether the large operands that only nodes keep alive, summed over all queues, exceed the limit.
    pub(super) fn hold_too_much(&self, leaving: Option<&Arc<Allocation>>) -> bool {
        let most = limit().held.load(Ordering::Relaxed);
        let sum = |bytes: &dyn Fn(&PendingQueue) -> usize| self.queues.iter().map(bytes).fold(0, usize::saturating_add);
        sum(&|queue| queue.operands) > most && sum(&|queue| queue.held(leaving)) > most
    }

    /// Returns the total size in bytes of pending results.
    pub(super) fn results(&self) -> usize {
        self.queues.iter().fold(0, |bytes, queue| bytes.saturating_add(queue.results))
    }
}

/// Returns the queues to flush if dropping the caller's reference to `block` would leave more memory that only nodes
/// keep alive than the limit allows.
pub fn holds_too_much(block: &Arc<Allocation>) -> Option<Scope> {
    let pending = block.read_by().pending().filter(|_| block.bytes() >= LARGE)?;
    let queues = lock();
    let is_too_much = |queue: &PendingQueue| queue.holds_too_much(Some(block));
    match pending {
        Pending::One(id) if queues.queues.get(id.queue()).is_some_and(is_too_much) => Some(Scope::One(id.queue())),
        _ => queues.hold_too_much(Some(block)).then_some(Scope::All),
    }
}
