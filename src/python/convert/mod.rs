//! Converts arguments: numbers, shapes, dtypes and ndarrays. The package also contains the rules of strict mode. This
//! package does not use PyGPU's array class.

use pyo3::prelude::*;

use crate::exported_names::ExportedNames;

pub(crate) mod argument_errors;
pub(crate) mod buffer;
pub(crate) mod c_types;
pub(crate) mod dtype;
pub(crate) mod ndarray;
pub(crate) mod number;
pub(crate) mod pointer;
pub(crate) mod shape;
pub(crate) mod strict_mode;

/// An optional argument of any type.
pub(crate) type OptionalArg<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Adds classes and functions to the module.
pub(crate) fn register(names: &mut ExportedNames) {
    c_types::register(names);
    strict_mode::register(names);
}
