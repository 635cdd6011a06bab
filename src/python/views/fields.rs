//! `a["name"]`: a view of one field of structured items; `a[["x", "y"]]`: a read-only view of fewer fields.
//!
//! Why read-only: items are moved whole, and writing one of fewer fields would write over those that it leaves out.
//! The items are opaque below Python, so that this is where their inside is known: NumPy's dtype says where a field lies.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::convert::dtype;
use crate::once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::Kind;
use pygpu_layout::{Dims, Layout};

/// The part of structured items that a name or a list of names selects; `None` for any other key or dtype. A list's part is
/// read-only: assignment goes through NumPy.
///
/// # Errors
/// `ValueError` and `KeyError` as NumPy's for a name that is none of the dtype's.
#[cold]
pub(crate) fn select(array: &Array, key: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if array.dtype().kind() != Kind::Opaque {
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
        return Ok(Some(one(array, &field)?));
    }
    if let Ok(names) = key.cast::<PyList>()
        && !names.is_empty()
        && names.iter().all(|name| name.is_instance_of::<PyString>())
    {
        let fewer = dtype::from_numpy(&descr.get_item(key)?)?;
        return Ok(Some(array.view_as(array.layout().clone(), fewer)?.as_readonly()));
    }
    Ok(None)
}

/// A field as `dtype.fields` describes it: dtype, offset, perhaps a title. A subarray adds its axes behind the array's.
fn one(array: &Array, field: &Bound<'_, PyAny>) -> PyResult<Array> {
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
    let dense = Layout::contiguous(&inner, itemsize, pygpu_layout::Order::C)?;
    let layout = array.layout();
    let shape: Dims = layout.shape().chain(dense.shape()).collect();
    let strides: Dims = layout.strides().chain(dense.strides()).collect();
    Ok(array.view_as(Layout::strided(&shape, &strides, layout.offset() + offset, itemsize)?, dtype)?)
}
