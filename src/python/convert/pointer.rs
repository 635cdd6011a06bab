//! Creates pointer objects of ctypes for the attribute `_as_parameter_`.
//!
//! The attribute is not an int, because ctypes truncates an int to 32 bits if the function has no `argtypes`.

use std::sync::OnceLock;

use pyo3::prelude::*;

use crate::py_once::{PyOnce, intern};
use pygpu_backend::Address;
use pygpu_base::dtype::ScalarType;

/// A ctypes pointer, created on first use.
#[derive(Default)]
pub(crate) struct CtypesPointerCache(OnceLock<(Address, Py<PyAny>)>);

impl CtypesPointerCache {
    #[inline]
    pub(crate) fn get<'py>(
        &self,
        py: Python<'py>,
        address: Address,
        make: impl FnOnce(Address) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.0.get() {
            Some((cached_address, pointer)) if *cached_address == address => Ok(pointer.bind(py).clone()),
            _ => {
                let pointer = make(address)?;
                // `set` never replaces a cached pointer, and its failure is ignored. If a pointer is cached already,
                // either a concurrent call has stored an equal pointer, or the cached pointer contains a previous
                // address and is not returned for this address.
                drop(self.0.set((address, pointer.clone().unbind())));
                Ok(pointer)
            }
        }
    }
}

/// Returns the class `ctypes.c_void_p`.
fn void_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static VOID: PyOnce<Py<PyAny>> = PyOnce::new();
    let find = || Ok::<_, PyErr>(py.import(intern!(py, "ctypes"))?.getattr(intern!(py, "c_void_p"))?.unbind());
    Ok(VOID.get_or_try_init(py, find)?.bind(py))
}

/// Creates a `c_void_p`.
pub(crate) fn void_pointer(py: Python<'_>, address: Address) -> PyResult<Bound<'_, PyAny>> {
    void_class(py)?.call1((address,))
}

/// Returns the name of the element type in ctypes, if it exists.
fn ctypes_name(kind: ScalarType) -> Option<&'static str> {
    Some(match kind {
        ScalarType::Bool => "c_bool",
        ScalarType::Int8 => "c_int8",
        ScalarType::Int16 => "c_int16",
        ScalarType::Int32 => "c_int32",
        ScalarType::Int64 => "c_int64",
        ScalarType::UInt8 => "c_uint8",
        ScalarType::UInt16 => "c_uint16",
        ScalarType::UInt32 => "c_uint32",
        ScalarType::UInt64 => "c_uint64",
        ScalarType::Float32 => "c_float",
        ScalarType::Float64 => "c_double",
        _ => return None,
    })
}

/// Creates a pointer to an element type, or a `c_void_p` for types that ctypes lacks.
pub(crate) fn typed_pointer(py: Python<'_>, kind: ScalarType, address: Address) -> PyResult<Bound<'_, PyAny>> {
    let Some(name) = ctypes_name(kind) else { return void_pointer(py, address) };
    let ctypes = py.import(intern!(py, "ctypes"))?;
    let class = ctypes.call_method1(intern!(py, "POINTER"), (ctypes.getattr(name)?,))?;
    class.call_method1(intern!(py, "from_buffer_copy"), (address.to_ne_bytes().as_slice(),))
}
