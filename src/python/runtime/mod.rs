//! Devices, streams, events, graphs and memory without a shape: the classes and functions below arrays.

use pyo3::prelude::*;

pub(crate) mod compiler;
pub(crate) mod config;
pub(crate) mod current;
pub(crate) mod device;
pub(crate) mod device_memory;
pub(crate) mod devices;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod host_function;
pub(crate) mod memory;
pub(crate) mod properties;
pub(crate) mod ranges;
pub(crate) mod raw;
pub(crate) mod raw_copy;
pub(crate) mod raw_kinds;
pub(crate) mod raw_rows;
pub(crate) mod spare;
pub(crate) mod stream;
mod stream_handle;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    config::register(module)?;
    device::register(module)?;
    device_memory::register(module)?;
    devices::register(module)?;
    event::register(module)?;
    graph::register(module)?;
    memory::register(module)?;
    ranges::register(module)?;
    raw::register(module)?;
    raw_copy::register(module)?;
    raw_kinds::register(module)?;
    raw_rows::register(module)?;
    stream::register(module)
}
