//! Reports the configuration found on this machine, for users and bug reports.

use std::fmt::Write;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::compiler;
use super::properties;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use pygpu_backend::libraries::LibraryReport;
use pygpu_backend::{self as backend, BackendKind, BackendReport, DeviceProperties, Report};
use pygpu_copy::ring_transfer;
use pygpu_kernel as kernel;
use pygpu_ops::product;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn backend_dict<'py>(py: Python<'py>, report: &BackendReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", report.kind.name())?;
    dict.set_item("available", report.reason.is_none())?;
    dict.set_item("reason", &report.reason)?;
    dict.set_item("library", &report.library)?;
    dict.set_item("driver_version", report.driver_version)?;
    let searched: Vec<_> = report.attempts.iter().map(|attempt| (&attempt.name, &attempt.error)).collect();
    dict.set_item("searched", searched)?;
    let devices = PyList::empty(py);
    for device in &report.devices {
        devices.append(properties::dict(py, device)?)?;
    }
    dict.set_item("devices", devices)?;
    dict.set_item("compiler", report.reason.is_none().then(|| compiler(py, report.kind)))?;
    Ok(dict)
}

/// Describes the compiler of kernels in one line, or the reason why there is none.
fn compiler(py: Python<'_>, kind: BackendKind) -> String {
    let description = compiler::with_hints(py, kind, |hints| {
        let compiler = backend::by_name(kind.name())?.device_code()?.compiler(hints)?;
        Ok(format!("{} {}, {}", compiler.name(), compiler.version(), compiler.path()))
    });
    description.unwrap_or_else(|error| error.value(py).to_string())
}

/// Returns the configuration found on this machine. Opens the vendors' libraries, but creates no context on a device.
///
/// Returns
/// -------
/// dict
///     `version`; `backend`, the name of the default backend, or None; `backend_error`, the reason why there is no
///     default backend, or None; `PYGPU_BACKEND`, the value of this environment variable, or None; `kernel_cache`, the
///     folder of compiled kernels, or None; `kernel_cache_refused`, the reason why an existing folder is not used, or
///     None; `pinned_limit` in bytes, and `pinned_refused`, the reason why copies of pageable memory had less pinned
///     memory than `pinned_limit`, or None; and `backends`, a list of dicts with `name`, `available`, `reason` (if not
///     available), `library` (the opened file), `driver_version` (12080 for CUDA 12.8, 60443483 for HIP 6.4.43483),
///     `searched` (pairs of a library that could not be opened and the reason), `devices` (dicts as from
///     :func:`device_properties`), and `compiler`: the compiler of kernels with its version and library, or the reason
///     why there is none; `products`, the implementation of large matrix products, or None; and `libraries`, for each
///     vendor library searched for so far its file, or None, and the names that were tried.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> [backend['name'] for backend in PyGPU.config()['backends']]
/// ['cuda', 'hip', 'cpu']
#[pyfunction]
#[pyo3(signature = () -> "dict[str, Any]")]
fn config(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let report = py.without_gil(backend::report);
    let dict = PyDict::new(py);
    dict.set_item("version", VERSION)?;
    dict.set_item("backend", report.default.as_ref().ok().map(|kind| kind.name()))?;
    dict.set_item("backend_error", report.default.as_ref().err())?;
    dict.set_item("PYGPU_BACKEND", &report.forced)?;
    dict.set_item("pinned_limit", ring_transfer::limit().ok())?;
    dict.set_item("pinned_refused", ring_transfer::refusal())?;
    let backends = PyList::empty(py);
    for entry in &report.backends {
        backends.append(backend_dict(py, entry)?)?;
    }
    dict.set_item("backends", backends)?;
    let libraries = PyDict::new(py);
    for report in backend::libraries::libraries() {
        let searched: Vec<_> = report.attempts.iter().map(|attempt| (&attempt.name, &attempt.error)).collect();
        libraries.set_item(report.name, (&report.path, searched))?;
    }
    dict.set_item("libraries", libraries)?;
    dict.set_item("products", report.default.as_ref().ok().map(|kind| product::way(*kind)))?;
    let folder = kernel::cache_folder();
    dict.set_item("kernel_cache_refused", folder.as_deref().and_then(kernel::cache_refusal))?;
    dict.set_item("kernel_cache", folder)?;
    Ok(dict)
}

/// Formats `12080` as `12.8`, and `60443483` of HIP as `6.4.43483`.
fn version_text(kind: BackendKind, version: i32) -> String {
    match kind {
        BackendKind::Hip => {
            format!("{}.{}.{}", version / 10_000_000, version / 100_000 % 100, version % 100_000)
        }
        _ => format!("{}.{}", version / 1000, version % 1000 / 10),
    }
}

fn device_line(kind: BackendKind, index: usize, device: &DeviceProperties) -> String {
    let memory = device.total_memory as f64 / f64::from(1 << 30);
    let (major, minor) = device.compute_capability;
    match kind {
        BackendKind::Cpu => format!("    cpu: {}, {memory:.1} GiB", device.name),
        BackendKind::Cuda => format!(
            "    cuda:{index}: {}, {memory:.1} GiB, compute capability {major}.{minor} ({})",
            device.name, device.architecture
        ),
        BackendKind::Hip => {
            format!("    hip:{index}: {}, {memory:.1} GiB, {}", device.name, device.architecture)
        }
    }
}

fn backend_lines(py: Python<'_>, entry: &BackendReport) -> Vec<String> {
    let mut line = format!("  {}: ", entry.kind.name());
    match &entry.reason {
        None => line.push_str("available"),
        Some(reason) => line.push_str(&format!("not available: {reason}")),
    }
    if entry.driver_version != 0 {
        // Writing to a `String` cannot fail.
        let _ = write!(line, ", driver {}", version_text(entry.kind, entry.driver_version));
    }
    if !entry.library.is_empty() {
        let _ = write!(line, ", {}", entry.library);
    }
    let mut lines = vec![line];
    lines.extend(entry.attempts.iter().map(|attempt| format!("    searched {}: {}", attempt.name, attempt.error)));
    let devices = entry.devices.iter().enumerate();
    lines.extend(devices.map(|(index, device)| device_line(entry.kind, index, device)));
    if entry.reason.is_none() {
        lines.push(format!("    compiler of kernels: {}", compiler(py, entry.kind).replace('\n', "\n    ")));
    }
    lines
}

fn pinned_line() -> String {
    match (ring_transfer::limit(), ring_transfer::refusal()) {
        (Err(error), _) => format!("pinned memory for copies: {error}"),
        (Ok(0), _) => "pinned memory for copies: none; the driver stages copies of ordinary memory itself".to_owned(),
        (Ok(limit), None) => format!("pinned memory for copies: at most {limit} bytes a device"),
        (Ok(_), Some(reason)) => format!("pinned memory for copies: refused: {reason}"),
    }
}

/// Formats a line of the report about one vendor library. It states the result of an earlier search; this function
/// itself opens no library.
fn library_lines(report: &LibraryReport) -> Vec<String> {
    let path = report.path.as_deref().unwrap_or("not found");
    let mut lines = vec![format!("{}: {path}", report.name)];
    lines.extend(report.attempts.iter().map(|attempt| format!("    searched {}: {}", attempt.name, attempt.error)));
    lines
}

fn report_text(py: Python<'_>, report: &Report) -> String {
    let mut lines = vec![format!("PyGPU {VERSION}")];
    lines.push(match &report.default {
        Ok(kind) => format!("backend: {}", kind.name()),
        Err(error) => format!("backend: none: {error}"),
    });
    lines.push(match &report.forced {
        Some(name) => format!("PYGPU_BACKEND: {name}"),
        None => "PYGPU_BACKEND: not set".to_owned(),
    });
    lines.push(pinned_line());
    lines.push("backends, in the order in which they are looked for:".to_owned());
    lines.extend(report.backends.iter().flat_map(|entry| backend_lines(py, entry)));
    lines.extend(backend::libraries::libraries().iter().flat_map(library_lines));
    lines.extend(report.default.as_ref().ok().map(|kind| format!("products of matrices: {}", product::way(*kind))));
    lines.push(match kernel::cache_folder() {
        None => "cache of kernels: off".to_owned(),
        Some(folder) => match kernel::cache_refusal(&folder) {
            None => format!("cache of kernels: {}", folder.display()),
            Some(reason) => format!("cache of kernels: {}, not used: {reason}", folder.display()),
        },
    });
    lines.join("\n")
}

/// Prints the configuration found on this machine: version, backends, libraries, drivers and devices.
///
/// For a backend that cannot be used, the names of the libraries that were tried and the reasons of the failure are
/// printed. ``python -m PyGPU`` prints this report too.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.show_config()  # doctest: +ELLIPSIS
/// PyGPU ...
/// backend: ...
#[pyfunction]
#[pyo3(signature = () -> "None")]
fn show_config(py: Python<'_>) -> PyResult<()> {
    let report = py.without_gil(backend::report);
    // Python's own `print` is used, because notebooks and tests replace `sys.stdout`.
    py.import("builtins")?.call_method1("print", (report_text(py, &report),))?;
    Ok(())
}

names! {
    functions "What was found": config, show_config;
}
