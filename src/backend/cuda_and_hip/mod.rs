//! Contains the code that CUDA and HIP share.
//!
//! - `symbols` lists the functions that both libraries have, under different names but otherwise equal;
//! - `driver` is the opened library with its devices, generic over a vendor's types and constants; `open_library` finds
//!   and opens it;
//! - `errors` creates error messages, `current_context` makes a device current for the length of one call;
//! - each trait of the backend has a file with its implementation for a [`Driver`]. If the vendors differ in more than
//!   names, the file has a trait for the vendor-specific part (`VendorEvents`). The file of the same name in `cuda` and
//!   `hip` implements it;
//! - `textures` and `launch_attributes` have the structures that are equal in CUDA and HIP;
//! - `pitched_copies` plans copies of boxes, `rtc` compiles with NVRTC or hiprtc; `loader` opens and identifies
//!   libraries; `fork_guard` and `exit_guard` block calls of a driver that no longer works.
//!
//! The code is generic instead of using `dyn`, so that each vendor has separate machine code.

mod copies;
mod current_context;
mod device_code;
mod devices;
mod driver;
mod driver_memory;
mod errors;
pub(super) mod events;
pub(super) mod exit_guard;
pub(super) mod fork_guard;
pub mod graphs;
mod launch_attributes;
pub(super) mod loader;
pub(super) mod memory;
mod open_library;
mod pitched_copies;
pub(super) mod rtc;
pub(super) mod streams;
mod symbols;
pub(super) mod textures;

pub(super) use copies::{VendorCopies, size, until_refused};
pub(super) use current_context::{CurrentDeviceGuard, VendorContexts};
pub(super) use device_code::{Cooperative, FunctionNumbers, VendorDeviceCode, VendorFunctions, VendorModules};
pub(super) use devices::{DeviceAttributes, VendorDevices};
pub(super) use driver::{DeviceSlot, Driver, Vendor};
pub(super) use errors::{VendorErrors, spoken};
pub(super) use events::VendorEvents;
pub(super) use exit_guard::DriverCallGuard;
pub(super) use graphs::VendorGraphs;
#[cfg(test)]
pub(super) use launch_attributes::{RawAttribute, attributes as raw_launch_attributes};
pub(super) use launch_attributes::{RawConfig, VendorLaunches};
pub(super) use memory::{PoolAttributes, VendorMemory};
pub(super) use open_library::{VendorOpening, open};
pub(super) use pitched_copies::PitchedBox;
pub(super) use streams::VendorStreams;
pub(super) use symbols::{Names, Raw, Types};
#[cfg(test)]
pub(super) use symbols::{Symbols, shared_symbols};
pub(super) use textures::VendorTextures;

use super::{Backend, Contexts, DeviceCode, DriverMemory, Graphs, TensorMaps, Textures, tensor_maps};
use pygpu_base::error::Result;

impl<V: VendorCopies + VendorEvents + VendorGraphs + VendorLaunches + VendorTextures> Backend for Driver<V>
where
    Self: Contexts,
{
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

    fn tensor_maps(&self) -> Result<&dyn TensorMaps> {
        V::tensor_maps(self).ok_or_else(|| tensor_maps::unsupported(V::KIND.name()))
    }
}
