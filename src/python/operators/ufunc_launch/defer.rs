//! Defers ufunc calls. A deferred call is recorded and launched later, so that one kernel can compute several calls.
//! See `ops::fusion`.

use pyo3::prelude::*;

use super::super::operand::{self, OperandValues, UfuncOperand};
use super::super::ufunc_keywords::UfuncKeywords;
use super::super::ufunc_results::ResultLayout;
use crate::array::class::GpuArray;
use crate::array::deferred_operands;
use crate::fusion::record_node;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_kernel::Arguments;
use pygpu_layout::Dense;
use pygpu_memory::Allocation;
use pygpu_ops::fusion::{self, DeferredOp, EagerReason, FusionMode, Operands, Scalar};
use pygpu_ops::ufunc::UfuncEntry;

/// Defers a ufunc call and returns its pending result. Returns `None` if the call cannot be deferred; the caller must
/// then launch it.
///
/// # Errors
/// `OverflowError` and other errors from converting numbers. Driver errors from pending operations, if this call
/// launches them.
#[inline(always)] // inlined, so that calls on host memory, which are never deferred, make no call here
pub(in crate::operators) fn result<'py>(
    py: Python<'py>,
    ufunc_loop: (&'static UfuncEntry, ScalarType, Device),
    values: &OperandValues<'_, 'py>,
    shape: &[i64],
    keywords: &UfuncKeywords<'py>,
    operands: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let (_, _, device) = ufunc_loop;
    if device.is_cpu() { Ok(None) } else { result_on_gpu(py, ufunc_loop, values, shape, keywords, operands) }
}

#[inline(never)]
fn result_on_gpu<'py>(
    py: Python<'py>,
    (entry, kind, device): (&'static UfuncEntry, ScalarType, Device),
    values: &OperandValues<'_, 'py>,
    shape: &[i64],
    keywords: &UfuncKeywords<'py>,
    operands: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let mode = fusion::current()?;
    if let Some(reason) = eager_reason(mode, entry, values, shape, keywords, operands) {
        // A call with an output array may still be deferred by `defer_into`. If the call is not deferred, `defer_into`
        // records the reason.
        if reason != EagerReason::UnsupportedForm || keywords.out[0].is_none() {
            fusion::record_eager(reason);
        }
        return Ok(None);
    }
    let stream = stream::current(device);
    if !Allocation::is_deferrable(&stream) {
        fusion::record_eager(EagerReason::UnsupportedStream);
        return Ok(None);
    }
    record_node::prepare(&stream);
    let Some(result) = entry.group(kind).map(|group| DType::new(group.output.of(kind))) else { return Ok(None) };
    let Some(node_operands) = to_node_operands(entry, kind, values)? else { return Ok(None) };
    let dense = Dense::of(shape, result.itemsize() as i64)?;
    let layout = ResultLayout { shape, order: keywords.order };
    let create = |block| layout.on_block(py, values, keywords, (result, dense), block);
    deferred_operands::new_deferred((DeferredOp::Loop(entry, kind), node_operands), (dense.bytes(), stream), create)
        .map(Some)
}

/// Defers a ufunc call whose single result is written to an existing array. Returns `false` if the call cannot be
/// deferred; the caller must then launch it.
///
/// # Errors
/// The errors of [`ufunc_results`].
pub(in crate::operators) fn defer_into<'py>(
    (entry, kind, device): (&'static UfuncEntry, ScalarType, Device),
    values: &OperandValues<'_, 'py>,
    keywords: &UfuncKeywords<'py>,
) -> PyResult<bool> {
    if device.is_cpu() {
        return Ok(false);
    }
    let is_deferred = try_defer_into((entry, kind), values, keywords)?;
    if !is_deferred && fusion::current()? != FusionMode::Off {
        fusion::record_eager(EagerReason::UnsupportedForm);
    }
    Ok(is_deferred)
}

fn try_defer_into<'py>(
    (entry, kind): (&'static UfuncEntry, ScalarType),
    values: &OperandValues<'_, 'py>,
    keywords: &UfuncKeywords<'py>,
) -> PyResult<bool> {
    let [Some(out), None] = &keywords.out else { return Ok(false) };
    if keywords.mask.is_some() || entry.outputs() != 1 || !pygpu_base::flush_points::has_pending() {
        return Ok(false);
    }
    let Some(node_operands) = to_node_operands(entry, kind, values)? else { return Ok(false) };
    record_node::defer_into(DeferredOp::Loop(entry, kind), node_operands, out.get().without_flush()?)
}

/// Converts the operands of a call to operands of a deferred operation. Returns `None` if an operand is a temporary
/// array: it exists only during the call and would be missing when the operation is launched.
#[inline]
fn to_node_operands(
    entry: &'static UfuncEntry,
    kind: ScalarType,
    values: &OperandValues<'_, '_>,
) -> PyResult<Option<Operands>> {
    let mut operands = Operands::with_room(values.len());
    for (index, value) in values.iter().enumerate() {
        match value {
            UfuncOperand::Array(array) => operands.push(array),
            UfuncOperand::Temporary { .. } => return Ok(None),
            UfuncOperand::Number { object, .. } => {
                let mut number = Arguments::new();
                operand::push(&mut number, entry.takes(index, kind), object)?;
                operands.push_value(Scalar::new(number.first().unwrap_or_default()));
            }
        }
    }
    Ok(Some(operands))
}

/// Returns the reason why a call must be launched eagerly; `None` if the call can be deferred.
#[inline]
fn eager_reason(
    mode: FusionMode,
    entry: &UfuncEntry,
    values: &OperandValues<'_, '_>,
    shape: &[i64],
    keywords: &UfuncKeywords<'_>,
    operands: &[&Bound<'_, PyAny>],
) -> Option<EagerReason> {
    if mode == FusionMode::Off {
        return Some(EagerReason::Off);
    }
    let is_exact = |operand: &&Bound<'_, PyAny>| {
        operand.is_exact_instance_of::<GpuArray>() || !operand.is_instance_of::<GpuArray>()
    };
    let has_supported_form =
        keywords.out[0].is_none() && keywords.out[1].is_none() && keywords.mask.is_none() && entry.outputs() == 1;
    if !has_supported_form || shape.contains(&0) || !operands.iter().all(is_exact) {
        return Some(EagerReason::UnsupportedForm);
    }
    values.iter().find_map(|value| match value {
        UfuncOperand::Array(array) => record_node::eager_reason(array),
        UfuncOperand::Temporary { .. } => Some(EagerReason::ExternalMemory),
        UfuncOperand::Number { .. } => None,
    })
}
