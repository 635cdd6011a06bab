//! Copies rows between addresses, with a pitch (distance of rows) for the source and one for the target. The checks are
//! the same as in `raw_copy`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::raw_copy::{CopyRows, MemcpyKind, check_range, copy, parse_kind, pitched, stream_argument};
use crate::convert::number;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use pygpu_backend::Extent;

/// Copies rows of bytes between addresses.
///
/// Parameters
/// ----------
/// dst : int
///     Address of the first row, in host or device memory that exists until the copy is complete.
/// dst_pitch : int
///     Bytes from one row to the next; at least `width`.
/// src, src_pitch : int
///     Address of the first row of the source, and bytes from one source row to the next.
/// width : int
///     Bytes of a row.
/// height : int
///     Rows.
/// kind : {'default', 'host_to_host', 'host_to_device', 'device_to_host', 'device_to_device'}, optional
///     Kinds of memory at `src` and `dst`, in this order. By default the driver determines them.
/// stream : Stream, object with `__cuda_stream__`, or int, optional
///     Copy in the order of this stream and do not wait. By default the copy is complete when the call returns.
///
/// Raises
/// ------
/// ValueError
///     For address 0, a negative size, an unknown kind, and a pitch below the width.
/// NotSupportedError
///     For a copy between two devices, and for pageable host memory on a stream that is captured into a graph.
/// CudaError
///     In the same cases as `raw_copy`.
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
    signature = (
        dst: "int", dst_pitch: "int", src: "int", src_pitch: "int", width: "int", height: "int",
        kind: "CopyKind" = None, stream: "StreamLike" = None
    ) -> "None",
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
    let target = pitched(number::size(dst, "dst")?, number::size(dst_pitch, "dst_pitch")?);
    let source = pitched(number::size(src, "src")?, number::size(src_pitch, "src_pitch")?);
    // For a copy that involves a device, the driver determines the direction from the addresses. Therefore all values
    // of `kind` except `HostToHost` are equivalent.
    let kind = match kind.map(parse_kind).transpose()? {
        Some(MemcpyKind::HostToHost) => MemcpyKind::HostToHost,
        _ => MemcpyKind::Default,
    };
    let stream = stream_argument(py, stream)?;
    if extent.width == 0 || extent.height == 0 {
        return Ok(());
    }
    for (endpoint, name) in [(&target, "dst"), (&source, "src")] {
        if endpoint.row_pitch < extent.width {
            let (pitch, width) = (endpoint.row_pitch, extent.width);
            return Err(PyValueError::new_err(format!("{name}_pitch is {pitch}, and a row has {width} bytes")));
        }
        let span = endpoint.row_pitch.checked_mul(extent.height - 1).and_then(|rows| rows.checked_add(extent.width));
        check_range(endpoint.address, span.unwrap_or(usize::MAX), name)?;
    }
    let rows = CopyRows { target, source, extent, is_range: false };
    Ok(py.without_gil(|| copy(&rows, kind, stream.as_ref()))?)
}

names! {
    internal_functions: raw_copy_rows;
}
