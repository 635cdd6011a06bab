//! Contains the macros and functions for the names that a file exports to Python.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Declares the names that a file exports, and defines the function `register` that adds them to the module.
///
/// An entry has a kind, the section of `docs/reference.md`, and names: `functions "Order": sort, argsort;`. Entries
/// of `internal_functions`, `internal_classes` and `internal_values` have no section, because only the package uses
/// these names. The function after `with` adds the objects that `values` entries name. In `copyto(host = ["src"])` the
/// list names the parameters in which `numpy.copyto` accepts an ndarray together with arrays of a device.
/// `tools/name_index.py` and `tools/core_stub.py` read the entries from the source.
macro_rules! names {
    (with $added:path; $($rows:tt)*) => {
        $crate::exported_names::names! { @rows ($added) $($rows)* }
    };
    (
        @rows ($($added:path)?)
        $($kind:ident $($group:literal)?: $($name:ident $(= $target:ident)? $((host = [$($host:literal),+]))?),+;)*
    ) => {
        /// Adds the declared names to the module.
        pub(crate) fn register(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            $($added(module)?;)?
            $($($crate::exported_names::name!($kind module $name $($target)?);)+)*
            Ok(())
        }
    };
    ($($rows:tt)*) => {
        $crate::exported_names::names! { @rows () $($rows)* }
    };
}

/// Adds one name of an entry of [`names!`].
macro_rules! name {
    (functions $module:ident $name:ident) => {
        pyo3::types::PyModuleMethods::add_function($module, pyo3::wrap_pyfunction!($name, $module)?)?
    };
    (classes $module:ident $name:ident) => {
        pyo3::types::PyModuleMethods::add_class::<$name>($module)?
    };
    (internal_functions $module:ident $name:ident) => {
        $crate::exported_names::add_internal($module, pyo3::wrap_pyfunction!($name, $module)?.as_any())?
    };
    (internal_classes $module:ident $name:ident) => {
        $crate::exported_names::add_internal($module, $module.py().get_type::<$name>().as_any())?
    };
    (aliases $module:ident $name:ident $target:ident) => {
        $crate::exported_names::add_alias($module, stringify!($name), stringify!($target))?
    };
    ($values:ident $module:ident $name:ident) => {};
}

pub(crate) use {name, names};

/// Adds a function or class under its name, without an entry in `__all__`.
pub(crate) fn add_internal(module: &Bound<'_, PyModule>, object: &Bound<'_, PyAny>) -> PyResult<()> {
    module.setattr(object.getattr("__name__")?.cast_into()?, object)
}

/// Adds the object `target` of the module under a second name.
pub(crate) fn add_alias(module: &Bound<'_, PyModule>, name: &str, target: &str) -> PyResult<()> {
    module.add(name, module.getattr(target)?)
}

/// Replaces the strings of `__all__` by interned strings of the interpreter.
///
/// `from PyGPU._core import *` makes these strings keys of the package's dictionary. A key that is not interned is
/// compared by its text at each lookup, which takes 60 more instructions for each access to `PyGPU.name`.
pub(crate) fn intern_all(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let names = module.index()?;
    for (index, name) in names.iter().enumerate() {
        names.set_item(index, PyString::intern(module.py(), name.cast::<PyString>()?.to_str()?))?;
    }
    Ok(())
}
