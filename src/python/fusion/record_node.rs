//! Defers an operation: checks its operands, and records a node.

use std::sync::Arc;

use pyo3::prelude::*;

use pygpu_array::DeferredArray;
use pygpu_base::flush_points::{self, FlushReason};
use pygpu_copy as copy;
use pygpu_device::stream::{self, Stream};
use pygpu_kernel as kernel;
use pygpu_memory::Allocation;
use pygpu_ops::fusion::{self, DeferredNode, DeferredOp, EagerReason, FusionMode, Obstacle, Operands, Visibility};

/// Returns the reason why an operation on this operand must be launched eagerly; `None` if the operation can be
/// deferred.
#[inline]
pub(crate) fn eager_reason(array: &DeferredArray) -> Option<EagerReason> {
    let block = array.allocation();
    if !block.is_from_pool() {
        return Some(EagerReason::ExternalMemory);
    }
    if !block.is_private() {
        return Some(EagerReason::Escaped);
    }
    (!is_aligned(array)).then_some(EagerReason::UnsupportedForm)
}

/// Returns whether a device can address the elements of an array directly; true for an array whose memory is not
/// allocated yet.
#[inline]
pub(crate) fn is_aligned(array: &DeferredArray) -> bool {
    let layout = array.layout();
    let first = array.phase();
    let is_multiple = |bits: i64| bits & (layout.itemsize() - 1) == 0;
    // The stride of an axis of length 1 is irrelevant, because no access steps along that axis.
    is_multiple(layout.strides().fold(first, |bits, stride| bits | stride))
        || (layout.is_c_contiguous() && is_multiple(first))
}

/// Returns the stream on which a deferred operation on one array will be launched; `None` if the operation is launched
/// eagerly.
///
/// # Errors
/// An error for an invalid fusion mode in the environment.
pub(crate) fn deferral_stream(array: &DeferredArray) -> PyResult<Option<Stream>> {
    let (mode, stream) = (fusion::current()?, stream::current(array.device()));
    let can_wait = mode != FusionMode::Off
        && !array.layout().is_empty()
        && Allocation::is_deferrable(&stream)
        && eager_reason(array).is_none();
    if can_wait {
        prepare(&stream);
    }
    Ok(can_wait.then_some(stream))
}

/// Loads compiler files and starts the helper thread before the first node is queued, so that flushes are not delayed
/// by this work.
#[inline]
pub(crate) fn prepare(stream: &Stream) {
    kernel::resolve(stream.device().kind());
    fusion::start_helper();
}

/// Appends the node of a deferred operation to the pending queue.
///
/// # Errors
/// The errors of operations that compute the node's operands.
#[inline]
pub(crate) fn push(node: Box<DeferredNode>, block: &Allocation) -> PyResult<()> {
    let visibility = match fusion::push(node, block) {
        Ok(visibility) => visibility,
        Err(returned) => push_after_flush(returned, block)?,
    };
    if visibility == Visibility::Shared {
        // After the check of the operands, other code has made an operand's address visible outside PyGPU. A later
        // write through that address would change the node's result.
        flush_points::flush(FlushReason::EagerOperation);
    }
    Ok(())
}

/// Performs the flush that `obstacle` requires, and then queues the node. The node's operation is thus launched after
/// the operations that were pending or being launched.
#[cold]
fn push_after_flush(
    (mut node, mut obstacle): (Box<DeferredNode>, Obstacle),
    block: &Allocation,
) -> PyResult<Visibility> {
    loop {
        flush_points::flush_now(obstacle.scope, obstacle.cause);
        for array in node.arrays().iter().chain(node.target.as_deref().map(DeferredArray::of)) {
            // The flush may have failed to compute an operand. Such an operand never gets values, so its error is
            // returned here.
            array.allocation().check()?;
        }
        match fusion::push(node, block) {
            Ok(visibility) => return Ok(visibility),
            Err(returned) => (node, obstacle) = returned,
        }
    }
}

/// Returns whether the values of an operand are pending.
pub(crate) fn is_pending(array: &DeferredArray) -> bool {
    array.allocation().is_pending()
}

/// Defers an operation into an existing array of the same shape; `false` if the operation has to be launched eagerly.
///
/// The operation is deferred only if at least one operand is pending: Python may drop this operand after the call, and
/// the operand then never needs memory. An operand that is not pending may overlap the result only if the operand and
/// the result have the same address, shape and strides.
///
/// # Errors
/// Driver errors from pending operations.
pub(crate) fn defer_into(work: DeferredOp, operands: Operands, target: &DeferredArray) -> PyResult<bool> {
    let Some(stream) = deferral_stream(target)?.filter(|_| !is_pending(target)) else { return Ok(false) };
    let target = target.materialized()?;
    let overlaps = |array: &DeferredArray| {
        array.materialized().is_ok_and(|array| copy::may_overlap(target, array) && !copy::is_same_place(target, array))
    };
    let can_defer =
        operands.arrays().iter().all(|array| eager_reason(array).is_none() && (is_pending(array) || !overlaps(array)));
    if !can_defer || !operands.arrays().iter().any(is_pending) {
        return Ok(false);
    }
    let (layout, dtype) = (target.layout().clone(), target.dtype());
    let (result, target) = (Arc::downgrade(target.allocation()), target.clone());
    let block = Arc::clone(target.allocation());
    let node = DeferredNode { work, operands, layout, dtype, stream, result, target: Some(Box::new(target)) };
    push(Box::new(node), &block)?;
    Ok(true)
}
