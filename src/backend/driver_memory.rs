//! Memory other than plain and pooled memory: pitched rows, managed memory, and memory and events shared with other
//! processes; also address queries.

use super::{Address, EventHandle, StreamHandle};
use pygpu_base::error::Result;

/// Size of a handle by which another process opens a block or an event.
pub const HANDLE_BYTES: usize = 64;

/// Users of managed memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attachment {
    /// All devices and the host.
    Global,
    /// The host only.
    Host,
    /// One stream, and the host while the stream is idle.
    Single,
}

impl Attachment {
    /// Value in CUDA and HIP.
    pub const fn number(self) -> u32 {
        match self {
            Self::Global => 1,
            Self::Host => 2,
            Self::Single => 4,
        }
    }
}

/// Location of managed memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Residence {
    /// Host memory.
    Host,
    /// Memory of a device.
    Device(i32),
}

/// Usage hints for managed memory; the values are those of CUDA and HIP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Advice {
    /// Read much more often than written: readers may have a copy.
    SetReadMostly = 1,
    /// Reverts `SetReadMostly`.
    UnsetReadMostly = 2,
    /// Should stay at the given location.
    SetPreferredLocation = 3,
    /// Reverts `SetPreferredLocation`.
    UnsetPreferredLocation = 4,
    /// The given processor uses the memory often and should access it without page faults.
    SetAccessedBy = 5,
    /// Reverts `SetAccessedBy`.
    UnsetAccessedBy = 6,
}

/// Operations on these kinds of memory.
///
/// # Safety of the callers
/// As for [`Backend`](super::Backend).
pub trait DriverMemory: Send + Sync {
    /// Allocates `height` rows of `width` bytes at a pitch chosen by the driver; returns address and pitch. Freed by
    /// `Backend::free` with `pitch * height` bytes. Neither argument may be 0. `access_size`: bytes of one access by
    /// a kernel, 4, 8 or 16.
    fn allocate_pitched(&self, device: i32, width: usize, height: usize, access_size: u32) -> Result<(Address, usize)>;
    /// Allocates memory that host and device can access, freed by `Backend::free`. `bytes` must not be 0.
    fn allocate_managed(&self, device: i32, bytes: usize, attachment: Attachment) -> Result<Address>;
    /// Changes the users of managed memory from this point of the stream on.
    ///
    /// # Safety
    /// The address came from `allocate_managed`; the stream is alive.
    unsafe fn attach_managed(
        &self,
        device: i32,
        address: Address,
        attachment: Attachment,
        stream: StreamHandle,
    ) -> Result<()>;
    /// Moves managed memory to a location before it is used there, in stream order.
    ///
    /// # Safety
    /// The stream is alive, and the range stays allocated until the stream has passed.
    unsafe fn prefetch_managed(
        &self,
        device: i32,
        address: Address,
        bytes: usize,
        to: Residence,
        stream: StreamHandle,
    ) -> Result<()>;
    /// Sets a usage hint for managed memory; the driver rejects other memory.
    fn advise_managed(&self, device: i32, address: Address, bytes: usize, advice: Advice, by: Residence) -> Result<()>;
    /// Returns start and size of the block that contains an address of the device.
    fn address_range(&self, device: i32, address: Address) -> Result<(Address, usize)>;
    /// Returns the device address of pinned host memory.
    fn device_address(&self, device: i32, address: Address) -> Result<Address>;
    /// Returns a handle by which other processes open a plain block; `address` is its first byte.
    fn share_memory(&self, device: i32, address: Address) -> Result<[u8; HANDLE_BYTES]>;
    /// Opens a block of another process.
    fn open_shared_memory(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<Address>;
    /// Closes a block that `open_shared_memory` opened.
    ///
    /// # Safety
    /// The address came from `open_shared_memory`, and the block is no longer in use.
    unsafe fn close_shared_memory(&self, device: i32, address: Address) -> Result<()>;
    /// Returns a handle by which other processes open an event, which must have been created for that.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn share_event(&self, device: i32, event: EventHandle) -> Result<[u8; HANDLE_BYTES]>;
    /// Opens an event of another process; it is destroyed like any other event.
    fn open_shared_event(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<EventHandle>;
}
