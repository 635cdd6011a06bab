//! Defines attributes and methods of arrays that only CuPy's arrays have.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::array::memory_owner::MemoryOwner;
use crate::py_once::intern;

#[pymethods]
impl GpuArray {
    /// Pointer to element zero as CuPy's `MemoryPointer`, which keeps the memory alive.
    #[getter]
    // stub: -> MemoryPointer
    fn data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "PyGPU._cupy.cuda.array_memory"))?.call_method1(intern!(py, "pointer_of"), (slf,))
    }

    /// Object that a custom allocator returned for the memory around the array; None for other memory.
    #[getter]
    // stub: -> Any
    fn _allocator_memory<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let owner = self.array(py)?.allocation().allocator_owner();
        let memory: Option<&MemoryOwner> = owner.and_then(|owner| owner.downcast_ref());
        Ok(memory.map(|memory| memory.object.object().bind(py).clone()))
    }

    /// Returns a view with as few axes as the strides permit: adjacent axes without a gap between them become one.
    ///
    /// Parameters
    /// ----------
    /// dtype : data-type, optional
    ///     Type of the view's elements, as in `view`; the array's type by default.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros((2, 3, 4))
    /// >>> a.reduced_view().shape, a[:, ::2].reduced_view().shape
    /// ((24,), (2, 2, 4))
    #[pyo3(signature = (dtype: "DTypeLike | None" = None) -> "Self")]
    fn reduced_view<'py>(slf: &Bound<'py, Self>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "PyGPU._cupy.reduced_view"))?.call_method1(intern!(py, "reduced_view"), (slf, dtype))
    }
}
