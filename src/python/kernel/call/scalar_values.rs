//! Converts NumPy scalars, ctypes objects and Python numbers to the bytes of kernel parameters.

use std::ffi::c_void;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

use crate::convert::dtype as dtypes;
use crate::convert::ndarray;
use crate::convert::strict_mode;
use crate::ffi;
use crate::py_once::{PyOnce, intern};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_kernel::Arguments;

/// Returns the type and the bytes of an instance of one of NumPy's own scalar classes. Returns `None` for other objects
/// and for instances of derived classes.
#[inline]
pub(crate) fn numpy_scalar<'a>(value: &'a Bound<'_, PyAny>) -> Option<(ScalarType, &'a [u8])> {
    if value.is_exact_instance_of::<PyFloat>() {
        return None; // Python's float, the most common class of numbers, is excluded first
    }
    ffi::ndarray::numpy_scalar(value)
}

/// The numeric type of an object. Variants without a field are types of Python numbers.
#[derive(Clone, Copy)]
pub(crate) enum HostScalar {
    /// The object is a NumPy scalar of this type.
    Typed(ScalarType),
    Bool,
    Int,
    Float,
    Complex,
}

impl HostScalar {
    /// Returns the numeric type of an object; `None` for objects that are no numbers.
    #[inline]
    pub(crate) fn read(object: &Bound<'_, PyAny>) -> Option<Self> {
        if object.is_instance_of::<PyInt>() {
            return Some(if object.is_instance_of::<PyBool>() { Self::Bool } else { Self::Int });
        }
        if let Some((kind, _)) = numpy_scalar(object) {
            return Some(Self::Typed(kind));
        }
        if object.is_instance_of::<PyFloat>() {
            return Some(Self::Float);
        }
        object.is_instance_of::<PyComplex>().then_some(Self::Complex)
    }
}

/// Appends a number, converted to the type `kind`, to the arguments. The number is a NumPy scalar of this type, or a
/// Python number. Returns `Ok(false)` for other objects.
///
/// # Errors
/// The errors of [`push_number`].
#[inline]
pub(crate) fn push_value(arguments: &mut Arguments, kind: ScalarType, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match numpy_scalar(value) {
        Some((scalar_kind, bytes)) if scalar_kind == kind => {
            arguments.push(bytes);
            Ok(true)
        }
        Some(_) => Ok(false),
        None => push_number(arguments, kind, value),
    }
}

/// Returns the dtype and the bytes of a contiguous ndarray, or of a NumPy scalar of a less common type (structured,
/// `ml_dtypes`).
pub(crate) fn numpy_bytes(value: &Bound<'_, PyAny>) -> PyResult<(DType, Vec<u8>)> {
    let py = value.py();
    let convert = ndarray::numpy(py)?.getattr(intern!(py, "ascontiguousarray"))?;
    let array = strict_mode::without_host_arrays(|| convert.call1((value,)))?;
    let array = array.cast_into::<PyUntypedArray>()?;
    let dtype = dtypes::from_numpy(array.dtype().as_any())?;
    Ok((dtype, ffi::ndarray::with_dense_bytes(&array, dtype.itemsize(), <[u8]>::to_vec)))
}

/// Returns the common base class of `ctypes` objects.
fn ctypes_base(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static BASE: PyOnce<Py<PyAny>> = PyOnce::new();
    let find = || -> PyResult<Py<PyAny>> {
        Ok(py.import("_ctypes")?.getattr("Structure")?.getattr("__mro__")?.get_item(1)?.unbind())
    };
    Ok(BASE.get_or_try_init(py, find)?.bind(py))
}

/// Returns the bytes of a ctypes number, pointer or struct; `None` for other objects.
pub(crate) fn ctypes_bytes(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if !value.is_instance(ctypes_base(value.py())?)? {
        return Ok(None);
    }
    ffi::buffer::with_bytes(value, <[u8]>::to_vec).map(Some)
}

/// Appends a Python scalar, converted to the type `kind`, to the arguments. Returns `Ok(false)` for an object that this
/// type does not accept.
///
/// # Errors
/// `ValueError` for an integer outside of the type's range.
#[inline]
pub(crate) fn push_number(arguments: &mut Arguments, kind: ScalarType, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (is_int, is_float) = (ffi::numbers::is_int(value), ffi::numbers::is_float(value));
    match kind {
        ScalarType::Float32 | ScalarType::Float64 if is_int || is_float => {
            let number = ffi::numbers::real(value)?;
            match kind {
                ScalarType::Float32 => arguments.push(&(number as f32).to_le_bytes()),
                _ => arguments.push_word(number.to_bits()),
            }
            Ok(true)
        }
        ScalarType::Bool | ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64 if is_int => {
            push_signed(arguments, kind, value)
        }
        ScalarType::UInt8 | ScalarType::UInt16 | ScalarType::UInt32 | ScalarType::UInt64 if is_int => {
            push_unsigned(arguments, kind, value)
        }
        _ => push_uncommon(arguments, kind, value),
    }
}

/// Returns the smallest and the largest value of a signed integer type or of bool.
#[inline]
fn signed_range(kind: ScalarType) -> (i64, i64) {
    match kind {
        ScalarType::Bool => (0, 1),
        ScalarType::Int8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        ScalarType::Int16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        ScalarType::Int32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Returns the largest value of an unsigned integer type.
#[inline]
fn unsigned_range(kind: ScalarType) -> u64 {
    match kind {
        ScalarType::UInt8 => u64::from(u8::MAX),
        ScalarType::UInt16 => u64::from(u16::MAX),
        ScalarType::UInt32 => u64::from(u32::MAX),
        _ => u64::MAX,
    }
}

/// Returns the value of an int; `None` if the value does not fit into an unsigned 64-bit integer.
#[inline]
fn unsigned(value: &Bound<'_, PyAny>) -> Option<u64> {
    let (number, overflow) = ffi::numbers::signed(value);
    if overflow { value.extract::<u64>().ok() } else { u64::try_from(number).ok() }
}

/// Returns whether a Python int is in the range of an integer type or of bool.
#[inline]
pub(crate) fn is_in_range(kind: ScalarType, value: &Bound<'_, PyAny>) -> bool {
    if matches!(kind, ScalarType::UInt8 | ScalarType::UInt16 | ScalarType::UInt32 | ScalarType::UInt64) {
        return unsigned(value).is_some_and(|number| number <= unsigned_range(kind));
    }
    let ((number, overflow), (least, most)) = (ffi::numbers::signed(value), signed_range(kind));
    !overflow && (least..=most).contains(&number)
}

/// Appends a NumPy integer, converted to the wider integer type `target`, to the arguments. Returns false if `target`
/// is no wider integer type, or if the value is negative and `target` is unsigned.
#[cold]
pub(crate) fn widen(arguments: &mut Arguments, target: ScalarType, kind: ScalarType, bytes: &[u8]) -> bool {
    let is_integral = |kind| is_integer(kind) && kind != ScalarType::Bool;
    let is_wider = DType::new(target).itemsize() > bytes.len();
    if !(is_wider && is_integral(target) && is_integral(kind)) {
        return false;
    }
    let is_signed = |kind| matches!(kind, ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64);
    let is_negative = is_signed(kind) && bytes.last().is_some_and(|last| last & 0x80 != 0);
    if is_negative && !is_signed(target) {
        return false;
    }
    let mut word = [if is_negative { 0xff } else { 0 }; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    arguments.push(&word[..DType::new(target).itemsize()]);
    true
}

#[inline]
fn push_signed(arguments: &mut Arguments, kind: ScalarType, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (number, overflow) = ffi::numbers::signed(value);
    let (least, most) = signed_range(kind);
    if overflow || number < least || number > most {
        return Err(out_of_range(kind, value, &least, &most));
    }
    arguments.push_word(number as u64); // on little-endian machines, the first bytes of the word are the value in the narrower type
    Ok(true)
}

#[inline]
fn push_unsigned(arguments: &mut Arguments, kind: ScalarType, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let most = unsigned_range(kind);
    match unsigned(value).filter(|number| *number <= most) {
        Some(number) => arguments.push_word(number),
        None => return Err(out_of_range(kind, value, &0, &most)),
    }
    Ok(true)
}

#[cold]
fn out_of_range(
    kind: ScalarType,
    value: &Bound<'_, PyAny>,
    least: &dyn std::fmt::Display,
    most: &dyn std::fmt::Display,
) -> PyErr {
    let name = DType::new(kind).name();
    PyValueError::new_err(format!("{value} is outside of {name}, which holds {least} to {most}"))
}

/// Appends a number in the cases that `push_number` does not convert itself: complex, float16, bfloat16 and similar
/// types, which NumPy or `ml_dtypes` converts, and objects with `__index__` for integer types.
#[cold]
fn push_uncommon(arguments: &mut Arguments, kind: ScalarType, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_real = value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>();
    let is_convertible = match kind {
        ScalarType::Complex64 | ScalarType::Complex128 => is_real || value.is_instance_of::<PyComplex>(),
        ScalarType::Opaque => false,
        // For an integer parameter, any object with `__index__` is accepted, including one of another library. A float
        // has no `__index__`.
        _ if is_integer(kind) => ffi::numbers::is_index(value) && !value.is_instance_of::<PyBool>(),
        _ => is_real,
    };
    if !is_convertible {
        return Ok(false);
    }
    let py = value.py();
    if is_integer(kind) {
        return push_number(arguments, kind, &ffi::numbers::index(value)?);
    }
    let class = dtypes::to_python(py, DType::new(kind))?.getattr(intern!(py, "type"))?;
    let (_, bytes) = numpy_bytes(&class.call1((value,))?)?;
    arguments.push(&bytes);
    Ok(true)
}

pub(crate) fn is_integer(kind: ScalarType) -> bool {
    use ScalarType::*;
    matches!(kind, Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
}

/// Returns the advice of an error message about a Python scalar whose parameter type is unknown.
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

/// Appends an address, as the eight bytes of a pointer, to the arguments.
#[inline]
pub(crate) fn push_address(arguments: &mut Arguments, address: usize) {
    arguments.push_word(address as u64);
}

/// Returns the address that an int contains.
pub(crate) fn address(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    // `signed` is tried first, because it takes much less time than `extract::<usize>`, which reads the int byte by
    // byte.
    if let (number, false) = ffi::numbers::signed(value)
        && let Ok(address) = usize::try_from(number)
    {
        return Ok(address);
    }
    value.extract::<usize>().map_err(|_| PyTypeError::new_err(format!("{value} is no address")))
}

const _: () = assert!(size_of::<*mut c_void>() == 8, "a pointer is pushed as eight bytes");
