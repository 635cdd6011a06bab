//! Defines the classes `InclusiveScanKernel` and `ExclusiveScanKernel`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyString, PyTuple};

use super::pickle_state::KernelOptions;
use super::reduction::{c_type, expression, new_array};
use crate::array::class::{GpuArray, new_exact};
use crate::atexit::Detached;
use crate::convert::OptionalArg;
use crate::convert::argument_errors;
use crate::convert::dtype as dtypes;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::init_cell::InitCell;
use crate::py_once::intern;
use crate::runtime::compiler::warn_untrusted_cache;
use crate::runtime::current_stream::CurrentStreamGuard;
use crate::runtime::stream as stream_argument;
use pygpu_array::Array;
use pygpu_layout::Dims;
use pygpu_ops::{Scan, Scanning};

/// State of `InclusiveScanKernel` and `ExclusiveScanKernel`.
#[derive(Default)]
struct ScanDefinition(InitCell<Detached<Scan>>);

/// Name of a scan kernel in error messages.
const NOUN: &str = "scan kernel";

/// Constructor arguments of both scan classes.
struct ScanInit<'a, 'py> {
    dtype: &'a Bound<'py, PyAny>,
    scan_expr: String,
    neutral: Option<&'a Bound<'py, PyAny>>,
    request: KernelOptions<'a, 'py>,
}

impl ScanDefinition {
    fn make(&self, init: ScanInit<'_, '_>) -> PyResult<()> {
        let (options, preamble) = init.request.options(init.dtype.py())?;
        let scanning = Scanning {
            name: init.request.name.to_owned(),
            dtype: dtypes::from_python(init.dtype)?,
            c_type: c_type(init.dtype)?,
            expression: init.scan_expr,
            neutral: init.neutral.map(expression).transpose()?,
            preamble,
            options,
        };
        self.0.make(NOUN, || Ok(Detached::new(Scan::new(scanning)?)))
    }

    fn repr(&self, class: &str) -> String {
        match self.0.value() {
            Some(scan) => format!("<PyGPU.{class} {}>", scan.scanning().name),
            None => format!("<PyGPU.{class}, not made yet>"),
        }
    }

    fn call<'py>(
        &self,
        input: &Bound<'py, PyAny>,
        output: Option<&Bound<'py, PyAny>>,
        allocator: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = input.py();
        let scan = self.0.get(NOUN)?;
        let (name, dtype) = (&scan.scanning().name, scan.scanning().dtype);
        let Ok(input) = input.cast::<GpuArray>() else {
            return Err(PyTypeError::new_err(format!(
                "{name}(): the input is {}; expected a GPUArray; write PyGPU.to_gpu(x)",
                argument_errors::describe(input)
            )));
        };
        let from = input.get().array(input.py())?;
        let (device, allocator) = (from.device(), allocator.filter(|output_value| !output_value.is_none()));
        let has_other_dtype = |array: &Array| array.dtype() != dtype && array.dtype().row().is_some();
        let output_has_other_dtype = output.and_then(|output_value| output_value.cast::<GpuArray>().ok());
        let output_has_other_dtype = output_has_other_dtype
            .map(|output_value| output_value.get().array(py))
            .transpose()?
            .is_some_and(has_other_dtype);
        if dtype.row().is_some() && (has_other_dtype(from) || output_has_other_dtype) {
            return self.call_converted(scan, input, output, allocator, stream);
        }
        let stream = &stream_argument::from_argument(py, stream, device)?;
        scan.check_input(from)?;
        let output = match output.filter(|output_value| !output_value.is_none()) {
            None => input.clone(),
            Some(output_value) if output_value.cast::<PyString>().is_ok_and(|text| text == "new") => {
                let shape: Dims = from.layout().shape().collect();
                new_exact(py, new_array(py, allocator, &shape, dtype, stream)?)?
            }
            Some(output_value) => output_value.clone().cast_into::<GpuArray>().map_err(|_| {
                PyTypeError::new_err(format!("{name}(): output_ary is a GPUArray, 'new', or None to scan in place"))
            })?,
        };
        let to = output.get().array(py)?;
        let blocks = scan.blocks(device, from.layout().size());
        let parts = new_exact(py, new_array(py, allocator.filter(|_| blocks > 0), &[blocks as i64], dtype, stream)?)?;
        let parts = parts.get().array(py)?;
        py.without_gil(|| scan.run(from, to, parts, stream))?;
        warn_untrusted_cache(py)?;
        Ok(output.into_any())
    }

    /// Converts an input array of another dtype to the kernel's dtype, scans the copy, and converts the result back.
    #[cold]
    fn call_converted<'py>(
        &self,
        scan: &Scan,
        input: &Bound<'py, GpuArray>,
        output: Option<&Bound<'py, PyAny>>,
        allocator: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = input.py();
        if let Some(output_value) = output.and_then(|output_value| output_value.cast::<GpuArray>().ok()) {
            let (from, to) = (input.get().layout(), output_value.get().layout());
            if to.ndim() != 1 || from.size() != to.size() {
                return Err(PyValueError::new_err(format!(
                    "{}(): the input has {} elements, and output_ary {} in {} axes",
                    scan.scanning().name,
                    from.size(),
                    to.size(),
                    to.ndim()
                )));
            }
        }
        let _current = CurrentStreamGuard::from_argument(py, input.get().device(), stream)?;
        let dtype = dtypes::to_python(py, scan.scanning().dtype)?;
        let scanned = input.call_method1(intern!(py, "astype"), (dtype,))?;
        let scanned = self.call(&scanned, None, allocator, stream)?;
        let target = match output.filter(|output_value| !output_value.is_none()) {
            None => input.as_any(),
            Some(output_value) if output_value.is_instance_of::<PyString>() => return Ok(scanned),
            Some(output_value) => output_value,
        };
        let keywords = [("casting", "unsafe")].into_py_dict(py)?;
        py.import(intern!(py, "PyGPU._core"))?.call_method(
            intern!(py, "copyto"),
            (target, scanned),
            Some(&keywords),
        )?;
        Ok(target.clone())
    }
}

/// Declares both scan classes. The macro's arguments are the documentation, the Rust and Python names, the
/// documentation of `neutral`, the function that checks `neutral`, and the docstring sections after the parameters.
macro_rules! scan_kernels {
    ($($(#[$summary:meta])* $class:ident $name:literal ($($neutral:tt)*) $check:path { $(#[$rest:meta])* })*) => {
        $(
            $(#[$summary])*
            ///
            /// Parameters
            /// ----------
            /// dtype : data-type
            ///     Type of the elements; a registered structured dtype is allowed.
            /// scan_expr : str
            ///     Combines ``a`` and the following ``b``: ``'a + b'``. The expression must be associative.
            $($neutral)*
            /// name_prefix : str, optional
            ///     Prefix of the kernels' names.
            /// options : sequence of str or str, optional
            ///     Options for the compiler, as for `Kernel`.
            /// preamble : str, optional
            ///     Code that is inserted before the kernels: functions, types, macros.
            /// devices : optional
            ///     Ignored, because kernels are compiled for each device in use.
            ///
            $(#[$rest])*
            #[pyclass(frozen, subclass, weakref, dict, name = $name, module = "PyGPU.scan")]
            pub(crate) struct $class(ScanDefinition);

            #[pymethods]
            impl $class {
                // Python passes the arguments of a subclass' `__init__` to `__new__` too, so any arguments are
                // accepted.
                #[new]
                #[pyo3(signature = (*_args, **_kwargs),
                       text_signature = "(dtype, scan_expr, neutral=None, name_prefix='scan', options=None, preamble='', \
                                         devices=None)")]
                // stub: def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
                fn py_new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
                    Self(ScanDefinition::default())
                }

                #[pyo3(signature = (
                    dtype: "DTypeLike", scan_expr: "str", neutral: "str | complex | None" = None, name_prefix: "str" = "scan",
                    options: "str | Sequence[str] | None" = None, preamble: "str" = "", devices: "Any" = None
                ) -> "None")]
                #[expect(clippy::too_many_arguments, reason = "PyCUDA's signature")]
                fn __init__(
                    &self,
                    dtype: &Bound<'_, PyAny>,
                    scan_expr: String,
                    neutral: Option<&Bound<'_, PyAny>>,
                    name_prefix: &str,
                    options: Option<&Bound<'_, PyAny>>,
                    preamble: &str,
                    devices: Option<&Bound<'_, PyAny>>,
                ) -> PyResult<()> {
                    let _ = devices;
                    let neutral = $check(neutral)?;
                    let request =
                        KernelOptions { class: $name, order: "", noun: NOUN, name: name_prefix, keep: None, options, preamble };
                    self.0.make(ScanInit { dtype, scan_expr, neutral, request })
                }

                #[pyo3(signature = (
                    input_ary: "GPUArray", output_ary: "GPUArray | Literal['new'] | None" = None,
                    allocator: "Callable[[int], Any] | None" = None, stream: "StreamLike" = None
                ) -> "GPUArray")]
                fn __call__<'py>(
                    &self,
                    input_ary: &Bound<'py, PyAny>,
                    output_ary: Option<&Bound<'py, PyAny>>,
                    allocator: Option<&Bound<'py, PyAny>>,
                    stream: Option<&Bound<'py, PyAny>>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    self.0.call(input_ary, output_ary, allocator, stream)
                }

                fn __repr__(&self) -> String {
                    self.0.repr($name)
                }
            }
        )*
    };
}

fn no_neutral<'a, 'py>(_: OptionalArg<'a, 'py>) -> PyResult<OptionalArg<'a, 'py>> {
    Ok(None)
}

fn neutral<'a, 'py>(value: OptionalArg<'a, 'py>) -> PyResult<OptionalArg<'a, 'py>> {
    match value.filter(|value| !value.is_none()) {
        None => Err(PyValueError::new_err("neutral element is required for exclusive scan")),
        value => Ok(value),
    }
}

scan_kernels! {
    /// A kernel that computes the inclusive scan of an array: each element combined with all preceding elements.
    PyInclusiveScan "InclusiveScanKernel" (
        /// neutral : str or number, optional
        ///     Ignored. It is accepted because `ExclusiveScanKernel` has the same parameter.
    ) no_neutral {
        /// Notes
        /// -----
        /// ``kernel(input, output_ary=None, allocator=None, stream=None)`` scans a one-dimensional array with any
        /// stride. The call overwrites `input` by default, fills `output_ary`, or creates an array for
        /// ``output_ary='new'``. The call returns the array that contains the result.
        ///
        /// Examples
        /// --------
        /// >>> import numpy as np
        /// >>> import PyGPU
        /// >>> from PyGPU.scan import InclusiveScanKernel
        /// >>> cumsum = InclusiveScanKernel(np.int32, 'a + b')
        /// >>> x = PyGPU.to_gpu(np.array([1, 2, 3], np.int32))
        /// >>> cumsum(x).get()
        /// array([1, 3, 6], dtype=int32)
    }
    /// A kernel that computes the exclusive scan of an array: each element is replaced by the combination of all
    /// preceding elements.
    PyExclusiveScan "ExclusiveScanKernel" (
        /// neutral : str or number
        ///     The first element of the result.
    ) neutral {
        /// Raises
        /// ------
        /// ValueError
        ///     If `neutral` is missing.
        ///
        /// Notes
        /// -----
        /// A kernel is called like an `InclusiveScanKernel`.
        ///
        /// Examples
        /// --------
        /// >>> import numpy as np
        /// >>> import PyGPU
        /// >>> from PyGPU.scan import ExclusiveScanKernel
        /// >>> before = ExclusiveScanKernel(np.int32, 'a + b', 0)
        /// >>> x = PyGPU.to_gpu(np.array([1, 2, 3], np.int32))
        /// >>> before(x).get()
        /// array([0, 1, 3], dtype=int32)
    }
}

names! {
    internal_classes: PyInclusiveScan, PyExclusiveScan;
}
