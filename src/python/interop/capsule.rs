//! Creates capsules that contain DLPack tensors of arrays.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::ffi::capsule::from_tensor;
use crate::ffi::numbers;
use crate::fusion;
use pygpu_array::Array;
use pygpu_base::flush_points::FlushReason;
use pygpu_device::stream::Stream;
use pygpu_interop::dlpack::{DlpackFlags, export};

pub(crate) fn capsule<'py>(
    py: Python<'py>,
    array: &Array,
    versioned: bool,
    flags: DlpackFlags,
    consumer: Option<Stream>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `export` has just created the tensor, and its ownership is transferred to the capsule.
    let capsule = unsafe {
        if versioned {
            from_tensor(py, export::versioned(array, flags, consumer)?)
        } else {
            from_tensor(py, export::legacy(array, consumer)?)
        }
    }?;
    // Launches the operations that were deferred during the export.
    fusion::flush_pending(py, FlushReason::Values);
    Ok(capsule)
}

/// Converts a tuple of two integers.
///
/// # Errors
/// `TypeError` for any other object.
#[inline]
pub(crate) fn integer_pair(object: &Bound<'_, PyAny>, name: &str) -> PyResult<(i64, i64)> {
    let wrong = || PyTypeError::new_err(format!("{name} is a tuple of two integers, not {object:?}"));
    let tuple = object.cast::<PyTuple>().map_err(|_| wrong())?;
    if tuple.len() != 2 {
        return Err(wrong());
    }
    let integer = |position| tuple.get_borrowed_item(position).ok().and_then(|item| numbers::long(&item));
    integer(0).zip(integer(1)).ok_or_else(wrong)
}
