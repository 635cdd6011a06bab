//! Holds values that `__init__` creates, for classes that are Python classes in PyCUDA.
//!
//! The `__new__` of such a class accepts any arguments, because the `__init__` of a derived class may have other
//! parameters. The value is created when the `__init__` of the derived class calls the `__init__` of the base class.

use once_cell::sync::OnceCell;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The value of an object, which `__init__` creates.
// The `OnceCell` of `once_cell` is used, because constructing the standard library's `OnceLock` with a value takes a
// lock, which costs time.
pub(crate) struct InitCell<T>(OnceCell<T>);

impl<T> Default for InitCell<T> {
    fn default() -> Self {
        Self(OnceCell::new())
    }
}

impl<T> From<T> for InitCell<T> {
    fn from(value: T) -> Self {
        Self(OnceCell::with_value(value))
    }
}

impl<T> InitCell<T> {
    /// Returns the value of an object of `class`.
    ///
    /// # Errors
    /// `RuntimeError` if the `__init__` of a derived class has not called the `__init__` of the base class.
    #[inline]
    pub(crate) fn get(&self, class: &str) -> PyResult<&T> {
        self.0.get().ok_or_else(|| missing(class))
    }

    /// Returns the value; `None` if `__init__` has not created it yet.
    #[inline]
    pub(crate) fn value(&self) -> Option<&T> {
        self.0.get()
    }

    /// Creates the value by `make`, which may be called only once. An existing value is never replaced, because another
    /// thread may already use it.
    ///
    /// # Errors
    /// The errors of `make`; `RuntimeError` if a value exists.
    pub(crate) fn make(&self, class: &str, make: impl FnOnce() -> PyResult<T>) -> PyResult<()> {
        let already_created = || PyRuntimeError::new_err(format!("this {class} is made already: __init__ runs once"));
        if self.0.get().is_some() {
            return Err(already_created());
        }
        self.0.set(make()?).map_err(|_| already_created())
    }

    /// Moves the value out of the cell, when the Python object that contains the cell is dropped.
    pub(crate) fn take(&mut self) -> Option<T> {
        self.0.take()
    }
}

#[cold]
fn missing(class: &str) -> PyErr {
    PyRuntimeError::new_err(format!("this {class} was never made: its __init__ is to call super().__init__(...)"))
}
