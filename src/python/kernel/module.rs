//! Defines the class `Module`, a loaded image with its kernels and global variables.

use std::borrow::Cow;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::class::PyKernel;
use super::kernel_lookup;
use super::source::SourceArgs;
use crate::atexit::Detached;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::runtime::device;
use pygpu_kernel::Module;

/// Kernels and global variables, compiled from a source or taken from an image.
///
/// Parameters
/// ----------
/// source : str, bytes, path, or a sequence of texts and paths
///     The same as for `Kernel`.
/// options : sequence of str or str, optional
///     The same as for `Kernel`.
/// instances : sequence of str, optional
///     Template instances to compile in the module: ``['scale<float>', 'scale<double>']``. Other instances are compiled
///     on first use, each as a separate module.
/// compiler, extern_c, cache, device, lineinfo, headers : optional
///     The same as for `Kernel`.
///
/// Raises
/// ------
/// CompileError
///     If the source does not compile.
///
/// Notes
/// -----
/// Two modules that are compiled from the same source have separate variables. A module is unloaded when neither the
/// module nor its kernels are referenced, and all launches have completed.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> source = '__constant__ float factor; __global__ void one(int *x) { *x = 1; }'
/// >>> module = PyGPU.Module(source)
/// >>> module.get_function('one').name
/// 'one'
/// >>> address, nbytes = module.get_global('factor')
/// >>> nbytes
/// 4
#[pyclass(frozen, weakref, name = "Module", module = "PyGPU")]
pub(crate) struct PyKernelModule {
    module: Detached<Module>,
    names: Vec<String>,
}

impl PyKernelModule {
    pub(crate) fn wrap(module: Module, names: Vec<String>) -> Self {
        Self { module: Detached::new(module), names }
    }

    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    fn kernel_names(&self, py: Python<'_>) -> PyResult<Cow<'_, [String]>> {
        let module = &*self.module;
        match self.names.is_empty() && module.source().is_none() {
            true => Ok(Cow::Owned(py.without_gil(|| module.names())?)),
            false => Ok(Cow::Borrowed(&self.names)),
        }
    }
}

#[pymethods]
impl PyKernelModule {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one for each keyword")]
    #[pyo3(
        signature = (
            source: "str | bytes | bytearray | PathLike[str] | Sequence[str | PathLike[str]]",
            options: "str | Sequence[str]" = None, *, instances: "Sequence[str]" = None,
            compiler: "str | None" = None, extern_c: "bool" = false, cache: "bool" = true,
            device: "DeviceLike" = None, lineinfo: "bool" = false, headers: "Mapping[str, str] | None" = None
        ) -> "Self",
        text_signature = "(source, options=(), *, instances=(), compiler=None, extern_c=False, cache=True, device=None, \
                             lineinfo=False, headers=None)"
    )]
    fn py_new(
        source: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyAny>>,
        instances: Option<Vec<String>>,
        compiler: Option<String>,
        extern_c: bool,
        cache: bool,
        device: Option<&Bound<'_, PyAny>>,
        lineinfo: bool,
        headers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let instances = instances.unwrap_or_default();
        let request = SourceArgs { source, instances, options, compiler, extern_c, cache, device, lineinfo, headers };
        let (module, names) = request.read(source.py())?.load(source.py())?;
        Ok(Self::wrap(module, names))
    }

    /// Return a kernel of the module.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The kernel's name in the source or in the image. In a prebuilt library, this is the mangled name, or the
    ///     demangled name as debuggers display it: ``'scale<float, 4>'``, ``'scale(float*, int)'``.
    ///
    /// Returns
    /// -------
    /// Kernel
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If no kernel has the name; the message lists the existing names.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> module = PyGPU.Module('__constant__ float factor; __global__ void scale(float *x) { *x *= factor; }')
    /// >>> kernel = module.get_function('scale')
    #[pyo3(signature = (name: "str") -> "Kernel")]
    fn get_function(&self, py: Python<'_>, name: &str) -> PyResult<PyKernel> {
        Ok(PyKernel::new(kernel_lookup::function(py, &self.module, name)?))
    }

    // stub: def __getitem__(self, name: str, /) -> Kernel: ...
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<PyKernel> {
        let kernel = self.get_function(py, name);
        kernel.map_err(|error| match error.is_instance_of::<PyValueError>(py) {
            true => PyKeyError::new_err(error.value(py).to_string()),
            false => error,
        })
    }

    /// Return the address and size of a global variable of the module.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Name of a ``__device__`` or ``__constant__`` variable.
    ///
    /// Returns
    /// -------
    /// address, nbytes : int
    ///     The address and size of the variable, which are valid while the module exists.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If no variable has the name.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> module = PyGPU.Module('__constant__ float factor; __global__ void scale(float *x) { *x *= factor; }')
    /// >>> address, nbytes = module.get_global('factor')
    #[pyo3(signature = (name: "str") -> "tuple[int, int]")]
    fn get_global(&self, py: Python<'_>, name: &str) -> PyResult<(usize, usize)> {
        let module = &*self.module;
        Ok(py.without_gil(|| module.global(name))?)
    }

    /// Names of the kernels that the source declares, templates as ``name<...>``; for an image the names of its
    /// kernels. Empty if they cannot be determined: for a fatbin or a library on HIP, and with CUDA drivers before
    /// 12.4.
    #[getter]
    // stub: -> tuple[str, ...]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.kernel_names(py)?.iter())
    }

    /// Image: a cubin, PTX, or another form that the device's driver loads.
    #[getter]
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.module.image()))
    }

    /// Log of the compilers.
    #[getter]
    fn log(&self) -> PyResult<String> {
        Ok(self.module.log().to_owned())
    }

    /// Device of the module.
    #[getter]
    fn device(&self) -> PyResult<device::PyDevice> {
        Ok(self.module.device().into())
    }

    fn __repr__(&self) -> PyResult<String> {
        let names_text = if self.names.is_empty() { String::new() } else { format!(" {}", self.names.join(", ")) };
        Ok(format!("<PyGPU.Module{names_text} on {}>", self.module.device()))
    }
}

names! {
    classes "Kernels": PyKernelModule;
}
