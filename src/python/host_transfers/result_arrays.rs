//! Creates result ndarrays over cached memory.
//!
//! NumPy supports custom allocators (NEP 49). An ndarray with cached memory owns its memory like any other ndarray
//! (`OWNDATA`, no `base`, `resize`). When the ndarray is freed, `memory::host_block_cache` receives its memory.

use numpy::PyUntypedArray;
use pyo3::prelude::*;

use crate::convert::dtype;
use crate::ffi::ndarray as ffi;
use crate::ffi::numpy_allocator::with_allocator;
use crate::py_once::intern;
use pygpu_base::dtype::DType;
use pygpu_base::small_sort;
use pygpu_layout::{Dims, Layout};
use pygpu_memory::host_block_cache;

/// Creates an uninitialized ndarray in C or F order; a large ndarray uses cached memory.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn new_dense<'py>(
    py: Python<'py>,
    shape: &mut Dims,
    dtype: DType,
    fortran: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let bytes = shape.iter().try_fold(dtype.itemsize() as i64, |bytes, len| bytes.checked_mul(*len));
    if bytes.is_none_or(|bytes| bytes < host_block_cache::LEAST as i64) {
        return empty(py, shape, dtype, fortran);
    }
    with_allocator(py, || empty(py, shape, dtype, fortran))?
}

fn empty<'py>(py: Python<'py>, shape: &mut Dims, dtype: DType, fortran: bool) -> PyResult<Bound<'py, PyUntypedArray>> {
    ffi::empty(shape, dtype::to_python(py, dtype)?, fortran)
}

/// Creates an uninitialized, dense ndarray whose axes have the memory order of `like`.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn empty_like<'py>(py: Python<'py>, like: &Layout, dtype: DType) -> PyResult<Bound<'py, PyUntypedArray>> {
    let dense = like.dense_like();
    let mut shape: Dims = dense.shape().collect();
    if dense.is_c_contiguous() || dense.is_f_contiguous() {
        return new_dense(py, &mut shape, dtype, !dense.is_c_contiguous());
    }
    // NumPy can only allocate C and F order. Therefore the ndarray is created in C order, with its axes sorted by
    // memory order, and its axes are then permuted.
    let mut order: Vec<usize> = (0..dense.ndim()).collect();
    small_sort::sort_by_key(&mut order, |&axis| std::cmp::Reverse(dense.axes()[axis].stride));
    let mut sorted: Dims = order.iter().map(|&axis| shape[axis]).collect();
    let array = new_dense(py, &mut sorted, dtype, false)?;
    let mut inverse_order = vec![0; order.len()];
    for (position, &axis) in order.iter().enumerate() {
        inverse_order[axis] = position;
    }
    let owner = array.call_method1(intern!(py, "transpose"), (inverse_order,))?;
    Ok(owner.cast_into::<PyUntypedArray>()?)
}
