//! Contains the macros and functions for the names that a file exports to Python.
//!
//! The import of the module creates none of the objects, because it would otherwise take twice as long. The module's
//! function `__getattr__` creates an object at the first use of its name.

use pyo3::PyClass;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::py_once::{PyOnce, intern};

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
        pub(crate) fn register(names: &mut $crate::exported_names::ExportedNames) {
            $($added(names);)?
            $($($crate::exported_names::name!($kind names $name $($target)?);)+)*
        }
    };
    ($($rows:tt)*) => {
        $crate::exported_names::names! { @rows () $($rows)* }
    };
}

/// Adds one name of an entry of [`names!`].
macro_rules! name {
    (functions $names:ident $name:ident) => {
        $crate::exported_names::name!(@ function $names $name true)
    };
    (internal_functions $names:ident $name:ident) => {
        $crate::exported_names::name!(@ function $names $name false)
    };
    (@ function $names:ident $name:ident $is_public:literal) => {
        // The function `where` has the name `where_` in Rust, because `where` is a keyword.
        $names.add(
            stringify!($name).trim_end_matches('_'),
            |module, _| Ok(pyo3::wrap_pyfunction!($name, module)?.into_any()),
            "",
            $is_public,
        )
    };
    (classes $names:ident $name:ident) => {
        $names.add_class::<$name>(true)
    };
    (internal_classes $names:ident $name:ident) => {
        $names.add_class::<$name>(false)
    };
    (aliases $names:ident $name:ident $target:ident) => {
        $names.add_alias(stringify!($name), stringify!($target))
    };
    ($values:ident $names:ident $name:ident) => {};
}

pub(crate) use {name, names};

/// Creates the object of a name, given the text that was passed to [`ExportedNames::add`].
type ObjectFactory = for<'py> fn(&Bound<'py, PyModule>, &'static str) -> PyResult<Bound<'py, PyAny>>;

struct ExportedName {
    name: &'static str,
    create: ObjectFactory,
    argument: &'static str,
    is_public: bool,
}

static NAMES: PyOnce<ExportedNames> = PyOnce::new();

/// The names of the module, collected during its import.
#[derive(Default)]
pub(crate) struct ExportedNames(Vec<ExportedName>);

impl ExportedNames {
    /// Adds a name. At the first use of the name, `create` receives `argument` and returns the object. `__all__`
    /// contains the public names.
    pub(crate) fn add(&mut self, name: &'static str, create: ObjectFactory, argument: &'static str, is_public: bool) {
        self.0.push(ExportedName { name, create, argument, is_public });
    }

    /// Adds a class.
    pub(crate) fn add_class<T: PyClass>(&mut self, is_public: bool) {
        self.add(T::NAME, |module, _| Ok(module.py().get_type::<T>().into_any()), "", is_public);
    }

    /// Adds the object of another name of the module under a second name.
    pub(crate) fn add_alias(&mut self, name: &'static str, target: &'static str) {
        self.add(name, |module, target| module.getattr(target), target, true);
    }

    /// Adds the functions to the module that Python calls for names without an object.
    ///
    /// # Errors
    /// Errors of Python.
    pub(crate) fn publish(mut self, module: &Bound<'_, PyModule>) -> PyResult<()> {
        self.add("__all__", |module, _| Ok(public_names(module.py())?.into_any()), "", false);
        NAMES.get_or_init(module.py(), || self);
        module.setattr("__getattr__", wrap_pyfunction!(create_object, module)?)?;
        module.setattr("__dir__", wrap_pyfunction!(all_names, module)?)
    }
}

/// Creates a string, for [`ExportedNames::add`].
pub(crate) fn text<'py>(module: &Bound<'py, PyModule>, text: &'static str) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyString::new(module.py(), text).into_any())
}

fn exported(py: Python<'_>) -> &[ExportedName] {
    NAMES.get(py).map_or(&[], |names| &names.0)
}

/// Creates the object of a name at its first use.
#[pyfunction]
#[pyo3(name = "__getattr__", pass_module)]
fn create_object<'py>(module: &Bound<'py, PyModule>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    let (py, text) = (module.py(), name.to_str()?);
    // The last declaration of a name counts: `real` is a ufunc of the table, and a function that returns a view.
    let Some(found) = exported(py).iter().rfind(|exported| exported.name == text) else {
        return Err(PyAttributeError::new_err(format!("module 'PyGPU._core' has no attribute '{text}'")));
    };
    let object = (found.create)(module, found.argument)?;
    // If two threads create an object for the same name, both return the object that was stored first.
    module.dict().call_method1(intern!(py, "setdefault"), (name, object))
}

/// Lists the names of the module, including those whose objects do not exist yet.
#[pyfunction]
#[pyo3(name = "__dir__", pass_module)]
fn all_names<'py>(module: &Bound<'py, PyModule>) -> PyResult<Bound<'py, PyList>> {
    let (existing, names) = (module.dict(), module.dict().keys());
    for exported in exported(module.py()) {
        if !existing.contains(exported.name)? {
            names.append(exported.name)?;
        }
    }
    Ok(names)
}

/// Returns the module's `__all__`. Its strings are interned, because the package searches the list for names, and uses
/// them as keys of its dictionary. Other strings would be compared by their text at each lookup.
fn public_names(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let names = exported(py).iter().filter(|exported| exported.is_public);
    PyList::new(py, names.map(|exported| PyString::intern(py, exported.name)).collect::<Vec<_>>())
}
