//! Computes a ufunc call by a kernel on the current stream.

pub(super) mod defer;

use pyo3::prelude::*;
use smallvec::SmallVec;

use super::operand::{self, OperandValues, UfuncOperand};
use crate::fusion::record_node::is_aligned;
use crate::gil::WithoutGil;
use crate::host_transfers::transfer;
use pygpu_array::{Array, DeferredArray};
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_kernel::Arguments;
use pygpu_memory::retired_objects;
use pygpu_ops::ufunc::{self, LoopOperand, UfuncEntry};

/// Arrays to which a ufunc call writes its results, one for each result.
pub(super) type Targets<'a> = SmallVec<[&'a Array; 2]>;

/// Copies an array that overlaps a result. Returns `None` if there is no overlap, or if the array and the result have
/// the same address, shape and strides.
fn copy_if_overlapping(py: Python<'_>, array: &Array, targets: &Targets<'_>) -> PyResult<Option<Box<Array>>> {
    let overlaps = |out: &&Array| copy::may_overlap(out, array) && !copy::is_same_place(array, out);
    match targets.iter().any(overlaps) {
        true => Ok(Some(Box::new(transfer::device_copy_like(py, array)?))),
        false => Ok(None),
    }
}

/// The loop that a ufunc call selected, i.e. the ufunc's implementation for certain types, with the call's device and
/// mask.
pub(super) struct UfuncLoop<'a> {
    pub(super) entry: &'static UfuncEntry,
    pub(super) kind: ScalarType,
    pub(super) device: Device,
    /// Boolean mask: the kernel writes only the elements for which the mask is true.
    pub(super) mask: Option<&'a Array>,
}

/// Enqueues the kernel of a ufunc call on the current stream. If `has_given_outs` is set, the targets contain output
/// arrays of the caller. These may overlap operands, which are then copied first.
///
/// # Errors
/// Errors of the compiler and of the driver.
pub(super) fn run(
    py: Python<'_>,
    ufunc_loop: &UfuncLoop<'_>,
    values: &mut OperandValues<'_, '_>,
    targets: &Targets<'_>,
    has_given_outs: bool,
) -> PyResult<()> {
    let mut mask_copy = None;
    if has_given_outs {
        for value in values.iter_mut() {
            if let Some(array) = value.array()
                && let Some(array) = copy_if_overlapping(py, array.materialized()?, targets)?
            {
                *value = UfuncOperand::Temporary { array, is_foreign: false };
            }
        }
        if let Some(mask) = ufunc_loop.mask {
            mask_copy = copy_if_overlapping(py, mask, targets)?;
        }
    }
    let mut kinds: SmallVec<[LoopOperand; 4]> = SmallVec::new();
    let mut arrays: SmallVec<[&Array; 8]> = SmallVec::new();
    let mut arguments = Arguments::new();
    for (index, value) in values.iter().enumerate() {
        match value {
            UfuncOperand::Number { object, .. } => {
                kinds.push(LoopOperand::Value);
                operand::push(&mut arguments, ufunc_loop.entry.takes(index, ufunc_loop.kind), object)?;
            }
            UfuncOperand::Array(array) => {
                kinds.push(LoopOperand::Array(array.dtype().kind()));
                arrays.push(array.materialized()?);
            }
            UfuncOperand::Temporary { array, .. } => {
                kinds.push(LoopOperand::Array(array.dtype().kind()));
                arrays.push(array);
            }
        }
    }
    arrays.extend(mask_copy.as_deref().or(ufunc_loop.mask));
    let mut results: SmallVec<[ScalarType; 2]> = SmallVec::new();
    for target in targets {
        results.push(target.dtype().kind());
        arrays.push(target);
    }
    let kernel = ufunc::kernel_of(ufunc_loop.entry, ufunc_loop.kind, &kinds, &results, ufunc_loop.mask.is_some())?;
    let launched: Result<()> = py.without_gil(|| {
        let stream = stream::current(ufunc_loop.device);
        let plan = kernel.plan(&arrays, false)?;
        // SAFETY: the kernel was looked up by the types of these operands, and the plan was made for these arrays.
        unsafe { kernel.run(&plan, &arrays, &mut arguments, None, &stream) }
    });
    if let Err(error) = launched {
        let is_aligned = arrays.iter().all(|array| is_aligned(DeferredArray::of(array)));
        drop(arrays);
        return if is_aligned { Err(error.into()) } else { run_on_aligned_copies(py, ufunc_loop, values, targets) };
    }
    drop(arrays);
    retain_foreign(py, ufunc_loop.device, values)
}

/// Computes the same results as [`run`] if elements of some arrays are unaligned, such as fields of packed structured
/// types. Kernels cannot access unaligned elements. Therefore this function copies these arrays, runs the kernel on the
/// copies, and copies the results back.
#[cold]
fn run_on_aligned_copies(
    py: Python<'_>,
    ufunc_loop: &UfuncLoop<'_>,
    values: &mut OperandValues<'_, '_>,
    targets: &Targets<'_>,
) -> PyResult<()> {
    for value in values.iter_mut() {
        if let Some(array) = value.array().filter(|array| !is_aligned(array)) {
            let array = Box::new(transfer::device_copy_like(py, array.materialized()?)?);
            *value = UfuncOperand::Temporary { array, is_foreign: false };
        }
    }
    let mut copies: SmallVec<[Option<Array>; 2]> = SmallVec::new();
    for target in targets {
        // The copy contains the values of the unaligned target, because elements that a mask excludes must keep these
        // values.
        let is_aligned = is_aligned(DeferredArray::of(target));
        copies.push(if is_aligned { None } else { Some(transfer::device_copy_like(py, target)?) });
    }
    let aligned: Targets<'_> =
        copies.iter().zip(targets).map(|(copy, target)| copy.as_ref().unwrap_or(target)).collect();
    run(py, ufunc_loop, values, &aligned, true)?;
    let stream = stream::current(ufunc_loop.device);
    for (copy, target) in copies.iter().zip(targets) {
        if let Some(copy) = copy {
            py.without_gil(|| copy::between(target, copy, &stream))?;
        }
    }
    Ok(())
}

/// Moves operands that are arrays of other libraries to a list that keeps them alive until the kernel has read them.
#[inline(always)] // inlined, which adds little code, because there are two callers
pub(super) fn retain_foreign(py: Python<'_>, device: Device, values: &mut OperandValues<'_, '_>) -> PyResult<()> {
    let is_foreign = |value: &UfuncOperand<'_, '_>| matches!(value, UfuncOperand::Temporary { is_foreign: true, .. });
    if !values.iter().any(is_foreign) {
        return Ok(());
    }
    let mut foreign_arrays: Vec<Box<Array>> = Vec::new();
    for value in values.drain(..) {
        if let UfuncOperand::Temporary { array, is_foreign: true } = value {
            foreign_arrays.push(array);
        }
    }
    py.without_gil(|| retired_objects::keep_until_passed(&stream::current(device), Box::new(foreign_arrays)))?;
    Ok(())
}
