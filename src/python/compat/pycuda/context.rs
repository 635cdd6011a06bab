//! Defines the functions of `PyGPU.driver` for device contexts, and the function that calls the driver's linker.

use std::ffi::CString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::runtime::device as device_argument;
use pygpu_backend::{LinkInput, LinkKind, LoadOptions};
use pygpu_device::Device;

fn current_device(py: Python<'_>) -> PyResult<Device> {
    Ok(py.without_gil(Device::current)?)
}

/// Return a limit of the current device's context by the driver's number.
///
/// Parameters
/// ----------
/// number : int
///     A value of PyCUDA's `limit`.
///
/// Returns
/// -------
/// int
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.context_limit(0)  # doctest: +SKIP
/// 1024
#[pyfunction]
#[pyo3(signature = (number: "int") -> "int")]
fn context_limit(py: Python<'_>, number: i32) -> PyResult<usize> {
    let device = current_device(py)?;
    py.without_gil(|| device.backend().device_code()?.limit(device.index(), number))
        .map_err(|error| errors::as_logic(py, error.into()))
}

/// Set a limit of the current device's context.
///
/// Parameters
/// ----------
/// number : int
///     A value of PyCUDA's `limit`.
/// value : int
///     The new value.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.set_context_limit(0, 2048)  # doctest: +SKIP
#[pyfunction]
#[pyo3(signature = (number: "int", value: "int") -> "None")]
fn set_context_limit(py: Python<'_>, number: i32, value: usize) -> PyResult<()> {
    let device = current_device(py)?;
    py.without_gil(|| device.backend().device_code()?.set_limit(device.index(), number, value))
        .map_err(|error| errors::as_logic(py, error.into()))
}

/// Return the cache preference of the current device: L1 cache or shared memory.
///
/// Returns
/// -------
/// int
///     0 no preference, 1 shared memory, 2 cache, 3 equal.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.context_cache_preference()  # doctest: +SKIP
/// 0
#[pyfunction]
#[pyo3(signature = () -> "int")]
fn context_cache_preference(py: Python<'_>) -> PyResult<i32> {
    let device = current_device(py)?;
    Ok(py.without_gil(|| device.backend().device_code()?.cache_preference(device.index()))?)
}

/// Set the cache preference of the current device: L1 cache or shared memory.
///
/// Parameters
/// ----------
/// preference : int
///     0 no preference, 1 shared memory, 2 cache, 3 equal.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.set_context_cache_preference(1)  # doctest: +SKIP
#[pyfunction]
#[pyo3(signature = (preference: "int") -> "None")]
fn set_context_cache_preference(py: Python<'_>, preference: i32) -> PyResult<()> {
    let device = current_device(py)?;
    py.without_gil(|| device.backend().device_code()?.set_cache_preference(device.index(), preference))
        .map_err(|error| errors::as_logic(py, error.into()))
}

/// Return the driver's handle of a device's context; 0 for drivers without contexts.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// int
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.context_handle() >= 0
/// True
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "int")]
fn context_handle(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let device = device_argument::from_argument(py, device)?;
    Ok(py.without_gil(|| device.backend().device_code()?.context(device.index()))?)
}

fn link_kind(number: i32) -> PyResult<LinkKind> {
    Ok(match number {
        0 => LinkKind::Cubin,
        1 => LinkKind::Ptx,
        2 => LinkKind::Fatbinary,
        3 => LinkKind::Object,
        4 => LinkKind::Library,
        other => {
            return Err(PyValueError::new_err(format!(
                "a part to link is of a jit_input_type from 0 to 4, not {other}"
            )));
        }
    })
}

/// Link compiled parts of a program to an image for the current device.
///
/// Parameters
/// ----------
/// parts : sequence of tuple
///     The files to link. Each tuple contains a `jit_input_type`, the bytes of the file, and a name for messages.
/// max_registers : int, optional
///     Maximum number of registers per thread.
/// debug, line_info : bool, optional
///     Debug information to generate.
///
/// Returns
/// -------
/// image : bytes
/// log : str
///
/// Raises
/// ------
/// NotSupportedError
///     If the driver has no linker.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> image, log = _core.link([(1, b'.version 8.0 ...', 'part')])  # doctest: +SKIP
#[pyfunction]
#[pyo3(signature = (
    parts: "Sequence[tuple[int, bytes, str]]", max_registers: "int | None" = None, debug: "bool" = false,
    line_info: "bool" = false
) -> "tuple[bytes, str]")]
fn link<'py>(
    py: Python<'py>,
    parts: Vec<(i32, Bound<'py, PyBytes>, String)>,
    max_registers: Option<u32>,
    debug: bool,
    line_info: bool,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let device = current_device(py)?;
    let options = LoadOptions { max_registers, debug, line_info };
    let mut owned = Vec::with_capacity(parts.len());
    for (kind, data, name) in &parts {
        owned.push((link_kind(*kind)?, data.as_bytes(), CString::new(name.as_str())?));
    }
    let inputs: Vec<LinkInput<'_>> =
        owned.iter().map(|(kind, data, name)| LinkInput { kind: *kind, data, name }).collect();
    let linked = py.without_gil(|| device.backend().device_code()?.link(device.index(), &inputs, &options))?;
    Ok((PyBytes::new(py, &linked.image), linked.log))
}

names! {
    internal_functions: context_limit, set_context_limit, context_cache_preference, set_context_cache_preference,
        context_handle, link;
}
