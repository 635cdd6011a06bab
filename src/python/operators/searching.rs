//! Contains the native part of the functions in `PyGPU._functions` that search and count, and the methods of `GPUArray`
//! that call them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::array::class::{BoundArray, GpuArray, new_like};
use crate::convert::OptionalArg;
use crate::exported_names::names;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_device::stream;
use pygpu_ops::sorting::{self, Counted, Unique, UniqueOutputs};

type UniqueTuple<'py> = (BoundArray<'py>, Option<BoundArray<'py>>, Option<BoundArray<'py>>, Option<BoundArray<'py>>);

fn check_order(name: &str, array: &Array) -> PyResult<()> {
    match sorting::has_order(array.dtype().kind()) {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!("{name}: there is no order of {}", array.dtype().name()))),
    }
}

/// Return the sorted unique values of an array with one axis, and the requested optional outputs.
///
/// The optional outputs are the start of each run of equal elements in the sorted array (`starts`), the elements'
/// original positions (`places`), and each element's index in the unique values (`inverse`).
#[pyfunction]
#[pyo3(signature = (
    array: "GPUArray", starts: "bool", places: "bool", inverse: "bool", nan_apart: "bool"
) -> "tuple[GPUArray, GPUArray | None, GPUArray | None, GPUArray | None]")]
fn _unique<'py>(
    array: &BoundArray<'py>,
    starts: bool,
    places: bool,
    inverse: bool,
    nan_apart: bool,
) -> PyResult<UniqueTuple<'py>> {
    let py = array.py();
    let input = array.get().array(py)?;
    check_order("unique", input)?;
    let outputs = UniqueOutputs { starts, places, inverse, nan_apart };
    let Unique { values, starts, places, inverse } =
        py.without_gil(|| sorting::unique(input, outputs, &stream::current(input.device())))?;
    let wrap = |result: Array| new_like(array, GpuArray::from_array(result));
    let wrap_optional = |result: Option<Array>| result.map(wrap).transpose();
    Ok((wrap(values)?, wrap_optional(starts)?, wrap_optional(places)?, wrap_optional(inverse)?))
}

/// Return, for each value, its insertion position among sorted elements, which have one axis and the type of the
/// values.
#[pyfunction]
#[pyo3(signature = (sorted: "GPUArray", values: "GPUArray", right: "bool") -> "GPUArray")]
fn _searchsorted<'py>(sorted: &BoundArray<'py>, values: &BoundArray<'py>, right: bool) -> PyResult<BoundArray<'py>> {
    let py = sorted.py();
    let (input, values) = (sorted.get().array(py)?, values.get().array(py)?);
    check_order("searchsorted", input)?;
    if input.dtype() != values.dtype() || input.device() != values.device() {
        return Err(PyTypeError::new_err("the values have the type and the device of the sorted elements"));
    }
    let result = py.without_gil(|| sorting::search(input, values, right, &stream::current(input.device())))?;
    new_like(sorted, GpuArray::from_array(result))
}

/// Count the values between consecutive `edges`, or, without edges, the values equal to each integer below `bins`.
#[pyfunction]
#[pyo3(signature = (values: "GPUArray", bins: "int", edges: "GPUArray | None" = None) -> "GPUArray")]
fn _counted<'py>(values: &BoundArray<'py>, bins: i64, edges: Option<&BoundArray<'py>>) -> PyResult<BoundArray<'py>> {
    let py = values.py();
    let input = values.get().array(py)?;
    let edges = edges.map(|edges| edges.get().array(py)).transpose()?;
    let bin_spec = match edges {
        Some(edges) if edges.dtype() != input.dtype() || edges.device() != input.device() => {
            return Err(PyTypeError::new_err("the values have the type and the device of the edges"));
        }
        Some(edges) => Counted::Between(edges),
        None => Counted::Below(bins),
    };
    let result = py.without_gil(|| sorting::count(bin_spec, input, &stream::current(input.device())))?;
    new_like(values, GpuArray::from_array(result))
}

/// Sum the weights of each run: `weights[places[k]]` for `k` from `starts[r]` to below `starts[r + 1]`.
///
/// Row `r` of the result contains partial sums of run `r`; the caller adds up these partial sums. All arrays are in C
/// order.
#[pyfunction]
#[pyo3(signature = (weights: "GPUArray", places: "GPUArray", starts: "GPUArray") -> "GPUArray")]
fn _sums_of_runs<'py>(
    weights: &BoundArray<'py>,
    places: &BoundArray<'py>,
    starts: &BoundArray<'py>,
) -> PyResult<BoundArray<'py>> {
    let py = weights.py();
    let input = weights.get().array(py)?;
    let (places, starts) = (places.get().array(py)?, starts.get().array(py)?);
    let result = py.without_gil(|| sorting::sum_runs(input, places, starts, &stream::current(input.device())))?;
    new_like(weights, GpuArray::from_array(result))
}

/// Calls a function of `PyGPU._functions.searching`.
fn call<'py, A>(py: Python<'py>, name: &str, arguments: A) -> PyResult<Bound<'py, PyAny>>
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let function = py.import(intern!(py, "PyGPU._functions.searching"))?.getattr(name)?;
    finalization::run_python(py, || function.call1(arguments))
}

#[pymethods]
impl GpuArray {
    /// Return insertion positions of values in the elements, which are sorted and have one axis.
    ///
    /// Parameters
    /// ----------
    /// v : array_like
    ///     Values of any shape.
    /// side : {'left', 'right'}, optional
    ///     Whether the insertion position is before (left) or after (right) equal elements.
    /// sorter : array_like of ints, optional
    ///     Indices that sort the elements, as returned by `argsort`, if the elements are not sorted.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     Positions as 64-bit integers, in the shape of `v`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([1, 3, 5]).searchsorted([3, 4]).tolist()
    /// [1, 2]
    #[pyo3(signature = (v: "Any", side: "str" = "left", sorter: "Any" = None) -> "GPUArray")]
    fn searchsorted<'py>(
        slf: &Bound<'py, Self>,
        v: &Bound<'py, PyAny>,
        side: &str,
        sorter: OptionalArg<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "searchsorted", (slf, v, side, sorter))
    }

    /// Put the elements whose sorted positions are `kth` there, smaller ones before them, larger ones after them.
    ///
    /// Parameters
    /// ----------
    /// kth : int or sequence of ints
    ///     The positions whose elements are in sorted order afterwards.
    /// axis : int, optional
    ///     Axis of the partition; the last axis by default.
    /// kind : {'introselect'}, optional
    ///     Accepted for NumPy compatibility; all elements are sorted.
    /// order : None, optional
    ///     Accepted for NumPy compatibility; PyGPU has no arrays with fields.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.to_gpu([3, 1, 2])
    /// >>> a.partition(0)
    /// >>> a[0].item()
    /// 1
    #[pyo3(
        signature = (kth: "Any", axis: "int" = -1, kind: "str" = "introselect", order: "None" = None) -> "None",
        text_signature = "($self, kth, axis=-1, kind='introselect', order=None)"
    )]
    fn partition<'py>(
        slf: &Bound<'py, Self>,
        kth: &Bound<'py, PyAny>,
        axis: i64,
        kind: &str,
        order: OptionalArg<'_, 'py>,
    ) -> PyResult<()> {
        call(slf.py(), "_partition_in_place", (slf, kth, axis, kind, order)).map(drop)
    }

    /// Return the indices by which `partition` would reorder the elements.
    ///
    /// Parameters
    /// ----------
    /// kth : int or sequence of ints
    ///     The positions at which the indexed elements are in sorted order.
    /// axis : int or None, optional
    ///     Axis of the partition; the last axis by default. None takes all elements in C order.
    /// kind : {'introselect'}, optional
    ///     Accepted for NumPy compatibility; all elements are sorted.
    /// order : None, optional
    ///     Accepted for NumPy compatibility; PyGPU has no arrays with fields.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([3, 1, 2]).argpartition(0)[0].item()
    /// 1
    #[pyo3(
        signature = (
            kth: "Any", axis: "int | None" = Some(-1), kind: "str" = "introselect", order: "None" = None
        ) -> "GPUArray",
        text_signature = "($self, kth, axis=-1, kind='introselect', order=None)"
    )]
    fn argpartition<'py>(
        slf: &Bound<'py, Self>,
        kth: &Bound<'py, PyAny>,
        axis: Option<i64>,
        kind: &str,
        order: OptionalArg<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "argpartition", (slf, kth, axis, kind, order))
    }
}

names! {
    internal_functions: _unique, _searchsorted, _counted, _sums_of_runs;
}
