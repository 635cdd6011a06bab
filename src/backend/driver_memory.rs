//! Declares memory other than plain and pooled memory: pitched rows, managed memory, and memory shared with other
//! processes. The module also declares events shared with other processes, and address queries.

use super::{Address, EventHandle, StreamHandle};
use pygpu_base::error::Result;

/// Size in bytes of the handle by which another process opens a shared block or event.
pub const HANDLE_BYTES: usize = 64;

/// Determines which devices and streams may use managed memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attachment {
    /// All devices and the host may use the memory.
    Global,
    /// Only the host may use the memory.
    Host,
    /// One stream may use the memory; the host too, while the stream is idle.
    Single,
}

impl Attachment {
    /// Returns the driver's enum value for this attachment. It is equal in CUDA and HIP.
    pub const fn number(self) -> u32 {
        match self {
            Self::Global => 1,
            Self::Host => 2,
            Self::Single => 4,
        }
    }
}

/// Location of the pages of managed memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Residence {
    /// In host memory.
    Host,
    /// Memory of the device with this number.
    Device(i32),
}

/// Usage hints for managed memory. The discriminants are the values that CUDA and HIP use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Advice {
    /// The memory is read much more often than written, so the driver may create a copy on each device that reads it.
    SetReadMostly = 1,
    /// Reverts the hint `SetReadMostly`.
    UnsetReadMostly = 2,
    /// The memory should stay at the location that is passed with the hint.
    SetPreferredLocation = 3,
    /// Reverts the hint `SetPreferredLocation`.
    UnsetPreferredLocation = 4,
    /// The processor that is passed with the hint uses the memory often, and should access it without page faults.
    SetAccessedBy = 5,
    /// Reverts the hint `SetAccessedBy`.
    UnsetAccessedBy = 6,
}

/// Declares operations on pitched, managed and shared memory.
///
/// # Safety of the callers
/// The conditions of [`Backend`](super::Backend) apply.
pub trait DriverMemory: Send + Sync {
    /// Allocates `height` rows of `width` bytes at a pitch chosen by the driver. Returns address and pitch. The memory
    /// is freed by `Backend::free` with `pitch * height` bytes. Neither `width` nor `height` may be 0. `access_size` is
    /// the number of bytes that a kernel accesses at once: 4, 8 or 16.
    fn allocate_pitched(&self, device: i32, width: usize, height: usize, access_size: u32) -> Result<(Address, usize)>;
    /// Allocates memory that host and device can access, freed by `Backend::free`. `bytes` must not be 0.
    fn allocate_managed(&self, device: i32, bytes: usize, attachment: Attachment) -> Result<Address>;
    /// Changes which devices and streams may use managed memory. The change takes effect in the order of `stream`.
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
    /// The stream is alive, and the range stays allocated until the stream has completed the move.
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
    /// Returns start and size of the memory block that contains an address of the device.
    fn address_range(&self, device: i32, address: Address) -> Result<(Address, usize)>;
    /// Returns the device address of pinned host memory.
    fn device_address(&self, device: i32, address: Address) -> Result<Address>;
    /// Returns a handle by which other processes open a block of plain memory. `address` is the block's first byte.
    fn share_memory(&self, device: i32, address: Address) -> Result<[u8; HANDLE_BYTES]>;
    /// Opens a memory block that another process shares, and returns the block's address.
    fn open_shared_memory(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<Address>;
    /// Closes a block that `open_shared_memory` opened.
    ///
    /// # Safety
    /// The address came from `open_shared_memory`, and the block is no longer in use.
    unsafe fn close_shared_memory(&self, device: i32, address: Address) -> Result<()>;
    /// Returns a handle by which other processes open an event. The event must have been created with the
    /// `interprocess` flag.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn share_event(&self, device: i32, event: EventHandle) -> Result<[u8; HANDLE_BYTES]>;
    /// Opens an event that another process shares. The opened event is destroyed like any other event.
    fn open_shared_event(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<EventHandle>;
}
