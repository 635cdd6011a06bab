//! One call of a function of the table: operands read, a loop chosen, the result made, the kernel put on the current stream. Arrays in
//! host memory are computed by NumPy, through views of the same memory.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use super::by_numpy::{self, Asked};
pub(crate) use super::keywords::Wish;
use super::on_device::{self, Loop, Wanted};
use super::operand::{self, Value, Values};
use super::result::{self, Lying, Target, Targets};
use crate::array::Array;
use crate::device::Device;
use crate::dtype::{DType, Kind};
use crate::memory::capture;
use crate::ops::ufunc::{self, Host, Operand, Row};
use crate::python::array::class::GpuArray;
use crate::python::array::heritage;
use crate::python::gil::WithoutGil;
use crate::python::host::new;
use crate::stream::{self, Stream};

/// The result of a function, or a tuple of two; `None` if an operand is nothing to compute with.
///
/// # Errors
/// `TypeError`, `ValueError` and `OverflowError` as NumPy's; the driver's.
pub(crate) fn call<'py>(
    py: Python<'py>,
    row: &'static Row,
    operands: &[&Bound<'py, PyAny>],
    wish: &Wish<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut values = Values::new();
    for operand in operands {
        match Value::read(operand)? {
            Some(value) => values.push(value),
            None => return Ok(None),
        }
    }
    let _inherited = heritage::inherit(py, values.iter().filter_map(Value::array))?;
    operand::settle(row, &mut values)?;
    let device = result::common_device(row, &values, wish)?;
    let kind = loop_of(row, &values, wish)?;
    for (place, value) in values.iter().enumerate() {
        value.check(row, place, row.takes(place, kind), wish.casting)?;
    }
    let shape = result::common_shape(&values, wish)?;
    let results = row.results(kind);
    let mut wanted: SmallVec<[Wanted<'_>; 2]> = SmallVec::new();
    for (place, (result, out)) in results.iter().zip(&wish.out).enumerate() {
        wanted.push(match out {
            Some(out) => {
                result::check_out(row, place, out, *result, &shape, wish)?;
                Ok(out.get().array(py)?)
            }
            None => Err(DType::new(*result)),
        });
    }
    let mask = wish.mask.as_ref().map(|mask| mask.get().array(py)).transpose()?;
    let of = Loop { row, kind, device, mask, lying: Lying { shape: &shape, order: wish.order } };
    let mut targets = Targets::new();
    compute(py, &of, &mut values, &wanted, wish, &mut targets)?;
    let object = |target, out: &Option<Bound<'py, GpuArray>>| -> PyResult<Bound<'py, PyAny>> {
        Ok(match (target, out) {
            (Target::New(array), _) => result::wrap(py, operands, array)?.into_any(),
            (Target::Given(_), Some(out)) => out.clone().into_any(),
            (Target::Given(_), None) => py.None().into_bound(py),
        })
    };
    // Arrays are large: one is not moved through a list.
    if targets.len() == 1 {
        return targets.pop().map(|target| object(target, &wish.out[0])).transpose();
    }
    let mut objects: SmallVec<[Bound<'py, PyAny>; 2]> = SmallVec::new();
    for (target, out) in targets.into_iter().zip(&wish.out) {
        objects.push(object(target, out)?);
    }
    Ok(Some(PyTuple::new(py, objects)?.into_any()))
}

/// The kind of the loop of a call.
#[inline(always)] // two callers since products are there, each short
pub(super) fn loop_of(row: &'static Row, values: &Values<'_, '_>, wish: &Wish<'_>) -> PyResult<Kind> {
    let mut kinds: SmallVec<[Operand; 4]> = SmallVec::new();
    for value in values {
        kinds.push(value.operand());
    }
    let found = match wish.dtype {
        None => ufunc::resolve(row, &kinds),
        Some(dtype) => ufunc::resolve_to(row, &kinds, dtype),
    };
    found.ok_or_else(|| no_loop(row, values, wish))
}

#[cold]
fn no_loop(row: &Row, values: &Values<'_, '_>, wish: &Wish<'_>) -> PyErr {
    let names: Vec<&str> = values.iter().map(Value::name).collect();
    let names = names.join(", ");
    let is_bool = values.iter().all(|value| value.operand() == Operand::Strong(Kind::Bool));
    PyTypeError::new_err(match (wish.dtype, row.name) {
        (Some(dtype), name) => format!(
            "No loop matching the specified signature and casting was found for ufunc {name} of {names} with dtype={}",
            DType::new(dtype).name()
        ),
        (None, "subtract") if is_bool => {
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the \
                                          `^` operator, or the logical_xor function instead."
                .to_owned()
        }
        (None, "negative") if is_bool => {
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator \
                                          or the logical_not function instead."
                .to_owned()
        }
        (None, name) => format!(
            "ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any supported types \
             according to the casting rule ''safe'': {names}"
        ),
    })
}

/// Computes the results where the arrays are.
#[inline]
fn compute<'a>(
    py: Python<'_>,
    of: &Loop<'_>,
    values: &mut Values<'a, '_>,
    wanted: &[Wanted<'a>],
    wish: &Wish<'_>,
    targets: &mut Targets<'a>,
) -> PyResult<()> {
    // NumPy computes now; what is captured is computed when its graph is launched, by a kernel.
    if !of.device.is_cpu() || capture::is_capturing(&stream::current(of.device))? {
        return on_device::run(py, of, values, wanted, targets);
    }
    if of.row.host == Host::Kernel && has_compiler(of.device) {
        return on_device::run(py, of, values, wanted, targets);
    }
    {
        let mut arrays: SmallVec<[&Array; 4]> = SmallVec::new();
        arrays.extend(values.iter().filter_map(Value::array));
        for one in wanted {
            targets.push(match one {
                Ok(array) => Target::Given(array),
                Err(dtype) => Target::New(new_on_host(py, of, &arrays, *dtype)?),
            });
        }
    }
    let asked = Asked { row: of.row, dtype: wish.dtype, casting: wish.casting, mask: of.mask };
    by_numpy::run(py, &asked, values, targets)
}

/// Whether host memory can be computed on by a compiled kernel.
fn has_compiler(device: Device) -> bool {
    device.backend().programs().is_ok_and(|programs| programs.compiler(&[]).is_ok())
}

#[inline]
fn new_on_host(py: Python<'_>, of: &Loop<'_>, operands: &[&Array], dtype: DType) -> PyResult<Array> {
    let make = |stream| of.lying.new_array(operands, of.mask, dtype, stream);
    match new::is_process_memory(of.device) {
        true => Ok(make(Stream::default_of(of.device))?),
        false => Ok(py.without_gil(|| make(stream::current(of.device)))?),
    }
}
