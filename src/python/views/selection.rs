//! A key with integer or boolean arrays as the core wants it: the axes that stay, and the index arrays of the others; or a view and
//! a mask of its shape.
//!
//! What is unusual or wrong is left to NumPy: there is no plan then, and the caller asks NumPy itself. So the rules here
//! need not repeat NumPy's refusals, only its answers.

use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use super::basic;
use super::key::{self, Item};
use crate::host::new;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, Kind};
use pygpu_copy::{Bounds, Indexed, Selection};
use pygpu_layout::{Dims, Indexer, Layout, broadcast_shapes};

/// The plan for the items of a key; `None` where NumPy is to be asked.
///
/// # Errors
/// The driver's.
pub(super) fn plan<'py>(py: Python<'py>, array: &Array, items: Vec<Item<'py>>) -> PyResult<Option<Selection>> {
    match key::settled(py, array, items)? {
        Some(items) => selection(array.layout(), &items),
        None => Ok(None),
    }
}

/// The view and the mask of a key in which a mask is the only array: nobody need know how many elements are true. `None` for
/// other keys.
///
/// # Errors
/// The driver's.
pub(super) fn masked(py: Python<'_>, array: &Array, items: &[Item<'_>]) -> PyResult<Option<(Array, Array)>> {
    let is_mask = |item: &&Item<'_>| matches!(item, Item::Mask(_) | Item::HostMask(_));
    let others = |item: &Item<'_>| matches!(item, Item::Indices(..) | Item::Single(..) | Item::Truth(_));
    let mut masks = items.iter().filter(is_mask).filter(|mask| mask.consumed() > 0);
    let (Some(mask), None, false) = (masks.next(), masks.next(), items.iter().any(others)) else { return Ok(None) };
    let layout = array.layout();
    let consumed = items.iter().map(Item::consumed).sum();
    let has_ellipsis = items.iter().any(|item| matches!(item, Item::Ellipsis));
    let mut view = Layout::scalar(layout.itemsize());
    let mut indexer = Indexer::new(layout, &mut view, consumed, has_ellipsis);
    // Axes of the array, of the view, and where the mask's are in it.
    let (mut axis, mut kept, mut place) = (0, 0, 0);
    for item in items {
        let done = match item {
            Item::Mask(_) | Item::HostMask(_) if item.consumed() > 0 => {
                let shape: Dims = match mask {
                    Item::Mask(mask) => mask.layout().shape().collect(),
                    Item::HostMask(mask) => mask.shape().iter().map(|&len| len as i64).collect(),
                    _ => return Ok(None),
                };
                if !key::fits(layout, axis, shape.iter().copied()) {
                    return Ok(None);
                }
                place = kept;
                indexer.ellipsis_of(item.consumed());
                kept += item.consumed();
                Ok(())
            }
            Item::Integer(integer) => {
                let Ok(integer) = basic::integer(integer) else { return Ok(None) };
                indexer.integer(integer)
            }
            Item::Slice(slice) => {
                let Ok((start, step, count)) = basic::unpack(slice, layout.axes()[axis].len) else { return Ok(None) };
                kept += 1;
                indexer.slice_clipped(start, step, count)
            }
            Item::NewAxis => {
                kept += 1;
                indexer.new_axis()
            }
            Item::Ellipsis => {
                let count = layout.ndim() - consumed;
                (axis, kept) = (axis + count, kept + count);
                indexer.ellipsis()
            }
            _ => return Ok(None),
        };
        axis += item.consumed();
        if done.is_err() {
            return Ok(None);
        }
    }
    if indexer.finish().is_err() {
        return Ok(None);
    }
    let mask = match mask {
        Item::Mask(mask) => mask.clone(),
        Item::HostMask(mask) => new::upload_new(py, mask, DType::new(Kind::Bool), array.device())?,
        _ => return Ok(None),
    };
    // Axes of length 1 behind the mask's, up to the view's last one.
    let behind = view.ndim() - place - mask.layout().ndim();
    let axes: Dims = (1..=behind as i64).map(|back| -back).collect();
    let Ok(spread) = mask.layout().expand_dims(&axes) else { return Ok(None) };
    let shape: Dims = view.shape().collect();
    let Ok(spread) = spread.broadcast_to(&shape) else { return Ok(None) };
    Ok(Some((array.view(view)?, mask.view(spread)?)))
}

/// Walks the items along the axes; `None` for keys that NumPy refuses.
fn selection(layout: &Layout, items: &[Item<'_>]) -> PyResult<Option<Selection>> {
    let consumed = items.iter().map(Item::consumed).sum();
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
            Item::Indices(indices, bounds) => {
                let along = layout.axes()[axis];
                let Ok(repeated) = indices.layout().broadcast_to(&shape) else { return Ok(None) };
                let index = indices.view(repeated)?;
                indexed.push(Indexed { index, len: along.len, stride: along.stride, bounds: *bounds });
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
            Item::Truth(indices) => {
                let Ok(repeated) = indices.layout().broadcast_to(&shape) else { return Ok(None) };
                let (index, bounds) = (indices.view(repeated)?, Bounds::Known);
                indexed.push(Indexed { index, len: 1, stride: 0, bounds });
                dropped.push(kept);
                kept += 1;
                indexer.new_axis()
            }
            Item::Single(..) | Item::Mask(_) | Item::HostMask(_) => return Ok(None), // settled before
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
    if view.ndim() + shape.len() > pygpu_layout::MAX_RANK {
        return Ok(None);
    }
    Ok(Some(Selection { view, indexed, shape, position }))
}

fn indices<'a>(item: &'a Item<'_>) -> Option<&'a Array> {
    match item {
        Item::Indices(indices, _) | Item::Truth(indices) => Some(indices),
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
pub(super) fn without(view: &Layout, dropped: &[usize]) -> Option<Layout> {
    let axes = || view.axes().iter().enumerate().filter(|(place, _)| !dropped.contains(place));
    let shape: Dims = axes().map(|(_, axis)| axis.len).collect();
    let strides: Dims = axes().map(|(_, axis)| axis.stride).collect();
    Layout::strided(&shape, &strides, view.offset(), view.itemsize()).ok()
}
