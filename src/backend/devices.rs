//! Declares devices: their number, their properties, and the current device of a thread.

use pygpu_base::error::Result;

/// Kind of a backend, i.e. the driver by which PyGPU uses the backend's devices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum BackendKind {
    /// The host as a device. This backend needs no driver and is always available.
    Cpu,
    /// NVIDIA's driver.
    Cuda,
    /// AMD's runtime.
    Hip,
}

impl BackendKind {
    /// Returns the backend's name as used in `PYGPU_BACKEND`, in device names and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Hip => "hip",
        }
    }
}

/// Free and total memory of a device in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryInfo {
    /// Free memory in bytes.
    pub free: usize,
    /// Total memory in bytes.
    pub total: usize,
}

/// Properties of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeviceProperties {
    /// The device's name, given by the vendor.
    pub name: String,
    /// UUID: 16 bytes that identify the device worldwide.
    pub uuid: [u8; 16],
    /// PCI domain, bus and device number.
    pub pci: (i32, i32, i32),
    /// CUDA compute capability, or AMD's major and minor version.
    pub compute_capability: (i32, i32),
    /// Architecture name for a compiler: `sm_90`, `gfx90a`, or the host's.
    pub architecture: String,
    /// Total memory in bytes.
    pub total_memory: usize,
    /// Number of multiprocessors or compute units.
    pub multiprocessor_count: i32,
    /// Number of threads in a warp or wavefront.
    pub warp_size: i32,
    /// Maximum number of threads in a block.
    pub max_threads_per_block: i32,
    /// Size of the second-level cache in bytes.
    pub l2_cache_size: i32,
    /// Clock rate in kHz, or 0 if the driver does not report it.
    pub clock_rate: i32,
    /// Whether the device supports stream-ordered memory pools.
    pub memory_pools: bool,
    /// Whether host and device share physical memory.
    pub integrated: bool,
    /// Number of copy engines.
    pub async_engine_count: i32,
}

/// The driver and its devices. `kind`, `device_count`, `driver_version` and `library` make no driver call.
pub trait Devices: Send + Sync {
    /// Returns the kind of the backend's driver.
    fn kind(&self) -> BackendKind;
    /// Returns the number of devices; at least one, since a backend without devices is not opened.
    fn device_count(&self) -> i32;
    /// Returns the driver version in the driver's own format: 12080 for CUDA 12.8, 60443483 for HIP 6.4.43483; 0 on the
    /// CPU.
    fn driver_version(&self) -> i32;
    /// Returns the path of the opened driver library; empty on the CPU.
    fn library(&self) -> &str;
    /// Returns the driver's name of an error code.
    fn error_name(&self, code: u32) -> String;
    /// Returns the driver's explanation of an error code.
    fn error_text(&self, code: u32) -> String;

    /// Returns the calling thread's current device, which other libraries of the process share.
    fn current_device(&self) -> Result<i32>;
    /// Makes a device current for the calling thread.
    fn set_current_device(&self, device: i32) -> Result<()>;
    /// Returns the properties of a device.
    fn properties(&self, device: i32) -> Result<DeviceProperties>;
    /// Returns free and total memory of a device.
    fn memory_info(&self, device: i32) -> Result<MemoryInfo>;
    /// Blocks the host until all work of the device is complete.
    fn synchronize_device(&self, device: i32) -> Result<()>;
    /// Destroys all objects of the process on the device: memory, streams, events, modules and graphs.
    ///
    /// # Safety
    /// No library of the process may use a handle or an address of the device afterwards.
    unsafe fn reset_device(&self, device: i32) -> Result<()>;
    /// Returns whether `device` can access the memory of `peer` directly.
    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool>;
    /// Enables direct access of `device` to the memory of `peer`. Calls after the first have no effect.
    fn enable_peer_access(&self, device: i32, peer: i32) -> Result<()>;
}
