//! Computes scans along an axis: cumulative sums, products and other reductions. A call reads the array and the
//! keywords, allocates the result, and enqueues the kernel on the current stream. NumPy scans arrays in host memory
//! through ndarrays over the same memory.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::method_declarations::entry;
use super::reduce;
use super::reduction_methods::{find_reduction, parameter};
use crate::array::array_argument::ArrayArg;
use crate::array::class::{ArrayResult, GpuArray, new_like};
use crate::convert::{OptionalArg, dtype, ndarray, shape};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::host_transfers::{cpu_view, device_arrays, transfer};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_layout::tuple_text;
use pygpu_layout::{Layout, MemoryOrder, normalize_axis};
use pygpu_memory::stream_captures;
use pygpu_ops::reductions::{ReductionEntry, scan};
use pygpu_ops::ufunc::{self, PromotionOperand};

/// Arguments of a scan, without the array.
#[derive(Default)]
pub(super) struct ScanArgs<'py> {
    /// Axis of the scan. Without an axis all elements are scanned in C order.
    pub(super) axis: Option<i64>,
    pub(super) dtype: Option<Bound<'py, PyAny>>,
    pub(super) out: Option<Bound<'py, PyAny>>,
}

impl<'py> ScanArgs<'py> {
    fn new([axis, dtype, out]: [OptionalArg<'_, 'py>; 3]) -> PyResult<Self> {
        let axis = axis.filter(|axis| !axis.is_none()).map(|axis| shape::integer(axis, "axis")).transpose()?;
        Ok(Self { axis, dtype: dtype.cloned(), out: out.cloned() })
    }
}

fn check_shape(entry: &ReductionEntry, out: &Layout, expected: &Layout) -> PyResult<()> {
    if out.shape().eq(expected.shape()) {
        return Ok(());
    }
    let shape_text = |layout: &Layout| tuple_text(layout.shape());
    Err(PyValueError::new_err(format!(
        "{}: out has shape {} and the scan {}",
        entry.name,
        shape_text(out),
        shape_text(expected)
    )))
}

/// Returns the type in which a scan or a reduction of segments is computed. This is the requested type if there is one;
/// otherwise the common type of the array and the output array; without an output array, the function's default type.
pub(super) fn computed(
    entry: &ReductionEntry,
    kind: ScalarType,
    requested: Option<&Bound<'_, PyAny>>,
    out: Option<ScalarType>,
) -> PyResult<ScalarType> {
    let compute_kind = match requested {
        Some(dtype) if !dtype.is_none() => dtype::from_python(dtype)?.kind(),
        _ => match out.filter(|_| !entry.is_of_truths()) {
            Some(out) if out != kind => common_type(kind, out),
            Some(out) => out,
            None => entry.computed(kind),
        },
    };
    reduce::check_kinds(entry, kind, compute_kind)?;
    Ok(compute_kind)
}

/// Returns the type to which NumPy promotes the types `first` and `second`, or `second` if there is no such type.
fn common_type(first: ScalarType, second: ScalarType) -> ScalarType {
    let operands = [first, second].map(PromotionOperand::Strong);
    ufunc::row("add").and_then(|add| ufunc::resolve(add, &operands)).unwrap_or(second)
}

/// Scans an array along an axis.
///
/// # Errors
/// `TypeError`, `ValueError` and `IndexError`, as in NumPy; driver errors.
pub(super) fn call<'py>(
    entry: &'static ReductionEntry,
    operand: &Bound<'py, GpuArray>,
    args: &ScanArgs<'py>,
) -> ArrayResult<'py> {
    let py = operand.py();
    let operand_array = operand.get().array(py)?;
    let flat = match args.axis {
        None => Some(raveled(py, operand_array)?),
        Some(_) if operand_array.layout().ndim() == 0 => Some(raveled(py, operand_array)?),
        Some(_) => None,
    };
    let array = flat.as_ref().unwrap_or(operand_array);
    let axis = normalize_axis(args.axis.unwrap_or(0), array.layout().ndim())?;
    let out_argument = reduce::output_argument(entry, true, array, args.out.as_ref())?;
    let kind = array.dtype().kind();
    let computed =
        computed(entry, kind, args.dtype.as_ref(), out_argument.as_ref().map(|out| out.get().dtype().kind()))?;
    let out = match out_argument {
        Some(out) => {
            check_shape(entry, out.get().layout(), array.layout())?;
            out
        }
        None => {
            let dtype = DType::new(entry.output(computed));
            let shape: Vec<i64> = array.layout().shape().collect();
            let layout = Layout::in_k_order(&shape, &[array.layout()], dtype.itemsize() as i64)?;
            new_like(operand, GpuArray::from_array(device_arrays::new_dense(py, layout, dtype, array.device())?))?
        }
    };
    let target = out.get().array(py)?;
    if target.layout().is_empty() {
        return Ok(out);
    }
    let stream = stream::current(array.device());
    if array.device().is_cpu() && !stream_captures::is_capturing(&stream)? {
        scan_with_numpy(py, entry, array, axis, computed, &out)?;
        return Ok(out);
    }
    // An operand that overlaps the output array is copied, because one thread block may write results to memory that
    // another thread block still has to read.
    let input_copy = match copy::may_overlap(target, array) && !copy::is_same_place(target, array) {
        true => Some(transfer::device_copy_like(py, array)?),
        false => None,
    };
    let call = scan::AxisScan { row: entry, computed, input: input_copy.as_ref().unwrap_or(array), out: target, axis };
    py.without_gil(|| scan::run(&call, &stream))?;
    Ok(out)
}

/// Returns all elements of an array in C order, as an array with one axis.
fn raveled(py: Python<'_>, array: &Array) -> PyResult<Array> {
    if let Some(layout) = array.layout().ravel(MemoryOrder::C)? {
        return Ok(array.view(layout)?);
    }
    let copied = transfer::device_copy(py, array, MemoryOrder::C)?;
    let flat = copied.layout().ravel(MemoryOrder::C)?;
    Ok(flat.map(|layout| copied.view(layout)).transpose()?.unwrap_or(copied))
}

/// Calls NumPy's function for the scan with ndarrays over the memory of the arrays.
fn scan_with_numpy(
    py: Python<'_>,
    entry: &ReductionEntry,
    array: &Array,
    axis: usize,
    computed: ScalarType,
    out: &Bound<'_, GpuArray>,
) -> PyResult<()> {
    let keywords = PyDict::new(py);
    keywords.set_item("axis", axis)?;
    keywords.set_item("out", cpu_view::view(out)?)?;
    if !entry.is_of_truths() {
        keywords.set_item("dtype", dtype::to_python(py, DType::new(computed))?)?;
    }
    let numpy = ndarray::numpy(py)?;
    let function = match entry.name {
        "nansum" => numpy.getattr("nancumsum")?,
        "nanprod" => numpy.getattr("nancumprod")?,
        name => numpy.getattr(reduce::ufunc_of_reduction(name))?.getattr("accumulate")?,
    };
    function.call((cpu_view::owning(py, array)?,), Some(&keywords))?;
    Ok(())
}

/// Computes `accumulate` of a binary function, by default along the first axis. Returns `None` if the function has no
/// scan.
///
/// # Errors
/// The errors of [`call`]; `TypeError` for an array without axes.
pub(super) fn call_ufunc_accumulate<'py>(
    name: &str,
    operand: &Bound<'py, PyAny>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let (Some(entry), Ok(operand)) = (reduce::reduction_of_ufunc(name), operand.cast::<GpuArray>()) else {
        return Ok(None);
    };
    let (mut axis, mut dtype, mut out) = (None, None, None);
    for (key, value) in keywords.into_iter().flat_map(|out_argument| out_argument.iter()) {
        let key: String = key.extract()?;
        match key.as_str() {
            "axis" => axis = Some(value),
            "dtype" => dtype = Some(value),
            "out" => out = Some(value),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "{name}.accumulate() got an unexpected keyword argument '{other}'; axis, dtype and out are understood"
                )));
            }
        }
    }
    let ndim = operand.get().layout().ndim();
    if ndim == 0 {
        return Err(PyTypeError::new_err("cannot accumulate on a scalar"));
    }
    let mut args = ScanArgs::new([None, dtype.as_ref(), out.as_ref()])?;
    args.axis = Some(read_axis("accumulate", axis, ndim)?);
    call(entry, operand, &args).map(Some)
}

/// Reads the axis of a method such as `accumulate`: an integer, a tuple of one integer, or `None` for an array with one axis.
pub(super) fn read_axis(method: &str, axis: Option<Bound<'_, PyAny>>, ndim: usize) -> PyResult<i64> {
    let several = || PyValueError::new_err(format!("{method} does not allow multiple axes"));
    match axis {
        None => Ok(0),
        Some(none) if none.is_none() => {
            if ndim == 1 {
                Ok(0)
            } else {
                Err(several())
            }
        }
        Some(axis) => match axis.cast::<PyTuple>() {
            Ok(tuple) if tuple.len() == 1 => shape::integer(&tuple.get_item(0)?, "axis"),
            Ok(_) => Err(several()),
            Err(_) => shape::integer(&axis, "axis"),
        },
    }
}

/// Declares the functions and methods that compute scans. Each declaration consists of a summary, the form (`method` or
/// `function`), the name in Python, the name by which the reduction is found in the table of reductions, and examples.
macro_rules! scans {
    ($($(#[$summary:meta])* $form:ident $name:ident => $entry:literal { $(#[$example:meta])* })*) => {
        $(scans! { @ $form $name $entry {$(#[$summary])*} {$(#[$example])*} })*
    };
    (@ method $name:ident $entry:literal {$($summary:tt)*} $examples:tt) => {
        scans! { @@ method $name $entry
            {
                $($summary)*
                ///
                /// The result stays on the device. Repeated calls return bitwise identical results.
                ///
                /// Parameters
                /// ----------
            }
            "     Array for the result; it may be the array itself." $examples }
    };
    (@ function $name:ident $entry:literal {$($summary:tt)*} $examples:tt) => {
        scans! { @@ function $name $entry
            {
                $($summary)*
                ///
                /// Parameters
                /// ----------
                /// a : GPUArray
            }
            "     Array for the result." $examples }
    };
    (@@ $form:ident $name:ident $entry:literal {$($head:tt)*} $out:tt {$($examples:tt)*}) => {
        entry! { $form $name
            {
                $($head)*
                /// axis : int, optional
                ///     The axis of the scan; without an axis all elements are scanned in C order.
                #[doc = parameter!(dtype)]
                /// out : GPUArray, optional
                #[doc = $out]
                ///
                /// Examples
                /// --------
                /// >>> import PyGPU
                $($examples)*
            }
            (axis: "int | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None)
            [-> "GPUArray"] (axis: OptionalArg<'_, 'py>, dtype: OptionalArg<'_, 'py>, out: OptionalArg<'_, 'py>)
            Bound<'py, GpuArray>, call, [find_reduction($entry)?], &ScanArgs::new([axis, dtype, out])? }
    };
}

scans! {
    /// Return the cumulative sums of the elements; integers are summed as 64-bit integers.
    method cumsum => "sum" {
        /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).cumsum(axis=0).tolist()
        /// [[1, 2], [4, 6]]
    }
    /// Return the cumulative products of the elements; integers are multiplied as 64-bit integers.
    method cumprod => "prod" {
        /// >>> PyGPU.to_gpu([1, 2, 3]).cumprod().tolist()
        /// [1, 2, 6]
    }
    /// Return the cumulative sums of the elements, like `a.cumsum()`.
    function cumsum => "sum" {
        /// >>> PyGPU.cumsum(PyGPU.to_gpu([1, 2, 3])).tolist()
        /// [1, 3, 6]
    }
    /// Return the cumulative products of the elements, like `a.cumprod()`.
    function cumprod => "prod" {
        /// >>> PyGPU.cumprod(PyGPU.to_gpu([[1, 2], [3, 4]]), axis=1).tolist()
        /// [[1, 2], [3, 12]]
    }
    /// Return the cumulative sums of the elements, with NaN as 0.
    function nancumsum => "nansum" {
        /// >>> PyGPU.nancumsum(PyGPU.to_gpu([1.0, float("nan"), 3.0])).tolist()
        /// [1.0, 1.0, 4.0]
    }
    /// Return the cumulative products of the elements, with NaN as 1.
    function nancumprod => "nanprod" {
        /// >>> PyGPU.nancumprod(PyGPU.to_gpu([2.0, float("nan"), 3.0])).tolist()
        /// [2.0, 2.0, 6.0]
    }
}

names! {
    functions "Scans": cumsum, cumprod, nancumsum, nancumprod;
}
