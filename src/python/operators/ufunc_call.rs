//! Performs a call of a ufunc. The call reads operands, selects a loop (the ufunc's implementation for certain types),
//! allocates the result, and enqueues the kernel on the current stream. For arrays in host memory, NumPy computes the
//! result through ndarrays over the same memory.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use super::mathematics::scipy_fallback;
use super::numpy_fallback::{self, NumpyCall};
use super::operand::{self, OperandValues, UfuncOperand};
pub(crate) use super::ufunc_keywords::UfuncKeywords;
use super::ufunc_launch::{self, Targets, UfuncLoop, defer};
use super::ufunc_results::{self, ResultLayout, Results};
use crate::array::allocator_inheritance;
use crate::array::class::GpuArray;
use crate::fusion;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::flush_points::FlushReason;
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_layout::Dims;
use pygpu_memory::stream_captures;
use pygpu_ops::ufunc::{self, HostEvaluation, PromotionOperand, UfuncEntry};

/// Calls a ufunc with the given operands. Returns the result, or a tuple of the results if the ufunc has two. Returns
/// `None` if an operand has an unsupported type.
///
/// # Errors
/// `TypeError`, `ValueError` and `OverflowError`, as in NumPy; driver errors.
pub(crate) fn call<'py>(
    py: Python<'py>,
    entry: &'static UfuncEntry,
    operands: &[&Bound<'py, PyAny>],
    keywords: &UfuncKeywords<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut values = OperandValues::new();
    for operand in operands {
        if !operand::read_without_flush(&mut values, operand)? {
            return Ok(None);
        }
    }
    let _inherited = allocator_inheritance::inherit(py, values.iter().filter_map(UfuncOperand::array))?;
    operand::convert_numbers(entry, &mut values)?;
    let device = ufunc_results::common_device(entry, &values, keywords)?;
    let kind = select_loop(entry, &values, keywords)?;
    for (index, value) in values.iter().enumerate() {
        value.check(entry, index, entry.takes(index, kind), keywords.casting)?;
    }
    let shape = ufunc_results::common_shape(&values, keywords)?;
    let ufunc_loop = (entry, kind, device);
    if let Some(deferred) = defer::result(py, ufunc_loop, &values, &shape, keywords, operands)? {
        return Ok(Some(deferred.into_any()));
    }
    check_outs(entry, kind, &shape, keywords)?;
    if let Some(out) = &keywords.out[0]
        && defer::defer_into(ufunc_loop, &values, keywords)?
    {
        return Ok(Some(out.clone().into_any()));
    }
    fusion::flush_pending(py, FlushReason::EagerOperation);
    for array in values.iter().filter_map(UfuncOperand::array) {
        fusion::materialize(array)?;
    }
    let mask = keywords.mask.as_ref().map(|mask| mask.get().array(py)).transpose()?;
    let results = allocate(py, ufunc_loop, &values, &shape, keywords)?;
    {
        let mut targets = Targets::new();
        for result in &results {
            targets.push(result.get().array(py)?);
        }
        compute(py, &UfuncLoop { entry, kind, device, mask }, &mut values, &targets, keywords)?;
    }
    finish(py, results, operands, keywords)
}

/// Checks that the output arrays can contain the results.
#[inline(always)] // inlined, which adds no code, because there is one caller
fn check_outs(
    entry: &'static UfuncEntry,
    kind: ScalarType,
    shape: &Dims,
    keywords: &UfuncKeywords<'_>,
) -> PyResult<()> {
    if keywords.out.iter().all(Option::is_none) {
        return Ok(()); // most calls pass no output array and return here, without a lookup of the result types
    }
    for (index, (result, out)) in entry.results(kind).iter().zip(&keywords.out).enumerate() {
        if let Some(out) = out {
            ufunc_results::check_out(entry, index, out, *result, shape, keywords)?;
        }
    }
    Ok(())
}

/// Returns the arrays for the results: the caller's output arrays, and new arrays where the caller passed none.
#[inline(always)] // inlined, which adds no code, because there is one caller
fn allocate<'py>(
    py: Python<'py>,
    (entry, kind, device): (&'static UfuncEntry, ScalarType, Device),
    values: &OperandValues<'_, 'py>,
    shape: &Dims,
    keywords: &UfuncKeywords<'py>,
) -> PyResult<Results<'py>> {
    let layout = ResultLayout { shape, order: keywords.order };
    let mut results = Results::new();
    for (result, out) in entry.results(kind).iter().zip(&keywords.out) {
        results.push(match out {
            Some(out) => out.clone(),
            None => layout.new_array(py, values, keywords, DType::new(*result), device)?,
        });
    }
    Ok(results)
}

/// Returns the Python result of a call: one array, or a tuple of two arrays.
#[inline(always)] // inlined, which adds no code, because there is one caller
fn finish<'py>(
    py: Python<'py>,
    mut results: Results<'py>,
    operands: &[&Bound<'py, PyAny>],
    keywords: &UfuncKeywords<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let to_object = |result: Bound<'py, GpuArray>, out: &Option<_>| -> PyResult<Bound<'py, PyAny>> {
        let result = if out.is_none() { ufunc_results::into_class_of(operands, result)? } else { result };
        Ok(result.into_any())
    };
    if results.len() == 1 {
        return results.pop().map(|result| to_object(result, &keywords.out[0])).transpose();
    }
    let mut objects: SmallVec<[Bound<'py, PyAny>; 2]> = SmallVec::new();
    for (result, out) in results.into_iter().zip(&keywords.out) {
        objects.push(to_object(result, out)?);
    }
    Ok(Some(PyTuple::new(py, objects)?.into_any()))
}

/// Selects a loop (the ufunc's implementation for certain types) by the operands and the keyword `dtype` of a call.
/// Returns the type by which the table of ufuncs identifies this loop.
#[inline(always)] // inlined, which adds little code, because there are two callers
pub(super) fn select_loop(
    entry: &'static UfuncEntry,
    values: &OperandValues<'_, '_>,
    keywords: &UfuncKeywords<'_>,
) -> PyResult<ScalarType> {
    let mut kinds: SmallVec<[PromotionOperand; 4]> = SmallVec::new();
    for value in values {
        kinds.push(value.operand());
    }
    let loop_kind = match keywords.dtype {
        None => ufunc::resolve(entry, &kinds),
        Some(dtype) => ufunc::resolve_to(entry, &kinds, dtype),
    };
    loop_kind.ok_or_else(|| no_loop_error(entry, values, keywords))
}

#[cold]
fn no_loop_error(entry: &UfuncEntry, values: &OperandValues<'_, '_>, keywords: &UfuncKeywords<'_>) -> PyErr {
    let names: Vec<&str> = values.iter().map(UfuncOperand::name).collect();
    let names = names.join(", ");
    let is_bool = values.iter().all(|value| value.operand() == PromotionOperand::Strong(ScalarType::Bool));
    PyTypeError::new_err(match (keywords.dtype, entry.name) {
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

/// Computes the results with a kernel on the device of the arrays, or, for arrays in host memory, with NumPy.
#[inline(always)] // inlined, which adds no code, because there is one caller
fn compute(
    py: Python<'_>,
    ufunc_loop: &UfuncLoop<'_>,
    values: &mut OperandValues<'_, '_>,
    targets: &Targets<'_>,
    keywords: &UfuncKeywords<'_>,
) -> PyResult<()> {
    let has_given_outs = keywords.out.iter().any(Option::is_some);
    // For arrays in host memory, NumPy computes the results during the call. During a stream capture, a kernel is
    // captured instead, because the results must be computed when the graph is launched. On the CPU backend, every
    // capture is one of PyGPU, so without one the current stream need not be known.
    let is_captured = || stream_captures::is_capturing(&stream::current(ufunc_loop.device));
    if !ufunc_loop.device.is_cpu() || (stream_captures::is_any() && is_captured()?) {
        return ufunc_launch::run(py, ufunc_loop, values, targets, has_given_outs);
    }
    if ufunc_loop.entry.host == HostEvaluation::Kernel && has_compiler(ufunc_loop.device) {
        return ufunc_launch::run(py, ufunc_loop, values, targets, has_given_outs);
    }
    if ufunc_loop.entry.host == HostEvaluation::SciPy {
        return match scipy_fallback::scipy_ufunc(py, ufunc_loop)? {
            Some(function) => scipy_fallback::run(py, &function, ufunc_loop, values, targets),
            None => ufunc_launch::run(py, ufunc_loop, values, targets, has_given_outs),
        };
    }
    if has_given_outs && ufunc_loop.entry.name == "power" && ufunc_loop.mask.is_none() {
        numpy_fallback::check_exponents(py, ufunc_loop.kind, &values[1])?;
    }
    let numpy_call =
        NumpyCall { entry: ufunc_loop.entry, dtype: keywords.dtype, casting: keywords.casting, mask: ufunc_loop.mask };
    numpy_fallback::run(py, &numpy_call, values, targets)
}

/// Returns whether a compiler is available that compiles kernels for the CPU backend.
fn has_compiler(device: Device) -> bool {
    device.backend().device_code().is_ok_and(|device_code| device_code.compiler(&[]).is_ok())
}
