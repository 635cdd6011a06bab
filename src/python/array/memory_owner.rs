//! Defines the Python owner of an array's memory.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::callback::SendPyObject;
use pygpu_memory::custom_allocator::Allocator;

/// Python owner of external memory, alive as long as any array uses the memory.
pub(crate) struct MemoryOwner {
    /// The Python object whose lifetime determines how long the memory is valid.
    pub(crate) object: SendPyObject,
    /// Whether the memory was allocated for the array itself, by a custom allocator or by the pool.
    pub(crate) is_arrays: bool,
    /// The allocator that also allocates the results of operations on the array, as in PyCUDA.
    pub(crate) allocator: Option<InheritedAllocator>,
}

impl MemoryOwner {
    /// Returns all Python objects that this owner keeps alive.
    pub(crate) fn objects(&self) -> [Option<&Py<PyAny>>; 2] {
        [Some(self.object.object()), self.allocator.as_ref().map(InheritedAllocator::object)]
    }
}

/// An allocator that the results of operations inherit from their operand, as in PyCUDA.
pub(crate) struct InheritedAllocator {
    object: SendPyObject,
    /// Function that creates an allocator from the allocator object. It is stored as a pointer, because a higher layer
    /// defines it, which this layer must not import.
    make: fn(&Bound<'_, PyAny>) -> PyResult<Arc<dyn Allocator>>,
}

impl InheritedAllocator {
    pub(crate) fn new(object: Py<PyAny>, make: fn(&Bound<'_, PyAny>) -> PyResult<Arc<dyn Allocator>>) -> Self {
        Self { object: SendPyObject::new(object), make }
    }

    pub(super) fn object(&self) -> &Py<PyAny> {
        self.object.object()
    }

    pub(super) fn allocator(&self, py: Python<'_>) -> PyResult<Arc<dyn Allocator>> {
        (self.make)(self.object().bind(py))
    }
}
