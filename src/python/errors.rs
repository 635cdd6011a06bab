//! Converts Rust errors into Python exceptions. All conversions are in this file.

use pyo3::exceptions::{
    PyBaseException, PyBufferError, PyException, PyIndexError, PyKeyError, PyMemoryError, PyRuntimeError, PyTypeError,
    PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple, PyType};

use crate::callback::CallbackError;
use crate::exported_names::{ExportedNames, names};
use crate::py_once::PyOnce;
use pygpu_base::error::Error;
use pygpu_base::flush_points::PythonAccess;

/// Exception classes without a built-in equivalent.
struct ErrorClasses {
    error: Py<PyType>,
    launch: Py<PyType>,
    runtime: Py<PyType>,
    logic: Py<PyType>,
    invalid: Py<PyType>,
    cuda_error: Py<PyType>,
    out_of_memory: Py<PyType>,
    not_supported: Py<PyType>,
    unavailable: Py<PyType>,
    fork: Py<PyType>,
    compile: Py<PyType>,
}

static CLASSES: PyOnce<ErrorClasses> = PyOnce::new();

const ERROR_DOC: &str = "Base class of the exceptions that PyGPU defines for drivers, compilers and devices.";

const LAUNCH_DOC: &str =
    "A kernel failed, exceeded the driver's time limit, or needs more resources than the device has.";

const RUNTIME_DOC: &str =
    "No device exists, the kernel image does not fit the device, a file is missing, or memory is damaged.";

const LOGIC_DOC: &str = "A driver rejected a call, for example because of an invalid value, handle, address or name.";

const INVALID_DOC: &str =
    "PyGPU rejected a value without a driver call: a :class:`LogicError` and a :class:`ValueError`.";

const CUDA_ERROR_DOC: &str = "A driver call failed.

Attributes
----------
code, status : int
    The driver's number of the error; errors that CUDA and HIP share have equal numbers. `status` is CuPy's name.
name : str
    The driver's name of the error, for example ``'CUDA_ERROR_INVALID_VALUE'``.
text : str
    The driver's one-line explanation of the error.
operation : str
    The driver function that failed.
device : str
    The device, for example ``'cuda:0'``; empty if the error concerns no device.";

const OUT_OF_MEMORY_DOC: &str =
    "Too little memory was available, even after waiting for the device and trimming the pool.

The class derives from :class:`CudaError` and :class:`MemoryError`. The message contains the requested size, the size of
live PyGPU arrays, and the free memory of the device.";

const NOT_SUPPORTED_DOC: &str = "The operation exists, but not on this backend, device or driver.";

const UNAVAILABLE_DOC: &str =
    "No backend, library or compiler serves the request; the message gives the searched paths and the cause.";

const COMPILE_DOC: &str = "A kernel's source does not compile.

Attributes
----------
log : str
    The compiler's output, with the line numbers of the source.
source : str
    The source as the caller passed it.
options : tuple of str
    The options that the compiler received.
compiler : str
    Name and version of the compiler.";

const FORK_DOC: &str = "A GPU call in a process that was forked after the driver was initialised.";

fn exception<'py>(
    py: Python<'py>,
    name: &str,
    bases: Bound<'py, PyTuple>,
    doc: &str,
    attributes: &[(&str, Bound<'py, PyAny>)],
) -> PyResult<Bound<'py, PyType>> {
    new_class(py, "PyGPU", name, bases, doc, attributes)
}

/// Creates an exception class with the name of a class of PyCUDA's module `driver`.
fn driver_exception<'py>(
    py: Python<'py>,
    name: &str,
    bases: &[&Bound<'py, PyType>],
    doc: &str,
    attributes: &[(&str, Bound<'py, PyAny>)],
) -> PyResult<Bound<'py, PyType>> {
    new_class(py, "PyGPU.driver", name, PyTuple::new(py, bases)?, doc, attributes)
}

/// Creates a class. The attributes are part of the new class's namespace, because each later assignment to a class
/// updates its slots, at every import.
fn new_class<'py>(
    py: Python<'py>,
    module: &str,
    name: &str,
    bases: Bound<'py, PyTuple>,
    doc: &str,
    attributes: &[(&str, Bound<'py, PyAny>)],
) -> PyResult<Bound<'py, PyType>> {
    let namespace = PyDict::new(py);
    namespace.set_item("__module__", module)?;
    namespace.set_item("__doc__", doc)?;
    attributes.iter().try_for_each(|(name, value)| namespace.set_item(*name, value))?;
    Ok(py.get_type::<PyType>().call1((name, bases, namespace))?.cast_into::<PyType>()?)
}

fn create_classes(py: Python<'_>) -> PyResult<ErrorClasses> {
    let runtime = py.get_type::<PyRuntimeError>();
    let (text, zero, one) =
        (PyString::new(py, "").into_any(), PyInt::new(py, 0).into_any(), PyInt::new(py, 1).into_any());
    let nothing = PyTuple::empty(py).into_any();
    let texts = |names: &[&'static str]| names.iter().map(|name| (*name, text.clone())).collect::<Vec<_>>();
    let error = driver_exception(py, "Error", &[&py.get_type::<PyException>()], ERROR_DOC, &[])?;
    let base = || PyTuple::new(py, [&error, &runtime]);
    let mut attributes = texts(&["name", "text", "operation", "device"]);
    attributes.extend(["code", "status"].map(|name| (name, zero.clone())));
    let cuda_error = exception(py, "CudaError", base()?, CUDA_ERROR_DOC, &attributes)?;
    let memory = PyTuple::new(py, [&cuda_error, &py.get_type::<PyMemoryError>()])?;
    let out_of_memory = exception(py, "OutOfMemoryError", memory, OUT_OF_MEMORY_DOC, &[])?;
    let mut attributes = texts(&["log", "source", "compiler", "msg", "stdout", "stderr"]);
    attributes.extend(["options", "command_line"].map(|name| (name, nothing.clone())));
    let compile = exception(py, "CompileError", base()?, COMPILE_DOC, &attributes)?;
    let logic = driver_exception(py, "LogicError", &[&cuda_error], LOGIC_DOC, &[])?;
    let bases = [&logic, &py.get_type::<PyValueError>()];
    let attributes = ["code", "status"].map(|name| (name, one.clone()));
    let invalid = driver_exception(py, "InvalidValueError", &bases, INVALID_DOC, &attributes)?;
    Ok(ErrorClasses {
        launch: driver_exception(py, "LaunchError", &[&cuda_error], LAUNCH_DOC, &[])?.unbind(),
        runtime: driver_exception(py, "RuntimeError", &[&cuda_error], RUNTIME_DOC, &[])?.unbind(),
        logic: logic.unbind(),
        invalid: invalid.unbind(),
        not_supported: exception(py, "NotSupportedError", base()?, NOT_SUPPORTED_DOC, &[])?.unbind(),
        unavailable: exception(py, "BackendUnavailableError", base()?, UNAVAILABLE_DOC, &[])?.unbind(),
        fork: exception(py, "ForkError", base()?, FORK_DOC, &[])?.unbind(),
        error: error.clone().unbind(),
        cuda_error: cuda_error.unbind(),
        out_of_memory: out_of_memory.unbind(),
        compile: compile.unbind(),
    })
}

/// A class of `ErrorClasses`, its name in the module, and whether the name is public.
type NamedClass = (&'static str, fn(&ErrorClasses) -> &Py<PyType>, bool);

const NAMES: [NamedClass; 11] = [
    ("Error", |classes| &classes.error, false),
    ("LaunchError", |classes| &classes.launch, false),
    ("DriverRuntimeError", |classes| &classes.runtime, false),
    ("LogicError", |classes| &classes.logic, false),
    ("InvalidValueError", |classes| &classes.invalid, false),
    ("CudaError", |classes| &classes.cuda_error, true),
    ("OutOfMemoryError", |classes| &classes.out_of_memory, true),
    ("NotSupportedError", |classes| &classes.not_supported, true),
    ("BackendUnavailableError", |classes| &classes.unavailable, true),
    ("CompileError", |classes| &classes.compile, true),
    ("ForkError", |classes| &classes.fork, true),
];

fn class<'py>(module: &Bound<'py, PyModule>, name: &'static str) -> PyResult<Bound<'py, PyAny>> {
    let py = module.py();
    let Some((_, class_of, _)) = NAMES.iter().find(|(known, ..)| *known == name) else {
        return Err(PyKeyError::new_err(name));
    };
    let classes = CLASSES.get_or_try_init(py, || create_classes(py))?;
    Ok(class_of(classes).bind(py).clone().into_any())
}

fn add_classes(names: &mut ExportedNames) {
    pygpu_base::error::raise_with(raise);
    for (name, _, is_public) in NAMES {
        names.add(name, class, name, is_public);
    }
}

// stub: class Error(Exception): ...

// stub: class CompileError(Error, RuntimeError):
// stub:     log: str
// stub:     source: str
// stub:     options: tuple[str, ...]
// stub:     compiler: str
// stub:     msg: str
// stub:     command_line: tuple[str, ...]
// stub:     stdout: str
// stub:     stderr: str

// stub: class CudaError(Error, RuntimeError):
// stub:     code: int
// stub:     status: int
// stub:     name: str
// stub:     text: str
// stub:     operation: str
// stub:     device: str

// stub: class OutOfMemoryError(CudaError, MemoryError): ...
// stub: class LaunchError(CudaError): ...
// stub: class DriverRuntimeError(CudaError): ...
// stub: class LogicError(CudaError): ...
// stub: class InvalidValueError(LogicError, ValueError): ...
// stub: class NotSupportedError(Error, RuntimeError): ...
// stub: class BackendUnavailableError(Error, RuntimeError): ...
// stub: class ForkError(Error, RuntimeError): ...

names! {
    with add_classes;
    values "Exceptions": CudaError, OutOfMemoryError, CompileError, NotSupportedError, BackendUnavailableError, ForkError;
    internal_values: Error, LaunchError, DriverRuntimeError, LogicError, InvalidValueError;
}

/// Converts an error of the lower layers into a Python exception.
#[cold]
fn raise(error: &Error) -> PyErr {
    debug_assert!(PythonAccess::here().is_some(), "a flush raises an exception");
    Python::attach(|py| convert(py, error).unwrap_or_else(|failure| failure))
}

/// Returns PyCUDA's class for a driver's error code.
fn class_of_code(classes: &ErrorClasses, code: u32) -> &Py<PyType> {
    match code {
        701..=703 | 719 => &classes.launch,
        100 | 209 | 214 | 301 | 600 => &classes.runtime,
        999 => &classes.cuda_error,
        _ => &classes.logic,
    }
}

/// Converts a `ValueError` to the error that PyCUDA's functions raise for a rejected value: a `LogicError` that is also
/// a `ValueError`. Returns any other error unchanged.
#[cold]
pub(crate) fn as_logic(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.get_type(py).is(py.get_type::<PyValueError>()) {
        return error;
    }
    match CLASSES.get_or_try_init(py, || create_classes(py)) {
        Ok(classes) => PyErr::from_type(classes.invalid.bind(py).clone(), error.value(py).to_string()),
        Err(failure) => failure,
    }
}

/// Converts a `ValueError` for a device that does not exist to a `LogicError` that is also a `ValueError`, with the
/// driver's error code for such a device. Returns any other error unchanged.
#[cold]
pub(crate) fn as_missing_device(py: Python<'_>, error: PyErr) -> PyErr {
    const INVALID_DEVICE: u32 = 101;
    let logic = as_logic(py, error);
    let is_rejected = CLASSES.get(py).is_some_and(|classes| logic.get_type(py).is(classes.invalid.bind(py)));
    match is_rejected.then(|| set_code(logic.value(py), INVALID_DEVICE)) {
        Some(Err(failure)) => failure,
        _ => logic,
    }
}

/// Whether the error reports a GPU call in a forked child.
#[cold]
pub(crate) fn is_fork(py: Python<'_>, error: &PyErr) -> bool {
    CLASSES.get(py).is_some_and(|classes| error.is_instance(py, classes.fork.bind(py)))
}

/// Stores the driver's error code as an attribute of the Python exception, under the names of PyGPU and CuPy.
fn set_code(error: &Bound<'_, PyBaseException>, code: u32) -> PyResult<()> {
    error.setattr("code", code)?;
    error.setattr("status", code)
}

fn convert(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let text = error.to_string();
    let classes = CLASSES.get_or_try_init(py, || create_classes(py))?;
    let new_error = |class: &Py<PyType>| PyErr::from_type(class.bind(py).clone(), text.clone());
    Ok(match error {
        Error::Value(_) => PyValueError::new_err(text),
        Error::Type(_) => PyTypeError::new_err(text),
        Error::Index(_) => PyIndexError::new_err(text),
        Error::Axis { argument, axis, ndim } => {
            let class = py.import("numpy.exceptions")?.getattr("AxisError")?;
            PyErr::from_value(class.call1((axis, ndim, argument))?)
        }
        Error::Buffer(_) => PyBufferError::new_err(text),
        Error::NotSupported(_) => new_error(&classes.not_supported),
        Error::Unavailable(_) => new_error(&classes.unavailable),
        Error::Forked { .. } => new_error(&classes.fork),
        Error::OutOfMemory(memory) => {
            let py_error = new_error(&classes.out_of_memory);
            let value = py_error.value(py);
            set_code(value, 2)?;
            value.setattr("name", &memory.name)?;
            value.setattr("text", &memory.text)?;
            value.setattr("operation", memory.operation)?;
            value.setattr("device", &memory.device)?;
            py_error
        }
        Error::Compile(compile) => {
            let py_error = new_error(&classes.compile);
            let value = py_error.value(py);
            value.setattr("log", &compile.log)?;
            value.setattr("source", &compile.source)?;
            value.setattr("options", PyTuple::new(py, &compile.options)?)?;
            value.setattr("compiler", &compile.compiler)?;
            value.setattr("msg", format!("{} could not compile {}", compile.compiler, compile.name))?;
            value.setattr("command_line", PyTuple::new(py, &compile.options)?)?;
            value.setattr("stderr", &compile.log)?;
            py_error
        }
        Error::Callback(cause) => match cause.downcast_ref::<CallbackError>() {
            Some(py_error) => py_error.to_error(py),
            None => PyRuntimeError::new_err(text),
        },
        Error::Driver(driver) => {
            let py_error = new_error(class_of_code(classes, driver.code));
            let value = py_error.value(py);
            set_code(value, driver.code)?;
            value.setattr("name", &driver.name)?;
            value.setattr("text", &driver.text)?;
            value.setattr("operation", driver.operation)?;
            value.setattr("device", &driver.device)?;
            py_error
        }
    })
}
