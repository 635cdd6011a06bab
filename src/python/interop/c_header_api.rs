//! Contains the function that `pygpu/array_view.h` needs in addition to DLPack's exchange table. The function reports
//! whether an exported tensor is read-only. The exchange table does not contain this information.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::ffi::array_header::{ArrayHeader, CHeaderTable, NAME};
use crate::ffi::capsule;

static API: CHeaderTable = CHeaderTable::new::<HeaderFunctions>();

struct HeaderFunctions;

impl ArrayHeader for HeaderFunctions {
    fn is_readonly(object: &Bound<'_, PyAny>) -> bool {
        object.cast::<GpuArray>().map_or(true, |array| array.get().readonly())
    }
}

#[pymethods]
impl GpuArray {
    /// Returns the C functions for the headers in the folder `PyGPU.get_include()`.
    #[classattr]
    fn __pygpu_c_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        capsule::from_static(py, &API, NAME)
    }
}
