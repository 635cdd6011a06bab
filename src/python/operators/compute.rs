//! One call of a function of the table: operands read, a loop chosen, the result made, the kernel put on the current stream. Arrays in
//! host memory are computed by NumPy, through views of the same memory.

use std::sync::Arc;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyList, PyTuple};
use smallvec::SmallVec;

use crate::array::Array;
use crate::device::Device;
use crate::dtype::{DType, Kind};
use crate::kernel::Arguments;
use crate::layout::{self, Dims, Layout, broadcast_shapes};
use crate::memory::{capture, pending};
use crate::ops::ufunc::{self, Given, Operand, Row};
use crate::python::array::class::{GpuArray, new_exact, new_like};
use crate::python::convert::{dtype, ndarray};
use crate::python::exchange::import;
use crate::python::gil::WithoutGil;
use crate::python::host::{cpu_view, new, transfer};
use crate::python::kernel::call::values;
use crate::python::once::intern;
use crate::stream;

/// One operand.
enum Value<'py> {
    Array { array: Array, is_foreign: bool },
    Number { object: Bound<'py, PyAny>, kind: Operand },
}

impl<'py> Value<'py> {
    /// What an object is beside an array; `None` for what NumPy would not compute with.
    ///
    /// # Errors
    /// `TypeError` for an ndarray with axes, whose values are on the host.
    fn read(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let number = |kind| Ok(Some(Self::Number { object: object.clone(), kind }));
        if let Ok(own) = object.cast::<GpuArray>() {
            let array = own.get().array(object.py())?.clone();
            return Ok(Some(Self::Array { array, is_foreign: false }));
        }
        if object.is_instance_of::<PyBool>() {
            return number(Operand::Strong(Kind::Bool));
        }
        if let Some((kind, _)) = values::numpy_scalar(object) {
            return number(Operand::Strong(kind));
        }
        if object.is_instance_of::<PyInt>() {
            return number(Operand::Int);
        }
        if object.is_instance_of::<PyFloat>() {
            return number(Operand::Float);
        }
        if object.is_instance_of::<PyComplex>() {
            return number(Operand::Complex);
        }
        if let Ok(host) = object.cast::<PyUntypedArray>() {
            if host.ndim() > 0 {
                return Err(PyTypeError::new_err(format!(
                    "an ndarray of shape {:?} is in host memory, and the other operand on a device; copy it there first, with \
                     PyGPU.to_gpu(x)",
                    host.shape()
                )));
            }
            let kind = dtype::from_numpy(host.dtype().as_any())?.kind();
            return number(Operand::Strong(kind));
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return Err(PyTypeError::new_err(
                "the values of a list or tuple are in host memory, and the other operand on a device; copy them there first, with \
                 PyGPU.to_gpu(x)",
            ));
        }
        if values::is_generic(object) {
            let kind = dtype::from_numpy(&object.getattr(intern!(object.py(), "dtype"))?)?.kind();
            return number(Operand::Strong(kind));
        }
        Ok(import::device_array(object)?.map(|array| Self::Array { array, is_foreign: true }))
    }

    fn array(&self) -> Option<&Array> {
        match self {
            Self::Array { array, .. } => Some(array),
            Self::Number { .. } => None,
        }
    }

    fn operand(&self) -> Operand {
        match self {
            Self::Array { array, .. } => Operand::Strong(array.dtype().kind()),
            Self::Number { kind, .. } => *kind,
        }
    }

    fn name(&self) -> &'static str {
        match self.operand() {
            Operand::Strong(kind) => DType::new(kind).name(),
            Operand::Int => "int",
            Operand::Float => "float",
            Operand::Complex => "complex",
        }
    }
}

/// What goes with the operands of a call.
#[derive(Default)]
pub(crate) struct Wish<'py> {
    /// Where the result goes.
    pub(crate) out: Option<Bound<'py, GpuArray>>,
    /// Where it is written: an array of bools.
    pub(crate) mask: Option<Bound<'py, GpuArray>>,
}

impl<'py> Wish<'py> {
    /// From the keywords of a call; `None` if they name an array of somebody else.
    ///
    /// # Errors
    /// `TypeError` for keywords that are not understood.
    pub(crate) fn read(row: &Row, keywords: &Bound<'py, PyDict>) -> PyResult<Option<Self>> {
        let mut wish = Self::default();
        for (key, value) in keywords {
            let key: String = key.extract()?;
            if value.is_none() {
                continue;
            }
            match key.as_str() {
                "out" => {
                    let only = match value.cast::<PyTuple>() {
                        Ok(outs) if outs.len() == 1 => outs.get_item(0)?,
                        _ => value,
                    };
                    let Ok(own) = only.cast_into::<GpuArray>() else { return Ok(None) };
                    wish.out = Some(own);
                }
                "where" if value.is_instance_of::<PyBool>() && value.is_truthy()? => {}
                "where" => {
                    let Ok(own) = value.cast_into::<GpuArray>() else { return Ok(None) };
                    if own.get().dtype().kind() != Kind::Bool {
                        return Err(PyTypeError::new_err(format!(
                            "{}: where= is an array of bool, not {}",
                            row.name,
                            own.get().dtype().name()
                        )));
                    }
                    wish.mask = Some(own);
                }
                "casting" if value.eq("same_kind")? => {}
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "{}: the keyword {other} is not understood by PyGPU yet; out and where are",
                        row.name
                    )));
                }
            }
        }
        Ok(Some(wish))
    }
}

/// The result of a function; `None` if an operand is nothing to compute with.
///
/// # Errors
/// `TypeError`, `ValueError` and `OverflowError` as NumPy's; the driver's.
pub(crate) fn call<'py>(
    py: Python<'py>,
    row: &'static Row,
    operands: &[&Bound<'py, PyAny>],
    wish: &Wish<'py>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let mut read: SmallVec<[Value<'py>; 2]> = SmallVec::new();
    for operand in operands {
        match Value::read(operand)? {
            Some(value) => read.push(value),
            None => return Ok(None),
        }
    }
    compare_with_any_integer(row, &mut read)?;
    ask_numbers_for_truth(row, &mut read)?;
    let device = common_device(row, &read, wish)?;
    let kinds: SmallVec<[Operand; 2]> = read.iter().map(Value::operand).collect();
    let Some(kind) = ufunc::resolve(row, &kinds) else {
        let names: Vec<&str> = read.iter().map(Value::name).collect();
        return Err(PyTypeError::new_err(format!(
            "{}: there is no loop for operands of {}",
            row.name,
            names.join(", ")
        )));
    };
    for (place, value) in read.iter().enumerate() {
        check_number(row, place, value, kind)?;
    }
    let result = row.group(kind).map_or(kind, |group| group.result(kind));
    let out = match &wish.out {
        Some(out) => {
            check_out(row, out, result, &read, wish)?;
            out.clone()
        }
        None => {
            let layout = layout_of_result(&read, wish, DType::new(result))?;
            let made = GpuArray::from_array(new::new_dense(py, layout, DType::new(result), device)?);
            match operands.iter().find_map(|operand| operand.cast::<GpuArray>().ok()) {
                Some(own) => new_like(own, made)?,
                None => new_exact(py, made)?,
            }
        }
    };
    // NumPy computes now; what is captured is computed when its graph is launched, by a kernel.
    if device.is_cpu() && !capture::is_capturing(&stream::current(device))? {
        by_numpy(py, row, &read, &out, wish)?;
    } else {
        on_device(py, row, kind, read, &out, wish)?;
    }
    Ok(Some(out))
}

/// An integer that the other operand's type does not hold compares as infinity, which is right for all but equal ones, of which
/// there are none.
fn compare_with_any_integer(row: &Row, values: &mut [Value<'_>]) -> PyResult<()> {
    let is_comparison = matches!(row.name, "equal" | "not_equal" | "less" | "less_equal" | "greater" | "greater_equal");
    let other = values.iter().find_map(|value| match value.operand() {
        Operand::Strong(kind) => Some(kind),
        _ => None,
    });
    let (true, Some(other)) = (is_comparison, other) else { return Ok(()) };
    for value in values {
        let Value::Number { object, kind: kind @ Operand::Int } = value else { continue };
        if values::is_integer(other) && other != Kind::Bool && !values::is_in_range(other, object) {
            let sign = if object.lt(0)? { f64::NEG_INFINITY } else { f64::INFINITY };
            *object = PyFloat::new(object.py(), sign).into_any();
            *kind = Operand::Strong(Kind::Float64);
        }
    }
    Ok(())
}

/// Of a number a logical function needs the truth only, whatever its range.
fn ask_numbers_for_truth(row: &Row, values: &mut [Value<'_>]) -> PyResult<()> {
    if !row.name.starts_with("logical_") {
        return Ok(());
    }
    for value in values {
        if let Value::Number { object, kind } = value {
            *object = PyBool::new(object.py(), object.is_truthy()?).to_owned().into_any();
            *kind = Operand::Strong(Kind::Bool);
        }
    }
    Ok(())
}

/// Refuses Python's integers that the loop's type does not hold, and powers that are no integers.
fn check_number(row: &Row, place: usize, value: &Value<'_>, kind: Kind) -> PyResult<()> {
    let Value::Number { object, kind: Operand::Int } = value else { return Ok(()) };
    if !values::is_integer(kind) || kind == Kind::Bool {
        return Ok(());
    }
    if !values::is_in_range(kind, object) {
        let name = DType::new(kind).name();
        return Err(PyOverflowError::new_err(format!("Python integer {object} out of bounds for {name}")));
    }
    match row.name == "power" && place == 1 && object.lt(0)? {
        true => Err(PyValueError::new_err("Integers to negative integer powers are not allowed.")),
        false => Ok(()),
    }
}

/// The device of all arrays of a call.
fn common_device(row: &Row, values: &[Value<'_>], wish: &Wish<'_>) -> PyResult<Device> {
    let mut found: Option<Device> = None;
    let given = values.iter().filter_map(Value::array).map(Array::device);
    let wished = [&wish.out, &wish.mask].into_iter().flatten().map(|array| array.get().device());
    for device in given.chain(wished) {
        match found {
            Some(first) if first != device => {
                return Err(PyValueError::new_err(format!(
                    "{}: the arrays are on {first} and {device}; copy them to one device first, with PyGPU.asarray(a, \
                     device='{first}')",
                    row.name
                )));
            }
            _ => found = Some(device),
        }
    }
    found.map_or_else(|| Ok(Device::current()?), Ok)
}

/// The shapes of all that is walked, together.
fn common_shape(values: &[Value<'_>], wish: &Wish<'_>) -> PyResult<Dims> {
    let mut shapes: SmallVec<[Dims; 3]> =
        values.iter().filter_map(Value::array).map(|one| one.layout().shape().collect()).collect();
    if let Some(mask) = &wish.mask {
        shapes.push(mask.get().layout().shape().collect());
    }
    let views: SmallVec<[&[i64]; 3]> = shapes.iter().map(|shape| shape.as_slice()).collect();
    Ok(broadcast_shapes(&views)?)
}

/// Dense, and in NumPy's order of all that is walked.
fn layout_of_result(values: &[Value<'_>], wish: &Wish<'_>, dtype: DType) -> PyResult<Layout> {
    let shape = common_shape(values, wish)?;
    let mut walked: SmallVec<[&Layout; 4]> = values.iter().filter_map(Value::array).map(Array::layout).collect();
    walked.extend(wish.mask.as_ref().map(|mask| mask.get().layout()));
    Ok(Layout::in_k_order(&shape, &walked, dtype.itemsize() as i64)?)
}

fn check_out(
    row: &Row,
    out: &Bound<'_, GpuArray>,
    result: Kind,
    values: &[Value<'_>],
    wish: &Wish<'_>,
) -> PyResult<()> {
    out.get().check_writable(row.name)?;
    if !ufunc::can_cast_same_kind(result, out.get().dtype().kind()) {
        return Err(PyTypeError::new_err(format!(
            "Cannot cast ufunc '{}' output from dtype('{}') to dtype('{}') with casting rule 'same_kind'",
            row.name,
            DType::new(result).name(),
            out.get().dtype().name()
        )));
    }
    let (shape, own) = (common_shape(values, wish)?, out.get().layout().shape().collect::<Dims>());
    let together = broadcast_shapes(&[&shape, &own])?;
    if together == own {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{}: the output has shape {:?} and the operands together {:?}",
        row.name,
        own.as_slice(),
        shape.as_slice()
    )))
}

fn by_numpy(
    py: Python<'_>,
    row: &Row,
    values: &[Value<'_>],
    out: &Bound<'_, GpuArray>,
    wish: &Wish<'_>,
) -> PyResult<()> {
    let mut operands = Vec::with_capacity(values.len());
    for value in values {
        operands.push(match value {
            Value::Array { array, .. } => cpu_view::view_with_owner(py, array, py.None().into_bound(py))?.into_any(),
            Value::Number { object, .. } => object.clone(),
        });
    }
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "out"), cpu_view::view(out)?)?;
    if let Some(mask) = &wish.mask {
        keywords.set_item(intern!(py, "where"), cpu_view::view(mask)?)?;
    }
    let function = ndarray::numpy(py)?.getattr(row.name)?;
    function.call(PyTuple::new(py, operands)?, Some(&keywords))?;
    Ok(())
}

/// An operand that shares bytes with the result other than element by element, as a copy of its own.
fn apart_from(py: Python<'_>, array: Array, out: &Array) -> PyResult<Array> {
    if !shares_bytes(&array, out) || is_same_place(&array, out) {
        return Ok(array);
    }
    transfer::device_copy_like(py, &array)
}

/// Whether two arrays may share a byte; those of two blocks do where both are the memory of somebody else.
fn shares_bytes(one: &Array, other: &Array) -> bool {
    if Arc::ptr_eq(one.allocation(), other.allocation()) {
        return layout::overlap(one.layout(), other.layout());
    }
    let reach = |array: &Array| {
        let first = array.allocation().address() as i128;
        array.layout().extent().map(|(low, high)| (first + i128::from(low), first + i128::from(high)))
    };
    matches!((reach(one), reach(other)), (Some(one), Some(other)) if one.0 < other.1 && other.0 < one.1)
}

/// Whether each element of one is that of the other.
fn is_same_place(one: &Array, other: &Array) -> bool {
    let (first, second) = (one.layout(), other.layout());
    one.address() == other.address()
        && first.itemsize() == second.itemsize()
        && first.shape().eq(second.shape())
        && first.strides().eq(second.strides())
}

fn on_device<'py>(
    py: Python<'py>,
    row: &'static Row,
    kind: Kind,
    values: SmallVec<[Value<'py>; 2]>,
    out: &Bound<'py, GpuArray>,
    wish: &Wish<'py>,
) -> PyResult<()> {
    let target = out.get().array(py)?;
    let mut given: SmallVec<[Given; 3]> = SmallVec::new();
    let mut arrays: SmallVec<[Array; 4]> = SmallVec::new();
    let mut arguments = Arguments::new();
    let mut keeps = false;
    for value in values {
        match value {
            Value::Array { array, is_foreign } => {
                given.push(Given::Array(array.dtype().kind()));
                keeps |= is_foreign;
                arrays.push(apart_from(py, array, target)?);
            }
            Value::Number { object, .. } => {
                given.push(Given::Value);
                push_value(&mut arguments, kind, &object)?;
            }
        }
    }
    if let Some(mask) = &wish.mask {
        arrays.push(apart_from(py, mask.get().array(py)?.clone(), target)?);
    }
    arrays.push(target.clone());
    let stream = stream::current(target.device());
    let kernel = ufunc::kernel(row, kind, &given, target.dtype().kind(), wish.mask.is_some())?;
    let views: SmallVec<[&Array; 4]> = arrays.iter().collect();
    let plan = kernel.plan(&views, false)?;
    // SAFETY: the kernel was made for operands of these kinds, and the plan is of them.
    py.without_gil(|| unsafe { kernel.run(&plan, &views, arguments, None, &stream) })?;
    if keeps {
        drop(views);
        py.without_gil(|| pending::keep_until_passed(&stream, Box::new(arrays)))?;
    }
    Ok(())
}

/// A number as a value of the loop's kind.
fn push_value(arguments: &mut Arguments, kind: Kind, object: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Some((own, bytes)) = values::numpy_scalar(object)
        && own == kind
    {
        arguments.push(bytes);
        return Ok(());
    }
    let py = object.py();
    let is_numpys = values::is_generic(object) || object.cast::<PyUntypedArray>().is_ok();
    let plain = if is_numpys { object.call_method0(intern!(py, "item"))? } else { object.clone() };
    let plain = if plain.is_instance_of::<PyBool>() && kind != Kind::Bool {
        py.get_type::<PyInt>().call1((plain,))?
    } else {
        plain
    };
    if values::push_number(arguments, kind, &plain)? {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!("{object} is no {}", DType::new(kind).name())))
}
