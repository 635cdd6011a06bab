//! Contains the Python classes and functions for devices, streams, events, graphs, and memory without a shape. The
//! classes for arrays use this layer.

use pyo3::prelude::*;

pub(crate) mod compiler;
pub(crate) mod config_report;
pub(crate) mod current_stream;
pub(crate) mod device;
pub(crate) mod device_functions;
pub(crate) mod device_memory;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod host_function;
pub(crate) mod memory_statistics;
pub(crate) mod ndarray_cache;
pub(crate) mod profiler_ranges;
pub(crate) mod properties;
pub(crate) mod raw_copy;
pub(crate) mod raw_copy_2d;
pub(crate) mod raw_memory;
pub(crate) mod raw_memory_kinds;
pub(crate) mod stream;
pub(crate) mod stream_check;
mod stream_handle;

/// Adds the classes and functions of this folder to the Python module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    config_report::register(module)?;
    device::register(module)?;
    device_memory::register(module)?;
    device_functions::register(module)?;
    event::register(module)?;
    graph::register(module)?;
    memory_statistics::register(module)?;
    profiler_ranges::register(module)?;
    raw_memory::register(module)?;
    raw_copy::register(module)?;
    raw_memory_kinds::register(module)?;
    raw_copy_2d::register(module)?;
    stream::register(module)?;
    stream_check::register(module)
}
