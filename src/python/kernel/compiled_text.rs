//! Returns the compiled code of a module as text (PTX and machine code), and loads modules from prebuilt files.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyTuple, PyType};

use super::class::PyKernel;
use super::kernel_lookup;
use super::module::PyKernelModule;
use super::source::{SourceOrImage, load_image, read};
use crate::gil::WithoutGil;
use crate::runtime::compiler::with_compiler;
use crate::runtime::device as device_argument;
use pygpu_backend::BackendKind;

#[pymethods]
impl PyKernelModule {
    /// Load a module from a prebuilt file.
    ///
    /// Parameters
    /// ----------
    /// path : str or path
    ///     A cubin, PTX, a fatbin, a code object, or a shared library with kernels that nvcc or hipcc built. On the CPU
    ///     backend, a library that PyGPU's compiler built, i.e. the bytes of `Module.image`.
    /// device : int, str or Device, optional
    ///     Device on which the module is loaded; the current device by default.
    ///
    /// Returns
    /// -------
    /// Module
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file cannot be read.
    /// ValueError
    ///     If the file is not an image, or is for other devices.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> import os, tempfile
    /// >>> path = os.path.join(tempfile.mkdtemp(), 'one.image')
    /// >>> with open(path, 'wb') as file:
    /// ...     _ = file.write(PyGPU.Module('__global__ void one(int *x) { *x = 1; }').image)
    /// >>> PyGPU.Module.from_file(path)['one'].name
    /// 'one'
    #[classmethod]
    #[pyo3(signature = (path: "str | PathLike[str]", *, device: "DeviceLike" = None) -> "Self")]
    fn from_file(cls: &Bound<'_, PyType>, path: PathBuf, device: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let py = cls.py();
        let device = device_argument::from_argument(py, device)?;
        match read(py, &path)? {
            SourceOrImage::Image(image) => Ok(Self::wrap(load_image(py, device, image, &[])?, Vec::new())),
            SourceOrImage::Text(_, name) => Err(PyTypeError::new_err(format!(
                "{name} is a source by its name: Module(path) compiles it, and from_file loads what is compiled already"
            ))),
        }
    }

    /// Load a module from the bytes of a prebuilt file.
    ///
    /// Parameters
    /// ----------
    /// image : bytes-like
    ///     Contents of a file that `from_file` accepts.
    /// device : int, str or Device, optional
    ///     Device on which the module is loaded; the current device by default.
    ///
    /// Returns
    /// -------
    /// Module
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the bytes are not an image, or are for other devices.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> image = PyGPU.Module('__global__ void one(int *x) { *x = 1; }').image
    /// >>> PyGPU.Module.from_bytes(memoryview(image))['one'].name
    /// 'one'
    #[classmethod]
    #[pyo3(signature = (image: "Buffer", *, device: "DeviceLike" = None) -> "Self")]
    fn from_bytes(
        cls: &Bound<'_, PyType>,
        image: &Bound<'_, PyAny>,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = cls.py();
        let device = device_argument::from_argument(py, device)?;
        let bytes = py.import("builtins")?.getattr("memoryview")?.call1((image,))?.call_method0("tobytes")?;
        let bytes: PyBackedBytes = bytes.extract()?;
        Ok(Self::wrap(load_image(py, device, bytes.to_vec(), &[])?, Vec::new()))
    }

    /// Return an instance of one of the module's templates.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Name of the template.
    /// *arguments
    ///     Template arguments: dtypes, integers, bools, and strings, which are inserted unchanged.
    ///
    /// Returns
    /// -------
    /// Kernel
    ///     The instance of the template. An instance that is not in the module's `instances` is compiled on first use,
    ///     as a separate module with its own ``__device__`` and ``__constant__`` variables.
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
    /// >>> module = PyGPU.Module('template <typename T, int N> __global__ void add(T *x) { *x += N; }')
    /// >>> kernel = module.template('add', np.float32, 4)  # module['add<float, 4>']
    /// >>> kernel.name
    /// 'add<float, 4>'
    #[pyo3(signature = (name: "str", *arguments: "Any") -> "Kernel")]
    fn template(&self, name: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<PyKernel> {
        Ok(PyKernel::new(kernel_lookup::instantiate_template(self.module(), name, arguments)?))
    }

    /// PTX, on NVIDIA devices: the loaded PTX; the PTX compiled from the source for the module's architecture; or, for
    /// a fatbin or a library, the PTX that cuobjdump extracts.
    #[getter]
    fn ptx(&self, py: Python<'_>) -> PyResult<String> {
        let module = self.module();
        if module.source().is_none() && module.device().kind() == BackendKind::Cuda && module.is_container() {
            return py.import("PyGPU._kernels.disassembly")?.getattr("ptx_of")?.call1((module.image(),))?.extract();
        }
        let ptx = match module.source() {
            Some(source) => with_compiler(py, module.device(), source, |hints| module.ptx(hints))?,
            None => py.without_gil(|| module.ptx(&[]))?,
        };
        Ok(String::from_utf8_lossy(&ptx).into_owned())
    }

    /// Machine code as text, on NVIDIA devices: by nvdisasm or cuobjdump from the CUDA toolkit. They are searched on
    /// ``PATH``, in ``CUDA_HOME`` and in the installed packages.
    #[getter]
    fn sass(&self, py: Python<'_>) -> PyResult<String> {
        self.disassembled(py, "sass")
    }

    /// Machine code as text, on every device: SASS, or the output of llvm-objdump for AMD and of objdump for the host.
    #[getter]
    fn assembly(&self, py: Python<'_>) -> PyResult<String> {
        self.disassembled(py, "assembly")
    }
}

impl PyKernelModule {
    fn disassembled(&self, py: Python<'_>, how: &str) -> PyResult<String> {
        let module = self.module();
        let tools = py.import("PyGPU._kernels.disassembly")?;
        tools.getattr(how)?.call1((module.device().kind().name(), module.image()))?.extract()
    }
}
