//! Represents host memory as a device that is always available and needs no driver.
//!
//! Every operation is complete when the call returns. Therefore a stream is only an identity, and an event only a time.
//! While a stream captures, operations are recorded in its graph instead ([`captures`]). [`driver`] has the backend
//! type. Each trait of the backend is implemented in the file with the trait's name. Errors have the names of the CUDA
//! runtime.

mod captures;
mod copies;
mod device_code;
mod device_numbers;
mod devices;
mod driver;
mod driver_memory;
mod error_codes;
mod event_table;
mod events;
mod graph_conditions;
mod graphs;
pub mod heap;
mod host_memory_registry;
mod host_properties;
mod memory;
pub mod quarantine;
mod red_zone;
mod streams;
#[cfg(test)]
mod tests;
mod textures;

pub(super) use self::device_code::check_order;
pub(super) use self::device_code::keyboard_interrupt;
pub(super) use self::device_numbers::read_count as read_device_count;

use self::driver::{CPU, Cpu};
use super::open_result::OpenResult;
use super::{Backend, DeviceCode, DriverMemory, Graphs, Textures};
use pygpu_base::error::Result;

/// Opens the CPU backend, which cannot fail.
pub(super) fn open() -> OpenResult {
    OpenResult { backend: Ok(&CPU), library: String::new(), driver_version: 0, attempts: Vec::new() }
}

impl Backend for Cpu {
    fn device_code(&self) -> Result<&dyn DeviceCode> {
        Ok(self)
    }

    fn graphs(&self) -> Result<&dyn Graphs> {
        Ok(self)
    }

    fn driver_memory(&self) -> Result<&dyn DriverMemory> {
        Ok(self)
    }

    fn textures(&self) -> Result<&dyn Textures> {
        Ok(self)
    }
}
