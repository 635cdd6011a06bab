//! Defines reductions that ignore NaN, and reductions that exist only as functions, not as methods of `GPUArray`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::method_declarations::entry;
use super::reduce::variance;
use super::reduce::{self, ReductionArgs};
use super::reduction_methods::{
    degrees_of_freedom, find_reduction, parameter, reduction_args, reduction_entry, reductions,
};
use crate::array::array_argument::ArrayArg;
use crate::array::class::{ArrayResult, GpuArray};
use crate::convert::OptionalArg;
use crate::exported_names::names;
use pygpu_base::dtype::ScalarType;
use pygpu_ops::reductions::ReductionEntry;

/// Returns the indices of the smallest or largest elements that are not NaN. For floats, the function waits for the
/// device: the kernel stores a negative index for a slice that contains only NaN, and the function raises an error for
/// such an index.
fn index<'py>(
    entry: &'static ReductionEntry,
    a: &Bound<'py, GpuArray>,
    options: &ReductionArgs<'py>,
) -> ArrayResult<'py> {
    let result = reduce::call(entry, a, options)?;
    let has_nan = matches!(
        a.get().dtype().kind(),
        ScalarType::Float16 | ScalarType::BFloat16 | ScalarType::Float32 | ScalarType::Float64
    );
    if has_nan && !a.get().device().is_cpu() && !result.get().layout().is_empty() {
        let least = reduce::call(find_reduction("min")?, &result, &reduction_args([None; 5], false))?;
        if least.call_method0("item")?.lt(0)? {
            return Err(PyValueError::new_err("All-NaN slice encountered"));
        }
    }
    Ok(result)
}

/// Subtracts the smallest element from the largest element (`ptp`). Rejects boolean arrays, as NumPy does.
fn extent<'py>(
    entry: &'static ReductionEntry,
    a: &Bound<'py, GpuArray>,
    options: &ReductionArgs<'py>,
) -> ArrayResult<'py> {
    if a.get().dtype().kind() == ScalarType::Bool {
        return Err(PyTypeError::new_err(
            "ptp: numpy boolean subtract, the `-` operator, is not supported, use max() ^ min() of the array",
        ));
    }
    reduce::call(entry, a, options)
}

reductions! {
    /// Sum the elements, with NaN as 0.
    number function nansum => reduce::call, "nansum" {
        /// >>> PyGPU.nansum(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 3.0
    }
    /// Multiply the elements, with NaN as 1.
    number function nanprod => reduce::call, "nanprod" {
        /// >>> PyGPU.nanprod(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 2.0
    }
    /// Return the smallest element that is not NaN.
    ///
    /// The result is NaN if all elements are NaN. On a GPU, NumPy's warning for this case is not issued, because the
    /// call does not wait for the GPU.
    extreme function nanmin => reduce::call, "nanmin" {
        /// >>> PyGPU.nanmin(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 1.0
    }
    /// Return the largest element that is not NaN.
    ///
    /// The result is NaN if all elements are NaN. On a GPU, NumPy's warning for this case is not issued, because the
    /// call does not wait for the GPU.
    extreme function nanmax => reduce::call, "nanmax" {
        /// >>> PyGPU.nanmax(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 2.0
    }
    /// Return the mean of the elements that are not NaN.
    ///
    /// The result is NaN if all elements are NaN. On a GPU, NumPy's warning for this case is not issued, because the
    /// call does not wait for the GPU.
    average function nanmean => reduce::call, "nanmean" {
        /// >>> PyGPU.nanmean(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 1.5
    }
    /// Return the variance of the elements that are not NaN.
    ///
    /// The result is NaN if all elements are NaN. On a GPU, NumPy's warning for this case is not issued, because the
    /// call does not wait for the GPU.
    variance function nanvar => variance::variance, "nanvar" {
        /// >>> PyGPU.nanvar(PyGPU.to_gpu([1.0, float("nan"), 3.0])).item()
        /// 1.0
    }
    /// Return the standard deviation of the elements that are not NaN.
    ///
    /// The result is NaN if all elements are NaN. On a GPU, NumPy's warning for this case is not issued, because the
    /// call does not wait for the GPU.
    variance function nanstd => variance::standard_deviation, "nanvar" {
        /// >>> PyGPU.nanstd(PyGPU.to_gpu([1.0, float("nan"), 3.0])).item()
        /// 1.0
    }
    /// Return the index of the smallest element that is not NaN; the first of equal ones.
    ///
    /// The call waits for the device, because a slice that contains only NaN is an error.
    index function nanargmin => index, "nanargmin" {
        /// >>> PyGPU.nanargmin(PyGPU.to_gpu([3.0, float("nan"), 2.0])).item()
        /// 2
    }
    /// Return the index of the largest element that is not NaN; the first of equal ones.
    ///
    /// The call waits for the device, because a slice that contains only NaN is an error.
    index function nanargmax => index, "nanargmax" {
        /// >>> PyGPU.nanargmax(PyGPU.to_gpu([3.0, float("nan"), 2.0])).item()
        /// 0
    }
    /// Return the difference of the largest and the smallest element.
    extent function ptp => extent, "ptp" {
        /// >>> PyGPU.ptp(PyGPU.to_gpu([[1, 5], [7, 3]]), axis=1).tolist()
        /// [4, 4]
    }
    /// Count the elements that are not 0.
    count function count_nonzero => reduce::call, "count_nonzero" {
        /// >>> PyGPU.count_nonzero(PyGPU.to_gpu([0, 2, 3])).item()
        /// 2
    }
}

/// Compute the sum of absolute values, or the root of the sum of squares, in one pass over the elements, for `norm`.
///
/// Parameters
/// ----------
/// a : GPUArray
///     Array in the memory of a GPU.
/// order : int
///     1 sums the absolute values; 2 computes the square root of the sum of squares.
/// axis : int, tuple of ints or None
///     The axes that are reduced; None reduces all axes.
/// keepdims : bool
///     Whether reduced axes remain in the result, with length 1.
#[pyfunction]
#[pyo3(signature = (a: "GPUArray", order: "int", axis: "ShapeLike | None", keepdims: "bool") -> "GPUArray")]
fn _norm<'py>(a: &Bound<'py, GpuArray>, order: u8, axis: OptionalArg<'_, 'py>, keepdims: bool) -> ArrayResult<'py> {
    let entry = find_reduction(if order == 1 { "norm_1" } else { "norm_2" })?;
    reduce::call(entry, a, &reduction_args([axis, None, None, None, None], keepdims))
}

names! {
    functions "Reductions": nansum, nanprod, nanmin, nanmax, nanmean, nanvar, nanstd, nanargmin, nanargmax, ptp,
        count_nonzero;
    internal_functions: _norm;
}
