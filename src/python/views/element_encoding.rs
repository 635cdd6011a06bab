//! Converts a value to the bytes of one array element.

use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use smallvec::SmallVec;

use crate::convert::{dtype, ndarray, strict_mode};
use crate::ffi::ndarray::with_dense_bytes;
use crate::ffi::numbers;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::ScalarType;

/// The bytes of one element.
pub(crate) type ElementBytes = SmallVec<[u8; 16]>;

/// Converts a value to the bytes of an element of `array`, by NumPy's rules for assignment.
///
/// # Errors
/// NumPy's error for a value that cannot be converted; `ValueError` for a value with more than one element.
pub(crate) fn item_bytes(py: Python<'_>, array: &Array, value: &Bound<'_, PyAny>) -> PyResult<ElementBytes> {
    if let Some(bytes) = python_number_bytes(array.dtype().kind(), value) {
        return Ok(bytes);
    }
    let item = ndarray::numpy(py)?.getattr(intern!(py, "zeros"))?.call1(((), dtype::to_python(py, array.dtype())?))?;
    strict_mode::without_host_arrays(|| item.set_item((), value))?;
    let item = item.cast_into::<PyUntypedArray>()?;
    Ok(scalar_bytes(&item, array.dtype().itemsize()))
}

/// Returns the bytes of the only element of a zero-dimensional ndarray.
pub(super) fn scalar_bytes(item: &Bound<'_, PyUntypedArray>, itemsize: usize) -> ElementBytes {
    element(item, 0, itemsize)
}

/// Returns the bytes of one element of a contiguous ndarray.
pub(crate) fn element(array: &Bound<'_, PyUntypedArray>, index: usize, itemsize: usize) -> ElementBytes {
    with_dense_bytes(array, itemsize, |bytes_of_array| bytes_of_array[index * itemsize..][..itemsize].into())
}

/// Converts a Python `int` or `float` to the bytes of an element of type `kind`. Returns `None` for other objects and
/// other types, and for a value outside the type's range, because NumPy rejects or reports such a value.
pub(super) fn python_number_bytes(kind: ScalarType, value: &Bound<'_, PyAny>) -> Option<ElementBytes> {
    if let Ok(number) = value.cast_exact::<PyFloat>() {
        return real_bytes(kind, number.value());
    }
    if !numbers::is_exact_int(value) {
        return None;
    }
    let (number, overflow) = numbers::signed(value);
    (!overflow).then(|| integer_bytes(kind, number)).flatten()
}

fn real_bytes(kind: ScalarType, number: f64) -> Option<ElementBytes> {
    match kind {
        ScalarType::Float64 => Some(ElementBytes::from_slice(&number.to_le_bytes())),
        ScalarType::Float32 if number.is_finite() == (number as f32).is_finite() => {
            Some(ElementBytes::from_slice(&(number as f32).to_le_bytes()))
        }
        _ => None,
    }
}

fn integer_bytes(kind: ScalarType, number: i64) -> Option<ElementBytes> {
    fn bytes<T: TryFrom<i64>, const N: usize>(number: i64, to_bytes: impl Fn(T) -> [u8; N]) -> Option<ElementBytes> {
        T::try_from(number).ok().map(|number| ElementBytes::from_slice(&to_bytes(number)))
    }
    match kind {
        ScalarType::Int8 => bytes(number, i8::to_le_bytes),
        ScalarType::Int16 => bytes(number, i16::to_le_bytes),
        ScalarType::Int32 => bytes(number, i32::to_le_bytes),
        ScalarType::Int64 => bytes(number, i64::to_le_bytes),
        ScalarType::UInt8 => bytes(number, u8::to_le_bytes),
        ScalarType::UInt16 => bytes(number, u16::to_le_bytes),
        ScalarType::UInt32 => bytes(number, u32::to_le_bytes),
        ScalarType::UInt64 => bytes(number, u64::to_le_bytes),
        _ => real_bytes(kind, number as f64),
    }
}
