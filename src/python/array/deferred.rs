//! Arrays as operands and results of deferred operations.

use std::sync::Arc;

use pyo3::prelude::*;

use super::class::{GpuArray, new_on};
use crate::fusion::defer;
use pygpu_base::dtype::DType;
use pygpu_device::stream::Stream;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;
use pygpu_ops::fusion::{DeferredNode, DeferredOp, Operands};

impl GpuArray {
    /// The stream on which an operation on this array alone can be deferred; `None` if it must be launched eagerly.
    pub(crate) fn can_wait_on(own: &Bound<'_, Self>) -> PyResult<Option<Stream>> {
        let array = own.get().without_flush()?;
        match own.is_exact_instance_of::<Self>() {
            true => Ok(defer::order_of(array)?),
            false => Ok(None),
        }
    }
}

/// Creates the result of a deferred operation, `bytes` bytes large, and records the operation. `make` creates the array
/// over the block.
///
/// # Errors
/// Those of `make`; driver errors of pending operations.
#[inline(always)] // only two callers, one of which determines the cost of an operator
pub(crate) fn made<'py>(
    (work, operands): (DeferredOp, Operands),
    (bytes, stream): (usize, Stream),
    make: impl FnOnce(Arc<Allocation>) -> PyResult<Bound<'py, GpuArray>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let block = Arc::new(Allocation::deferred(bytes, stream.clone()));
    let result = Arc::downgrade(&block);
    let made = make(block)?;
    let array = made.get().without_flush()?;
    defer::push(DeferredNode::boxed(work, operands, array, result, stream), array.allocation())?;
    Ok(made)
}

/// Creates the result of a deferred operation, dense and at offset zero.
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
    made((work, operands), (bytes, stream), |block| {
        new_on(py, block, dtype, |made| {
            made.assign(&layout);
            Ok(())
        })
    })
}
