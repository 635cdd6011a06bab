//! Copies arrays to new memory, on the same device or on another one.

use pyo3::prelude::*;

use crate::array::allocator_inheritance;
use crate::gil::WithoutGil;
use pygpu_array::Array;
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_layout::{Dims, Layout, MemoryOrder};

/// Returns a dense layout with an array's shape.
///
/// # Errors
/// `ValueError` if the layout has more bytes than can be addressed.
pub(crate) fn dense_in(array: &Array, order: MemoryOrder) -> Result<Layout> {
    let shape: Dims = array.layout().shape().collect();
    Layout::contiguous(&shape, array.layout().itemsize(), order)
}

/// Copies an array to a device, with a dense layout of the same shape.
///
/// # Errors
/// `OutOfMemoryError`; driver errors.
pub(crate) fn copy_to(py: Python<'_>, source: &Array, device: Device, dense: Layout) -> PyResult<Array> {
    // A copy on another device does not use the custom allocator of the source, which may allocate on the source's
    // device only.
    let _inherited = allocator_inheritance::inherit(py, (device == source.device()).then_some(source).into_iter())?;
    let copied: Result<Array> = py.without_gil(|| {
        let target = Array::on_new_memory(dense, source.dtype(), stream::current(device))?;
        copy::between(&target, source, &stream::current(source.device()))?;
        Ok(target)
    });
    Ok(copied?)
}
