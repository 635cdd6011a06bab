//! Who is kept beside a block.

use crate::python::callback::Kept;

/// Who is kept as long as anybody sees memory of a block that is not theirs.
pub(crate) struct Owner {
    /// The object.
    pub(crate) object: Kept,
    /// Whether it was made for the array, by an allocator.
    pub(crate) is_arrays: bool,
}
