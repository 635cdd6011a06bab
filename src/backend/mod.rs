//! The narrow waist: what a device can do, as one object-safe trait.
//!
//! A backend allocates, copies, fills and orders; operators are written once above it. Everything here is raw: addresses
//! and handles are plain numbers whose owners live in `memory` and `stream`. A backend never touches Python, never keeps
//! a lock while the driver works, and makes the device it is told to use current only for the length of one call.

mod cpu;
mod cuda;
mod driver_memory;
mod exit;
mod fork;
mod graphs;
mod hip;
mod includes;
mod library_file;
mod loader;
mod pitched;
mod programs;
mod registry;
mod rtc;
mod witness;

pub use cpu::given_out;
pub use driver_memory::{Attachment, DriverMemory, HANDLE_BYTES};
pub use exit::close as close_drivers;
pub use graphs::{CaptureMode, ExecutableHandle, GraphHandle, Graphs, HostWork};
pub use includes::included_by_list;
pub use loader::{Attempt, Library};
pub use programs::{
    CompileOption, CompileRequest, Compiled, Compiler, FunctionAttributes, FunctionHandle, FunctionSetting,
    LaunchLimits, LaunchShape, LinkInput, LinkKind, LoadOptions, Loaded, ModuleHandle, ParameterPlace, Programs,
};
pub use registry::{BackendReport, Report, available, by_name, default_backend, report};
pub use rtc::may_include;
pub use witness::{State as WitnessState, Witness};

use crate::error::Result;

/// An address in host or device memory.
pub type Address = usize;

/// A driver's stream. `DEFAULT` is the legacy default stream of the device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StreamHandle(pub usize);

impl StreamHandle {
    /// The legacy default stream.
    pub const DEFAULT: Self = Self(0);
}

/// A driver's event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventHandle(pub usize);

/// A driver's stream-ordered memory pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PoolHandle(pub usize);

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

/// Between which kinds of memory a copy goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the host to the device.
    HostToDevice(HostUse),
    /// From the device to the host.
    DeviceToHost(HostUse),
    /// Within the memory of one device.
    DeviceToDevice,
}

impl std::fmt::Debug for Direction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::HostToDevice(_) => "HostToDevice",
            Self::DeviceToHost(_) => "DeviceToHost",
            Self::DeviceToDevice => "DeviceToDevice",
        })
    }
}

/// Says that a copy may use host memory on its stream. A graph that captures a copy uses the memory whenever it runs, so
/// ordinary memory and a capturing stream have none: `memory::capture` asks and gives it out, and nobody else does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HostUse(());

impl HostUse {
    /// Promises it.
    ///
    /// # Safety
    /// Unless the stream of the copy takes part in no capture, the host memory is pinned and stays as long as the graph.
    pub const unsafe fn promised() -> Self {
        Self(())
    }
}

/// One side of a two- or three-dimensional copy: where it starts and how far apart rows and planes are, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pitched {
    /// First byte.
    pub address: Address,
    /// Distance of rows; at least the width of a row.
    pub row_pitch: usize,
    /// Distance of planes; a multiple of `row_pitch`. Ignored when there is one plane.
    pub plane_pitch: usize,
}

/// The box that a pitched copy moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Bytes of a row.
    pub width: usize,
    /// Rows of a plane.
    pub height: usize,
    /// Planes.
    pub depth: usize,
}

/// A value that a driver's memset repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// One byte.
    U8(u8),
    /// Two bytes; the address is even.
    U16(u16),
    /// Four bytes; the address is a multiple of four.
    U32(u32),
}

/// How a stream is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StreamFlags {
    /// Does not wait for the legacy default stream, nor it for this one.
    pub non_blocking: bool,
    /// Lower numbers run first; 0 is the default.
    pub priority: i32,
}

/// How an event is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventFlags {
    /// Records the time.
    pub timing: bool,
    /// `synchronize` sleeps instead of spinning.
    pub blocking_sync: bool,
    /// May be shared with other processes; needs `timing` off.
    pub interprocess: bool,
}

/// How pinned host memory is made or registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostFlags {
    /// Pinned for every context, not only the current one.
    pub portable: bool,
    /// Mapped into the device's address space.
    pub mapped: bool,
    /// Write-combined: fast for the device to read, slow for the host to read.
    pub write_combined: bool,
}

/// Free and total bytes of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryInfo {
    /// Bytes free.
    pub free: usize,
    /// Bytes in all.
    pub total: usize,
}

/// What a pool holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PoolStatistics {
    /// Bytes the pool holds of the device.
    pub reserved: usize,
    /// Most it ever held.
    pub reserved_peak: usize,
    /// Bytes in use by allocations.
    pub used: usize,
    /// Most that was ever in use.
    pub used_peak: usize,
}

/// What the driver knows of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerKind {
    /// Unknown to the driver: ordinary host memory, or no memory at all.
    Unregistered,
    /// Pinned or registered host memory.
    Host,
    /// Device memory of the given device.
    Device(i32),
    /// Managed memory.
    Managed,
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

/// What a device can do. Every call but `kind`, `device_count` and the two texts may reach the driver.
///
/// # Safety of the callers
/// The memory functions take raw addresses. They are `unsafe` where the backend reads or writes through an address or
/// ends the life of a handle: the caller promises that the address range, the handle and the device belong together and
/// stay valid until the stream has passed the call.
pub trait Backend: Send + Sync {
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

    /// What loads and launches device code.
    ///
    /// # Errors
    /// `NotSupported` where the backend has none.
    fn programs(&self) -> Result<&dyn Programs> {
        Err(programs::unsupported(self.kind().name()))
    }

    /// What captures and launches graphs.
    ///
    /// # Errors
    /// `NotSupported` where the backend has none.
    fn graphs(&self) -> Result<&dyn Graphs> {
        Err(graphs::unsupported(self.kind().name()))
    }

    /// Memory of the kinds that only some drivers have.
    ///
    /// # Errors
    /// `NotSupported` where the backend has none.
    fn driver_memory(&self) -> Result<&dyn DriverMemory> {
        Err(crate::error::Error::not_supported(format!("{} has plain and pooled memory only", self.kind().name())))
    }

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

    /// Makes a stream-ordered pool that keeps `threshold` bytes at a synchronisation, open to every device that can reach
    /// this one; `None` where the device has none.
    fn create_pool(&self, device: i32, threshold: u64) -> Result<Option<PoolHandle>>;
    /// Sets how many bytes a pool keeps instead of giving them back at the next synchronisation.
    fn set_pool_release_threshold(&self, pool: PoolHandle, bytes: u64) -> Result<()>;
    /// Gives back what a pool does not use, down to `keep` bytes.
    fn trim_pool(&self, pool: PoolHandle, keep: usize) -> Result<()>;
    /// What a pool holds.
    fn pool_statistics(&self, pool: PoolHandle) -> Result<PoolStatistics>;
    /// Memory from a pool, usable in the order of `stream`. `bytes` is not 0.
    fn allocate_from_pool(&self, device: i32, pool: PoolHandle, bytes: usize, stream: StreamHandle) -> Result<Address>;
    /// Gives pool memory back in the order of `stream`.
    ///
    /// # Safety
    /// The address came from `allocate_from_pool` and is used by nothing after this point of the stream.
    unsafe fn free_to_pool(&self, device: i32, address: Address, stream: StreamHandle) -> Result<()>;
    /// Plain memory. `bytes` is not 0. On the CPU aligned to 64 bytes, or to 16 below 1024 bytes.
    fn allocate(&self, device: i32, bytes: usize) -> Result<Address>;
    /// Gives plain memory back; on a GPU the driver waits for the device.
    ///
    /// # Safety
    /// The address came from `allocate` with the same `bytes` and is used by nothing any more.
    unsafe fn free(&self, device: i32, address: Address, bytes: usize) -> Result<()>;
    /// Pinned host memory. `bytes` is not 0.
    fn allocate_host(&self, device: i32, bytes: usize, flags: HostFlags) -> Result<Address>;
    /// Gives pinned host memory back.
    ///
    /// # Safety
    /// The address came from `allocate_host` with the same `bytes` and is used by nothing any more.
    unsafe fn free_host(&self, device: i32, address: Address, bytes: usize) -> Result<()>;
    /// Pins memory that somebody else owns.
    ///
    /// # Safety
    /// The range is mapped and stays so until `unregister_host`.
    unsafe fn register_host(&self, device: i32, address: Address, bytes: usize, flags: HostFlags) -> Result<()>;
    /// Unpins memory.
    ///
    /// # Safety
    /// The address was registered and no copy uses it any more.
    unsafe fn unregister_host(&self, device: i32, address: Address) -> Result<()>;
    /// What the driver knows of an address; never fails for an unknown one.
    fn pointer_kind(&self, address: Address) -> Result<PointerKind>;

    /// Copies bytes in the order of `stream`. From pageable memory the source may be changed when the call returns; into
    /// pageable memory the values are there when it returns; pinned memory is used until the stream has passed.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn copy(
        &self,
        device: i32,
        direction: Direction,
        target: Address,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()>;
    /// As `copy`, and waits until the values are there, by one call where the driver has one: it is quicker than two.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn copy_and_wait(
        &self,
        device: i32,
        direction: Direction,
        target: Address,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        // SAFETY: promised by the caller.
        unsafe {
            self.copy(device, direction, target, source, bytes, stream)?;
            self.synchronize_stream(device, stream)
        }
    }
    /// Copies a box of rows and planes in the order of `stream`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn copy_pitched(
        &self,
        device: i32,
        direction: Direction,
        target: Pitched,
        source: Pitched,
        extent: Extent,
        stream: StreamHandle,
    ) -> Result<()>;
    /// Copies between two devices, directly where they can, through the host otherwise; in the order of `stream`, which
    /// belongs to `source_device`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn copy_peer(
        &self,
        target_device: i32,
        target: Address,
        source_device: i32,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()>;
    /// Repeats a pattern `count` times in each of `height` rows that are `pitch` bytes apart, in the order of `stream`.
    ///
    /// # Safety
    /// See the trait. The address and the pitch are multiples of the pattern's size.
    #[allow(clippy::too_many_arguments)]
    unsafe fn fill(
        &self,
        device: i32,
        target: Address,
        pitch: usize,
        pattern: Pattern,
        count: usize,
        height: usize,
        stream: StreamHandle,
    ) -> Result<()>;

    /// Makes a stream.
    fn create_stream(&self, device: i32, flags: StreamFlags) -> Result<StreamHandle>;
    /// Ends a stream; work in flight still completes.
    ///
    /// # Safety
    /// The handle came from `create_stream` and is not used again.
    unsafe fn destroy_stream(&self, device: i32, stream: StreamHandle) -> Result<()>;
    /// Waits until the stream has nothing left to do.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn synchronize_stream(&self, device: i32, stream: StreamHandle) -> Result<()>;
    /// Whether the stream has nothing left to do.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn query_stream(&self, device: i32, stream: StreamHandle) -> Result<bool>;
    /// Work put on the stream from now on waits for the event.
    ///
    /// # Safety
    /// Stream and event are alive.
    unsafe fn wait_event(&self, device: i32, stream: StreamHandle, event: EventHandle) -> Result<()>;
    /// The device a stream belongs to; `None` where the driver cannot say.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn stream_device(&self, stream: StreamHandle) -> Result<Option<i32>>;

    /// Makes an event.
    fn create_event(&self, device: i32, flags: EventFlags) -> Result<EventHandle>;
    /// Ends an event; streams that wait for it still do.
    ///
    /// # Safety
    /// The handle came from `create_event` and is not used again.
    unsafe fn destroy_event(&self, device: i32, event: EventHandle) -> Result<()>;
    /// Marks this point of the stream.
    ///
    /// # Safety
    /// Stream and event are alive and of one device.
    unsafe fn record_event(&self, device: i32, event: EventHandle, stream: StreamHandle) -> Result<()>;
    /// Marks this point of all the device's streams at once; `false` where the driver cannot.
    ///
    /// # Safety
    /// The event is alive and of the device.
    unsafe fn record_event_of_device(&self, device: i32, event: EventHandle) -> Result<bool>;
    /// Whether the marked point was reached.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn query_event(&self, device: i32, event: EventHandle) -> Result<bool>;
    /// Waits until the marked point was reached.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn synchronize_event(&self, device: i32, event: EventHandle) -> Result<()>;
    /// Milliseconds between two recorded events.
    ///
    /// # Safety
    /// The events are alive.
    unsafe fn elapsed(&self, device: i32, start: EventHandle, end: EventHandle) -> Result<f32>;
}
