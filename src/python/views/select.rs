//! The methods that select: the functions of `PyGPU._functions`, which are made of what `take` has.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::ending;
use crate::once::intern;

/// A function of one of the modules of `PyGPU._functions`.
fn call<'py, A>(py: Python<'py>, name: &str, given: A) -> PyResult<Bound<'py, PyAny>>
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let function = py.import(intern!(py, "PyGPU._functions"))?.call_method1(intern!(py, "find"), (name,))?;
    ending::run_python(py, || function.call1(given))
}

type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

#[pymethods]
impl GpuArray {
    /// The elements at some indices along an axis.
    ///
    /// Parameters
    /// ----------
    /// indices : array_like of ints
    ///     Which ones; negative ones count from the end.
    /// axis : int, optional
    ///     The axis; without one the elements in C order.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// mode : {'raise', 'wrap', 'clip'}, optional
    ///     What an index means that is out of range: an error, for which the host waits once, the one that is reached going around, or
    ///     the nearest one, negative ones being 0.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For an index that is out of range; then nothing was written.
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
        axis: Given<'_, 'py>,
        out: Given<'_, 'py>,
        mode: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "take", (slf, indices, axis, out, mode))
    }

    /// Writes values to some places, counted in C order.
    ///
    /// Parameters
    /// ----------
    /// indices : array_like of ints
    ///     The places. Of those that are named several times the last value stays.
    /// values : array_like
    ///     What goes there, over and over if they are fewer.
    /// mode : {'raise', 'wrap', 'clip'}, optional
    ///     What an index means that is out of range, as for `take`.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For an index that is out of range; then nothing was written.
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

    /// The indices of the elements that are not 0: an array for each axis.
    ///
    /// The host waits for their number.
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

    /// Each element several times.
    ///
    /// Parameters
    /// ----------
    /// repeats : int or array_like of ints
    ///     How often; for all, or for each index of the axis.
    /// axis : int, optional
    ///     Along which axis; without one the elements in C order.
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
        axis: Given<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "repeat", (slf, repeats, axis))
    }

    /// For each element, the element at the same place of the array of that number.
    ///
    /// Parameters
    /// ----------
    /// choices : sequence of array_like
    ///     The arrays, broadcast with this one.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// mode : {'raise', 'wrap', 'clip'}, optional
    ///     What a number means that no array has, as for `take`.
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
        out: Given<'_, 'py>,
        mode: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "choose", (slf, choices, out, mode))
    }

    /// The parts along an axis for which a condition is true.
    ///
    /// Parameters
    /// ----------
    /// condition : array_like of bool
    ///     With one axis, at most as long as that of the array.
    /// axis : int, optional
    ///     Along which axis; without one the elements in C order.
    /// out : GPUArray, optional
    ///     Where the result goes.
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
        axis: Given<'_, 'py>,
        out: Given<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "compress", (condition, slf, axis, out))
    }
}
