//! Defines the class `ElementwiseKernel`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use smallvec::SmallVec;

use super::arguments::{self, BoundArguments};
use super::pickle_state::{KernelOptions, KernelState};
use crate::atexit::Detached;
use crate::convert::number;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::init_cell::InitCell;
use crate::runtime::compiler::warn_untrusted_cache;
use crate::runtime::stream as stream_argument;
use pygpu_array::Array;
use pygpu_ops::user_source_analysis::{Texts, WrittenNames};
use pygpu_ops::{Elementwise, IndexRange};

/// A kernel that executes a C operation for each element of arrays of any layout.
///
/// Parameters
/// ----------
/// arguments : str or sequence
///     As declared in C, ``'float a, float *x, float *z'``, or a list of `VectorArg` and `ScalarArg`.
/// operation : str
///     The operation for element ``i``: ``'z[i] = a * x[i]'``.
/// name : str, optional
///     The kernel's name in messages and profilers.
/// keep : bool, optional
///     Print the path of the file that contains the generated source.
/// options : sequence of str or str, optional
///     Options for the compiler, as for `Kernel`.
/// preamble : str, optional
///     Code that is inserted before the kernel: functions, types, macros.
/// loop_prep, after_loop : str, optional
///     Code that a thread executes before its first and after its last element.
///
/// Raises
/// ------
/// ValueError
///     If a declaration has no type, or if a name is invalid.
///
/// Notes
/// -----
/// ``kernel(*arguments, range=None, slice=None, stream=None)`` launches the kernel. Arrays indexed by ``i`` are
/// broadcast to one shape as in NumPy; a written array must have that shape. ``i`` counts the elements in C order for
/// any strides, and ``n`` is the number of elements. ``tid``, ``total_threads`` and ``cta_start`` are the index of the
/// thread, the number of threads, and the index of the first thread of the block. An array that is never indexed by
/// ``i`` alone, as in ``table[x[i]]``, keeps its own shape. `slice` and `range` select a part of the indices. Numbers
/// are converted to the declared type.
///
/// The code is compiled at the first call for each kind of memory layout, and stored in the cache folder.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> from PyGPU.elementwise import ElementwiseKernel
/// >>> axpy = ElementwiseKernel('float a, float *x, float *y, float *z', 'z[i] = a * x[i] + y[i]', 'axpy')
/// >>> x = PyGPU.to_gpu(np.arange(3, dtype=np.float32))
/// >>> z = PyGPU.empty_like(x)
/// >>> axpy(2, x, x, z)
/// >>> z.get()
/// array([0., 3., 6.], dtype=float32)
#[pyclass(frozen, subclass, weakref, dict, name = "ElementwiseKernel", module = "PyGPU.elementwise")]
pub(crate) struct PyElementwise(InitCell<KernelState<Elementwise>>);

impl PyElementwise {
    fn state(&self) -> PyResult<&KernelState<Elementwise>> {
        self.0.get("ElementwiseKernel")
    }
}

/// Order of the constructor's arguments, for error messages.
const ORDER: &str = "ElementwiseKernel(arguments, operation, name), where one text declares inputs and outputs as C does, \
                     'float *x, float *z', and the operation says what is done for element i, 'z[i] = x[i] * x[i]'";

#[pymethods]
impl PyElementwise {
    // Python passes the arguments of a subclass' `__init__` to `__new__` too, so any arguments are accepted.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs),
           text_signature = "(arguments, operation, name='kernel', keep=False, options=None, preamble='', loop_prep='', \
                             after_loop='')")]
    // stub: def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    fn py_new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(InitCell::default())
    }

    #[pyo3(signature = (arguments, operation, name="kernel", keep=None, options=None, preamble="", loop_prep="", after_loop=""))]
    #[expect(clippy::too_many_arguments, reason = "PyCUDA's signature")]
    // stub: def __init__(
    // stub:     self,
    // stub:     arguments: str | Sequence[Any],
    // stub:     operation: str,
    // stub:     name: str = "kernel",
    // stub:     keep: bool = False,
    // stub:     options: str | Sequence[str] | None = None,
    // stub:     preamble: str = "",
    // stub:     loop_prep: str = "",
    // stub:     after_loop: str = "",
    // stub: ) -> None: ...
    fn __init__(
        &self,
        arguments: &Bound<'_, PyAny>,
        operation: String,
        name: &str,
        keep: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyAny>>,
        preamble: &str,
        loop_prep: &str,
        after_loop: &str,
    ) -> PyResult<()> {
        let noun = "an elementwise kernel";
        let request = KernelOptions { class: "ElementwiseKernel", order: ORDER, noun, name, keep, options, preamble };
        let keep = request.keep()?;
        let pickle_state = (arguments, &operation, name, keep, options, preamble, loop_prep, after_loop);
        let pickle_state = pickle_state.into_pyobject(arguments.py())?.into();
        let (options, preamble) = request.options(arguments.py())?;
        let [loop_prep, after_loop] = [loop_prep, after_loop].map(str::to_owned);
        let texts = Texts { operation, loop_prep, after_loop, preamble, ..Texts::default() };
        let arguments = arguments::arguments(arguments)?;
        let arguments = request.require_array(arguments)?;
        let make = || {
            Ok(KernelState {
                kernel: Detached::new(Elementwise::new(name.to_owned(), arguments, texts, options)?),
                keep,
                pickle_state,
            })
        };
        self.0.make("ElementwiseKernel", make)
    }

    #[pyo3(signature = (*args: "Any", **kwargs: "Any") -> "None")]
    fn __call__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let py = args.py();
        let KernelState { kernel, keep, .. } = self.state()?;
        let keywords = kwargs.map_or_else(
            || Ok(ElementwiseKeywords::default()),
            |kwargs| ElementwiseKeywords::read(kernel.name(), kwargs),
        )?;
        let usages = &kernel.analysis().usages;
        let is_written = |position: usize| {
            usages.get(position).copied().flatten().is_some_and(|usage| usage.written > WrittenNames::No)
        };
        let mut bound = BoundArguments::read(kernel.name(), kernel.arguments(), is_written, args)?;
        let mut scalars = std::mem::take(&mut bound.scalars);
        let arrays: SmallVec<[&Array; 6]> = bound.arrays().collect();
        let is_ranged = keywords.range.is_some() || keywords.slice.is_some();
        let plan = kernel.plan(&arrays, is_ranged)?;
        let range = keywords.indices(kernel.name(), plan.size())?;
        let Some(first) = arrays.first() else { return Ok(()) };
        let stream = stream_argument::from_argument(py, keywords.stream.as_ref(), first.device())?;
        if *keep && !kernel.is_compiled(first.device(), &plan, is_ranged) {
            arguments::keep_source(py, kernel.name(), &kernel.source(&plan, is_ranged).text)?;
        }
        // SAFETY: the kernel made the plan for these arrays, and `BoundArguments` has checked their types and the
        // values' sizes against the kernel's declaration.
        py.without_gil(|| unsafe { kernel.run(&plan, &arrays, &mut scalars, range, &stream) })?;
        warn_untrusted_cache(py)?;
        drop(arrays);
        bound.retain_foreign(py, &stream)
    }

    /// The kernel's name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.state()?.kernel.name().to_owned())
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
        if self.0.value().is_none() {
            return Ok("<PyGPU.ElementwiseKernel, not made yet>".to_owned());
        }
        Ok(format!("<PyGPU.ElementwiseKernel {}({})>", self.state()?.kernel.name(), self.arguments()?.join(", ")))
    }
}

/// Keyword arguments of a call.
#[derive(Default)]
struct ElementwiseKeywords<'py> {
    range: Option<Bound<'py, PyAny>>,
    slice: Option<Bound<'py, PyAny>>,
    stream: Option<Bound<'py, PyAny>>,
}

impl<'py> ElementwiseKeywords<'py> {
    fn read(name: &str, kwargs: &Bound<'py, PyDict>) -> PyResult<Self> {
        let mut keywords = Self::default();
        for (key, value) in kwargs {
            let value = Some(value).filter(|value| !value.is_none());
            match key.cast::<PyString>()?.to_str()? {
                "range" => keywords.range = value,
                "slice" => keywords.slice = value,
                "stream" => keywords.stream = value,
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "{name}() takes the keywords range, slice and stream, not {other}"
                    )));
                }
            }
        }
        if keywords.range.is_some() && keywords.slice.is_some() {
            return Err(PyTypeError::new_err(format!("{name}(): give range or slice, not both")));
        }
        Ok(keywords)
    }

    /// Returns the indices that `slice` or `range` selects among `size` elements; `None` if neither is set.
    fn indices(&self, name: &str, size: i64) -> PyResult<Option<IndexRange>> {
        if let Some(slice) = &self.slice {
            let (start, stop, step): (i64, i64, i64) = slice.call_method1("indices", (size,))?.extract()?;
            return Ok(Some(IndexRange { start, step, count: count(start, stop, step) }));
        }
        let Some(range) = &self.range else { return Ok(None) };
        let read_bound = |read_bound: &str| -> PyResult<Option<i64>> {
            let value = range.getattr(read_bound)?;
            if value.is_none() { Ok(None) } else { number::signed(&value, read_bound).map(Some) }
        };
        let step = read_bound("step")?.unwrap_or(1);
        if step == 0 {
            return Err(PyValueError::new_err(format!("{name}(): the step of range is zero")));
        }
        let start = read_bound("start")?.unwrap_or(if step > 0 { 0 } else { size - 1 });
        let stop = read_bound("stop")?.unwrap_or(if step > 0 { size } else { -1 });
        let count = count(start, stop, step);
        let last = start.saturating_add(step.saturating_mul(count - 1));
        if count > 0 && (start.min(last) < 0 || start.max(last) >= size) {
            return Err(PyValueError::new_err(format!(
                "{name}(): range goes from {start} to {last}, and there are {size} elements"
            )));
        }
        Ok(Some(IndexRange { start, step, count }))
    }
}

fn count(start: i64, stop: i64, step: i64) -> i64 {
    let distance = if step > 0 { stop.saturating_sub(start) } else { start.saturating_sub(stop) };
    if distance <= 0 { 0 } else { (distance - 1) / step.saturating_abs() + 1 }
}

names! {
    internal_classes: PyElementwise;
}
