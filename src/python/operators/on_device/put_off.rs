//! A call whose result is made later, together with what comes next: `ops::expression`.

use std::sync::Arc;

use pyo3::prelude::*;
use smallvec::SmallVec;

use super::super::keywords::Wish;
use super::super::operand::{self, Value, Values};
use super::super::result::Lying;
use crate::array::Array;
use crate::deferral::Cause;
use crate::device::Device;
use crate::dtype::{DType, Kind};
use crate::kernel::Arguments;
use crate::memory::Allocation;
use crate::ops::expression::{self, Input, Mode, Node, Refused, Scalar};
use crate::ops::ufunc::Row;
use crate::python::array::class::GpuArray;
use crate::python::deferral;
use crate::stream;

/// The result of a call that can wait; `None` for one that is launched by its line.
///
/// # Errors
/// `OverflowError` and others of numbers; the driver's, of what waited.
#[inline]
pub(in crate::python::operators) fn result<'py>(
    py: Python<'py>,
    (row, kind, device): (&'static Row, Kind, Device),
    values: &Values<'_, 'py>,
    shape: &[i64],
    wish: &Wish<'py>,
    operands: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    if device.is_cpu() {
        return Ok(None);
    }
    let mode = expression::current()?;
    if let Some(why) = refusal(mode, row, values, shape, wish, operands) {
        expression::refused(why);
        return Ok(None);
    }
    let stream = stream::current(device);
    if !Allocation::may_be_put_off(&stream) {
        expression::refused(Refused::Place);
        return Ok(None);
    }
    let Some(result) = row.group(kind).map(|group| DType::new(group.output.of(kind))) else { return Ok(None) };
    let bytes = crate::layout::Layout::bytes_of(shape, result.itemsize() as i64)? as usize;
    let mut inputs: SmallVec<[Input; 3]> = SmallVec::new();
    for (place, value) in values.iter().enumerate() {
        inputs.push(match value {
            Value::Own(array) => Input::Array(Array::clone(array)),
            Value::Held { .. } => return Ok(None),
            Value::Number { object, .. } => {
                let mut number = Arguments::new();
                operand::push(&mut number, row.takes(place, kind), object)?;
                let mut scalar = Scalar::new(&[]);
                number.each(|bytes| scalar = Scalar::new(bytes));
                Input::Value(scalar)
            }
        });
    }
    let block = Arc::new(Allocation::put_off(bytes, stream.clone()));
    let lying = Lying { shape, order: wish.order };
    let made = lying.on_block(py, values, wish, result, Arc::clone(&block))?;
    let layout = made.get().layout().clone();
    let node = Node { row, kind, inputs, layout, dtype: result, stream, result: Arc::downgrade(&block) };
    push(py, Box::new(node), &block)?;
    Ok(Some(made))
}

fn push(py: Python<'_>, mut node: Box<Node>, block: &Arc<Allocation>) -> PyResult<()> {
    loop {
        match expression::push(node, block) {
            Ok(None) => return Ok(()),
            Ok(Some(full)) => return deferral::close(py, full),
            // Another thread launches an operand just now.
            Err(back) => {
                node = back;
                deferral::close(py, Cause::Operation)?;
            }
        }
    }
}

/// Why a call cannot wait.
#[inline]
fn refusal(
    mode: Mode,
    row: &Row,
    values: &Values<'_, '_>,
    shape: &[i64],
    wish: &Wish<'_>,
    operands: &[&Bound<'_, PyAny>],
) -> Option<Refused> {
    if mode == Mode::Off {
        return Some(Refused::Off);
    }
    let is_exact = |operand: &&Bound<'_, PyAny>| {
        operand.is_exact_instance_of::<GpuArray>() || !operand.is_instance_of::<GpuArray>()
    };
    let is_plain = wish.out[0].is_none() && wish.out[1].is_none() && wish.mask.is_none() && row.outputs() == 1;
    if !is_plain || shape.contains(&0) || !operands.iter().all(is_exact) {
        return Some(Refused::Form);
    }
    values.iter().filter_map(|value| match value {
        Value::Own(array) => Some((*array, false)),
        Value::Held { array, .. } => Some((&**array, true)),
        Value::Number { .. } => None,
    }).find_map(|(array, is_held)| unreachable_for_others(mode, array, is_held))
}

/// Why an operand may change before the kernel reads it, or cannot be read as it is.
#[inline]
fn unreachable_for_others(mode: Mode, array: &Array, is_held: bool) -> Option<Refused> {
    let block = array.allocation();
    if is_held || (!block.is_own() && mode != Mode::Trust) {
        return Some(Refused::Foreign);
    }
    if mode != Mode::Trust && !block.is_private() {
        return Some(Refused::Exposed);
    }
    (!is_aligned(array)).then_some(Refused::Form)
}

/// Whether each element lies where a device reads it at once; one whose memory was put off does.
#[inline]
fn is_aligned(array: &Array) -> bool {
    let layout = array.layout();
    let itemsize = layout.itemsize();
    let first = array.allocation().address() as i64 + layout.offset();
    let places = match layout.is_c_contiguous() {
        true => first,
        false => layout.strides().fold(first, |places, stride| places | stride),
    };
    places & (itemsize - 1) == 0
}
