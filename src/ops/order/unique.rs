//! Elements without those that are equal to one before.

use super::runs::{Beside, runs};
use super::sort::{Sorted, Wanted, sort};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, Kind};
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, Order};
use pygpu_memory::capture;

/// What is asked beside the values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Where each one begins among the sorted elements.
    pub starts: bool,
    /// Where the sorted elements were.
    pub places: bool,
    /// The number of each element's value.
    pub inverse: bool,
    /// Whether no NaN is equal to another one.
    pub nan_apart: bool,
}

/// What came of it.
pub struct Unique {
    /// The values in order.
    pub values: Array,
    /// Where each one begins among the sorted elements, and behind them all how many elements there are.
    pub starts: Option<Array>,
    /// Where the sorted elements were.
    pub places: Option<Array>,
    /// The number of each element's value.
    pub inverse: Option<Array>,
}

/// The values of an array with one axis, each once. The host waits for their number.
///
/// # Errors
/// `NotSupported` in a capture; `OutOfMemory`; the compiler's; driver errors.
pub fn unique(input: &Array, asked: Asked, stream: &Stream) -> Result<Unique> {
    capture::refuse("unique, whose values the host counts,", stream)?;
    let wanted = Wanted { values: true, places: asked.places || asked.inverse, descending: false };
    let Sorted { values: sorted, places } = sort(input, wanted, stream)?;
    let sorted = sorted.unwrap_or_else(|| input.clone());
    if input.layout().is_empty() {
        let starts = asked.starts.then(|| zero(stream)).transpose()?;
        let inverse = places.clone().filter(|_| asked.inverse);
        return Ok(Unique { values: sorted, starts, places, inverse });
    }
    let beside =
        Beside { starts: asked.starts, places: places.as_ref().filter(|_| asked.inverse), nan_apart: asked.nan_apart };
    let found = runs(&sorted, beside, stream)?;
    let total = found.total.read_behind(stream)? as i64;
    Ok(Unique {
        values: trimmed(found.values, total, stream)?,
        starts: found.starts.map(|starts| trimmed(starts, total + 1, stream)).transpose()?,
        places: places.filter(|_| asked.places),
        inverse: found.inverse,
    })
}

/// Where those begin that are behind no element.
fn zero(stream: &Stream) -> Result<Array> {
    let array = Array::empty(&[1], DType::new(Kind::Int64), Order::C, stream.clone())?;
    copy::fill(&array, &[0; 8], stream)?;
    Ok(array)
}

/// The first elements of an array: a view, unless most of its memory would be held for nothing.
fn trimmed(array: Array, count: i64, stream: &Stream) -> Result<Array> {
    let room = array.layout().size();
    let view = array.view(Layout::contiguous(&[count], array.dtype().itemsize() as i64, Order::C)?)?;
    if 2 * count >= room { Ok(view) } else { copy::duplicate(&view, Order::C, stream) }
}
