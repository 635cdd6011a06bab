//! Finds the unique elements of an array.

use super::equal_runs::{RunOutputs, runs};
use super::sort::{SortOutputs, Sorted, sort};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, MemoryOrder};
use pygpu_memory::stream_captures;

/// Selects the optional outputs of `unique`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UniqueOutputs {
    /// Whether to return, for each distinct value, the index of its first occurrence in the sorted elements.
    pub starts: bool,
    /// Whether to return, for each sorted element, its position before the sort.
    pub places: bool,
    /// Whether to return, for each element, the index of its value in `values`.
    pub inverse: bool,
    /// Whether each NaN counts as a distinct value. If false, all NaNs count as one value.
    pub nan_apart: bool,
}

/// Results of the search for the unique elements of an array.
pub struct Unique {
    /// The distinct values in ascending order.
    pub values: Array,
    /// For each distinct value, the index of its first occurrence in the sorted elements; followed by the total number
    /// of elements as the end of the last run.
    pub starts: Option<Array>,
    /// For each sorted element, its position before the sort.
    pub places: Option<Array>,
    /// For each element, the index of its value in `values`.
    pub inverse: Option<Array>,
}

/// Finds the distinct values of a one-dimensional array. The host waits until the number of distinct values is known.
///
/// # Errors
/// `NotSupported` in a capture; `OutOfMemory`; compiler errors; driver errors.
pub fn unique(input: &Array, outputs: UniqueOutputs, stream: &Stream) -> Result<Unique> {
    stream_captures::refuse("unique, whose values the host counts,", stream)?;
    let sort_outputs = SortOutputs { values: true, places: outputs.places || outputs.inverse, descending: false };
    let Sorted { values: sorted, places } = sort(input, sort_outputs, stream)?;
    let sorted = sorted.unwrap_or_else(|| input.clone());
    if input.layout().is_empty() {
        let starts = outputs.starts.then(|| zero(stream)).transpose()?;
        let inverse = places.clone().filter(|_| outputs.inverse);
        return Ok(Unique { values: sorted, starts, places, inverse });
    }
    let beside = RunOutputs {
        starts: outputs.starts,
        places: places.as_ref().filter(|_| outputs.inverse),
        nan_apart: outputs.nan_apart,
    };
    let found = runs(&sorted, beside, stream)?;
    let total = found.total.read_behind(stream)? as i64;
    Ok(Unique {
        values: trimmed(found.values, total, stream)?,
        starts: found.starts.map(|starts| trimmed(starts, total + 1, stream)).transpose()?,
        places: places.filter(|_| outputs.places),
        inverse: found.inverse,
    })
}

/// Returns the `starts` output for an empty array: a single 0.
fn zero(stream: &Stream) -> Result<Array> {
    let array = Array::empty(&[1], DType::new(ScalarType::Int64), MemoryOrder::C, stream.clone())?;
    copy::fill(&array, &[0; 8], stream)?;
    Ok(array)
}

/// Returns the first `count` elements of an array. Returns a copy if `count` is less than half of the elements, because
/// a view would keep the unused memory alive; otherwise a view.
fn trimmed(array: Array, count: i64, stream: &Stream) -> Result<Array> {
    let room = array.layout().size();
    let view = array.view(Layout::contiguous(&[count], array.dtype().itemsize() as i64, MemoryOrder::C)?)?;
    if 2 * count >= room { Ok(view) } else { copy::duplicate(&view, MemoryOrder::C, stream) }
}
