//! Products: `@` and NumPy's functions of the same axes. NumPy multiplies arrays in host memory through views of the same memory.

mod functions;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::keywords::ResultOrder;
use super::numpy_fallback::{self, NumpyCall};
use super::on_device::{self, Targets};
use super::operand::{OperandValues, UfuncOperand};
use super::result::{self, ResultLayout};
use super::ufunc_call::{self, UfuncKeywords};
use crate::array::allocator_inheritance;
use crate::array::class::GpuArray;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::host::transfer;
use crate::py_once::intern;
use pygpu_array::{Array, DeferredArray};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_layout::{Dims, Layout, broadcast_shapes, tuple_text};
use pygpu_memory::capture;
use pygpu_ops::product::{self, Product, ProductFunction, table};

pub(super) use functions::register;

type Operands<'a, 'py> = [&'a Bound<'py, PyAny>; 2];

/// Core dimensions of a product.
struct CoreDimensions {
    are_vectors: [bool; 2],
    /// Core shape of the result, and its number of non-batch axes.
    shape: Dims,
    count: usize,
}

/// Returns the non-batch axes of the operands.
fn cores_of(named: &ProductFunction, layouts: [&Layout; 2]) -> PyResult<CoreDimensions> {
    let are_vectors = named.are_vectors.unwrap_or_else(|| layouts.map(|layout| layout.ndim() == 1));
    let own = are_vectors.map(|is_vector| if is_vector { 1 } else { 2 });
    for (place, layout) in layouts.iter().enumerate() {
        // The number of axes decides between vector and matrix, so one axis is enough.
        let least = if named.are_vectors.is_some() { own[place] } else { 1 };
        if layout.ndim() < least {
            return Err(too_few(named, place, layout.ndim(), least));
        }
    }
    let [a, b] = layouts.map(Layout::axes);
    let [batch_a, batch_b] = [a.len() - own[0], b.len() - own[1]];
    let (depth, other) = (a[a.len() - 1].len, b[batch_b].len);
    if depth != other {
        return Err(PyValueError::new_err(format!(
            "{}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {} (size {other} is different from {depth})",
            named.row.name, named.signature
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
fn too_few(named: &ProductFunction, place: usize, ndim: usize, least: usize) -> PyErr {
    PyValueError::new_err(format!(
        "{}: Input operand {place} does not have enough dimensions (has {ndim}, gufunc core with signature {} requires {least})",
        named.row.name, named.signature
    ))
}

/// Rejects an array that cannot take the result; it may have more batches.
fn check_out(
    named: &ProductFunction,
    cores: &mut CoreDimensions,
    kind: ScalarType,
    out: &Bound<'_, GpuArray>,
    wish: &UfuncKeywords<'_>,
) -> PyResult<()> {
    let own: Dims = out.get().layout().shape().collect();
    result::check_out(&named.row, 0, out, kind, &own, wish)?;
    if own == cores.shape {
        return Ok(());
    }
    let (name, signature) = (named.row.name, named.signature);
    if own.len() < cores.count {
        return Err(PyValueError::new_err(format!(
            "{name}: Output operand 0 does not have enough dimensions (has {}, gufunc core with signature {signature} requires {})",
            own.len(),
            cores.count
        )));
    }
    let (batch, core) = own.split_at(own.len() - cores.count);
    let (wanted, inner) = cores.shape.split_at(cores.shape.len() - cores.count);
    if let Some(at) = (0..cores.count).find(|at| core[*at] != inner[*at]) {
        return Err(PyValueError::new_err(format!(
            "{name}: Output operand 0 has a mismatch in its core dimension {at}, with gufunc signature {signature} (size {} is different \
             from {})",
            core[at], inner[at]
        )));
    }
    if broadcast_shapes(&[wanted, batch])?.as_slice() != batch {
        return Err(PyValueError::new_err(format!(
            "{name}: an output of shape {} does not take a result of shape {}",
            tuple_text(&own),
            tuple_text(&cores.shape)
        )));
    }
    cores.shape = own;
    Ok(())
}

/// Multiplies two operands; `None` if one has an unsupported type.
///
/// # Errors
/// `TypeError` and `ValueError` as NumPy's; the driver's.
pub(super) fn call<'py>(
    py: Python<'py>,
    named: &'static ProductFunction,
    operands: Operands<'_, 'py>,
    wish: &UfuncKeywords<'py>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let row = &named.row;
    let mut values = OperandValues::new();
    for operand in operands {
        match UfuncOperand::read(operand)? {
            Some(value) => values.push(value),
            None => return Ok(None),
        }
    }
    let _inherited = allocator_inheritance::inherit(py, values.iter().filter_map(UfuncOperand::array))?;
    let mut cores = {
        let layout = |place: usize| match values[place].array() {
            Some(array) => Ok(array.layout()),
            None => {
                Err(too_few(named, place, 0, named.are_vectors.map_or(1, |vectors| if vectors[place] { 1 } else { 2 })))
            }
        };
        cores_of(named, [layout(0)?, layout(1)?])?
    };
    let device = result::common_device(row, &values, wish)?;
    let kind = ufunc_call::loop_of(row, &values, wish)?;
    for (place, value) in values.iter().enumerate() {
        value.check(row, place, kind, wish.casting)?;
    }
    let made = match &wish.out[0] {
        Some(out) => {
            check_out(named, &mut cores, kind, out, wish)?;
            out.clone()
        }
        None => {
            let lying = ResultLayout { shape: &cores.shape, order: order_of(&values, wish.order) };
            lying.new_array(py, &values, wish, DType::new(kind), device)?
        }
    };
    let is_given = wish.out[0].is_some();
    let target = made.get().array(py)?;
    // NumPy computes immediately. A captured product is computed by a kernel when its graph is launched.
    if device.is_cpu() && !capture::is_capturing(&stream::current(device))? {
        let asked = NumpyCall { row, dtype: wish.dtype, casting: wish.casting, mask: None };
        numpy_fallback::run(py, &asked, &values, &Targets::from_iter([target]))?;
    } else {
        if is_given {
            keep_separate(py, &mut values, target)?;
        }
        launch(py, &ProductCall { named, cores, kind, device }, &values, target)?;
        on_device::retain_foreign(py, device, &mut values)?;
    }
    if is_given { Ok(Some(made)) } else { result::of_class_of(&operands, made).map(Some) }
}

/// The parameters of a product.
struct ProductCall {
    named: &'static ProductFunction,
    cores: CoreDimensions,
    kind: ScalarType,
    device: Device,
}

/// Returns the memory order of a new result: C order by default.
fn order_of(values: &OperandValues<'_, '_>, asked: ResultOrder) -> ResultOrder {
    let is_f = |layout: &Layout| layout.is_f_contiguous() && !layout.is_c_contiguous();
    match asked {
        ResultOrder::F => ResultOrder::F,
        ResultOrder::A if values.iter().filter_map(UfuncOperand::array).all(|array| is_f(array.layout())) => {
            ResultOrder::F
        }
        _ => ResultOrder::C,
    }
}

/// Enqueues the product on the current stream.
fn launch(py: Python<'_>, work: &ProductCall, values: &OperandValues<'_, '_>, out: &Array) -> PyResult<()> {
    let [Some(a), Some(b)] = [0, 1].map(|place| values.get(place).and_then(UfuncOperand::array)) else {
        return Err(PyTypeError::new_err(format!("{}: the operands are arrays", work.named.row.name)));
    };
    let product = Product {
        operands: [a.materialized()?, b.materialized()?],
        are_vectors: work.cores.are_vectors,
        are_conjugated: work.named.are_conjugated,
        computed: work.kind,
        out,
    };
    Ok(py.without_gil(|| product::run(&product, &stream::current(work.device)))?)
}

/// Copies operands that may overlap the array for the result.
fn keep_separate(py: Python<'_>, values: &mut OperandValues<'_, '_>, out: &Array) -> PyResult<()> {
    for value in values {
        let Some(array) = value.array().map(DeferredArray::materialized).transpose()? else { continue };
        if copy::may_overlap(out, array) {
            let copied = Box::new(transfer::device_copy_like(py, array)?);
            *value = UfuncOperand::Temporary { array: copied, is_foreign: false };
        }
    }
    Ok(())
}

/// Computes `@`; `NotImplemented` if the other operand has an unsupported type.
pub(super) fn answer(py: Python<'_>, operands: Operands<'_, '_>) -> PyResult<Py<PyAny>> {
    match call(py, &table::MATMUL, operands, &UfuncKeywords::default())? {
        Some(made) => Ok(made.into_any().unbind()),
        None => Ok(py.NotImplemented()),
    }
}

/// Computes `@=`: the result is written into the array itself.
pub(super) fn assign(own: &Bound<'_, GpuArray>, other: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_short = other.cast::<GpuArray>().is_ok_and(|array| array.get().layout().ndim() < 2);
    if own.get().layout().ndim() < 1 || is_short {
        return Err(PyValueError::new_err(
            "inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions.",
        ));
    }
    match call(own.py(), &table::MATMUL, [own.as_any(), other], &UfuncKeywords::into_array(own))? {
        Some(_) => Ok(()),
        None => Err(PyTypeError::new_err(format!("matmul: {} is nothing to compute with", other.get_type()))),
    }
}

/// Calls a product with operands, an optional result after them, and keywords; `None` if an argument is an array of another
/// library.
///
/// # Errors
/// Those of [`call`].
pub(super) fn with_keywords<'py>(
    named: &'static ProductFunction,
    given: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = given.py();
    let name = named.row.name;
    let (2 | 3) = given.len() else {
        return Err(PyTypeError::new_err(format!(
            "{name}() takes from 2 to 3 positional arguments but {} were given: two operands, and an array for the result",
            given.len()
        )));
    };
    let mut wish = UfuncKeywords::default();
    if let Some(keywords) = keywords {
        if keywords.contains(intern!(py, "where"))? {
            return Err(PyTypeError::new_err(format!("{name}() got an unexpected keyword argument 'where'")));
        }
        if keywords.contains(intern!(py, "axes"))? || keywords.contains(intern!(py, "axis"))? {
            let moved = py.import(intern!(py, "PyGPU._functions.products.axes"))?.getattr(intern!(py, "_with_axes"))?;
            return finalization::run_python(py, || moved.call1((name, given, keywords)).map(Some));
        }
        match UfuncKeywords::read(&named.row, keywords)? {
            Some(read) => wish = read,
            None => return Ok(None),
        }
    }
    if given.len() == 3 && !wish.read_positional(0, &given.get_item(2)?)? {
        return Ok(None);
    }
    let operands = [given.get_item(0)?, given.get_item(1)?];
    Ok(call(py, named, [&operands[0], &operands[1]], &wish)?.map(Bound::into_any))
}
