//! Defines the interface to device memory, plain or from a pool, and to pinned host memory.

use super::StreamHandle;
use pygpu_base::error::Result;

/// An address in host or device memory, as a number.
pub type Address = usize;

/// Driver handle of a stream-ordered memory pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PoolHandle(pub usize);

/// Options for allocating or registering pinned host memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostFlags {
    /// Whether the memory is pinned for every context, not only for the current one.
    pub portable: bool,
    /// Whether the memory is mapped into the device's address space.
    pub mapped: bool,
    /// Whether the memory is write-combined: fast for device reads, slow for host reads.
    pub write_combined: bool,
}

/// The sizes in bytes that a memory pool reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PoolStatistics {
    /// Device memory that the pool has obtained from the driver.
    pub reserved: usize,
    /// Maximum of `reserved` so far.
    pub reserved_peak: usize,
    /// Part of `reserved` that allocations use.
    pub used: usize,
    /// Maximum of `used` so far.
    pub used_peak: usize,
}

/// Kind of memory at an address, according to the driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerKind {
    /// The address is not registered with the driver: it is ordinary host memory, or no memory at all.
    Unregistered,
    /// Pinned or registered host memory.
    Host,
    /// Memory of the device with this number.
    Device(i32),
    /// Managed memory, which host and devices can access.
    Managed,
}

/// Allocation of memory on one backend's devices, and of pinned host memory.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes an address or a handle guarantees that the address or handle
/// belongs to the device and is alive.
pub trait Memory: Send + Sync {
    /// Creates a stream-ordered pool, whose memory every peer device can access. When the host synchronizes with the
    /// device, the pool keeps up to `threshold` bytes of freed memory. Returns `None` if the device does not support
    /// pools.
    fn create_pool(&self, device: i32, threshold: u64) -> Result<Option<PoolHandle>>;
    /// Sets how many bytes of freed memory a pool keeps when the host synchronizes with the device, instead of
    /// returning them to the driver.
    fn set_pool_release_threshold(&self, pool: PoolHandle, bytes: u64) -> Result<()>;
    /// Returns unused memory of a pool to the driver, until at most `keep` bytes are reserved.
    fn trim_pool(&self, pool: PoolHandle, keep: usize) -> Result<()>;
    /// Returns the statistics of a pool.
    fn pool_statistics(&self, pool: PoolHandle) -> Result<PoolStatistics>;
    /// Allocates memory from a pool. Work enqueued on `stream` after this call may use the memory without further
    /// synchronization. `bytes` must not be 0.
    fn allocate_from_pool(&self, device: i32, pool: PoolHandle, bytes: usize, stream: StreamHandle) -> Result<Address>;
    /// Returns memory to its pool after all work that is already enqueued on `stream`.
    ///
    /// # Safety
    /// The address came from `allocate_from_pool` and is not used after this point of the stream.
    unsafe fn free_to_pool(&self, device: i32, address: Address, stream: StreamHandle) -> Result<()>;

    /// Allocates plain memory. `bytes` must not be 0. On the CPU the memory is aligned to 64 bytes, or to 16 bytes if
    /// it has fewer than 1024 bytes.
    fn allocate(&self, device: i32, bytes: usize) -> Result<Address>;
    /// Frees plain memory; on a GPU the driver synchronizes with the device.
    ///
    /// # Safety
    /// The address came from `allocate` with the same `bytes` and is no longer in use.
    unsafe fn free(&self, device: i32, address: Address, bytes: usize) -> Result<()>;

    /// Allocates pinned host memory. `bytes` must not be 0.
    fn allocate_host(&self, device: i32, bytes: usize, flags: HostFlags) -> Result<Address>;
    /// Frees pinned host memory.
    ///
    /// # Safety
    /// The address came from `allocate_host` with the same `bytes` and is no longer in use.
    unsafe fn free_host(&self, device: i32, address: Address, bytes: usize) -> Result<()>;
    /// Pins existing host memory.
    ///
    /// # Safety
    /// The range is mapped and stays mapped until `unregister_host`.
    unsafe fn register_host(&self, device: i32, address: Address, bytes: usize, flags: HostFlags) -> Result<()>;
    /// Unpins memory that `register_host` pinned.
    ///
    /// # Safety
    /// The address was registered and no copy uses it any more.
    unsafe fn unregister_host(&self, device: i32, address: Address) -> Result<()>;
    /// Returns the kind of memory at an address; an unknown address is not an error.
    fn pointer_kind(&self, address: Address) -> Result<PointerKind>;
}
