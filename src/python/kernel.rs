//! The classes `Kernel` and `Launcher`: `kernel[grid, block, stream, shared](*arguments)`.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::array::GpuArray;
use super::gil::WithoutGil;
use super::kernel_source::Request;
use super::{device, dtype as dtypes, exit, kernel_call, number, stream as stream_argument};
use crate::backend::{FunctionAttributes, FunctionSetting, LaunchShape};
use crate::error::Result;
use crate::kernel::{Element, Function, Parameter, ParameterKind, signature};
use crate::stream::{self, Stream};

/// A kernel, compiled from a source or taken from an image.
///
/// Parameters
/// ----------
/// source : str, bytes or path
///     A text in CUDA C++; an image (cubin, PTX, fatbin); or the path of a file with either, where ``.cu`` is a text.
/// name : str, optional
///     The kernel, as the source says it: ``'scale'``, ``'space::scale'``, or with the arguments of a template,
///     ``'scale<float>'``. It may be left out of a text that has one kernel.
/// options : sequence of str or str, optional
///     In nvcc's words, for every compiler: ``'-DN=3'``, ``'-I/folder'``, ``'-std=c++17'``, ``'-use_fast_math'``,
///     ``'--maxrregcount=32'``. What is for host code or the linker is refused by name.
/// compiler : str, optional
///     ``'nvcc'`` or ``'hipcc'``, or the path of one. By default the driver's own compiler library is used.
/// extern_c : bool, optional
///     Wrap the whole source in ``extern "C"``.
/// cache : bool, optional
///     Keep the image in the user's cache folder, and take it from there.
/// device : int, str or Device, optional
///     The current device by default. The kernel stays on it.
///
/// Raises
/// ------
/// CompileError
///     When the source does not compile; its `log` has the compiler's words with the source's line numbers.
/// ValueError
///     For a name that is not there, and for options that are refused.
/// BackendUnavailableError
///     When there is no compiler; the message says what was searched and what to install.
///
/// Notes
/// -----
/// ``kernel[grid, block, stream, shared](*arguments)`` launches: `grid` blocks of `block` threads, each an int or a tuple
/// of up to three; on `stream`, the thread's current one by default; with `shared` bytes of dynamic shared memory. Launching
/// does not wait, except for `Out` and `InOut`.
///
/// Arguments are arrays on the kernel's device, also of other libraries; NumPy scalars; Python numbers where the source or
/// `prepare` tells the type; ctypes structs and records of structured dtypes; `In`, `Out` and `InOut` of host arrays; and
/// None, a null pointer. They are checked against the source's declaration before anything is launched. Arrays that another
/// stream uses are waited for on the device. With ``strided=True`` arrays that are not contiguous are passed too, and with
/// ``cooperative=True`` all blocks run at once.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> source = '''
/// ... __global__ void scale(float *x, float factor, int n) {
/// ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
/// ...     if (i < n) x[i] *= factor;
/// ... }'''
/// >>> kernel = PyGPU.Kernel(source, 'scale')  # doctest: +SKIP
/// >>> x = PyGPU.to_gpu(np.arange(5, dtype=np.float32))
/// >>> kernel[1, 32](x, 2.0, x.size)  # doctest: +SKIP
/// >>> x.get()  # doctest: +SKIP
/// array([0., 2., 4., 6., 8.], dtype=float32)
#[pyclass(frozen, weakref, name = "Kernel", module = "PyGPU")]
pub(super) struct Kernel {
    function: Option<Function>,
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // The module may be unloaded.
        if let Some(function) = self.function.take() {
            if function.device().is_cpu() { drop(function) } else { exit::drop_detached(function) }
        }
    }
}

impl Kernel {
    pub(super) fn new(function: Function) -> Self {
        Self { function: Some(function) }
    }

    #[inline]
    pub(super) fn function(&self) -> PyResult<&Function> {
        self.function.as_ref().ok_or_else(|| PyValueError::new_err("the kernel is gone"))
    }
}

/// The only kernel of a source.
fn only_name(names: &[String]) -> PyResult<String> {
    match names {
        [one] if !one.contains('<') => Ok(one.clone()),
        [] => Err(PyValueError::new_err("name= is needed: no kernel was found in the source")),
        names => Err(PyValueError::new_err(format!("name= is needed: the source has {}", names.join(", ")))),
    }
}

fn is_instance(name: &str) -> bool {
    name.contains('<')
}

#[pymethods]
impl Kernel {
    #[new]
    #[pyo3(signature = (source, name=None, options=None, *, compiler=None, extern_c=false, cache=true, device=None),
           text_signature = "(source, name=None, options=(), *, compiler=None, extern_c=False, cache=True, device=None)")]
    fn py_new(
        source: &Bound<'_, PyAny>,
        name: Option<String>,
        options: Option<&Bound<'_, PyAny>>,
        compiler: Option<String>,
        extern_c: bool,
        cache: bool,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = source.py();
        let instances = name.iter().filter(|name| is_instance(name)).cloned().collect();
        let request = Request { source, instances, options, compiler, extern_c, cache, device };
        let (module, names) = request.load(py)?;
        let name = name.map_or_else(|| only_name(&names), Ok)?;
        Ok(Self::new(py.without_gil(|| module.function(&name))?))
    }

    /// The shape of a launch: ``kernel[grid, block]``, ``kernel[grid, block, stream]``, ``kernel[grid, block, stream, shared]``.
    fn __getitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Launcher> {
        let Ok(parts) = key.cast_exact::<PyTuple>() else { return Err(wrong_key(key)) };
        if !(2..=4).contains(&parts.len()) {
            return Err(wrong_key(key));
        }
        let device = slf.get().function()?.device();
        let (grid, block) =
            (extent(&*parts.get_borrowed_item(0)?, "grid")?, extent(&*parts.get_borrowed_item(1)?, "block")?);
        let stream = match parts.get_item(2) {
            Ok(stream) if !stream.is_none() => Some(stream_argument::from_argument(slf.py(), Some(&stream), device)?),
            _ => None,
        };
        let shared = match parts.get_item(3) {
            Ok(shared) if !shared.is_none() => bytes(&shared, "shared")?,
            _ => 0,
        };
        let shape = LaunchShape { grid, block, shared, cooperative: false };
        Ok(Launcher { kernel: slf.clone().unbind(), shape, stream })
    }

    #[pyo3(signature = (*_args, **_kwargs))]
    fn __call__(&self, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        Err(PyTypeError::new_err(format!(
            "say how many blocks and threads: kernel[grid, block](*arguments), for example {}[(n + 255) // 256, 256](...)",
            self.function()?.name()
        )))
    }

    /// The same kernel with the types of its parameters, so that Python numbers can be passed and arguments are checked.
    ///
    /// Parameters
    /// ----------
    /// types : str or sequence
    ///     Letters as in PyCUDA and `struct`: ``'PPif'`` is two pointers, an int and a float. Or one entry for each parameter:
    ///     such letters, dtypes, or `GPUArray` for a pointer.
    ///
    /// Returns
    /// -------
    /// Kernel
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a letter that is no type.
    /// TypeError
    ///     When the driver knows that the kernel has other parameters.
    ///
    /// Examples
    /// --------
    /// >>> kernel = kernel.prepare('Pfi')  # doctest: +SKIP
    fn prepare(&self, types: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self::new(self.function()?.with_parameters(parameters(types)?)?))
    }

    /// Its name in the source.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.function()?.name().to_owned())
    }

    /// Its device.
    #[getter]
    fn device(&self) -> PyResult<device::PyDevice> {
        Ok(self.function()?.device().into())
    }

    /// The driver's handle.
    #[getter]
    fn handle(&self) -> PyResult<usize> {
        Ok(self.function()?.handle().0)
    }

    /// Its parameters as texts, ``''`` where nothing is known but that there is one; None where not even their number is known.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let known = self.function()?.parameters();
        known.map(|list| PyTuple::new(py, list.iter().map(ToString::to_string))).transpose()
    }

    /// What the compilers said of its module.
    #[getter]
    fn log(&self) -> PyResult<String> {
        Ok(self.function()?.module().log().to_owned())
    }

    /// Registers of a thread.
    #[getter]
    fn num_regs(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.registers)
    }

    /// Bytes of static shared memory of a block.
    #[getter]
    fn shared_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.static_shared_bytes)
    }

    /// Bytes of local memory of a thread.
    #[getter]
    fn local_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.local_bytes)
    }

    /// Bytes of constant memory.
    #[getter]
    fn const_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.constant_bytes)
    }

    /// Most threads of a block that it can be launched with.
    #[getter]
    fn max_threads_per_block(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.max_threads_per_block)
    }

    /// The version of PTX that it was compiled for, as 90 for 9.0.
    #[getter]
    fn ptx_version(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.ptx_version)
    }

    /// The architecture that it was compiled for, as 90 for ``sm_90``.
    #[getter]
    fn binary_version(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.binary_version)
    }

    /// Most bytes of dynamic shared memory that it can be launched with. A launch that asks for more raises it by itself, as far
    /// as the device goes; it can be set.
    #[getter]
    fn max_dynamic_shared_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.max_dynamic_shared_bytes)
    }

    #[setter]
    fn set_max_dynamic_shared_size_bytes(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = number::int32(value, "max_dynamic_shared_size_bytes")?;
        self.set(value.py(), FunctionSetting::MaxDynamicSharedBytes(bytes))
    }

    /// Percentage of the first-level cache that is wanted as shared memory; -1, the first value, is the driver's choice. It can
    /// be set.
    #[getter]
    fn preferred_shared_memory_carveout(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.preferred_carveout)
    }

    #[setter]
    fn set_preferred_shared_memory_carveout(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let percent = number::int32(value, "preferred_shared_memory_carveout")?;
        self.set(value.py(), FunctionSetting::PreferredCarveout(percent))
    }

    /// Sets what the first-level cache is rather used for.
    ///
    /// Parameters
    /// ----------
    /// preference : int
    ///     0 no preference, 1 shared memory, 2 cache, 3 equal.
    ///
    /// Examples
    /// --------
    /// >>> kernel.set_cache_config(2)  # doctest: +SKIP
    fn set_cache_config(&self, preference: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = number::int32(preference, "preference")?;
        self.set(preference.py(), FunctionSetting::CachePreference(value))
    }

    /// Blocks of so many threads that one multiprocessor runs at once.
    ///
    /// Parameters
    /// ----------
    /// block : int or tuple of int
    ///     Threads.
    /// shared : int, optional
    ///     Bytes of dynamic shared memory of a block.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> kernel.active_blocks(256)  # doctest: +SKIP
    /// 8
    #[pyo3(signature = (block, shared=None), text_signature = "(block, shared=0)")]
    fn active_blocks(&self, block: &Bound<'_, PyAny>, shared: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let threads = extent(block, "block")?.iter().fold(1u32, |product, length| product.saturating_mul(*length));
        let shared = shared.map_or(Ok(0), |shared| bytes(shared, "shared"))?;
        let function = self.function()?;
        Ok(block.py().without_gil(|| function.active_blocks(threads, shared))?)
    }

    /// A shape that fills the device with the best occupancy.
    ///
    /// Parameters
    /// ----------
    /// shared : int, optional
    ///     Bytes of dynamic shared memory of a block.
    /// limit : int, optional
    ///     Most threads of a block; 0 for no limit.
    ///
    /// Returns
    /// -------
    /// grid, block : int
    ///     The fewest blocks that fill the device, and the threads of each.
    ///
    /// Examples
    /// --------
    /// >>> kernel.suggested_shape()  # doctest: +SKIP
    /// (264, 1024)
    #[pyo3(signature = (shared=None, limit=None), text_signature = "(shared=0, limit=0)")]
    fn suggested_shape(
        &self,
        py: Python<'_>,
        shared: Option<&Bound<'_, PyAny>>,
        limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(u32, u32)> {
        let shared = shared.map_or(Ok(0), |shared| bytes(shared, "shared"))?;
        let limit = limit.map_or(Ok(0), |limit| bytes(limit, "limit"))?;
        let function = self.function()?;
        Ok(py.without_gil(|| function.suggested_shape(shared, limit))?)
    }

    fn __repr__(&self) -> PyResult<String> {
        let function = self.function()?;
        let list: Option<Vec<String>> =
            function.parameters().map(|list| list.iter().map(ToString::to_string).collect());
        let told = list.map_or_else(|| "...".to_owned(), |list| list.join(", "));
        Ok(format!("<PyGPU.Kernel {}({told}) on {}>", function.name(), function.device()))
    }
}

impl Kernel {
    fn attributes(&self, py: Python<'_>) -> PyResult<FunctionAttributes> {
        let function = self.function()?;
        Ok(py.without_gil(|| function.attributes())?)
    }

    fn set(&self, py: Python<'_>, setting: FunctionSetting) -> PyResult<()> {
        let function = self.function()?;
        Ok(py.without_gil(|| function.set(setting))?)
    }
}

/// A kernel with the shape of its launch: what ``kernel[grid, block]`` gives.
#[pyclass(frozen, name = "Launcher", module = "PyGPU")]
pub(super) struct Launcher {
    kernel: Py<Kernel>,
    shape: LaunchShape,
    stream: Option<Stream>,
}

#[pymethods]
impl Launcher {
    #[inline]
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let function = self.kernel.get().function()?;
        let current;
        let stream = match &self.stream {
            Some(stream) => stream,
            None => {
                current = stream::current(function.device());
                &current
            }
        };
        match kwargs {
            None => kernel_call::call(function, &self.shape, stream, args, false),
            Some(kwargs) => {
                let (strided, cooperative) = flags(kwargs)?;
                let shape = LaunchShape { cooperative, ..self.shape };
                kernel_call::call(function, &shape, stream, args, strided)
            }
        }
    }

    fn __repr__(&self) -> PyResult<String> {
        let ([gx, gy, gz], [bx, by, bz]) = (self.shape.grid, self.shape.block);
        let name = self.kernel.get().function()?.name();
        Ok(format!("<PyGPU.Launcher {name}[({gx}, {gy}, {gz}), ({bx}, {by}, {bz})]>"))
    }
}

fn flags(kwargs: &Bound<'_, PyDict>) -> PyResult<(bool, bool)> {
    let (mut strided, mut cooperative) = (false, false);
    for (name, value) in kwargs {
        match name.cast::<PyString>()?.to_str()? {
            "strided" => strided = value.is_truthy()?,
            "cooperative" => cooperative = value.is_truthy()?,
            other => {
                return Err(PyTypeError::new_err(format!(
                    "a launch takes the keywords strided and cooperative, not {other}: kernel[grid, block, stream, shared](...)"
                )));
            }
        }
    }
    Ok((strided, cooperative))
}

#[cold]
fn wrong_key(key: &Bound<'_, PyAny>) -> PyErr {
    PyIndexError::new_err(format!(
        "a launch is kernel[grid, block], with perhaps a stream and bytes of shared memory, not {key}"
    ))
}

/// A number of blocks or threads along each axis.
#[inline]
pub(super) fn extent(value: &Bound<'_, PyAny>, what: &str) -> PyResult<[u32; 3]> {
    // SAFETY: a type check of a live object.
    if unsafe { ffi::PyLong_CheckExact(value.as_ptr()) } != 0 {
        return Ok([bytes(value, what)?, 1, 1]);
    }
    let mut lengths = [1; 3];
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        if !(1..=3).contains(&tuple.len()) {
            return Err(wrong_extent(value, what));
        }
        for (length, item) in lengths.iter_mut().zip(tuple.iter_borrowed()) {
            *length = bytes(&item, what)?;
        }
        return Ok(lengths);
    }
    if super::kernel_values::is_index(value) {
        return Ok([bytes(value, what)?, 1, 1]);
    }
    let items = value.try_iter().map_err(|_| wrong_extent(value, what))?.collect::<PyResult<Vec<_>>>()?;
    extent(PyTuple::new(value.py(), items)?.as_any(), what)
}

#[cold]
fn wrong_extent(value: &Bound<'_, PyAny>, what: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} is an int or a tuple of one to three, not {value}"))
}

/// A number of 32 bits without a sign.
#[inline]
fn bytes(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u32> {
    let found = number::unsigned(value, what)?;
    u32::try_from(found).map_err(|_| PyValueError::new_err(format!("{what} is {found}, more than any device takes")))
}

/// The parameters that `prepare` was told.
pub(super) fn parameters(types: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
    if let Ok(letters) = types.cast::<PyString>() {
        return Ok(signature::of_letters(letters.to_str()?)?);
    }
    let mut list = Vec::new();
    for entry in types.try_iter()? {
        let entry = entry?;
        if let Ok(letters) = entry.cast::<PyString>()
            && let Ok(parameters) = signature::of_letters(letters.to_str()?)
        {
            list.extend(parameters);
        } else if entry.is(entry.py().get_type::<GpuArray>()) {
            list.push(Parameter::unnamed("P", ParameterKind::Pointer { element: Element::Any, constant: false }));
        } else {
            list.push(signature::of_dtype(dtypes::from_python(&entry)?));
        }
    }
    Ok(list)
}

/// Puts the classes into the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Kernel>()?;
    module.add_class::<Launcher>()
}

/// Kept beside the class for `Module`.
pub(super) fn of_module(module: &crate::kernel::Module, name: &str) -> Result<Kernel> {
    module.function(name).map(Kernel::new)
}
