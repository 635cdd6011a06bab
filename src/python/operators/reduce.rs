//! Reductions over axes: read operands and keywords, allocate the result, enqueue the kernel on the current stream. NumPy reduces
//! arrays in host memory through views of the same memory.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use super::ufunc_call::{self, UfuncKeywords};
use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_like};
use crate::array::deferred::new_pending;
use crate::convert::{dtype, ndarray, shape};
use crate::fusion::defer;
use crate::gil::WithoutGil;
use crate::host::{cpu_view, device_arrays, transfer};
use crate::kernel::call::values;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_layout::tuple_text;
use pygpu_layout::{Dims, Layout, MemoryOrder, normalize_axis};
use pygpu_memory::capture;
use pygpu_ops::fusion::{DeferredOp, DeferredReduction, Operands};
use pygpu_ops::reductions::{self, AxisReduction, Elements, ReductionEntry};
use pygpu_ops::ufunc::{self, Casting};

/// The arguments of a reduction, without the array.
#[derive(Default)]
pub(super) struct ReductionArgs<'py> {
    pub(super) axis: Option<Bound<'py, PyAny>>,
    pub(super) dtype: Option<Bound<'py, PyAny>>,
    pub(super) out: Option<Bound<'py, PyAny>>,
    pub(super) keepdims: bool,
    pub(super) initial: Option<Bound<'py, PyAny>>,
    pub(super) mask: Option<Bound<'py, PyAny>>,
    /// Number subtracted from the count of elements (`ddof`).
    pub(super) less: f64,
}

/// Returns the reduced axes as bits, the first axis as the lowest one.
fn axes_of(asked: &ReductionArgs<'_>, ndim: usize) -> PyResult<u64> {
    let Some(axis) = &asked.axis else { return Ok(u64::MAX.checked_shr(64 - ndim as u32).unwrap_or(0)) };
    let mut given = Dims::new();
    match axis.cast::<PyTuple>() {
        Ok(tuple) => {
            for one in tuple {
                given.push(shape::integer(&one, "axis")?);
            }
        }
        Err(_) => given.push(shape::integer(axis, "axis")?),
    }
    let mut bits = 0;
    for axis in given {
        let bit = 1 << normalize_axis(axis, ndim)?;
        if bits & bit != 0 {
            return Err(PyValueError::new_err("duplicate value in 'axis'"));
        }
        bits |= bit;
    }
    Ok(bits)
}

fn is_number(kind: ScalarType) -> bool {
    ufunc::table::ORDER.contains(&kind)
}

/// Returns the type of the computation.
fn computed(row: &ReductionEntry, kind: ScalarType, asked: &ReductionArgs<'_>) -> PyResult<ScalarType> {
    let found = match &asked.dtype {
        Some(dtype) if !dtype.is_none() => dtype::from_python(dtype)?.kind(),
        _ => row.computed(kind),
    };
    check_kinds(row, kind, found)?;
    if kind.is_complex() && !found.is_complex() && !row.is_of_truths() {
        return Err(PyTypeError::new_err(format!(
            "{}: Cannot cast array data from dtype('{}') to dtype('{}') according to the rule 'same_kind'",
            row.name,
            DType::new(kind).name(),
            DType::new(found).name()
        )));
    }
    Ok(found)
}

/// Rejects element types and computation types without a loop.
///
/// # Errors
/// `TypeError`.
pub(super) fn check_kinds(row: &ReductionEntry, kind: ScalarType, found: ScalarType) -> PyResult<()> {
    let is_whole = |kind: ScalarType| kind == ScalarType::Bool || values::is_integer(kind);
    let has =
        |one: ScalarType| is_number(one) && (row.of_complex || !one.is_complex()) && (row.of_floats || is_whole(one));
    if has(found) && is_number(kind) && (row.of_floats || is_whole(kind)) {
        return Ok(());
    }
    let name = DType::new(if is_number(kind) { found } else { kind }).name();
    Err(PyTypeError::new_err(format!("{}: there is no reduction of {name}", row.name)))
}

/// Returns the shapes of the results: with the reduced axes as length 1, and without them.
fn shapes(layout: &Layout, reduced: u64) -> (Dims, Dims) {
    let lens = || layout.shape().enumerate();
    let whole = lens().map(|(axis, len)| if reduced >> axis & 1 == 1 { 1 } else { len }).collect();
    (whole, lens().filter(|(axis, _)| reduced >> axis & 1 == 0).map(|(_, len)| len).collect())
}

/// Returns the given output array in the user's shape: writable, on the operand's device.
pub(super) fn given_out<'py>(
    row: &ReductionEntry,
    array: &Array,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let Some(object) = out.filter(|out| !out.is_none()) else { return Ok(None) };
    let only = match object.cast::<PyTuple>() {
        Ok(outs) if outs.len() == 1 => outs.get_item(0)?,
        _ => object.clone(),
    };
    let Ok(out) = only.cast_into::<GpuArray>() else {
        return Err(PyTypeError::new_err(format!("{}: out= is an array of PyGPU", row.name)));
    };
    let own = out.get();
    own.check_writable(row.name)?;
    if own.device() != array.device() {
        return Err(PyValueError::new_err(format!(
            "{}: out is on {} and the array on {}",
            row.name,
            own.device(),
            array.device()
        )));
    }
    Ok(Some(out))
}

/// Returns the given output array after a check of shape and type.
fn fitting_out<'py>(
    row: &ReductionEntry,
    array: &Array,
    asked: &ReductionArgs<'py>,
    wanted: &Dims,
    result: ScalarType,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let Some(out) = given_out(row, array, asked.out.as_ref())? else { return Ok(None) };
    let own = out.get();
    if !Casting::SameKind.allows(result, own.dtype().kind()) {
        return Err(PyTypeError::new_err(format!(
            "{}: Cannot cast array data from dtype('{}') to dtype('{}') according to the rule 'same_kind'",
            row.name,
            DType::new(result).name(),
            own.dtype().name()
        )));
    }
    if !own.layout().shape().eq(wanted.iter().copied()) {
        return Err(PyValueError::new_err(format!(
            "{}: out has shape {} and the result {}",
            row.name,
            tuple_text(own.layout().shape()),
            tuple_text(wanted)
        )));
    }
    Ok(Some(out))
}

/// Returns the mask of included elements; `None` for all.
fn mask_of<'py>(
    row: &ReductionEntry,
    array: &Array,
    asked: &ReductionArgs<'py>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let Some(object) = asked.mask.as_ref().filter(|mask| !mask.is_none()) else { return Ok(None) };
    if object.is_instance_of::<PyBool>() && object.is_truthy()? {
        return Ok(None);
    }
    let Ok(mask) = object.cast::<GpuArray>() else {
        return Err(PyTypeError::new_err(format!("{}: where= is True or an array of PyGPU", row.name)));
    };
    let own = mask.get();
    if own.dtype().kind() != ScalarType::Bool || own.device() != array.device() {
        return Err(PyTypeError::new_err(format!(
            "{}: where= is an array of bool on {}, and not of {} on {}",
            row.name,
            array.device(),
            own.dtype().name(),
            own.device()
        )));
    }
    Ok(Some(mask.clone()))
}

/// Returns the function that combines an initial value with the result.
fn joining(row: &ReductionEntry) -> Option<&'static ufunc::UfuncEntry> {
    ufunc::row(match row.name {
        "sum" | "nansum" => "add",
        "prod" | "nanprod" => "multiply",
        "nanmin" => "fmin",
        "nanmax" => "fmax",
        name => function_of(name),
    })
}

/// Axes, types and shapes of one reduction.
struct ResolvedReduction {
    row: &'static ReductionEntry,
    /// The reduced axes, as bits.
    reduced: u64,
    /// The types of the computation and of the results.
    computed: ScalarType,
    result: ScalarType,
    /// The shapes of the results: with the reduced axes as length 1, and without them.
    whole: Dims,
    dropped: Dims,
}

impl ResolvedReduction {
    fn new(
        row: &'static ReductionEntry,
        layout: &Layout,
        kind: ScalarType,
        asked: &ReductionArgs<'_>,
    ) -> PyResult<Self> {
        let reduced = axes_of(asked, layout.ndim())?;
        let computed = computed(row, kind, asked)?;
        let (whole, dropped) = shapes(layout, reduced);
        Ok(Self { row, reduced, computed, result: row.output(computed), whole, dropped })
    }

    /// The shape of the results.
    fn shape(&self, asked: &ReductionArgs<'_>) -> &Dims {
        if asked.keepdims { &self.whole } else { &self.dropped }
    }

    /// Rejects reductions of no elements without an identity.
    fn check_identity(&self, array: &Array, has_mask: bool, initial: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let row = self.row;
        if row.has_neutral() || initial.is_some() {
            return Ok(());
        }
        if array.layout().is_empty() && self.whole.iter().all(|len| *len > 0) {
            return Err(PyValueError::new_err(match row.is_numbered {
                true => format!("attempt to get {} of an empty sequence", row.name),
                false => format!("zero-size array to reduction operation {} which has no identity", row.name),
            }));
        }
        if has_mask {
            return Err(PyValueError::new_err(format!(
                "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'",
                row.name
            )));
        }
        Ok(())
    }

    /// Returns the array for the results: the given one, or a new one.
    fn allocate<'py>(
        &self,
        own: &Bound<'py, GpuArray>,
        array: &Array,
        asked: &ReductionArgs<'py>,
    ) -> PyResult<Bound<'py, GpuArray>> {
        let wanted = self.shape(asked);
        if let Some(out) = fitting_out(self.row, array, asked, wanted, self.result)? {
            return Ok(out);
        }
        let made = device_arrays::new_array(own.py(), wanted, DType::new(self.result), MemoryOrder::C, array.device())?;
        new_like(own, GpuArray::from_array(made))
    }

    /// Computes the results by kernels.
    fn run(
        &self,
        py: Python<'_>,
        array: &Array,
        mask: Option<&Bound<'_, GpuArray>>,
        target: &Array,
        asked: &ReductionArgs<'_>,
    ) -> PyResult<()> {
        let &Self { row, reduced, computed, .. } = self;
        let view = if asked.keepdims { target.clone() } else { kept(target, reduced, array.layout().ndim())? };
        let mask = mask.map(|mask| mask.get().array(py)).transpose()?;
        // One block may write its results before another has read that memory.
        let apart = |read: &Array| match copy::may_overlap(target, read) {
            true => transfer::device_copy_like(py, read).map(Some),
            false => Ok(None),
        };
        let copied = (apart(array)?, mask.map(apart).transpose()?.flatten());
        let (input, mask) = (copied.0.as_ref().unwrap_or(array), copied.1.as_ref().or(mask));
        let call =
            AxisReduction { row, computed, input: Elements::Array(input), mask, out: &view, reduced, less: asked.less };
        let stream = stream::current(array.device());
        Ok(py.without_gil(|| reductions::run(&call, &stream))?)
    }
}

/// Reduces an array.
///
/// # Errors
/// `TypeError`, `ValueError` and `IndexError` as NumPy's; the driver's.
pub(super) fn call<'py>(
    row: &'static ReductionEntry,
    own: &Bound<'py, GpuArray>,
    asked: &ReductionArgs<'py>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = own.py();
    let array = own.get().without_flush()?;
    let _inherited = allocator_inheritance::inherit(py, std::iter::once(array))?;
    let resolved = ResolvedReduction::new(row, array.layout(), array.dtype().kind(), asked)?;
    if let Some(made) = waiting(own, &resolved, asked)? {
        return Ok(made);
    }
    let array = own.get().array(py)?;
    let mask = mask_of(row, array, asked)?;
    let initial = asked.initial.as_ref().filter(|initial| !initial.is_none());
    resolved.check_identity(array, mask.is_some(), initial)?;
    let out = resolved.allocate(own, array, asked)?;
    let target = out.get().array(py)?;
    if array.device().is_cpu() && !capture::is_capturing(&stream::current(array.device()))? {
        by_numpy(py, row, array, asked, mask.as_ref(), &out)?;
        return Ok(out);
    }
    if target.layout().is_empty() {
        return Ok(out);
    }
    match array.layout().is_empty() {
        true => fill_neutral(py, row, &out, initial)?,
        false => resolved.run(py, array, mask.as_ref(), target, asked)?,
    }
    if let (Some(initial), Some(joining)) = (initial, joining(row)) {
        ufunc_call::call(py, joining, &[out.as_any(), initial], &UfuncKeywords::into_array(&out))?
            .ok_or_else(|| PyTypeError::new_err(format!("{}: initial= is {initial}, which is no number", row.name)))?;
    }
    Ok(out)
}

/// Defers a reduction of a pending operand, which then may need no memory; `None` if it is launched eagerly.
fn waiting<'py>(
    own: &Bound<'py, GpuArray>,
    resolved: &ResolvedReduction,
    asked: &ReductionArgs<'_>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let array = own.get().without_flush()?;
    let is_given = |object: &Option<Bound<'_, PyAny>>| object.as_ref().is_some_and(|object| !object.is_none());
    if is_given(&asked.out) || is_given(&asked.initial) || is_given(&asked.mask) || !defer::is_waiting(array) {
        return Ok(None);
    }
    let Some(stream) = GpuArray::can_wait_on(own)? else { return Ok(None) };
    let &ResolvedReduction { row, computed, reduced, result, .. } = resolved;
    let dtype = DType::new(result);
    let lying = |shape: &Dims| Layout::contiguous(shape, dtype.itemsize() as i64, MemoryOrder::C);
    let (layout, kept) = (lying(resolved.shape(asked))?, lying(&resolved.whole)?);
    let work = DeferredOp::Reduction(Box::new(DeferredReduction { row, computed, reduced, less: asked.less, kept }));
    new_pending(own.py(), work, Operands::of(array), (layout, dtype), stream).map(Some)
}

/// Returns a view of the results with the reduced axes as length 1.
fn kept(target: &Array, reduced: u64, ndim: usize) -> PyResult<Array> {
    let axes: Dims = (0..ndim).filter(|axis| reduced >> axis & 1 == 1).map(|axis| axis as i64).collect();
    Ok(target.view(target.layout().expand_dims(&axes)?)?)
}

/// Fills the results of no elements.
fn fill_neutral(
    py: Python<'_>,
    row: &ReductionEntry,
    out: &Bound<'_, GpuArray>,
    initial: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let value = match (row.name, initial) {
        ("min" | "max" | "nanmin" | "nanmax", Some(initial)) => initial.clone(),
        ("prod" | "nanprod" | "all", _) => 1i64.into_pyobject(py)?.into_any(),
        ("mean" | "var" | "nanmean" | "nanvar", _) => f64::NAN.into_pyobject(py)?.into_any(),
        _ => 0i64.into_pyobject(py)?.into_any(),
    };
    out.call_method1(intern!(py, "fill"), (value,))?;
    if let ("bitwise_and", Some(invert)) = (row.name, ufunc::row("invert")) {
        ufunc_call::call(py, invert, &[out.as_any()], &UfuncKeywords::into_array(out))?;
    }
    Ok(())
}

/// Calls NumPy's function on views of the same memory.
fn by_numpy(
    py: Python<'_>,
    row: &ReductionEntry,
    array: &Array,
    asked: &ReductionArgs<'_>,
    mask: Option<&Bound<'_, GpuArray>>,
    out: &Bound<'_, GpuArray>,
) -> PyResult<()> {
    let input = cpu_view::kept(py, array)?;
    let result = cpu_view::view(out)?;
    let keywords = PyDict::new(py);
    keywords.set_item("axis", &asked.axis)?;
    keywords.set_item("keepdims", asked.keepdims)?;
    let initial = asked.initial.as_ref().filter(|initial| !initial.is_none());
    let numpy = ndarray::numpy(py)?;
    let is_method = of_function(row.name).is_some() || (row.is_of_truths() && initial.is_some());
    let function = match is_method {
        true => numpy.getattr(function_of(row.name))?.getattr("reduce")?,
        false => numpy.getattr(row.name)?,
    };
    if row.name == "count_nonzero" {
        let counted = function.call((input,), Some(&keywords))?;
        return result.as_any().set_item(py.Ellipsis(), counted);
    }
    keywords.set_item("out", result)?;
    if let Some(dtype) = asked.dtype.as_ref().filter(|_| takes_dtype(row)) {
        keywords.set_item("dtype", dtype)?;
    }
    if let Some(initial) = initial {
        keywords.set_item("initial", initial)?;
    }
    if let Some(mask) = mask {
        keywords.set_item("where", cpu_view::view(mask)?)?;
    }
    if matches!(row.name, "var" | "nanvar") {
        keywords.set_item("ddof", asked.less)?;
    }
    function.call((input,), Some(&keywords))?;
    Ok(())
}

/// Whether NumPy's function has the keyword `dtype`.
fn takes_dtype(row: &ReductionEntry) -> bool {
    matches!(row.name.trim_start_matches("nan"), "sum" | "prod" | "mean" | "var") || row.name.starts_with("bitwise")
}

/// Computes the standard deviation: the root of the variance.
pub(super) fn deviation<'py>(
    var: &'static ReductionEntry,
    own: &Bound<'py, GpuArray>,
    asked: &ReductionArgs<'py>,
) -> PyResult<Bound<'py, GpuArray>> {
    let out = call(var, own, asked)?;
    if let Some(root) = ufunc::row("sqrt") {
        ufunc_call::call(own.py(), root, &[out.as_any()], &UfuncKeywords::into_array(&out))?;
    }
    Ok(out)
}

/// Binary functions, and the reductions that repeat them under another name.
const FUNCTIONS: [(&str, &str); 10] = [
    ("add", "sum"),
    ("multiply", "prod"),
    ("minimum", "min"),
    ("maximum", "max"),
    ("logical_or", "any"),
    ("logical_and", "all"),
    ("logical_xor", "logical_xor"),
    ("bitwise_and", "bitwise_and"),
    ("bitwise_or", "bitwise_or"),
    ("bitwise_xor", "bitwise_xor"),
];

/// Returns the reduction that repeats a binary function.
pub(super) fn of_function(name: &str) -> Option<&'static ReductionEntry> {
    FUNCTIONS.iter().find(|(function, _)| *function == name).and_then(|(_, row)| reductions::row(row))
}

/// Returns the binary function that a reduction repeats; the name itself if it repeats none.
pub(super) fn function_of(name: &'static str) -> &'static str {
    FUNCTIONS.iter().find(|(_, row)| *row == name).map_or(name, |(function, _)| function)
}

/// Returns the error of a method that a function lacks; it lists the functions that have it.
pub(super) fn unsupported_method(name: &str, method: &str) -> PyErr {
    let all: Vec<&str> = FUNCTIONS.iter().map(|(function, _)| *function).collect();
    PyTypeError::new_err(format!("{name}.{method}(): PyGPU does so with arrays of its own by {}", all.join(", ")))
}

/// Computes a function's `reduce`, along the first axis by default; `None` for a function without a reduction.
///
/// # Errors
/// As [`call`]; `TypeError` for unknown keywords.
pub(super) fn by_function<'py>(
    name: &str,
    operand: &Bound<'py, PyAny>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let (Some(row), Ok(own)) = (of_function(name), operand.cast::<GpuArray>()) else { return Ok(None) };
    let mut asked =
        ReductionArgs { axis: Some(0i64.into_pyobject(operand.py())?.into_any()), ..ReductionArgs::default() };
    for (key, value) in keywords.into_iter().flat_map(|given| given.iter()) {
        let key: String = key.extract()?;
        match key.as_str() {
            "axis" => asked.axis = Some(value).filter(|axis| !axis.is_none()),
            "dtype" => asked.dtype = Some(value),
            "out" => asked.out = Some(value),
            "keepdims" => asked.keepdims = value.is_truthy()?,
            "initial" => asked.initial = Some(value),
            "where" => asked.mask = Some(value),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "{name}.reduce() got an unexpected keyword argument '{other}'; axis, dtype, out, keepdims, initial and where \
                     are understood"
                )));
            }
        }
    }
    call(row, own, &asked).map(Some)
}
