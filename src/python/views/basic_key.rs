//! Applies basic keys, i.e. integers, slices, `...` and `None`, which select a view.
//!
//! The fast path traverses a tuple only once, except for items after `...`, because each access to an item is a
//! function call in Python's stable ABI. If the fast path fails, the slow path first classifies all items and then
//! applies them. Therefore the slow path raises the same error as NumPy, which checks the whole key first.
//!
//! Every function of the fast path has an attribute for inlining: see docs/design/views.md.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use crate::convert::argument_errors;
use crate::ffi::ndarray::is_bool;
use crate::ffi::numbers::{self, TooLarge};
use crate::ffi::slices::{self, PlainItem};
use pygpu_layout::{Indexer, Layout};

/// Kind of a key item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BasicKeyItem {
    Integer,
    Slice,
    Ellipsis,
    NewAxis,
    /// An array, a list or a boolean: not part of a basic key.
    Advanced,
}

#[inline(always)]
fn classify(item: &Bound<'_, PyAny>) -> PyResult<BasicKeyItem> {
    match classify_plain(item) {
        Some(kind) => Ok(kind),
        None => classify_other(item),
    }
}

/// Returns the kind of a plain item of a key, i.e. of an item whose type alone determines its kind. Returns `None` for
/// other items.
#[inline(always)]
fn classify_plain(item: &Bound<'_, PyAny>) -> Option<BasicKeyItem> {
    Some(match slices::plain_item(item)? {
        PlainItem::Integer => BasicKeyItem::Integer,
        PlainItem::Slice => BasicKeyItem::Slice,
        PlainItem::None => BasicKeyItem::NewAxis,
        PlainItem::Ellipsis => BasicKeyItem::Ellipsis,
    })
}

#[cold]
#[inline(never)]
fn classify_other(item: &Bound<'_, PyAny>) -> PyResult<BasicKeyItem> {
    let has_len = item.hasattr("__len__")?;
    if has_len || is_bool(item) {
        return Ok(BasicKeyItem::Advanced);
    }
    if numbers::is_index(item) {
        return Ok(BasicKeyItem::Integer);
    }
    Err(PyIndexError::new_err(format!(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid \
         indices; got {}",
        argument_errors::describe(item)
    )))
}

/// Sets `view` to the layout of the part that a basic key selects from an array with the layout `layout`. Returns
/// `false` if the key is not basic.
///
/// # Errors
/// `IndexError` and `ValueError` as in NumPy.
#[inline(always)]
pub(crate) fn basic(layout: &Layout, view: &mut Layout, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(key) = key.cast_exact::<PyTuple>() {
        return match fast_tuple(layout, view, key) {
            true => Ok(true),
            false => checked_tuple(layout, view, key),
        };
    }
    // Each arm of the match handles one kind of key, so that the number of axes to which the key applies is a constant
    // in this arm.
    match classify(key)? {
        kind @ (BasicKeyItem::Integer | BasicKeyItem::Slice) => single_item(layout, view, (1, false), kind, key)?,
        BasicKeyItem::Ellipsis => single_item(layout, view, (0, true), BasicKeyItem::Ellipsis, key)?,
        BasicKeyItem::NewAxis => single_item(layout, view, (0, false), BasicKeyItem::NewAxis, key)?,
        BasicKeyItem::Advanced => return Ok(false),
    }
    Ok(true)
}

/// Applies a key of one item. The pair contains the number of array axes to which the item applies, and whether the
/// item is an ellipsis.
#[inline(always)]
fn single_item(
    layout: &Layout,
    view: &mut Layout,
    (consumed, is_ellipsis): (usize, bool),
    kind: BasicKeyItem,
    item: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let mut indexer = Indexer::new(layout, view, consumed, is_ellipsis);
    apply_item(&mut indexer, layout, &mut 0, kind, item)?;
    Ok(indexer.finish()?)
}

/// Applies the items of a tuple on the fast path. Returns true if all items are plain and valid; only then `view` is
/// complete. No Python exception is set after the call.
#[inline(never)]
fn fast_tuple(layout: &Layout, view: &mut Layout, key: &Bound<'_, PyTuple>) -> bool {
    let count = key.len();
    // The third argument of `Indexer::new` is the number of integers and slices in the key, which is unknown here. 0 is
    // valid: `Indexer` uses this number only to reject too long keys early, and in `ellipsis`, which this function does
    // not call.
    let mut indexer = Indexer::new(layout, view, 0, true);
    let (mut axis, mut seen_ellipsis) = (0, false);
    for position in 0..count {
        let Some((item, kind)) = plain_item(key, position) else { return false };
        if kind == BasicKeyItem::Ellipsis {
            let Some(following) = (!seen_ellipsis).then(|| consumed_after(key, position + 1, count)).flatten() else {
                return false;
            };
            seen_ellipsis = true;
            let spanned = layout.ndim().saturating_sub(axis + following);
            indexer.ellipsis_of(spanned);
            axis += spanned;
            continue;
        }
        if let Err(error) = apply_item(&mut indexer, layout, &mut axis, kind, &item) {
            drop(error);
            return false;
        }
    }
    indexer.finish().is_ok()
}

/// Returns the number of integers and slices in a key from position `from` on; `None` if an item from there on is not
/// plain.
fn consumed_after(key: &Bound<'_, PyTuple>, from: usize, count: usize) -> Option<usize> {
    let mut consumed = 0;
    for position in from..count {
        let (_, kind) = plain_item(key, position)?;
        consumed += usize::from(matches!(kind, BasicKeyItem::Integer | BasicKeyItem::Slice));
    }
    Some(consumed)
}

/// Returns the item at a position and its kind, if the item is plain; otherwise `None`.
#[inline(always)]
fn plain_item<'a, 'py>(
    key: &'a Bound<'py, PyTuple>,
    position: usize,
) -> Option<(Borrowed<'a, 'py, PyAny>, BasicKeyItem)> {
    let item = key.get_borrowed_item(position).ok()?;
    classify_plain(&item).map(|kind| (item, kind))
}

#[cold]
#[inline(never)]
fn checked_tuple(layout: &Layout, view: &mut Layout, key: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let (mut consumed, mut ellipses) = (0, 0);
    // The items of the key, each with its kind. The first pass over the key determines the kinds, and the second pass
    // applies the items.
    let mut items: SmallVec<[(Borrowed<'_, '_, PyAny>, BasicKeyItem); 8]> = SmallVec::new();
    for item in key.iter_borrowed() {
        let kind = classify(&item)?;
        match kind {
            BasicKeyItem::Integer | BasicKeyItem::Slice => consumed += 1,
            BasicKeyItem::Ellipsis => ellipses += 1,
            BasicKeyItem::NewAxis => {}
            BasicKeyItem::Advanced => return Ok(false),
        }
        items.push((item, kind));
    }
    let mut indexer = Indexer::new(layout, view, consumed, ellipses > 0);
    // The axis to which the next integer or slice applies. A slice is interpreted with the length of this axis.
    let mut axis = 0;
    for (item, kind) in items {
        if kind == BasicKeyItem::Ellipsis {
            axis += layout.ndim().saturating_sub(consumed);
        }
        apply_item(&mut indexer, layout, &mut axis, kind, &item)?;
    }
    indexer.finish()?;
    Ok(true)
}

#[inline(always)]
fn apply_item(
    indexer: &mut Indexer<'_>,
    layout: &Layout,
    axis: &mut usize,
    kind: BasicKeyItem,
    item: &Bound<'_, PyAny>,
) -> PyResult<()> {
    match kind {
        BasicKeyItem::Integer => {
            *axis += 1;
            Ok(indexer.integer(integer(item)?)?)
        }
        BasicKeyItem::Slice => {
            let length = layout.axes().get(*axis).map_or(0, |axis| axis.len);
            *axis += 1;
            let (start, step, count) = slices::unpack(item, length)?;
            Ok(indexer.slice_clipped(start, step, count)?)
        }
        BasicKeyItem::Ellipsis => Ok(indexer.ellipsis()?),
        BasicKeyItem::NewAxis | BasicKeyItem::Advanced => Ok(indexer.new_axis()?),
    }
}

#[inline(always)]
pub(crate) fn integer(item: &Bound<'_, PyAny>) -> PyResult<i64> {
    match numbers::fast_integer(item) {
        -1 => integer_by_index(item),
        value => Ok(value as i64),
    }
}

/// Converts an item for which `fast_integer` returned -1: the int -1, or an object that only has `__index__`. Raises an
/// index error for other objects.
#[cold]
#[inline(never)]
fn integer_by_index(item: &Bound<'_, PyAny>) -> PyResult<i64> {
    numbers::integer(item, TooLarge::Index).map(|value| value as i64)
}
