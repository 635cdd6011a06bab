//! What is made once with the interpreter: classes, names, NumPy's functions.
//!
//! Not pyo3's `PyOnceLock`, nor its `intern!`: who makes one of these gives up the GIL between beginning and making, and a
//! child that another thread forks at that moment waits for ever for a maker that it does not have. Here nobody waits: two
//! threads may both make the thing, and the first one's is kept.

use std::sync::OnceLock;

use pyo3::prelude::*;

/// A thing that is made once, as far as anybody can see.
pub(crate) struct PyOnce<T>(OnceLock<T>);

impl<T> PyOnce<T> {
    /// Not made yet.
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The thing, if it was made.
    #[inline]
    pub(crate) fn get(&self, _: Python<'_>) -> Option<&T> {
        self.0.get()
    }

    /// The thing, made by `make` if by nobody before.
    #[inline]
    pub(crate) fn get_or_init(&self, _: Python<'_>, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(made) => made,
            None => self.set(make()),
        }
    }

    /// As [`Self::get_or_init`].
    ///
    /// # Errors
    /// Those of `make`; then it is not made.
    #[inline]
    pub(crate) fn get_or_try_init<E>(&self, _: Python<'_>, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.0.get() {
            Some(made) => Ok(made),
            None => make().map(|made| self.set(made)),
        }
    }

    /// Keeps `made`, or what another thread has made meanwhile. The lock inside is had for the move of the value, with the GIL.
    #[cold]
    fn set(&self, made: T) -> &T {
        self.0.get_or_init(|| made)
    }
}

/// A name as a string of Python, made at the first use of this place.
macro_rules! intern {
    ($py:expr, $text:expr) => {{
        static NAME: $crate::once::PyOnce<::pyo3::Py<::pyo3::types::PyString>> = $crate::once::PyOnce::new();
        let py: ::pyo3::Python<'_> = $py;
        NAME.get_or_init(py, || ::pyo3::types::PyString::intern(py, $text).unbind()).bind(py)
    }};
}
pub(crate) use intern;
