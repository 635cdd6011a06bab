//! Memory of the kinds that a driver has beside plain and pooled memory: rows at a pitch of its choice, memory that host and
//! device both reach, memory and events that other processes open; and what it knows of an address.

use super::{Address, EventHandle, StreamHandle};
use pygpu_base::error::Result;

/// Bytes that name a block or an event for another process.
pub const HANDLE_BYTES: usize = 64;

/// Who may use managed memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attachment {
    /// Everybody.
    Global,
    /// The host only.
    Host,
    /// One stream, and the host while that does nothing.
    Single,
}

impl Attachment {
    /// The number that CUDA and HIP have for it.
    pub const fn number(self) -> u32 {
        match self {
            Self::Global => 1,
            Self::Host => 2,
            Self::Single => 4,
        }
    }
}

/// Where managed memory is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Residence {
    /// In the host's memory.
    Host,
    /// In that of a device.
    Device(i32),
}

/// What a driver is told of how managed memory will be used; the numbers are CUDA's and HIP's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Advice {
    /// It is read much more often than written: who reads it may have a copy.
    SetReadMostly = 1,
    /// Takes that back.
    UnsetReadMostly = 2,
    /// It had best stay at a place.
    SetPreferredLocation = 3,
    /// Takes that back.
    UnsetPreferredLocation = 4,
    /// Somebody uses it all the time, and is to reach it without faults.
    SetAccessedBy = 5,
    /// Takes that back.
    UnsetAccessedBy = 6,
}

/// What a driver can do with memory of these kinds.
///
/// # Safety of the callers
/// As for [`Backend`](super::Backend).
pub trait DriverMemory: Send + Sync {
    /// `height` rows of `width` bytes at a pitch of the driver's choice, and the pitch; given back by `Backend::free` with
    /// `pitch * height` bytes. Neither is 0. `access_size`: bytes that a kernel reads at once, 4, 8 or 16.
    fn allocate_pitched(&self, device: i32, width: usize, height: usize, access_size: u32) -> Result<(Address, usize)>;
    /// Memory that host and device both reach, given back by `Backend::free`. `bytes` is not 0.
    fn allocate_managed(&self, device: i32, bytes: usize, attachment: Attachment) -> Result<Address>;
    /// Says who may use managed memory from this point of the stream on.
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
    /// Brings managed memory to where it will be used, in the order of the stream.
    ///
    /// # Safety
    /// The stream is alive, and the range stays until the stream has passed.
    unsafe fn prefetch_managed(
        &self,
        device: i32,
        address: Address,
        bytes: usize,
        to: Residence,
        stream: StreamHandle,
    ) -> Result<()>;
    /// Says how managed memory will be used; the driver refuses other memory.
    fn advise_managed(&self, device: i32, address: Address, bytes: usize, advice: Advice, by: Residence) -> Result<()>;
    /// The first byte and the bytes of the block in which an address of the device lies.
    fn address_range(&self, device: i32, address: Address) -> Result<(Address, usize)>;
    /// The address at which the device sees pinned host memory.
    fn device_address(&self, device: i32, address: Address) -> Result<Address>;
    /// Names a plain block, by its first byte, for other processes.
    fn share_memory(&self, device: i32, address: Address) -> Result<[u8; HANDLE_BYTES]>;
    /// Opens a block of another process.
    fn open_shared_memory(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<Address>;
    /// Ends what `open_shared_memory` began.
    ///
    /// # Safety
    /// The address came from there, and nothing uses the block any more.
    unsafe fn close_shared_memory(&self, device: i32, address: Address) -> Result<()>;
    /// Names an event, made for that, for other processes.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn share_event(&self, device: i32, event: EventHandle) -> Result<[u8; HANDLE_BYTES]>;
    /// Opens an event of another process, which ends as those of one's own.
    fn open_shared_event(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<EventHandle>;
}
