//! Defines the driver interface, which is one object-safe trait that combines a trait for each kind of object.
//!
//! A backend allocates memory, copies and fills it, and orders work on streams. Operators are written once, in the
//! layers above. In this interface, addresses and handles are plain numbers. The types that own memory and driver
//! objects are in the layers `memory` and `device`. A backend never calls Python's API, never holds a lock during a
//! driver call, and makes a device current only for the length of one call.

mod backend_registry;
mod contexts;
mod copies;
mod cpu;
mod cuda;
mod cuda_and_hip;
mod default_device;
mod device_code;
mod devices;
mod driver_memory;
mod error_codes;
mod events;
mod file_fingerprint;
mod graphs;
mod hip;
mod includes;
mod launch_attributes;
pub mod libraries;
mod memory;
mod open_result;
mod streams;
mod tensor_maps;
mod textures;

pub use backend_registry::{BackendReport, Report, available, by_name, default_backend, report};
pub use contexts::Contexts;
pub use copies::{Copies, Direction, Extent, HostUse, Pattern, Pitched};
pub use cpu::heap::overrun as overrun_of_block;
pub use cpu::keyboard_interrupt::set_check as set_interrupt_check;
pub use cpu::quarantine;
pub use cuda_and_hip::exit_guard::close as close_drivers;
pub use cuda_and_hip::fork_guard::{as_host_call, is_forked, is_host_call};
pub use cuda_and_hip::loader::{Attempt, Library};
pub use cuda_and_hip::rtc::may_include;
pub use default_device::{default_device, set_default_device};
pub use device_code::{
    CompileOption, CompileRequest, Compiled, Compiler, DeviceCode, FunctionAttributes, FunctionHandle, FunctionSetting,
    LaunchLimits, LaunchShape, LinkInput, LinkKind, LoadOptions, Loaded, ModuleHandle, ParameterPlace,
};
pub use devices::{BackendKind, DeviceProperties, Devices, MemoryInfo};
pub use driver_memory::{Advice, Attachment, DriverMemory, HANDLE_BYTES, Residence};
pub use error_codes::{
    COOPERATIVE_TOO_LARGE, ILLEGAL_ADDRESS, INVALID_CLUSTER, INVALID_VALUE, NOT_FOUND, OUT_OF_RESOURCES,
};
pub use events::{EventFlags, EventHandle, Events};
pub use file_fingerprint::{FileFingerprint, FileState as WitnessState};
pub use graphs::{
    Branching, CaptureMode, Captured, Condition, ConditionHandle, ExecutableHandle, GraphHandle, Graphs, HostWork,
    NodeHandle, NodeKind,
};
pub use includes::{included_by_list, included_names};
pub use launch_attributes::{ClusterPolicy, LaunchAttributes, Launches};
pub use memory::{Address, HostFlags, Memory, PointerKind, PoolHandle, PoolStatistics};
pub use streams::{HostFunction, StreamFlags, StreamHandle, Streams};
pub use tensor_maps::{MAX_RANK, TensorElement, TensorMapBytes, TensorMapRequest, TensorMaps};
pub use textures::{
    AddressMode, ArrayBox, ArrayCopy, ArrayHandle, ArrayShape, LAYERED, Resource, SURFACE, Sampling, Texel,
    TexelFormat, Textures,
};

use pygpu_base::error::Result;
/// Operations of a driver on its devices, combined from one trait for each kind of object. Every function may call the
/// driver, unless the documentation of its trait excludes this.
///
/// # Safety of the callers The functions of memory and copies take raw addresses. Such a function is `unsafe` if the
/// backend accesses memory through an address or destroys a handle. The caller guarantees that the address range, the
/// handle and the device belong together and stay valid until the stream has completed the operation.
pub trait Backend: Devices + Memory + Copies + Streams + Events {
    /// Returns the interface that loads and launches device code.
    ///
    /// # Errors
    /// `NotSupported` if the backend has none.
    fn device_code(&self) -> Result<&dyn DeviceCode> {
        Err(device_code::unsupported(self.kind().name()))
    }

    /// Returns the interface that captures and launches graphs.
    ///
    /// # Errors
    /// `NotSupported` if the backend has none.
    fn graphs(&self) -> Result<&dyn Graphs> {
        Err(graphs::unsupported(self.kind().name()))
    }

    /// Returns the interface to pitched, managed and shared memory.
    ///
    /// # Errors
    /// `NotSupported` if the backend has none.
    fn driver_memory(&self) -> Result<&dyn DriverMemory> {
        Err(pygpu_base::error::Error::not_supported(format!("{} has plain and pooled memory only", self.kind().name())))
    }

    /// Returns the interface to arrays, textures and surfaces.
    ///
    /// # Errors
    /// `NotSupported` if the backend has none.
    fn textures(&self) -> Result<&dyn Textures> {
        Err(textures::unsupported(self.kind().name()))
    }

    /// Returns the interface to tensor maps.
    ///
    /// # Errors
    /// `NotSupported` if the backend has none.
    fn tensor_maps(&self) -> Result<&dyn TensorMaps> {
        Err(tensor_maps::unsupported(self.kind().name()))
    }
}
