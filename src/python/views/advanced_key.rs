//! Converts an advanced key, i.e. a key with index arrays or masks, to a form for the Rust core. The form is a
//! [`Selection`]: a view of the axes without index arrays, and an index array for each other axis. For a key whose only
//! array is a mask, the form may instead be a view of the array and a mask with the view's shape.
//!
//! For unusual or invalid keys, the functions return `None`, and the caller passes the key to NumPy, which raises the
//! errors. Therefore this file implements only the rules for valid keys.

use pyo3::prelude::*;

use super::basic_key;
use super::key_items::{self, KeyItem};
use crate::ffi::slices;
use crate::host_transfers::device_arrays;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy::{Bounds, Indexed, Selection};
use pygpu_layout::{Dims, Indexer, Layout, broadcast_shapes};

/// Builds the [`Selection`] for the items of a key. Returns `None` if NumPy must handle the key.
///
/// # Errors
/// Driver errors.
pub(super) fn plan<'py>(py: Python<'py>, array: &Array, items: Vec<KeyItem<'py>>) -> PyResult<Option<Selection>> {
    match key_items::resolve_arrays(py, array, items)? {
        Some(items) => selection(array.layout(), &items),
        None => Ok(None),
    }
}

/// For a key in which a mask is the only array, returns a view of the array and a mask with the view's shape. With this
/// view and this mask, a caller can assign to the selected elements without counting them. Returns `None` for other
/// keys.
///
/// # Errors
/// Driver errors.
pub(super) fn masked_view(py: Python<'_>, array: &Array, items: &[KeyItem<'_>]) -> PyResult<Option<(Array, Array)>> {
    let Some(mask) = only_mask(items) else { return Ok(None) };
    let Some((view, mask_axis)) = view_around_mask(array.layout(), items) else { return Ok(None) };
    let mask = match mask {
        KeyItem::Mask(mask) => mask.clone(),
        KeyItem::HostMask(mask) => device_arrays::upload_new(py, mask, DType::new(ScalarType::Bool), array.device())?,
        _ => return Ok(None),
    };
    let Some(expand_mask) = expand_mask(mask.layout(), &view, mask_axis) else { return Ok(None) };
    Ok(Some((array.view(view)?, mask.view(expand_mask)?)))
}

/// Returns the mask of a key if it is the key's only array and has at least one axis; otherwise `None`.
fn only_mask<'a, 'py>(items: &'a [KeyItem<'py>]) -> Option<&'a KeyItem<'py>> {
    let is_mask = |item: &&KeyItem<'_>| matches!(item, KeyItem::Mask(_) | KeyItem::HostMask(_));
    let is_other_array =
        |item: &KeyItem<'_>| matches!(item, KeyItem::Indices(..) | KeyItem::Single(..) | KeyItem::Truth(_));
    let mut masks = items.iter().filter(is_mask).filter(|mask| mask.consumed() > 0);
    match (masks.next(), masks.next(), items.iter().any(is_other_array)) {
        (Some(mask), None, false) => Some(mask),
        _ => None,
    }
}

/// Returns the view that all items of a key except its mask select, and the position of the mask's first axis among the
/// view's axes. Returns `None` for keys that NumPy rejects.
fn view_around_mask(layout: &Layout, items: &[KeyItem<'_>]) -> Option<(Layout, usize)> {
    let consumed = items.iter().map(KeyItem::consumed).sum();
    let has_ellipsis = items.iter().any(|item| matches!(item, KeyItem::Ellipsis));
    let mut view = Layout::scalar(layout.itemsize());
    let mut indexer = Indexer::new(layout, &mut view, consumed, has_ellipsis);
    // `axis` is the array axis to which the next item applies, `view_axis` the number of axes that the view has so far,
    // and `mask_axis` the position of the mask's first axis in the view.
    let (mut axis, mut view_axis, mut mask_axis) = (0, 0, 0);
    for item in items {
        match item {
            KeyItem::Mask(_) | KeyItem::HostMask(_) => {
                let shape = item.mask_shape().filter(|_| item.consumed() > 0)?;
                if !key_items::mask_fits(layout, axis, shape.into_iter()) {
                    return None;
                }
                mask_axis = view_axis;
                indexer.ellipsis_of(item.consumed());
                view_axis += item.consumed();
            }
            KeyItem::Integer(integer) => indexer.integer(basic_key::integer(integer).ok()?).ok()?,
            KeyItem::Slice(slice) => {
                let (start, step, count) = slices::unpack(slice, layout.axes()[axis].len).ok()?;
                view_axis += 1;
                indexer.slice_clipped(start, step, count).ok()?;
            }
            KeyItem::NewAxis => {
                view_axis += 1;
                indexer.new_axis().ok()?;
            }
            KeyItem::Ellipsis => {
                let count = layout.ndim() - consumed;
                (axis, view_axis) = (axis + count, view_axis + count);
                indexer.ellipsis().ok()?;
            }
            _ => return None,
        }
        axis += item.consumed();
    }
    indexer.finish().ok()?;
    Some((view, mask_axis))
}

/// Broadcasts a mask to the shape of a view. The mask's first axis corresponds to the view's axis `mask_axis`.
fn expand_mask(mask: &Layout, view: &Layout, mask_axis: usize) -> Option<Layout> {
    // Appends one axis of length 1 to the mask for each view axis that follows the mask's axes.
    let trailing = view.ndim() - mask_axis - mask.ndim();
    let axes: Dims = (1..=trailing as i64).map(|axis_from_end| -axis_from_end).collect();
    let shape: Dims = view.shape().collect();
    mask.expand_dims(&axes).ok()?.broadcast_to(&shape).ok()
}

/// Builds the [`Selection`] from the items of a key in which index arrays have replaced the masks. Returns `None` for
/// keys that NumPy rejects.
fn selection(layout: &Layout, items: &[KeyItem<'_>]) -> PyResult<Option<Selection>> {
    let consumed = items.iter().map(KeyItem::consumed).sum();
    let ellipses = items.iter().filter(|item| matches!(item, KeyItem::Ellipsis)).count();
    if consumed > layout.ndim() || ellipses > 1 {
        return Ok(None);
    }
    let shapes: Vec<Dims> =
        items.iter().filter_map(indices).map(|indices| indices.layout().shape().collect()).collect();
    let shapes: Vec<&[i64]> = shapes.iter().map(|shape| shape.as_slice()).collect();
    let Ok(shape) = broadcast_shapes(&shapes) else { return Ok(None) };
    let mut view = Layout::scalar(layout.itemsize());
    let mut indexer = Indexer::new(layout, &mut view, consumed, ellipses > 0);
    let (mut axis, mut view_axis, mut indexed, mut removed) = (0, 0, Vec::new(), Vec::new());
    for item in items {
        let result = match item {
            KeyItem::Indices(indices, bounds) => {
                let dimension = layout.axes()[axis];
                let Ok(repeated) = indices.layout().broadcast_to(&shape) else { return Ok(None) };
                let index = indices.view(repeated)?;
                indexed.push(Indexed { index, len: dimension.len, stride: dimension.stride, bounds: *bounds });
                removed.push(view_axis);
                (axis, view_axis) = (axis + 1, view_axis + 1);
                indexer.slice_clipped(0, 1, dimension.len)
            }
            KeyItem::Integer(integer) => {
                axis += 1;
                let Ok(integer) = basic_key::integer(integer) else { return Ok(None) };
                indexer.integer(integer)
            }
            KeyItem::Slice(slice) => {
                let Ok((start, step, count)) = slices::unpack(slice, layout.axes()[axis].len) else { return Ok(None) };
                (axis, view_axis) = (axis + 1, view_axis + 1);
                indexer.slice_clipped(start, step, count)
            }
            KeyItem::Truth(indices) => {
                let Ok(repeated) = indices.layout().broadcast_to(&shape) else { return Ok(None) };
                let (index, bounds) = (indices.view(repeated)?, Bounds::Known);
                indexed.push(Indexed { index, len: 1, stride: 0, bounds });
                removed.push(view_axis);
                view_axis += 1;
                indexer.new_axis()
            }
            // Items of these kinds do not occur here, because `key_items::resolve_arrays` has replaced them.
            KeyItem::Single(..) | KeyItem::Mask(_) | KeyItem::HostMask(_) => return Ok(None),
            KeyItem::NewAxis => {
                view_axis += 1;
                indexer.new_axis()
            }
            KeyItem::Ellipsis => {
                let count = layout.ndim() - consumed;
                (axis, view_axis) = (axis + count, view_axis + count);
                indexer.ellipsis()
            }
        };
        if result.is_err() {
            return Ok(None);
        }
    }
    if indexer.finish().is_err() || indexed.is_empty() {
        return Ok(None);
    }
    let position = position(items, &removed);
    let Some(view) = drop_axes(&view, &removed) else { return Ok(None) };
    if view.ndim() + shape.len() > pygpu_layout::MAX_RANK {
        return Ok(None);
    }
    Ok(Some(Selection { view, indexed, shape, position }))
}

fn indices<'a>(item: &'a KeyItem<'_>) -> Option<&'a Array> {
    match item {
        KeyItem::Indices(indices, _) | KeyItem::Truth(indices) => Some(indices),
        _ => None,
    }
}

/// Returns the position, in the result, of the axes that the index arrays select. As in NumPy, these axes replace the
/// axis of the first index array if all advanced items of the key are adjacent; otherwise these axes come first.
fn position(items: &[KeyItem<'_>], removed: &[usize]) -> usize {
    let first = items.iter().position(KeyItem::is_advanced).unwrap_or(0);
    let last = items.iter().rposition(KeyItem::is_advanced).unwrap_or(0);
    let are_adjacent = items[first..=last].iter().all(KeyItem::is_advanced);
    // Integers also count as advanced items, but integers have no axis in the view. Therefore the axes are inserted at
    // the position of the first index array, even if integers precede this array.
    if are_adjacent { removed.first().copied().unwrap_or(0) } else { 0 }
}

/// Returns a copy of a layout without the axes in `removed`. The copy addresses the elements whose index along the
/// removed axes is 0.
pub(super) fn drop_axes(view: &Layout, removed: &[usize]) -> Option<Layout> {
    let axes = || view.axes().iter().enumerate().filter(|(index, _)| !removed.contains(index));
    let shape: Dims = axes().map(|(_, axis)| axis.len).collect();
    let strides: Dims = axes().map(|(_, axis)| axis.stride).collect();
    Layout::strided(&shape, &strides, view.offset(), view.itemsize()).ok()
}
