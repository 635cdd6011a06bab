//! Reductions that leave out what is no number, and others that are functions only.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::declaration::entry;
use super::reduction::{self, Asked};
use super::reductions::{asked, parameter, reduction_entry, reductions, row};
use crate::array::class::GpuArray;
use crate::array::own::Own;
use crate::names::names;
use pygpu_base::dtype::ScalarType;
use pygpu_ops::reductions::ReductionEntry;

type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;
type Result<'py> = PyResult<Bound<'py, GpuArray>>;

/// Where an extreme is, of which every place must have one: the least number is fetched, which is below 0 where there is none.
fn index<'py>(row: &'static ReductionEntry, a: &Bound<'py, GpuArray>, options: &Asked<'py>) -> Result<'py> {
    let found = reduction::call(row, a, options)?;
    let has_nan = matches!(
        a.get().dtype().kind(),
        ScalarType::Float16 | ScalarType::BFloat16 | ScalarType::Float32 | ScalarType::Float64
    );
    if has_nan && !a.get().device().is_cpu() && !found.get().layout().is_empty() {
        let least = reduction::call(self::row("min")?, &found, &asked([None; 5], false))?;
        if least.call_method0("item")?.lt(0)? {
            return Err(PyValueError::new_err("All-NaN slice encountered"));
        }
    }
    Ok(found)
}

/// The greatest element less the least one, of which truths have none.
fn extent<'py>(row: &'static ReductionEntry, a: &Bound<'py, GpuArray>, options: &Asked<'py>) -> Result<'py> {
    if a.get().dtype().kind() == ScalarType::Bool {
        return Err(PyTypeError::new_err(
            "ptp: numpy boolean subtract, the `-` operator, is not supported, use max() ^ min() of the array",
        ));
    }
    reduction::call(row, a, options)
}

reductions! {
    /// The sum of the elements, with NaN as 0.
    number function nansum => reduction::call, "nansum" {
        /// >>> PyGPU.nansum(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 3.0
    }
    /// The product of the elements, with NaN as 1.
    number function nanprod => reduction::call, "nanprod" {
        /// >>> PyGPU.nanprod(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 2.0
    }
    /// The least element that is not NaN.
    ///
    /// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
    extreme function nanmin => reduction::call, "nanmin" {
        /// >>> PyGPU.nanmin(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 1.0
    }
    /// The greatest element that is not NaN.
    ///
    /// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
    extreme function nanmax => reduction::call, "nanmax" {
        /// >>> PyGPU.nanmax(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 2.0
    }
    /// The mean of the elements that are not NaN.
    ///
    /// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
    average function nanmean => reduction::call, "nanmean" {
        /// >>> PyGPU.nanmean(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
        /// 1.5
    }
    /// The variance of the elements that are not NaN.
    ///
    /// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
    variance function nanvar => reduction::call, "nanvar" {
        /// >>> PyGPU.nanvar(PyGPU.to_gpu([1.0, float("nan"), 3.0])).item()
        /// 1.0
    }
    /// The standard deviation of the elements that are not NaN.
    ///
    /// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
    variance function nanstd => reduction::deviation, "nanvar" {
        /// >>> PyGPU.nanstd(PyGPU.to_gpu([1.0, float("nan"), 3.0])).item()
        /// 1.0
    }
    /// Where the least element is that is not NaN; the first of equal ones.
    ///
    /// A device is waited for, to say if there is none.
    index function nanargmin => index, "nanargmin" {
        /// >>> PyGPU.nanargmin(PyGPU.to_gpu([3.0, float("nan"), 2.0])).item()
        /// 2
    }
    /// Where the greatest element is that is not NaN; the first of equal ones.
    ///
    /// A device is waited for, to say if there is none.
    index function nanargmax => index, "nanargmax" {
        /// >>> PyGPU.nanargmax(PyGPU.to_gpu([3.0, float("nan"), 2.0])).item()
        /// 0
    }
    /// The greatest element less the least one.
    extent function ptp => extent, "ptp" {
        /// >>> PyGPU.ptp(PyGPU.to_gpu([[1, 5], [7, 3]]), axis=1).tolist()
        /// [4, 4]
    }
    /// The number of elements that are not 0.
    count function count_nonzero => reduction::call, "count_nonzero" {
        /// >>> PyGPU.count_nonzero(PyGPU.to_gpu([0, 2, 3])).item()
        /// 2
    }
}

/// The sum of the elements' sizes, or the root of that of their squares, in one read; `norm` asks for it.
///
/// Parameters
/// ----------
/// a : GPUArray
///     In the memory of a GPU.
/// order : int
///     1 for the sum of sizes, 2 for the root.
/// axis : int, tuple of ints or None
///     The axes that are reduced; all for None.
/// keepdims : bool
///     Whether reduced axes stay, with length 1.
#[pyfunction]
#[pyo3(signature = (a: "GPUArray", order: "int", axis: "ShapeLike | None", keepdims: "bool") -> "GPUArray")]
fn _norm<'py>(a: &Bound<'py, GpuArray>, order: u8, axis: Given<'_, 'py>, keepdims: bool) -> Result<'py> {
    let row = row(if order == 1 { "norm_1" } else { "norm_2" })?;
    reduction::call(row, a, &asked([axis, None, None, None, None], keepdims))
}

names! {
    functions "Reductions": nansum, nanprod, nanmin, nanmax, nanmean, nanvar, nanstd, nanargmin, nanargmax, ptp,
        count_nonzero;
    internal_functions: _norm;
}
