//! Implements the operations `a[key]` and `a[key] = value`. A key of integers, slices, `...` and `None` selects a view;
//! boolean and integer arrays in a key select copies of elements.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::basic_key::basic;
use super::{assign, fields, gather};
use crate::array::class::{GpuArray, new_view_of, new_view_with};
use crate::fusion;
use pygpu_base::flush_points::FlushReason;
use pygpu_layout::Layout;

#[pymethods]
impl GpuArray {
    // stub: def __getitem__(self, key: Key, /) -> Self: ...
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let layout = slf.get().layout();
        let mut is_basic = true;
        let view = new_view_with(slf, |view| {
            is_basic = basic(layout, view, key)?;
            Ok(())
        })?;
        if is_basic {
            return Ok(view);
        }
        match fields::select(slf.get().array(slf.py())?, key)? {
            Some(field) => new_view_of(slf, field),
            None => gather::gather(slf, key),
        }
    }

    // stub: def __setitem__(self, key: Key, value: Any, /) -> None: ...
    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let array = slf.get().without_flush()?;
        array.check_writable("a[key] = value")?;
        let mut view = Layout::scalar(array.layout().itemsize());
        if basic(array.layout(), &mut view, key)? {
            let target = array.view(view)?;
            if assign::try_defer(&target, value)? {
                return Ok(());
            }
            fusion::flush_pending(py, FlushReason::EagerOperation);
            fusion::materialize(&target)?;
            return assign::assign(py, target.materialized()?, value);
        }
        let array = slf.get().array(py)?;
        match fields::select(array, key)? {
            Some(field) if !field.readonly() => assign::assign(slf.py(), &field, value),
            _ => gather::scatter(slf, key, value),
        }
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = key;
        Err(PyValueError::new_err("cannot delete array elements"))
    }
}
