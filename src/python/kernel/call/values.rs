//! Conversion of NumPy scalars, ctypes objects and Python scalars to bytes of kernel parameters.
//!
//! The value of a NumPy scalar follows the object's header and is read there: a NumPy call would cost more than the
//! rest of the argument's processing.

use std::ffi::{c_int, c_void};

use numpy::npyffi::{self, NpyTypes};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

use crate::convert::dtype as dtypes;
use crate::convert::ndarray;
use crate::convert::strict;
use crate::once::{PyOnce, intern};
use pygpu_base::dtype::{DType, Kind};
use pygpu_kernel::Arguments;

/// Offset of the value in a NumPy scalar.
const VALUE_OFFSET: usize = size_of::<ffi::PyObject>();

type Scalars = [(usize, Kind); 16];

/// The classes of NumPy's scalars by address.
fn scalars(py: Python<'_>) -> &'static Scalars {
    static SCALARS: PyOnce<Scalars> = PyOnce::new();
    SCALARS.get_or_init(py, || {
        use NpyTypes::*;
        let long = if cfg!(windows) { (Kind::Int32, Kind::UInt32) } else { (Kind::Int64, Kind::UInt64) };
        [
            (PyFloatArrType_Type, Kind::Float32),
            (PyIntArrType_Type, Kind::Int32),
            (PyDoubleArrType_Type, Kind::Float64),
            (PyLongArrType_Type, long.0),
            (PyUIntArrType_Type, Kind::UInt32),
            (PyULongArrType_Type, long.1),
            (PyLongLongArrType_Type, Kind::Int64),
            (PyULongLongArrType_Type, Kind::UInt64),
            (PyBoolArrType_Type, Kind::Bool),
            (PyByteArrType_Type, Kind::Int8),
            (PyUByteArrType_Type, Kind::UInt8),
            (PyShortArrType_Type, Kind::Int16),
            (PyUShortArrType_Type, Kind::UInt16),
            (PyHalfArrType_Type, Kind::Float16),
            (PyCFloatArrType_Type, Kind::Complex64),
            (PyCDoubleArrType_Type, Kind::Complex128),
        ]
        // SAFETY: the GIL is held, and NumPy was imported with the module.
        .map(|(class, kind)| (unsafe { npyffi::get_type_object(py, class) } as usize, kind))
    })
}

/// Type and bytes of a NumPy scalar, if its class is exactly one of NumPy's named types.
#[inline]
pub(crate) fn numpy_scalar<'a>(value: &'a Bound<'_, PyAny>) -> Option<(Kind, &'a [u8])> {
    if value.is_exact_instance_of::<PyFloat>() {
        return None; // the most common case, excluded before searching NumPy's classes
    }
    // SAFETY: the type of a live object.
    let class = unsafe { ffi::Py_TYPE(value.as_ptr()) } as usize;
    let (_, kind) = scalars(value.py()).iter().find(|(known, _)| *known == class)?;
    // SAFETY: objects of these classes consist of a header and an immutable value.
    let bytes = unsafe {
        let first = value.as_ptr().cast::<u8>().add(VALUE_OFFSET);
        std::slice::from_raw_parts(first, DType::new(*kind).itemsize())
    };
    Some((*kind, bytes))
}

/// Whether an object is a NumPy scalar of any type.
pub(crate) fn is_generic(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object against a class that NumPy keeps alive.
    unsafe {
        let generic = npyffi::get_type_object(value.py(), NpyTypes::PyGenericArrType_Type);
        ffi::PyObject_TypeCheck(value.as_ptr(), generic) != 0
    }
}

/// Dtype and bytes of a NumPy scalar of a less common type (structured, `ml_dtypes`), or of a contiguous ndarray.
pub(crate) fn bytes_of_numpy(value: &Bound<'_, PyAny>) -> PyResult<(DType, Vec<u8>)> {
    let py = value.py();
    let convert = ndarray::numpy(py)?.getattr(intern!(py, "ascontiguousarray"))?;
    let array = strict::as_on_a_gpu(|| convert.call1((value,)))?;
    let array = array.cast_into::<PyUntypedArray>()?;
    let dtype = dtypes::from_numpy(array.dtype().as_any())?;
    // SAFETY: a live, contiguous ndarray of this size.
    let bytes =
        unsafe { std::slice::from_raw_parts(ndarray::address(&array) as *const u8, array.len() * dtype.itemsize()) };
    Ok((dtype, bytes.to_vec()))
}

/// The common base class of `ctypes` objects.
fn ctypes_base(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static BASE: PyOnce<Py<PyAny>> = PyOnce::new();
    let find = || -> PyResult<Py<PyAny>> {
        Ok(py.import("_ctypes")?.getattr("Structure")?.getattr("__mro__")?.get_item(1)?.unbind())
    };
    Ok(BASE.get_or_try_init(py, find)?.bind(py))
}

/// The bytes of a ctypes object: a number, a pointer, or a struct.
pub(crate) fn bytes_of_ctypes(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if !value.is_instance(ctypes_base(value.py())?)? {
        return Ok(None);
    }
    let mut view = ffi::Py_buffer::new();
    // SAFETY: the view is writable and released below, after the bytes were copied.
    unsafe {
        if ffi::PyObject_GetBuffer(value.as_ptr(), &mut view, ffi::PyBUF_SIMPLE as c_int) != 0 {
            return Err(PyErr::fetch(value.py()));
        }
        let bytes = if view.len == 0 {
            Vec::new()
        } else {
            std::slice::from_raw_parts(view.buf.cast::<u8>(), view.len as usize).to_vec()
        };
        ffi::PyBuffer_Release(&mut view);
        Ok(Some(bytes))
    }
}

/// Adds a Python scalar as a value of a type. Returns `Ok(false)` for an object that is not a number of this kind.
///
/// # Errors
/// `ValueError` for an integer out of the type's range.
#[inline]
pub(crate) fn push_number(arguments: &mut Arguments, kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let object = value.as_ptr();
    // SAFETY: type checks of a live object.
    let (is_int, is_float) = unsafe { (ffi::PyLong_Check(object) != 0, ffi::PyFloat_Check(object) != 0) };
    match kind {
        Kind::Float32 | Kind::Float64 if is_int || is_float => {
            // SAFETY: a live int or float; -1 may indicate an error, which is then set.
            let number = unsafe { ffi::PyFloat_AsDouble(object) };
            if number == -1.0
                && let Some(error) = PyErr::take(value.py())
            {
                return Err(error);
            }
            match kind {
                Kind::Float32 => arguments.push(&(number as f32).to_le_bytes()),
                _ => arguments.push_word(number.to_bits()),
            }
            Ok(true)
        }
        Kind::Bool | Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::Int64 if is_int => {
            push_signed(arguments, kind, value)
        }
        Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64 if is_int => push_unsigned(arguments, kind, value),
        _ => push_rare(arguments, kind, value),
    }
}

/// The value of an int, and whether it is out of the range of a signed 64-bit integer.
#[inline]
fn signed(value: &Bound<'_, PyAny>) -> (i64, bool) {
    let mut overflow: c_int = 0;
    // SAFETY: a live int.
    let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow) };
    (number, overflow != 0)
}

/// The range of a signed integer type, or of bool.
#[inline]
fn signed_range(kind: Kind) -> (i64, i64) {
    match kind {
        Kind::Bool => (0, 1),
        Kind::Int8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        Kind::Int16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Kind::Int32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// The maximum of an unsigned integer type.
#[inline]
fn unsigned_range(kind: Kind) -> u64 {
    match kind {
        Kind::UInt8 => u64::from(u8::MAX),
        Kind::UInt16 => u64::from(u16::MAX),
        Kind::UInt32 => u64::from(u32::MAX),
        _ => u64::MAX,
    }
}

/// The value of an int, if it fits into an unsigned 64-bit integer.
#[inline]
fn unsigned(value: &Bound<'_, PyAny>) -> Option<u64> {
    let (number, overflow) = signed(value);
    if overflow { value.extract::<u64>().ok() } else { u64::try_from(number).ok() }
}

/// Whether a Python int is in the range of an integer type or of bool.
#[inline]
pub(crate) fn is_in_range(kind: Kind, value: &Bound<'_, PyAny>) -> bool {
    if matches!(kind, Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64) {
        return unsigned(value).is_some_and(|number| number <= unsigned_range(kind));
    }
    let ((number, overflow), (least, most)) = (signed(value), signed_range(kind));
    !overflow && (least..=most).contains(&number)
}

/// Adds a NumPy integer for a parameter of a wider type that contains its value.
#[cold]
pub(crate) fn widen(arguments: &mut Arguments, wanted: Kind, kind: Kind, bytes: &[u8]) -> bool {
    let is_whole = |kind| is_integer(kind) && kind != Kind::Bool;
    let is_wider = DType::new(wanted).itemsize() > bytes.len();
    if !(is_wider && is_whole(wanted) && is_whole(kind)) {
        return false;
    }
    let is_signed = |kind| matches!(kind, Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::Int64);
    let is_negative = is_signed(kind) && bytes.last().is_some_and(|last| last & 0x80 != 0);
    if is_negative && !is_signed(wanted) {
        return false;
    }
    let mut word = [if is_negative { 0xff } else { 0 }; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    arguments.push(&word[..DType::new(wanted).itemsize()]);
    true
}

#[inline]
fn push_signed(arguments: &mut Arguments, kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (number, overflow) = signed(value);
    let (least, most) = signed_range(kind);
    if overflow || number < least || number > most {
        return Err(out_of_range(kind, value, &least, &most));
    }
    arguments.push_word(number as u64); // in little-endian order the first bytes are the narrower value
    Ok(true)
}

#[inline]
fn push_unsigned(arguments: &mut Arguments, kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let most = unsigned_range(kind);
    match unsigned(value).filter(|number| *number <= most) {
        Some(number) => arguments.push_word(number),
        None => return Err(out_of_range(kind, value, &0, &most)),
    }
    Ok(true)
}

#[cold]
fn out_of_range(
    kind: Kind,
    value: &Bound<'_, PyAny>,
    least: &dyn std::fmt::Display,
    most: &dyn std::fmt::Display,
) -> PyErr {
    let name = DType::new(kind).name();
    PyValueError::new_err(format!("{value} is outside of {name}, which holds {least} to {most}"))
}

/// Adds a number of a type without a Python equivalent, converted by NumPy or `ml_dtypes`.
#[cold]
fn push_rare(arguments: &mut Arguments, kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_real = value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>();
    let fits = match kind {
        Kind::Complex64 | Kind::Complex128 => is_real || value.is_instance_of::<PyComplex>(),
        Kind::Opaque => false,
        // An integer-like object of another library is accepted; a float never is.
        _ if is_integer(kind) => is_index(value) && !value.is_instance_of::<PyBool>(),
        _ => is_real,
    };
    if !fits {
        return Ok(false);
    }
    let py = value.py();
    if is_integer(kind) {
        // SAFETY: a live object; null means an exception.
        let number = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyNumber_Index(value.as_ptr()))? };
        return push_number(arguments, kind, &number);
    }
    let class = dtypes::to_python(py, DType::new(kind))?.getattr(intern!(py, "type"))?;
    let (_, bytes) = bytes_of_numpy(&class.call1((value,))?)?;
    arguments.push(&bytes);
    Ok(true)
}

pub(crate) fn is_integer(kind: Kind) -> bool {
    use Kind::*;
    matches!(kind, Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
}

/// Whether an object has `__index__`.
pub(crate) fn is_index(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyIndex_Check(value.as_ptr()) != 0 }
}

/// A suggested replacement for a Python scalar whose parameter type is unknown.
#[cold]
pub(crate) fn advice(value: &Bound<'_, PyAny>) -> String {
    let text = if value.is_instance_of::<PyBool>() {
        format!("numpy.bool_({value})")
    } else if value.is_instance_of::<PyInt>() {
        format!("numpy.int32({value})")
    } else {
        format!("numpy.float32({value})")
    };
    format!("the type of the parameter is not known, so say it: {text}, or kernel.prepare(...)")
}

/// Adds an address as the bytes of a pointer.
#[inline]
pub(crate) fn push_address(arguments: &mut Arguments, address: usize) {
    arguments.push_word(address as u64);
}

/// The address in an int.
pub(crate) fn address(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    // Much faster than conversion as unsigned, which reads the int byte by byte.
    if let (number, false) = signed(value)
        && let Ok(address) = usize::try_from(number)
    {
        return Ok(address);
    }
    value.extract::<usize>().map_err(|_| PyTypeError::new_err(format!("{value} is no address")))
}

const _: () = assert!(size_of::<*mut c_void>() == 8, "a pointer is pushed as eight bytes");
