//! Shares arrays with other processes. The Python part is in `PyGPU._shared_arrays`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::memory_argument::MemoryArgument;
use crate::array::class::{GpuArray, new_at};
use crate::array::memory_owner::MemoryOwner;
use crate::callback::SendPyObject;
use crate::convert::{dtype, shape};
use crate::exported_names::names;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::event::PyEvent;
use pygpu_backend::Address;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::Layout;
use pygpu_memory::{Access, ordered};

#[pymethods]
impl GpuArray {
    /// Returns a handle by which other processes map the same memory with `open_shared`.
    ///
    /// Returns
    /// -------
    /// SharedHandle
    ///     Handle that can be pickled: put the handle into a queue, or pass the handle to a process. The process that
    ///     opens the handle waits for all earlier work on the array.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the memory cannot be opened by other processes.
    ///
    /// Notes
    /// -----
    /// This process must keep an array over the memory alive while any other process uses the memory.
    ///
    /// Examples
    /// --------
    /// >>> import pickle
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3, shared=True)
    /// >>> handle = pickle.loads(pickle.dumps(a.share()))
    /// >>> b = PyGPU.open_shared(handle)
    /// >>> b[1] = 7
    /// >>> a.tolist()
    /// [0.0, 7.0, 0.0]
    #[pyo3(signature = () -> "SharedHandle")]
    fn share<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._shared_arrays.arrays"))?.call_method1(intern!(py, "share"), (slf,))
        })
    }
}

/// Records an event after all uses of an array's memory, or makes the next use of the memory wait for the event.
///
/// Parameters
/// ----------
/// array : GPUArray
///     Array whose memory is ordered by the event.
/// event : Event
///     Event of the array's device.
/// record : bool
///     True records the event on the current stream. False makes the current stream, and with it the next use of the
///     memory, wait for the event.
#[pyfunction]
#[pyo3(signature = (array: "GPUArray", event: "Event", record: "bool") -> "None")]
fn _order_by_event(array: &Bound<'_, GpuArray>, event: &Bound<'_, PyEvent>, record: bool) -> PyResult<()> {
    let py = array.py();
    let (array, event) = (array.get().array(py)?, event.get().event()?);
    py.without_gil(|| {
        let stream = stream::current(array.device());
        ordered(&[(array.allocation(), Access::Write)], &stream, || match record {
            true => event.record(&stream),
            false => stream.wait_event(event),
        })
    })?;
    Ok(())
}

/// Returns the address of element zero after checking that all elements are within a block of `nbytes` bytes.
///
/// # Errors
/// `ValueError` with the range of the elements and the size of the block.
fn address_within(first: Address, nbytes: usize, offset: i64, layout: &Layout) -> PyResult<Address> {
    let (low, high) = layout.extent().unwrap_or((offset, offset));
    let is_within = low >= 0 && u64::try_from(high).is_ok_and(|high| high <= nbytes as u64);
    let address = usize::try_from(offset).ok().and_then(|offset| first.checked_add(offset));
    address.filter(|_| is_within).ok_or_else(|| {
        PyValueError::new_err(format!(
            "the handle describes elements from byte {low} to byte {high} of a block of {nbytes} bytes: open the handle \
             as `share` returned it"
        ))
    })
}

/// Creates an array within a block, from a description that may come from another process.
///
/// Parameters
/// ----------
/// owner : object
///     Object that keeps the block alive.
/// address : int
///     Address of the first byte of the block.
/// nbytes : int
///     Number of bytes of the block in this process.
/// offset : int
///     Offset of element zero in bytes.
/// shape, strides : sequence of int
///     Lengths of the axes, and strides in bytes.
/// dtype : data-type
///     Type of the elements.
/// readonly : bool
///     Whether the array is read-only.
///
/// Raises
/// ------
/// ValueError
///     If an element is not within the block.
/// TypeError
///     For arguments of other types, and for a dtype that devices do not support.
#[pyfunction]
#[pyo3(signature = (
    owner: "Any", address: "int", nbytes: "int", offset: "int", shape: "ShapeLike", strides: "ShapeLike",
    dtype: "DTypeLike", *, readonly: "bool"
) -> "GPUArray")]
#[allow(clippy::too_many_arguments)]
fn _array_in_block<'py>(
    owner: &Bound<'py, PyAny>,
    address: Address,
    nbytes: usize,
    offset: i64,
    shape: &Bound<'py, PyAny>,
    strides: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    readonly: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = owner.py();
    let dtype = dtype::or_float64(Some(dtype))?;
    let (lengths, strides) = (shape::from_python(shape)?, shape::from_python(strides)?);
    let layout = Layout::strided(&lengths, &strides, offset, dtype.itemsize() as i64)?;
    let element_zero = address_within(address, nbytes, offset, &layout)?;
    let layout = layout.with_offset(0)?;
    let object = SendPyObject::new(owner.clone().unbind());
    let mut placement = MemoryArgument::from_address(element_zero)?.placement(
        py,
        &layout,
        Stream::default_of,
        Some(MemoryOwner { object, is_arrays: false, allocator: None }),
    )?;
    placement.readonly |= readonly;
    new_at(py, placement, &layout, dtype, Some(owner.clone().unbind()))
}

names! {
    internal_functions: _array_in_block, _order_by_event;
}
