//! PyCUDA's `Function`: a kernel that is launched as `func(*args, block=..., grid=...)`, or by a prepared signature.
//!
//! Parses a call and hands it on to `kernel_call`; what a kernel is, is `Kernel`'s affair.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyAssertionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::gil::WithoutGil;
use super::kernel::Kernel;
use super::kernel_call::{self, Rules};
use super::kernel_launcher::{extent, number_of};
use super::{dtype as dtypes, stream as streams};
use crate::backend::{EventFlags, LaunchShape};
use crate::error::{Error, Result};
use crate::kernel::{Element, Function, Parameter, ParameterKind, signature};
use crate::stream::{Event, Stream};

/// A kernel in PyCUDA's spelling.
///
/// Notes
/// -----
/// ``func(*args, block=(x, y, z), grid=(1, 1), stream=None, shared=0, texrefs=[], time_kernel=False)`` launches. Arguments are
/// what `Kernel` takes, and unlike there arrays may be strided and of another type of the same size, as in PyCUDA. Without a
/// stream it is the legacy default stream. With ``time_kernel=True`` the call waits and gives the seconds.
///
/// ``func.prepare('PPi')`` says the types once, for ``func.prepared_call(grid, block, *args)``.
///
/// Examples
/// --------
/// >>> from PyGPU.compiler import SourceModule
/// >>> module = SourceModule('__global__ void one(int *x) { *x = 1; }')  # doctest: +SKIP
/// >>> func = module.get_function('one')  # doctest: +SKIP
/// >>> func(x, block=(1, 1, 1))  # doctest: +SKIP
#[pyclass(frozen, weakref, name = "Function", module = "PyGPU.driver")]
pub(super) struct DriverFunction {
    pub(super) kernel: Py<Kernel>,
    /// The kernel with the types that `prepare` was told.
    prepared: Mutex<Option<Function>>,
}

/// Both ends of a launch that is timed.
struct Timer {
    start: Event,
    end: Event,
}

impl Timer {
    fn started(stream: &Stream) -> Result<Self> {
        let flags = EventFlags { timing: true, blocking_sync: false, interprocess: false };
        let (start, end) = (Event::create(stream.device(), flags)?, Event::create(stream.device(), flags)?);
        start.record(stream)?;
        Ok(Self { start, end })
    }

    fn seconds(&self) -> Result<f64> {
        self.end.synchronize()?;
        Ok(f64::from(self.start.elapsed(&self.end)?) * 1e-3)
    }
}

/// Gives the seconds of a launch when it is called.
#[pyclass(frozen, name = "TimedLaunch", module = "PyGPU.driver")]
struct TimedLaunch {
    timer: Timer,
}

#[pymethods]
impl TimedLaunch {
    /// Waits for the launch.
    fn __call__(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(py.without_gil(|| self.timer.seconds())?)
    }
}

/// Threads of a block: exactly three numbers, as PyCUDA wants them.
#[inline]
fn block_of(block: &Bound<'_, PyAny>) -> PyResult<[u32; 3]> {
    let given = if let Ok(tuple) = block.cast_exact::<PyTuple>() { tuple.len() } else { block.len().unwrap_or(0) };
    if given == 3 {
        return extent(block, "block");
    }
    Err(PyValueError::new_err(format!("block is a tuple of three ints, as (256, 1, 1), not {block}")))
}

#[inline]
fn stream_of(py: Python<'_>, stream: Option<&Bound<'_, PyAny>>, function: &Function) -> PyResult<Stream> {
    match stream.filter(|stream| !stream.is_none()) {
        None => Ok(Stream::default_of(function.device())),
        stream => streams::from_argument(py, stream, function.device()),
    }
}

#[cold]
fn no_texture_references() -> Error {
    Error::not_supported(
        "texture and surface references are gone from CUDA 12 and from PyGPU: read plain memory through `const T *__restrict__`, \
         or pass a texture object (cudaTextureObject_t) that you made as a number",
    )
}

fn check_no_textures(texrefs: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match texrefs {
        Some(list) if !list.is_none() && list.is_truthy()? => Err(no_texture_references().into()),
        _ => Ok(()),
    }
}

/// Launches between two events.
fn timed(
    function: &Function,
    shape: &LaunchShape,
    stream: &Stream,
    args: &Bound<'_, PyTuple>,
) -> PyResult<TimedLaunch> {
    let py = args.py();
    let timer = py.without_gil(|| Timer::started(stream))?;
    kernel_call::call(function, shape, stream, args, Rules::PyCuda)?;
    py.without_gil(|| timer.end.record(stream))?;
    Ok(TimedLaunch { timer })
}

/// One entry of the list that `prepare` is given.
fn parameters_of(entry: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
    if let Ok(letters) = entry.cast::<PyString>() {
        return Ok(signature::of_letters(letters.to_str()?)?);
    }
    let numpy = entry.py().import("numpy")?;
    let is_dtype = entry.is_instance(&numpy.getattr("dtype")?)?;
    let is_scalar_class = match entry.cast::<PyType>() {
        Ok(class) => class.is_subclass(&numpy.getattr("generic")?)?,
        Err(_) => false,
    };
    if is_dtype || is_scalar_class {
        return Ok(vec![signature::of_dtype(dtypes::from_python(entry)?)]);
    }
    Ok(vec![Parameter::unnamed("P", ParameterKind::Pointer { element: Element::Any, constant: false })])
}

/// The parameters that PyCUDA's `prepare` is told: letters, or a list in which whatever is no number means a pointer.
fn parameters(types: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
    if types.cast::<PyString>().is_ok() {
        return parameters_of(types);
    }
    let mut list = Vec::new();
    for entry in types.try_iter()? {
        list.extend(parameters_of(&entry?)?);
    }
    Ok(list)
}

impl DriverFunction {
    #[inline]
    fn prepared_function(&self) -> PyResult<Function> {
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        prepared.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{}: the types of its arguments were not told: call prepare() first",
                self.kernel.get().function().name()
            ))
        })
    }
}

/// Where a prepared launch goes.
#[inline]
fn prepared_shape(
    grid: &Bound<'_, PyAny>,
    block: &Bound<'_, PyAny>,
    shared: Option<&Bound<'_, PyAny>>,
) -> PyResult<LaunchShape> {
    let shared = shared.map_or(Ok(0), |shared| number_of(shared, "shared_size"))?;
    Ok(LaunchShape { grid: extent(grid, "grid")?, block: block_of(block)?, shared, cooperative: false })
}

#[pymethods]
impl DriverFunction {
    #[new]
    fn new(kernel: Py<Kernel>) -> Self {
        Self { kernel, prepared: Mutex::new(None) }
    }

    #[pyo3(signature = (*args, block=None, grid=None, stream=None, shared=None, texrefs=None, time_kernel=false, **others))]
    #[allow(clippy::too_many_arguments)]
    fn __call__(
        &self,
        args: &Bound<'_, PyTuple>,
        block: Option<&Bound<'_, PyAny>>,
        grid: Option<&Bound<'_, PyAny>>,
        stream: Option<&Bound<'_, PyAny>>,
        shared: Option<&Bound<'_, PyAny>>,
        texrefs: Option<&Bound<'_, PyAny>>,
        time_kernel: bool,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<f64>> {
        let (py, function) = (args.py(), self.kernel.get().function());
        if let Some(others) = others {
            return Err(PyValueError::new_err(format!(
                "{}: a launch takes block, grid, stream, shared, texrefs and time_kernel, not {}",
                function.name(),
                others.keys()
            )));
        }
        let Some(block) = block else {
            return Err(PyValueError::new_err(format!(
                "{}: block is needed, the threads of a block along each axis: block=(256, 1, 1)",
                function.name()
            )));
        };
        check_no_textures(texrefs)?;
        let shape = LaunchShape {
            grid: grid.map_or(Ok([1, 1, 1]), |grid| extent(grid, "grid"))?,
            block: block_of(block)?,
            shared: shared.map_or(Ok(0), |shared| number_of(shared, "shared"))?,
            cooperative: false,
        };
        if time_kernel && stream.is_some() {
            return Err(PyAssertionError::new_err("time_kernel=True waits, so it takes no stream"));
        }
        let stream = stream_of(py, stream, function)?;
        if time_kernel {
            let launch = timed(function, &shape, &stream, args)?;
            return Ok(Some(py.without_gil(|| launch.timer.seconds())?));
        }
        kernel_call::call(function, &shape, &stream, args, Rules::PyCuda)?;
        Ok(None)
    }

    /// Says the types of the arguments for `prepared_call` and its kin.
    ///
    /// Parameters
    /// ----------
    /// arg_types : str or sequence
    ///     Letters as in `struct`, with ``P`` for a pointer and ``F`` and ``D`` for complex numbers; or one entry for each: dtypes
    ///     and NumPy's types mean numbers, anything else a pointer.
    /// texrefs : sequence, optional
    ///     Must be empty.
    ///
    /// Returns
    /// -------
    /// Function
    ///     Itself.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a letter that is no type.
    /// TypeError
    ///     When the kernel has other parameters, as far as the driver tells.
    ///
    /// Examples
    /// --------
    /// >>> func.prepare('PPi').prepared_call((4, 1), (256, 1, 1), x, y, 1000)  # doctest: +SKIP
    #[pyo3(signature = (arg_types, texrefs=None), text_signature = "($self, arg_types, texrefs=())")]
    fn prepare<'py>(
        slf: Bound<'py, Self>,
        arg_types: &Bound<'py, PyAny>,
        texrefs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        check_no_textures(texrefs)?;
        let this = slf.get();
        let function = this.kernel.get().function().with_parameters(parameters(arg_types)?)?;
        *this.prepared.lock().unwrap_or_else(PoisonError::into_inner) = Some(function);
        Ok(slf)
    }

    /// Launches with the types that `prepare` was told, on the legacy default stream.
    ///
    /// Parameters
    /// ----------
    /// grid, block : tuple of int
    ///     Blocks, and threads of each.
    /// *args
    ///     Numbers, and addresses or whatever has one.
    /// shared_size : int, optional
    ///     Bytes of dynamic shared memory.
    ///
    /// Examples
    /// --------
    /// >>> func.prepared_call((4, 1), (256, 1, 1), x, y, 1000)  # doctest: +SKIP
    #[pyo3(signature = (grid, block, *args, shared_size=None), text_signature = "($self, grid, block, *args, shared_size=0)")]
    fn prepared_call(
        &self,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        shared_size: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (function, shape) = (self.prepared_function()?, prepared_shape(grid, block, shared_size)?);
        let stream = Stream::default_of(function.device());
        kernel_call::call(&function, &shape, &stream, args, Rules::PyCuda)
    }

    /// As `prepared_call`, on a stream.
    ///
    /// Parameters
    /// ----------
    /// grid, block : tuple of int
    ///     Blocks, and threads of each.
    /// stream : Stream or None
    ///     None is the legacy default stream.
    /// *args
    ///     As for `prepared_call`.
    /// shared_size : int, optional
    ///     Bytes of dynamic shared memory.
    ///
    /// Examples
    /// --------
    /// >>> func.prepared_async_call((4, 1), (256, 1, 1), stream, x, y, 1000)  # doctest: +SKIP
    #[pyo3(signature = (grid, block, stream, *args, shared_size=None),
           text_signature = "($self, grid, block, stream, *args, shared_size=0)")]
    fn prepared_async_call(
        &self,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        stream: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        shared_size: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (function, shape) = (self.prepared_function()?, prepared_shape(grid, block, shared_size)?);
        let stream = stream_of(args.py(), Some(stream), &function)?;
        kernel_call::call(&function, &shape, &stream, args, Rules::PyCuda)
    }

    /// As `prepared_call`, and measures it.
    ///
    /// Parameters
    /// ----------
    /// grid, block : tuple of int
    ///     Blocks, and threads of each.
    /// *args
    ///     As for `prepared_call`.
    /// shared_size : int, optional
    ///     Bytes of dynamic shared memory.
    ///
    /// Returns
    /// -------
    /// callable
    ///     Waits for the kernel when it is called, and gives the seconds that it took.
    ///
    /// Examples
    /// --------
    /// >>> seconds = func.prepared_timed_call((4, 1), (256, 1, 1), x, y, 1000)  # doctest: +SKIP
    /// >>> seconds() > 0  # doctest: +SKIP
    /// True
    #[pyo3(signature = (grid, block, *args, shared_size=None), text_signature = "($self, grid, block, *args, shared_size=0)")]
    fn prepared_timed_call(
        &self,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        shared_size: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<TimedLaunch> {
        let (function, shape) = (self.prepared_function()?, prepared_shape(grid, block, shared_size)?);
        timed(&function, &shape, &Stream::default_of(function.device()), args)
    }

    /// Refused: there are no texture references.
    fn param_set_texref(&self, texref: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = texref;
        Err(no_texture_references().into())
    }

    /// The same kernel in PyGPU's spelling.
    #[getter]
    fn kernel(&self, py: Python<'_>) -> Py<Kernel> {
        self.kernel.clone_ref(py)
    }

    /// Its name in the source.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.kernel.get().function().name().to_owned())
    }

    /// The driver's handle.
    #[getter]
    fn handle(&self) -> PyResult<usize> {
        Ok(self.kernel.get().function().handle().0)
    }

    fn __repr__(&self) -> PyResult<String> {
        let function = self.kernel.get().function();
        Ok(format!("<PyGPU.driver.Function {} on {}>", function.name(), function.device()))
    }
}

/// Puts the classes into the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<DriverFunction>()?;
    module.add_class::<TimedLaunch>()
}
