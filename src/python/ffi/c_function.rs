//! Functions of C that a user gives as objects of ctypes.

use std::ffi::c_void;

use pyo3::prelude::*;
use pyo3::types::PyType;

use super::buffer;
use super::objects::has_class;
use crate::once::{PyOnce, intern};

/// A function of C that takes an address, `void (*)(void *)`.
#[derive(Clone, Copy)]
pub(crate) struct CFunction(unsafe extern "C" fn(*mut c_void));

/// The class of all functions of ctypes.
fn function_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnce<Py<PyType>> = PyOnce::new();
    let find = || {
        let class = py.import(intern!(py, "_ctypes"))?.getattr(intern!(py, "CFuncPtr"))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    };
    Ok(CLASS.get_or_try_init(py, find)?.bind(py))
}

/// The pointer of a function of ctypes, which is what such an object has in its buffer; 0 for none.
fn pointer_in(function: &Bound<'_, PyAny>) -> PyResult<usize> {
    buffer::with_bytes(function, |bytes| bytes.first_chunk().map_or(0, |first| usize::from_ne_bytes(*first)))
}

impl CFunction {
    /// Whether an object is a function of ctypes.
    ///
    /// # Errors
    /// Those of importing `_ctypes`.
    pub(crate) fn is_one(object: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(has_class(object, function_class(object.py())?))
    }

    /// The function of an object of ctypes; `None` for a null pointer.
    ///
    /// # Errors
    /// Those of reading the object's buffer.
    ///
    /// # Safety
    /// The function takes an address, and may be called with those that it is given.
    pub(crate) unsafe fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let function = pointer_in(object)?;
        if function == 0 {
            return Ok(None);
        }
        // SAFETY: a pointer that is not null, to a function of that type as promised.
        Ok(Some(Self(unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void)>(function) })))
    }

    /// Calls the function.
    pub(crate) fn call(self, address: usize) {
        // SAFETY: promised by the caller of `of`.
        unsafe { (self.0)(std::ptr::with_exposed_provenance_mut(address)) }
    }
}
