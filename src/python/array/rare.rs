//! What few arrays have: a host side, memory as an object, a value that a subclass made late.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::host_side::HostSide;
use crate::callback;
use crate::convert::pointer::Parameter;
use crate::runtime::device_memory::DeviceAllocation;
use pygpu_base::iterative_drop;

/// Which objects a call was given, as long as they live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Given(u64);

impl Given {
    pub(crate) fn of(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut hasher = DefaultHasher::new();
        args.iter_borrowed().for_each(|argument| (argument.as_ptr() as usize).hash(&mut hasher));
        for (name, argument) in kwargs.iter().flat_map(|kwargs| kwargs.iter()) {
            name.extract::<String>()?.hash(&mut hasher);
            (argument.as_ptr() as usize).hash(&mut hasher);
        }
        Ok(Self(hasher.finish()))
    }
}

/// What few arrays have; `A` is the class of them.
pub(crate) struct Rare<A> {
    /// The ndarray that `to_device` uploads and `to_host` refreshes.
    pub(super) host: Mutex<HostSide>,
    /// The memory as an object, from when somebody asked for it, or as it was given.
    gpudata: OnceLock<Py<PyAny>>,
    /// What `__new__` was given, until `__init__` says what the array is to be.
    awaits: Mutex<Option<Given>>,
    /// What `__init__` or an assignment to `gpudata` made last: one of `all`.
    made: AtomicPtr<A>,
    /// All that was made. Whoever has a reference to one keeps it, so that none goes before this.
    all: Mutex<Vec<Arc<A>>>,
    /// What a subclass says in the place of the number of bytes.
    nbytes: Mutex<Option<Option<i64>>>,
    /// The address for ctypes.
    pub(crate) parameter: Parameter,
    /// Whether the array stands at address 0, until its `gpudata` is assigned.
    lacks_memory: AtomicBool,
    /// The allocator that was assigned.
    allocator: Mutex<Option<Py<PyAny>>>,
}

impl<A> Default for Rare<A> {
    fn default() -> Self {
        Self {
            host: Mutex::default(),
            gpudata: OnceLock::new(),
            awaits: Mutex::default(),
            made: AtomicPtr::default(),
            all: Mutex::default(),
            nbytes: Mutex::default(),
            parameter: Parameter::default(),
            lacks_memory: AtomicBool::default(),
            allocator: Mutex::default(),
        }
    }
}

impl<A> Rare<A> {
    pub(crate) fn gpudata(&self) -> Option<&Py<PyAny>> {
        self.gpudata.get()
    }

    /// Keeps the memory as an object; what was kept first stays.
    pub(crate) fn keep_gpudata(&self, memory: Py<PyAny>) -> &Py<PyAny> {
        self.gpudata.get_or_init(|| memory)
    }

    /// Whether there is an object over the array that only the array holds.
    pub(super) fn has_gpudata_alone(&self) -> bool {
        // SAFETY: live objects and the GIL, which the collector holds too.
        self.gpudata.get().is_some_and(|memory| unsafe {
            let memory = memory.as_ptr();
            ffi::Py_REFCNT(memory) == 1 && DeviceAllocation::shows_array(memory)
        })
    }

    pub(super) fn made(&self) -> Option<&A> {
        // SAFETY: null, or what an `Arc` of `all` has, which lives as long as this and is never written.
        unsafe { self.made.load(Ordering::Acquire).as_ref() }
    }

    /// Says that `__init__` may bring other arguments than these.
    pub(crate) fn await_init(&self, given: Given) {
        *self.awaits.lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
    }

    /// What `__new__` was given, once.
    pub(crate) fn awaited(&self) -> Option<Given> {
        self.awaits.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Puts another array in the place of what there was.
    pub(crate) fn make(&self, value: A) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let made = Arc::new(value);
        self.made.store(Arc::as_ptr(&made).cast_mut(), Ordering::Release);
        all.push(made);
    }

    /// Says that there is no memory yet.
    pub(crate) fn lack_memory(&self) {
        self.lacks_memory.store(true, Ordering::Relaxed);
    }

    pub(super) fn lacks_memory(&self) -> bool {
        self.lacks_memory.load(Ordering::Relaxed)
    }

    /// The allocator that was assigned, for memory that is assigned later.
    pub(crate) fn allocator(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        allocator.as_ref().map(|object| object.clone_ref(py))
    }

    pub(crate) fn set_allocator(&self, object: Option<Py<PyAny>>) {
        let before = std::mem::replace(&mut *self.allocator.lock().unwrap_or_else(PoisonError::into_inner), object);
        drop(before);
    }

    /// The number of bytes that a subclass has set.
    pub(crate) fn nbytes(&self) -> Option<Option<i64>> {
        *self.nbytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_nbytes(&self, nbytes: Option<i64>) {
        *self.nbytes.lock().unwrap_or_else(PoisonError::into_inner) = Some(nbytes);
    }

    pub(super) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(memory) = self.gpudata.get() {
            visit.call(memory)?;
        }
        // The collector holds the GIL, and nobody runs Python under this lock: it is free, or the object is in use.
        if let Ok(host) = self.host.try_lock()
            && let Some(host) = host.referent()
        {
            visit.call(host)?;
        }
        if let Ok(allocator) = self.allocator.try_lock()
            && let Some(allocator) = &*allocator
        {
            visit.call(allocator)?;
        }
        Ok(())
    }
}

impl<A> Drop for Rare<A> {
    fn drop(&mut self) {
        let host = std::mem::take(self.host.get_mut().unwrap_or_else(PoisonError::into_inner));
        if let HostSide::Own(host) = host {
            iterative_drop::end(host, drop, callback::let_go);
        }
        if let Some(memory) = self.gpudata.take() {
            iterative_drop::end(memory, drop, callback::let_go);
        }
    }
}
