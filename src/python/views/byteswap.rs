//! Defines the method `a.byteswap()`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_like};
use crate::gil::WithoutGil;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_layout::{Axis, Layout};

/// Order in which a view of an array's single bytes contains the bytes of each number: as stored, or reversed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Stored,
    Swapped,
}

/// Returns a view of the array's single bytes. The view has two axes after the axes of the array: one for the parts of
/// a complex number, and one for the bytes of a part or real number.
fn bytes_view(array: &Array, order: ByteOrder) -> Result<Array> {
    let layout = array.layout();
    let parts = if array.dtype().kind().is_complex() { 2 } else { 1 };
    let width = layout.itemsize() / parts;
    let axes = layout.shape().zip(layout.strides()).map(|(len, stride)| Axis { len, stride });
    let part = Axis { len: parts, stride: width };
    let (byte, first) = match order {
        ByteOrder::Stored => (Axis { len: width, stride: 1 }, 0),
        ByteOrder::Swapped => (Axis { len: width, stride: -1 }, width - 1),
    };
    // The offset of an empty array stays unchanged, because the array has no last byte.
    let first = if layout.is_empty() { 0 } else { first };
    let bytes = Layout::over_axes(axes.chain([part, byte]), layout.offset() + first, 1)?;
    array.view_as(bytes, DType::new(ScalarType::UInt8))
}

/// Copies an array to new memory, with the bytes of each number reversed.
fn swapped_copy(array: &Array) -> Result<Array> {
    let swapped = Array::on_new_memory(array.layout().dense_like(), array.dtype(), stream::current(array.device()))?;
    let (target, source) = (bytes_view(&swapped, ByteOrder::Stored)?, bytes_view(array, ByteOrder::Swapped)?);
    copy::between(&target, &source, &stream::current(array.device()))?;
    Ok(swapped)
}

#[pymethods]
impl GpuArray {
    /// Reverse the bytes of each number, or of each part of a complex number. The dtype stays the same.
    ///
    /// Parameters
    /// ----------
    /// inplace : bool, optional
    ///     Change the array itself instead of a copy.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     A new array, or the array itself for `inplace`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For structured dtypes: swap the bytes of each field.
    /// ValueError
    ///     If `inplace` is true and the array is read-only.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([1, 256]).astype('int16').byteswap().tolist()
    /// [256, 1]
    #[pyo3(signature = (inplace: "bool" = false) -> "Self")]
    fn byteswap<'py>(slf: &Bound<'py, Self>, inplace: bool) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let array = slf.get().array(py)?;
        if array.dtype().kind() == ScalarType::Opaque {
            let dtype = array.dtype().name();
            return Err(PyTypeError::new_err(format!(
                "byteswap: items of {dtype} have fields; swap those of each field"
            )));
        }
        if inplace {
            array.check_writable("byteswap")?;
        }
        let _inherited = allocator_inheritance::inherit(py, std::iter::once(array))?;
        let swapped = py.without_gil(|| {
            let swapped = swapped_copy(array)?;
            if inplace {
                copy::between(array, &swapped, &stream::current(array.device()))?;
            }
            Ok::<_, pygpu_base::error::Error>(swapped)
        })?;
        if inplace { Ok(slf.clone()) } else { new_like(slf, Self::from_array(swapped)) }
    }
}
