//! Defines the methods of `GPUArray` that select elements. They call the Python functions in `PyGPU._functions`, which
//! call the native functions in `take.rs`.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::convert::OptionalArg;
use crate::finalization;
use crate::py_once::intern;

/// Calls the function `name`, which is defined in a module of `PyGPU._functions`.
fn call<'py, A>(py: Python<'py>, name: &str, arguments: A) -> PyResult<Bound<'py, PyAny>>
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let function = py.import(intern!(py, "PyGPU._functions"))?.call_method1(intern!(py, "find"), (name,))?;
    finalization::run_python(py, || function.call1(arguments))
}

#[pymethods]
impl GpuArray {
    /// Take elements along an axis by their indices.
    ///
    /// Parameters
    /// ----------
    /// indices : array_like of ints
    ///     Indices of the elements; negative ones count from the end.
    /// axis : int, optional
    ///     The axis; by default the flattened array is used.
    /// out : GPUArray, optional
    ///     Array for the result.
    /// mode : {'raise', 'wrap', 'clip'}, optional
    ///     Treatment of indices out of range. 'raise' raises an error, for which the host waits for the device once;
    ///     'wrap' wraps around; 'clip' uses the nearest valid index, i.e. 0 for negative indices.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For an index out of range. No element is written in this case.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[1, 2, 3], [4, 5, 6]]).take([2, 0], axis=1).tolist()
    /// [[3, 1], [6, 4]]
    #[pyo3(signature = (
        indices: "Any", axis: "int | None" = None, out: "GPUArray | None" = None, mode: "str" = "raise"
    ) -> "GPUArray")]
    fn take<'py>(
        slf: &Bound<'py, Self>,
        indices: &Bound<'py, PyAny>,
        axis: OptionalArg<'_, 'py>,
        out: OptionalArg<'_, 'py>,
        mode: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "take", (slf, indices, axis, out, mode))
    }

    /// Assign values to elements by their flat indices in C order.
    ///
    /// Parameters
    /// ----------
    /// indices : array_like of ints
    ///     The flat indices. If an index occurs several times, the last value is stored.
    /// values : array_like
    ///     The values, which are repeated if there are fewer values than indices.
    /// mode : {'raise', 'wrap', 'clip'}, optional
    ///     Treatment of indices out of range, as for `take`.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For an index out of range. No element is written in this case.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.arange(5)
    /// >>> a.put([0, -1], [10, 20])
    /// >>> a.tolist()
    /// [10, 1, 2, 3, 20]
    #[pyo3(signature = (indices: "Any", values: "Any", mode: "str" = "raise") -> "None")]
    fn put<'py>(
        slf: &Bound<'py, Self>,
        indices: &Bound<'py, PyAny>,
        values: &Bound<'py, PyAny>,
        mode: &str,
    ) -> PyResult<()> {
        call(slf.py(), "put", (slf, indices, values, mode)).map(drop)
    }

    /// Return the indices of the nonzero elements, one array per axis.
    ///
    /// The host waits for the number of nonzero elements.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> [one.tolist() for one in PyGPU.to_gpu([[0, 3], [4, 0]]).nonzero()]
    /// [[0, 1], [1, 0]]
    #[pyo3(signature = () -> "tuple[GPUArray, ...]")]
    fn nonzero<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "nonzero", (slf,))
    }

    /// Repeat each element several times.
    ///
    /// Parameters
    /// ----------
    /// repeats : int or array_like of ints
    ///     Number of repetitions: one number for all elements, or one for each index of the axis.
    /// axis : int, optional
    ///     The axis; by default the flattened array is used.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(3).repeat([1, 0, 2]).tolist()
    /// [0, 2, 2]
    #[pyo3(signature = (repeats: "Any", axis: "int | None" = None) -> "GPUArray")]
    fn repeat<'py>(
        slf: &Bound<'py, Self>,
        repeats: &Bound<'py, PyAny>,
        axis: OptionalArg<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "repeat", (slf, repeats, axis))
    }

    /// Build an array by choosing each element from one of several arrays; this array contains the array numbers.
    ///
    /// Parameters
    /// ----------
    /// choices : sequence of array_like
    ///     The arrays to choose from, which are broadcast with this array.
    /// out : GPUArray, optional
    ///     Array for the result.
    /// mode : {'raise', 'wrap', 'clip'}, optional
    ///     Treatment of array numbers out of range, as for `take`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([0, 1, 0]).choose([PyGPU.arange(3), -1]).tolist()
    /// [0, -1, 2]
    #[pyo3(signature = (choices: "Any", out: "GPUArray | None" = None, mode: "str" = "raise") -> "GPUArray")]
    fn choose<'py>(
        slf: &Bound<'py, Self>,
        choices: &Bound<'py, PyAny>,
        out: OptionalArg<'_, 'py>,
        mode: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "choose", (slf, choices, out, mode))
    }

    /// Select the parts along an axis for which a condition is true.
    ///
    /// Parameters
    /// ----------
    /// condition : array_like of bool
    ///     One truth value for each index of the axis: an array with one axis, at most as long as the axis.
    /// axis : int, optional
    ///     The axis; by default the flattened array is used.
    /// out : GPUArray, optional
    ///     Array for the result.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).compress([False, True], axis=0).tolist()
    /// [[3, 4]]
    #[pyo3(signature = (condition: "Any", axis: "int | None" = None, out: "GPUArray | None" = None) -> "GPUArray")]
    fn compress<'py>(
        slf: &Bound<'py, Self>,
        condition: &Bound<'py, PyAny>,
        axis: OptionalArg<'_, 'py>,
        out: OptionalArg<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "compress", (condition, slf, axis, out))
    }
}
