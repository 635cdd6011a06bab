//! Allocators in Python that replace PyGPU's pool.

use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::allocator_inheritance::AllocatorScope;
use crate::array::memory_owner::{InheritedAllocator, MemoryOwner};
use crate::callback::{CallbackError, SendPyObject};
use crate::ffi::interpreter::with_interpreter;
use crate::gil::WithoutGil;
use crate::interop::memory_argument::MemoryArgument;
use crate::names::names;
use crate::py_once::intern;
use crate::runtime::stream::PyStream;
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::Stream;
use pygpu_memory::custom_allocator::{self, Allocator, AllocatorBlock, AllocatorChoice};
use pygpu_memory::{Access, ordered};

/// A callable that takes a number of bytes (PyCUDA's form), or an object whose `allocate` takes a stream as well.
pub(crate) struct PyAllocator {
    object: SendPyObject,
    takes_stream: bool,
    /// The last returned memory if PyGPU tracks its block, for the creator of an allocator for one array.
    tracked_memory: Option<Mutex<Option<Py<PyAny>>>>,
    /// Whether it also allocates results of operations on its arrays: PyCUDA's rule for an argument `allocator=`.
    is_inherited: bool,
    /// Whether it returned address 0 last.
    has_returned_null: AtomicBool,
}

impl PyAllocator {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let takes_stream = object.hasattr(intern!(object.py(), "allocate"))?;
        if !takes_stream && !object.is_callable() {
            return Err(PyTypeError::new_err(format!(
                "an allocator is a callable that takes a number of bytes, or has a method allocate(nbytes, stream), and {} \
                 is neither",
                object.get_type()
            )));
        }
        Ok(Self {
            object: SendPyObject::new(object.clone().unbind()),
            takes_stream,
            tracked_memory: None,
            is_inherited: false,
            has_returned_null: AtomicBool::new(false),
        })
    }

    /// Creates an allocator for one array only, whose creator calls [`Self::take_tracked_memory`] afterwards.
    pub(crate) fn for_one_array(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        custom_allocator::use_for_results();
        Ok(Self { tracked_memory: Some(Mutex::new(None)), ..Self::inherited(object)? })
    }

    /// Creates an allocator for an array and the results of operations on it.
    fn inherited(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { is_inherited: true, ..Self::new(object)? })
    }

    /// Takes the last returned memory if PyGPU tracks its block.
    pub(crate) fn take_tracked_memory(&self) -> Option<Py<PyAny>> {
        self.tracked_memory.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether it returned address 0: the memory of such an array may be assigned later.
    pub(crate) fn returned_null(&self) -> bool {
        self.has_returned_null.load(Ordering::Relaxed)
    }

    fn call(&self, py: Python<'_>, bytes: usize, stream: &Stream) -> PyResult<AllocatorBlock> {
        let object = self.object.object().bind(py);
        let (memory, stream) = match self.takes_stream {
            true => {
                let argument = PyStream::from(stream.clone());
                (object.call_method1(intern!(py, "allocate"), (bytes, argument))?, stream.clone())
            }
            // Without a stream argument all its memory is ordered by the default stream.
            false => (object.call1((bytes,))?, Stream::default_of(stream.device())),
        };
        // No owner would free the memory at a plain number's address: `int` is a callable that takes a number of bytes, too. All
        // numbers have `__float__`. Arrays, PyGPU's too, have a `ptr` as well.
        self.has_returned_null.store(memory.extract::<u64>().is_ok_and(|address| address == 0), Ordering::Relaxed);
        if memory.hasattr(intern!(py, "__float__"))? && !memory.hasattr(intern!(py, "ptr"))? {
            return Err(PyTypeError::new_err(format!(
                "{object} gave the number {memory} for {bytes} bytes; an allocator gives an object with `__int__` or an \
                 attribute `ptr`, which gives the memory back when it is dropped"
            )));
        }
        let converted = MemoryArgument::from_python(&memory)?;
        let address = converted.address();
        if address == 0 {
            self.has_returned_null.store(true, Ordering::Relaxed);
            return Err(PyValueError::new_err(format!("{object} gave address 0 for {bytes} bytes")));
        }
        let rejected =
            |reason: String| PyValueError::new_err(format!("{object} gave {memory} for {bytes} bytes: {reason}"));
        converted.check(0, bytes as i64).map_err(|error| rejected(error.value(py).to_string()))?;
        if converted.readonly() {
            return Err(rejected("the memory is read-only".to_owned()));
        }
        match (converted.block(), &self.tracked_memory) {
            (Some(_), Some(tracked_memory)) => {
                *tracked_memory.lock().unwrap_or_else(PoisonError::into_inner) = Some(memory.clone().unbind());
            }
            // An earlier user of the memory may still use it on another stream.
            (Some(block), None) => {
                py.without_gil(|| ordered(&[(block, Access::Write)], &stream, || Ok(())))?;
            }
            (None, _) => {}
        }
        let allocator = self.is_inherited.then(|| result_allocator(object));
        let owner = MemoryOwner { object: SendPyObject::new(memory.unbind()), is_arrays: true, allocator };
        Ok(AllocatorBlock { address, stream, owner: Box::new(owner) })
    }
}

thread_local! {
    /// Nesting depth of allocators on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Allocators may call others, to a small depth. A recursive one would overflow the stack.
const MAX_DEPTH: usize = 50;

struct NestedAllocation;

impl NestedAllocation {
    fn enter(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if DEPTH.get() < MAX_DEPTH {
            DEPTH.set(DEPTH.get() + 1);
            return Ok(Self);
        }
        Err(PyRecursionError::new_err(format!(
            "the allocator {object} asks for arrays whose memory is to come from itself; let it make them inside `with \
             PyGPU.using_allocator(None)`"
        )))
    }
}

impl Drop for NestedAllocation {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

impl Allocator for PyAllocator {
    fn allocate(&self, bytes: usize, stream: &Stream) -> Result<AllocatorBlock> {
        let allocated = with_interpreter(|py| {
            // An allocator's own memory is no result: otherwise an inherited one would be called for it.
            let _scope = self.is_inherited.then(|| AllocatorScope::new(None));
            let outcome = NestedAllocation::enter(self.object.object().bind(py))
                .and_then(|_nesting| self.call(py, bytes, stream));
            outcome.map_err(|error| Error::Callback(Arc::new(CallbackError::new(py, error))))
        });
        allocated.unwrap_or_else(|| Err(Error::value("the allocator cannot be called: the interpreter is ending")))
    }
}

/// Creates an allocator for results from the allocator of an array.
fn new_result_allocator(object: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Allocator>> {
    Ok(Arc::new(PyAllocator::inherited(object)?))
}

/// Returns the allocator that is stored with its memory, so that results use it too.
pub(super) fn result_allocator(object: &Bound<'_, PyAny>) -> InheritedAllocator {
    InheritedAllocator::new(object.clone().unbind(), new_result_allocator)
}

/// Selects the allocator of an argument `allocator=` for new arrays of this thread.
///
/// # Errors
/// `TypeError` for an object that is no allocator.
pub(crate) fn select(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Option<AllocatorScope>> {
    let Some(object) = argument.filter(|object| !object.is_none()) else { return Ok(None) };
    Ok(Some(AllocatorScope::new(Some(AllocatorChoice::Plugged(new_result_allocator(object)?)))))
}

fn to_choice(object: &Bound<'_, PyAny>) -> PyResult<AllocatorChoice> {
    Ok(match object.is_none() {
        true => AllocatorChoice::Pool,
        false => AllocatorChoice::Plugged(Arc::new(PyAllocator::new(object)?)),
    })
}

fn to_python(py: Python<'_>, choice: &AllocatorChoice) -> Py<PyAny> {
    let AllocatorChoice::Plugged(allocator) = choice else { return py.None() };
    let allocator: &dyn Any = &**allocator;
    allocator
        .downcast_ref::<PyAllocator>()
        .map_or_else(|| py.None(), |python_allocator| python_allocator.object.object().clone_ref(py))
}

/// Set the allocator of all threads; see `PyGPU.set_allocator`.
#[pyfunction]
#[pyo3(signature = (allocator: "Any") -> "None")]
fn _choose_allocator(allocator: &Bound<'_, PyAny>) -> PyResult<()> {
    custom_allocator::choose(to_choice(allocator)?);
    Ok(())
}

/// Return the allocator of this thread's new arrays.
///
/// Returns
/// -------
/// object or None
///     The object given to `set_allocator` or `using_allocator`; `None` for PyGPU's own pool.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.get_allocator() is None
/// True
#[pyfunction]
#[pyo3(signature = () -> "Any")]
fn get_allocator(py: Python<'_>) -> Py<PyAny> {
    to_python(py, &custom_allocator::choice())
}

/// Sets the allocator of this thread until `put_back`; see `PyGPU.using_allocator`.
#[pyclass(frozen, name = "_ThreadsAllocator", module = "PyGPU._core")]
struct ThreadAllocator(Option<AllocatorChoice>);

#[pymethods]
impl ThreadAllocator {
    #[new]
    #[pyo3(signature = (allocator: "Any", is_inherited: "bool" = false) -> "Self")]
    fn new(allocator: &Bound<'_, PyAny>, is_inherited: bool) -> PyResult<Self> {
        let choice = match is_inherited {
            true => AllocatorChoice::Plugged(Arc::new(PyAllocator::inherited(allocator)?)),
            false => to_choice(allocator)?,
        };
        Ok(Self(custom_allocator::choose_for_thread(Some(choice))))
    }

    /// Restore the previous allocator.
    #[pyo3(signature = () -> "None")]
    fn put_back(&self) {
        drop(custom_allocator::choose_for_thread(self.0.clone()));
    }
}

names! {
    internal_functions: _choose_allocator;
    functions "Memory": get_allocator;
    internal_classes: ThreadAllocator;
}
