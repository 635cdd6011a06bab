//! The results of a call: their device, their layout, and checks of given output arrays.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use super::keywords::{ResultOrder, UfuncKeywords};
use super::operand::{OperandValues, UfuncOperand};
use crate::array::class::{GpuArray, new_like, new_on};
use crate::host::device_arrays;
use pygpu_array::DeferredArray;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_layout::tuple_text;
use pygpu_layout::{Dense, Dims, Layout, MemoryOrder, broadcast_shapes};
use pygpu_memory::Allocation;
use pygpu_ops::ufunc::UfuncEntry;

/// The arrays for the results: new ones, and given ones. A new one is created as an object, because a move of an array costs more
/// than its construction.
pub(super) type Results<'py> = SmallVec<[Bound<'py, GpuArray>; 2]>;

/// Iterates over the layouts of the operands and of the mask.
#[inline]
fn layouts<'v>(
    values: &'v OperandValues<'_, '_>,
    wish: &'v UfuncKeywords<'_>,
) -> impl Iterator<Item = &'v Layout> + Clone {
    let mask = wish.mask.iter().map(|mask| mask.get().layout());
    values.iter().filter_map(UfuncOperand::array).map(DeferredArray::layout).chain(mask)
}

/// Returns the device of all arrays of a call.
#[inline(always)] // two callers, each short
pub(super) fn common_device(
    row: &UfuncEntry,
    values: &OperandValues<'_, '_>,
    wish: &UfuncKeywords<'_>,
) -> PyResult<Device> {
    let mut found: Option<Device> = None;
    let mut meet = |device: Device| match found {
        Some(first) if first != device => Err(devices_differ(row, first, device)),
        _ => {
            found = Some(device);
            Ok(())
        }
    };
    for value in values {
        value.array().map_or(Ok(()), |array| meet(array.device()))?;
    }
    for given in [&wish.out[0], &wish.out[1], &wish.mask] {
        given.as_ref().map_or(Ok(()), |array| meet(array.get().device()))?;
    }
    found.map_or_else(|| Ok(Device::current()?), Ok)
}

#[cold]
fn devices_differ(row: &UfuncEntry, first: Device, second: Device) -> PyErr {
    PyValueError::new_err(format!(
        "{}: the arrays are on {first} and {second}; copy them to one device first, with PyGPU.asarray(a, device='{first}')",
        row.name
    ))
}

/// Returns the shape of a result.
#[inline]
pub(super) fn common_shape(values: &OperandValues<'_, '_>, wish: &UfuncKeywords<'_>) -> PyResult<Dims> {
    let mut all = layouts(values, wish);
    let Some(first) = all.next() else { return Ok(Dims::new()) };
    let mut shape = Dims::new();
    for len in first.shape() {
        shape.push(len); // inlined, unlike `extend`
    }
    if all.all(|other| other.shape().eq(first.shape())) {
        return Ok(shape);
    }
    broadcast(values, wish)
}

#[inline(never)] // keeps the usual path short
fn broadcast(values: &OperandValues<'_, '_>, wish: &UfuncKeywords<'_>) -> PyResult<Dims> {
    let shapes: SmallVec<[Dims; 4]> = layouts(values, wish).map(|one| one.shape().collect()).collect();
    let views: SmallVec<[&[i64]; 4]> = shapes.iter().map(|shape| shape.as_slice()).collect();
    Ok(broadcast_shapes(&views)?)
}

/// Layout of new results.
#[derive(Clone, Copy)]
pub(super) struct ResultLayout<'a> {
    pub(super) shape: &'a [i64],
    pub(super) order: ResultOrder,
}

impl ResultLayout<'_> {
    /// Creates a dense array for a result, in the order of the current stream and in NumPy's memory order of operands and mask.
    #[inline]
    pub(super) fn new_array<'py>(
        self,
        py: Python<'py>,
        values: &OperandValues<'_, '_>,
        wish: &UfuncKeywords<'_>,
        dtype: DType,
        device: Device,
    ) -> PyResult<Bound<'py, GpuArray>> {
        let dense = Dense::of(self.shape, dtype.itemsize() as i64)?;
        let block = device_arrays::new_block(py, dense.bytes(), device)?;
        self.on_block(py, values, wish, (dtype, dense), Arc::new(block))
    }

    /// Creates the same array over an existing block of a given size.
    #[inline]
    pub(super) fn on_block<'py>(
        self,
        py: Python<'py>,
        values: &OperandValues<'_, '_>,
        wish: &UfuncKeywords<'_>,
        (dtype, dense): (DType, Dense<'_>),
        block: Arc<Allocation>,
    ) -> PyResult<Bound<'py, GpuArray>> {
        new_on(py, block, dtype, |layout| Ok(self.set(layout, values, wish, dense)?))
    }

    #[inline]
    fn set(
        self,
        layout: &mut Layout,
        values: &OperandValues<'_, '_>,
        wish: &UfuncKeywords<'_>,
        dense: Dense<'_>,
    ) -> Result<()> {
        let is_f = |layout: &Layout| layout.is_f_contiguous() && !layout.is_c_contiguous();
        let order = match self.order {
            ResultOrder::K if !layouts(values, wish).all(Layout::is_c_contiguous) => {
                let walked: SmallVec<[&Layout; 4]> = layouts(values, wish).collect();
                layout.assign(&Layout::in_k_order(self.shape, &walked, dense.itemsize())?);
                return Ok(());
            }
            ResultOrder::F => MemoryOrder::F,
            ResultOrder::A if values.iter().filter_map(UfuncOperand::array).all(|array| is_f(array.layout())) => {
                MemoryOrder::F
            }
            _ => MemoryOrder::C,
        };
        layout.set_dense(dense, order);
        Ok(())
    }
}

/// Rejects an array that cannot take a result.
///
/// # Errors
/// `ValueError` for a read-only array and for another shape; `TypeError` for another type.
pub(super) fn check_out(
    row: &UfuncEntry,
    place: usize,
    out: &Bound<'_, GpuArray>,
    result: ScalarType,
    shape: &[i64],
    wish: &UfuncKeywords<'_>,
) -> PyResult<()> {
    out.get().check_writable(row.name)?;
    if !wish.casting.allows(result, out.get().dtype().kind()) {
        let place = if row.outputs() > 1 { format!(" {place}") } else { String::new() };
        return Err(PyTypeError::new_err(format!(
            "Cannot cast ufunc '{}' output{place} from dtype('{}') to dtype('{}') with casting rule '{}'",
            row.name,
            DType::new(result).name(),
            out.get().dtype().name(),
            wish.casting.name()
        )));
    }
    if out.get().layout().shape().eq(shape.iter().copied()) {
        return Ok(());
    }
    let own: Dims = out.get().layout().shape().collect();
    let together = broadcast_shapes(&[shape, &own])?;
    if together == own {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
        tuple_text(&own),
        tuple_text(&together)
    )))
}

/// Wraps a new result in the class of the first operand that is a PyGPU array.
#[inline]
pub(super) fn of_class_of<'py>(
    operands: &[&Bound<'py, PyAny>],
    made: Bound<'py, GpuArray>,
) -> PyResult<Bound<'py, GpuArray>> {
    match operands.iter().find_map(|operand| operand.cast::<GpuArray>().ok()) {
        Some(own) if !own.is_exact_instance_of::<GpuArray>() => {
            new_like(own, GpuArray::from_array(made.get().array(made.py())?.clone()))
        }
        _ => Ok(made),
    }
}
