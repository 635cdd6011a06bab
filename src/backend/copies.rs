//! Copies and fills in the order of a stream.

use super::{Address, StreamHandle, Streams};
use pygpu_base::error::Result;

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

/// Copies and fills of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): who passes an address or a handle promises that it belongs to the device and
/// stays valid until the stream has passed the call.
pub trait Copies: Streams {
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
}
