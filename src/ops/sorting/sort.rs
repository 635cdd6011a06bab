//! Sorts along the last axis.

use super::radix_keys::Keys;
use super::sort_input::{SortInput, dense, is_dense};
use super::{block_sort, radix_sort};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_device::stream::Stream;
use pygpu_layout::MemoryOrder;

/// Options of a sort: the requested outputs, and the order of the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SortOutputs {
    /// Whether to return the sorted elements.
    pub values: bool,
    /// Whether to return the elements' positions in the unsorted row (argsort).
    pub places: bool,
    /// Whether to sort in descending order. NaNs are last in either order.
    pub descending: bool,
}

/// Results of a sort, in C order.
pub struct Sorted {
    /// The sorted elements, if requested.
    pub values: Option<Array>,
    /// The elements' positions in the unsorted row as 64-bit integers, if requested.
    pub places: Option<Array>,
}

/// Sorts the rows of an array. A sort that also returns positions is stable and treats -0 as equal to 0. A sort that
/// returns no positions orders -0 before 0. Complex numbers are always sorted with positions: otherwise the order of -0
/// and 0 in the real parts would take precedence over the order of the imaginary parts.
///
/// # Errors
/// `OutOfMemory`; compiler errors; driver errors.
pub fn sort(input: &Array, outputs: SortOutputs, stream: &Stream) -> Result<Sorted> {
    let shape: Vec<i64> = input.layout().shape().collect();
    let new = |is_requested: bool, dtype: DType| {
        is_requested.then(|| Array::empty(&shape, dtype, MemoryOrder::C, stream.clone())).transpose()
    };
    let values = new(outputs.values, input.dtype())?;
    let needs_places = outputs.places || input.dtype().kind().is_complex();
    let sorted = Sorted { values, places: new(needs_places, DType::new(ScalarType::Int64))? };
    run(input, &sorted, outputs.descending, stream)?;
    Ok(Sorted { places: sorted.places.filter(|_| outputs.places), ..sorted })
}

/// Sorts the rows of an array in place. Returns `false`, with the array unchanged, if this is impossible.
///
/// # Errors
/// The errors of [`sort`].
pub fn sort_in_place(array: &Array, descending: bool, stream: &Stream) -> Result<bool> {
    // A radix sort of one-byte keys has a single pass, which writes directly to the result. Input and result must
    // therefore differ.
    let reads_before = array.dtype().itemsize() > 1 || block_sort::has_room(count(array));
    let is_possible = reads_before && is_dense(array) && !array.dtype().kind().is_complex();
    if is_possible {
        run(array, &Sorted { values: Some(array.clone()), places: None }, descending, stream)?;
    }
    Ok(is_possible)
}

/// Returns the number of elements in a row.
fn count(array: &Array) -> i64 {
    array.layout().shape().last().unwrap_or(1)
}

fn run(input: &Array, sorted: &Sorted, descending: bool, stream: &Stream) -> Result<()> {
    if input.layout().is_empty() {
        return Ok(());
    }
    let own = dense(input, stream)?;
    let (values, places) = (sorted.values.as_ref(), sorted.places.as_ref());
    let keys = Keys { kind: input.dtype().kind(), descending, as_equal: places.is_some() };
    let count = count(input);
    let rows = input.layout().size() / count;
    let rows = SortInput { keys, input: own.as_ref().unwrap_or(input), values, places, rows, count };
    match block_sort::has_room(count) {
        true => block_sort::run(&rows, stream),
        false => radix_sort::run(&rows, stream),
    }
}
