//! Who is kept beside a block.

use pyo3::prelude::*;

use crate::python::callback::Kept;

/// Who is kept as long as anybody sees memory of a block that is not theirs.
pub(crate) struct Owner {
    /// The object.
    pub(crate) object: Kept,
    /// Whether it was made for the array, by an allocator.
    pub(crate) is_arrays: bool,
    /// The allocator that also gives memory to the results of operations on the array.
    pub(crate) allocator: Option<Kept>,
}

impl Owner {
    /// All that is kept.
    pub(crate) fn objects(&self) -> [Option<&Py<PyAny>>; 2] {
        [Some(self.object.object()), self.allocator.as_ref().map(Kept::object)]
    }
}
