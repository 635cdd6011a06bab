//! The class `References`: the file-scope textures and surfaces of a module, each a variable with the number of the object that a
//! program has bound to it.
//!
//! Before a launch what was bound since the last one is written, on the launch's stream: a kernel that still reads the old
//! number is waited for, and the variables, the objects and what they read are blocks that the launch uses.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::exit::{self, Detached};
use crate::gil::WithoutGil;
use crate::kernel::call::pack::Blocks;
use crate::kernel::module::PyKernelModule;
use crate::names::names;
use crate::texture::object;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_kernel::Module;
use pygpu_layout::{self as layout, Layout};
use pygpu_memory::texture::KernelObject;
use pygpu_memory::{Access, Allocation, capture};

/// A variable and what is bound to it.
struct Binding {
    name: String,
    variable: Array,
    object: KernelObject,
    /// Whether the variable has the object's number.
    is_written: AtomicBool,
}

/// The textures and surfaces of a module, as PyCUDA's `Module` has them.
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
pub(crate) struct References {
    module: Detached<Module>,
    bound: Mutex<Vec<Arc<Binding>>>,
    /// Whether anything was ever bound.
    is_used: AtomicBool,
    /// Whether a graph may write a variable at any time.
    is_captured: AtomicBool,
    /// What is to be called before the next launch.
    changed: Mutex<Vec<Py<PyAny>>>,
}

impl Drop for References {
    fn drop(&mut self) {
        let bound = std::mem::take(&mut *lock(&self.bound));
        exit::drop_detached(bound); // before the module, which ends itself
    }
}

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A variable as an array of one number, with uses of its own.
fn variable(module: &Module, name: &str) -> Result<Array> {
    const BYTES: usize = size_of::<u64>();
    let (address, _) = module.global(name)?;
    let stream = Stream::default_of(module.device());
    // SAFETY: a texture's or surface's variable has at least this, as long as the module, which is kept.
    let block = unsafe { Allocation::unowned(address, BYTES, stream) };
    let layout = Layout::contiguous(&[1], BYTES as i64, layout::MemoryOrder::C)?;
    Array::over(Arc::new(block), layout, DType::new(ScalarType::UInt64), false)
}

impl References {
    /// Whether a launch has anything to do with them.
    #[inline]
    pub(crate) fn are_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Writes what is not written, and says what a launch on the stream uses.
    pub(crate) fn prepare(&self, py: Python<'_>, stream: &Stream) -> PyResult<Blocks> {
        let changed = std::mem::take(&mut *lock(&self.changed));
        for one in changed {
            one.call0(py)?;
        }
        let bound = lock(&self.bound).clone();
        if bound.is_empty() {
            return Ok(Blocks::new());
        }
        Ok(py.without_gil(|| self.write(&bound, stream))?)
    }

    fn write(&self, bound: &[Arc<Binding>], stream: &Stream) -> Result<Blocks> {
        if capture::is_capturing(stream)? {
            self.is_captured.store(true, Ordering::Relaxed);
        }
        let always = self.is_captured.load(Ordering::Relaxed);
        let mut blocks = Blocks::new();
        for one in bound {
            if always || !one.is_written.load(Ordering::Acquire) {
                copy::fill(&one.variable, &one.object.number().to_ne_bytes(), stream)?;
                one.is_written.store(true, Ordering::Release);
            }
            blocks.push((Arc::clone(one.variable.allocation()), Access::Read));
            blocks.extend(one.object.uses().map(|(block, access)| (Arc::clone(block), access)));
        }
        Ok(blocks)
    }
}

#[pymethods]
impl References {
    #[new]
    #[pyo3(signature = (module: "Module") -> "Self")]
    fn py_new(module: &Bound<'_, PyKernelModule>) -> Self {
        let module = Detached::new(module.get().module().clone());
        Self {
            module,
            bound: Mutex::default(),
            is_used: AtomicBool::new(false),
            is_captured: AtomicBool::new(false),
            changed: Mutex::default(),
        }
    }

    /// The bytes of a variable: 8 for a texture of floats and for a surface, 16 for one of integers, 24 for one of integers
    /// that are read as floats.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Of the texture or surface.
    ///
    /// Returns
    /// -------
    /// int
    #[pyo3(signature = (name: "str") -> "int")]
    fn size(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let module = &*self.module;
        Ok(py.without_gil(|| module.global(name))?.1)
    }

    /// Binds a texture or a surface to a variable: the next launch writes its number.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Of the variable.
    /// value : Texture or Surface
    ///     It is kept, and what it reads.
    #[pyo3(signature = (name: "str", value: "Texture | Surface") -> "None")]
    fn bind(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let Some((object, _)) = object::of_python(value) else {
            return Err(pyo3::exceptions::PyTypeError::new_err("a Texture or a Surface is bound to a reference"));
        };
        let object = object.clone();
        self.is_used.store(true, Ordering::Release);
        let found = lock(&self.bound).iter().find(|one| one.name == name).map(|one| one.variable.clone());
        let variable = match found {
            Some(variable) => variable,
            None => py.without_gil(|| variable(&self.module, name))?,
        };
        let is_written = AtomicBool::new(false);
        let new = Arc::new(Binding { name: name.to_owned(), variable, object, is_written });
        let before = {
            let mut bound = lock(&self.bound);
            match bound.iter_mut().find(|one| one.name == name) {
                Some(one) => Some(std::mem::replace(one, new)),
                None => {
                    bound.push(new);
                    None
                }
            }
        };
        exit::drop_detached(before); // not under the lock
        Ok(())
    }

    /// Says what is to be called before the next launch, once.
    ///
    /// Parameters
    /// ----------
    /// function : callable
    ///     Called without arguments.
    #[pyo3(signature = (function: "Callable[[], object]") -> "None")]
    fn call_before_launch(&self, function: Py<PyAny>) {
        self.is_used.store(true, Ordering::Release);
        lock(&self.changed).push(function);
    }
}

names! {
    internal_classes: References;
}
