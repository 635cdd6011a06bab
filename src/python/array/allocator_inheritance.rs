//! Implements the inheritance of allocators: the allocator of an operand also allocates the results, as for PyCUDA's
//! argument `allocator=`.

use pyo3::prelude::*;

use super::memory_owner::{InheritedAllocator, MemoryOwner};
use pygpu_array::{Array, DeferredArray};
use pygpu_memory::custom_allocator::{self, AllocatorChoice};

/// Guard that changes the allocator of this thread's new arrays. Its drop restores the previous allocator.
pub(crate) struct AllocatorScope(Option<AllocatorChoice>);

impl AllocatorScope {
    pub(crate) fn new(choice: Option<AllocatorChoice>) -> Self {
        Self(custom_allocator::choose_for_thread(choice))
    }
}

impl Drop for AllocatorScope {
    fn drop(&mut self) {
        drop(custom_allocator::choose_for_thread(self.0.take()));
    }
}

fn inherited_allocator(array: &DeferredArray) -> Option<&InheritedAllocator> {
    let owner: &MemoryOwner = match array.owner() {
        Some((owner_value, _)) => owner_value.downcast_ref()?,
        None => array.allocation().allocator_owner()?.downcast_ref()?,
    };
    owner.allocator.as_ref()
}

/// Returns the allocator of an array: the argument `allocator=`, or the allocator that the array inherited from an
/// operand.
pub(crate) fn allocator_of(array: &Array) -> Option<&Py<PyAny>> {
    inherited_allocator(DeferredArray::of(array)).map(InheritedAllocator::object)
}

/// Makes new arrays of this thread use the allocator of the first operand that has an allocator, until the returned
/// scope is dropped. Returns `None` if no operand has an allocator, or if the thread has chosen an allocator itself.
///
/// # Errors
/// `TypeError` if the operand's allocator object is no longer a valid allocator.
#[inline]
pub(crate) fn inherit<'a>(
    py: Python<'_>,
    operands: impl Iterator<Item = impl Into<&'a DeferredArray>>,
) -> PyResult<Option<AllocatorScope>> {
    match custom_allocator::is_in_use() {
        true => inherit_from(py, operands.map(Into::into)),
        false => Ok(None),
    }
}

#[cold]
fn inherit_from<'a>(
    py: Python<'_>,
    mut operands: impl Iterator<Item = &'a DeferredArray>,
) -> PyResult<Option<AllocatorScope>> {
    if custom_allocator::is_chosen_for_thread() {
        return Ok(None);
    }
    let Some(inherited) = operands.find_map(inherited_allocator) else { return Ok(None) };
    Ok(Some(AllocatorScope::new(Some(AllocatorChoice::Plugged(inherited.allocator(py)?)))))
}
