//! Multiplies matrices and vectors, for the operator `@` and NumPy's functions `matmul`, `matvec`, `vecmat` and
//! `vecdot`. The *core* axes of an array are the axes of its matrix or vector, and all axes before them are batch axes.
//! NumPy multiplies arrays in host memory through ndarrays over the same memory.

mod functions;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::numpy_fallback::{self, NumpyCall};
use super::operand::{OperandValues, UfuncOperand};
use super::ufunc_call::{self, UfuncKeywords};
use super::ufunc_keywords::ResultOrder;
use super::ufunc_launch::{self, Targets};
use super::ufunc_results::{self, ResultLayout};
use crate::array::allocator_inheritance;
use crate::array::class::GpuArray;
use crate::convert::argument_errors;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::host_transfers::transfer;
use crate::py_once::intern;
use pygpu_array::{Array, DeferredArray};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_layout::{Dims, Layout, broadcast_shapes, tuple_text};
use pygpu_memory::stream_captures;
use pygpu_ops::product::{self, Product, ProductFunction, product_table};

pub(super) use functions::register;

type Operands<'a, 'py> = [&'a Bound<'py, PyAny>; 2];

/// Which operands of a product are vectors, and the shape of its result.
struct CoreDimensions {
    are_vectors: [bool; 2],
    /// Shape of the result: batch axes, followed by `count` core axes.
    shape: Dims,
    count: usize,
}

/// Checks the axes of the operands and determines the shape of the result.
fn core_dimensions(function: &ProductFunction, layouts: [&Layout; 2]) -> PyResult<CoreDimensions> {
    let are_vectors = function.are_vectors.unwrap_or_else(|| layouts.map(|layout| layout.ndim() == 1));
    let core_ndims = are_vectors.map(|is_vector| if is_vector { 1 } else { 2 });
    for (index, layout) in layouts.iter().enumerate() {
        // In `matmul`, an operand with one axis is a vector and an operand with more axes is a matrix. Therefore one
        // axis suffices.
        let required = if function.are_vectors.is_some() { core_ndims[index] } else { 1 };
        if layout.ndim() < required {
            return Err(too_few(function, index, layout.ndim(), required));
        }
    }
    let [a, b] = layouts.map(Layout::axes);
    let [batch_a, batch_b] = [a.len() - core_ndims[0], b.len() - core_ndims[1]];
    let (depth, other) = (a[a.len() - 1].len, b[batch_b].len);
    if depth != other {
        return Err(PyValueError::new_err(format!(
            "{}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {} (size {other} is different from {depth})",
            function.row.name, function.signature
        )));
    }
    let mut shape = Dims::new();
    if batch_a + batch_b > 0 {
        let lens = |axes: &[pygpu_layout::Axis]| axes.iter().map(|axis| axis.len).collect::<Dims>();
        shape = broadcast_shapes(&[&lens(&a[..batch_a]), &lens(&b[..batch_b])])?;
    }
    let batch = shape.len();
    shape.extend((!are_vectors[0]).then(|| a[batch_a].len));
    shape.extend((!are_vectors[1]).then(|| b[batch_b + 1].len));
    let count = shape.len() - batch;
    Ok(CoreDimensions { are_vectors, shape, count })
}

#[cold]
fn too_few(function: &ProductFunction, index: usize, ndim: usize, required: usize) -> PyErr {
    PyValueError::new_err(format!(
        "{}: Input operand {index} does not have enough dimensions (has {ndim}, gufunc core with signature {} requires {required})",
        function.row.name, function.signature
    ))
}

/// Checks that an output array can contain the result. The output array may have more batch axes than the operands; the
/// result is then broadcast along these axes.
fn check_out(
    function: &ProductFunction,
    cores: &mut CoreDimensions,
    kind: ScalarType,
    out: &Bound<'_, GpuArray>,
    keywords: &UfuncKeywords<'_>,
) -> PyResult<()> {
    let out_shape: Dims = out.get().layout().shape().collect();
    ufunc_results::check_out(&function.row, 0, out, kind, &out_shape, keywords)?;
    if out_shape == cores.shape {
        return Ok(());
    }
    let (name, signature) = (function.row.name, function.signature);
    if out_shape.len() < cores.count {
        return Err(PyValueError::new_err(format!(
            "{name}: Output operand 0 does not have enough dimensions (has {}, gufunc core with signature {signature} requires {})",
            out_shape.len(),
            cores.count
        )));
    }
    let (batch, core) = out_shape.split_at(out_shape.len() - cores.count);
    let (expected_batch, inner) = cores.shape.split_at(cores.shape.len() - cores.count);
    if let Some(axis) = (0..cores.count).find(|axis| core[*axis] != inner[*axis]) {
        return Err(PyValueError::new_err(format!(
            "{name}: Output operand 0 has a mismatch in its core dimension {axis}, with gufunc signature {signature} (size {} is different \
             from {})",
            core[axis], inner[axis]
        )));
    }
    if broadcast_shapes(&[expected_batch, batch])?.as_slice() != batch {
        return Err(PyValueError::new_err(format!(
            "{name}: an output of shape {} does not take a result of shape {}",
            tuple_text(&out_shape),
            tuple_text(&cores.shape)
        )));
    }
    cores.shape = out_shape;
    Ok(())
}

/// Multiplies two operands. Returns `None` if an operand has an unsupported type.
///
/// # Errors
/// `TypeError` and `ValueError`, as in NumPy; driver errors.
pub(super) fn call<'py>(
    py: Python<'py>,
    function: &'static ProductFunction,
    operands: Operands<'_, 'py>,
    keywords: &UfuncKeywords<'py>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let entry = &function.row;
    let mut values = OperandValues::new();
    for operand in operands {
        match UfuncOperand::read(operand)? {
            Some(value) => values.push(value),
            None => return Ok(None),
        }
    }
    let _inherited = allocator_inheritance::inherit(py, values.iter().filter_map(UfuncOperand::array))?;
    let mut cores = {
        let layout = |index: usize| match values[index].array() {
            Some(array) => Ok(array.layout()),
            None => Err(too_few(
                function,
                index,
                0,
                function.are_vectors.map_or(1, |vectors| if vectors[index] { 1 } else { 2 }),
            )),
        };
        core_dimensions(function, [layout(0)?, layout(1)?])?
    };
    let device = ufunc_results::common_device(entry, &values, keywords)?;
    let kind = ufunc_call::select_loop(entry, &values, keywords)?;
    for (index, value) in values.iter().enumerate() {
        value.check(entry, index, kind, keywords.casting)?;
    }
    let target_array = match &keywords.out[0] {
        Some(out) => {
            check_out(function, &mut cores, kind, out, keywords)?;
            out.clone()
        }
        None => {
            let lying = ResultLayout { shape: &cores.shape, order: result_order(&values, keywords.order) };
            lying.new_array(py, &values, keywords, DType::new(kind), device)?
        }
    };
    let has_given_out = keywords.out[0].is_some();
    let target = target_array.get().array(py)?;
    // For arrays in host memory, NumPy computes the product during the call. During a stream capture, a kernel is
    // captured instead, because the product must be computed when the graph is launched.
    if device.is_cpu() && !stream_captures::is_capturing(&stream::current(device))? {
        let numpy_call = NumpyCall { entry, dtype: keywords.dtype, casting: keywords.casting, mask: None };
        numpy_fallback::run(py, &numpy_call, &values, &Targets::from_iter([target]))?;
    } else {
        if has_given_out {
            copy_overlapping(py, &mut values, target)?;
        }
        launch(py, &ProductCall { function, cores, kind, device }, &values, target)?;
        ufunc_launch::retain_foreign(py, device, &mut values)?;
    }
    if has_given_out { Ok(Some(target_array)) } else { ufunc_results::into_class_of(&operands, target_array).map(Some) }
}

/// The properties of a product that are determined before the launch: types, axes, and the shape of the result.
struct ProductCall {
    function: &'static ProductFunction,
    cores: CoreDimensions,
    kind: ScalarType,
    device: Device,
}

/// Returns the memory order of a new result; the default is C order.
fn result_order(values: &OperandValues<'_, '_>, requested: ResultOrder) -> ResultOrder {
    let is_f = |layout: &Layout| layout.is_f_contiguous() && !layout.is_c_contiguous();
    match requested {
        ResultOrder::F => ResultOrder::F,
        ResultOrder::A if values.iter().filter_map(UfuncOperand::array).all(|array| is_f(array.layout())) => {
            ResultOrder::F
        }
        _ => ResultOrder::C,
    }
}

/// Enqueues the product on the current stream.
fn launch(py: Python<'_>, product_call: &ProductCall, values: &OperandValues<'_, '_>, out: &Array) -> PyResult<()> {
    let [Some(a), Some(b)] = [0, 1].map(|index| values.get(index).and_then(UfuncOperand::array)) else {
        return Err(PyTypeError::new_err(format!("{}: the operands are arrays", product_call.function.row.name)));
    };
    let product = Product {
        operands: [a.materialized()?, b.materialized()?],
        are_vectors: product_call.cores.are_vectors,
        are_conjugated: product_call.function.are_conjugated,
        computed: product_call.kind,
        out,
    };
    Ok(py.without_gil(|| product::run(&product, &stream::current(product_call.device)))?)
}

/// Replaces operands that may overlap the output array by copies.
fn copy_overlapping(py: Python<'_>, values: &mut OperandValues<'_, '_>, out: &Array) -> PyResult<()> {
    for value in values {
        let Some(array) = value.array().map(DeferredArray::materialized).transpose()? else { continue };
        if copy::may_overlap(out, array) {
            let copied = Box::new(transfer::device_copy_like(py, array)?);
            *value = UfuncOperand::Temporary { array: copied, is_foreign: false };
        }
    }
    Ok(())
}

/// Computes the operator `@`. Returns `NotImplemented` if the other operand has an unsupported type.
pub(super) fn compute_operator(py: Python<'_>, operands: Operands<'_, '_>) -> PyResult<Py<PyAny>> {
    match call(py, &product_table::MATMUL, operands, &UfuncKeywords::default())? {
        Some(target_array) => Ok(target_array.into_any().unbind()),
        None => Ok(py.NotImplemented()),
    }
}

/// Computes the operator `@=`, which writes the result to `array`.
pub(super) fn assign(array: &Bound<'_, GpuArray>, other: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_short = other.cast::<GpuArray>().is_ok_and(|array| array.get().layout().ndim() < 2);
    if array.get().layout().ndim() < 1 || is_short {
        return Err(PyValueError::new_err(
            "inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions.",
        ));
    }
    match call(array.py(), &product_table::MATMUL, [array.as_any(), other], &UfuncKeywords::into_array(array))? {
        Some(_) => Ok(()),
        None => Err(argument_errors::operands("matmul", &[array.as_any(), other])),
    }
}

/// Calls a product function with operands, an optional output array after the operands, and keywords. Returns `None` if
/// an argument is an array of another library.
///
/// # Errors
/// The errors of [`call`].
pub(super) fn call_with_keywords<'py>(
    function: &'static ProductFunction,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = arguments.py();
    let name = function.row.name;
    let (2 | 3) = arguments.len() else {
        return Err(PyTypeError::new_err(format!(
            "{name}() takes from 2 to 3 positional arguments but {} were given: two operands, and an array for the result",
            arguments.len()
        )));
    };
    let mut parsed_keywords = UfuncKeywords::default();
    if let Some(keywords) = keywords {
        if keywords.contains(intern!(py, "where"))? {
            return Err(PyTypeError::new_err(format!("{name}() got an unexpected keyword argument 'where'")));
        }
        let is_of_axes = |name| keywords.contains(name);
        if is_of_axes(intern!(py, "axes"))? || is_of_axes(intern!(py, "axis"))? || is_of_axes(intern!(py, "keepdims"))?
        {
            let with_axes = py
                .import(intern!(py, "PyGPU._functions.products.tensor_products"))?
                .getattr(intern!(py, "_with_axes"))?;
            return finalization::run_python(py, || with_axes.call1((name, arguments, keywords)).map(Some));
        }
        match UfuncKeywords::read(&function.row, arguments, keywords)? {
            Some(parsed) => parsed_keywords = parsed,
            None => return Ok(None),
        }
    }
    if arguments.len() == 3 && !parsed_keywords.read_positional(0, &arguments.get_item(2)?)? {
        return Ok(None);
    }
    let operands = [arguments.get_item(0)?, arguments.get_item(1)?];
    Ok(call(py, function, [&operands[0], &operands[1]], &parsed_keywords)?.map(Bound::into_any))
}
