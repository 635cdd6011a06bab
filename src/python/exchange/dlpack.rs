//! `__dlpack__` and `__dlpack_device__`: arrays lent to other libraries as capsules.
//!
//! Written by hand because every exchange pays for it: no string is made, no Python object but the capsule, one block of
//! heap for all that the consumer keeps.

use std::ffi::CStr;
use std::ptr::NonNull;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::import;
use crate::array::Array;
use crate::callback::caught;
use crate::copy;
use crate::device::Device;
use crate::interop::dlpack::ffi::{DLManagedTensor, DLManagedTensorVersioned};
use crate::interop::dlpack::{self, DlpackFlags, export};
use crate::interop::streams;
use crate::layout::{Dims, Layout, Order};
use crate::python::array::class::GpuArray;
use crate::python::callback;
use crate::python::convert::number;
use crate::python::gil::WithoutGil;
use crate::stream::{self, Stream};

/// The name of a capsule that holds a tensor of the old form, and that after it was taken.
pub(crate) const LEGACY: (&CStr, &CStr) = (c"dltensor", c"used_dltensor");
/// The same of a versioned one.
pub(crate) const VERSIONED: (&CStr, &CStr) = (c"dltensor_versioned", c"used_dltensor_versioned");

#[pymethods]
impl GpuArray {
    /// The array as a DLPack capsule: for ``from_dlpack`` of other libraries.
    ///
    /// Parameters
    /// ----------
    /// stream : int, optional
    ///     The consumer's stream, on which the data will be usable; it waits by an event, the host does not wait. None is
    ///     the legacy default stream, -1 waits for nothing. On CUDA 1 is the legacy default stream, 2 the per-thread one and
    ///     0 an error; on ROCm 0 is the default stream, and 1 and 2 are errors. Greater numbers are handles. For host memory
    ///     only None and -1.
    /// max_version : tuple of int, optional
    ///     The newest DLPack version that the consumer reads. Without it the capsule has the form from before 1.0.
    /// dl_device : tuple of int, optional
    ///     Where the data is wanted: the array's own device or ``(1, 0)``, the host.
    /// copy : bool, optional
    ///     True always copies, in C order; False never; None only for another device.
    ///
    /// Returns
    /// -------
    /// capsule
    ///     It keeps the memory, not the array object. Its deleter needs no GIL.
    ///
    /// Raises
    /// ------
    /// BufferError
    ///     For structured dtypes, for another device, for a read-only array without `max_version`, and for a copy that is
    ///     needed and forbidden.
    /// ValueError
    ///     For a stream that the device does not have.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3, device='cpu')
    /// >>> np.from_dlpack(a)[1] = 5
    /// >>> a.tolist()
    /// [0.0, 5.0, 0.0]
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<&Bound<'py, PyAny>>,
        dl_device: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = slf.get().array();
        let versioned = match max_version {
            Some(version) => pair(version, "max_version")?.0 >= 1,
            None => false,
        };
        let stream = stream.map(|stream| number::signed(stream, "stream")).transpose()?;
        if let Some(wanted) = dl_device
            && goes_to_host(array.device(), pair(wanted, "dl_device")?)?
        {
            let copied = on_host(py, array, stream, copy)?;
            return capsule(py, &copied, versioned, DlpackFlags::IS_COPIED, None);
        }
        let consumer = streams::of_dlpack_consumer(array.device().kind(), stream)?;
        let consumer = consumer.map(|handle| Stream::named(array.device(), handle)).transpose()?;
        if copy == Some(true) {
            let copied = on_stream(py, array, consumer.as_ref())?;
            return capsule(py, &copied, versioned, DlpackFlags::IS_COPIED, consumer);
        }
        if let Some(consumer) = &consumer
            && !array.allocation().is_in_order_of(consumer)
        {
            py.without_gil(|| array.allocation().hand_over(array.access_of_others(), consumer))?;
        }
        capsule(py, array, versioned, DlpackFlags::empty(), consumer)
    }

    /// The array's device as DLPack names it: ``(type, number)``. Asks no driver.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///     Type 1 is the host, 2 CUDA, 10 ROCm.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.zeros(3, device='cpu').__dlpack_device__()
    /// (1, 0)
    fn __dlpack_device__(&self) -> (u32, i32) {
        dlpack::code_of(self.array().device())
    }
}

/// Two integers in a tuple.
///
/// # Errors
/// `TypeError` for anything else.
#[inline]
pub(crate) fn pair(object: &Bound<'_, PyAny>, what: &str) -> PyResult<(i64, i64)> {
    let wrong = || PyTypeError::new_err(format!("{what} is a tuple of two integers, not {object:?}"));
    let tuple = object.cast::<PyTuple>().map_err(|_| wrong())?;
    if tuple.len() != 2 {
        return Err(wrong());
    }
    let integer = |position| {
        let item = tuple.get_borrowed_item(position)?;
        // SAFETY: a live object; -1 may mean an exception, which is taken.
        let value = unsafe { ffi::PyLong_AsLongLong(item.as_ptr()) };
        if value == -1 && PyErr::take(object.py()).is_some() { Err(wrong()) } else { Ok(value) }
    };
    Ok((integer(0)?, integer(1)?))
}

fn goes_to_host(own: Device, wanted: (i64, i64)) -> PyResult<bool> {
    let (own_type, own_id) = dlpack::code_of(own);
    if wanted == (i64::from(own_type), i64::from(own_id)) {
        return Ok(false);
    }
    if wanted == dlpack::HOST {
        return Ok(true);
    }
    Err(PyBufferError::new_err(format!(
        "__dlpack__: the array is on {own}, DLPack device ({own_type}, {own_id}); it is lent there or as a copy on the host, \
         (1, 0), not on {wanted:?}"
    )))
}

/// The values in new host memory, in C order; they are there when this returns.
fn on_host(py: Python<'_>, array: &Array, stream: Option<i64>, copy: Option<bool>) -> PyResult<Array> {
    if let Some(stream) = stream.filter(|&stream| stream != -1) {
        return Err(PyValueError::new_err(format!(
            "__dlpack__: stream={stream} with dl_device=(1, 0): on the host the data is there at once, and the only stream \
             is None"
        )));
    }
    if copy == Some(false) {
        return Err(PyBufferError::new_err(format!(
            "__dlpack__: the host cannot read the memory of {} in place, and copy=False forbids the copy",
            array.device()
        )));
    }
    let shape: Dims = array.layout().shape().collect();
    let dense = Layout::contiguous(&shape, array.layout().itemsize(), Order::C)?;
    import::copy_to(py, array, Device::cpu()?, dense)
}

/// A copy in C order on the same device, usable on the consumer's stream.
fn on_stream(py: Python<'_>, array: &Array, consumer: Option<&Stream>) -> PyResult<Array> {
    let stream = consumer.cloned().unwrap_or_else(|| stream::current(array.device()));
    Ok(py.without_gil(|| copy::duplicate(array, Order::C, &stream))?)
}

fn capsule<'py>(
    py: Python<'py>,
    array: &Array,
    versioned: bool,
    flags: DlpackFlags,
    consumer: Option<Stream>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: each tensor is new, and goes with the name and the destructor of its form.
    unsafe {
        if versioned {
            wrap(py, export::versioned(array, flags, consumer)?, VERSIONED.0, drop_versioned)
        } else {
            wrap(py, export::legacy(array, consumer)?, LEGACY.0, drop_legacy)
        }
    }
}

/// # Safety
/// The name and the destructor are those of the tensor's form.
unsafe fn wrap<'py, M>(
    py: Python<'py>,
    managed: NonNull<M>,
    name: &'static CStr,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: promised by the caller. Null means that memory is short for the capsule: then so little is lost that the
    // tensor is left.
    unsafe {
        let made = ffi::PyCapsule_New(managed.as_ptr().cast(), name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// The tensor of a capsule that nobody has taken it from: a consumer renames what it takes.
unsafe fn untaken<M>(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<M>> {
    // SAFETY: a capsule that is being destroyed. Asking first keeps an exception that may be set.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 0 {
            return None;
        }
        NonNull::new(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()).cast())
    }
}

unsafe extern "C" fn drop_legacy(capsule: *mut ffi::PyObject) {
    caught((), || {
        // SAFETY: our own capsule; its tensor is ours to delete while it has its first name.
        unsafe {
            if let Some(tensor) = untaken::<DLManagedTensor>(capsule, LEGACY.0)
                && let Some(deleter) = tensor.as_ref().deleter
            {
                deleter(tensor.as_ptr());
            }
        }
    });
}

unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    caught((), || {
        // SAFETY: as above.
        unsafe {
            if let Some(tensor) = untaken::<DLManagedTensorVersioned>(capsule, VERSIONED.0)
                && let Some(deleter) = tensor.as_ref().deleter
            {
                deleter(tensor.as_ptr());
            }
        }
    });
}

/// Tells the layer below how Python lets go of arrays.
pub(crate) fn register() {
    export::set_release(callback::release);
}
