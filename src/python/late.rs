//! What `__init__` makes, in classes of which PyCUDA's are written in Python.
//!
//! There `__new__` takes whatever it is given, so that a class that derives from ours may have an `__init__` with arguments of its own,
//! which calls ours with others. So nothing is made before ours runs.

use once_cell::sync::OnceCell;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A value that is there once `__init__` has run.
// Not the standard library's `OnceLock`, which goes through its lock where there is a value from the beginning.
pub(crate) struct Late<T>(OnceCell<T>);

impl<T> Default for Late<T> {
    fn default() -> Self {
        Self(OnceCell::new())
    }
}

impl<T> From<T> for Late<T> {
    fn from(value: T) -> Self {
        Self(OnceCell::with_value(value))
    }
}

impl<T> Late<T> {
    /// The value, of an object of `class`.
    ///
    /// # Errors
    /// `RuntimeError` where the `__init__` of a class that derives from it has not called this one's.
    #[inline]
    pub(crate) fn get(&self, class: &str) -> PyResult<&T> {
        self.0.get().ok_or_else(|| missing(class))
    }

    /// The value, where there may be none.
    #[inline]
    pub(crate) fn found(&self) -> Option<&T> {
        self.0.get()
    }

    /// Makes the value, once. What was made stays: others may use it already.
    ///
    /// # Errors
    /// Those of making it; `RuntimeError` where there is one.
    pub(crate) fn make(&self, class: &str, make: impl FnOnce() -> PyResult<T>) -> PyResult<()> {
        let again = || PyRuntimeError::new_err(format!("this {class} is made already: __init__ runs once"));
        if self.0.get().is_some() {
            return Err(again());
        }
        self.0.set(make()?).map_err(|_| again())
    }

    /// Takes the value out, when the object ends.
    pub(crate) fn take(&mut self) -> Option<T> {
        self.0.take()
    }
}

#[cold]
fn missing(class: &str) -> PyErr {
    PyRuntimeError::new_err(format!("this {class} was never made: its __init__ is to call super().__init__(...)"))
}
