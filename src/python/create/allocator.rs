//! Calls allocators that Python code supplies to replace PyGPU's pool.

use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::allocator_inheritance::AllocatorScope;
use crate::array::memory_owner::{InheritedAllocator, MemoryOwner};
use crate::callback::{CallbackError, SendPyObject};
use crate::exported_names::names;
use crate::ffi::interpreter::with_interpreter;
use crate::gil::WithoutGil;
use crate::interop::memory_argument::MemoryArgument;
use crate::py_once::intern;
use crate::runtime::stream::PyStream;
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::Stream;
use pygpu_memory::custom_allocator::{self, Allocator, AllocatorBlock, AllocatorChoice};
use pygpu_memory::{Access, ordered};

/// An allocator of Python code: a callable that takes a number of bytes (PyCUDA's form), or an object whose method
/// `allocate` takes a number of bytes and a stream.
pub(crate) struct PyAllocator {
    object: SendPyObject,
    takes_stream: bool,
    /// The memory object that the last call returned, if PyGPU tracks its block. The outer option is `None` if the
    /// allocator also allocates results, i.e. serves more than one array.
    tracked_memory: Option<Mutex<Option<Py<PyAny>>>>,
    /// Whether the allocator also allocates the results of operations on its arrays, as PyCUDA does for an argument
    /// `allocator=`.
    is_inherited: bool,
    /// Whether the last call of the allocator returned address 0.
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

    /// Wraps an allocator object for one array only. The function that creates the array calls
    /// [`Self::take_tracked_memory`] after the allocation.
    pub(crate) fn for_one_array(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        custom_allocator::use_for_results();
        Ok(Self { tracked_memory: Some(Mutex::new(None)), ..Self::inherited(object)? })
    }

    /// Wraps an allocator object for an array and for the results of operations on this array.
    fn inherited(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { is_inherited: true, ..Self::new(object)? })
    }

    /// Takes the memory object that the last call of the allocator returned, if PyGPU tracks its memory block.
    pub(crate) fn take_tracked_memory(&self) -> Option<Py<PyAny>> {
        self.tracked_memory.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns whether the last call of the allocator returned address 0. If so, the array gets memory when its
    /// `gpudata` is assigned.
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
            // If an allocator takes no stream argument, its memory may be used immediately by work on the default
            // stream. Other streams wait for the default stream.
            false => (object.call1((bytes,))?, Stream::default_of(stream.device())),
        };
        // A result that is a plain number is rejected, because no object would free the memory at this address. For
        // example, `int` passed as an allocator returns the number of bytes. Only numbers have `__float__` without
        // `ptr`; arrays have both attributes.
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
            // Earlier uses of the memory that the allocator returned may still run on another stream. `ordered` makes
            // `stream` wait for these uses.
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
    /// Number of allocator calls in progress on this thread, each inside the previous one.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Maximum nesting depth of allocator calls. An allocator may call other allocators, but unlimited recursion would
/// overflow the stack.
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
            // Arrays that the allocator's own code creates are not results of operations on its arrays. This scope
            // disables inheritance; otherwise an inherited allocator would be called for these arrays.
            let _scope = self.is_inherited.then(|| AllocatorScope::new(None));
            let outcome = NestedAllocation::enter(self.object.object().bind(py))
                .and_then(|_nesting| self.call(py, bytes, stream));
            outcome.map_err(|error| Error::Callback(Arc::new(CallbackError::new(py, error))))
        });
        allocated.unwrap_or_else(|| Err(Error::value("the allocator cannot be called: the interpreter is ending")))
    }
}

/// Creates, from the allocator object of an array, the allocator for results of operations on the array.
fn new_result_allocator(object: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Allocator>> {
    Ok(Arc::new(PyAllocator::inherited(object)?))
}

/// Returns the form of the allocator that is stored with an array's memory, so that results of operations on the array
/// use this allocator too.
pub(super) fn result_allocator(object: &Bound<'_, PyAny>) -> InheritedAllocator {
    InheritedAllocator::new(object.clone().unbind(), new_result_allocator)
}

/// Selects the allocator of an argument `allocator=` for new arrays of this thread, until the returned scope is
/// dropped.
///
/// # Errors
/// `TypeError` for an object that is not an allocator.
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

/// Sets the allocator of this thread until the method `put_back` restores the previous one; see
/// `PyGPU.using_allocator`.
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
