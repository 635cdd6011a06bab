//! Creates the error messages for rejected kernel arguments. The messages contain the name of the kernel, the position
//! of the argument, the declaration of the parameter, and a remedy.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::class::GpuArray;
use crate::py_once::intern;
use crate::runtime::device_memory::DeviceAllocation;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_kernel::{Element, Function, Parameter, ParameterKind};
use pygpu_layout::tuple_text;
use pygpu_memory::Allocation;

/// Formats the numbers of expected and of passed arguments, for an error message.
pub(crate) fn counts(expected: usize, count: usize) -> String {
    let noun = if expected == 1 { "argument" } else { "arguments" };
    let verb = if count == 1 { "was" } else { "were" };
    format!("takes {expected} {noun}, and {count} {verb} given")
}

#[cold]
pub(crate) fn wrong_count(function: &Function, parameters: &[Parameter], count: usize) -> PyErr {
    let list: Vec<String> = parameters.iter().map(ToString::to_string).filter(|text| !text.is_empty()).collect();
    PyTypeError::new_err(format!("{}({}) {}", function.name(), list.join(", "), counts(parameters.len(), count)))
}

/// Returns whether a pointer parameter accepts arrays of a dtype.
fn fits_element(parameter: Option<&Parameter>, dtype: DType) -> bool {
    match parameter.map(|parameter| parameter.kind) {
        Some(ParameterKind::Pointer { element, .. }) => element.takes(dtype),
        _ => true,
    }
}

#[cold]
pub(crate) fn array(label: &str, function: &Function, parameter: Option<&Parameter>, array: &Array) -> PyErr {
    let name = array.dtype().name();
    match parameter.map(|parameter| parameter.kind) {
        _ if array.device() != function.device() => PyValueError::new_err(format!(
            "{label}: the array is on {}, and the kernel on {}; copy it there first, with PyGPU.asarray(a, device='{}')",
            array.device(),
            function.device(),
            function.device()
        )),
        Some(ParameterKind::Scalar(_) | ParameterKind::Bytes(_)) => PyTypeError::new_err(format!(
            "{label}: the argument is an array of {name}; expected a number; write x.item() for the value of one element"
        )),
        Some(ParameterKind::Pointer { element: Element::Named(kind) | Element::Vector(kind, _), .. })
            if !fits_element(parameter, array.dtype()) =>
        {
            let expected = DType::new(kind).name();
            let method = if array.dtype().kind() == ScalarType::Opaque { "view" } else { "astype" };
            PyTypeError::new_err(format!(
                "{label}: the array is {name}; expected {expected}; write x.{method}('{expected}')"
            ))
        }
        Some(ParameterKind::Pointer { constant: false, .. }) if array.readonly() => readonly(label),
        _ => PyValueError::new_err(format!(
            "{label}: the array is not contiguous (shape {}, strides {}), and a kernel sees only the address; pass a \
             copy(), or strided=True in the call if the kernel knows the strides",
            tuple_text(array.layout().shape()),
            tuple_text(array.layout().strides())
        )),
    }
}

#[cold]
pub(crate) fn readonly(label: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{label}: the array is read-only, and the kernel may write there; declare the parameter const, or pass a copy()"
    ))
}

#[cold]
pub(crate) fn scalar(label: &str, parameter: Option<&Parameter>, dtype: DType, value: &Bound<'_, PyAny>) -> PyErr {
    let advice = match parameter.map(|parameter| parameter.kind) {
        Some(ParameterKind::Scalar(expected)) => {
            let name = DType::new(expected).name().to_owned();
            format!("write numpy.{}({value})", if expected == ScalarType::Bool { "bool_".to_owned() } else { name })
        }
        Some(ParameterKind::Bytes(size)) => format!("the parameter has {size} bytes"),
        _ => "the parameter is a pointer".to_owned(),
    };
    PyTypeError::new_err(format!(
        "{label}: the argument is {}({value}) of {} bytes; {advice}",
        dtype.name(),
        dtype.itemsize()
    ))
}

/// Creates the error for a value whose size differs from the parameter's size.
#[cold]
pub(crate) fn bytes(label: &str, value: &Bound<'_, PyAny>, size: usize, expected: usize) -> PyResult<PyErr> {
    let class = value.get_type().fully_qualified_name()?;
    let dtype = value.getattr_opt(intern!(value.py(), "dtype"))?;
    let has_flag = |name| dtype.as_ref().and_then(|dtype| dtype.getattr(name).ok()?.is_truthy().ok()).unwrap_or(false);
    let advice = match has_flag("names") && !has_flag("isalignedstruct") {
        true => {
            "; C lays the fields of a struct out where they are aligned: make the dtype, and those in it, with align=True"
        }
        false => "",
    };
    Ok(PyTypeError::new_err(format!("{label}: {class} has {size} bytes, and the parameter {expected}{advice}")))
}

/// Describes the argument whose memory block a kernel overran, for an error message.
#[cold]
pub(crate) fn describe_block(args: &Bound<'_, PyTuple>, block: &Arc<Allocation>) -> String {
    let describe_argument = |(position, value): (usize, Bound<'_, PyAny>)| {
        if let Ok(memory) = value.cast::<DeviceAllocation>() {
            let is_same_block = memory.get().block().is_ok_and(|other_block| Arc::ptr_eq(&other_block, block));
            return is_same_block.then(|| format!("of argument {}, memory of {} bytes", position + 1, block.bytes()));
        }
        let array = value.cast::<GpuArray>().ok()?.get().array(args.py()).ok()?.clone();
        Arc::ptr_eq(array.allocation(), block).then(|| {
            let (shape, dtype) = (tuple_text(array.layout().shape()), array.dtype().name());
            format!("of argument {}, an array of shape {shape} and {dtype}", position + 1)
        })
    };
    args.iter().enumerate().find_map(describe_argument).unwrap_or_else(|| "of a block that it was given".to_owned())
}
