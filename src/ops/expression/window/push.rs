//! Queues one operation, or returns the flush that must come before.

use super::{Queue, large_operands, lock, own, wake_helper};
use crate::expression::node::Node;
use pygpu_array::DeferredArray;
use pygpu_base::flush::{self, Cause, NodeId, Pending, Scope};
use pygpu_memory::{Allocation, pool};

/// Who reaches the operands and the target of an operation when it is queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// PyGPU alone.
    Private,
    /// Others too.
    Others,
}

/// Flush that must come before an operation is queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// Queues to be flushed.
    pub scope: Scope,
    /// Reason.
    pub cause: Cause,
}

impl Obstacle {
    const fn own(cause: Cause) -> Self {
        Self { scope: Scope::Own, cause }
    }
}

/// Queues an operation whose result goes into `block`. Gives the node back with the flush that must come before.
///
/// The check that only PyGPU reaches the operands, the marks and the queue are one step under the lock. A thread that gives a block's
/// address out (`Allocation::publish`) records that first, then holds the same lock once: so it finds the mark, or the check finds the
/// record.
pub fn push(node: Box<Node>, block: &Allocation) -> std::result::Result<Reach, (Box<Node>, Obstacle)> {
    let own = own();
    flush::begin_use();
    let mut queues = lock();
    let is_read_elsewhere = node.target.as_ref().is_some_and(|target| queues.is_read_beside(own, target.allocation()));
    let bytes = node.layout.nbytes() as usize;
    let has_room = !pool::exceeds_limit(node.stream.device(), || queues.results().saturating_add(bytes));
    if !has_room && !queues.is_idle() {
        return Err((node, Obstacle { scope: Scope::All, cause: Cause::Memory }));
    }
    let large = large_operands(&node);
    if large > 0 && queues.hold_too_much(None) {
        return Err((node, Obstacle { scope: Scope::All, cause: Cause::Held }));
    }
    let Some(queue) = queues.queues.get_mut(own) else { return Err((node, Obstacle::own(Cause::Operation))) };
    if queue.has_barrier {
        return Err((node, Obstacle::own(Cause::Operation)));
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
    let reach = if arrays.all(|array| array.allocation().is_private()) { Reach::Private } else { Reach::Others };
    let id = NodeId::new(own, queue.first + queue.nodes.len() as u64);
    node.arrays().iter().for_each(|array| array.allocation().read_by().add(id));
    block.written_by().set(id);
    queue.has_barrier = node.target.is_some();
    queue.results = queue.results.saturating_add(bytes);
    queue.operands = queue.operands.saturating_add(large);
    queue.nodes.push(Some(node));
    queue.live += 1;
    queues.deferred += 1;
    queues.add(1);
    let is_helper_asleep = std::mem::take(&mut queues.is_helper_asleep);
    drop(queues);
    if is_helper_asleep {
        wake_helper();
    }
    Ok(reach)
}

/// Flush that must come before an operation is queued that uses a block with such a mark.
#[inline]
fn obstacle(queue: &Queue, own: usize, pending: Option<Pending>) -> Option<Obstacle> {
    match pending? {
        Pending::One(id) if id.queue() == own && id.number() >= queue.first => None,
        Pending::One(id) => Some(Obstacle { scope: Scope::One(id.queue()), cause: Cause::Operation }),
        Pending::Many => Some(Obstacle { scope: Scope::All, cause: Cause::Operation }),
    }
}
