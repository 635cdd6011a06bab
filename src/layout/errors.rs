//! Constructs the layout crate's errors, with NumPy's messages.
//!
//! The functions are cold and not inlined, so that the successful paths stay small.

use std::fmt::Write;

use pygpu_base::error::Error;

/// Formats a shape as in NumPy's messages: `(2,3)`, `(2,)`, `()`.
pub(super) fn shape_text(shape: impl IntoIterator<Item = i64>) -> String {
    let mut text = String::from("(");
    let mut count = 0;
    for len in shape {
        if count > 0 {
            text.push(',');
        }
        let _ = write!(text, "{len}");
        count += 1;
    }
    text.push_str(if count == 1 { ",)" } else { ")" });
    text
}

/// Formats a shape or strides as a Python tuple: `(2, 3)`, `(2,)`, `()`.
pub fn tuple_text<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if items.len() == 1 { format!("({},)", items[0]) } else { format!("({})", items.join(", ")) }
}

#[cold]
pub(super) fn too_big() -> Error {
    Error::value("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")
}

#[cold]
pub(super) fn rank(found: usize) -> Error {
    Error::value(format!("maximum supported dimension for an ndarray is currently {}, found {found}", super::MAX_RANK))
}

#[cold]
pub(super) fn itemsize(found: i64) -> Error {
    Error::value(format!("itemsize must be at least 1 byte, not {found}"))
}

#[cold]
pub(super) fn strides_rank(shape: usize, strides: usize) -> Error {
    Error::value(format!("strides must be the same length as shape: {strides} strides for {shape} axes"))
}

#[cold]
pub(super) fn extent_overflow(shape: &[i64], strides: &[i64], offset: i64) -> Error {
    Error::value(format!(
        "shape {} with strides {} at byte offset {offset} reaches addresses beyond 64 bits",
        shape_text(shape.iter().copied()),
        shape_text(strides.iter().copied()),
    ))
}

#[cold]
pub(super) fn axis(axis: i64, ndim: usize) -> Error {
    Error::Axis { argument: None, axis, ndim }
}

/// Adds to an error of [`axis`] the name of the function argument that contained the axis.
#[cold]
pub(super) fn named(argument: &'static str, error: Error) -> Error {
    match error {
        Error::Axis { axis, ndim, .. } => Error::Axis { argument: Some(argument), axis, ndim },
        other => other,
    }
}

#[cold]
pub(super) fn repeated(argument: &str) -> Error {
    Error::value(format!("repeated axis in `{argument}` argument"))
}

#[cold]
pub(super) fn broadcast(shapes: &[&[i64]]) -> Error {
    let mut text = String::from("operands could not be broadcast together with shapes");
    for shape in shapes {
        text.push(' ');
        text.push_str(&shape_text(shape.iter().copied()));
    }
    Error::value(text)
}

/// Returns the error of a failed broadcast. NumPy's message contains two consecutive spaces, which are reproduced.
#[cold]
pub(super) fn broadcast_to(layout: &super::Layout, shape: &[i64]) -> Error {
    Error::value(format!(
        "operands could not be broadcast together with remapped shapes [original->remapped]: {}  and requested shape \
         {}",
        shape_text(layout.shape()),
        shape_text(shape.iter().copied())
    ))
}

#[cold]
pub(super) fn out_of_bounds(index: i64, axis: usize, len: i64) -> Error {
    Error::index(format!("index {index} is out of bounds for axis {axis} with size {len}"))
}

#[cold]
pub(super) fn too_many_indices(ndim: usize, indexed: usize) -> Error {
    let remedy = if ndim == 0 { "; write x.item() or x[()] for its value" } else { "" };
    Error::index(format!("too many indices for array: array is {ndim}-dimensional, but {indexed} were indexed{remedy}"))
}

#[cold]
pub(super) fn second_ellipsis() -> Error {
    Error::index("an index can only have a single ellipsis ('...')")
}

#[cold]
pub(super) fn index_rank(found: usize) -> Error {
    Error::index(format!(
        "number of dimensions must be within [0, {}], indexing result would have {found}",
        super::MAX_RANK
    ))
}

#[cold]
pub(super) fn slice_outside(start: i64, step: i64, count: i64, axis: usize, len: i64) -> Error {
    Error::index(format!(
        "a slice of {count} elements from {start} in steps of {step} leaves axis {axis} with size {len}"
    ))
}

/// Returns the error of a failed reshape. As in NumPy's message, unknown lengths of the requested shape are shown as
/// `newaxis`, and leading unknown lengths are omitted.
#[cold]
pub(super) fn reshape(size: i64, shape: &[i64]) -> Error {
    let mut text = String::new();
    for &len in shape.iter().skip_while(|&&len| len < 0) {
        if !text.is_empty() {
            text.push(',');
        }
        if len < 0 {
            text.push_str("newaxis");
        } else {
            let _ = write!(text, "{len}");
        }
    }
    if shape.len() == 1 && !text.is_empty() {
        text.push(',');
    }
    Error::value(format!("cannot reshape array of size {size} into shape ({text})"))
}

#[cold]
pub(super) fn shapes_differ(dst: &super::Layout, src: &super::Layout) -> Error {
    Error::value(format!(
        "shapes differ: {} to write, {} to read; broadcast the source first",
        shape_text(dst.shape()),
        shape_text(src.shape())
    ))
}

#[cold]
pub(super) fn itemsizes_differ(dst: i64, src: i64) -> Error {
    Error::value(format!("itemsizes differ: {dst} bytes to write, {src} to read; convert the dtype first"))
}
