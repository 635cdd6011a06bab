//! Queues an operation, or returns the flush that must precede this operation.

use super::{PendingQueue, large_operands, lock, own};
use crate::fusion::limits::limit;
use crate::fusion::node::DeferredNode;
use pygpu_array::DeferredArray;
use pygpu_base::flush_points::{self, FlushReason, NodeId, Pending, Scope};
use pygpu_memory::{Allocation, pool};

/// Whether code outside PyGPU can access an operation's operands and target when the operation is queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visibility {
    /// Only code of PyGPU can access the operands and the target.
    Private,
    /// Code outside PyGPU can access an operand or the target.
    Shared,
}

/// A flush that must precede an operation: the queues to flush, and the reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// The queues to flush.
    pub scope: Scope,
    /// The reason for the flush.
    pub cause: FlushReason,
}

impl Obstacle {
    const fn own(cause: FlushReason) -> Self {
        Self { scope: Scope::Own, cause }
    }
}

/// Queues an operation whose result goes into the memory block `block`. If a flush is required first, returns the node
/// and the flush.
///
/// While it holds the lock over all queues, this function checks whether the operands are private, marks the blocks as
/// pending, and appends the node. A thread that lets a block's address escape (`Allocation::mark_escaped`) first
/// records the escape and then acquires the same lock once. Therefore either that thread finds the mark, or the check
/// here finds the escape.
pub fn push(
    node: Box<DeferredNode>,
    block: &Allocation,
) -> std::result::Result<Visibility, (Box<DeferredNode>, Obstacle)> {
    let own = own();
    flush_points::begin_use();
    let mut queues = lock();
    let is_read_elsewhere = node.target.as_ref().is_some_and(|target| queues.is_read_beside(own, target.allocation()));
    let bytes = node.layout.nbytes() as usize;
    let has_room = !pool::exceeds_limit(node.stream.device(), || queues.results().saturating_add(bytes));
    if !has_room && !queues.is_idle() {
        return Err((node, Obstacle { scope: Scope::All, cause: FlushReason::OutOfMemory }));
    }
    let large = large_operands(&node);
    if large > 0 && queues.hold_too_much(None) {
        return Err((node, Obstacle { scope: Scope::All, cause: FlushReason::OperandLimit }));
    }
    let Some(queue) = queues.queues.get_mut(own) else {
        return Err((node, Obstacle::own(FlushReason::EagerOperation)));
    };
    if queue.has_barrier {
        return Err((node, Obstacle::own(FlushReason::EagerOperation)));
    }
    for array in node.arrays() {
        if let Some(obstacle) = obstacle(queue, own, array.allocation().written_by().pending()) {
            return Err((node, obstacle));
        }
    }
    if let Some(target) = &node.target {
        let block = target.allocation();
        let readers = block.read_by().pending().filter(|readers| *readers != Pending::Many || is_read_elsewhere);
        if let Some(obstacle) =
            [block.written_by().pending(), readers].into_iter().find_map(|pending| obstacle(queue, own, pending))
        {
            return Err((node, obstacle));
        }
    }
    if let Some(full) = queue.is_full(bytes) {
        return Err((node, Obstacle::own(full)));
    }
    let mut arrays = node.arrays().iter().chain(node.target.as_deref().map(DeferredArray::of));
    let reach =
        if arrays.all(|array| array.allocation().is_private()) { Visibility::Private } else { Visibility::Shared };
    let id = NodeId::new(own, queue.first + queue.nodes.len() as u64);
    queue.highest = queue.highest.max(id.number());
    node.arrays().iter().for_each(|array| array.allocation().read_by().add(id));
    block.written_by().set(id);
    queue.has_barrier = node.target.is_some();
    queue.results = queue.results.saturating_add(bytes);
    queue.operands = queue.operands.saturating_add(large);
    queue.nodes.push(Some(node));
    queue.live += 1;
    let pending = queue.results.saturating_add(queue.operands);
    queues.deferred += 1;
    queues.add(1);
    if queues.is_helper_asleep && limit().is_worth_waking(pending) {
        queues.wake_helper();
    }
    Ok(reach)
}

/// Returns the flush that must precede an operation on a memory block that other pending operations use.
#[inline]
fn obstacle(queue: &PendingQueue, own: usize, pending: Option<Pending>) -> Option<Obstacle> {
    match pending? {
        Pending::One(id) if id.queue() == own && id.number() >= queue.first => None,
        Pending::One(id) => Some(Obstacle { scope: Scope::One(id.queue()), cause: FlushReason::EagerOperation }),
        Pending::Many => Some(Obstacle { scope: Scope::All, cause: FlushReason::EagerOperation }),
    }
}
