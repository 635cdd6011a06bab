//! Arrays whose values wait.

use std::sync::Arc;

use pyo3::prelude::*;

use super::class::{GpuArray, new_on};
use crate::dtype::DType;
use crate::layout::Layout;
use crate::memory::Allocation;
use crate::ops::expression::{self, Input, Mode, Work};
use crate::python::deferral::put_off;
use crate::stream::{self, Stream};

impl GpuArray {
    /// The stream in whose order the result of an operation on this array alone can be put off; `None` if the operation is launched by
    /// its line.
    pub(crate) fn can_wait_on(own: &Bound<'_, Self>) -> PyResult<Option<Stream>> {
        let array = own.get().unlaunched()?;
        let (mode, stream) = (expression::current()?, stream::current(array.device()));
        let can_wait = mode != Mode::Off
            && own.is_exact_instance_of::<Self>()
            && !array.layout().is_empty()
            && Allocation::may_be_put_off(&stream)
            && put_off::refusal(mode, array).is_none();
        Ok(can_wait.then_some(stream))
    }
}

/// The result of an operation that is put off, dense from its first byte on.
///
/// # Errors
/// The driver's, of what waited.
pub(crate) fn new_waiting<'py>(
    py: Python<'py>,
    work: Work,
    inputs: Vec<Input>,
    (layout, dtype): (Layout, DType),
    stream: Stream,
) -> PyResult<Bound<'py, GpuArray>> {
    let block = put_off::block(layout.nbytes() as usize, &stream);
    let made = new_on(py, Arc::clone(&block), dtype, |made| {
        made.assign(&layout);
        Ok(())
    })?;
    put_off::push(py, put_off::node(work, inputs, (layout, dtype), stream, &block), &block)?;
    Ok(made)
}
