//! Putting an operation off: whether its operands may wait, and writing it down.

use std::sync::Arc;

use pyo3::prelude::*;

use pygpu_array::DeferredArray;
use pygpu_base::flush::{self, FlushReason};
use pygpu_copy as copy;
use pygpu_device::stream::{self, Stream};
use pygpu_kernel as kernel;
use pygpu_memory::Allocation;
use pygpu_ops::fusion::{self, DeferredNode, DeferredOp, EagerReason, FusionMode, Obstacle, Operands, Visibility};

/// Why an operand may change before a kernel reads it, or cannot be read as it is; `None` if it may wait.
#[inline]
pub(crate) fn refusal(array: &DeferredArray) -> Option<EagerReason> {
    let block = array.allocation();
    if !block.is_from_pool() {
        return Some(EagerReason::ExternalMemory);
    }
    if !block.is_private() {
        return Some(EagerReason::Escaped);
    }
    (!is_aligned(array)).then_some(EagerReason::UnsupportedForm)
}

/// Whether each element lies where a device reads it at once; one whose memory was put off does.
#[inline]
fn is_aligned(array: &DeferredArray) -> bool {
    let layout = array.layout();
    let first = array.phase();
    let is_even = |places: i64| places & (layout.itemsize() - 1) == 0;
    // A stride of an array without gaps says nothing where nobody steps along it.
    is_even(layout.strides().fold(first, |places, stride| places | stride))
        || (layout.is_c_contiguous() && is_even(first))
}

/// The stream in whose order an operation on an array alone can be put off; `None` if it is launched by its line.
///
/// # Errors
/// What the environment says that is no mode.
pub(crate) fn order_of(array: &DeferredArray) -> PyResult<Option<Stream>> {
    let (mode, stream) = (fusion::current()?, stream::current(array.device()));
    let can_wait = mode != FusionMode::Off
        && !array.layout().is_empty()
        && Allocation::is_deferrable(&stream)
        && refusal(array).is_none();
    if can_wait {
        prepare(&stream);
    }
    Ok(can_wait.then_some(stream))
}

/// Finds what a flush may not look for, before the first operation is queued: the compiler's files, and the thread that bounds its age.
#[inline]
pub(crate) fn prepare(stream: &Stream) {
    kernel::resolve(stream.device().kind());
    fusion::start_helper();
}

/// Queues an operation.
///
/// # Errors
/// Those of operations that make its operands.
#[inline]
pub(crate) fn push(node: Box<DeferredNode>, block: &Allocation) -> PyResult<()> {
    let reach = match fusion::push(node, block) {
        Ok(reach) => reach,
        Err(back) => push_behind(back, block)?,
    };
    if reach == Visibility::Shared {
        // An operand was given out since it was looked at, by code that ran meanwhile: others may write there behind this call.
        flush::flush(FlushReason::EagerOperation);
    }
    Ok(())
}

/// Behind what is pending, or being launched.
#[cold]
fn push_behind((mut node, mut obstacle): (Box<DeferredNode>, Obstacle), block: &Allocation) -> PyResult<Visibility> {
    loop {
        flush::flush_now(obstacle.scope, obstacle.cause);
        for array in node.arrays().iter().chain(node.target.as_deref().map(DeferredArray::of)) {
            array.allocation().check()?; // it may be lost meanwhile, and would never have values
        }
        match fusion::push(node, block) {
            Ok(reach) => return Ok(reach),
            Err(back) => (node, obstacle) = back,
        }
    }
}

/// Whether an operand's values wait.
pub(crate) fn is_waiting(array: &DeferredArray) -> bool {
    array.allocation().is_pending()
}

/// Puts an operation off that goes into an array which was given, of the same shape, if one of its operands waits and none of what is
/// read lies across what is written. `false`: it is to be launched now.
///
/// The operand is let go of by Python behind the call, so that it may never need memory.
///
/// # Errors
/// The driver's, of what waited.
pub(crate) fn into_given(work: DeferredOp, operands: Operands, target: &DeferredArray) -> PyResult<bool> {
    let Some(stream) = order_of(target)?.filter(|_| !is_waiting(target)) else { return Ok(false) };
    let target = target.materialized()?;
    let meets = |array: &DeferredArray| {
        array.materialized().is_ok_and(|array| copy::may_overlap(target, array) && !copy::is_same_place(target, array))
    };
    let may_all =
        operands.arrays().iter().all(|array| refusal(array).is_none() && (is_waiting(array) || !meets(array)));
    if !may_all || !operands.arrays().iter().any(is_waiting) {
        return Ok(false);
    }
    let (layout, dtype) = (target.layout().clone(), target.dtype());
    let (result, target) = (Arc::downgrade(target.allocation()), target.clone());
    let block = Arc::clone(target.allocation());
    let node = DeferredNode { work, operands, layout, dtype, stream, result, target: Some(Box::new(target)) };
    push(Box::new(node), &block)?;
    Ok(true)
}
