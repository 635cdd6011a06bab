//! What the compiler made of a module: its PTX and its machine code as texts; and modules of what somebody else compiled.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyTuple, PyType};

use super::class::Kernel;
use super::instance;
use super::module::PyKernelModule;
use super::source::{Given, load_image, read};
use crate::gil::WithoutGil;
use crate::runtime::compiler::with_compiler;
use crate::runtime::device as device_argument;
use pygpu_backend::BackendKind;

#[pymethods]
impl PyKernelModule {
    /// A module of a file that was compiled before.
    ///
    /// Parameters
    /// ----------
    /// path : str or path
    ///     A cubin, PTX, a fatbin, a code object; or a shared library that nvcc or hipcc built with kernels in it. On the CPU a
    ///     library that PyGPU's compiler made (`Module.image`).
    /// device : int, str or Device, optional
    ///     The current device by default.
    ///
    /// Returns
    /// -------
    /// Module
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When the file cannot be read.
    /// ValueError
    ///     For what is no image, or one for other devices.
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
            Given::Image(image) => Ok(Self::wrap(load_image(py, device, image, &[])?, Vec::new())),
            Given::Text(_, name) => Err(PyTypeError::new_err(format!(
                "{name} is a source by its name: Module(path) compiles it, and from_file loads what is compiled already"
            ))),
        }
    }

    /// A module of bytes that were compiled before.
    ///
    /// Parameters
    /// ----------
    /// image : bytes-like
    ///     As the files of `from_file`.
    /// device : int, str or Device, optional
    ///     The current device by default.
    ///
    /// Returns
    /// -------
    /// Module
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For what is no image, or one for other devices.
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

    /// An instance of one of the module's templates.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The template's.
    /// *arguments
    ///     Dtypes, integers, truth values, and texts, which stay as they are.
    ///
    /// Returns
    /// -------
    /// Kernel
    ///     One that was not among the module's `instances` is compiled when it is first asked for, in a module of its own:
    ///     ``__device__`` and ``__constant__`` variables are its own too.
    ///
    /// Raises
    /// ------
    /// CompileError
    ///     When the template takes no such arguments.
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
    fn template(&self, name: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<Kernel> {
        Ok(Kernel::new(instance::of_arguments(self.module(), name, arguments)?))
    }

    /// Its PTX, on NVIDIA's devices: what was loaded, or what the same source gives for the same architecture; of a fatbin or a
    /// library what cuobjdump finds in it.
    #[getter]
    fn ptx(&self, py: Python<'_>) -> PyResult<String> {
        let module = self.module();
        if module.source().is_none() && module.device().kind() == BackendKind::Cuda && module.is_container() {
            return py
                .import("PyGPU._native.compiled.disassembly")?
                .getattr("ptx_of")?
                .call1((module.image(),))?
                .extract();
        }
        let ptx = match module.source() {
            Some(source) => with_compiler(py, module.device(), source, |hints| module.ptx(hints))?,
            None => py.without_gil(|| module.ptx(&[]))?,
        };
        Ok(String::from_utf8_lossy(&ptx).into_owned())
    }

    /// Its machine code as text, on NVIDIA's devices: by nvdisasm or cuobjdump, which are part of the CUDA toolkit. They are looked
    /// for on ``PATH``, in ``CUDA_HOME`` and in the installed packages.
    #[getter]
    fn sass(&self, py: Python<'_>) -> PyResult<String> {
        self.disassembled(py, "sass")
    }

    /// Its machine code as text, on every device: SASS, AMD's by llvm-objdump, or the host's by objdump.
    #[getter]
    fn assembly(&self, py: Python<'_>) -> PyResult<String> {
        self.disassembled(py, "assembly")
    }
}

impl PyKernelModule {
    fn disassembled(&self, py: Python<'_>, how: &str) -> PyResult<String> {
        let module = self.module();
        let tools = py.import("PyGPU._native.compiled.disassembly")?;
        tools.getattr(how)?.call1((module.device().kind().name(), module.image()))?.extract()
    }
}
