//! Creates, reads and queries ndarrays and NumPy scalars through NumPy's C API.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use numpy::npyffi::{self, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::ffi;
use pyo3::prelude::*;

use super::objects::class_of;
use crate::py_once::PyOnce;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_layout::Dims;

/// Returns the address of element zero of an ndarray.
pub(crate) fn address(array: &Bound<'_, PyUntypedArray>) -> usize {
    // SAFETY: the borrow keeps the ndarray alive.
    unsafe { (*array.as_array_ptr()).fields.data as usize }
}

fn flags(array: &Bound<'_, PyUntypedArray>) -> c_int {
    // SAFETY: the borrow keeps the ndarray alive.
    unsafe { (*array.as_array_ptr()).fields.flags }
}

/// Returns whether an ndarray may be written.
pub(crate) fn is_writable(array: &Bound<'_, PyUntypedArray>) -> bool {
    flags(array) & NPY_ARRAY_WRITEABLE != 0
}

/// Returns whether an ndarray owns its memory. If so, other objects can access the memory only through this ndarray.
pub(crate) fn owns_memory(array: &Bound<'_, PyUntypedArray>) -> bool {
    flags(array) & NPY_ARRAY_OWNDATA != 0
}

/// Calls `read` with the bytes of a dense ndarray, or with an empty slice for other ndarrays.
pub(crate) fn with_dense_bytes<T>(
    array: &Bound<'_, PyUntypedArray>,
    itemsize: usize,
    read: impl FnOnce(&[u8]) -> T,
) -> T {
    let is_dense = array.is_c_contiguous() || array.is_fortran_contiguous();
    let bytes = if is_dense { array.len() * itemsize } else { 0 };
    // SAFETY: the borrow keeps the ndarray alive, and the check above found it dense, so its `bytes` bytes are
    // contiguous.
    read(unsafe { std::slice::from_raw_parts(address(array) as *const u8, bytes) })
}

/// Writes `bytes` to the beginning of a new ndarray of one element. If there are more bytes than the element has, the
/// remaining bytes are ignored.
pub(crate) fn write_item(array: &Bound<'_, PyUntypedArray>, bytes: &[u8], itemsize: usize) {
    let length = bytes.len().min(itemsize * array.len());
    // SAFETY: the borrow keeps the ndarray alive, `length` does not exceed its size, and other code cannot access a new
    // ndarray yet.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address(array) as *mut u8, length) };
}

/// Creates an ndarray over existing memory; in C order if no strides are passed.
///
/// # Errors
/// The errors of NumPy.
///
/// # Safety
/// All elements are inside of the memory, which lives as long as the ndarray.
#[inline]
pub(crate) unsafe fn over<'py>(
    py: Python<'py>,
    address: usize,
    shape: &mut Dims,
    strides: Option<&mut Dims>,
    descr: Bound<'py, PyAny>,
    is_writable: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    // SAFETY: the lists of lengths and strides have as many entries as the passed number of axes, and NumPy consumes
    // the reference to the dtype.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, NpyTypes::PyArray_Type),
            descr.into_ptr().cast(),
            shape.len() as c_int,
            shape.as_mut_ptr().cast(),
            strides.map_or(null_mut(), |strides| strides.as_mut_ptr()).cast(),
            address as *mut c_void,
            if is_writable { NPY_ARRAY_WRITEABLE } else { 0 },
            null_mut(),
        );
        Ok(Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked())
    }
}

/// Sets the `base` of a new ndarray to the owner of its memory.
///
/// # Errors
/// The errors of NumPy.
pub(crate) fn set_base<'py>(array: &Bound<'py, PyUntypedArray>, owner: Bound<'py, PyAny>) -> PyResult<()> {
    let py = array.py();
    // SAFETY: the borrow keeps the ndarray alive, and NumPy consumes the reference to the owner.
    match unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), owner.into_ptr()) } < 0 {
        true => Err(PyErr::fetch(py)),
        false => Ok(()),
    }
}

/// Creates an uninitialized ndarray in C or F order.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn empty<'py>(
    shape: &mut Dims,
    descr: Bound<'py, PyAny>,
    fortran: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = descr.py();
    let shape_pointer = shape.as_mut_ptr().cast::<npyffi::npy_intp>();
    // SAFETY: the list of lengths has as many entries as the passed number of axes. `PyArray_Empty` consumes the
    // reference to the dtype. A null result means that an exception is set.
    unsafe {
        let array = PY_ARRAY_API.PyArray_Empty(
            py,
            shape.len() as c_int,
            shape_pointer,
            descr.into_ptr().cast(),
            fortran.into(),
        );
        Ok(Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked())
    }
}

/// Offset in bytes of the value from the start of a NumPy scalar object.
const VALUE_OFFSET: usize = size_of::<ffi::PyObject>();

type Scalars = [(usize, ScalarType); 16];

/// Returns the addresses of NumPy's scalar classes, each with its scalar type.
fn scalars(py: Python<'_>) -> &'static Scalars {
    static SCALARS: PyOnce<Scalars> = PyOnce::new();
    SCALARS.get_or_init(py, || {
        use NpyTypes::*;
        let long = if cfg!(windows) {
            (ScalarType::Int32, ScalarType::UInt32)
        } else {
            (ScalarType::Int64, ScalarType::UInt64)
        };
        [
            (PyFloatArrType_Type, ScalarType::Float32),
            (PyIntArrType_Type, ScalarType::Int32),
            (PyDoubleArrType_Type, ScalarType::Float64),
            (PyLongArrType_Type, long.0),
            (PyUIntArrType_Type, ScalarType::UInt32),
            (PyULongArrType_Type, long.1),
            (PyLongLongArrType_Type, ScalarType::Int64),
            (PyULongLongArrType_Type, ScalarType::UInt64),
            (PyBoolArrType_Type, ScalarType::Bool),
            (PyByteArrType_Type, ScalarType::Int8),
            (PyUByteArrType_Type, ScalarType::UInt8),
            (PyShortArrType_Type, ScalarType::Int16),
            (PyUShortArrType_Type, ScalarType::UInt16),
            (PyHalfArrType_Type, ScalarType::Float16),
            (PyCFloatArrType_Type, ScalarType::Complex64),
            (PyCDoubleArrType_Type, ScalarType::Complex128),
        ]
        // SAFETY: this thread holds the GIL, and the import of PyGPU's module has imported NumPy.
        .map(|(class, kind)| (unsafe { npyffi::get_type_object(py, class) } as usize, kind))
    })
}

/// Returns the type and the bytes of a NumPy scalar whose class is exactly one of [`scalars`]. The bytes are read
/// directly behind the object's header, because a call of NumPy costs more than the rest of an argument's conversion.
#[inline]
pub(crate) fn numpy_scalar<'a>(value: &'a Bound<'_, PyAny>) -> Option<(ScalarType, &'a [u8])> {
    let class = class_of(value) as usize;
    let (_, kind) = scalars(value.py()).iter().find(|(candidate, _)| *candidate == class)?;
    // SAFETY: objects of NumPy's scalar classes consist of a header and the value, which never changes, so the value's
    // bytes may be borrowed as long as the object.
    let bytes = unsafe {
        let first = value.as_ptr().cast::<u8>().add(VALUE_OFFSET);
        std::slice::from_raw_parts(first, DType::new(*kind).itemsize())
    };
    Some((*kind, bytes))
}

/// Returns whether an object is a bool of Python or NumPy. Both may have an `__index__`, NumPy's before version 2.3, but
/// must not be converted to integers.
pub(crate) fn is_bool(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, NumPy keeps the class alive, and the call only reads the types.
    unsafe {
        let class = npyffi::get_type_object(value.py(), NpyTypes::PyBoolArrType_Type);
        ffi::PyBool_Check(value.as_ptr()) != 0 || ffi::PyObject_TypeCheck(value.as_ptr(), class) != 0
    }
}

/// Returns whether an object is a NumPy scalar of any type.
pub(crate) fn is_numpy_scalar(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, NumPy keeps the class alive, and the call only reads the types.
    unsafe {
        let generic = npyffi::get_type_object(value.py(), NpyTypes::PyGenericArrType_Type);
        ffi::PyObject_TypeCheck(value.as_ptr(), generic) != 0
    }
}
