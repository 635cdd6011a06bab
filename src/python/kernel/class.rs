//! Defines the class `Kernel`, a compiled or loaded kernel. The file `launcher.rs` implements `kernel[grid, block,
//! stream, shared]`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::kernel_lookup;
use super::source::SourceArgs;
use crate::array::class::GpuArray;
use crate::atexit::Detached;
use crate::convert::dtype as dtypes;
use crate::exported_names::names;
use crate::runtime::device;
use pygpu_kernel::{Element, Function, Parameter, ParameterKind, signature};

/// A kernel, compiled from a source or taken from an image.
///
/// Parameters
/// ----------
/// source : str, bytes, path, or a sequence of texts and paths
///     CUDA C++ source; an image (cubin, PTX, fatbin); or the path of a file with a source or an image. A file whose
///     name ends in ``.cu`` contains source code. Several sources are compiled together, in their order.
/// name : str, optional
///     The kernel's name in the source: ``'scale'``, ``'space::scale'``, or with the arguments of a template,
///     ``'scale<float>'``. The name may be omitted if the source has a single kernel. A template without arguments is
///     compiled when an instance is requested: ``kernel['scale<float>']`` or ``kernel.template(np.float32)``.
/// options : sequence of str or str, optional
///     Options of nvcc, which PyGPU accepts for every compiler: ``'-DN=3'``, ``'-I/folder'``, ``'-std=c++17'``,
///     ``'-use_fast_math'``, ``'--maxrregcount=32'``. Options for host code or the linker are rejected by name.
/// compiler : str, optional
///     ``'nvcc'`` or ``'hipcc'``, or the path of such a program. By default the vendor's compiler library is used.
/// extern_c : bool, optional
///     Wrap the whole source in ``extern "C"``.
/// cache : bool, optional
///     Store the compiled image in the user's cache folder, and load the image from that folder in later calls.
/// device : int, str or Device, optional
///     The kernel's device; the current device by default.
/// lineinfo : bool, optional
///     Keep the source's line numbers for profilers and debuggers, as the option ``-lineinfo``.
/// headers : mapping of str to str, optional
///     Contents of headers that the source may include, by the name of the header.
///
/// Raises
/// ------
/// CompileError
///     If the source does not compile. The exception's `log` is the compiler's output with the source's line numbers.
/// ValueError
///     If no kernel has the name, or for rejected options.
/// BackendUnavailableError
///     If there is no compiler. The message lists the searched locations and explains how to install a compiler.
///
/// Notes
/// -----
/// ``kernel[grid, block, stream, shared](*arguments)`` launches `grid` blocks of `block` threads, each an int or a
/// tuple of up to three ints. The launch is on `stream`, by default the thread's current stream, with `shared` bytes of
/// dynamic shared memory per block. Launching is asynchronous, except with `Out` and `InOut`.
///
/// Arguments are:
///
/// * arrays on the kernel's device, also of other libraries, and arrays of `pointers`;
/// * NumPy scalars, and Python scalars if the parameter's type is known from the source or from `prepare`;
/// * ctypes structs and records of structured dtypes, or a `Struct` of them if they contain pointers to arrays;
/// * `Texture`, `Surface` and `TensorMap`;
/// * `In`, `Out` and `InOut` of host arrays;
/// * None for a null pointer.
///
/// All arguments are checked against the source's declaration before the launch. The kernel waits, on the device, for
/// other streams that use the arrays. With ``strided=True`` non-contiguous arrays are accepted, and with
/// ``cooperative=True`` all blocks run concurrently. ``kernel[LaunchConfig(...)](*arguments)`` launches with
/// attributes: clusters, programmatic dependence, a priority. A call ``kernel[grid, block](*arguments)`` accepts these
/// attributes as keywords.
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
/// >>> kernel = PyGPU.Kernel(source, 'scale')
/// >>> x = PyGPU.to_gpu(np.arange(5, dtype=np.float32))
/// >>> kernel[1, 32](x, 2.0, x.size)
/// >>> x.get()
/// array([0., 2., 4., 6., 8.], dtype=float32)
#[pyclass(frozen, weakref, name = "Kernel", module = "PyGPU")]
pub(crate) struct PyKernel {
    function: Detached<Function>,
}

impl PyKernel {
    pub(crate) fn new(function: Function) -> Self {
        Self { function: Detached::new(function) }
    }

    #[inline]
    pub(crate) fn function(&self) -> &Function {
        &self.function
    }
}

/// Returns the name of a source's only kernel. Raises an error if the source has no kernel, several kernels, or only a
/// template.
fn only_kernel_name(names: &[String]) -> PyResult<String> {
    match names {
        [name] if !name.contains('<') => Ok(name.clone()),
        [] => Err(PyValueError::new_err(
            "no `__global__` function was found in the source; declare the kernel as `__global__ void name(...)`",
        )),
        names => Err(PyValueError::new_err(format!("name= is needed: the source has {}", names.join(", ")))),
    }
}

fn is_instance(name: &str) -> bool {
    name.contains('<')
}

#[pymethods]
impl PyKernel {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one for each keyword")]
    #[pyo3(
        signature = (
            source: "str | bytes | bytearray | PathLike[str] | Sequence[str | PathLike[str]]",
            name: "str | None" = None, options: "str | Sequence[str]" = None, *, compiler: "str | None" = None,
            extern_c: "bool" = false, cache: "bool" = true, device: "DeviceLike" = None, lineinfo: "bool" = false,
            headers: "Mapping[str, str] | None" = None
        ) -> "Self",
        text_signature = "(source, name=None, options=(), *, compiler=None, extern_c=False, cache=True, device=None, \
                             lineinfo=False, headers=None)"
    )]
    fn py_new(
        source: &Bound<'_, PyAny>,
        name: Option<String>,
        options: Option<&Bound<'_, PyAny>>,
        compiler: Option<String>,
        extern_c: bool,
        cache: bool,
        device: Option<&Bound<'_, PyAny>>,
        lineinfo: bool,
        headers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = source.py();
        let instances = name.iter().filter(|name| is_instance(name)).cloned().collect();
        let request = SourceArgs { source, instances, options, compiler, extern_c, cache, device, lineinfo, headers };
        let load_request = request.read(py)?;
        if let Some(template) = load_request.template(name.as_deref()) {
            return Ok(Self::new(Function::of_template(load_request.templates()?, template)));
        }
        let (module, names) = load_request.load(py)?;
        let name = name.map_or_else(|| only_kernel_name(&names), Ok)?;
        Ok(Self::new(kernel_lookup::function(py, &module, &name)?))
    }

    #[pyo3(signature = (*_args: "Any", **_kwargs: "Any") -> "None")]
    fn __call__(&self, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        Err(PyTypeError::new_err(format!(
            "{0}(...) was called without a grid and a block; expected kernel[grid, block](*arguments); write for example \
             {0}[(n + 255) // 256, 256](...)",
            self.function().name()
        )))
    }

    /// Return the same kernel with parameter types, so that Python scalars can be passed and arguments are checked.
    ///
    /// Parameters
    /// ----------
    /// types : str or sequence
    ///     Type codes, as in PyCUDA and in the module `struct`: ``'PPif'`` is two pointers, an int and a float.
    ///     Alternatively, a sequence with one entry for each parameter: a type code, a dtype, or `GPUArray` for a
    ///     pointer.
    ///
    /// Returns
    /// -------
    /// Kernel
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a type code is unknown.
    /// TypeError
    ///     If the driver reports different parameters.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('__global__ void one(float *x, float a, int n) { *x = n * a; }')
    /// >>> kernel = kernel.prepare('Pfi')
    #[pyo3(signature = (types: "str | Sequence[Any]") -> "Kernel")]
    fn prepare(&self, types: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self::new(self.function().with_parameters(parameters(types)?)?))
    }

    /// Return the instance of the kernel's template with other arguments.
    ///
    /// Parameters
    /// ----------
    /// *arguments
    ///     Template arguments: dtypes, integers, bools, and strings, which are inserted unchanged.
    ///
    /// Returns
    /// -------
    /// Kernel
    ///     An instance that is compiled on first use, as a separate module with its own ``__device__`` and
    ///     ``__constant__`` variables.
    ///
    /// Raises
    /// ------
    /// CompileError
    ///     If the template does not compile with these arguments.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('template <typename T, int N> __global__ void add(T *x) { x[threadIdx.x] += N; }')
    /// >>> x = PyGPU.zeros(3, 'float32')
    /// >>> kernel.template(np.float32, 4)[1, 3](x)
    /// >>> kernel['add<float, 2>'][1, 3](x)
    /// >>> x.tolist()
    /// [6.0, 6.0, 6.0]
    #[pyo3(signature = (*arguments: "Any") -> "Kernel")]
    fn template(&self, arguments: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let function = self.function();
        Ok(Self::new(kernel_lookup::instantiate_template(function.module(), function.name(), arguments)?))
    }

    /// Name in the source.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.function().name().to_owned())
    }

    /// Device of the kernel.
    #[getter]
    fn device(&self) -> PyResult<device::PyDevice> {
        Ok(self.function().device().into())
    }

    /// The driver's handle of the kernel.
    #[getter]
    fn handle(&self) -> PyResult<usize> {
        Ok(self.function().handle().0)
    }

    /// Parameters as strings, ``''`` for a parameter of unknown type; None if the number of parameters is unknown.
    #[getter]
    // stub: -> tuple[str, ...] | None
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let list = self.function().parameters();
        list.map(|list| PyTuple::new(py, list.iter().map(ToString::to_string))).transpose()
    }

    /// Log of the compilers for the kernel's module.
    #[getter]
    fn log(&self) -> PyResult<String> {
        Ok(self.function().module().log().to_owned())
    }

    fn __repr__(&self) -> PyResult<String> {
        let function = self.function();
        let list: Option<Vec<String>> =
            function.parameters().map(|list| list.iter().map(ToString::to_string).collect());
        let parameter_list = list.map_or_else(|| "...".to_owned(), |list| list.join(", "));
        Ok(format!("<PyGPU.Kernel {}({parameter_list}) on {}>", function.name(), function.device()))
    }
}

/// Parses the argument `types` of `Kernel.prepare`.
pub(crate) fn parameters(types: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
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

names! {
    classes "Kernels": PyKernel;
}
