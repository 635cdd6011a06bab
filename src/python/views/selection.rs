//! A key with integer or boolean arrays as the core wants it: the axes that stay, and the index arrays of the others.
//!
//! What is unusual or wrong is left to NumPy: there is no plan then, and the caller asks NumPy itself. So the rules here
//! need not repeat NumPy's refusals, only its answers.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PySlice, PyTuple};

use super::basic;
use crate::array::Array;
use crate::copy::{Indexed, Selection};
use crate::dtype::{DType, Kind};
use crate::layout::{Dims, Indexer, Layout, broadcast_shapes};
use crate::python::array::class::GpuArray;
use crate::python::convert::dtype;
use crate::python::convert::ndarray;
use crate::python::host::new;
use crate::python::host::transfer;
use crate::python::once::intern;

/// One item of a key.
enum Item<'py> {
    /// Integers for one axis, on the device.
    Indices(Array),
    /// One integer in an array without axes: an integer beside arrays, an array where it is the only one, as in NumPy. Its value, if
    /// it is on the host.
    Single(Array, Option<Bound<'py, PyAny>>),
    Integer(Bound<'py, PyAny>),
    Slice(Bound<'py, PyAny>),
    NewAxis,
    Ellipsis,
}

impl Item<'_> {
    const fn consumes(&self) -> bool {
        matches!(self, Self::Indices(_) | Self::Single(..) | Self::Integer(_) | Self::Slice(_))
    }

    /// Whether NumPy takes it for one of the indices whose axes stand together.
    const fn is_advanced(&self) -> bool {
        matches!(self, Self::Indices(_) | Self::Single(..) | Self::Integer(_))
    }
}

/// The plan for a key; `None` where NumPy is to be asked.
///
/// # Errors
/// The driver's.
pub(crate) fn plan(array: &Array, key: &Bound<'_, PyAny>) -> PyResult<Option<Selection>> {
    let mut items = Vec::new();
    match key.cast::<PyTuple>() {
        Ok(tuple) => {
            for item in tuple.iter() {
                if !push(&mut items, array, &item)? {
                    return Ok(None);
                }
            }
        }
        Err(_) => {
            if !push(&mut items, array, key)? {
                return Ok(None);
            }
        }
    }
    let has_arrays = items.iter().any(|item| matches!(item, Item::Indices(_)));
    let settled = |item| {
        Ok(match item {
            Item::Single(_, Some(integer)) if has_arrays => Item::Integer(integer),
            // Its bounds are looked at now, whatever the others select.
            Item::Single(indices, None) if has_arrays => Item::Integer(value_of(key.py(), &indices)?),
            Item::Single(indices, _) => Item::Indices(indices),
            other => other,
        })
    };
    let items: PyResult<Vec<Item<'_>>> = items.into_iter().map(settled).collect();
    selection(array.layout(), &items?)
}

/// The value of an array without axes.
fn value_of<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    transfer::to_ndarray(py, array)?.call_method0(intern!(py, "item"))
}

/// Adds what an item of a key stands for; `false` if that is not for the kernels.
fn push<'py>(items: &mut Vec<Item<'py>>, array: &Array, item: &Bound<'py, PyAny>) -> PyResult<bool> {
    let py = item.py();
    if let Ok(indices) = item.cast::<GpuArray>() {
        let indices = indices.get().array(indices.py())?;
        if indices.device() != array.device() {
            return Ok(false);
        }
        if indices.dtype().kind() == Kind::Bool {
            let mask = transfer::to_ndarray(py, indices)?;
            return push_mask(items, array, &mask);
        }
        items.push(match indices.layout().ndim() {
            0 => Item::Single(indices.clone(), None),
            _ => Item::Indices(indices.clone()),
        });
        return Ok(is_integer(indices.dtype()));
    }
    if item.is_none() {
        items.push(Item::NewAxis);
    } else if item.is(PyEllipsis::get(py)) {
        items.push(Item::Ellipsis);
    } else if item.cast::<PySlice>().is_ok() {
        items.push(Item::Slice(item.clone()));
    } else if item.cast::<PyBool>().is_ok() || basic::is_numpy_bool(item)? {
        return Ok(false);
    } else if item.hasattr(intern!(py, "__len__"))? {
        return push_host(items, array, item);
    } else {
        items.push(Item::Integer(item.clone()));
    }
    Ok(true)
}

/// An ndarray, a list, a tuple within a tuple.
fn push_host<'py>(items: &mut Vec<Item<'py>>, array: &Array, item: &Bound<'py, PyAny>) -> PyResult<bool> {
    let py = item.py();
    let Ok(mut indices) = ndarray::as_ndarray(item, None) else { return Ok(false) };
    let is_empty_list = indices.len() == 0 && item.cast::<PyUntypedArray>().is_err();
    if is_empty_list {
        let integers = indices.call_method1(intern!(py, "astype"), (intern!(py, "int64"),))?;
        indices = integers.cast_into::<PyUntypedArray>()?;
    }
    let Ok(kind) = dtype::from_numpy(indices.dtype().as_any()) else { return Ok(false) };
    if kind.kind() == Kind::Bool {
        return push_mask(items, array, &indices);
    }
    if !is_integer(kind) {
        return Ok(false);
    }
    let uploaded = new::upload_new(py, &indices, kind, array.device())?;
    items.push(match indices.ndim() {
        0 => Item::Single(uploaded, Some(indices.call_method0(intern!(py, "item"))?)),
        _ => Item::Indices(uploaded),
    });
    Ok(true)
}

/// A mask is as many index arrays as it has axes, if it fits.
fn push_mask(items: &mut Vec<Item<'_>>, array: &Array, mask: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let py = mask.py();
    if mask.ndim() == 0 {
        return Ok(false);
    }
    let before = items.iter().any(|item| matches!(item, Item::Ellipsis));
    let axis = items.iter().filter(|item| item.consumes()).count();
    let rank = array.layout().ndim();
    // Behind an ellipsis its axes are only known at the end: NumPy's affair.
    if before || axis + mask.ndim() > rank {
        return Ok(false);
    }
    let lengths = array.layout().shape().skip(axis);
    if !lengths.zip(mask.shape()).all(|(length, &masked)| length == masked as i64) {
        return Ok(false);
    }
    let indices = mask.call_method0(intern!(py, "nonzero"))?.cast_into::<PyTuple>()?;
    for indices in indices.iter() {
        let indices = indices.cast_into::<PyUntypedArray>()?;
        let kind = dtype::from_numpy(indices.dtype().as_any())?;
        items.push(Item::Indices(new::upload_new(py, &indices, kind, array.device())?));
    }
    Ok(true)
}

fn is_integer(dtype: DType) -> bool {
    matches!(
        dtype.kind(),
        Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::Int64 | Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64
    )
}

/// Walks the items along the axes; `None` for keys that NumPy refuses.
fn selection(layout: &Layout, items: &[Item<'_>]) -> PyResult<Option<Selection>> {
    let consumed = items.iter().filter(|item| item.consumes()).count();
    let ellipses = items.iter().filter(|item| matches!(item, Item::Ellipsis)).count();
    if consumed > layout.ndim() || ellipses > 1 {
        return Ok(None);
    }
    let shapes: Vec<Dims> =
        items.iter().filter_map(indices).map(|indices| indices.layout().shape().collect()).collect();
    let shapes: Vec<&[i64]> = shapes.iter().map(|shape| shape.as_slice()).collect();
    let Ok(shape) = broadcast_shapes(&shapes) else { return Ok(None) };
    let mut view = Layout::scalar(layout.itemsize());
    let mut indexer = Indexer::new(layout, &mut view, consumed, ellipses > 0);
    let (mut axis, mut kept, mut indexed, mut dropped) = (0, 0, Vec::new(), Vec::new());
    for item in items {
        let done = match item {
            Item::Indices(indices) => {
                let along = layout.axes()[axis];
                let Ok(repeated) = indices.layout().broadcast_to(&shape) else { return Ok(None) };
                indexed.push(Indexed { index: indices.view(repeated)?, len: along.len, stride: along.stride });
                dropped.push(kept);
                (axis, kept) = (axis + 1, kept + 1);
                indexer.slice_clipped(0, 1, along.len)
            }
            Item::Integer(integer) => {
                axis += 1;
                let Ok(integer) = basic::integer(integer) else { return Ok(None) };
                indexer.integer(integer)
            }
            Item::Slice(slice) => {
                let Ok((start, step, count)) = basic::unpack(slice, layout.axes()[axis].len) else { return Ok(None) };
                (axis, kept) = (axis + 1, kept + 1);
                indexer.slice_clipped(start, step, count)
            }
            Item::Single(..) => return Ok(None), // settled before
            Item::NewAxis => {
                kept += 1;
                indexer.new_axis()
            }
            Item::Ellipsis => {
                let count = layout.ndim() - consumed;
                (axis, kept) = (axis + count, kept + count);
                indexer.ellipsis()
            }
        };
        if done.is_err() {
            return Ok(None);
        }
    }
    if indexer.finish().is_err() || indexed.is_empty() {
        return Ok(None);
    }
    let position = position(items, &dropped);
    let Some(view) = without(&view, &dropped) else { return Ok(None) };
    if view.ndim() + shape.len() > crate::layout::MAX_RANK {
        return Ok(None);
    }
    Ok(Some(Selection { view, indexed, shape, position }))
}

fn indices<'a>(item: &'a Item<'_>) -> Option<&'a Array> {
    match item {
        Item::Indices(indices) => Some(indices),
        _ => None,
    }
}

/// Where the axes of the index arrays stand: in place of the first of them if nothing stands between, else in front.
fn position(items: &[Item<'_>], dropped: &[usize]) -> usize {
    let first = items.iter().position(Item::is_advanced).unwrap_or(0);
    let last = items.iter().rposition(Item::is_advanced).unwrap_or(0);
    let is_together = items[first..=last].iter().all(Item::is_advanced);
    // Integers before it keep no axis, so the first index array's place counts for all.
    if is_together { dropped.first().copied().unwrap_or(0) } else { 0 }
}

/// A view without some of its axes, which start at their first element.
fn without(view: &Layout, dropped: &[usize]) -> Option<Layout> {
    let axes = || view.axes().iter().enumerate().filter(|(place, _)| !dropped.contains(place));
    let shape: Dims = axes().map(|(_, axis)| axis.len).collect();
    let strides: Dims = axes().map(|(_, axis)| axis.stride).collect();
    Layout::strided(&shape, &strides, view.offset(), view.itemsize()).ok()
}
