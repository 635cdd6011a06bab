//! Determines the device and the layout of the results of a ufunc call, and checks output arrays that the caller
//! passed.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use super::operand::{OperandValues, UfuncOperand};
use super::ufunc_keywords::{ResultOrder, UfuncKeywords};
use crate::array::class::{GpuArray, new_like, new_on};
use crate::host_transfers::device_arrays;
use pygpu_array::DeferredArray;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_layout::tuple_text;
use pygpu_layout::{Dense, Dims, Layout, MemoryOrder, broadcast_shapes};
use pygpu_memory::Allocation;
use pygpu_ops::ufunc::UfuncEntry;

/// Arrays for the results of a ufunc call: new arrays, and output arrays of the caller. A new array is created directly
/// inside its Python object, because moving it there would cost more than its construction.
pub(super) type Results<'py> = SmallVec<[Bound<'py, GpuArray>; 2]>;

/// Iterates over the layouts of a call's array operands and of its mask.
#[inline]
fn layouts<'v>(
    values: &'v OperandValues<'_, '_>,
    keywords: &'v UfuncKeywords<'_>,
) -> impl Iterator<Item = &'v Layout> + Clone {
    let mask = keywords.mask.iter().map(|mask| mask.get().layout());
    values.iter().filter_map(UfuncOperand::array).map(DeferredArray::layout).chain(mask)
}

/// Returns the device of all arrays of a call, or the current device if the call has no array. If the arrays are on
/// different devices, the call is rejected.
#[inline(always)] // inlined, which adds little code, because there are two callers
pub(super) fn common_device(
    entry: &UfuncEntry,
    values: &OperandValues<'_, '_>,
    keywords: &UfuncKeywords<'_>,
) -> PyResult<Device> {
    let mut common: Option<Device> = None;
    let mut check = |device: Device| match common {
        Some(first) if first != device => Err(devices_differ(entry, first, device)),
        _ => {
            common = Some(device);
            Ok(())
        }
    };
    for value in values {
        value.array().map_or(Ok(()), |array| check(array.device()))?;
    }
    for argument in [&keywords.out[0], &keywords.out[1], &keywords.mask] {
        argument.as_ref().map_or(Ok(()), |array| check(array.get().device()))?;
    }
    common.map_or_else(|| Ok(Device::current()?), Ok)
}

#[cold]
fn devices_differ(entry: &UfuncEntry, first: Device, second: Device) -> PyErr {
    PyValueError::new_err(format!(
        "{}: the arrays are on {first} and {second}; copy them to one device first, with PyGPU.asarray(a, device='{first}')",
        entry.name
    ))
}

/// Returns the shape of the results of a call.
#[inline(always)] // inlined, which adds no code, because there is one caller
pub(super) fn common_shape(values: &OperandValues<'_, '_>, keywords: &UfuncKeywords<'_>) -> PyResult<Dims> {
    let mut all = layouts(values, keywords);
    let Some(first) = all.next() else { return Ok(Dims::new()) };
    let mut shape = Dims::new();
    for len in first.shape() {
        shape.push(len); // `push` is inlined, unlike `extend`
    }
    if all.all(|other| other.shape().eq(first.shape())) {
        return Ok(shape);
    }
    broadcast(values, keywords)
}

#[inline(never)] // keeps broadcasting, which is rare, out of the inlined `common_shape`
fn broadcast(values: &OperandValues<'_, '_>, keywords: &UfuncKeywords<'_>) -> PyResult<Dims> {
    let shapes: SmallVec<[Dims; 4]> = layouts(values, keywords).map(|layout| layout.shape().collect()).collect();
    let views: SmallVec<[&[i64]; 4]> = shapes.iter().map(|shape| shape.as_slice()).collect();
    Ok(broadcast_shapes(&views)?)
}

/// The shape and the memory order that new arrays for results get.
#[derive(Clone, Copy)]
pub(super) struct ResultLayout<'a> {
    pub(super) shape: &'a [i64],
    pub(super) order: ResultOrder,
}

impl ResultLayout<'_> {
    /// Creates a dense array for a result, allocated on the current stream. The memory order of the array follows from
    /// the memory orders of the operands and the mask, by NumPy's rules.
    #[inline(always)] // inlined, which adds little code, because there are two callers
    pub(super) fn new_array<'py>(
        self,
        py: Python<'py>,
        values: &OperandValues<'_, '_>,
        keywords: &UfuncKeywords<'_>,
        dtype: DType,
        device: Device,
    ) -> PyResult<Bound<'py, GpuArray>> {
        let dense = Dense::of(self.shape, dtype.itemsize() as i64)?;
        let block = device_arrays::new_block(py, dense.bytes(), device)?;
        self.on_block(py, values, keywords, (dtype, dense), block)
    }

    /// Creates an array with the layout that [`Self::new_array`] gives its arrays, but in an existing memory block.
    #[inline(never)] // so that the code that sets the layout is inlined here, and exists once for both callers
    pub(super) fn on_block<'py>(
        self,
        py: Python<'py>,
        values: &OperandValues<'_, '_>,
        keywords: &UfuncKeywords<'_>,
        (dtype, dense): (DType, Dense<'_>),
        block: Arc<Allocation>,
    ) -> PyResult<Bound<'py, GpuArray>> {
        new_on(py, block, dtype, |layout| Ok(self.set_layout(layout, values, keywords, dense)?))
    }

    #[inline]
    fn set_layout(
        self,
        layout: &mut Layout,
        values: &OperandValues<'_, '_>,
        keywords: &UfuncKeywords<'_>,
        dense: Dense<'_>,
    ) -> Result<()> {
        let is_f = |layout: &Layout| layout.is_f_contiguous() && !layout.is_c_contiguous();
        let order = match self.order {
            ResultOrder::K if !layouts(values, keywords).all(Layout::is_c_contiguous) => {
                return self.set_k_order(layout, values, keywords, dense);
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

    #[inline(never)] // keeps the memory orders other than C, which are rare, out of the inlined `set_layout`
    fn set_k_order(
        self,
        layout: &mut Layout,
        values: &OperandValues<'_, '_>,
        keywords: &UfuncKeywords<'_>,
        dense: Dense<'_>,
    ) -> Result<()> {
        let operand_layouts: SmallVec<[&Layout; 4]> = layouts(values, keywords).collect();
        layout.assign(&Layout::in_k_order(self.shape, &operand_layouts, dense.itemsize())?);
        Ok(())
    }
}

/// Checks that an output array can contain a result.
///
/// # Errors
/// `ValueError` for a read-only array or a different shape; `TypeError` if the casting rule does not allow the
/// output array's type.
pub(super) fn check_out(
    entry: &UfuncEntry,
    index: usize,
    out: &Bound<'_, GpuArray>,
    result: ScalarType,
    shape: &[i64],
    keywords: &UfuncKeywords<'_>,
) -> PyResult<()> {
    out.get().check_writable(entry.name)?;
    if !keywords.casting.allows(result, out.get().dtype().kind()) {
        let index = if entry.outputs() > 1 { format!(" {index}") } else { String::new() };
        return Err(PyTypeError::new_err(format!(
            "Cannot cast ufunc '{}' output{index} from dtype('{}') to dtype('{}') with casting rule '{}'",
            entry.name,
            DType::new(result).name(),
            out.get().dtype().name(),
            keywords.casting.name()
        )));
    }
    if out.get().layout().shape().eq(shape.iter().copied()) {
        return Ok(());
    }
    let first_array: Dims = out.get().layout().shape().collect();
    let broadcast_shape = broadcast_shapes(&[shape, &first_array])?;
    if broadcast_shape == first_array {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
        tuple_text(&first_array),
        tuple_text(&broadcast_shape)
    )))
}

/// Converts a new result to the class of the first operand that is a PyGPU array, if this is a derived class.
#[inline(always)] // inlined, because the class is nearly always `GPUArray` itself
pub(super) fn into_class_of<'py>(
    operands: &[&Bound<'py, PyAny>],
    new_result: Bound<'py, GpuArray>,
) -> PyResult<Bound<'py, GpuArray>> {
    match operands.iter().find_map(|operand| operand.cast::<GpuArray>().ok()) {
        Some(first_array) if !first_array.is_exact_instance_of::<GpuArray>() => {
            into_derived_class(first_array, &new_result)
        }
        _ => Ok(new_result),
    }
}

#[cold]
#[inline(never)]
fn into_derived_class<'py>(
    like: &Bound<'py, GpuArray>,
    new_result: &Bound<'py, GpuArray>,
) -> PyResult<Bound<'py, GpuArray>> {
    new_like(like, GpuArray::from_array(new_result.get().array(new_result.py())?.clone()))
}
