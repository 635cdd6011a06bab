//! Handles arrays that have a shape and a dtype, but no memory until their `gpudata` is assigned. In PyCUDA such arrays
//! have address 0.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::class::GpuArray;
use super::rare_fields::ColdFields;

impl GpuArray {
    /// Whether the array has no memory because its `gpudata` has not been assigned yet.
    pub(crate) fn is_unallocated(&self) -> bool {
        self.value().cold_fields_if_set().is_some_and(ColdFields::is_unallocated)
    }

    /// Checks that the array has memory.
    ///
    /// # Errors
    /// `ValueError` for an unallocated array. The message suggests an assignment to `gpudata`.
    #[cold]
    pub(super) fn check_allocated(&self) -> PyResult<()> {
        match self.is_unallocated() {
            false => Ok(()),
            true => Err(PyValueError::new_err(format!(
                "the array of {} bytes has no memory: it was made with address 0, and is there when `gpudata` is assigned",
                self.layout().nbytes()
            ))),
        }
    }
}
