//! Converts device properties to Python objects.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use pygpu_backend::DeviceProperties;
use pygpu_device::Device;

/// Formats a UUID like the vendors' tools: `GPU-` and five groups of hexadecimal digits.
pub(crate) fn uuid_text(device: Device, uuid: &[u8; 16]) -> String {
    let mut text = String::from(if device.is_cpu() { "CPU" } else { "GPU" });
    for (position, byte) in uuid.iter().enumerate() {
        if matches!(position, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Returns the properties of a device as a Python dict.
pub(crate) fn dict<'py>(py: Python<'py>, properties: &DeviceProperties) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &properties.name)?;
    dict.set_item("uuid", PyBytes::new(py, &properties.uuid))?;
    dict.set_item("pci_domain", properties.pci.0)?;
    dict.set_item("pci_bus", properties.pci.1)?;
    dict.set_item("pci_device", properties.pci.2)?;
    dict.set_item("compute_capability", properties.compute_capability)?;
    dict.set_item("architecture", &properties.architecture)?;
    dict.set_item("total_memory", properties.total_memory)?;
    dict.set_item("multiprocessor_count", properties.multiprocessor_count)?;
    dict.set_item("warp_size", properties.warp_size)?;
    dict.set_item("max_threads_per_block", properties.max_threads_per_block)?;
    dict.set_item("l2_cache_size", properties.l2_cache_size)?;
    dict.set_item("clock_rate", properties.clock_rate)?;
    dict.set_item("memory_pools", properties.memory_pools)?;
    dict.set_item("integrated", properties.integrated)?;
    dict.set_item("async_engine_count", properties.async_engine_count)?;
    Ok(dict)
}
