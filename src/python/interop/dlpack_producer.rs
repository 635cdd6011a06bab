//! Imports arrays by DLPack: requests a capsule in a format that the producer supports, and takes the tensor out of the
//! capsule.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use super::capsule::integer_pair;
use crate::ffi::capsule::{capsule_name, take_tensor};
use crate::ffi::vectorcall::call_method;
use crate::finalization;
use crate::py_once::{PyOnce, intern};
use pygpu_interop::dlpack::import::ImportedTensor;
use pygpu_interop::dlpack::{HOST, VERSION};

/// Arguments of a request to a producer's `__dlpack__`.
#[derive(Clone, Copy, Default)]
pub(crate) struct DlpackRequest {
    /// Number, in DLPack's encoding, of the stream on which the data must be usable; `None` for host memory.
    pub(crate) stream: Option<i64>,
    /// Whether a copy is forbidden.
    pub(crate) no_copy: bool,
    /// Whether the producer must provide the data in host memory.
    pub(crate) to_host: bool,
}

/// Tensor that a producer returned.
pub(crate) struct ProducerAnswer {
    pub(crate) tensor: ImportedTensor,
    /// Whether the producer's `__dlpack__` accepted the keyword `stream`. Without it, the data is usable on the legacy
    /// default stream.
    pub(crate) accepts_stream: bool,
}

/// Returns the device that a producer reports, as DLPack's device type and number.
///
/// # Errors
/// The producer's errors; `TypeError` for a result that is not a pair of integers.
#[inline]
pub(crate) fn dlpack_device(producer: &Bound<'_, PyAny>) -> PyResult<(i64, i64)> {
    let answer = call_method(producer, intern!(producer.py(), "__dlpack_device__"), None, [])?;
    integer_pair(&answer, "__dlpack_device__()")
}

/// Requests a tensor from a producer and takes ownership of the tensor.
///
/// # Errors
/// The producer's errors; `TypeError` for a result that is not a capsule; `BufferError` for an unsupported version.
pub(crate) fn request_tensor(producer: &Bound<'_, PyAny>, request: DlpackRequest) -> PyResult<ProducerAnswer> {
    let py = producer.py();
    let newest = max_version(py)?;
    let plain = !request.no_copy && !request.to_host;
    let answer = match request.stream {
        None if plain => {
            // The keywords' names are interned strings, so that the callee compares addresses instead of characters.
            static NAMES: PyOnce<Py<PyTuple>> = PyOnce::new();
            let names =
                NAMES.get_or_try_init(py, || PyTuple::new(py, [intern!(py, "max_version")]).map(Bound::unbind))?;
            call_method(producer, intern!(py, "__dlpack__"), Some(names.bind(py)), [newest])
        }
        Some(stream) if plain => {
            static NAMES: PyOnce<Py<PyTuple>> = PyOnce::new();
            let names = NAMES.get_or_try_init(py, || {
                PyTuple::new(py, [intern!(py, "stream"), intern!(py, "max_version")]).map(Bound::unbind)
            })?;
            let stream = stream.into_pyobject(py)?;
            call_method(producer, intern!(py, "__dlpack__"), Some(names.bind(py)), [&stream, newest])
        }
        _ => return query_stepwise(producer, request),
    };
    match answer {
        Ok(capsule) => Ok(ProducerAnswer { tensor: take(&capsule)?, accepts_stream: true }),
        // Producers that were released before 2024 do not accept the keyword `max_version`.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => query_stepwise(producer, request),
        Err(error) => Err(error),
    }
}

/// Repeats the request until the producer accepts the keywords. Each repetition omits one more keyword, the newest
/// keyword first. This order works with every producer in use.
#[cold]
fn query_stepwise(producer: &Bound<'_, PyAny>, request: DlpackRequest) -> PyResult<ProducerAnswer> {
    let py = producer.py();
    let mut keywords: Vec<(&str, Bound<'_, PyAny>)> = Vec::with_capacity(4);
    if let Some(stream) = request.stream {
        keywords.push(("stream", stream.into_pyobject(py)?.into_any()));
    }
    if request.to_host {
        keywords.push(("dl_device", HOST.into_pyobject(py)?.into_any()));
    }
    if request.no_copy {
        keywords.push(("copy", false.into_pyobject(py)?.to_owned().into_any()));
    }
    keywords.push(("max_version", max_version(py)?.clone().into_any()));
    loop {
        let arguments = PyDict::new(py);
        for (name, value) in &keywords {
            arguments.set_item(name, value)?;
        }
        match finalization::run_python(py, || producer.call_method(intern!(py, "__dlpack__"), (), Some(&arguments))) {
            Ok(capsule) => {
                let accepts_stream = request.stream.is_none() || arguments.contains("stream")?;
                return Ok(ProducerAnswer { tensor: take(&capsule)?, accepts_stream });
            }
            Err(error) if error.is_instance_of::<PyTypeError>(py) && !keywords.is_empty() => {
                keywords.pop();
            }
            Err(error) => return Err(error),
        }
    }
}

fn max_version(py: Python<'_>) -> PyResult<&Bound<'_, PyTuple>> {
    static NEWEST: PyOnce<Py<PyTuple>> = PyOnce::new();
    let newest = NEWEST.get_or_try_init(py, || (VERSION.major, VERSION.minor).into_pyobject(py).map(Bound::unbind))?;
    Ok(newest.bind(py))
}

/// Takes the tensor out of a capsule and renames the capsule, so that it is taken only once.
///
/// # Errors
/// `TypeError` for an object that is not a capsule; `ValueError` for a capsule that was already used or has another
/// name; `BufferError` for an unsupported version.
pub(crate) fn take(capsule: &Bound<'_, PyAny>) -> PyResult<ImportedTensor> {
    let Ok(capsule_object) = capsule.cast::<PyCapsule>() else {
        return Err(PyTypeError::new_err(format!(
            "__dlpack__() gives a capsule, and {} came from it",
            capsule.get_type().fully_qualified_name()?
        )));
    };
    // SAFETY: by DLPack's protocol, a capsule with this name contains a tensor of this format. This function owns the
    // tensor after it has renamed the capsule.
    unsafe {
        if let Some(tensor) = take_tensor(capsule)? {
            return Ok(ImportedTensor::versioned(tensor)?);
        }
        if let Some(tensor) = take_tensor(capsule)? {
            return Ok(ImportedTensor::legacy(tensor));
        }
    }
    Err(name_error(capsule_object))
}

#[cold]
fn name_error(capsule: &Bound<'_, PyCapsule>) -> PyErr {
    match capsule_name(capsule) {
        Some(name) if name.starts_with("used_dltensor") => PyValueError::new_err(format!(
            "the DLPack capsule was consumed already (its name is '{name}'): each is good for one import, so export again"
        )),
        other => PyValueError::new_err(format!(
            "the capsule is named {other:?}; DLPack's are 'dltensor' and 'dltensor_versioned'"
        )),
    }
}
