//! Imports arrays of other libraries. The import tries one protocol after another, and fails with the errors of all
//! protocols.
//!
//! The protocols are tried in this order: PyGPU's type, DLPack's exchange table, `__dlpack__`,
//! `__cuda_array_interface__`, and NumPy if host data is requested. An object that reports a device is never read
//! through the host, because that would be an implicit transfer.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::cuda_array_interface;
use super::dlpack_exchange_table::{self, ExchangeOffer};
use super::dlpack_producer::{self, DlpackRequest};
use crate::array::class::GpuArray;
use crate::ffi::dlpack_exchange_table::ForeignExchangeTable;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::{stream as stream_argument, stream_check};
use pygpu_array::Array;
use pygpu_base::error::Error;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_interop::dlpack::import::ImportedTensor;
use pygpu_interop::{dlpack, stream_numbers};

/// Imports an object whose data is on a device; `None` for all host data.
///
/// # Errors
/// The producer's errors, if the object reports a device.
#[inline]
pub(crate) fn device_array(value: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if let Ok(array_object) = value.cast::<GpuArray>() {
        return Ok(Some(array_object.get().array(array_object.py())?.clone()));
    }
    match dlpack_exchange_table::exchange_offer(value)? {
        ExchangeOffer::Plain => Ok(None),
        offer => match try_protocols(value, offer, false)? {
            ImportOutcome::Array(array) if !array.device().is_cpu() => Ok(Some(array)),
            _ => Ok(None),
        },
    }
}

/// Result of trying the device protocols on an object.
pub(crate) enum ImportOutcome {
    /// The object was imported as an array, which may be in host memory.
    Array(Array),
    /// No array was imported: the object is on the host, or is not an array. The field contains the error of each
    /// protocol.
    Nothing(ImportErrors),
}

/// Errors of the protocols by which an import was tried, in the order of the attempts.
#[derive(Default)]
pub(crate) struct ImportErrors(Vec<PyErr>);

impl ImportErrors {
    pub(crate) fn push(&mut self, error: PyErr) {
        self.0.push(error);
    }

    /// Returns the error `last` of the last protocol, with the errors of the protocols tried before as its causes.
    pub(crate) fn chain_before(self, py: Python<'_>, last: PyErr) -> PyErr {
        let mut earlier: Option<PyErr> = None;
        for error in self.0.into_iter().chain([last.clone_ref(py)]) {
            if let Some(earlier) = earlier.take() {
                first_cause(py, &error).set_cause(py, Some(earlier));
            }
            earlier = Some(error);
        }
        last
    }

    fn raise(mut self, py: Python<'_>) -> Option<PyErr> {
        let last = self.0.pop()?;
        Some(self.chain_before(py, last))
    }
}

/// Returns the root cause of an error. The search has a maximum length, because causes can form a cycle.
fn first_cause(py: Python<'_>, error: &PyErr) -> PyErr {
    const LONGEST_CHAIN: usize = 64;
    let mut first = error.clone_ref(py);
    for _ in 0..LONGEST_CHAIN {
        match first.cause(py) {
            Some(cause) => first = cause,
            None => break,
        }
    }
    first
}

/// Tries the device protocols on an object. Host data is imported through DLPack only if requested.
///
/// # Errors
/// The errors of all protocols, if the object reports a device.
pub(crate) fn try_protocols(
    value: &Bound<'_, PyAny>,
    offer: ExchangeOffer,
    includes_host: bool,
) -> PyResult<ImportOutcome> {
    let py = value.py();
    let mut errors = ImportErrors::default();
    let mut on_device = false;
    if let ExchangeOffer::Table(table) = offer {
        match through_table(value, table, None) {
            Ok((array, _)) => return Ok(ImportOutcome::Array(array)),
            Err(error) => errors.push(error),
        }
    }
    if has_dlpack(value)? {
        match dlpack_producer::dlpack_device(value) {
            Ok((device_type, _)) if dlpack::is_host(device_type) && !includes_host => {
                return Ok(ImportOutcome::Nothing(errors));
            }
            Ok(code) => {
                on_device = !dlpack::is_host(code.0);
                match through_method(value, code, None, false) {
                    Ok((array, _)) => return Ok(ImportOutcome::Array(array)),
                    Err(error) => errors.push(error),
                }
            }
            Err(error) => errors.push(error),
        }
    }
    match cuda_array_interface::import(value) {
        Ok(Some(array)) => return Ok(ImportOutcome::Array(array)),
        Ok(None) => {}
        Err(error) => {
            on_device = true;
            errors.push(error);
        }
    }
    match on_device.then(|| std::mem::take(&mut errors).raise(py)).flatten() {
        Some(error) => Err(error),
        None => Ok(ImportOutcome::Nothing(errors)),
    }
}

/// Returns whether an object has both DLPack methods.
pub(crate) fn has_dlpack(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    // The DLPack methods are looked up on the type of the object, as Python looks up special methods.
    let class = value.get_type();
    Ok(class.hasattr(intern!(py, "__dlpack__"))? && class.hasattr(intern!(py, "__dlpack_device__"))?)
}

/// Imports through the producer's DLPack exchange table. Returns the array, and whether the producer copied the data.
/// The array can be used on the stream `requested` or, without it, on the thread's current stream.
pub(crate) fn through_table(
    value: &Bound<'_, PyAny>,
    table: ForeignExchangeTable,
    requested: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Array, bool)> {
    let tensor = table.take(value)?;
    let ready = ready_stream(value.py(), tensor.device()?, requested)?;
    dlpack_exchange_table::order_after(value.py(), table, &ready)?;
    finish(tensor, ready)
}

/// Imports an array through `__dlpack__`, for data on the DLPack device `code`.
pub(crate) fn through_method(
    value: &Bound<'_, PyAny>,
    code: (i64, i64),
    requested: Option<&Bound<'_, PyAny>>,
    no_copy: bool,
) -> PyResult<(Array, bool)> {
    let py = value.py();
    if dlpack::is_host(code.0) {
        let answer = dlpack_producer::request_tensor(value, DlpackRequest { no_copy, ..DlpackRequest::default() })?;
        let device = answer.tensor.device()?;
        return finish(answer.tensor, Stream::default_of(device));
    }
    let device = py.without_gil(|| dlpack::device_of(code.0, code.1))?;
    let (number, ready) = stream_numbers::as_dlpack_consumer(&ready_stream(py, device, requested)?);
    // Some producers fail unless the device of their data is the current device.
    let guard = device.guard().map_err(PyErr::from)?;
    let answer = dlpack_producer::request_tensor(value, DlpackRequest { stream: number, no_copy, to_host: false })?;
    drop(guard);
    if answer.tensor.device()? != device {
        return Err(Error::buffer(format!(
            "the producer says that its data is on {device}, and its tensor that it is on {}",
            answer.tensor.device()?
        ))
        .into());
    }
    let accepts_stream = answer.accepts_stream;
    if !accepts_stream {
        py.without_gil(|| ready.wait_for(&Stream::default_of(device)))?;
    }
    let (array, copied) = finish(answer.tensor, ready)?;
    if !accepts_stream && stream_check::is_on() {
        stream_check::check_import(py, Some(value), &array)?;
    }
    Ok((array, copied))
}

/// Returns the stream on which the imported data must be usable: the requested stream, or the thread's current stream.
pub(crate) fn ready_stream(py: Python<'_>, device: Device, requested: Option<&Bound<'_, PyAny>>) -> PyResult<Stream> {
    let stream = stream_argument::from_argument(py, requested, device)?;
    if !stream.is_foreign() {
        return Ok(stream);
    }
    Ok(Stream::default_of(device))
}

pub(crate) fn finish(tensor: ImportedTensor, ready: Stream) -> PyResult<(Array, bool)> {
    let copied = tensor.is_copied();
    Ok((tensor.into_array(ready)?, copied))
}

/// Creates the error for a copy that is needed although `copy=False` forbids it.
pub(crate) fn forbidden(reason: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{reason}, and copy=False forbids the copy"))
}
