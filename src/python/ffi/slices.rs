//! Classifies the items of an indexing key, and unpacks slices.

use pyo3::ffi;
use pyo3::prelude::*;

/// Kind of an item in an indexing key, for items whose type is exactly a built-in type.
pub(crate) enum PlainItem {
    Integer,
    Slice,
    None,
    Ellipsis,
}

/// Classifies an item of an indexing key by its exact type or identity; returns `None` for all other items.
#[inline(always)]
pub(crate) fn plain_item(item: &Bound<'_, PyAny>) -> Option<PlainItem> {
    let pointer = item.as_ptr();
    // SAFETY: the borrow keeps the object alive, and the calls only read its type and address.
    unsafe {
        if ffi::PyLong_CheckExact(pointer) != 0 {
            return Some(PlainItem::Integer);
        }
        if ffi::Py_TYPE(pointer) == &raw mut ffi::PySlice_Type {
            return Some(PlainItem::Slice);
        }
        if pointer == ffi::Py_None() {
            return Some(PlainItem::None);
        }
        if pointer == ffi::Py_Ellipsis() {
            return Some(PlainItem::Ellipsis);
        }
    }
    None
}

/// Returns start, step and number of elements of a slice of an axis with `length` elements.
///
/// # Errors
/// `TypeError` for slice members that are no integers; `ValueError` for a step of zero.
#[inline(always)]
pub(crate) fn unpack(slice: &Bound<'_, PyAny>, length: i64) -> PyResult<(i64, i64, i64)> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: the borrow keeps the object alive, and its members are read only if it is a slice. The three outputs are
    // local variables, and the second call only computes with values of the first call.
    unsafe {
        if ffi::Py_TYPE(slice.as_ptr()) != &raw mut ffi::PySlice_Type
            || ffi::PySlice_Unpack(slice.as_ptr(), &raw mut start, &raw mut stop, &raw mut step) < 0
        {
            return Err(PyErr::fetch(slice.py()));
        }
        let count = ffi::PySlice_AdjustIndices(length as isize, &raw mut start, &raw mut stop, step);
        Ok((start as i64, step as i64, count as i64))
    }
}
