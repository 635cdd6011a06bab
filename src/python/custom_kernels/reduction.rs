//! Defines the class `ReductionKernel`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString, PyTuple};
use smallvec::SmallVec;

use super::arguments::{self, BoundArguments};
use super::pickle_state::{KernelOptions, KernelState};
use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_exact};
use crate::atexit::Detached;
use crate::convert::argument_errors;
use crate::convert::dtype as dtypes;
use crate::create::from_supplied_memory;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::init_cell::InitCell;
use crate::py_once::intern;
use crate::runtime::compiler::warn_untrusted_cache;
use crate::runtime::stream as stream_argument;
use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, MemoryOrder};
use pygpu_ops::user_source_analysis::WrittenNames;
use pygpu_ops::{Reduce, ReductionSpec, reduction_kernel};

/// A kernel that reduces all elements of arrays of any layout to one value.
///
/// Parameters
/// ----------
/// dtype_out : data-type
///     Type of the result; a registered structured dtype is allowed.
/// neutral : str or number
///     The result for arrays without elements, as a C expression: ``'0'``.
/// reduce_expr : str
///     Combines ``a`` and ``b``: ``'a + b'``. The expression must be associative and commutative.
/// map_expr : str, optional
///     The value of element ``i``; ``'in[i]'`` by default.
/// arguments : str or sequence, optional
///     As declared in C, or a list of `VectorArg` and `ScalarArg`; by default an array ``in`` of `dtype_out`.
/// name : str, optional
///     The kernel's name in messages and profilers.
/// keep : bool, optional
///     Print the path of the file that contains the generated source.
/// options : sequence of str or str, optional
///     Options for the compiler, as for `Kernel`.
/// preamble : str, optional
///     Code that is inserted before the kernel: functions, types, macros.
///
/// Raises
/// ------
/// ValueError
///     If a declaration has no type, or if a name is invalid.
///
/// Notes
/// -----
/// ``kernel(*arguments, stream=None, out=None, allocator=None)`` returns a new zero-dimensional array, or `out`
/// with the result as its first element. Arrays are broadcast as in a call of an `ElementwiseKernel`. The order in
/// which elements are combined depends only on the number of elements and on the device, so repeated calls return
/// identical results.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> from PyGPU.reduction import ReductionKernel
/// >>> dot = ReductionKernel(np.float32, '0', 'a + b', 'x[i] * y[i]', 'const float *x, const float *y')
/// >>> x = PyGPU.to_gpu(np.arange(4, dtype=np.float32))
/// >>> dot(x, x).get()
/// array(14., dtype=float32)
#[pyclass(frozen, subclass, weakref, dict, name = "ReductionKernel", module = "PyGPU.reduction")]
pub(crate) struct PyReduction(InitCell<KernelState<Reduce>>);

impl PyReduction {
    fn state(&self) -> PyResult<&KernelState<Reduce>> {
        self.0.get("ReductionKernel")
    }
}

/// Returns the C expression for a value: a string unchanged, or a number in C's syntax.
pub(crate) fn expression(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.to_owned()),
        Err(_) => {
            let value = match value.getattr_opt(intern!(value.py(), "item"))? {
                Some(item) => item.call0()?,
                None => value.clone(),
            };
            // Python's `True`, `inf` and `nan` are no C tokens, and the headers with C's equivalents are not included,
            // so other expressions replace them.
            if value.is_instance_of::<PyBool>() {
                return Ok(value.is_truthy()?.to_string());
            }
            let number = value.cast::<PyFloat>().map_or(0.0, |number| number.value());
            Ok(match number {
                _ if number.is_nan() => "(1e300 * 1e300 * 0)".to_owned(),
                f64::INFINITY => "(1e300 * 1e300)".to_owned(),
                f64::NEG_INFINITY => "(-1e300 * 1e300)".to_owned(),
                _ => value.str()?.to_str()?.to_owned(),
            })
        }
    }
}

/// Returns the C name of a dtype.
pub(crate) fn c_type(dtype: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = dtype.py();
    py.import(intern!(py, "PyGPU._arguments.c_types"))?.getattr("dtype_to_ctype")?.call1((dtype,))?.extract()
}

/// Order of the constructor's arguments, for error messages.
const ORDER: &str = "ReductionKernel(dtype_out, neutral, reduce_expr, map_expr, arguments, name), such as \
                     ReductionKernel('float32', '0', 'a + b', 'x[i] * x[i]', 'float *x')";

#[pymethods]
impl PyReduction {
    // Python passes the arguments of a subclass' `__init__` to `__new__` too, so any arguments are accepted.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs),
           text_signature = "(dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name='reduce_kernel', keep=False, \
                             options=None, preamble='')")]
    // stub: def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    fn py_new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(InitCell::default())
    }

    #[pyo3(signature = (dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel", keep=None,
                        options=None, preamble=""))]
    #[expect(clippy::too_many_arguments, reason = "PyCUDA's signature")]
    // stub: def __init__(
    // stub:     self,
    // stub:     dtype_out: DTypeLike,
    // stub:     neutral: str | complex,
    // stub:     reduce_expr: str,
    // stub:     map_expr: str | None = None,
    // stub:     arguments: str | Sequence[Any] | None = None,
    // stub:     name: str = "reduce_kernel",
    // stub:     keep: bool = False,
    // stub:     options: str | Sequence[str] | None = None,
    // stub:     preamble: str = "",
    // stub: ) -> None: ...
    fn __init__(
        &self,
        dtype_out: &Bound<'_, PyAny>,
        neutral: &Bound<'_, PyAny>,
        reduce_expr: String,
        map_expr: Option<String>,
        arguments: Option<&Bound<'_, PyAny>>,
        name: &str,
        keep: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyAny>>,
        preamble: &str,
    ) -> PyResult<()> {
        let request = KernelOptions {
            class: "ReductionKernel",
            order: ORDER,
            noun: "a reduction",
            name,
            keep,
            options,
            preamble,
        };
        let keep = request.keep()?;
        let pickle_state = (dtype_out, neutral, &reduce_expr, &map_expr, arguments, name, keep, options, preamble);
        let pickle_state = pickle_state.into_pyobject(dtype_out.py())?.into();
        let dtype = dtypes::from_python(dtype_out)?;
        let c_type = c_type(dtype_out)?;
        let arguments = match arguments.filter(|declared| !declared.is_none()) {
            Some(declared) => arguments::arguments(declared)?,
            None => vec![reduction_kernel::default_argument(dtype, &c_type)],
        };
        let arguments = request.require_array(arguments)?;
        let (options, preamble) = request.options(dtype_out.py())?;
        let spec = ReductionSpec {
            name: name.to_owned(),
            dtype,
            c_type,
            neutral: expression(neutral)?,
            reduce: reduce_expr,
            map: map_expr.unwrap_or_else(|| "in[i]".to_owned()),
            preamble,
            options,
        };
        self.0.make("ReductionKernel", || {
            Ok(KernelState { kernel: Detached::new(Reduce::new(spec, arguments)?), keep, pickle_state })
        })
    }

    #[pyo3(signature = (*args: "Any", **kwargs: "Any") -> "GPUArray")]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let KernelState { kernel, keep, .. } = self.state()?;
        let (name, dtype) = (&kernel.reduction().name, kernel.reduction().dtype);
        let keywords =
            kwargs.map_or_else(|| Ok(ReductionKeywords::default()), |kwargs| ReductionKeywords::read(name, kwargs))?;
        let usages = &kernel.analysis().usages;
        let is_written = |position: usize| {
            usages.get(position).copied().flatten().is_some_and(|usage| usage.written > WrittenNames::No)
        };
        let mut bound = BoundArguments::read(name, kernel.arguments(), is_written, args)?;
        let scalars = std::mem::take(&mut bound.scalars);
        let arrays: SmallVec<[&Array; 6]> = bound.arrays().collect();
        let plan = kernel.plan(&arrays)?;
        let _inherited = match keywords.allocator {
            Some(_) => None,
            None => allocator_inheritance::inherit(py, arrays.iter().copied())?,
        };
        let Some(device) = arrays.first().map(|array| array.device()) else { return Ok(py.None().into_bound(py)) };
        let stream = &stream_argument::from_argument(py, keywords.stream.as_ref(), device)?;
        if *keep && !kernel.is_compiled(device, &plan) {
            arguments::keep_source(py, name, &kernel.source(&plan, device).text)?;
        }
        let ready = py.without_gil(|| kernel.ready(plan, device))?;
        warn_untrusted_cache(py)?;
        let allocator = keywords.allocator.as_ref();
        let result = match &keywords.out {
            Some(out) => out.clone(),
            None => new_exact(py, new_array(py, allocator, &[], dtype, stream)?)?,
        };
        let out = result.get().array(py)?;
        kernel.check_out(out, device)?;
        let parts = match ready.parts() {
            // If one launch suffices, no array of partial results is needed, and the result's array is passed as a
            // placeholder.
            0 => result.clone(),
            count => new_exact(py, new_array(py, allocator, &[count], dtype, stream)?)?,
        };
        let outputs = [out, parts.get().array(py)?];
        // SAFETY: the kernel made the plan for these arrays, and `BoundArguments` has checked their types and the
        // values' sizes against the kernel's declaration.
        py.without_gil(|| unsafe { kernel.run(&ready, &arrays, scalars, outputs, stream) })?;
        drop(arrays);
        bound.retain_foreign(py, stream)?;
        Ok(result.into_any())
    }

    /// The kernel's name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.state()?.kernel.reduction().name.clone())
    }

    /// The declared arguments as strings.
    #[getter]
    fn arguments(&self) -> PyResult<Vec<String>> {
        Ok(self.state()?.kernel.arguments().iter().map(ToString::to_string).collect())
    }

    /// Pickles the constructor arguments. All unpickled copies with equal arguments are one kernel object per process.
    #[pyo3(signature = () -> "tuple[Any, ...]")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().state()?.pickle_state.reduce(slf)
    }

    fn __repr__(&self) -> PyResult<String> {
        let Some(KernelState { kernel, .. }) = self.0.value() else {
            return Ok("<PyGPU.ReductionKernel, not made yet>".to_owned());
        };
        let name = &kernel.reduction().name;
        Ok(format!("<PyGPU.ReductionKernel {name}({})>", self.arguments()?.join(", ")))
    }
}

/// Allocates an array from `allocator`, or from the allocator of this thread if `allocator` is `None`.
pub(crate) fn new_array(
    py: Python<'_>,
    allocator: Option<&Bound<'_, PyAny>>,
    shape: &[i64],
    dtype: DType,
    stream: &Stream,
) -> PyResult<GpuArray> {
    match allocator {
        Some(allocator) => {
            let layout = Layout::contiguous(shape, dtype.itemsize() as i64, MemoryOrder::C)?;
            Ok(GpuArray::from_array(from_supplied_memory::from_callable(allocator, layout, dtype, stream.device())?))
        }
        None => {
            let array = py.without_gil(|| Array::empty(shape, dtype, MemoryOrder::C, stream.clone()))?;
            Ok(GpuArray::from_array(array))
        }
    }
}

/// Keyword arguments of a call.
#[derive(Default)]
struct ReductionKeywords<'py> {
    stream: Option<Bound<'py, PyAny>>,
    out: Option<Bound<'py, GpuArray>>,
    allocator: Option<Bound<'py, PyAny>>,
}

impl<'py> ReductionKeywords<'py> {
    fn read(name: &str, kwargs: &Bound<'py, PyDict>) -> PyResult<Self> {
        let mut keywords = Self::default();
        for (key, value) in kwargs {
            let value = Some(value).filter(|value| !value.is_none());
            match key.cast::<PyString>()?.to_str()? {
                "stream" => keywords.stream = value,
                "out" => {
                    keywords.out = value
                        .map(|value| {
                            value.cast::<GpuArray>().cloned().map_err(|_| argument_errors::output(Some(name), &value))
                        })
                        .transpose()?;
                }
                "allocator" => keywords.allocator = value,
                // In PyCUDA, this hook is called with the compiled functions of the kernel. PyGPU has no such
                // functions, so only None is accepted.
                "kernel_wrapper" if value.is_none() => {}
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "{name}() takes the keywords stream, out and allocator, not {other}"
                    )));
                }
            }
        }
        Ok(keywords)
    }
}

names! {
    internal_classes: PyReduction;
}
