//! Converts dtypes: any argument of `numpy.dtype` as input, NumPy's dtype objects as output.
//!
//! The conversion uses a cache by object identity. The reason is that a program passes the same objects, such as
//! `numpy.float32`, in every call, and that a conversion by NumPy takes several times as long as an allocation. The
//! cache keeps its keys alive forever, so that the address of a key is never reused. It has at most `SLOTS` keys.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use super::argument_errors;
use crate::py_once::{PyOnce, intern};
use pygpu_base::dtype::{DType, Origin, ScalarType, TABLE};
use pygpu_base::fork_safe::ForkSafeMutex;

const SLOTS: usize = 128;

struct DTypeCacheSlot {
    key: AtomicPtr<ffi::PyObject>,
    /// The integer value of the dtype's `ScalarType`, plus one; 0 while the thread that claimed the cache slot has not
    /// filled it yet.
    kind: AtomicU64,
}

static CACHE: [DTypeCacheSlot; SLOTS] =
    [const { DTypeCacheSlot { key: AtomicPtr::new(std::ptr::null_mut()), kind: AtomicU64::new(0) } }; SLOTS];

fn slot_of(key: *mut ffi::PyObject) -> &'static DTypeCacheSlot {
    &CACHE[(key as usize >> 4) % SLOTS]
}

fn cached(key: *mut ffi::PyObject) -> Option<DType> {
    let slot = slot_of(key);
    if slot.key.load(Ordering::Acquire) != key {
        return None;
    }
    let kind = slot.kind.load(Ordering::Acquire);
    TABLE.get((kind as usize).checked_sub(1)?).map(|entry| DType::new(entry.kind))
}

/// Adds a dtype to the cache. Opaque dtypes are not cached. A dtype whose cache slot is occupied is not cached either,
/// because entries are never replaced.
fn remember(object: &Bound<'_, PyAny>, dtype: DType) {
    if dtype.kind() == ScalarType::Opaque {
        return;
    }
    let slot = slot_of(object.as_ptr());
    let free = slot.key.compare_exchange(std::ptr::null_mut(), object.as_ptr(), Ordering::AcqRel, Ordering::Relaxed);
    if free.is_ok() {
        std::mem::forget(object.clone());
        slot.kind.store(dtype.kind() as u64 + 1, Ordering::Release);
    }
}

/// Converts a Python object to a dtype: any argument of `numpy.dtype`, PyGPU's label strings, `ml_dtypes` names.
///
/// # Errors
/// `TypeError` for objects that NumPy rejects, for dtypes of non-native byte order, and for dtypes of Python objects,
/// strings and dates.
#[inline]
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    match cached(object.as_ptr()) {
        Some(dtype) => Ok(dtype),
        None => from_python_uncached(object),
    }
}

/// Converts an argument `dtype=` like `from_python`. A missing or `None` argument means float64, NumPy's default.
#[inline]
pub(crate) fn or_float64(object: Option<&Bound<'_, PyAny>>) -> PyResult<DType> {
    match object {
        Some(object) if !object.is_none() => from_python(object),
        _ => Ok(DType::new(ScalarType::Float64)),
    }
}

fn from_python_uncached(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = object.py();
    if let Ok(text) = object.cast_exact::<PyString>() {
        let name = text.to_str()?;
        if let Some(dtype) = DType::from_name(name) {
            if dtype.row().is_some_and(|entry| entry.origin == Origin::MlDtypes) {
                // The conversion by NumPy fails if `ml_dtypes`, which defines the dtype, is not installed.
                to_python(py, dtype)?;
            }
            remember(object, dtype);
            return Ok(dtype);
        }
    }
    if object.is_none() {
        return Err(PyTypeError::new_err("dtype None is ambiguous here; name one, for example numpy.float32"));
    }
    let descr = numpy_dtype(py)?.call1((object,)).map_err(|error| argument_errors::dtype(object, &error))?;
    let dtype = from_numpy(&descr)?;
    if object.is_instance_of::<PyType>() {
        // Only classes are cached. Other objects may change, and the cache would keep them alive.
        remember(object, dtype);
    }
    Ok(dtype)
}

/// Returns the dtype of a `numpy.dtype` instance.
///
/// # Errors
/// `TypeError` for dtypes of non-native byte order, and for dtypes of Python objects, strings, dates and subarrays.
pub(crate) fn from_numpy(descr: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = descr.py();
    if let Some(dtype) = cached(descr.as_ptr()) {
        return Ok(dtype);
    }
    let native: bool = descr.getattr(intern!(py, "isnative"))?.extract()?;
    if !native {
        return Err(PyTypeError::new_err(format!(
            "{} is of the other byte order, which no device reads; convert with \
             x.astype(x.dtype.newbyteorder('='))",
            descr.repr()?
        )));
    }
    let name = descr.getattr(intern!(py, "name"))?;
    if let Some(dtype) = DType::from_name(name.cast::<PyString>()?.to_str()?) {
        remember(descr, dtype);
        return Ok(dtype);
    }
    let typestr = descr.getattr(intern!(py, "str"))?;
    let typestr = typestr.cast::<PyString>()?.to_str()?.to_owned();
    let has_objects: bool = descr.getattr(intern!(py, "hasobject"))?.extract()?;
    if has_objects || !descr.getattr(intern!(py, "subdtype"))?.is_none() {
        return Err(unsupported(descr)?);
    }
    match DType::from_typestr(&typestr) {
        Ok(dtype) if dtype.kind() == ScalarType::Opaque => opaque(descr, dtype.itemsize()),
        Ok(dtype) => {
            remember(descr, dtype);
            Ok(dtype)
        }
        Err(_) => Err(unsupported(descr)?),
    }
}

fn unsupported(descr: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    Ok(PyTypeError::new_err(format!(
        "{} has no place in device memory; supported are bool, integers, floats, complex numbers, ml_dtypes' bfloat16 \
         and float8, and structured or void items made of these",
        descr.repr()?
    )))
}

/// NumPy's dtypes of opaque items. The index of an entry is the tag of its opaque `DType` minus 1. Entries are never
/// removed, because programs use few such dtypes.
static OPAQUE: ForkSafeMutex<Vec<Py<PyAny>>> = ForkSafeMutex::new(Vec::new());

fn opaque(descr: &Bound<'_, PyAny>, itemsize: usize) -> PyResult<DType> {
    let py = descr.py();
    if itemsize == 0 {
        return Err(unsupported(descr)?);
    }
    // The dtypes are compared after the lock on the list is released, because the comparison runs Python code.
    let registered: Vec<Py<PyAny>> = {
        let list = OPAQUE.lock();
        list.iter().map(|registered| registered.clone_ref(py)).collect()
    };
    for (position, registered) in registered.iter().enumerate() {
        // The equality of dtypes ignores metadata and titles, which are irrelevant on a device.
        if registered.bind(py).eq(descr)? {
            return Ok(DType::opaque(itemsize as u32, position as u32 + 1));
        }
    }
    let mut list = OPAQUE.lock();
    list.push(descr.clone().unbind());
    Ok(DType::opaque(itemsize as u32, list.len() as u32))
}

static NUMPY_DTYPES: [PyOnce<Py<PyAny>>; TABLE.len()] = [const { PyOnce::new() }; TABLE.len()];

/// Converts a number to a NumPy scalar of a dtype.
///
/// # Errors
/// The errors of the scalar's class, for example `OverflowError` for a negative number and an unsigned type.
pub(crate) fn scalar<'py>(py: Python<'py>, dtype: DType, number: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, dtype)?.getattr(intern!(py, "type"))?.call1((number,))
}

/// Returns NumPy's dtype object.
///
/// # Errors
/// `ImportError` for bfloat16 and float8 if `ml_dtypes` is not installed.
#[inline(always)]
pub(crate) fn to_python(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    match NUMPY_DTYPES.get(dtype.kind() as usize).and_then(|cell| cell.get(py)) {
        Some(object) => Ok(object.bind(py).clone()),
        None => new_dtype(py, dtype),
    }
}

#[cold]
#[inline(never)]
fn new_dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    match NUMPY_DTYPES.get(dtype.kind() as usize) {
        Some(cell) => Ok(cell.get_or_try_init(py, || named_dtype(py, dtype))?.bind(py).clone()),
        None => opaque_to_python(py, dtype),
    }
}

fn named_dtype(py: Python<'_>, dtype: DType) -> PyResult<Py<PyAny>> {
    let Some(entry) = dtype.row() else { return Err(PyTypeError::new_err("opaque dtype")) };
    let source = match entry.origin {
        Origin::NumPy => entry.name.into_pyobject(py)?.into_any(),
        Origin::MlDtypes => {
            let module = py.import("ml_dtypes").map_err(|cause| {
                let error = PyImportError::new_err(format!(
                    "dtype {} is defined by the package ml_dtypes: pip install ml_dtypes",
                    entry.name
                ));
                error.set_cause(py, Some(cause));
                error
            })?;
            module.getattr(entry.name)?
        }
    };
    Ok(numpy_dtype(py)?.call1((source,))?.unbind())
}

fn opaque_to_python(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let position = (dtype.tag() as usize).checked_sub(1);
    let registered = {
        let list = OPAQUE.lock();
        position.and_then(|position| list.get(position)).map(|registered| registered.clone_ref(py))
    };
    match registered {
        Some(registered) => Ok(registered.into_bound(py)),
        None => numpy_dtype(py)?.call1((format!("V{}", dtype.itemsize()),)),
    }
}

fn numpy_dtype(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static DTYPE: PyOnce<Py<PyAny>> = PyOnce::new();
    Ok(DTYPE.get_or_try_init(py, || py.import("numpy")?.getattr("dtype").map(Bound::unbind))?.bind(py))
}
