//! Calls C functions that a user passes as ctypes objects.

use std::ffi::c_void;

use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::buffer;
use super::objects::has_class;
use crate::py_once::{PyOnce, intern};

/// A C function with one parameter, an address: `void (*)(void *)`.
#[derive(Clone, Copy)]
pub(crate) struct CFunction(unsafe extern "C" fn(*mut c_void));

/// Returns the base class of ctypes functions.
fn function_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnce<Py<PyType>> = PyOnce::new();
    let find = || {
        let class = py.import(intern!(py, "_ctypes"))?.getattr(intern!(py, "CFuncPtr"))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    };
    Ok(CLASS.get_or_try_init(py, find)?.bind(py))
}

/// Returns the classes of Python functions: `def` and `lambda`, bound methods, and functions of extension modules.
fn python_function_classes(py: Python<'_>) -> PyResult<&Bound<'_, PyTuple>> {
    static CLASSES: PyOnce<Py<PyTuple>> = PyOnce::new();
    let find = || {
        let types = py.import(intern!(py, "types"))?;
        let names = [intern!(py, "FunctionType"), intern!(py, "MethodType"), intern!(py, "BuiltinFunctionType")];
        let classes: Vec<_> = names.into_iter().map(|name| types.getattr(name)).collect::<PyResult<_>>()?;
        Ok::<_, PyErr>(PyTuple::new(py, classes)?.unbind())
    };
    Ok(CLASSES.get_or_try_init(py, find)?.bind(py))
}

/// Returns whether an object is a Python function, which has no address that C code could call.
///
/// # Errors
/// The errors of importing `types`.
pub(crate) fn is_python_function(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.is_instance(python_function_classes(object.py())?)
}

/// Reads the function pointer in the buffer of a ctypes function; 0 for a null pointer.
fn function_pointer(function: &Bound<'_, PyAny>) -> PyResult<usize> {
    buffer::with_bytes(function, |bytes| bytes.first_chunk().map_or(0, |first| usize::from_ne_bytes(*first)))
}

impl CFunction {
    /// Returns whether an object is a ctypes function.
    ///
    /// # Errors
    /// The errors of importing `_ctypes`.
    pub(crate) fn is_ctypes_function(object: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(has_class(object, function_class(object.py())?))
    }

    /// Returns the C function of a ctypes object; `None` for a null pointer.
    ///
    /// # Errors
    /// The errors of reading the object's buffer.
    ///
    /// # Safety
    /// The C function takes one address, and may be called with any address that is passed to [`Self::call`].
    pub(crate) unsafe fn from_ctypes(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let function = function_pointer(object)?;
        if function == 0 {
            return Ok(None);
        }
        // SAFETY: the pointer is not null, as checked above, and the caller guarantees that it refers to a function of
        // this type.
        Ok(Some(Self(unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void)>(function) })))
    }

    /// Calls the C function with an address.
    pub(crate) fn call(self, address: usize) {
        // SAFETY: the caller of `from_ctypes` guaranteed that the function accepts this address.
        unsafe { (self.0)(std::ptr::with_exposed_provenance_mut(address)) }
    }
}
