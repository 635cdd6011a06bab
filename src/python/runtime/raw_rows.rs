//! Copies of pitched rows by address, with the checks of `raw_copy`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::raw_copy::{
    End, Kind, Range, Side, device_for, host_use, kind_of, move_bytes, on_stream, range_end, refuse_on_host,
    stream_argument,
};
use crate::convert::number;
use crate::gil::WithoutGil;
use pygpu_backend::{Address, Direction, Extent, Pitched};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_memory::{Access, Use, capture};

/// Rows of one width with two pitches.
struct Rows {
    target: Pitched,
    source: Pitched,
    extent: Extent,
}

fn side(address: Address, pitch: usize) -> Pitched {
    Pitched { address, row_pitch: pitch, plane_pitch: pitch }
}

impl Rows {
    /// Returns the bytes from the first to the last of an operand.
    fn span(&self, side: &Pitched) -> usize {
        side.row_pitch * (self.extent.height - 1) + self.extent.width // checked by the constructor
    }
}

/// Copies on `given`; without a stream, on the default stream of the device concerned, and waits.
fn copy(rows: &Rows, kind: Kind, given: Option<&Stream>) -> Result<()> {
    let near = given.map_or_else(Device::current, |stream| Ok(stream.device()))?;
    let to = End::of(near, rows.target.address, rows.span(&rows.target), Access::Write)?;
    let from = End::of(near, rows.source.address, rows.span(&rows.source), Access::Read)?;
    let uses: Vec<Use<'_>> = to.uses(Access::Write).chain(from.uses(Access::Read)).collect();
    if kind == Kind::HostToHost {
        for (side, address) in [(to.side, rows.target.address), (from.side, rows.source.address)] {
            refuse_on_host(side, address)?;
        }
        return copy_on_host(rows, given);
    }
    let owner = match (to.side, from.side) {
        (Side::Device(target), Side::Device(source)) if target != source => {
            return Err(Error::not_supported(format!(
                "rows of {source} are not copied to {target} by one call: copy them to the host, or whole by cudaMemcpyPeer"
            )));
        }
        (Side::Device(device), _) | (_, Side::Device(device)) => device,
        (Side::Host, Side::Host) => return copy_on_host(rows, given),
    };
    let device = device_for(owner, given)?;
    let used_by = given.cloned().unwrap_or_else(|| Stream::default_of(device));
    let direction = match (to.side, from.side) {
        (_, Side::Host) => Direction::HostToDevice(host_use(rows.source.address, &used_by)?),
        (Side::Host, _) => Direction::DeviceToHost(host_use(rows.target.address, &used_by)?),
        _ => Direction::DeviceToDevice,
    };
    on_stream(device, given, &uses, |stream| put_on_stream(direction, rows, stream))
}

fn put_on_stream(direction: Direction, rows: &Rows, stream: &Stream) -> Result<()> {
    let (backend, index) = (stream.device().backend(), stream.device().index());
    // SAFETY: the tracked parts of the ranges were checked; the docstring requires that other ranges are valid
    // until the copy is complete.
    unsafe { backend.copy_pitched(index, direction, rows.target, rows.source, rows.extent, stream.handle()) }
}

/// Copies on the host, after the stream's earlier work. On the CPU backend's own streams it is normal work.
fn copy_on_host(rows: &Rows, given: Option<&Stream>) -> Result<()> {
    if let Some(stream) = given.filter(|stream| stream.device().is_cpu()) {
        return put_on_stream(Direction::DeviceToDevice, rows, stream);
    }
    if let Some(stream) = given {
        capture::refuse("a copy within host memory", stream)?;
        stream.synchronize()?;
    }
    for row in 0..rows.extent.height {
        let at = |side: &Pitched| side.address + row * side.row_pitch;
        move_bytes(&Range { target: at(&rows.target), source: at(&rows.source), bytes: rows.extent.width });
    }
    Ok(())
}

/// Copies rows of bytes between addresses.
///
/// Parameters
/// ----------
/// dst : int
///     Address of the first row, in host or device memory that exists until the copy is complete.
/// dst_pitch : int
///     Bytes from one row to the next; at least `width`.
/// src, src_pitch : int
///     The same for the source.
/// width : int
///     Bytes of a row.
/// height : int
///     Rows.
/// kind : {'default', 'host_to_host', 'host_to_device', 'device_to_host', 'device_to_device'}, optional
///     Kinds of the addresses. By default the driver determines them.
/// stream : Stream, object with `__cuda_stream__`, or int, optional
///     Copy in the order of this stream and do not wait. By default the copy is complete when the call returns.
///
/// Raises
/// ------
/// ValueError
///     For address 0, a negative size, an unknown kind, and a pitch below the width.
/// NotSupportedError
///     Between two devices; for pageable host memory on a stream that is captured into a graph.
/// CudaError
///     As for `raw_copy`.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from PyGPU import _core
/// >>> a, b = np.arange(6, dtype=np.uint8), np.zeros(4, np.uint8)
/// >>> _core.raw_copy_rows(b.ctypes.data, 2, a.ctypes.data, 3, 2, 2)
/// >>> b
/// array([0, 1, 3, 4], dtype=uint8)
#[pyfunction]
#[pyo3(
    signature = (dst, dst_pitch, src, src_pitch, width, height, kind=None, stream=None),
    text_signature = "(dst, dst_pitch, src, src_pitch, width, height, kind='default', stream=None)"
)]
#[allow(clippy::too_many_arguments)]
fn raw_copy_rows(
    dst: &Bound<'_, PyAny>,
    dst_pitch: &Bound<'_, PyAny>,
    src: &Bound<'_, PyAny>,
    src_pitch: &Bound<'_, PyAny>,
    width: &Bound<'_, PyAny>,
    height: &Bound<'_, PyAny>,
    kind: Option<&Bound<'_, PyString>>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = dst.py();
    let extent = Extent { width: number::size(width, "width")?, height: number::size(height, "height")?, depth: 1 };
    let target = side(number::size(dst, "dst")?, number::size(dst_pitch, "dst_pitch")?);
    let source = side(number::size(src, "src")?, number::size(src_pitch, "src_pitch")?);
    let kind = kind.map_or(Ok(Kind::Default), kind_of)?;
    let stream = stream_argument(py, stream)?;
    if extent.width == 0 || extent.height == 0 {
        return Ok(());
    }
    for (side, name) in [(&target, "dst"), (&source, "src")] {
        if side.row_pitch < extent.width {
            let (pitch, width) = (side.row_pitch, extent.width);
            return Err(PyValueError::new_err(format!("{name}_pitch is {pitch}, and a row has {width} bytes")));
        }
        let span = side.row_pitch.checked_mul(extent.height - 1).and_then(|rows| rows.checked_add(extent.width));
        range_end(side.address, span.unwrap_or(usize::MAX), name)?;
    }
    let rows = Rows { target, source, extent };
    Ok(py.without_gil(|| copy(&rows, kind, stream.as_ref()))?)
}

/// Adds the function to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(raw_copy_rows, module)?)
}
