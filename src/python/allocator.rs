//! Allocators in Python in the place of PyGPU's pool.

use std::any::Any;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use super::foreign::address_of;
use super::gil;
use super::stream::PyStream;
use crate::error::{Error, Result};
use crate::memory::plugged::{self, Allocator, Block, Choice};
use crate::stream::Stream;

/// A callable that takes a number of bytes (PyCUDA's way), or an object whose `allocate` takes a stream as well.
pub(super) struct PyAllocator {
    object: Py<PyAny>,
    takes_stream: bool,
}

impl PyAllocator {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let takes_stream = object.hasattr(intern!(object.py(), "allocate"))?;
        if !takes_stream && !object.is_callable() {
            return Err(PyTypeError::new_err(format!(
                "an allocator is a callable that takes a number of bytes, or has a method allocate(nbytes, stream), and {} \
                 is neither",
                object.get_type()
            )));
        }
        Ok(Self { object: object.clone().unbind(), takes_stream })
    }

    fn call(&self, py: Python<'_>, bytes: usize, stream: &Stream) -> PyResult<Block> {
        let object = self.object.bind(py);
        let (memory, stream) = match self.takes_stream {
            true => {
                let argument = PyStream::from(stream.clone());
                (object.call_method1(intern!(py, "allocate"), (bytes, argument))?, stream.clone())
            }
            // It knows of no stream but the one that every other of its calls means.
            false => (object.call1((bytes,))?, Stream::default_of(stream.device())),
        };
        // Nobody would give the memory back at a plain number's address, if there is any: `int` is a callable that takes a
        // number of bytes, too. Numbers of every kind have `__float__`; arrays, ours too, have a `ptr` beside it.
        if memory.hasattr(intern!(py, "__float__"))? && !memory.hasattr(intern!(py, "ptr"))? {
            return Err(PyTypeError::new_err(format!(
                "{object} gave the number {memory} for {bytes} bytes; an allocator gives an object with `__int__` or an \
                 attribute `ptr`, which gives the memory back when it is dropped"
            )));
        }
        let address = address_of(&memory)?;
        if address == 0 {
            return Err(PyValueError::new_err(format!("{object} gave address 0 for {bytes} bytes")));
        }
        Ok(Block { address, stream, owner: Box::new(memory.unbind()) })
    }
}

impl Allocator for PyAllocator {
    fn allocate(&self, bytes: usize, stream: &Stream) -> Result<Block> {
        gil::with_gil(|py| self.call(py, bytes, stream)).map_err(|raised| Error::Callback(Arc::new(raised)))
    }
}

fn to_choice(object: &Bound<'_, PyAny>) -> PyResult<Choice> {
    Ok(match object.is_none() {
        true => Choice::Pool,
        false => Choice::Plugged(Arc::new(PyAllocator::new(object)?)),
    })
}

fn to_python(py: Python<'_>, choice: &Choice) -> Py<PyAny> {
    let Choice::Plugged(allocator) = choice else { return py.None() };
    let allocator: &dyn Any = &**allocator;
    allocator.downcast_ref::<PyAllocator>().map_or_else(|| py.None(), |own| own.object.clone_ref(py))
}

/// Chooses for all threads; see `PyGPU.set_allocator`.
#[pyfunction]
fn _choose_allocator(allocator: &Bound<'_, PyAny>) -> PyResult<()> {
    plugged::choose(to_choice(allocator)?);
    Ok(())
}

/// Where the memory of this thread's new arrays comes from.
///
/// Returns
/// -------
/// object or None
///     What `set_allocator` or `using_allocator` was given; `None` for PyGPU's own pool.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.get_allocator() is None
/// True
#[pyfunction]
fn get_allocator(py: Python<'_>) -> Py<PyAny> {
    to_python(py, &plugged::choice())
}

/// Chooses for this thread, until `put_back`; see `PyGPU.using_allocator`.
#[pyclass(frozen, name = "_ThreadsAllocator", module = "PyGPU._core")]
struct ThreadsAllocator(Option<Choice>);

#[pymethods]
impl ThreadsAllocator {
    #[new]
    fn new(allocator: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(plugged::choose_for_thread(Some(to_choice(allocator)?))))
    }

    /// Puts back what held before.
    fn put_back(&self) {
        drop(plugged::choose_for_thread(self.0.clone()));
    }
}

/// Puts the functions into the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ThreadsAllocator>()?;
    module.add_function(wrap_pyfunction!(_choose_allocator, module)?)?;
    module.add_function(wrap_pyfunction!(get_allocator, module)?)
}
