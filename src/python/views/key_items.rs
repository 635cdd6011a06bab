//! Reads the items of an advanced key, i.e. of a key that contains arrays.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyTuple};

use crate::array::class::GpuArray;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::ffi::ndarray::is_bool;
use crate::gil::WithoutGil;
use crate::host_transfers::device_arrays;
use crate::host_transfers::transfer;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy::Bounds;
use pygpu_device::stream;
use pygpu_layout::{Dims, Layout, MemoryOrder};
use pygpu_ops::selection;

/// One item of a key.
pub(super) enum KeyItem<'py> {
    /// An index array for one axis, in device memory, and the rule by which the kernel treats indices out of range.
    Indices(Array, Bounds),
    /// A zero-dimensional integer array in device memory. Its value is stored too if the key contains a NumPy array. As
    /// in NumPy, the item counts as an integer if the key contains other arrays, and otherwise as an array.
    Single(Array, Option<Bound<'py, PyAny>>),
    /// A mask in device memory: for one or more axes, or without axes, i.e. a truth value.
    Mask(Array),
    /// A mask in host memory, for one or more axes.
    HostMask(Bound<'py, PyUntypedArray>),
    /// A truth value, in the form of indices into an additional axis of length 1: one 0 for true, no index for false.
    Truth(Array),
    Integer(Bound<'py, PyAny>),
    Slice(Bound<'py, PyAny>),
    NewAxis,
    Ellipsis,
}

impl KeyItem<'_> {
    /// Returns the number of array axes to which the item applies.
    pub(super) fn consumed(&self) -> usize {
        match self {
            Self::Indices(..) | Self::Single(..) | Self::Integer(_) | Self::Slice(_) => 1,
            Self::Mask(mask) => mask.layout().ndim(),
            Self::HostMask(mask) => mask.ndim(),
            Self::Truth(_) | Self::NewAxis | Self::Ellipsis => 0,
        }
    }

    /// Returns the item's shape if the item is a mask; `None` for other items.
    pub(super) fn mask_shape(&self) -> Option<Dims> {
        match self {
            Self::Mask(mask) => Some(mask.layout().shape().collect()),
            Self::HostMask(mask) => Some(mask.shape().iter().map(|&len| len as i64).collect()),
            _ => None,
        }
    }

    /// Whether NumPy treats the item as an advanced index. The axes that all advanced indices of a key select together
    /// are adjacent in the result.
    pub(super) const fn is_advanced(&self) -> bool {
        !matches!(self, Self::Slice(_) | Self::NewAxis | Self::Ellipsis)
    }

    /// Whether the item is an index array, a mask or a truth value. If a key contains one, its zero-dimensional integer
    /// arrays count as integers.
    const fn is_array(&self) -> bool {
        matches!(self, Self::Indices(..) | Self::Mask(_) | Self::HostMask(_) | Self::Truth(_))
    }
}

/// Reads the items of a key. Returns `None` if NumPy must handle the key.
///
/// # Errors
/// Driver errors.
pub(super) fn read<'py>(array: &Array, key: &Bound<'py, PyAny>) -> PyResult<Option<Vec<KeyItem<'py>>>> {
    let mut items = Vec::new();
    let raw_items: Vec<Bound<'py, PyAny>> = match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    for item in raw_items {
        match read_item(array, &item)? {
            Some(item) => items.push(item),
            None => return Ok(None),
        }
    }
    let ellipses = items.iter().filter(|item| matches!(item, KeyItem::Ellipsis)).count();
    let consumed: usize = items.iter().map(KeyItem::consumed).sum();
    Ok((ellipses <= 1 && consumed <= array.layout().ndim()).then_some(items))
}

fn read_item<'py>(array: &Array, item: &Bound<'py, PyAny>) -> PyResult<Option<KeyItem<'py>>> {
    let py = item.py();
    if let Ok(indices) = item.cast::<GpuArray>() {
        let indices = indices.get().array(py)?;
        if indices.device() != array.device() {
            return Ok(None);
        }
        return Ok(match (indices.dtype().kind(), indices.layout().ndim()) {
            (ScalarType::Bool, _) => Some(KeyItem::Mask(indices.clone())),
            _ if !is_integer(indices.dtype()) => None,
            (_, 0) => Some(KeyItem::Single(indices.clone(), None)),
            _ => Some(KeyItem::Indices(indices.clone(), Bounds::Checked)),
        });
    }
    Ok(Some(if item.is_none() {
        KeyItem::NewAxis
    } else if item.is(PyEllipsis::get(py)) {
        KeyItem::Ellipsis
    } else if item.cast::<PySlice>().is_ok() {
        KeyItem::Slice(item.clone())
    } else if is_bool(item) {
        KeyItem::Truth(truth(py, array, item.is_truthy()?)?)
    } else if item.hasattr(intern!(py, "__len__"))? {
        return read_host(array, item);
    } else {
        KeyItem::Integer(item.clone())
    }))
}

/// Reads an item with values on the host: an ndarray, a list, or a tuple that is nested in the key's tuple.
fn read_host<'py>(array: &Array, item: &Bound<'py, PyAny>) -> PyResult<Option<KeyItem<'py>>> {
    let py = item.py();
    let Ok(mut indices) = ndarray::as_ndarray(item, None) else { return Ok(None) };
    let is_empty_list = indices.len() == 0 && item.cast::<PyUntypedArray>().is_err();
    if is_empty_list {
        let integers = indices.call_method1(intern!(py, "astype"), (intern!(py, "int64"),))?;
        indices = integers.cast_into::<PyUntypedArray>()?;
    }
    let Ok(kind) = dtype::from_numpy(indices.dtype().as_any()) else { return Ok(None) };
    if kind.kind() == ScalarType::Bool {
        return Ok(Some(match indices.ndim() {
            0 => KeyItem::Truth(truth(py, array, indices.is_truthy()?)?),
            _ => KeyItem::HostMask(indices),
        }));
    }
    if !is_integer(kind) {
        return Ok(None);
    }
    let uploaded = device_arrays::upload_new(py, &indices, kind, array.device())?;
    Ok(Some(match indices.ndim() {
        0 => KeyItem::Single(uploaded, Some(indices.call_method0(intern!(py, "item"))?)),
        _ => KeyItem::Indices(uploaded, Bounds::Checked),
    }))
}

/// Creates the index array for a truth value: one 0 if it is true, and no index if it is false.
fn truth(py: Python<'_>, array: &Array, is_true: bool) -> PyResult<Array> {
    let indices_ = device_arrays::new_array(
        py,
        &[i64::from(is_true)],
        DType::new(ScalarType::Int64),
        MemoryOrder::C,
        array.device(),
    )?;
    py.without_gil(|| pygpu_copy::fill(&indices_, &[0; 8], &stream::current(array.device())))?;
    Ok(indices_)
}

/// Replaces masks by index arrays, and, if the key contains other arrays, zero-dimensional arrays by integers. Returns
/// `None` if the shape of a mask does not match the array.
///
/// # Errors
/// Driver errors.
pub(super) fn resolve_arrays<'py>(
    py: Python<'py>,
    array: &Array,
    items: Vec<KeyItem<'py>>,
) -> PyResult<Option<Vec<KeyItem<'py>>>> {
    let has_arrays = items.iter().any(KeyItem::is_array);
    let mut remaining: usize = items.iter().map(KeyItem::consumed).sum();
    let mut axis = 0;
    let mut resolve_arrays = Vec::new();
    for item in items {
        let consumed = item.consumed();
        match item {
            KeyItem::Single(_, Some(integer)) if has_arrays => resolve_arrays.push(KeyItem::Integer(integer)),
            // The zero-dimensional array is downloaded and becomes an integer, because the bounds of an integer are
            // checked even if the other items select no element.
            KeyItem::Single(indices, None) if has_arrays => {
                resolve_arrays.push(KeyItem::Integer(scalar_value(py, &indices)?))
            }
            KeyItem::Single(indices, _) => resolve_arrays.push(KeyItem::Indices(indices, Bounds::Checked)),
            KeyItem::Mask(mask) if consumed == 0 => {
                let value = scalar_value(py, &mask)?.is_truthy()?;
                resolve_arrays.push(KeyItem::Truth(truth(py, array, value)?));
            }
            mask @ (KeyItem::Mask(_) | KeyItem::HostMask(_)) => {
                if !mask.mask_shape().is_some_and(|shape| mask_fits(array.layout(), axis, shape.into_iter())) {
                    return Ok(None);
                }
                resolve_arrays.extend(true_indices(py, array, &mask)?);
            }
            KeyItem::Ellipsis => {
                axis += array.layout().ndim().saturating_sub(axis + remaining);
                resolve_arrays.push(KeyItem::Ellipsis);
            }
            other => resolve_arrays.push(other),
        }
        axis += consumed;
        remaining -= consumed;
    }
    Ok(Some(resolve_arrays))
}

/// Returns the indices of the true elements of a mask: one index array for each axis of the mask.
fn true_indices<'py>(py: Python<'py>, array: &Array, mask: &KeyItem<'py>) -> PyResult<Vec<KeyItem<'py>>> {
    match mask {
        KeyItem::Mask(mask) => {
            let positions = py.without_gil(|| selection::nonzero(mask, &stream::current(mask.device())))?;
            (0..mask.layout().ndim())
                .map(|row| Ok(KeyItem::Indices(matrix_row(&positions, row)?, Bounds::Known)))
                .collect()
        }
        KeyItem::HostMask(mask) => {
            let positions = mask.call_method0(intern!(py, "nonzero"))?.cast_into::<PyTuple>()?;
            let upload = |indices: Bound<'py, PyAny>| {
                let indices = indices.cast_into::<PyUntypedArray>()?;
                let kind = dtype::from_numpy(indices.dtype().as_any())?;
                Ok(KeyItem::Indices(device_arrays::upload_new(py, &indices, kind, array.device())?, Bounds::Known))
            };
            positions.iter().map(upload).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// Whether a mask's shape equals the lengths of the array's axes from `axis` on.
pub(super) fn mask_fits(layout: &Layout, axis: usize, shape: impl Iterator<Item = i64>) -> bool {
    layout.shape().skip(axis).zip(shape).all(|(length, masked)| length == masked)
}

/// Returns a view of row `row` of a matrix of 64-bit indices.
pub(super) fn matrix_row(positions: &Array, row: usize) -> PyResult<Array> {
    let layout = positions.layout();
    let (count, step) = (layout.axes()[1].len, layout.axes()[0].stride);
    let offset = layout.offset() + row as i64 * if count > 0 { step } else { 0 };
    Ok(positions.view(Layout::strided(&[count], &[8], offset, 8)?)?)
}

/// Returns the value of a zero-dimensional array.
fn scalar_value<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    transfer::to_ndarray(py, array)?.call_method0(intern!(py, "item"))
}

pub(super) fn is_integer(dtype: DType) -> bool {
    matches!(
        dtype.kind(),
        ScalarType::Int8
            | ScalarType::Int16
            | ScalarType::Int32
            | ScalarType::Int64
            | ScalarType::UInt8
            | ScalarType::UInt16
            | ScalarType::UInt32
            | ScalarType::UInt64
    )
}
