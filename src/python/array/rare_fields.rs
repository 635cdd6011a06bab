//! Stores the rarely used fields of an array: the host mirror, the Python object of its memory, and the value that
//! `__init__` of a subclass sets after `__new__`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::host_mirror::HostMirror;
use crate::callback;
use crate::convert::pointer::CtypesPointerCache;
use crate::ffi::objects::is_last;
use crate::runtime::device_memory::DeviceAllocation;
use pygpu_base::iterative_drop;

/// Identifies the arguments of a call by a hash of their addresses and names, which is valid while the arguments are
/// alive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallIdentity(u64);

impl CallIdentity {
    pub(crate) fn new(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut hasher = DefaultHasher::new();
        args.iter_borrowed().for_each(|argument| (argument.as_ptr() as usize).hash(&mut hasher));
        for (name, argument) in kwargs.iter().flat_map(|kwargs| kwargs.iter()) {
            name.extract::<String>()?.hash(&mut hasher);
            (argument.as_ptr() as usize).hash(&mut hasher);
        }
        Ok(Self(hasher.finish()))
    }
}

/// The rarely used fields of an array; `A` is the array class.
pub(crate) struct ColdFields<A> {
    /// The ndarray that `to_device` uploads and `to_host` refreshes.
    pub(super) host: Mutex<HostMirror>,
    /// The memory as a Python object, which the user passed or which was created on first use.
    gpudata: OnceLock<Py<PyAny>>,
    /// The arguments of `__new__`, until `__init__` has compared them with its own arguments.
    new_call: Mutex<Option<CallIdentity>>,
    /// The current value of the array: an element of `values`, or null for the value that the array was created with.
    current: AtomicPtr<A>,
    /// All values that replaced the array's first value so far. A value is dropped only with this struct, because
    /// callers may hold references to any value.
    values: Mutex<Vec<Arc<A>>>,
    /// The number of bytes that a subclass has assigned to the attribute `nbytes`.
    nbytes: Mutex<Option<Option<i64>>>,
    /// The ctypes pointer that contains the array's address.
    pub(crate) parameter: CtypesPointerCache,
    /// Whether the array has address 0 until its `gpudata` is assigned.
    is_unallocated: AtomicBool,
    /// The allocator that the user assigned to the array's attribute `allocator`.
    allocator: Mutex<Option<Py<PyAny>>>,
}

impl<A> Default for ColdFields<A> {
    fn default() -> Self {
        Self {
            host: Mutex::default(),
            gpudata: OnceLock::new(),
            new_call: Mutex::default(),
            current: AtomicPtr::default(),
            values: Mutex::default(),
            nbytes: Mutex::default(),
            parameter: CtypesPointerCache::default(),
            is_unallocated: AtomicBool::default(),
            allocator: Mutex::default(),
        }
    }
}

impl<A> ColdFields<A> {
    pub(crate) fn gpudata(&self) -> Option<&Py<PyAny>> {
        self.gpudata.get()
    }

    /// Stores the Python object that represents the memory, unless one is stored already.
    pub(crate) fn set_gpudata(&self, memory: Py<PyAny>) -> &Py<PyAny> {
        self.gpudata.get_or_init(|| memory)
    }

    /// Whether a Python object for the memory was created, and this array holds the only reference to that object.
    pub(super) fn has_unshared_gpudata(&self) -> bool {
        // SAFETY: the callers are methods that Python calls with the GIL held, and the garbage collector, which holds
        // it too.
        let py = unsafe { Python::assume_attached() };
        self.gpudata
            .get()
            .is_some_and(|memory| is_last(memory, py) && DeviceAllocation::refers_to_array(memory.bind(py)))
    }

    pub(super) fn current(&self) -> Option<&A> {
        // SAFETY: the pointer is null, or points to the contents of an `Arc` in `values`. These contents live as long
        // as `self` and are never modified.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }
    }

    /// Records the arguments of `__new__`. `__init__` compares its own arguments with them, and creates the array again
    /// if the arguments differ.
    pub(crate) fn expect_init(&self, call: CallIdentity) {
        *self.new_call.lock().unwrap_or_else(PoisonError::into_inner) = Some(call);
    }

    /// Takes the arguments that [`Self::expect_init`] recorded; `None` if `__init__` has taken them already.
    pub(crate) fn take_expected_call(&self) -> Option<CallIdentity> {
        self.new_call.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Makes `value` the current value of the array, and keeps the previous values.
    pub(crate) fn replace_value(&self, value: A) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let current = Arc::new(value);
        self.current.store(Arc::as_ptr(&current).cast_mut(), Ordering::Release);
        values.push(current);
    }

    /// Makes a previous value of the array that satisfies a condition the current value again. Returns false if no
    /// previous value satisfies the condition.
    pub(super) fn restore_value(&self, is_suitable: impl Fn(&A) -> bool) -> bool {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(previous) = values.iter().find(|value| is_suitable(value)) else { return false };
        self.current.store(Arc::as_ptr(previous).cast_mut(), Ordering::Release);
        true
    }

    /// Makes the value with which the array was created the current value again.
    pub(super) fn restore_first_value(&self) {
        self.current.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Marks the array as an array without memory, until its `gpudata` is assigned.
    pub(crate) fn mark_unallocated(&self) {
        self.is_unallocated.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_unallocated(&self) -> bool {
        self.is_unallocated.load(Ordering::Relaxed)
    }

    /// Returns the allocator that the user assigned to the array's attribute `allocator`; it applies to memory that is
    /// assigned later.
    pub(crate) fn allocator(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        allocator.as_ref().map(|object| object.clone_ref(py))
    }

    pub(crate) fn set_allocator(&self, object: Option<Py<PyAny>>) {
        let previous = std::mem::replace(&mut *self.allocator.lock().unwrap_or_else(PoisonError::into_inner), object);
        drop(previous);
    }

    /// Returns the number of bytes that a subclass has assigned to the attribute `nbytes`.
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
        // The garbage collector skips a field while another thread holds the field's lock. This is harmless: that
        // thread uses the array and therefore has a reference to it, so the collector cannot free the array. The lock
        // is rarely held here, because the collector holds the GIL and no thread runs Python code under the lock.
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

impl<A> Drop for ColdFields<A> {
    fn drop(&mut self) {
        let host = std::mem::take(self.host.get_mut().unwrap_or_else(PoisonError::into_inner));
        if let HostMirror::Owned(host) = host {
            iterative_drop::drop_iteratively(host, drop, callback::release_object);
        }
        if let Some(memory) = self.gpudata.take() {
            iterative_drop::drop_iteratively(memory, drop, callback::release_object);
        }
    }
}
