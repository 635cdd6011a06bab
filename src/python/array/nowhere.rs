//! Arrays that have a shape and a dtype, and no memory until their `gpudata` is assigned: PyCUDA's at address 0.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::class::GpuArray;
use super::rare::Rare;

impl GpuArray {
    /// Whether it waits for its `gpudata` to be assigned.
    pub(crate) fn lacks_memory(&self) -> bool {
        self.made().own_rare().is_some_and(Rare::lacks_memory)
    }

    /// Refuses what would use memory that is not there.
    ///
    /// # Errors
    /// `ValueError` that says what to do.
    #[cold]
    pub(super) fn refuse_nowhere(&self) -> PyResult<()> {
        match self.lacks_memory() {
            false => Ok(()),
            true => Err(PyValueError::new_err(format!(
                "the array of {} bytes has no memory: it was made with address 0, and is there when `gpudata` is assigned",
                self.layout().nbytes()
            ))),
        }
    }
}
