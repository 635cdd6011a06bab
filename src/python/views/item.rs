//! Conversion of a value to the bytes of one element.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::convert::{dtype, ndarray, strict};
use crate::once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::Kind;

/// The bytes of one element.
pub(crate) type Item = SmallVec<[u8; 16]>;

/// The bytes of one element for a value that NumPy converts to the array's dtype.
///
/// # Errors
/// NumPy's error for a value that cannot be converted; `ValueError` for more than one element.
pub(crate) fn item_bytes(py: Python<'_>, array: &Array, value: &Bound<'_, PyAny>) -> PyResult<Item> {
    if let Some(bytes) = plain_number(array.dtype().kind(), value) {
        return Ok(bytes);
    }
    let item = ndarray::numpy(py)?.getattr(intern!(py, "zeros"))?.call1(((), dtype::to_python(py, array.dtype())?))?;
    strict::as_on_a_gpu(|| item.set_item((), value))?;
    let item = item.cast_into::<PyUntypedArray>()?;
    Ok(bytes_of(&item, array.dtype().itemsize()))
}

/// The bytes of a 0-d ndarray.
pub(super) fn bytes_of(item: &Bound<'_, PyUntypedArray>, itemsize: usize) -> Item {
    element(item, 0, itemsize)
}

/// The bytes of one element of a contiguous ndarray.
pub(crate) fn element(array: &Bound<'_, PyUntypedArray>, place: usize, itemsize: usize) -> Item {
    let bytes = PyUntypedArrayMethods::len(array) * itemsize;
    // SAFETY: a live, contiguous ndarray with elements of this size.
    let all = unsafe { std::slice::from_raw_parts(ndarray::address(array) as *const u8, bytes) };
    all[place * itemsize..][..itemsize].into()
}

/// Converts a Python `int` or `float` that the type can represent. All other values, and those that NumPy would reject
/// or warn about, are left to NumPy.
pub(super) fn plain_number(kind: Kind, value: &Bound<'_, PyAny>) -> Option<Item> {
    let object = value.as_ptr();
    // SAFETY: type checks of a live object.
    let (is_int, is_float) = unsafe { (ffi::PyLong_CheckExact(object) != 0, ffi::PyFloat_CheckExact(object) != 0) };
    if is_float {
        // SAFETY: a live float.
        return real_bytes(kind, unsafe { ffi::PyFloat_AsDouble(object) });
    }
    if !is_int {
        return None;
    }
    let mut overflow = 0;
    // SAFETY: a live int.
    let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(object, &mut overflow) };
    (overflow == 0).then(|| whole_bytes(kind, number)).flatten()
}

fn real_bytes(kind: Kind, number: f64) -> Option<Item> {
    match kind {
        Kind::Float64 => Some(Item::from_slice(&number.to_le_bytes())),
        Kind::Float32 if number.is_finite() == (number as f32).is_finite() => {
            Some(Item::from_slice(&(number as f32).to_le_bytes()))
        }
        _ => None,
    }
}

fn whole_bytes(kind: Kind, number: i64) -> Option<Item> {
    fn bytes<T: TryFrom<i64>, const N: usize>(number: i64, to_bytes: impl Fn(T) -> [u8; N]) -> Option<Item> {
        T::try_from(number).ok().map(|number| Item::from_slice(&to_bytes(number)))
    }
    match kind {
        Kind::Int8 => bytes(number, i8::to_le_bytes),
        Kind::Int16 => bytes(number, i16::to_le_bytes),
        Kind::Int32 => bytes(number, i32::to_le_bytes),
        Kind::Int64 => bytes(number, i64::to_le_bytes),
        Kind::UInt8 => bytes(number, u8::to_le_bytes),
        Kind::UInt16 => bytes(number, u16::to_le_bytes),
        Kind::UInt32 => bytes(number, u32::to_le_bytes),
        Kind::UInt64 => bytes(number, u64::to_le_bytes),
        _ => real_bytes(kind, number as f64),
    }
}
