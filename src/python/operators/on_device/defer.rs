//! Calls whose result is deferred and computed together with later ones: `ops::fusion`.

use pyo3::prelude::*;

use super::super::keywords::UfuncKeywords;
use super::super::operand::{self, OperandValues, UfuncOperand};
use super::super::result::ResultLayout;
use crate::array::class::GpuArray;
use crate::array::deferred;
use crate::fusion::defer;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_kernel::Arguments;
use pygpu_layout::Dense;
use pygpu_memory::Allocation;
use pygpu_ops::fusion::{self, DeferredOp, EagerReason, FusionMode, Operands, Scalar};
use pygpu_ops::ufunc::UfuncEntry;

/// Defers a call and returns its result; `None` if it is launched eagerly.
///
/// # Errors
/// `OverflowError` and other errors of numbers; the driver's, from pending operations.
#[inline]
pub(in crate::operators) fn result<'py>(
    py: Python<'py>,
    (row, kind, device): (&'static UfuncEntry, ScalarType, Device),
    values: &OperandValues<'_, 'py>,
    shape: &[i64],
    wish: &UfuncKeywords<'py>,
    operands: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    if device.is_cpu() {
        return Ok(None);
    }
    let mode = fusion::current()?;
    if let Some(why) = refusal(mode, row, values, shape, wish, operands) {
        // A call into a given array may still be deferred, as `defer_into` decides.
        if why != EagerReason::UnsupportedForm || wish.out[0].is_none() {
            fusion::record_eager(why);
        }
        return Ok(None);
    }
    let stream = stream::current(device);
    if !Allocation::is_deferrable(&stream) {
        fusion::record_eager(EagerReason::UnsupportedStream);
        return Ok(None);
    }
    defer::prepare(&stream);
    let Some(result) = row.group(kind).map(|group| DType::new(group.output.of(kind))) else { return Ok(None) };
    let Some(read) = operands_of(row, kind, values)? else { return Ok(None) };
    let dense = Dense::of(shape, result.itemsize() as i64)?;
    let lying = ResultLayout { shape, order: wish.order };
    let made = |block| lying.on_block(py, values, wish, (result, dense), block);
    deferred::made((DeferredOp::Loop(row, kind), read), (dense.bytes(), stream), made).map(Some)
}

/// Defers a call whose single result goes into a given array; `false` if it is launched eagerly.
///
/// # Errors
/// Those of [`result`].
pub(in crate::operators) fn defer_into<'py>(
    (row, kind, device): (&'static UfuncEntry, ScalarType, Device),
    values: &OperandValues<'_, 'py>,
    wish: &UfuncKeywords<'py>,
) -> PyResult<bool> {
    if device.is_cpu() {
        return Ok(false);
    }
    let is_deferred = one_deferred_into((row, kind), values, wish)?;
    if !is_deferred && fusion::current()? != FusionMode::Off {
        fusion::record_eager(EagerReason::UnsupportedForm);
    }
    Ok(is_deferred)
}

fn one_deferred_into<'py>(
    (row, kind): (&'static UfuncEntry, ScalarType),
    values: &OperandValues<'_, 'py>,
    wish: &UfuncKeywords<'py>,
) -> PyResult<bool> {
    let [Some(out), None] = &wish.out else { return Ok(false) };
    if wish.mask.is_some() || row.outputs() != 1 || !pygpu_base::flush::has_pending() {
        return Ok(false);
    }
    let Some(read) = operands_of(row, kind, values)? else { return Ok(false) };
    defer::defer_into(DeferredOp::Loop(row, kind), read, out.get().without_flush()?)
}

/// Returns the operands of a node; `None` if one is valid for this call only.
#[inline]
fn operands_of(
    row: &'static UfuncEntry,
    kind: ScalarType,
    values: &OperandValues<'_, '_>,
) -> PyResult<Option<Operands>> {
    let mut operands = Operands::with_room(values.len());
    for (place, value) in values.iter().enumerate() {
        match value {
            UfuncOperand::Own(array) => operands.push(array),
            UfuncOperand::Temporary { .. } => return Ok(None),
            UfuncOperand::Number { object, .. } => {
                let mut number = Arguments::new();
                operand::push(&mut number, row.takes(place, kind), object)?;
                operands.push_value(Scalar::new(number.first().unwrap_or_default()));
            }
        }
    }
    Ok(Some(operands))
}

/// Returns the reason why a call is launched eagerly.
#[inline]
fn refusal(
    mode: FusionMode,
    row: &UfuncEntry,
    values: &OperandValues<'_, '_>,
    shape: &[i64],
    wish: &UfuncKeywords<'_>,
    operands: &[&Bound<'_, PyAny>],
) -> Option<EagerReason> {
    if mode == FusionMode::Off {
        return Some(EagerReason::Off);
    }
    let is_exact = |operand: &&Bound<'_, PyAny>| {
        operand.is_exact_instance_of::<GpuArray>() || !operand.is_instance_of::<GpuArray>()
    };
    let is_plain = wish.out[0].is_none() && wish.out[1].is_none() && wish.mask.is_none() && row.outputs() == 1;
    if !is_plain || shape.contains(&0) || !operands.iter().all(is_exact) {
        return Some(EagerReason::UnsupportedForm);
    }
    values.iter().find_map(|value| match value {
        UfuncOperand::Own(array) => defer::refusal(array),
        UfuncOperand::Temporary { .. } => Some(EagerReason::ExternalMemory),
        UfuncOperand::Number { .. } => None,
    })
}
