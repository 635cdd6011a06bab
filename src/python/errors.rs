//! Where Rust's errors become Python's exceptions, and nowhere else.

use pyo3::exceptions::{PyBufferError, PyIndexError, PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::error::Error;

/// The classes that have no equal among the built-in ones.
struct Classes {
    error: Py<PyType>,
    cuda_error: Py<PyType>,
    launch: Py<PyType>,
    runtime: Py<PyType>,
    logic: Py<PyType>,
    out_of_memory: Py<PyType>,
    not_supported: Py<PyType>,
    unavailable: Py<PyType>,
    fork: Py<PyType>,
    compile: Py<PyType>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

const ERROR_DOC: &str = "What a driver, a compiler or a backend refuses: the base of PyGPU's own exceptions.";

const LAUNCH_DOC: &str =
    "A kernel could not be launched, or failed: it took too long, wants more than the device has, or was stopped.";

const RUNTIME_DOC: &str =
    "The device or an image cannot be used: there is no device, no code for it, no such file; or it is not ready.";

const LOGIC_DOC: &str = "A call that cannot work: a wrong value, handle or name, or a wrong order of calls.";

const CUDA_ERROR_DOC: &str = "A driver refused a call.

Attributes
----------
code : int
    The driver's number; the codes that CUDA and HIP share are equal.
name : str
    The driver's name of it, for example ``'CUDA_ERROR_INVALID_VALUE'``.
text : str
    The driver's one-line explanation.
operation : str
    The driver's function.
device : str
    The device, for example ``'cuda:0'``; empty where none is concerned.";

const OUT_OF_MEMORY_DOC: &str = "Memory could not be had, also after waiting for the device and trimming the pool.

It is a :class:`CudaError` and a :class:`MemoryError`. The message says what was asked for, what live PyGPU arrays hold
and what the device has free.";

const NOT_SUPPORTED_DOC: &str = "The operation exists, but not on this backend, device or driver.";

const UNAVAILABLE_DOC: &str = "No backend can serve the request; the message says what was searched and why it failed.";

const COMPILE_DOC: &str = "A kernel's source does not compile.

Attributes
----------
log : str
    What the compiler said, with the line numbers of the source.
source : str
    The source, as it was given.
options : tuple of str
    The options, in the compiler's words.
compiler : str
    The compiler, with its version.
msg, command_line, stdout, stderr
    The same in PyCUDA's words: what happened, the compiler and its options, and what it said.";

const FORK_DOC: &str = "A GPU call in a process that was forked after the driver was initialised.";

/// Codes that the drivers share, by the class in which PyCUDA raises them; every other one is a `LogicError`.
fn family(code: u32) -> Family {
    match code {
        // Launch failed, timed out, lacks resources, is incompatible with texturing.
        719 | 702 | 701 | 703 => Family::Launch,
        // No device, no code for the device, no such file, not ready, an uncorrectable memory error.
        100 | 209 | 301 | 600 | 214 => Family::Runtime,
        999 => Family::Unknown,
        _ => Family::Logic,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Launch,
    Runtime,
    Logic,
    Unknown,
}

impl Classes {
    fn of_code(&self, code: u32) -> &Py<PyType> {
        match family(code) {
            Family::Launch => &self.launch,
            Family::Runtime => &self.runtime,
            Family::Logic => &self.logic,
            Family::Unknown => &self.cuda_error,
        }
    }
}

/// PyCUDA's names, which stay out of the package's own: two of them are names of built-in classes.
const DRIVER_MODULE: &str = "PyGPU.driver";

fn exception<'py>(py: Python<'py>, name: &str, bases: Bound<'py, PyTuple>, doc: &str) -> PyResult<Bound<'py, PyType>> {
    exception_of("PyGPU", py, name, bases, doc)
}

fn exception_of<'py>(
    module: &str,
    py: Python<'py>,
    name: &str,
    bases: Bound<'py, PyTuple>,
    doc: &str,
) -> PyResult<Bound<'py, PyType>> {
    let namespace = PyDict::new(py);
    namespace.set_item("__module__", module)?;
    namespace.set_item("__doc__", doc)?;
    Ok(py.get_type::<PyType>().call1((name, bases, namespace))?.cast_into::<PyType>()?)
}

fn make_classes(py: Python<'_>) -> PyResult<Classes> {
    let runtime = py.get_type::<PyRuntimeError>();
    let base = exception_of(DRIVER_MODULE, py, "Error", PyTuple::new(py, [&runtime])?, ERROR_DOC)?;
    let cuda_error = exception(py, "CudaError", PyTuple::new(py, [&base])?, CUDA_ERROR_DOC)?;
    for name in ["name", "text", "operation", "device"] {
        cuda_error.setattr(name, "")?;
    }
    cuda_error.setattr("code", 0)?;
    let memory = py.get_type::<PyMemoryError>();
    let out_of_memory =
        exception(py, "OutOfMemoryError", PyTuple::new(py, [&cuda_error, &memory])?, OUT_OF_MEMORY_DOC)?;
    let compile = exception(py, "CompileError", PyTuple::new(py, [&base])?, COMPILE_DOC)?;
    for name in ["log", "source", "compiler", "msg", "stdout", "stderr"] {
        compile.setattr(name, "")?;
    }
    for name in ["options", "command_line"] {
        compile.setattr(name, PyTuple::empty(py))?;
    }
    let base_only = || PyTuple::new(py, [&base]);
    let driver_error = |name, doc| -> PyResult<Py<PyType>> {
        Ok(exception_of(DRIVER_MODULE, py, name, PyTuple::new(py, [&cuda_error])?, doc)?.unbind())
    };
    Ok(Classes {
        launch: driver_error("LaunchError", LAUNCH_DOC)?,
        runtime: driver_error("RuntimeError", RUNTIME_DOC)?,
        logic: driver_error("LogicError", LOGIC_DOC)?,
        not_supported: exception(py, "NotSupportedError", base_only()?, NOT_SUPPORTED_DOC)?.unbind(),
        unavailable: exception(py, "BackendUnavailableError", base_only()?, UNAVAILABLE_DOC)?.unbind(),
        fork: exception(py, "ForkError", base_only()?, FORK_DOC)?.unbind(),
        error: base.unbind(),
        cuda_error: cuda_error.unbind(),
        out_of_memory: out_of_memory.unbind(),
        compile: compile.unbind(),
    })
}

/// Puts the classes into the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let classes = CLASSES.get_or_try_init(py, || make_classes(py))?;
    module.add("Error", &classes.error)?;
    module.add("CudaError", &classes.cuda_error)?;
    module.add("LaunchError", &classes.launch)?;
    module.add("DriverRuntimeError", &classes.runtime)?;
    module.add("LogicError", &classes.logic)?;
    module.add("OutOfMemoryError", &classes.out_of_memory)?;
    module.add("NotSupportedError", &classes.not_supported)?;
    module.add("BackendUnavailableError", &classes.unavailable)?;
    module.add("CompileError", &classes.compile)?;
    module.add("ForkError", &classes.fork)
}

impl From<Error> for PyErr {
    #[cold]
    fn from(error: Error) -> Self {
        Python::attach(|py| convert(py, &error).unwrap_or_else(|failure| failure))
    }
}

fn convert(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let text = error.to_string();
    let classes = CLASSES.get_or_try_init(py, || make_classes(py))?;
    let of = |class: &Py<PyType>| PyErr::from_type(class.bind(py).clone(), text.clone());
    Ok(match error {
        Error::Value(_) => PyValueError::new_err(text),
        Error::Type(_) => PyTypeError::new_err(text),
        Error::Index(_) => PyIndexError::new_err(text),
        Error::Buffer(_) => PyBufferError::new_err(text),
        Error::NotSupported(_) => of(&classes.not_supported),
        Error::Unavailable(_) => of(&classes.unavailable),
        Error::Forked { .. } => of(&classes.fork),
        Error::OutOfMemory(memory) => {
            let raised = of(&classes.out_of_memory);
            let value = raised.value(py);
            value.setattr("code", 2)?;
            value.setattr("name", &memory.name)?;
            value.setattr("text", &memory.text)?;
            value.setattr("operation", memory.operation)?;
            value.setattr("device", &memory.device)?;
            raised
        }
        Error::Compile(compile) => {
            let raised = of(&classes.compile);
            let value = raised.value(py);
            value.setattr("log", &compile.log)?;
            value.setattr("source", &compile.source)?;
            value.setattr("options", PyTuple::new(py, &compile.options)?)?;
            value.setattr("compiler", &compile.compiler)?;
            value.setattr("msg", format!("{} could not compile {}", compile.compiler, compile.name))?;
            let words =
                compile.compiler.split(' ').next().into_iter().chain(compile.options.iter().map(String::as_str));
            value.setattr("command_line", PyTuple::new(py, words.collect::<Vec<_>>())?)?;
            value.setattr("stderr", &compile.log)?;
            raised
        }
        Error::Callback(cause) => match cause.downcast_ref::<PyErr>() {
            Some(raised) => raised.clone_ref(py),
            None => PyRuntimeError::new_err(text),
        },
        Error::Driver(driver) => {
            let raised = of(classes.of_code(driver.code));
            let value = raised.value(py);
            value.setattr("code", driver.code)?;
            value.setattr("name", &driver.name)?;
            value.setattr("text", &driver.text)?;
            value.setattr("operation", driver.operation)?;
            value.setattr("device", &driver.device)?;
            raised
        }
    })
}
