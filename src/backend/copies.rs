//! Copies and fills in stream order.

use super::{Address, StreamHandle, Streams};
use pygpu_base::error::Result;

/// Kinds of memory that a copy connects.
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

/// Permission for a copy to use host memory on its stream. A graph that captures a copy uses the memory at every
/// launch, so pageable memory must not be used on a capturing stream. Only `memory::capture` creates this value,
/// after checking.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HostUse(());

impl HostUse {
    /// Creates the permission.
    ///
    /// # Safety
    /// The stream of the copy is not part of a capture, or the host memory is pinned and outlives the graph.
    pub const unsafe fn promised() -> Self {
        Self(())
    }
}

/// One endpoint of a 2-D or 3-D copy: its start, and the distances of rows and planes in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pitched {
    /// First byte.
    pub address: Address,
    /// Distance between rows; at least the width of a row.
    pub row_pitch: usize,
    /// Distance between planes; a multiple of `row_pitch`. Ignored for a single plane.
    pub plane_pitch: usize,
}

/// Size of the box that a pitched copy moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Bytes of a row.
    pub width: usize,
    /// Rows per plane.
    pub height: usize,
    /// Number of planes.
    pub depth: usize,
}

/// Value that a memset repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// One byte.
    U8(u8),
    /// Two bytes; the address must be even.
    U16(u16),
    /// Four bytes; the address must be a multiple of four.
    U32(u32),
}

/// Copies and fills of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes an address or a handle guarantees that it belongs to the
/// device and stays valid until the stream has passed the call.
pub trait Copies: Streams {
    /// Copies bytes in stream order. With pageable memory, the source may be changed, or the target has its values,
    /// when the call returns; pinned memory is used until the stream has passed.
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
    /// Copies bytes and waits for the copy, with a single driver call if available, which is faster than two.
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
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.copy(device, direction, target, source, bytes, stream)?;
            self.synchronize_stream(device, stream)
        }
    }
    /// Copies a box of rows and planes in stream order.
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
    /// Copies between two devices: directly if possible, otherwise through the host. Ordered on `stream`, which
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
    /// Repeats a pattern `count` times in each of `height` rows that are `pitch` bytes apart, in stream order.
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
}
