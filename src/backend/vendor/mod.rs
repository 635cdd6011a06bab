//! What CUDA and HIP share, written once.
//!
//! - `symbols` is the one list of the functions that both libraries have, each under its own name and otherwise alike;
//! - `driver` is the opened library with its devices, over a vendor's types and numbers; `open` finds and opens it;
//! - `errors` words a driver's refusals, `context` makes a device current for the length of one call;
//! - each noun of the backend has a file: its trait for a [`Driver`], and, where the vendors differ in more than names, a trait of
//!   what a vendor has to say for itself (`VendorEvents`), which the file of the same name of `cuda` and `hip` answers;
//! - `textures` has the structures of arrays, textures and surfaces, which are the same for both;
//! - `launches` has the structures of attributes, which are the same for both, too;
//! - `pitched` plans copies of boxes, `rtc` compiles with NVRTC or hiprtc; `loader` opens libraries and tells them apart; `fork` and
//!   `exit` keep calls from a driver that is not there any more.
//!
//! Generic and not behind a `dyn`: each vendor has its own copy of the machine code, as if it were written twice.

mod context;
mod copies;
mod devices;
mod driver;
mod driver_memory;
mod errors;
pub(super) mod events;
pub(super) mod exit;
pub(super) mod fork;
pub mod graphs;
mod launches;
pub(super) mod loader;
pub(super) mod memory;
mod open;
mod pitched;
mod programs;
pub(super) mod rtc;
pub(super) mod streams;
mod symbols;
pub(super) mod textures;

pub(super) use context::{Current, VendorContexts};
pub(super) use copies::{VendorCopies, size, until_refused};
pub(super) use devices::{DeviceAttributes, VendorDevices};
pub(super) use driver::{Driver, Slot, Vendor};
pub(super) use errors::{VendorErrors, spoken};
pub(super) use events::VendorEvents;
pub(super) use exit::Passage;
pub(super) use graphs::VendorGraphs;
#[cfg(test)]
pub(super) use launches::{RawAttribute, attributes as launch_attributes};
pub(super) use launches::{RawConfig, VendorLaunches};
pub(super) use memory::{PoolAttributes, VendorMemory};
pub(super) use open::{VendorOpening, open};
pub(super) use pitched::Sides;
pub(super) use programs::{Cooperative, FunctionNumbers, VendorFunctions, VendorModules, VendorPrograms};
pub(super) use streams::VendorStreams;
pub(super) use symbols::{Names, Raw, Types};
#[cfg(test)]
pub(super) use symbols::{Symbols, shared_symbols};
pub(super) use textures::VendorTextures;

use super::{Backend, Contexts, DriverMemory, Graphs, Programs, TensorMaps, Textures, tensor_maps};
use pygpu_base::error::Result;

impl<V: VendorCopies + VendorEvents + VendorGraphs + VendorLaunches + VendorTextures> Backend for Driver<V>
where
    Self: Contexts,
{
    fn programs(&self) -> Result<&dyn Programs> {
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
