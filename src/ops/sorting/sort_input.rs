//! Describes the input of a sort: dense rows of equal length.

use super::radix_keys::Keys;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, MemoryOrder};

/// Consecutive rows of equal length to sort, and the arrays for the results.
pub(super) struct SortInput<'a> {
    pub(super) keys: Keys,
    pub(super) input: &'a Array,
    pub(super) values: Option<&'a Array>,
    pub(super) places: Option<&'a Array>,
    pub(super) rows: i64,
    pub(super) count: i64,
}

/// Whether the elements of an array are contiguous in C order and aligned.
pub(super) fn is_dense(array: &Array) -> bool {
    array.layout().is_c_contiguous() && array.address().is_multiple_of(array.dtype().itemsize().min(8))
}

/// Returns a dense, aligned copy of an array, or `None` if the array is dense and aligned already.
pub(super) fn dense(input: &Array, stream: &Stream) -> Result<Option<Array>> {
    if is_dense(input) {
        return Ok(None);
    }
    let shape: Vec<i64> = input.layout().shape().collect();
    let copied = Array::empty(&shape, input.dtype(), MemoryOrder::C, stream.clone())?;
    copy::between(&copied, input, stream)?;
    Ok(Some(copied))
}

/// Allocates an array of `bytes` bytes in device memory.
pub(super) fn scratch(bytes: i64, stream: &Stream) -> Result<Array> {
    let layout = Layout::contiguous(&[bytes], 1, MemoryOrder::C)?;
    Array::on_new_memory(layout, DType::new(ScalarType::UInt8), stream.clone())
}
