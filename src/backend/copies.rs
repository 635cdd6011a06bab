//! Declares copies and fills, which run in stream order.

use super::{Address, StreamHandle, Streams};
use pygpu_base::error::Result;

/// Kinds of memory between which bytes are copied.
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

/// Permission for a copy on a stream to use host memory. A captured copy accesses the memory at every launch of the
/// graph, so a copy on a capturing stream must not use pageable memory. Only `memory::stream_captures` creates this
/// value, after it has checked the host memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HostUse(());

impl HostUse {
    /// Creates the permission without a check of the host memory.
    ///
    /// # Safety
    /// The stream of the copy is not part of a capture, or the host memory is pinned and outlives the graph.
    pub const unsafe fn promised() -> Self {
        Self(())
    }
}

/// Source or target of a 2-D or 3-D copy: its address, and the distances between rows and planes in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pitched {
    /// Address of the first byte.
    pub address: Address,
    /// Distance between rows in bytes, which is at least the width of a row.
    pub row_pitch: usize,
    /// Distance between planes in bytes, a multiple of `row_pitch`. The distance is ignored if there is only one plane.
    pub plane_pitch: usize,
}

/// Size of the box, i.e. the 3-D region of memory, that a pitched copy moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Number of bytes in a row.
    pub width: usize,
    /// Number of rows in a plane.
    pub height: usize,
    /// Number of planes.
    pub depth: usize,
}

/// Value that a fill repeats: a pattern of one, two or four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// A pattern of one byte.
    U8(u8),
    /// A pattern of two bytes; the target address must be even.
    U16(u16),
    /// A pattern of four bytes; the target address must be a multiple of four.
    U32(u32),
}

/// Copies and fills of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes an address or a handle guarantees that the address or handle
/// belongs to the device and stays valid until the stream has completed the operation.
pub trait Copies: Streams {
    /// Copies bytes in stream order. If the host memory is pageable, the caller may change a host source and read a
    /// host target as soon as the call returns. Pinned host memory is in use until the stream has completed the copy.
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
    /// Copies bytes and waits until the copy is complete. Uses a single driver call if the driver has such a call,
    /// because two calls (copy and synchronize) take longer.
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
        // SAFETY: the caller guarantees that the ranges and the stream are valid, as `copy` and `synchronize_stream`
        // require.
        unsafe {
            self.copy(device, direction, target, source, bytes, stream)?;
            self.synchronize_stream(device, stream)
        }
    }
    /// Copies a 3-D region, which consists of planes of rows, in stream order.
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
    /// Copies bytes between two devices: directly if possible, otherwise through the host. The copy is enqueued on
    /// `stream`, a stream of `source_device`.
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
