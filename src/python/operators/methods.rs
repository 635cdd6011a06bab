//! Defines methods of `GPUArray` that call the function of the same name.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::parametric_functions;
use crate::array::allocator_inheritance;
use crate::array::class::GpuArray;
use crate::array::output_argument::OutputArg;
use crate::py_once::intern;

#[pymethods]
impl GpuArray {
    /// Limit the elements to an interval.
    ///
    /// Parameters
    /// ----------
    /// min, max : GPUArray or number, optional
    ///     The lower and the upper limit; an omitted limit is not applied.
    /// out : GPUArray, optional
    ///     Array for the result.
    /// **keywords
    ///     Keywords of a `Ufunc` call.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(5).clip(1, 3).tolist()
    /// [1, 1, 2, 3, 3]
    #[pyo3(signature = (
        min: "Any" = None, max: "Any" = None, out: "GPUArray | None" = None, **keywords: "Any"
    ) -> "GPUArray")]
    fn clip<'py>(
        slf: &Bound<'py, Self>,
        min: Option<&Bound<'py, PyAny>>,
        max: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        parametric_functions::clip(slf.as_any(), min, max, out, keywords)
    }

    /// Round to a number of decimal digits; halves are rounded to the even digit.
    ///
    /// Parameters
    /// ----------
    /// decimals : int, optional
    ///     Digits after the decimal point; a negative value rounds digits before the point.
    /// out : GPUArray, optional
    ///     Array for the result, with the shape of this array.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For bools if `decimals` is not 0, and if the result cannot be cast to the dtype of `out`.
    /// ValueError
    ///     For an `out` of another shape.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([0.5, 1.5, 2.25]).round(1).tolist()
    /// [0.5, 1.5, 2.2]
    #[pyo3(signature = (decimals: "int" = 0, out: "GPUArray | None" = None) -> "GPUArray")]
    fn round<'py>(slf: &Bound<'py, Self>, decimals: i32, out: Option<OutputArg<'py>>) -> PyResult<Bound<'py, PyAny>> {
        parametric_functions::round::rounded(slf.as_any(), decimals, out.as_deref())
    }

    /// Sum a diagonal.
    ///
    /// Parameters
    /// ----------
    /// offset : int, optional
    ///     Offset of the diagonal; a positive value selects a diagonal above the main diagonal.
    /// axis1, axis2 : int, optional
    ///     The two axes that contain the diagonal.
    /// dtype : dtype-like, optional
    ///     Type in which the elements are summed. The default is the same as for `sum`.
    /// out : GPUArray, optional
    ///     Array for the result.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(9).reshape(3, 3).trace().item()
    /// 12
    #[pyo3(signature = (
        offset: "SupportsIndex" = 0, axis1: "SupportsIndex" = 0, axis2: "SupportsIndex" = 1,
        dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None
    ) -> "GPUArray")]
    fn trace<'py>(
        slf: &Bound<'py, Self>,
        offset: i64,
        axis1: i64,
        axis2: i64,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let diagonal = slf.call_method1(intern!(py, "diagonal"), (offset, axis1, axis2))?;
        diagonal.call_method1(intern!(py, "sum"), (-1, dtype, out))
    }

    /// The allocator of the array's memory and of results, if `allocator=` was passed; else None.
    ///
    /// An assignment changes the allocator of later results.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.zeros(3).allocator is None
    /// True
    #[getter(allocator)]
    // stub: -> Any
    fn chosen_allocator<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        if slf.get().is_unallocated() {
            let assigned = slf.get().cold_fields_if_set().and_then(|cold_fields| cold_fields.allocator(py));
            return Ok(assigned.map(|object| object.into_bound(py)));
        }
        Ok(allocator_inheritance::allocator_of(slf.get().array(py)?).map(|object| object.bind(py).clone()))
    }
}
