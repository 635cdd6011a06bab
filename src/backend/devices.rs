//! Devices: how many there are, what each is, and which one a thread uses.

use pygpu_base::error::Result;

/// Which family of driver stands behind a backend.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum BackendKind {
    /// Host memory; always there.
    Cpu,
    /// NVIDIA.
    Cuda,
    /// AMD.
    Hip,
}

impl BackendKind {
    /// The name in `PYGPU_BACKEND`, in device names and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Hip => "hip",
        }
    }
}

/// Free and total bytes of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryInfo {
    /// Bytes free.
    pub free: usize,
    /// Bytes in all.
    pub total: usize,
}

/// What a device is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeviceProperties {
    /// The vendor's name.
    pub name: String,
    /// 16 bytes that name the device on every host.
    pub uuid: [u8; 16],
    /// PCI domain, bus and device number.
    pub pci: (i32, i32, i32),
    /// Compute capability, or AMD's major and minor.
    pub compute_capability: (i32, i32),
    /// Architecture for a compiler: `sm_90`, `gfx90a`, or the host's.
    pub architecture: String,
    /// Bytes of memory.
    pub total_memory: usize,
    /// Multiprocessors or compute units.
    pub multiprocessor_count: i32,
    /// Threads of a warp or wavefront.
    pub warp_size: i32,
    /// Most threads of a block.
    pub max_threads_per_block: i32,
    /// Bytes of the second-level cache.
    pub l2_cache_size: i32,
    /// Clock in kHz; 0 where the driver does not say.
    pub clock_rate: i32,
    /// Whether stream-ordered pools exist.
    pub memory_pools: bool,
    /// Whether the host and the device share memory.
    pub integrated: bool,
    /// Copy engines.
    pub async_engine_count: i32,
}

/// The driver and its devices. `kind`, `device_count`, `driver_version` and `library` do not reach the driver.
pub trait Devices: Send + Sync {
    /// Which family.
    fn kind(&self) -> BackendKind;
    /// How many devices; at least one, since a backend without a device is not opened.
    fn device_count(&self) -> i32;
    /// The driver's version by its own count: 12080 for CUDA 12.8, 60443483 for HIP 6.4.43483; 0 on the CPU.
    fn driver_version(&self) -> i32;
    /// The library that was opened; empty on the CPU.
    fn library(&self) -> &str;
    /// The driver's name of a code.
    fn error_name(&self, code: u32) -> String;
    /// The driver's explanation of a code.
    fn error_text(&self, code: u32) -> String;

    /// The calling thread's current device, which other libraries share.
    fn current_device(&self) -> Result<i32>;
    /// Makes a device current for the calling thread.
    fn set_current_device(&self, device: i32) -> Result<()>;
    /// What the device is.
    fn properties(&self, device: i32) -> Result<DeviceProperties>;
    /// Free and total memory.
    fn memory_info(&self, device: i32) -> Result<MemoryInfo>;
    /// Waits until the device has nothing left to do.
    fn synchronize_device(&self, device: i32) -> Result<()>;
    /// Destroys everything the process holds on the device.
    ///
    /// # Safety
    /// No handle or address of the device may be used afterwards, by any library of the process.
    unsafe fn reset_device(&self, device: i32) -> Result<()>;
    /// Whether `device` can read the memory of `peer` directly.
    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool>;
    /// Lets `device` read the memory of `peer` directly; a second call does nothing.
    fn enable_peer_access(&self, device: i32, peer: i32) -> Result<()>;
}
