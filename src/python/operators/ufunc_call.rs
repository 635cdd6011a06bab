//! One call of a table function: reads operands, selects a loop, allocates the result, enqueues the kernel on the current stream.
//! NumPy computes arrays in host memory through views of the same memory.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

pub(crate) use super::keywords::UfuncKeywords;
use super::numpy_fallback::{self, NumpyCall};
use super::on_device::{self, Targets, UfuncLoop, defer};
use super::operand::{self, OperandValues, UfuncOperand};
use super::result::{self, ResultLayout, Results};
use crate::array::allocator_inheritance;
use crate::array::class::GpuArray;
use crate::fusion;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::flush::FlushReason;
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_layout::Dims;
use pygpu_memory::capture;
use pygpu_ops::ufunc::{self, HostEvaluation, PromotionOperand, UfuncEntry};

/// Computes the result of a function, or a tuple of two; `None` for an operand of an unsupported type.
///
/// # Errors
/// `TypeError`, `ValueError` and `OverflowError` as NumPy's; the driver's.
pub(crate) fn call<'py>(
    py: Python<'py>,
    row: &'static UfuncEntry,
    operands: &[&Bound<'py, PyAny>],
    wish: &UfuncKeywords<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut values = OperandValues::new();
    for operand in operands {
        if !operand::read_without_flush(&mut values, operand)? {
            return Ok(None);
        }
    }
    let _inherited = allocator_inheritance::inherit(py, values.iter().filter_map(UfuncOperand::array))?;
    operand::settle(row, &mut values)?;
    let device = result::common_device(row, &values, wish)?;
    let kind = loop_of(row, &values, wish)?;
    for (place, value) in values.iter().enumerate() {
        value.check(row, place, row.takes(place, kind), wish.casting)?;
    }
    let shape = result::common_shape(&values, wish)?;
    let of = (row, kind, device);
    if let Some(made) = defer::result(py, of, &values, &shape, wish, operands)? {
        return Ok(Some(made.into_any()));
    }
    check_outs(row, kind, &shape, wish)?;
    if let Some(out) = &wish.out[0]
        && defer::defer_into(of, &values, wish)?
    {
        return Ok(Some(out.clone().into_any()));
    }
    fusion::close(py, FlushReason::EagerOperation);
    for array in values.iter().filter_map(UfuncOperand::array) {
        fusion::materialize(array)?;
    }
    let mask = wish.mask.as_ref().map(|mask| mask.get().array(py)).transpose()?;
    let results = allocate(py, of, &values, &shape, wish)?;
    {
        let mut targets = Targets::new();
        for result in &results {
            targets.push(result.get().array(py)?);
        }
        compute(py, &UfuncLoop { row, kind, device, mask }, &mut values, &targets, wish)?;
    }
    finish(py, results, operands, wish)
}

/// Rejects output arrays that cannot take the results.
#[inline(always)] // a stage of one caller
fn check_outs(row: &'static UfuncEntry, kind: ScalarType, shape: &Dims, wish: &UfuncKeywords<'_>) -> PyResult<()> {
    if wish.out.iter().all(Option::is_none) {
        return Ok(()); // the usual call does not read the table of result types
    }
    for (place, (result, out)) in row.results(kind).iter().zip(&wish.out).enumerate() {
        if let Some(out) = out {
            result::check_out(row, place, out, *result, shape, wish)?;
        }
    }
    Ok(())
}

/// Returns the arrays for the results: the given ones, and new ones.
#[inline(always)] // a stage of one caller
fn allocate<'py>(
    py: Python<'py>,
    (row, kind, device): (&'static UfuncEntry, ScalarType, Device),
    values: &OperandValues<'_, 'py>,
    shape: &Dims,
    wish: &UfuncKeywords<'py>,
) -> PyResult<Results<'py>> {
    let lying = ResultLayout { shape, order: wish.order };
    let mut results = Results::new();
    for (result, out) in row.results(kind).iter().zip(&wish.out) {
        results.push(match out {
            Some(out) => out.clone(),
            None => lying.new_array(py, values, wish, DType::new(*result), device)?,
        });
    }
    Ok(results)
}

/// Returns the results to the caller: one, or a tuple of two.
#[inline(always)] // a stage of one caller
fn finish<'py>(
    py: Python<'py>,
    mut results: Results<'py>,
    operands: &[&Bound<'py, PyAny>],
    wish: &UfuncKeywords<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let finished = |made: Bound<'py, GpuArray>, out: &Option<_>| -> PyResult<Bound<'py, PyAny>> {
        let made = if out.is_none() { result::of_class_of(operands, made)? } else { made };
        Ok(made.into_any())
    };
    if results.len() == 1 {
        return results.pop().map(|made| finished(made, &wish.out[0])).transpose();
    }
    let mut objects: SmallVec<[Bound<'py, PyAny>; 2]> = SmallVec::new();
    for (made, out) in results.into_iter().zip(&wish.out) {
        objects.push(finished(made, out)?);
    }
    Ok(Some(PyTuple::new(py, objects)?.into_any()))
}

/// Returns the type of the loop of a call.
#[inline(always)] // two callers, each short
pub(super) fn loop_of(
    row: &'static UfuncEntry,
    values: &OperandValues<'_, '_>,
    wish: &UfuncKeywords<'_>,
) -> PyResult<ScalarType> {
    let mut kinds: SmallVec<[PromotionOperand; 4]> = SmallVec::new();
    for value in values {
        kinds.push(value.operand());
    }
    let found = match wish.dtype {
        None => ufunc::resolve(row, &kinds),
        Some(dtype) => ufunc::resolve_to(row, &kinds, dtype),
    };
    found.ok_or_else(|| no_loop(row, values, wish))
}

#[cold]
fn no_loop(row: &UfuncEntry, values: &OperandValues<'_, '_>, wish: &UfuncKeywords<'_>) -> PyErr {
    let names: Vec<&str> = values.iter().map(UfuncOperand::name).collect();
    let names = names.join(", ");
    let is_bool = values.iter().all(|value| value.operand() == PromotionOperand::Strong(ScalarType::Bool));
    PyTypeError::new_err(match (wish.dtype, row.name) {
        (Some(dtype), name) => format!(
            "No loop matching the specified signature and casting was found for ufunc {name} of {names} with dtype={}",
            DType::new(dtype).name()
        ),
        (None, "subtract") if is_bool => {
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the \
                                          `^` operator, or the logical_xor function instead."
                .to_owned()
        }
        (None, "negative") if is_bool => {
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator \
                                          or the logical_not function instead."
                .to_owned()
        }
        (None, name) => format!(
            "ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any supported types \
             according to the casting rule ''safe'': {names}"
        ),
    })
}

/// Computes the results on the device of the arrays.
#[inline(always)] // a stage of one caller
fn compute(
    py: Python<'_>,
    of: &UfuncLoop<'_>,
    values: &mut OperandValues<'_, '_>,
    targets: &Targets<'_>,
    wish: &UfuncKeywords<'_>,
) -> PyResult<()> {
    let are_given = wish.out.iter().any(Option::is_some);
    // NumPy computes immediately. A captured call is computed by a kernel when its graph is launched.
    if !of.device.is_cpu() || capture::is_capturing(&stream::current(of.device))? {
        return on_device::run(py, of, values, targets, are_given);
    }
    if of.row.host == HostEvaluation::Kernel && has_compiler(of.device) {
        return on_device::run(py, of, values, targets, are_given);
    }
    let asked = NumpyCall { row: of.row, dtype: wish.dtype, casting: wish.casting, mask: of.mask };
    numpy_fallback::run(py, &asked, values, targets)
}

/// Whether a compiler for kernels on host memory is available.
fn has_compiler(device: Device) -> bool {
    device.backend().programs().is_ok_and(|programs| programs.compiler(&[]).is_ok())
}
