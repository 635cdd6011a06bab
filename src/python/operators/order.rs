//! `sort` and `argsort`, as functions and as methods.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::class::{GpuArray, new_like};
use crate::array::own::Own;
use crate::gil::WithoutGil;
use crate::host::{cpu_view, new, transfer};
use crate::names::names;
use crate::once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, Kind};
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_layout::{Order, normalize_axis};
use pygpu_memory::capture;
use pygpu_ops::order::{self, Wanted};

type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// The keywords of NumPy's that choose an algorithm; there is one here, and it is stable.
fn check(kind: Given<'_, '_>, order: Given<'_, '_>, stable: Given<'_, '_>) -> PyResult<()> {
    if order.is_some_and(|order| !order.is_none()) {
        return Err(PyValueError::new_err("Cannot specify order when the array has no fields."));
    }
    let Some(kind) = kind.filter(|kind| !kind.is_none()) else { return Ok(()) };
    if stable.is_some_and(|stable| !stable.is_none()) {
        return Err(PyValueError::new_err(
            "`kind` and keyword parameters can't be provided at the same time. Use only one of them.",
        ));
    }
    let name: String = kind.extract()?;
    match name.to_ascii_lowercase().chars().next() {
        Some('q' | 'h' | 'm' | 's') => Ok(()),
        _ => {
            Err(PyValueError::new_err(format!("sort kind must be one of 'quick', 'heap', or 'stable' (got '{name}')")))
        }
    }
}

/// An array and the axis along which it is sorted; without one the elements in C order.
fn along(a: &Bound<'_, GpuArray>, axis: Option<i64>) -> PyResult<(Array, usize)> {
    let py = a.py();
    let array = a.get().array(py)?;
    if !order::has_order(array.dtype().kind()) {
        return Err(PyTypeError::new_err(format!("sort: there is no order of {}", array.dtype().name())));
    }
    let Some(axis) = axis else {
        let flat = match array.layout().ravel(Order::C)? {
            Some(flat) => array.view(flat)?,
            None => {
                let copied = transfer::device_copy(py, array, Order::C)?;
                let flat = copied.layout().ravel(Order::C)?;
                flat.map_or_else(|| Ok(copied.clone()), |flat| copied.view(flat))?
            }
        };
        return Ok((flat, 0));
    };
    Ok((array.clone(), normalize_axis(axis, array.layout().ndim())?))
}

/// The array with an axis in the last place.
fn with_last(array: &Array, axis: usize) -> pygpu_base::error::Result<Array> {
    array.view(array.layout().move_axis(&[axis as i64], &[-1])?)
}

/// What was made with an axis in the last place, with it where it was, in C order.
fn with_axis(array: &Array, axis: usize, stream: &stream::Stream) -> pygpu_base::error::Result<Array> {
    let view = array.view(array.layout().move_axis(&[-1], &[axis as i64])?)?;
    if view.layout().is_c_contiguous() { Ok(view) } else { copy::duplicate(&view, Order::C, stream) }
}

/// Whether NumPy sorts: in host memory, but not in a capture.
fn is_numpys(array: &Array) -> PyResult<bool> {
    let device = array.device();
    Ok(device.is_cpu() && !capture::is_capturing(&stream::current(device))?)
}

/// Where the elements of an array in host memory go.
fn order_by_numpy(py: Python<'_>, array: &Array, axis: usize, descending: bool) -> PyResult<Array> {
    let functions = py.import(intern!(py, "PyGPU._native.host_order"))?;
    let view = cpu_view::kept(py, array)?;
    let order = functions.call_method1(intern!(py, "argsort"), (view, axis, descending))?;
    new::upload_new(py, &order.cast_into()?, DType::new(Kind::Int64), array.device())
}

fn sort_by_numpy(py: Python<'_>, array: &Array, axis: usize, descending: bool) -> PyResult<()> {
    let functions = py.import(intern!(py, "PyGPU._native.host_order"))?;
    let view = cpu_view::kept(py, array)?;
    functions.call_method1(intern!(py, "sort"), (view, axis, descending))?;
    Ok(())
}

fn sorted<'py>(a: &Bound<'py, GpuArray>, axis: Option<i64>, descending: bool) -> PyResult<Bound<'py, GpuArray>> {
    let py = a.py();
    let (array, axis) = along(a, axis)?;
    let result = if is_numpys(&array)? {
        let copied = transfer::device_copy(py, &array, Order::C)?;
        sort_by_numpy(py, &copied, axis, descending)?;
        copied
    } else {
        py.without_gil(|| {
            let stream = stream::current(array.device());
            let wanted = Wanted { values: true, places: false, descending };
            let values = order::sort(&with_last(&array, axis)?, wanted, &stream)?.values;
            with_axis(&values.unwrap_or_else(|| array.clone()), axis, &stream)
        })?
    };
    new_like(a, GpuArray::from_array(result))
}

fn order_of<'py>(a: &Bound<'py, GpuArray>, axis: Option<i64>, descending: bool) -> PyResult<Bound<'py, GpuArray>> {
    let py = a.py();
    let (array, axis) = along(a, axis)?;
    let result = if is_numpys(&array)? {
        order_by_numpy(py, &array, axis, descending)?
    } else {
        py.without_gil(|| {
            let stream = stream::current(array.device());
            let wanted = Wanted { values: false, places: true, descending };
            let places = order::sort(&with_last(&array, axis)?, wanted, &stream)?.places;
            with_axis(&places.unwrap_or_else(|| array.clone()), axis, &stream)
        })?
    };
    new_like(a, GpuArray::from_array(result))
}

/// The elements in order along an axis, as a new array.
///
/// NaN is last, whichever way is sorted. The result stays on the device.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or None, optional
///     The last one by default; None sorts all elements.
/// kind : {'quicksort', 'mergesort', 'heapsort', 'stable'}, optional
///     Taken as NumPy takes it; there is one algorithm, which is stable.
/// order : None, optional
///     There are no arrays with fields.
/// stable : bool, optional
///     As `kind`.
/// descending : bool, optional
///     Whether the greatest element comes first.
///
/// Returns
/// -------
/// GPUArray
///     In C order. Complex numbers are ordered by their real parts, and then by their imaginary parts.
///
/// Raises
/// ------
/// IndexError
///     If there is no such axis.
/// TypeError
///     For elements that have no order.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.sort(PyGPU.to_gpu([3, 1, 2])).tolist()
/// [1, 2, 3]
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "int | None" = Some(-1), kind: "str | None" = None, order: "None" = None, *,
        stable: "bool | None" = None, descending: "bool" = false
    ) -> "GPUArray",
    text_signature = "(a, axis=-1, kind=None, order=None, *, stable=None, descending=False)"
)]
fn sort<'py>(
    a: Own<'_, 'py>,
    axis: Option<i64>,
    kind: Given<'_, 'py>,
    order: Given<'_, 'py>,
    stable: Given<'_, 'py>,
    descending: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    check(kind, order, stable)?;
    sorted(&a, axis, descending)
}

/// The places of the elements in their order along an axis: ``a[argsort(a)]`` is sorted. Elements that are equal stay in their order.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or None, optional
///     The last one by default; None sorts all elements.
/// kind : {'quicksort', 'mergesort', 'heapsort', 'stable'}, optional
///     Taken as NumPy takes it; there is one algorithm, which is stable.
/// order : None, optional
///     There are no arrays with fields.
/// stable : bool, optional
///     As `kind`.
/// descending : bool, optional
///     Whether the greatest element comes first.
///
/// Returns
/// -------
/// GPUArray
///     64-bit integers, in C order.
///
/// Raises
/// ------
/// IndexError
///     If there is no such axis.
/// TypeError
///     For elements that have no order.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.argsort(PyGPU.to_gpu([3, 1, 2])).tolist()
/// [1, 2, 0]
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "int | None" = Some(-1), kind: "str | None" = None, order: "None" = None, *,
        stable: "bool | None" = None, descending: "bool" = false
    ) -> "GPUArray",
    text_signature = "(a, axis=-1, kind=None, order=None, *, stable=None, descending=False)"
)]
fn argsort<'py>(
    a: Own<'_, 'py>,
    axis: Option<i64>,
    kind: Given<'_, 'py>,
    order: Given<'_, 'py>,
    stable: Given<'_, 'py>,
    descending: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    check(kind, order, stable)?;
    order_of(&a, axis, descending)
}

#[pymethods]
impl GpuArray {
    /// Puts the elements in order along an axis, in their own memory; NaN is last, whichever way is sorted.
    ///
    /// Parameters
    /// ----------
    /// axis : int, optional
    ///     The last one by default.
    /// kind : {'quicksort', 'mergesort', 'heapsort', 'stable'}, optional
    ///     Taken as NumPy takes it; there is one algorithm, which is stable.
    /// order : None, optional
    ///     There are no arrays with fields.
    /// stable : bool, optional
    ///     As `kind`.
    /// descending : bool, optional
    ///     Whether the greatest element comes first.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If there is no such axis.
    /// ValueError
    ///     If the array is read-only.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.to_gpu([3, 1, 2])
    /// >>> a.sort()
    /// >>> a.tolist()
    /// [1, 2, 3]
    #[pyo3(
        signature = (
            axis: "int" = -1, kind: "str | None" = None, order: "None" = None, *, stable: "bool | None" = None,
            descending: "bool" = false
        ) -> "None",
        text_signature = "($self, axis=-1, kind=None, order=None, *, stable=None, descending=False)"
    )]
    fn sort<'py>(
        slf: &Bound<'py, Self>,
        axis: i64,
        kind: Given<'_, 'py>,
        order: Given<'_, 'py>,
        stable: Given<'_, 'py>,
        descending: bool,
    ) -> PyResult<()> {
        check(kind, order, stable)?;
        slf.get().check_writable("sort")?;
        let (array, axis) = along(slf, Some(axis))?;
        if is_numpys(&array)? {
            return sort_by_numpy(slf.py(), &array, axis, descending);
        }
        Ok(slf.py().without_gil(|| {
            let stream = stream::current(array.device());
            let rows = with_last(&array, axis)?;
            if order::sort_in_place(&rows, descending, &stream)? {
                return Ok(());
            }
            let wanted = Wanted { values: true, places: false, descending };
            match order::sort(&rows, wanted, &stream)?.values {
                Some(values) => copy::between(&rows, &values, &stream),
                None => Ok(()),
            }
        })?)
    }

    /// The places of the elements in their order along an axis: ``a[a.argsort()]`` is sorted. Elements that are equal stay in their order.
    ///
    /// Parameters
    /// ----------
    /// axis : int or None, optional
    ///     The last one by default; None sorts all elements.
    /// kind : {'quicksort', 'mergesort', 'heapsort', 'stable'}, optional
    ///     Taken as NumPy takes it; there is one algorithm, which is stable.
    /// order : None, optional
    ///     There are no arrays with fields.
    /// stable : bool, optional
    ///     As `kind`.
    /// descending : bool, optional
    ///     Whether the greatest element comes first.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     64-bit integers, in C order.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([3, 1, 2]).argsort(descending=True).tolist()
    /// [0, 2, 1]
    #[pyo3(
        signature = (
            axis: "int | None" = Some(-1), kind: "str | None" = None, order: "None" = None, *,
            stable: "bool | None" = None, descending: "bool" = false
        ) -> "Self",
        text_signature = "($self, axis=-1, kind=None, order=None, *, stable=None, descending=False)"
    )]
    fn argsort<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<i64>,
        kind: Given<'_, 'py>,
        order: Given<'_, 'py>,
        stable: Given<'_, 'py>,
        descending: bool,
    ) -> PyResult<Bound<'py, Self>> {
        check(kind, order, stable)?;
        order_of(slf, axis, descending)
    }
}

names! {
    functions "Order": sort, argsort;
}
