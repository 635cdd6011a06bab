//! Creates arrays on a device, uninitialized or with the values of an ndarray.

use std::sync::Arc;

use numpy::PyUntypedArray;
use pyo3::prelude::*;

use super::host_operand::HostOperand;
use super::transfer;
use crate::convert::ndarray;
use crate::gil::WithoutGil;
use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::{Layout, MemoryOrder};
use pygpu_memory::{Allocation, custom_allocator};

/// Returns whether allocating on a device needs no driver call. If so, the caller keeps the GIL, because releasing the
/// GIL takes longer than the allocation.
#[inline]
pub(crate) fn is_process_memory(device: Device) -> bool {
    device.is_cpu() && !custom_allocator::is_in_use()
}

/// Allocates a memory block in the order of the thread's current stream. The block is returned in its `Arc`, because
/// each return of the block itself would copy it.
#[inline]
pub(crate) fn new_block(py: Python<'_>, bytes: usize, device: Device) -> PyResult<Arc<Allocation>> {
    if is_process_memory(device) {
        return Ok(Arc::new(Allocation::new(bytes, Stream::default_of(device))?));
    }
    let stream = stream::current(device);
    match Allocation::from_stream_cache(bytes, &stream) {
        Some(block) => Ok(Arc::new(block)),
        None => Ok(Arc::new(py.without_gil(|| Allocation::new(bytes, stream))?)),
    }
}

/// Allocates an array in the order of the thread's current stream.
#[inline]
pub(crate) fn new_array(
    py: Python<'_>,
    shape: &[i64],
    dtype: DType,
    order: MemoryOrder,
    device: Device,
) -> PyResult<Array> {
    new_dense(py, Layout::contiguous(shape, dtype.itemsize() as i64, order)?, dtype, device)
}

/// Allocates an array with a dense layout in the order of the thread's current stream.
#[inline]
pub(crate) fn new_dense(py: Python<'_>, layout: Layout, dtype: DType, device: Device) -> PyResult<Array> {
    let block = new_block(py, layout.nbytes() as usize, device)?;
    Ok(Array::over(block, layout, dtype, false)?)
}

/// Creates an array of the dtype `dtype` with the values of an ndarray of the same dtype. The axes keep their memory
/// order.
///
/// # Errors
/// `OutOfMemoryError`; driver errors.
pub(crate) fn upload_new(
    py: Python<'_>,
    source: &Bound<'_, PyUntypedArray>,
    dtype: DType,
    device: Device,
) -> PyResult<Array> {
    let buffer = ndarray::host_buffer(source, dtype.itemsize())?;
    let array = new_dense(py, buffer.layout.dense_like(), dtype, device)?;
    transfer::upload(py, &array, source)?;
    Ok(array)
}

/// Creates an array like [`upload_new`], but enqueues the copy on a given stream, and waits for the copy only if
/// requested.
pub(crate) fn upload_new_on(
    py: Python<'_>,
    source: Bound<'_, PyUntypedArray>,
    dtype: DType,
    stream: &Stream,
    wait: bool,
) -> PyResult<Array> {
    let mut operand = HostOperand::new(source, dtype.itemsize())?;
    let array: Result<Array> = py.without_gil(|| {
        let array = Array::on_new_memory(operand.layout().dense_like(), dtype, stream.clone());
        // The array stays in its `Result`, because taking it out and putting it back would move it twice.
        if let Ok(array) = &array {
            operand.upload(array, stream, wait)?;
        }
        array
    });
    Ok(array?)
}
