//! Defines the class `References`, which contains the textures and surfaces that a module's source declares at file
//! scope. Each of them is a variable of the module. The variable contains the driver's handle of the texture or surface
//! object that is bound to it.
//!
//! Before a launch, the launch's stream writes the handles of new bindings into the variables. The stream first waits
//! for kernels that still read the previous handles. The launch records uses of the variables, and of the memory of the
//! bound objects.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::atexit::{self, Detached};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::kernel::call::argument_packing::LaunchUses;
use crate::kernel::module::PyKernelModule;
use crate::texture::object;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_kernel::Module;
use pygpu_layout::{self as layout, Layout};
use pygpu_memory::texture::KernelObject;
use pygpu_memory::{Access, Allocation, stream_captures};

/// A module variable that represents a texture or surface, and the texture or surface object whose handle it contains.
struct TextureBinding {
    name: String,
    variable: Array,
    object: KernelObject,
    /// Whether the bound object's handle was already written into the variable.
    is_written: AtomicBool,
}

/// The textures and surfaces of a module, for PyCUDA's `Module`.
///
/// Parameters
/// ----------
/// module : PyGPU.Module
///     The module.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> from PyGPU import _core
/// >>> module = PyGPU.Module('texture<float, 2> image; __global__ void f(float *x) { *x = tex2D(image, 0, 0); }')
/// >>> _core.References(module).size('image')
/// 8
#[pyclass(frozen, name = "References", module = "PyGPU._core")]
pub(crate) struct TextureReferences {
    module: Detached<Module>,
    bindings: Mutex<Vec<Arc<TextureBinding>>>,
    /// Whether an object was ever bound to a texture or surface of the module.
    is_used: AtomicBool,
    /// Whether a kernel launch was captured into a graph. The captured work includes writes of handles into the
    /// variables, so each launch of the graph may replace newer handles. From then on every kernel launch writes all
    /// handles again.
    is_captured: AtomicBool,
    /// Python functions to call once, before the next kernel launch.
    callbacks: Mutex<Vec<Py<PyAny>>>,
}

impl Drop for TextureReferences {
    fn drop(&mut self) {
        let bindings = std::mem::take(&mut *lock(&self.bindings));
        // The bindings, whose drop may use the driver's module, are dropped before the field `module`, whose drop may
        // unload the driver's module.
        atexit::drop_detached(bindings);
    }
}

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the module variable of a texture or surface as an array with one element, the handle. The array has a
/// separate memory block, in which the uses of the variable are tracked.
fn variable(module: &Module, name: &str) -> Result<Array> {
    const BYTES: usize = size_of::<u64>();
    let (address, _) = module.global(name)?;
    let stream = Stream::default_of(module.device());
    // SAFETY: the driver allocates at least `BYTES` bytes for the variable of a texture or surface while the module
    // exists, and the caller keeps the module alive.
    let block = unsafe { Allocation::unowned(address, BYTES, stream) };
    let layout = Layout::contiguous(&[1], BYTES as i64, layout::MemoryOrder::C)?;
    Array::over(Arc::new(block), layout, DType::new(ScalarType::UInt64), false)
}

impl TextureReferences {
    /// Whether an object was ever bound to a texture or surface of the module. If no object was ever bound, a launch
    /// need not process the references.
    #[inline]
    pub(crate) fn are_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Calls the registered callbacks and writes the handles of new bindings. Returns the memory blocks that a launch
    /// on the stream uses.
    pub(crate) fn prepare(&self, py: Python<'_>, stream: &Stream) -> PyResult<LaunchUses> {
        let callbacks = std::mem::take(&mut *lock(&self.callbacks));
        for callback in callbacks {
            callback.call0(py)?;
        }
        let bindings = lock(&self.bindings).clone();
        if bindings.is_empty() {
            return Ok(LaunchUses::new());
        }
        Ok(py.without_gil(|| self.write(&bindings, stream))?)
    }

    fn write(&self, bindings: &[Arc<TextureBinding>], stream: &Stream) -> Result<LaunchUses> {
        if stream_captures::is_capturing(stream)? {
            self.is_captured.store(true, Ordering::Relaxed);
        }
        let must_write = self.is_captured.load(Ordering::Relaxed);
        let mut blocks = LaunchUses::new();
        for binding in bindings {
            if must_write || !binding.is_written.load(Ordering::Acquire) {
                copy::fill(&binding.variable, &binding.object.number().to_ne_bytes(), stream)?;
                binding.is_written.store(true, Ordering::Release);
            }
            blocks.push((Arc::clone(binding.variable.allocation()), Access::Read));
            blocks.extend(binding.object.uses().map(|(block, access)| (Arc::clone(block), access)));
        }
        Ok(blocks)
    }
}

#[pymethods]
impl TextureReferences {
    #[new]
    #[pyo3(signature = (module: "Module") -> "Self")]
    fn py_new(module: &Bound<'_, PyKernelModule>) -> Self {
        let module = Detached::new(module.get().module().clone());
        Self {
            module,
            bindings: Mutex::default(),
            is_used: AtomicBool::new(false),
            is_captured: AtomicBool::new(false),
            callbacks: Mutex::default(),
        }
    }

    /// Return the size in bytes of the module variable that represents a texture or surface.
    ///
    /// The size encodes the type: 8 for a surface and for a texture of floats, 16 for a texture of integers, 24 for a
    /// texture of integers that are read as floats.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Name of the texture or surface.
    ///
    /// Returns
    /// -------
    /// int
    #[pyo3(signature = (name: "str") -> "int")]
    fn size(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let module = &*self.module;
        Ok(py.without_gil(|| module.global(name))?.1)
    }

    /// Bind an object to the module variable of a texture or surface; the next launch writes the object's handle.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Name of the texture or surface in the module's source.
    /// value : Texture or Surface
    ///     The object to bind. The object and its memory are kept alive.
    #[pyo3(signature = (name: "str", value: "Texture | Surface") -> "None")]
    fn bind(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let Some((object, _)) = object::from_python(value) else {
            return Err(pyo3::exceptions::PyTypeError::new_err("a Texture or a Surface is bound to a reference"));
        };
        let object = object.clone();
        self.is_used.store(true, Ordering::Release);
        let existing =
            lock(&self.bindings).iter().find(|binding| binding.name == name).map(|binding| binding.variable.clone());
        let variable = match existing {
            Some(variable) => variable,
            None => py.without_gil(|| variable(&self.module, name))?,
        };
        let is_written = AtomicBool::new(false);
        let new_binding = Arc::new(TextureBinding { name: name.to_owned(), variable, object, is_written });
        let replaced = {
            let mut bindings = lock(&self.bindings);
            match bindings.iter_mut().find(|binding| binding.name == name) {
                Some(binding) => Some(std::mem::replace(binding, new_binding)),
                None => {
                    bindings.push(new_binding);
                    None
                }
            }
        };
        // The previous binding is dropped after the lock is released, because the drop may call the driver.
        atexit::drop_detached(replaced);
        Ok(())
    }

    /// Register a callback for the next launch only.
    ///
    /// Parameters
    /// ----------
    /// function : callable
    ///     Called without arguments.
    #[pyo3(signature = (function: "Callable[[], object]") -> "None")]
    fn call_before_launch(&self, function: Py<PyAny>) {
        self.is_used.store(true, Ordering::Release);
        lock(&self.callbacks).push(function);
    }
}

names! {
    internal_classes: TextureReferences;
}
