//! Arrays whose values wait.

use std::sync::Arc;

use pyo3::prelude::*;

use super::class::{GpuArray, new_on};
use crate::deferral::put_off;
use pygpu_base::dtype::DType;
use pygpu_device::stream::Stream;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;
use pygpu_ops::expression::{Node, Operands, Work};

impl GpuArray {
    /// The stream in whose order the result of an operation on this array alone can be put off; `None` if the operation is launched by
    /// its line.
    pub(crate) fn can_wait_on(own: &Bound<'_, Self>) -> PyResult<Option<Stream>> {
        let array = own.get().unlaunched()?;
        match own.is_exact_instance_of::<Self>() {
            true => Ok(put_off::order_of(array)?),
            false => Ok(None),
        }
    }
}

/// An operation's result of so many bytes, and the operation written down. `make` makes the array over the block.
///
/// # Errors
/// Those of `make`; the driver's, of what waited.
#[inline(always)] // two callers, of which one is what an operator costs
pub(crate) fn made<'py>(
    (work, operands): (Work, Operands),
    (bytes, stream): (usize, Stream),
    make: impl FnOnce(Arc<Allocation>) -> PyResult<Bound<'py, GpuArray>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let block = Arc::new(Allocation::put_off(bytes, stream.clone()));
    let result = Arc::downgrade(&block);
    let made = make(block)?;
    let array = made.get().unlaunched()?;
    put_off::push(Node::boxed(work, operands, array, result, stream), array.allocation())?;
    Ok(made)
}

/// The result of an operation that is put off, dense from its first byte on.
///
/// # Errors
/// The driver's, of what waited.
pub(crate) fn new_waiting<'py>(
    py: Python<'py>,
    work: Work,
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
