//! Who is kept beside a block.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::callback::Kept;
use pygpu_memory::plugged::Allocator;

/// Who is kept as long as anybody sees memory of a block that is not theirs.
pub(crate) struct Owner {
    /// The object.
    pub(crate) object: Kept,
    /// Whether it was made for the array, by an allocator.
    pub(crate) is_arrays: bool,
    /// The allocator that also gives memory to the results of operations on the array.
    pub(crate) allocator: Option<Heritage>,
}

impl Owner {
    /// All that is kept.
    pub(crate) fn objects(&self) -> [Option<&Py<PyAny>>; 2] {
        [Some(self.object.object()), self.allocator.as_ref().map(Heritage::object)]
    }
}

/// An allocator that an array leaves to the results of operations on it.
pub(crate) struct Heritage {
    object: Kept,
    /// Makes an allocator of the object; what that means is known further up.
    make: fn(&Bound<'_, PyAny>) -> PyResult<Arc<dyn Allocator>>,
}

impl Heritage {
    pub(crate) fn new(object: Py<PyAny>, make: fn(&Bound<'_, PyAny>) -> PyResult<Arc<dyn Allocator>>) -> Self {
        Self { object: Kept::new(object), make }
    }

    pub(super) fn object(&self) -> &Py<PyAny> {
        self.object.object()
    }

    pub(super) fn allocator(&self, py: Python<'_>) -> PyResult<Arc<dyn Allocator>> {
        (self.make)(self.object().bind(py))
    }
}
