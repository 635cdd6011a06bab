//! Memory of a device, plain and pooled, and pinned memory of the host.

use super::StreamHandle;
use pygpu_base::error::Result;

/// An address in host or device memory.
pub type Address = usize;

/// A driver's stream-ordered memory pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PoolHandle(pub usize);

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

/// Memory of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): who passes an address or a handle promises that it belongs to the device and is alive.
pub trait Memory: Send + Sync {
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
}
