//! Returns the C names of dtypes, for the Python module that parses declarations.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::exported_names::names;

use super::dtype as dtypes;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_kernel::{Aliases, Element, element, words};

/// Returns the C spelling of a dtype.
///
/// Parameters
/// ----------
/// dtype : data-type
///     A boolean, integer, float or complex type.
///
/// Returns
/// -------
/// str or None
///     None for types without a name in C.
#[pyfunction]
#[pyo3(signature = (dtype: "DTypeLike") -> "str | None")]
fn _c_name(dtype: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let dtype = dtypes::from_python(dtype)?;
    Ok(dtype
        .row()
        .and_then(|entry| (entry.c_name != entry.name || entry.kind == ScalarType::Bool).then_some(entry.c_name)))
}

/// Returns the dtype of a C type name, without pointers.
///
/// Parameters
/// ----------
/// name : str
///     Name of a C type, such as ``'unsigned int'``.
///
/// Returns
/// -------
/// numpy.dtype or None
///     None for an unknown name.
///
/// Raises
/// ------
/// ValueError
///     For a vector type, which is a structured dtype.
#[pyfunction]
#[pyo3(signature = (name: "str") -> "numpy.dtype[Any] | None")]
fn _dtype_of_c_name<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    match element(&words(name).list, &Aliases::new()) {
        Element::Named(kind) => Ok(Some(dtypes::to_python(py, DType::new(kind))?)),
        Element::Any => Ok(None),
        Element::Vector(..) => Err(PyValueError::new_err(format!(
            "'{name}' is a vector type: register its dtype first, with PyGPU.tools.get_or_register_dtype"
        ))),
    }
}

names! {
    internal_functions: _c_name, _dtype_of_c_name;
}
