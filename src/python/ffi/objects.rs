//! Types and reference counts of objects.

use std::ptr::NonNull;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyType;
use pyo3::{Borrowed, PyClass};

/// Returns the address of an object's type.
#[inline]
pub(crate) fn class_of(object: &Bound<'_, PyAny>) -> *mut ffi::PyTypeObject {
    // SAFETY: the type of a live object.
    unsafe { ffi::Py_TYPE(object.as_ptr()) }
}

/// Whether an object is of the class `T`, excluding derived classes.
#[inline]
pub(crate) fn is_exact<T: PyTypeInfo>(object: &Bound<'_, PyAny>) -> bool {
    class_of(object) == T::type_object_raw(object.py())
}

/// Casts an object to the class `T`, if it is of that class exactly.
#[inline]
pub(crate) fn exact<'a, 'py, T: PyTypeInfo>(object: Borrowed<'a, 'py, PyAny>) -> Option<Borrowed<'a, 'py, T>> {
    // SAFETY: of the class, as just compared.
    is_exact::<T>(&object).then(|| unsafe { object.cast_unchecked::<T>() })
}

/// A frozen class, whose value neither moves nor is replaced while the object lives.
pub(crate) trait Frozen: PyClass {
    /// Returns the value: `object.get()`.
    fn value<'a>(object: &'a Bound<'_, Self>) -> &'a Self;
}

/// Returns the value of an object, for the lifetime of the borrow.
#[inline]
pub(crate) fn value_of<'a, T: Frozen>(object: Borrowed<'a, '_, T>) -> &'a T {
    // SAFETY: the object lives as long as `'a`, and with it the value.
    unsafe { &*std::ptr::from_ref(T::value(&object)) }
}

/// Whether an object is of a class or a derived one, by its type alone: `isinstance` also calls the metaclass.
#[inline]
pub(crate) fn has_class(object: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> bool {
    // SAFETY: a type check of a live object against a live class.
    unsafe { ffi::PyObject_TypeCheck(object.as_ptr(), class.as_type_ptr()) != 0 }
}

/// Whether an object is a sequence by its type.
pub(crate) fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PySequence_Check(object.as_ptr()) != 0 }
}

/// Whether two classes have the same `__init__`.
pub(crate) fn has_same_init(class: &Bound<'_, PyType>, other: &Bound<'_, PyType>) -> bool {
    let slot = |class: &Bound<'_, PyType>| {
        // SAFETY: live types; static types have slots too since Python 3.10.
        unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_init) }
    };
    slot(class) == slot(other)
}

/// Returns the number of references to an object.
#[inline]
pub(crate) fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a live object and the GIL.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// Whether a reference is the only one to its object.
#[inline]
pub(crate) fn is_last<T>(object: &Py<T>, _: Python<'_>) -> bool {
    // SAFETY: a live object, and the GIL as the token shows.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) == 1 }
}

/// Proves that the thread holds the GIL.
pub(crate) trait HasGil {}

impl HasGil for Python<'_> {}

/// A reference that is released by `release` only: its drop does nothing, and pyo3's count of attached threads is not consulted.
pub(crate) struct Reference(NonNull<ffi::PyObject>);

// SAFETY: an address; `release` is called with the GIL.
unsafe impl Send for Reference {}

impl Reference {
    /// Takes over a reference.
    #[inline]
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        // SAFETY: the address of a live object is not null.
        Self(unsafe { NonNull::new_unchecked(object.into_ptr()) })
    }

    /// Whether other references to the object exist, so that this one is not the last.
    #[inline]
    pub(crate) fn is_shared(&self, _: &impl HasGil) -> bool {
        // SAFETY: a live object, and the GIL as the token shows.
        unsafe { ffi::Py_REFCNT(self.0.as_ptr()) > 1 }
    }

    /// Releases the reference.
    #[inline]
    pub(crate) fn release(self, _: &impl HasGil) {
        // SAFETY: the reference is released once, with the GIL as the token shows.
        unsafe { ffi::Py_DECREF(self.0.as_ptr()) };
    }
}
