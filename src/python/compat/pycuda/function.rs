//! Defines the class `Function`, a kernel in PyCUDA's syntax, ``func(*args, block=(x, y, z), grid=(1, 1))`` and
//! ``prepared_call``.
//!
//! A `Function` consists of a `Kernel` and the parameter types that `prepare` has set. `kernel::call` reads the
//! arguments and launches the kernel. `ValueError` exceptions of a launch are converted to PyCUDA's `LogicError`, which
//! is a `ValueError`, too.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyAssertionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::texture_references::TextureReferences;
use crate::array::class::GpuArray;
use crate::atexit::{Detached, DriverObject};
use crate::convert::dtype as dtypes;
use crate::errors;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::kernel::call::argument_packing::{self, ArgumentCheck, call_with_blocks};
use crate::kernel::class::{PyKernel, parameters};
use crate::kernel::dimensions::{extent, parse_u32};
use crate::kernel::launch_config::PyLaunchConfig;
use crate::py_once::intern;
use crate::runtime::stream as stream_argument;
use pygpu_backend::{EventFlags, LaunchShape};
use pygpu_base::error::Error;
use pygpu_device::stream::{self, Event, Stream};
use pygpu_kernel::{Configuration, Element, Parameter, ParameterKind, signature};

/// A kernel with PyCUDA's interface; created by `Module.get_function` and `SourceModule.get_function`.
///
/// Parameters
/// ----------
/// kernel : Kernel
///     The wrapped kernel.
/// references : object, optional
///     The textures and surfaces of the kernel's module, which each launch uses.
///
/// Notes
/// -----
/// ``func(*args, block=(x, y, z), grid=(1, 1), stream=None, shared=0, texrefs=[], time_kernel=False)`` launches.
/// Arguments are those of `Kernel`; arrays may have any strides. An array is passed as its address for any element
/// type, an ndarray as its bytes. With ``time_kernel=True`` the call waits for the kernel and returns its duration in
/// seconds. ``func(*args, config=LaunchConfig(...))`` launches with launch attributes.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> from PyGPU.driver import Function
/// >>> func = Function(PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }'))
/// >>> x = PyGPU.zeros(1, 'int32')
/// >>> func(x, block=(1, 1, 1), grid=(1, 1))
#[pyclass(frozen, weakref, name = "Function", module = "PyGPU.driver")]
pub(crate) struct PyFunction {
    pub(crate) kernel: Py<PyKernel>,
    /// The kernel with the parameter types that `prepare` has set.
    prepared: Mutex<Option<Py<PyKernel>>>,
    /// The textures and surfaces of the kernel's module.
    references: Option<Py<TextureReferences>>,
}

/// Two events, recorded before and after a kernel launch to measure its duration.
struct Timer {
    start: Event,
    end: Event,
}

impl Timer {
    /// Records the first event, calls `launch`, and records the second event, all on the stream of the launch.
    fn around(py: Python<'_>, stream: &Stream, launch: impl FnOnce() -> PyResult<()>) -> PyResult<Self> {
        let flags = EventFlags { timing: true, blocking_sync: false, interprocess: false };
        let device = stream.device();
        let timer = py.without_gil(|| {
            let timer = Self { start: Event::create(device, flags)?, end: Event::create(device, flags)? };
            timer.start.record(stream)?;
            Ok::<_, Error>(timer)
        })?;
        launch()?;
        py.without_gil(|| timer.end.record(stream))?;
        Ok(timer)
    }

    fn seconds(&self, py: Python<'_>) -> PyResult<f64> {
        let milliseconds = py.without_gil(|| {
            self.end.synchronize()?;
            self.start.elapsed(&self.end)
        })?;
        Ok(f64::from(milliseconds) * 1e-3)
    }
}

impl DriverObject for Timer {}

/// Measures the duration of one launch: the result of `Function.prepared_timed_call`.
#[pyclass(frozen, name = "LaunchTimer", module = "PyGPU.driver")]
struct LaunchTimer {
    timer: Detached<Timer>,
}

#[pymethods]
impl LaunchTimer {
    /// Wait for the kernel, and return its duration in seconds.
    // stub: def __call__(self, *args: Any, **kwargs: Any) -> float: ...
    fn __call__(&self, py: Python<'_>) -> PyResult<f64> {
        self.timer.seconds(py)
    }
}

#[cold]
fn missing_block() -> PyErr {
    PyValueError::new_err("a launch needs block=(x, y, z), the threads of a block along each axis")
}

#[inline]
fn shape(
    grid: Option<&Bound<'_, PyAny>>,
    block: &Bound<'_, PyAny>,
    shared: Option<&Bound<'_, PyAny>>,
) -> PyResult<LaunchShape> {
    Ok(LaunchShape {
        grid: grid.map_or(Ok([1; 3]), |grid| extent(grid, "grid"))?,
        block: extent(block, "block")?,
        shared: shared.map_or(Ok(0), |shared| parse_u32(shared, "shared"))?,
        cooperative: false,
    })
}

/// Reads an entry of the argument `arg_types` of `prepare`. An object that is not a type stands for a pointer.
fn parse_parameter(entry: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
    let pointer = || vec![Parameter::unnamed("P", ParameterKind::Pointer { element: Element::Any, constant: false })];
    if let Ok(letters) = entry.cast::<PyString>()
        && let Ok(parsed) = signature::of_letters(letters.to_str()?)
    {
        return Ok(parsed);
    }
    if entry.is(entry.py().get_type::<GpuArray>()) {
        return Ok(pointer());
    }
    match dtypes::from_python(entry) {
        Ok(dtype) => Ok(vec![signature::of_dtype(dtype)]),
        Err(_) => Ok(pointer()),
    }
}

/// Checks that `texrefs` contains only texture references. A launch uses the texture references of the module, whether
/// `texrefs` lists them or not.
fn check_texrefs(texrefs: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(texrefs) = texrefs.filter(|texrefs| !texrefs.is_none()) else { return Ok(()) };
    for texref in texrefs.try_iter()? {
        let texref = texref?;
        if texref.getattr_opt(intern!(texref.py(), "set_array"))?.is_none() {
            let class = texref.get_type().fully_qualified_name()?;
            return Err(PyTypeError::new_err(format!("texrefs are texture references, and {class} is none")));
        }
    }
    Ok(())
}

impl PyFunction {
    #[inline]
    fn launch<C: Configuration>(
        &self,
        py: Python<'_>,
        kernel: &PyKernel,
        shape: &C,
        stream: &Stream,
        args: &Bound<'_, PyTuple>,
    ) -> PyResult<()> {
        let launched = match &self.references {
            Some(references) if references.get().are_used() => {
                references.get().prepare(py, stream).and_then(|blocks| {
                    call_with_blocks(kernel.function(), shape, stream, args, ArgumentCheck::Lenient, blocks)
                })
            }
            _ => argument_packing::call(kernel.function(), shape, stream, args, ArgumentCheck::Lenient),
        };
        launched.map_err(|error| errors::as_logic(py, error))
    }

    /// Launches the kernel with the argument ``config=``, which contains all options of the launch.
    #[cold]
    fn launch_configured(
        &self,
        args: &Bound<'_, PyTuple>,
        others: &Bound<'_, PyDict>,
        has_options: bool,
    ) -> PyResult<()> {
        let py = args.py();
        let config = others.get_item(intern!(py, "config"))?.filter(|_| others.len() == 1);
        let Some(config) = config else {
            return Err(PyValueError::new_err(format!("a launch has no keyword {}", others.keys())));
        };
        let config = config.cast::<PyLaunchConfig>()?.get();
        if has_options {
            return Err(PyTypeError::new_err(
                "config= says grid, block, shared and stream: give them to LaunchConfig, and only there",
            ));
        }
        let kernel = self.kernel.get();
        let stream = config.stream_for(py, kernel)?.unwrap_or_else(|| stream::current(kernel.function().device()));
        self.launch(py, kernel, config.config(), &stream, args)
    }

    #[inline]
    fn stream(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<Stream> {
        let device = self.kernel.get().function().device();
        match stream {
            None => Ok(stream::current(device)),
            Some(argument) => stream_argument::from_argument(py, Some(argument), device),
        }
    }

    #[inline]
    fn prepared(&self, py: Python<'_>) -> PyResult<Py<PyKernel>> {
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        match &*prepared {
            Some(kernel) => Ok(kernel.clone_ref(py)),
            None => Err(errors::as_logic(
                py,
                PyValueError::new_err(format!(
                    "{}: call prepare() with the types of the parameters before",
                    self.kernel.get().function().name()
                )),
            )),
        }
    }
}

#[pymethods]
impl PyFunction {
    #[new]
    #[pyo3(signature = (kernel: "Kernel", references: "References | None" = None) -> "Self")]
    fn py_new(kernel: Py<PyKernel>, references: Option<Py<TextureReferences>>) -> Self {
        Self { kernel, prepared: Mutex::new(None), references }
    }

    #[expect(clippy::too_many_arguments, reason = "PyCUDA's keywords; a dictionary of them would cost time")]
    #[pyo3(signature = (
        *args: "Any", block: "int | Sequence[int] | None" = None, grid: "int | Sequence[int] | None" = None,
        stream: "StreamLike" = None, shared: "int | None" = None, texrefs: "Sequence[Any] | None" = None,
        time_kernel: "bool | None" = None, **others: "Any"
    ) -> "float | None")]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        block: Option<&Bound<'py, PyAny>>,
        grid: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
        shared: Option<&Bound<'py, PyAny>>,
        texrefs: Option<&Bound<'py, PyAny>>,
        time_kernel: Option<&Bound<'py, PyAny>>,
        others: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<f64>> {
        let py = args.py();
        if let Some(others) = others {
            let has_options = [block, grid, stream, shared, time_kernel].iter().any(Option::is_some);
            return self.launch_configured(args, others, has_options).map(|()| None);
        }
        let Some(block) = block else { return Err(missing_block()) };
        check_texrefs(texrefs)?;
        let shape = shape(grid, block, shared)?;
        let launch_stream = self.stream(py, stream)?;
        let kernel = self.kernel.get();
        if !time_kernel.map_or(Ok(false), |flag| flag.is_truthy())? {
            return self.launch(py, kernel, &shape, &launch_stream, args).map(|()| None);
        }
        if stream.is_some() {
            return Err(PyAssertionError::new_err("time_kernel=True waits for the kernel, and takes no stream"));
        }
        let timer = Timer::around(py, &launch_stream, || self.launch(py, kernel, &shape, &launch_stream, args))?;
        timer.seconds(py).map(Some)
    }

    /// Set the types of the parameters, for `prepared_call`.
    ///
    /// Parameters
    /// ----------
    /// arg_types : str or sequence
    ///     Letters as in `struct`, with ``F`` and ``D`` for complex numbers: ``'PPif'``. Or one entry for each parameter: letters,
    ///     dtypes, and any other object for a pointer.
    /// texrefs : sequence of TextureReference, optional
    ///     Only checked: a launch uses the texture references of the module, whether they are listed here or not.
    ///
    /// Returns
    /// -------
    /// Function
    ///     The function itself.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the types differ from the kernel's parameters that the driver reports.
    ///
    /// Examples
    /// --------
    /// >>> from PyGPU.compiler import SourceModule
    /// >>> module = SourceModule('__global__ void one(int *x) { *x = 1; }')
    /// >>> func = module.get_function('one').prepare('P')
    #[pyo3(signature = (arg_types: "str | Sequence[Any]", texrefs: "Sequence[Any] | None" = None) -> "Self")]
    fn prepare<'py>(
        slf: Bound<'py, Self>,
        arg_types: &Bound<'py, PyAny>,
        texrefs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        check_texrefs(texrefs)?;
        let list = if arg_types.cast::<PyString>().is_ok() {
            parameters(arg_types)?
        } else {
            let mut list = Vec::new();
            for entry in arg_types.try_iter()? {
                list.extend(parse_parameter(&entry?)?);
            }
            list
        };
        let kernel = PyKernel::new(slf.get().kernel.get().function().with_parameters(list)?);
        let kernel = Py::new(slf.py(), kernel)?;
        let previous = slf.get().prepared.lock().unwrap_or_else(PoisonError::into_inner).replace(kernel);
        // The previous kernel is dropped after the lock is released, because the drop may call the driver.
        drop(previous);
        Ok(slf)
    }

    /// Launch the kernel with the parameter types given to `prepare`.
    ///
    /// Parameters
    /// ----------
    /// grid : tuple of int
    ///     Number of blocks along each axis.
    /// block : tuple of int
    ///     Number of threads of a block along each axis.
    /// *args
    ///     The kernel's arguments: numbers, addresses and arrays.
    /// shared_size : int, optional
    ///     Bytes of dynamic shared memory.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> from PyGPU.compiler import SourceModule
    /// >>> module = SourceModule('__global__ void fill(float *x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] = a; }')
    /// >>> func = module.get_function('fill').prepare('Pfi')
    /// >>> x = PyGPU.empty(3, 'float32')
    /// >>> func.prepared_call((1, 1), (32, 1, 1), x.gpudata, 2.0, 3)
    /// >>> x.tolist()
    /// [2.0, 2.0, 2.0]
    #[pyo3(
        signature = (
            grid: "int | Sequence[int]", block: "int | Sequence[int]", *args: "Any", shared_size: "int" = None
        ) -> "None",
        text_signature = "($self, grid, block, *args, shared_size=0)"
    )]
    fn prepared_call<'py>(
        &self,
        grid: &Bound<'py, PyAny>,
        block: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        shared_size: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        self.prepared_async_call(grid, block, None, args, shared_size)
    }

    /// Launch the kernel like `prepared_call`, on a stream.
    ///
    /// Parameters
    /// ----------
    /// grid, block : tuple of int
    ///     Numbers of blocks, and of threads of a block, along each axis.
    /// stream : Stream or None
    ///     None is the thread's current stream.
    /// *args
    ///     The kernel's arguments: numbers, addresses and arrays.
    /// shared_size : int, optional
    ///     Bytes of dynamic shared memory.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> from PyGPU.compiler import SourceModule
    /// >>> module = SourceModule('__global__ void fill(float *x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] = a; }')
    /// >>> func = module.get_function('fill').prepare('Pfi')
    /// >>> x = PyGPU.empty(3, 'float32')
    /// >>> func.prepared_async_call((1, 1), (32, 1, 1), PyGPU.Stream(), x.gpudata, 2.0, 3)
    /// >>> x.tolist()
    /// [2.0, 2.0, 2.0]
    #[pyo3(
        signature = (
            grid: "int | Sequence[int]", block: "int | Sequence[int]", stream: "StreamLike", *args: "Any",
            shared_size: "int" = None
        ) -> "None",
        text_signature = "($self, grid, block, stream, *args, shared_size=0)"
    )]
    fn prepared_async_call<'py>(
        &self,
        grid: &Bound<'py, PyAny>,
        block: &Bound<'py, PyAny>,
        stream: Option<&Bound<'py, PyAny>>,
        args: &Bound<'py, PyTuple>,
        shared_size: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let py = args.py();
        let shape = shape(Some(grid), block, shared_size)?;
        let stream = self.stream(py, stream)?;
        self.launch(py, self.prepared(py)?.get(), &shape, &stream, args)
    }

    /// Launch the kernel like `prepared_call`, and measure the time.
    ///
    /// Parameters
    /// ----------
    /// grid, block : tuple of int
    ///     Numbers of blocks, and of threads of a block, along each axis.
    /// *args
    ///     The kernel's arguments: numbers, addresses and arrays.
    /// shared_size : int, optional
    ///     Bytes of dynamic shared memory.
    ///
    /// Returns
    /// -------
    /// LaunchTimer
    ///     A callable that waits for the kernel and returns its duration in seconds.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> from PyGPU.compiler import SourceModule
    /// >>> module = SourceModule('__global__ void fill(float *x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] = a; }')
    /// >>> func = module.get_function('fill').prepare('Pfi')
    /// >>> x = PyGPU.empty(3, 'float32')
    /// >>> func.prepared_timed_call((1, 1), (32, 1, 1), x.gpudata, 2.0, 3)() > 0
    /// True
    #[pyo3(
        signature = (
            grid: "int | Sequence[int]", block: "int | Sequence[int]", *args: "Any", shared_size: "int" = None
        ) -> "LaunchTimer",
        text_signature = "($self, grid, block, *args, shared_size=0)"
    )]
    fn prepared_timed_call<'py>(
        &self,
        grid: &Bound<'py, PyAny>,
        block: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        shared_size: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<LaunchTimer> {
        let py = args.py();
        let shape = shape(Some(grid), block, shared_size)?;
        let stream = self.stream(py, None)?;
        let kernel = self.prepared(py)?;
        let timer = Timer::around(py, &stream, || self.launch(py, kernel.get(), &shape, &stream, args))?;
        Ok(LaunchTimer { timer: Detached::new(timer) })
    }

    /// Do nothing: each launch uses the texture references of its module.
    ///
    /// Parameters
    /// ----------
    /// tr : TextureReference
    ///     A texture reference.
    ///
    /// Examples
    /// --------
    /// >>> from PyGPU.compiler import SourceModule
    /// >>> module = SourceModule('texture<float> t; __global__ void one(float *x) { *x = tex1Dfetch(t, 0); }')
    /// >>> module.get_function('one').param_set_texref(module.get_texref('t'))
    #[pyo3(signature = (tr: "object") -> "None")]
    fn param_set_texref(&self, tr: &Bound<'_, PyAny>) -> PyResult<()> {
        check_texrefs(Some(PyTuple::new(tr.py(), [tr])?.as_any()))
    }

    /// The wrapped `Kernel`.
    #[getter]
    fn kernel(&self, py: Python<'_>) -> Py<PyKernel> {
        self.kernel.clone_ref(py)
    }

    /// The kernel's name in the source.
    #[getter]
    fn name(&self) -> String {
        self.kernel.get().function().name().to_owned()
    }

    /// The driver's handle.
    #[getter]
    fn handle(&self) -> usize {
        self.kernel.get().function().handle().0
    }

    fn __repr__(&self) -> String {
        format!("<PyGPU.driver.Function {}>", self.kernel.get().function().name())
    }
}

names! {
    internal_classes: LaunchTimer, PyFunction;
}
