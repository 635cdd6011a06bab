//! Selects fields of structured arrays: `a["name"]` is a view of one field, and `a[["x", "y"]]` is a read-only view of
//! several fields.
//!
//! The view of several fields is read-only, because PyGPU copies whole items: a write would also overwrite the fields
//! between the selected fields. For the Rust core, an item is a number of bytes without structure; the offsets of the
//! fields come from NumPy's dtype.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::convert::dtype;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::ScalarType;
use pygpu_layout::{Dims, Layout};

/// Returns the view of a structured array that a field name or a list of field names selects. Returns `None` for any
/// other key or dtype. The view for a list of names is read-only; assignments to several fields are passed to NumPy.
///
/// # Errors
/// `ValueError` and `KeyError` for an unknown name, as in NumPy.
#[cold]
pub(crate) fn select(array: &Array, key: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if array.dtype().kind() != ScalarType::Opaque {
        return Ok(None);
    }
    let py = key.py();
    let descr = dtype::to_python(py, array.dtype())?;
    let fields = descr.getattr(intern!(py, "fields"))?;
    if fields.is_none() {
        return Ok(None);
    }
    if key.is_instance_of::<PyString>() {
        let field = fields
            .get_item(key)
            .map_err(|_| PyValueError::new_err(format!("no field of name {key}: the items are {descr}")))?;
        return Ok(Some(field_view(array, &field)?));
    }
    if let Ok(names) = key.cast::<PyList>()
        && !names.is_empty()
        && names.iter().all(|name| name.is_instance_of::<PyString>())
    {
        let subset_dtype = dtype::from_numpy(&descr.get_item(key)?)?;
        return Ok(Some(array.view_as(array.layout().clone(), subset_dtype)?.as_readonly()));
    }
    Ok(None)
}

/// Returns the view of a field. `field` is an entry of `dtype.fields`: dtype, offset, and possibly a title. If the
/// field is a subarray, its axes follow the axes of the array.
fn field_view(array: &Array, field: &Bound<'_, PyAny>) -> PyResult<Array> {
    let py = field.py();
    let mut descr = field.get_item(0)?;
    let offset: i64 = field.get_item(1)?.extract()?;
    let mut inner = Dims::new();
    let subarray = descr.getattr(intern!(py, "subdtype"))?;
    if !subarray.is_none() {
        inner.extend(subarray.get_item(1)?.extract::<Vec<i64>>()?);
        descr = subarray.get_item(0)?;
    }
    let dtype = dtype::from_numpy(&descr)?;
    let itemsize = dtype.itemsize() as i64;
    let dense = Layout::contiguous(&inner, itemsize, pygpu_layout::MemoryOrder::C)?;
    let layout = array.layout();
    let shape: Dims = layout.shape().chain(dense.shape()).collect();
    let strides: Dims = layout.strides().chain(dense.strides()).collect();
    Ok(array.view_as(Layout::strided(&shape, &strides, layout.offset() + offset, itemsize)?, dtype)?)
}
