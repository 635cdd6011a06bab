//! Queries types and reference counts of objects.

use std::ptr::NonNull;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyType;
use pyo3::{Borrowed, PyClass};

/// Returns the address of an object's type.
#[inline]
pub(crate) fn class_of(object: &Bound<'_, PyAny>) -> *mut ffi::PyTypeObject {
    // SAFETY: the borrow keeps the object alive, so its type can be read.
    unsafe { ffi::Py_TYPE(object.as_ptr()) }
}

/// Returns whether an object is of the class `T`, excluding derived classes.
#[inline]
pub(crate) fn is_exact<T: PyTypeInfo>(object: &Bound<'_, PyAny>) -> bool {
    class_of(object) == T::type_object_raw(object.py())
}

/// Casts an object to the class `T`; `None` for derived and other classes.
#[inline]
pub(crate) fn exact<'a, 'py, T: PyTypeInfo>(object: Borrowed<'a, 'py, PyAny>) -> Option<Borrowed<'a, 'py, T>> {
    // SAFETY: the comparison above has shown that the object is of class `T`.
    is_exact::<T>(&object).then(|| unsafe { object.cast_unchecked::<T>() })
}

/// A frozen pyo3 class. The Rust value of its objects is neither moved nor replaced while the object lives.
pub(crate) trait Frozen: PyClass {
    /// Returns the Rust value of a Python object, as `object.get()` does.
    fn value<'a>(object: &'a Bound<'_, Self>) -> &'a Self;
}

/// Returns the Rust value of a Python object, for the lifetime of the borrow.
#[inline]
pub(crate) fn value_of<'a, T: Frozen>(object: Borrowed<'a, '_, T>) -> &'a T {
    // SAFETY: the borrow keeps the object, and thereby its value, alive for the lifetime `'a`.
    unsafe { &*std::ptr::from_ref(T::value(&object)) }
}

/// Returns whether an object is of a class or a derived class. Only the type is checked; `isinstance` would also call
/// the metaclass.
#[inline]
pub(crate) fn has_class(object: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> bool {
    // SAFETY: the borrows keep the object and the class alive.
    unsafe { ffi::PyObject_TypeCheck(object.as_ptr(), class.as_type_ptr()) != 0 }
}

/// Returns whether the type of an object is a sequence.
pub(crate) fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, and the call only reads its type.
    unsafe { ffi::PySequence_Check(object.as_ptr()) != 0 }
}

/// Returns whether two classes have the same `__init__`.
pub(crate) fn has_same_init(class: &Bound<'_, PyType>, other: &Bound<'_, PyType>) -> bool {
    let slot = |class: &Bound<'_, PyType>| {
        // SAFETY: the borrows keep both types alive. Since Python 3.10, the slots of static types may be queried too.
        unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_init) }
    };
    slot(class) == slot(other)
}

/// Returns the number of references to an object.
#[inline]
pub(crate) fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: the borrow keeps the object alive, and the thread holds the GIL.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// Returns whether a reference is the only reference to its object.
#[inline]
pub(crate) fn is_last<T>(object: &Py<T>, _: Python<'_>) -> bool {
    // SAFETY: the borrow keeps the object alive, and the GIL token proves that the thread holds the GIL.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) == 1 }
}

/// Trait of types whose values exist only on a thread that holds the GIL, and thereby prove this.
pub(crate) trait HasGil {}

impl HasGil for Python<'_> {}

/// A reference to a Python object. The reference is released only by `release`, which ignores pyo3's count of the
/// thread's attachments; the drop does nothing.
pub(crate) struct Reference(NonNull<ffi::PyObject>);

// SAFETY: the value may be sent to other threads, because it is only an address, and `release` requires the GIL.
unsafe impl Send for Reference {}

impl Reference {
    /// Takes ownership of a reference.
    #[inline]
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        // SAFETY: the reference keeps the object alive, so its address is not null.
        Self(unsafe { NonNull::new_unchecked(object.into_ptr()) })
    }

    /// Returns whether other references to the object exist besides this reference.
    #[inline]
    pub(crate) fn is_shared(&self, _: &impl HasGil) -> bool {
        // SAFETY: this reference keeps the object alive, and the token proves that the thread holds the GIL.
        unsafe { ffi::Py_REFCNT(self.0.as_ptr()) > 1 }
    }

    /// Releases the reference.
    #[inline]
    pub(crate) fn release(self, _: &impl HasGil) {
        // SAFETY: `release` consumes the reference, so it is released only once, and the token proves that the thread
        // holds the GIL.
        unsafe { ffi::Py_DECREF(self.0.as_ptr()) };
    }
}
