//! A call's kernel on the current stream.

use pyo3::prelude::*;
use smallvec::SmallVec;

use super::operand::{self, Value, Values};
use super::result::{Lying, Target, Targets};
use crate::array::Array;
use crate::copy;
use crate::device::Device;
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::kernel::Arguments;
use crate::memory::pending;
use crate::ops::ufunc::{self, Given, Row};
use crate::python::gil::WithoutGil;
use crate::python::host::transfer;
use crate::stream;

/// An operand that shares bytes with a result other than element by element, as a copy of its own.
fn apart_from(py: Python<'_>, array: &Array, targets: &[Option<&Array>]) -> PyResult<Option<Box<Array>>> {
    let meets = |out: &&Array| copy::may_overlap(out, array) && !copy::is_same_place(array, out);
    match targets.iter().flatten().any(meets) {
        true => Ok(Some(Box::new(transfer::device_copy_like(py, array)?))),
        false => Ok(None),
    }
}

/// What is computed: a loop of a function, and where its results go.
pub(super) struct Loop<'a> {
    pub(super) row: &'static Row,
    pub(super) kind: Kind,
    pub(super) device: Device,
    /// Where it is written.
    pub(super) mask: Option<&'a Array>,
    /// How its new results lie.
    pub(super) lying: Lying<'a>,
}

/// A result before it is computed: an array that was given, or the type of a new one.
pub(super) type Wanted<'a> = std::result::Result<&'a Array, DType>;

/// Puts the kernel of a loop on the current stream, and its results behind `targets`, where they stay: to move arrays costs more than
/// to write them.
///
/// # Errors
/// The compiler's; the driver's.
pub(super) fn run<'a>(
    py: Python<'_>,
    of: &Loop<'_>,
    values: &mut Values<'a, '_>,
    wanted: &[Wanted<'a>],
    targets: &mut Targets<'a>,
) -> PyResult<()> {
    let mut mask_copy = None;
    if wanted.iter().any(|one| one.is_ok()) {
        let given: SmallVec<[Option<&Array>; 2]> = wanted.iter().map(|one| one.as_ref().ok().copied()).collect();
        for value in values.iter_mut() {
            if let Some(array) = value.array()
                && let Some(array) = apart_from(py, array, &given)?
            {
                *value = Value::Held { array, is_foreign: false };
            }
        }
        if let Some(mask) = of.mask {
            mask_copy = apart_from(py, mask, &given)?;
        }
    }
    let mut kinds: SmallVec<[Given; 4]> = SmallVec::new();
    let mut arrays: SmallVec<[&Array; 8]> = SmallVec::new();
    let mut arguments = Arguments::new();
    for (place, value) in values.iter().enumerate() {
        match value {
            Value::Number { object, .. } => {
                kinds.push(Given::Value);
                operand::push(&mut arguments, of.row.takes(place, of.kind), object)?;
            }
            Value::Own(array) => {
                kinds.push(Given::Array(array.dtype().kind()));
                arrays.push(array);
            }
            Value::Held { array, .. } => {
                kinds.push(Given::Array(array.dtype().kind()));
                arrays.push(array);
            }
        }
    }
    let mask = mask_copy.as_deref().or(of.mask);
    let mut results: SmallVec<[Kind; 2]> = SmallVec::new();
    for one in wanted {
        results.push(one.map_or_else(|dtype| dtype.kind(), |array| array.dtype().kind()));
    }
    let kernel = ufunc::kernel_of(of.row, of.kind, &kinds, &results, of.mask.is_some())?;
    let done: Result<()> = py.without_gil(|| {
        let stream = stream::current(of.device);
        for one in wanted {
            targets.push(match one {
                Ok(array) => Target::Given(array),
                Err(dtype) => Target::New(of.lying.new_array(&arrays, mask, *dtype, stream.clone())?),
            });
        }
        arrays.extend(mask);
        for target in targets.iter() {
            arrays.push(target.array());
        }
        let plan = kernel.plan(&arrays, false)?;
        // SAFETY: the kernel was made for operands of these kinds, and the plan is of them.
        unsafe { kernel.run(&plan, &arrays, arguments, None, &stream) }
    });
    done?;
    drop(arrays);
    keep_foreign(py, of.device, values)
}

/// Keeps the arrays of others for as long as the kernel reads them.
#[inline(always)] // two callers since products are there, each short
pub(super) fn keep_foreign(py: Python<'_>, device: Device, values: &mut Values<'_, '_>) -> PyResult<()> {
    let is_foreign = |value: &Value<'_, '_>| matches!(value, Value::Held { is_foreign: true, .. });
    if !values.iter().any(is_foreign) {
        return Ok(());
    }
    let mut kept: Vec<Box<Array>> = Vec::new();
    for value in values.drain(..) {
        if let Value::Held { array, is_foreign: true } = value {
            kept.push(array);
        }
    }
    py.without_gil(|| pending::keep_until_passed(&stream::current(device), Box::new(kept)))?;
    Ok(())
}
