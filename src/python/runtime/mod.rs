//! Contains the Python classes and functions for devices, streams, events, graphs, and memory without a shape. The
//! classes for arrays use this layer.

use crate::exported_names::ExportedNames;

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
pub(crate) fn register(names: &mut ExportedNames) {
    config_report::register(names);
    device::register(names);
    device_memory::register(names);
    device_functions::register(names);
    event::register(names);
    graph::register(names);
    memory_statistics::register(names);
    profiler_ranges::register(names);
    raw_memory::register(names);
    raw_copy::register(names);
    raw_memory_kinds::register(names);
    raw_copy_2d::register(names);
    stream::register(names);
    stream_check::register(names);
}
