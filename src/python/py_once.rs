//! Stores values that are created once per interpreter: classes, names, NumPy's functions.
//!
//! pyo3's `PyOnceLock` and `intern!` are not used, because they release the GIL during initialization. If another
//! thread forks at that moment, the child waits forever for the initializing thread, which exists only in the parent.
//! Here no thread waits: two threads may both create the value, and the first stored value stays.

use std::sync::OnceLock;

use pyo3::prelude::*;

/// A value that is created on first use. All later uses return the same value.
pub(crate) struct PyOnce<T>(OnceLock<T>);

impl<T> PyOnce<T> {
    /// Creates an uninitialized value.
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the value, if initialized.
    #[inline]
    pub(crate) fn get(&self, _: Python<'_>) -> Option<&T> {
        self.0.get()
    }

    /// Returns the value, which is created by `make` at the first call.
    #[inline]
    pub(crate) fn get_or_init(&self, _: Python<'_>, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => self.set(make()),
        }
    }

    /// Returns the value like [`Self::get_or_init`], with a fallible `make`.
    ///
    /// # Errors
    /// The error of `make`; the value then stays uninitialized.
    #[inline]
    pub(crate) fn get_or_try_init<E>(&self, _: Python<'_>, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.0.get() {
            Some(value) => Ok(value),
            None => make().map(|value| self.set(value)),
        }
    }

    /// Stores `value`, unless another thread has stored a value already. The `OnceLock` is locked only while `value` is
    /// moved, and the thread holds the GIL during this time.
    #[cold]
    fn set(&self, value: T) -> &T {
        self.0.get_or_init(|| value)
    }
}

/// Expands to a Python string, which is interned when the expression is evaluated for the first time.
macro_rules! intern {
    ($py:expr, $text:expr) => {{
        static NAME: $crate::py_once::PyOnce<::pyo3::Py<::pyo3::types::PyString>> = $crate::py_once::PyOnce::new();
        let py: ::pyo3::Python<'_> = $py;
        NAME.get_or_init(py, || ::pyo3::types::PyString::intern(py, $text).unbind()).bind(py)
    }};
}
pub(crate) use intern;
