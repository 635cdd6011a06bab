//! Parses the constructor arguments of generated kernels, and stores them for pickling.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::{PyString, PyTuple};

use crate::atexit::{Detached, DriverObject};
use crate::kernel::source;
use crate::py_once::intern;
use pygpu_ops::Argument;

/// Arguments of `__init__` in order, from which an unpickled kernel is constructed.
pub(crate) struct PickleState(Py<PyTuple>);

impl From<Bound<'_, PyTuple>> for PickleState {
    fn from(argument: Bound<'_, PyTuple>) -> Self {
        Self(argument.unbind())
    }
}

impl PickleState {
    /// Returns the result of `__reduce__` for a kernel of the class `T` or of a derived class.
    ///
    /// # Errors
    /// The errors of the Python function that creates the pickle state.
    pub(crate) fn reduce<'py, T: PyTypeInfo>(&self, kernel: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
        let py = kernel.py();
        let module = py.import(intern!(py, "PyGPU._kernels.pickled_kernels"))?;
        module.getattr(intern!(py, "reduced"))?.call1((kernel, T::type_object(py), &self.0))
    }
}

/// A generated kernel with its constructor arguments.
pub(crate) struct KernelState<K: DriverObject> {
    pub(crate) kernel: Detached<K>,
    pub(crate) keep: bool,
    pub(crate) pickle_state: PickleState,
}

/// Arguments that the constructors of generated kernels share.
pub(crate) struct KernelOptions<'a, 'py> {
    /// Name of the class, for error messages; `order` describes the order of the constructor's arguments.
    pub(crate) class: &'static str,
    pub(crate) order: &'static str,
    pub(crate) noun: &'static str,
    pub(crate) name: &'a str,
    pub(crate) keep: Option<&'a Bound<'py, PyAny>>,
    pub(crate) options: Option<&'a Bound<'py, PyAny>>,
    pub(crate) preamble: &'a str,
}

impl KernelOptions<'_, '_> {
    /// Reads PyCUDA's argument `keep`. A string at the position of `keep` indicates CuPy's argument order.
    ///
    /// # Errors
    /// `TypeError` if `keep` is a string.
    pub(crate) fn keep(&self) -> PyResult<bool> {
        let Some(argument) = self.keep else { return Ok(false) };
        if argument.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "{}: keep is a bool, and a text was given: the arguments look like CuPy's, and the order here is PyCUDA's: {}",
                self.class, self.order
            )));
        }
        argument.is_truthy()
    }

    /// Checks that at least one declared argument is an array.
    ///
    /// # Errors
    /// `ValueError` if no declared argument is an array.
    pub(crate) fn require_array(&self, arguments: Vec<Argument>) -> PyResult<Vec<Argument>> {
        if arguments.iter().any(Argument::is_vector) {
            return Ok(arguments);
        }
        Err(PyValueError::new_err(format!("{}: {} needs an array among its arguments", self.name, self.noun)))
    }

    /// Returns the compiler options and the preamble of the kernel. Macro definitions are moved from the options to the
    /// preamble, so that macros do not affect the headers that the kernel itself includes. If the preamble contains
    /// `pycuda-`, an option adds the folder of PyGPU's headers.
    ///
    /// # Errors
    /// `TypeError` for options that are no strings.
    pub(crate) fn options(&self, py: Python<'_>) -> PyResult<(Vec<String>, String)> {
        let (options, preamble) = (source::options(self.options)?, self.preamble.to_owned());
        if options.is_empty() && !preamble.contains("pycuda-") {
            return Ok((options, preamble));
        }
        py.import("PyGPU._arguments.c_arguments")?.getattr("extract_macros")?.call1((options, preamble))?.extract()
    }
}
