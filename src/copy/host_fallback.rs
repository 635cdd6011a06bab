//! Copies an array within a device through the host, for scattered layouts, if no copy kernel can be compiled.
//!
//! The fallback copies the byte ranges of source and target to the host, copies the elements there, and writes the
//! target's range back to the device. The fallback blocks the host and crosses the bus twice. Bytes between the
//! target's elements are written back unchanged. This is safe, because the target's range is read and written in stream
//! order: no work tracked by PyGPU can write these bytes between the read and the write.

use super::{CopyOperand, HostBuffer, at, host_host};
use pygpu_array::Array;
use pygpu_backend::{Address, Direction, HostUse};
use pygpu_base::error::Result;
use pygpu_base::log_queue::{self, LogLevel};
use pygpu_device::stream::Stream;
use pygpu_memory::{Access, ordered, stream_captures};

/// The bytes from an array's first to its last element, copied to the host.
struct HostSpan {
    bytes: Vec<u8>,
    low: i64,
}

impl HostSpan {
    fn fetch(array: &Array, host: HostUse, stream: &Stream) -> Result<Self> {
        let (low, high) = array.layout().extent().unwrap_or((0, 0));
        let mut span = Self { bytes: vec![0; (high - low) as usize], low };
        let device = array.device();
        // SAFETY: the range is inside the array's block; the vector has the same size and is pageable memory, so it is
        // filled when the call returns.
        unsafe {
            device.backend().copy(
                device.index(),
                Direction::DeviceToHost(host),
                span.bytes.as_mut_ptr() as Address,
                at(array.allocation().address(), low),
                span.bytes.len(),
                stream.handle(),
            )?;
        }
        stream.synchronize()?;
        Ok(span)
    }

    fn write_back(&self, array: &Array, host: HostUse, stream: &Stream) -> Result<()> {
        let device = array.device();
        // SAFETY: the range is inside the array's block; the vector has the same size and is pageable memory, which the
        // driver has read when the call returns.
        unsafe {
            device.backend().copy(
                device.index(),
                Direction::HostToDevice(host),
                at(array.allocation().address(), self.low),
                self.bytes.as_ptr() as Address,
                self.bytes.len(),
                stream.handle(),
            )
        }
    }

    /// Returns the copied bytes as host memory with the array's layout. The address in the result is that of byte 0 of
    /// the layout.
    fn host_side(&self, array: &Array) -> HostBuffer {
        let address = (self.bytes.as_ptr() as Address).wrapping_sub(self.low as usize);
        HostBuffer { address, layout: array.layout().clone() }
    }
}

/// Copies an array into a non-overlapping array of the same device.
pub(super) fn between(target: &Array, source: &Array, stream: &Stream) -> Result<()> {
    log_queue::log(LogLevel::Info, || {
        let bytes = target.layout().size() * target.layout().itemsize();
        format!(
            "{}: a strided copy of {bytes} bytes goes over the host, since there is no compiler of kernels",
            target.device()
        )
    });
    let host = stream_captures::host_use("a strided copy for which there is no compiler", stream, || Ok(false))?;
    ordered(&[(source.allocation(), Access::Read), (target.allocation(), Access::Write)], stream, || {
        let from = HostSpan::fetch(source, host, stream)?;
        let to = HostSpan::fetch(target, host, stream)?;
        let (target_side, source_side) = (to.host_side(target), from.host_side(source));
        // SAFETY: each vector contains every byte that its layout reaches, and the two vectors are distinct.
        unsafe {
            host_host::copy(
                CopyOperand { base: target_side.address, layout: &target_side.layout },
                CopyOperand { base: source_side.address, layout: &source_side.layout },
            )?;
        }
        to.write_back(target, host, stream)
    })
}
