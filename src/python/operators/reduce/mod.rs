//! Reduces arrays over axes, by kernels on the current stream, or, for arrays in host memory, by NumPy.

mod output_argument;
pub(super) mod reduceat;
pub(super) mod variance;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::ufunc_call::{self, UfuncKeywords};
use super::where_mask::mask_argument;
use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_like};
use crate::array::deferred_operands::new_pending;
use crate::convert::{dtype, ndarray, shape};
use crate::fusion::record_node;
use crate::gil::WithoutGil;
use crate::host_transfers::{cpu_view, device_arrays, transfer};
use crate::kernel::call::scalar_values;
use crate::py_once::intern;
pub(super) use output_argument::output_argument;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_layout::{Dims, Layout, MemoryOrder, normalize_axis, tuple_text};
use pygpu_memory::stream_captures;
use pygpu_ops::fusion::{DeferredOp, DeferredReduction, Operands};
use pygpu_ops::reductions::{self, AxisReduction, Elements, ReductionEntry};
use pygpu_ops::ufunc::{self, Casting};

/// Arguments of a reduction, without the array.
#[derive(Default)]
pub(super) struct ReductionArgs<'py> {
    pub(super) axis: Option<Bound<'py, PyAny>>,
    pub(super) dtype: Option<Bound<'py, PyAny>>,
    pub(super) out: Option<Bound<'py, PyAny>>,
    pub(super) keepdims: bool,
    pub(super) initial: Option<Bound<'py, PyAny>>,
    pub(super) mask: Option<Bound<'py, PyAny>>,
    /// Number that is subtracted from the count of elements, by which a variance is divided (`ddof`).
    pub(super) ddof: f64,
}

/// Returns the reduced axes as a bit set; bit 0 is the first axis.
fn reduced_axes(entry: &ReductionEntry, args: &ReductionArgs<'_>, ndim: usize) -> PyResult<u64> {
    let Some(axis) = &args.axis else { return Ok(u64::MAX.checked_shr(64 - ndim as u32).unwrap_or(0)) };
    let mut axes = Dims::new();
    match axis.cast::<PyTuple>() {
        Ok(_) if entry.is_numbered && !entry.name.starts_with("nan") => return Err(no_single_axis()),
        Ok(tuple) => {
            for item in tuple {
                axes.push(shape::integer(&item, "axis")?);
            }
        }
        Err(_) => match shape::integer(axis, "axis")? {
            // NumPy accepts axis 0 for an array without axes, except in `mean` and `var`.
            0 | -1 if ndim == 0 && !matches!(entry.name, "mean" | "var") => return Ok(0),
            axis => axes.push(axis),
        },
    }
    let mut bits = 0;
    for axis in axes {
        let bit = 1 << normalize_axis(axis, ndim)?;
        if bits & bit != 0 {
            return Err(PyValueError::new_err("duplicate value in 'axis'"));
        }
        bits |= bit;
    }
    // `nanargmin` and `nanargmax` check the axes before they reject a tuple of axes.
    if entry.is_numbered && axis.is_instance_of::<PyTuple>() {
        return Err(no_single_axis());
    }
    Ok(bits)
}

#[cold]
fn no_single_axis() -> PyErr {
    PyTypeError::new_err("'tuple' object cannot be interpreted as an integer")
}

fn has_kernels(kind: ScalarType) -> bool {
    ufunc::ufunc_table::ORDER.contains(&kind)
}

/// Returns the type in which a reduction is computed.
fn computed(entry: &ReductionEntry, kind: ScalarType, args: &ReductionArgs<'_>) -> PyResult<ScalarType> {
    let compute_kind = match &args.dtype {
        Some(dtype) if !dtype.is_none() => dtype::from_python(dtype)?.kind(),
        _ => entry.computed(kind),
    };
    check_kinds(entry, kind, compute_kind)?;
    let is_inexact = |kind: ScalarType| kind != ScalarType::Bool && !scalar_values::is_integer(kind);
    if matches!(entry.name, "nanmean" | "nanvar") && is_inexact(kind) && !is_inexact(compute_kind) {
        return Err(PyTypeError::new_err("If a is inexact, then dtype must be inexact"));
    }
    if kind.is_complex() && !compute_kind.is_complex() && !entry.is_of_truths() {
        return Err(PyTypeError::new_err(format!(
            "{}: Cannot cast array data from dtype('{}') to dtype('{}') according to the rule 'same_kind'",
            entry.name,
            DType::new(kind).name(),
            DType::new(compute_kind).name()
        )));
    }
    Ok(compute_kind)
}

/// Checks that a reduction supports the element type `kind` and the type of the computation.
///
/// # Errors
/// `TypeError` if one of these types is unsupported.
pub(super) fn check_kinds(entry: &ReductionEntry, kind: ScalarType, compute_kind: ScalarType) -> PyResult<()> {
    let is_integral = |kind: ScalarType| kind == ScalarType::Bool || scalar_values::is_integer(kind);
    let accepts = |kind: ScalarType| entry.of_floats || is_integral(kind);
    let has_loop = |kind: ScalarType| has_kernels(kind) && accepts(kind);
    if has_loop(compute_kind) && has_kernels(kind) && accepts(kind) {
        return Ok(());
    }
    let name = DType::new(if has_kernels(kind) { compute_kind } else { kind }).name();
    Err(PyTypeError::new_err(format!("{}: there is no reduction of {name}", entry.name)))
}

/// Returns the shape of the results in two forms: with length 1 along the reduced axes, and without these axes.
fn shapes(layout: &Layout, reduced: u64) -> (Dims, Dims) {
    let lens = || layout.shape().enumerate();
    let keepdims_shape = lens().map(|(axis, len)| if reduced >> axis & 1 == 1 { 1 } else { len }).collect();
    (keepdims_shape, lens().filter(|(axis, _)| reduced >> axis & 1 == 0).map(|(_, len)| len).collect())
}

/// Checks the shape and type of the output array that the user passed, and returns the array.
fn checked_output<'py>(
    entry: &ReductionEntry,
    array: &Array,
    args: &ReductionArgs<'py>,
    expected_shape: &Dims,
    result: ScalarType,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let Some(out) = output_argument(entry, false, array, args.out.as_ref())? else { return Ok(None) };
    let out_array = out.get();
    // An output array for indices must have a type that the rule 'safe' casts to int64, as in NumPy. For arrays in host
    // memory, NumPy itself checks the type.
    if entry.is_numbered && !array.device().is_cpu() && !Casting::Safe.allows(out_array.dtype().kind(), result) {
        return Err(PyTypeError::new_err(format!(
            "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule 'safe'",
            out_array.dtype().name(),
            DType::new(result).name()
        )));
    }
    if !Casting::SameKind.allows(result, out_array.dtype().kind()) {
        return Err(PyTypeError::new_err(format!(
            "{}: Cannot cast array data from dtype('{}') to dtype('{}') according to the rule 'same_kind'",
            entry.name,
            DType::new(result).name(),
            out_array.dtype().name()
        )));
    }
    if !out_array.layout().shape().eq(expected_shape.iter().copied()) {
        return Err(PyValueError::new_err(format!(
            "{}: out has shape {} and the result {}",
            entry.name,
            tuple_text(out_array.layout().shape()),
            tuple_text(expected_shape)
        )));
    }
    Ok(Some(out))
}

/// Returns the binary function that combines the value of `initial=` with the result.
fn combiner(entry: &ReductionEntry) -> Option<&'static ufunc::UfuncEntry> {
    ufunc::row(match entry.name {
        "sum" | "nansum" => "add",
        "prod" | "nanprod" => "multiply",
        "nanmin" => "fmin",
        "nanmax" => "fmax",
        name => ufunc_of_reduction(name),
    })
}

/// Axes, types and shapes of one reduction.
struct ResolvedReduction {
    entry: &'static ReductionEntry,
    /// The reduced axes as a bit set; bit 0 is the first axis.
    reduced: u64,
    /// The element type in which the reduction is computed. The field `result` is the type of the results.
    computed: ScalarType,
    result: ScalarType,
    /// The results' shape with length 1 along the reduced axes; `squeezed_shape` lacks these axes.
    keepdims_shape: Dims,
    squeezed_shape: Dims,
}

impl ResolvedReduction {
    fn new(
        entry: &'static ReductionEntry,
        layout: &Layout,
        kind: ScalarType,
        args: &ReductionArgs<'_>,
    ) -> PyResult<Self> {
        let reduced = reduced_axes(entry, args, layout.ndim())?;
        let computed = computed(entry, kind, args)?;
        let (keepdims_shape, squeezed_shape) = shapes(layout, reduced);
        let has_dtype = args.dtype.as_ref().is_some_and(|dtype| !dtype.is_none());
        // The variance of complex numbers is real, unless the caller requests a complex dtype.
        let is_requested = has_dtype && matches!(entry.name, "var" | "nanvar");
        let result = if is_requested { computed } else { entry.output(computed) };
        Ok(Self { entry, reduced, computed, result, keepdims_shape, squeezed_shape })
    }

    /// Returns the shape of the results, including the reduced axes if `keepdims` was requested.
    fn shape(&self, args: &ReductionArgs<'_>) -> &Dims {
        if args.keepdims { &self.keepdims_shape } else { &self.squeezed_shape }
    }

    /// Rejects empty arrays and masks if the function has no identity and the caller passes no `initial=`, because a
    /// result could then be undefined.
    fn check_identity(&self, array: &Array, has_mask: bool, initial: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let entry = self.entry;
        if entry.has_neutral() || initial.is_some() {
            return Ok(());
        }
        if array.layout().is_empty() && self.keepdims_shape.iter().all(|len| *len > 0) {
            return Err(PyValueError::new_err(match entry.is_numbered {
                true => format!("attempt to get {} of an empty sequence", entry.name),
                false => format!("zero-size array to reduction operation {} which has no identity", entry.name),
            }));
        }
        if has_mask {
            return Err(PyValueError::new_err(format!(
                "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'",
                entry.name
            )));
        }
        Ok(())
    }

    /// Returns the array for the results: the caller's output array, or a new array.
    fn allocate<'py>(
        &self,
        operand: &Bound<'py, GpuArray>,
        array: &Array,
        args: &ReductionArgs<'py>,
    ) -> PyResult<Bound<'py, GpuArray>> {
        let shape = self.shape(args);
        if let Some(out) = checked_output(self.entry, array, args, shape, self.result)? {
            return Ok(out);
        }
        let result =
            device_arrays::new_array(operand.py(), shape, DType::new(self.result), MemoryOrder::C, array.device())?;
        new_like(operand, GpuArray::from_array(result))
    }

    /// Computes the results with kernels.
    fn run(
        &self,
        py: Python<'_>,
        array: &Array,
        mask: Option<&Bound<'_, GpuArray>>,
        target: &Array,
        args: &ReductionArgs<'_>,
    ) -> PyResult<()> {
        let &Self { entry, reduced, computed, .. } = self;
        let view = if args.keepdims { target.clone() } else { keepdims_view(target, &self.keepdims_shape)? };
        let mask = mask.map(|mask| mask.get().array(py)).transpose()?;
        // An operand that overlaps the array of results is copied, because one thread block may write results to memory
        // that another block still has to read.
        let copy_if_overlapping = |read: &Array| match copy::may_overlap(target, read) {
            true => transfer::device_copy_like(py, read).map(Some),
            false => Ok(None),
        };
        let copies = (copy_if_overlapping(array)?, mask.map(copy_if_overlapping).transpose()?.flatten());
        let (input, mask) = (Elements::Array(copies.0.as_ref().unwrap_or(array)), copies.1.as_ref().or(mask));
        let call = AxisReduction { row: entry, computed, input, mask, out: &view, reduced, less: args.ddof };
        let stream = stream::current(array.device());
        Ok(py.without_gil(|| reductions::run(&call, &stream))?)
    }
}

/// Reduces an array.
///
/// # Errors
/// `TypeError`, `ValueError` and `IndexError`, as in NumPy; driver errors.
pub(super) fn call<'py>(
    entry: &'static ReductionEntry,
    operand: &Bound<'py, GpuArray>,
    args: &ReductionArgs<'py>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = operand.py();
    let array = operand.get().without_flush()?;
    let _inherited = allocator_inheritance::inherit(py, std::iter::once(array))?;
    let resolved = ResolvedReduction::new(entry, array.layout(), array.dtype().kind(), args)?;
    if let Some(deferred) = defer_if_pending(operand, &resolved, args)? {
        return Ok(deferred);
    }
    let array = operand.get().array(py)?;
    let mask = mask_argument(entry, array, args.mask.as_ref())?;
    let initial = args.initial.as_ref().filter(|initial| !initial.is_none());
    resolved.check_identity(array, mask.is_some(), initial)?;
    let out = resolved.allocate(operand, array, args)?;
    let target = out.get().array(py)?;
    if array.device().is_cpu() && !stream_captures::is_capturing(&stream::current(array.device()))? {
        reduce_with_numpy(py, entry, array, args, mask.as_ref(), &out)?;
        return Ok(out);
    }
    // Converts an initial value that is no array to the type of the result, as NumPy does.
    let is_host = |initial: &&Bound<'py, PyAny>| !initial.is_instance_of::<GpuArray>();
    let converted = initial.filter(is_host).map(|initial| dtype::scalar(py, target.dtype(), initial)).transpose()?;
    let initial = converted.as_ref().or(initial);
    if target.layout().is_empty() {
        return Ok(out);
    }
    match array.layout().is_empty() {
        true => fill_identity(py, entry, &out, initial)?,
        false => resolved.run(py, array, mask.as_ref(), target, args)?,
    }
    if let (Some(initial), Some(combiner)) = (initial, combiner(entry)) {
        let error = || PyTypeError::new_err(format!("{}: initial= is {initial}, which is no number", entry.name));
        ufunc_call::call(py, combiner, &[out.as_any(), initial], &UfuncKeywords::into_array(&out))?
            .ok_or_else(error)?;
    }
    Ok(out)
}

/// Defers the reduction of an operand whose values are pending; returns `None` if the reduction must be launched
/// eagerly.
fn defer_if_pending<'py>(
    operand: &Bound<'py, GpuArray>,
    resolved: &ResolvedReduction,
    args: &ReductionArgs<'_>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let array = operand.get().without_flush()?;
    let is_given = |object: &Option<Bound<'_, PyAny>>| object.as_ref().is_some_and(|object| !object.is_none());
    let is_plain = !is_given(&args.out) && !is_given(&args.initial) && !is_given(&args.mask);
    if !is_plain || !record_node::is_pending(array) || resolved.result != resolved.entry.output(resolved.computed) {
        return Ok(None);
    }
    let Some(stream) = GpuArray::can_wait_on(operand)? else { return Ok(None) };
    let &ResolvedReduction { entry, computed, reduced, result, .. } = resolved;
    let dtype = DType::new(result);
    let contiguous_layout = |shape: &Dims| Layout::contiguous(shape, dtype.itemsize() as i64, MemoryOrder::C);
    let (layout, kept) = (contiguous_layout(resolved.shape(args))?, contiguous_layout(&resolved.keepdims_shape)?);
    let reduction = DeferredReduction { row: entry, computed, reduced, less: args.ddof, kept };
    let op = DeferredOp::Reduction(Box::new(reduction));
    new_pending(operand.py(), op, Operands::of(array), (layout, dtype), stream).map(Some)
}

/// Returns a view of the results in which the reduced axes have length 1.
fn keepdims_view(target: &Array, keepdims_shape: &[i64]) -> PyResult<Array> {
    // A reshape that only adds axes of length 1 never needs a copy.
    let layout = target.layout().reshape(keepdims_shape, MemoryOrder::C)?;
    Ok(target.view(layout.unwrap_or_else(|| target.layout().clone()))?)
}

/// Fills the results of a reduction over zero elements: with `initial`, the function's identity, or NaN for means and
/// variances.
fn fill_identity(
    py: Python<'_>,
    entry: &ReductionEntry,
    out: &Bound<'_, GpuArray>,
    initial: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let value = match (entry.name, initial) {
        ("min" | "max" | "nanmin" | "nanmax", Some(initial)) => initial.clone(),
        ("prod" | "nanprod" | "all", _) => 1i64.into_pyobject(py)?.into_any(),
        ("mean" | "var" | "nanmean" | "nanvar", _) => f64::NAN.into_pyobject(py)?.into_any(),
        _ => 0i64.into_pyobject(py)?.into_any(),
    };
    out.call_method1(intern!(py, "fill"), (value,))?;
    if let ("bitwise_and", Some(invert)) = (entry.name, ufunc::row("invert")) {
        ufunc_call::call(py, invert, &[out.as_any()], &UfuncKeywords::into_array(out))?;
    }
    Ok(())
}

/// Calls NumPy's function on ndarrays over the memory of the arrays.
fn reduce_with_numpy(
    py: Python<'_>,
    entry: &ReductionEntry,
    array: &Array,
    args: &ReductionArgs<'_>,
    mask: Option<&Bound<'_, GpuArray>>,
    out: &Bound<'_, GpuArray>,
) -> PyResult<()> {
    let input = cpu_view::owning(py, array)?;
    let result = cpu_view::view(out)?;
    let keywords = PyDict::new(py);
    keywords.set_item("axis", &args.axis)?;
    keywords.set_item("keepdims", args.keepdims)?;
    let initial = args.initial.as_ref().filter(|initial| !initial.is_none());
    let numpy = ndarray::numpy(py)?;
    let is_method = reduction_of_ufunc(entry.name).is_some() || (entry.is_of_truths() && initial.is_some());
    let function = match is_method {
        true => numpy.getattr(ufunc_of_reduction(entry.name))?.getattr("reduce")?,
        false => numpy.getattr(entry.name)?,
    };
    if entry.name == "count_nonzero" {
        return result.as_any().set_item(py.Ellipsis(), function.call((input,), Some(&keywords))?);
    }
    keywords.set_item("out", result)?;
    if let Some(dtype) = args.dtype.as_ref().filter(|_| takes_dtype(entry)) {
        keywords.set_item("dtype", dtype)?;
    }
    if let Some(initial) = initial {
        keywords.set_item("initial", initial)?;
    }
    if let Some(mask) = mask {
        keywords.set_item("where", cpu_view::view(mask)?)?;
    }
    if matches!(entry.name, "var" | "nanvar") {
        keywords.set_item("ddof", args.ddof)?;
    }
    function.call((input,), Some(&keywords))?;
    Ok(())
}

/// Returns whether NumPy's function accepts the keyword `dtype`.
fn takes_dtype(entry: &ReductionEntry) -> bool {
    matches!(entry.name.trim_start_matches("nan"), "sum" | "prod" | "mean" | "var") || entry.name.starts_with("bitwise")
}

/// Names of binary functions, each with the reduction that applies the function repeatedly.
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

/// Returns the reduction that applies a binary function repeatedly.
pub(super) fn reduction_of_ufunc(name: &str) -> Option<&'static ReductionEntry> {
    FUNCTIONS.iter().find(|(function, _)| *function == name).and_then(|(_, entry)| reductions::row(entry))
}

/// Returns the name of the binary function that a reduction applies repeatedly, or else the reduction's name.
pub(super) fn ufunc_of_reduction(name: &'static str) -> &'static str {
    FUNCTIONS.iter().find(|(_, entry)| *entry == name).map_or(name, |(function, _)| function)
}

/// Returns the error for a ufunc that lacks a method. The message lists the ufuncs that have the method.
pub(super) fn unsupported_method(name: &str, method: &str) -> PyErr {
    let all: Vec<&str> = FUNCTIONS.iter().map(|(function, _)| *function).collect();
    PyTypeError::new_err(format!("{name}.{method}(): PyGPU does so with arrays of its own by {}", all.join(", ")))
}

/// Computes `reduce` of a binary function, by default along axis 0. Returns `None` if the function has no reduction.
///
/// # Errors
/// The errors of [`call`]; `TypeError` for unknown keywords.
pub(super) fn call_ufunc_reduce<'py>(
    name: &str,
    operand: &Bound<'py, PyAny>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let (Some(entry), Ok(operand)) = (reduction_of_ufunc(name), operand.cast::<GpuArray>()) else { return Ok(None) };
    let mut args =
        ReductionArgs { axis: Some(0i64.into_pyobject(operand.py())?.into_any()), ..ReductionArgs::default() };
    for (key, value) in keywords.into_iter().flat_map(|keywords_dict| keywords_dict.iter()) {
        let key: String = key.extract()?;
        match key.as_str() {
            "axis" => args.axis = Some(value).filter(|axis| !axis.is_none()),
            "dtype" => args.dtype = Some(value),
            "out" => args.out = Some(value),
            "keepdims" => args.keepdims = value.is_truthy()?,
            "initial" => args.initial = Some(value),
            "where" => args.mask = Some(value),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "{name}.reduce() got an unexpected keyword argument '{other}'; axis, dtype, out, keepdims, initial and where \
                     are understood"
                )));
            }
        }
    }
    call(entry, operand, &args).map(Some)
}
