//! Defines the methods of `GPUArray` that CuPy's arrays have and NumPy's lack. They call the Python functions in
//! `PyGPU._cupy.array_methods`.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::array::class::GpuArray;
use crate::finalization;
use crate::py_once::intern;

/// Calls a function of `PyGPU._cupy.array_methods`.
fn call<'py>(py: Python<'py>, name: &str, arguments: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
    let function = py.import(intern!(py, "PyGPU._cupy.array_methods"))?.getattr(name)?;
    finalization::run_python(py, || function.call1(arguments))
}

#[pymethods]
impl GpuArray {
    // Subscripts of the class in annotations, such as `cupy.ndarray[Any, Any]`.
    // stub: def __class_getitem__(cls, item: Any) -> GenericAlias: ...
    #[classmethod]
    fn __class_getitem__<'py>(class: &Bound<'py, PyType>, item: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        py.import(intern!(py, "types"))?.getattr(intern!(py, "GenericAlias"))?.call1((class, item))
    }

    /// Add values at positions that may repeat; the name is CuPy's.
    ///
    /// Parameters
    /// ----------
    /// slices : index
    ///     Positions as in ``a[slices]``. A position that occurs twice receives both values.
    /// value : array_like
    ///     Values, which broadcast to the positions and are converted to the array's dtype.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3)
    /// >>> a.scatter_add([0, 2, 2], 1)
    /// >>> a.tolist()
    /// [1.0, 0.0, 2.0]
    #[pyo3(signature = (slices: "Any", value: "ArrayLike | GPUArray") -> "None")]
    fn scatter_add(slf: &Bound<'_, Self>, slices: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        call(slf.py(), "scatter_add", (slf, slices, value)).map(drop)
    }

    /// Store the maxima of elements and values at positions that may repeat; the name is CuPy's.
    ///
    /// Parameters
    /// ----------
    /// slices : index
    ///     Positions as in ``a[slices]``.
    /// value : array_like
    ///     Values, which broadcast to the positions and are converted to the array's dtype.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3)
    /// >>> a.scatter_max([0, 2, 2], [1, 5, 4])
    /// >>> a.tolist()
    /// [1.0, 0.0, 5.0]
    #[pyo3(signature = (slices: "Any", value: "ArrayLike | GPUArray") -> "None")]
    fn scatter_max(slf: &Bound<'_, Self>, slices: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        call(slf.py(), "scatter_max", (slf, slices, value)).map(drop)
    }

    /// Store the minima of elements and values at positions that may repeat; the name is CuPy's.
    ///
    /// Parameters
    /// ----------
    /// slices : index
    ///     Positions as in ``a[slices]``.
    /// value : array_like
    ///     Values, which broadcast to the positions and are converted to the array's dtype.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3)
    /// >>> a.scatter_min([0, 2, 2], [-1, -5, -4])
    /// >>> a.tolist()
    /// [-1.0, 0.0, -5.0]
    #[pyo3(signature = (slices: "Any", value: "ArrayLike | GPUArray") -> "None")]
    fn scatter_min(slf: &Bound<'_, Self>, slices: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        call(slf.py(), "scatter_min", (slf, slices, value)).map(drop)
    }

    /// Return the array as a DLPack capsule; the name is CuPy's, and new programs pass the array itself.
    ///
    /// Returns
    /// -------
    /// PyCapsule
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.from_dlpack(PyGPU.arange(3)).tolist()
    /// [0, 1, 2]
    #[pyo3(name = "toDlpack", signature = () -> "Any")]
    fn to_dlpack<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.call_method0(intern!(slf.py(), "__dlpack__"))
    }

    /// Return the difference of maximum and minimum along an axis; the method is CuPy's, as in NumPy 1.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes; by default all.
    /// out : GPUArray, optional
    ///     Array for the result.
    /// keepdims : bool, optional
    ///     Whether the reduced axes stay with length 1.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> int(PyGPU.to_gpu([[4, 9], [2, 3]]).ptp())
    /// 7
    #[pyo3(signature = (
        axis: "int | tuple[int, ...] | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false
    ) -> "GPUArray")]
    fn ptp<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        keepdims: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "ptp", (slf, axis, out, keepdims))
    }
}
