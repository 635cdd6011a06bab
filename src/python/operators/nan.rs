//! Reductions that leave out what is no number, and others that are functions only.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::reduction;
use super::reductions::{asked, row};
use crate::array::class::GpuArray;
use crate::array::own::Own;
use crate::names::names;
use pygpu_base::dtype::Kind;

type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;
type Result<'py> = PyResult<Bound<'py, GpuArray>>;

/// Where an extreme is, of which every place must have one: the least number is fetched, which is below 0 where there is none.
fn place<'py>(name: &str, a: &Bound<'py, GpuArray>, [axis, out]: [Given<'_, 'py>; 2], keepdims: bool) -> Result<'py> {
    let found = reduction::call(row(name)?, a, &asked([axis, None, out, None, None], keepdims))?;
    let has_nan = matches!(a.get().dtype().kind(), Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64);
    if has_nan && !a.get().device().is_cpu() && !found.get().layout().is_empty() {
        let least = reduction::call(row("min")?, &found, &asked([None; 5], false))?;
        if least.call_method0("item")?.lt(0)? {
            return Err(PyValueError::new_err("All-NaN slice encountered"));
        }
    }
    Ok(found)
}

/// The sum of the elements, with NaN as 0.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// dtype : dtype-like, optional
///     The type in which is computed, and of the result.
/// out : GPUArray, optional
///     Where the result goes.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
/// initial : number, optional
///     A value that counts as one more element.
/// where : GPUArray of bool, optional
///     Which elements count.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nansum(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
/// 3.0
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None,
        out: "GPUArray | None" = None, keepdims: "bool" = false, initial: "Any" = None, r#where: "Any" = None
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nansum<'py>(
    a: Own<'_, 'py>,
    axis: Given<'_, 'py>,
    dtype: Given<'_, 'py>,
    out: Given<'_, 'py>,
    keepdims: bool,
    initial: Given<'_, 'py>,
    r#where: Given<'_, 'py>,
) -> Result<'py> {
    reduction::call(row("nansum")?, &a, &asked([axis, dtype, out, initial, r#where], keepdims))
}

/// The product of the elements, with NaN as 1.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// dtype : dtype-like, optional
///     The type in which is computed, and of the result.
/// out : GPUArray, optional
///     Where the result goes.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
/// initial : number, optional
///     A value that counts as one more element.
/// where : GPUArray of bool, optional
///     Which elements count.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nanprod(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
/// 2.0
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None,
        out: "GPUArray | None" = None, keepdims: "bool" = false, initial: "Any" = None, r#where: "Any" = None
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nanprod<'py>(
    a: Own<'_, 'py>,
    axis: Given<'_, 'py>,
    dtype: Given<'_, 'py>,
    out: Given<'_, 'py>,
    keepdims: bool,
    initial: Given<'_, 'py>,
    r#where: Given<'_, 'py>,
) -> Result<'py> {
    reduction::call(row("nanprod")?, &a, &asked([axis, dtype, out, initial, r#where], keepdims))
}

/// The least element that is not NaN.
///
/// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// out : GPUArray, optional
///     Where the result goes.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
/// initial : number, optional
///     A value that counts as one more element.
/// where : GPUArray of bool, optional
///     Which elements count.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nanmin(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
/// 1.0
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false,
        initial: "Any" = None, r#where: "Any" = None
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nanmin<'py>(
    a: Own<'_, 'py>,
    axis: Given<'_, 'py>,
    out: Given<'_, 'py>,
    keepdims: bool,
    initial: Given<'_, 'py>,
    r#where: Given<'_, 'py>,
) -> Result<'py> {
    reduction::call(row("nanmin")?, &a, &asked([axis, None, out, initial, r#where], keepdims))
}

/// The greatest element that is not NaN.
///
/// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// out : GPUArray, optional
///     Where the result goes.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
/// initial : number, optional
///     A value that counts as one more element.
/// where : GPUArray of bool, optional
///     Which elements count.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nanmax(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
/// 2.0
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false,
        initial: "Any" = None, r#where: "Any" = None
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nanmax<'py>(
    a: Own<'_, 'py>,
    axis: Given<'_, 'py>,
    out: Given<'_, 'py>,
    keepdims: bool,
    initial: Given<'_, 'py>,
    r#where: Given<'_, 'py>,
) -> Result<'py> {
    reduction::call(row("nanmax")?, &a, &asked([axis, None, out, initial, r#where], keepdims))
}

/// The mean of the elements that are not NaN.
///
/// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// dtype : dtype-like, optional
///     The type in which is computed, and of the result.
/// out : GPUArray, optional
///     Where the result goes.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
/// where : GPUArray of bool, optional
///     Which elements count.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nanmean(PyGPU.to_gpu([1.0, float("nan"), 2.0])).item()
/// 1.5
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None,
        out: "GPUArray | None" = None, keepdims: "bool" = false, *, r#where: "Any" = None
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nanmean<'py>(
    a: Own<'_, 'py>,
    axis: Given<'_, 'py>,
    dtype: Given<'_, 'py>,
    out: Given<'_, 'py>,
    keepdims: bool,
    r#where: Given<'_, 'py>,
) -> Result<'py> {
    reduction::call(row("nanmean")?, &a, &asked([axis, dtype, out, None, r#where], keepdims))
}

/// The variance of the elements that are not NaN.
///
/// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// dtype : dtype-like, optional
///     The type in which is computed, and of the result.
/// out : GPUArray, optional
///     Where the result goes.
/// ddof, correction : float, optional
///     What is taken from the number of elements by which the sum of squares is divided; the second name is the array API's.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
/// where : GPUArray of bool, optional
///     Which elements count.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nanvar(PyGPU.to_gpu([1.0, float("nan"), 3.0])).item()
/// 1.0
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None,
        out: "GPUArray | None" = None, ddof: "float" = 0.0, keepdims: "bool" = false, *, r#where: "Any" = None,
        correction: "float | None" = None
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nanvar<'py>(
    a: Own<'_, 'py>,
    axis: Given<'_, 'py>,
    dtype: Given<'_, 'py>,
    out: Given<'_, 'py>,
    ddof: f64,
    keepdims: bool,
    r#where: Given<'_, 'py>,
    correction: Option<f64>,
) -> Result<'py> {
    let mut asked = asked([axis, dtype, out, None, r#where], keepdims);
    asked.less = correction.unwrap_or(ddof);
    reduction::call(row("nanvar")?, &a, &asked)
}

/// The standard deviation of the elements that are not NaN.
///
/// Where there is nothing else the result is NaN. Nobody waits for it, so there is no warning on a device.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// dtype : dtype-like, optional
///     The type in which is computed, and of the result.
/// out : GPUArray, optional
///     Where the result goes.
/// ddof, correction : float, optional
///     What is taken from the number of elements by which the sum of squares is divided; the second name is the array API's.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
/// where : GPUArray of bool, optional
///     Which elements count.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nanstd(PyGPU.to_gpu([1.0, float("nan"), 3.0])).item()
/// 1.0
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None,
        out: "GPUArray | None" = None, ddof: "float" = 0.0, keepdims: "bool" = false, *, r#where: "Any" = None,
        correction: "float | None" = None
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nanstd<'py>(
    a: Own<'_, 'py>,
    axis: Given<'_, 'py>,
    dtype: Given<'_, 'py>,
    out: Given<'_, 'py>,
    ddof: f64,
    keepdims: bool,
    r#where: Given<'_, 'py>,
    correction: Option<f64>,
) -> Result<'py> {
    let mut asked = asked([axis, dtype, out, None, r#where], keepdims);
    asked.less = correction.unwrap_or(ddof);
    reduction::deviation(row("nanvar")?, &a, &asked)
}

/// Where the least element is that is not NaN; the first of equal ones.
///
/// A device is waited for, to say if there is none.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int, optional
///     The axis that is reduced; without one the elements count in C order.
/// out : GPUArray, optional
///     Where the result goes.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nanargmin(PyGPU.to_gpu([3.0, float("nan"), 2.0])).item()
/// 2
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, *, keepdims: "bool" = false
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nanargmin<'py>(a: Own<'_, 'py>, axis: Given<'_, 'py>, out: Given<'_, 'py>, keepdims: bool) -> Result<'py> {
    place("nanargmin", &a, [axis, out], keepdims)
}

/// Where the greatest element is that is not NaN; the first of equal ones.
///
/// A device is waited for, to say if there is none.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int, optional
///     The axis that is reduced; without one the elements count in C order.
/// out : GPUArray, optional
///     Where the result goes.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.nanargmax(PyGPU.to_gpu([3.0, float("nan"), 2.0])).item()
/// 0
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, *, keepdims: "bool" = false
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn nanargmax<'py>(a: Own<'_, 'py>, axis: Given<'_, 'py>, out: Given<'_, 'py>, keepdims: bool) -> Result<'py> {
    place("nanargmax", &a, [axis, out], keepdims)
}

/// The greatest element less the least one.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// out : GPUArray, optional
///     Where the result goes.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.ptp(PyGPU.to_gpu([[1, 5], [7, 3]]), axis=1).tolist()
/// [4, 4]
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false
    ) -> "GPUArray"
)]
#[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
fn ptp<'py>(a: Own<'_, 'py>, axis: Given<'_, 'py>, out: Given<'_, 'py>, keepdims: bool) -> Result<'py> {
    if a.get().dtype().kind() == Kind::Bool {
        return Err(PyTypeError::new_err(
            "ptp: numpy boolean subtract, the `-` operator, is not supported, use max() ^ min() of the array",
        ));
    }
    reduction::call(row("ptp")?, &a, &asked([axis, None, out, None, None], keepdims))
}

/// The number of elements that are not 0.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or tuple of ints, optional
///     The axes that are reduced; all by default.
/// keepdims : bool, optional
///     Whether reduced axes stay, with length 1.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.count_nonzero(PyGPU.to_gpu([0, 2, 3])).item()
/// 2
#[pyfunction]
#[pyo3(signature = (a: "GPUArray", axis: "ShapeLike | None" = None, *, keepdims: "bool" = false) -> "GPUArray")]
fn count_nonzero<'py>(a: Own<'_, 'py>, axis: Given<'_, 'py>, keepdims: bool) -> Result<'py> {
    reduction::call(row("count_nonzero")?, &a, &asked([axis, None, None, None, None], keepdims))
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
#[pyo3(signature = (a: "GPUArray", order: "int", axis: "Any", keepdims: "bool") -> "GPUArray")]
fn _norm<'py>(a: &Bound<'py, GpuArray>, order: u8, axis: Given<'_, 'py>, keepdims: bool) -> Result<'py> {
    let row = row(if order == 1 { "norm_1" } else { "norm_2" })?;
    reduction::call(row, a, &asked([axis, None, None, None, None], keepdims))
}

names! {
    functions "Reductions": nansum, nanprod, nanmin, nanmax, nanmean, nanvar, nanstd, nanargmin, nanargmax, ptp,
        count_nonzero;
    internal_functions: _norm;
}
