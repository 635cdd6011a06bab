//! The singletons and slices of a key.

use pyo3::ffi;
use pyo3::prelude::*;

/// A plain item of a key.
pub(crate) enum PlainItem {
    Integer,
    Slice,
    None,
    Ellipsis,
}

/// Classifies an item by its exact type or identity.
#[inline]
pub(crate) fn plain_item(item: &Bound<'_, PyAny>) -> Option<PlainItem> {
    let pointer = item.as_ptr();
    // SAFETY: type checks and identity comparisons of a live object.
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

/// Returns start, step and count of a slice of an axis.
///
/// # Errors
/// `TypeError` for members that are no integers; `ValueError` for a step of zero.
#[inline]
pub(crate) fn unpack(slice: &Bound<'_, PyAny>, length: i64) -> PyResult<(i64, i64, i64)> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: a live object, whose members are read only if it is a slice; the three outputs are local, and the second call is
    // arithmetic on values of the first.
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
