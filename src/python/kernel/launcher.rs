//! Defines the class `Launcher`, the result of ``kernel[grid, block]``.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::class::PyKernel;
use super::dimensions::{extent, parse_u32};
use super::kernel_lookup;
use super::launch_config::{ConfiguredLauncher, PyLaunchConfig, with_keywords};
use crate::exported_names::names;
use crate::kernel::call::argument_packing::{self, ArgumentCheck};
use crate::runtime::stream as runtime_stream;
use pygpu_backend::{LaunchAttributes, LaunchShape};
use pygpu_device::stream::{self, Stream};
use pygpu_kernel::LaunchConfig;

/// Kernel with a launch shape: the result of ``kernel[grid, block]``.
#[pyclass(frozen, freelist = 8, name = "Launcher", module = "PyGPU")]
pub(crate) struct Launcher {
    pub(crate) kernel: Py<PyKernel>,
    pub(crate) shape: LaunchShape,
    pub(crate) stream: Option<Stream>,
}

#[pymethods]
impl Launcher {
    #[inline]
    #[pyo3(signature = (*args: "Any", **kwargs: "Any") -> "None")]
    fn __call__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let function = self.kernel.get().function();
        let current;
        let stream = match &self.stream {
            Some(stream) => stream,
            None => {
                current = stream::current(function.device());
                &current
            }
        };
        match kwargs {
            None => argument_packing::call(function, &self.shape, stream, args, ArgumentCheck::Strict),
            Some(kwargs) => {
                let base_config = LaunchConfig { shape: self.shape, attributes: LaunchAttributes::default() };
                let (config, rules) = with_keywords(base_config, kwargs)?;
                if config.attributes == base_config.attributes {
                    return argument_packing::call(function, &config.shape, stream, args, rules);
                }
                argument_packing::call(function, &config, stream, args, rules)
            }
        }
    }

    /// The kernel that a call launches.
    #[getter]
    // stub: -> Kernel
    fn kernel(&self, py: Python<'_>) -> Py<PyKernel> {
        self.kernel.clone_ref(py)
    }

    fn __repr__(&self) -> PyResult<String> {
        let ([gx, gy, gz], [bx, by, bz]) = (self.shape.grid, self.shape.block);
        let name = self.kernel.get().function().name();
        Ok(format!("<PyGPU.Launcher {name}[({gx}, {gy}, {gz}), ({bx}, {by}, {bz})]>"))
    }
}

#[cold]
pub(crate) fn invalid_key(key: &Bound<'_, PyAny>) -> PyErr {
    PyIndexError::new_err(format!(
        "a launch is kernel[grid, block], with perhaps a stream and bytes of shared memory, or kernel[LaunchConfig(...)], not \
         {key}"
    ))
}

/// Returns the result of ``kernel[config]`` for a `LaunchConfig`, or the kernel whose name is the string `key`.
#[cold]
fn configure<'py>(kernel: &Bound<'py, PyKernel>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(name) = key.cast::<PyString>() {
        let function = kernel_lookup::function(key.py(), kernel.get().function().module(), name.to_str()?)?;
        return Ok(Bound::new(key.py(), PyKernel::new(function))?.into_any());
    }
    let Ok(config) = key.cast::<PyLaunchConfig>() else { return Err(invalid_key(key)) };
    Ok(Bound::new(kernel.py(), ConfiguredLauncher::new(kernel, config.get())?)?.into_any())
}

#[pymethods]
impl PyKernel {
    /// Select the launch shape: ``kernel[grid, block]``, ``kernel[grid, block, stream]``, ``kernel[grid, block, stream,
    /// shared]``, or ``kernel[config]``. With a string, return another kernel of the same source, such as an instance
    /// of a template: ``kernel['scale<float>']``.
    // stub: @overload
    // stub: def __getitem__(self, key: str, /) -> Kernel: ...
    // stub: @overload
    // stub: def __getitem__(self, key: tuple[Any, ...], /) -> Launcher: ...
    // stub: @overload
    // stub: def __getitem__(self, key: LaunchConfig, /) -> ConfiguredLauncher: ...
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(items) = key.cast_exact::<PyTuple>() else { return configure(slf, key) };
        if !(2..=4).contains(&items.len()) {
            return Err(invalid_key(key));
        }
        let function = slf.get().function();
        if function.is_template() {
            function.check_launchable()?;
        }
        let device = function.device();
        let (grid, block) =
            (extent(&*items.get_borrowed_item(0)?, "grid")?, extent(&*items.get_borrowed_item(1)?, "block")?);
        let (mut stream, mut shared) = (None, 0);
        if items.len() > 2 {
            let argument = items.get_item(2)?;
            if !argument.is_none() {
                stream = Some(runtime_stream::from_argument(slf.py(), Some(&argument), device)?);
            }
        }
        if items.len() > 3 {
            let argument = items.get_item(3)?;
            if !argument.is_none() {
                shared = parse_u32(&argument, "shared")?;
            }
        }
        let shape = LaunchShape { grid, block, shared, cooperative: false };
        Ok(Bound::new(slf.py(), Launcher { kernel: slf.clone().unbind(), shape, stream })?.into_any())
    }
}

names! {
    internal_classes: Launcher;
}
