//! Uses arrays as operands and results of deferred operations.

use std::sync::Arc;

use pyo3::prelude::*;

use super::class::{GpuArray, new_on};
use crate::fusion::record_node;
use pygpu_base::dtype::DType;
use pygpu_device::stream::Stream;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;
use pygpu_ops::fusion::{DeferredNode, DeferredOp, Operands};

impl GpuArray {
    /// Returns the stream for a deferred operation whose only operand is this array. Returns `None` if the operation
    /// must be launched eagerly.
    pub(crate) fn can_wait_on(array_object: &Bound<'_, Self>) -> PyResult<Option<Stream>> {
        let array = array_object.get().without_flush()?;
        match array_object.is_exact_instance_of::<Self>() {
            true => Ok(record_node::deferral_stream(array)?),
            false => Ok(None),
        }
    }
}

/// Creates the result of a deferred operation, with a memory block of `bytes` bytes, and records the operation.
/// `create` creates the array over the block.
///
/// # Errors
/// The errors of `create`; driver errors of pending operations.
#[inline(always)] // inlined, because the speed of every operator depends on one of the two callers
pub(crate) fn new_deferred<'py>(
    (work, operands): (DeferredOp, Operands),
    (bytes, stream): (usize, Stream),
    create: impl FnOnce(Arc<Allocation>) -> PyResult<Bound<'py, GpuArray>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let block = Arc::new(Allocation::deferred(bytes, stream.clone()));
    let result = Arc::downgrade(&block);
    let new_deferred = create(block)?;
    let array = new_deferred.get().without_flush()?;
    record_node::push(DeferredNode::boxed(work, operands, array, result, stream), array.allocation())?;
    Ok(new_deferred)
}

/// Creates the result of a deferred operation, with a dense layout at offset zero, and records the operation.
///
/// # Errors
/// Driver errors of pending operations.
pub(crate) fn new_pending<'py>(
    py: Python<'py>,
    work: DeferredOp,
    operands: Operands,
    (layout, dtype): (Layout, DType),
    stream: Stream,
) -> PyResult<Bound<'py, GpuArray>> {
    let bytes = layout.nbytes() as usize;
    new_deferred((work, operands), (bytes, stream), |block| {
        new_on(py, block, dtype, |new_deferred| {
            new_deferred.assign(&layout);
            Ok(())
        })
    })
}
