//! Implements the operators and comparisons of arrays, and NumPy's protocols NEP 13 and NEP 18.
//!
//! Functions of PyGPU's table are computed on the device of the arrays. Other NumPy functions are rejected with the
//! same message on every backend. Without the rejection, NumPy would treat an array in host memory as its own and
//! return an ndarray, but reject an array of a GPU.
//!
//! For an operand of an unsupported type, an operator returns `NotImplemented`. Python then calls the operand's own
//! operator. If the operand has no operator `==`, the result of `==` is False for every element.

use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::parametric_functions;
use super::product;
use super::reduce;
use super::scan;
use super::ufunc_call::{self, UfuncKeywords};
use crate::array::array_argument;
use crate::array::class::GpuArray;
use crate::convert::argument_errors;
use crate::convert::shape;
use crate::create::like::{ones_like, zeros_like};
use crate::ffi::ndarray::is_numpy_scalar;
use crate::finalization;
use crate::kernel::call::scalar_values;
use crate::py_once::{PyOnce, intern};
use pygpu_base::dtype::ScalarType;
use pygpu_ops::product::product_table;
use pygpu_ops::ufunc::{self, UfuncEntry};

/// The module that implements `__array_function__`.
const ARRAY_FUNCTION: &str = "PyGPU._protocols.array_function";

/// Returns PyGPU's function that accepts the same `count` positional arguments as a NumPy function. Returns `None` if
/// there is no such function, or if an array among the arguments is not exactly a `GPUArray`. The function `call` of
/// the Python module finds the same function, but takes longer than the launch of a small kernel.
fn direct_function<'py>(
    func: &Bound<'py, PyAny>,
    types: &Bound<'py, PyAny>,
    count: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = func.py();
    static DIRECT: PyOnce<Py<PyDict>> = PyOnce::new();
    let class = py.get_type::<GpuArray>();
    let is_plain =
        |types: &Bound<'py, PyTuple>| types.len() == 1 && types.get_borrowed_item(0).is_ok_and(|one| one.is(&class));
    if !types.cast_exact::<PyTuple>().is_ok_and(is_plain) {
        return Ok(None);
    }
    let find = || Ok::<_, PyErr>(py.import(ARRAY_FUNCTION)?.getattr("direct_functions")?.cast_into()?.unbind());
    let Some(entry) = DIRECT.get_or_try_init(py, find)?.bind(py).get_item(func)? else { return Ok(None) };
    let (function, most): (Bound<'py, PyAny>, usize) = entry.extract()?;
    Ok((count <= most).then_some(function))
}

#[cold]
fn unsupported_error(subject: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!(
        "{subject}: PyGPU does not compute this yet; write an ElementwiseKernel, hand the array to a library that computes by \
         DLPack (its from_dlpack), or take the values to the host by .get()"
    ))
}

/// Returns the response to NumPy if the argument `where` or `out` is no PyGPU array. Raises an error if the values of
/// this argument are on the host. Otherwise returns `NotImplemented`, so that NumPy calls the protocol method of the
/// argument's type.
#[cold]
fn foreign_argument_response(py: Python<'_>, name: &str, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
    let keyword = |key| kwargs.map_or(Ok(None), |kwargs| kwargs.get_item(key));
    let is_host_value =
        |object: &Bound<'_, PyAny>| object.is_instance_of::<PyUntypedArray>() || object.is_instance_of::<PyList>();
    if let Some(mask) = keyword("where")?.filter(is_host_value) {
        return Err(array_argument::type_error(&mask));
    }
    let is_host_output = |out: Bound<'_, PyAny>| match out.cast::<PyTuple>() {
        Ok(outputs) => outputs.iter().any(|object| object.is_instance_of::<PyUntypedArray>()),
        Err(_) => out.is_instance_of::<PyUntypedArray>(),
    };
    if keyword("out")?.is_some_and(is_host_output) {
        return Err(PyTypeError::new_err(format!(
            "numpy.{name}: the result is on a device, and is not moved into an ndarray without being asked: use .get() of the arrays of \
             the device, as in x += a.get()"
        )));
    }
    Ok(py.NotImplemented())
}

/// Returns whether NumPy's ufuncs would accept an object: an array of any library, a number, or a nested sequence of
/// these.
fn is_operand(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if object.is_instance_of::<GpuArray>()
        || object.is_instance_of::<PyUntypedArray>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyComplex>()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || is_numpy_scalar(object)
    {
        return Ok(true);
    }
    // The attributes are looked up on the object's class, because a lookup on the object itself may run code of a
    // property.
    let class = object.get_type();
    for name in [
        intern!(py, "__dlpack__"),
        intern!(py, "__cuda_array_interface__"),
        intern!(py, "__array_interface__"),
        intern!(py, "__array__"),
    ] {
        if class.hasattr(name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Computes the result of an operator. Returns `NotImplemented` if the other operand has an unsupported type.
#[inline]
fn compute_operator(py: Python<'_>, entry: &'static UfuncEntry, operands: &[&Bound<'_, PyAny>]) -> PyResult<Py<PyAny>> {
    match ufunc_call::call(py, entry, operands, &UfuncKeywords::default())? {
        Some(result) => Ok(result.unbind()),
        None => Ok(py.NotImplemented()),
    }
}

/// Computes `==` or `!=` with an operand of an unsupported type. The operand's own operator computes the result. If the
/// operand has no such operator, no element is equal, as in NumPy.
///
/// # Errors
/// The exception that the other operand's operator raises; `TypeError` for an operand with values on the host; driver
/// errors.
#[cold]
fn compare_with_other_type(
    array: &Bound<'_, GpuArray>,
    other: &Bound<'_, PyAny>,
    operator: CompareOp,
) -> PyResult<Py<PyAny>> {
    let py = array.py();
    let is_equality = matches!(operator, CompareOp::Eq);
    let name = if is_equality { intern!(py, "__eq__") } else { intern!(py, "__ne__") };
    let response = finalization::run_python(py, || other.get_type().getattr(name)?.call1((other, array)))?;
    if !response.is(py.NotImplemented()) {
        return Ok(response.unbind());
    }
    let is_text = other.is_instance_of::<PyString>() || other.is_instance_of::<PyBytes>();
    if is_operand(other)? || (!is_text && shape::is_sequence(other)) {
        return Err(array_argument::type_error(other)); // NumPy's operator would compare the elements on the host
    }
    let like = if is_equality { zeros_like } else { ones_like };
    Ok(like(py, array.as_any(), Some(py.get_type::<PyBool>().as_any()), None, None, None)?.into_any().unbind())
}

/// Whether the array's items have a structured or void dtype.
#[cold]
fn has_opaque_items(array: &Bound<'_, GpuArray>) -> bool {
    array.get().dtype().kind() == ScalarType::Opaque
}

/// Computes `==` or `!=` of arrays with structured or void items, field by field.
///
/// # Errors
/// `TypeError` for an operand with items of another kind; `ValueError` for shapes that do not broadcast; driver errors.
#[cold]
fn compare_records(array: &Bound<'_, GpuArray>, other: &Bound<'_, PyAny>, operator: CompareOp) -> PyResult<Py<PyAny>> {
    let py = array.py();
    finalization::run_python(py, || {
        let module = py.import(intern!(py, "PyGPU._functions.comparison"))?;
        let is_equality = matches!(operator, CompareOp::Eq);
        Ok(module.call_method1(intern!(py, "compare_records"), (array, other, is_equality))?.unbind())
    })
}

/// Computes an in-place operator such as `+=`, which writes the result to `array`.
fn assign(entry: &'static UfuncEntry, array: &Bound<'_, GpuArray>, other: &Bound<'_, PyAny>) -> PyResult<()> {
    match ufunc_call::call(array.py(), entry, &[array.as_any(), other], &UfuncKeywords::into_array(array))? {
        Some(_) => Ok(()),
        None => Err(argument_errors::operands(entry.name, &[array.as_any(), other])),
    }
}

/// Looks up a function in the table of ufuncs by its name, at compile time.
macro_rules! table_entry {
    ($name:literal) => {
        const { ufunc::builtin_row($name) }
    };
}

/// Returns the function that computes a power for the exponents 2, 0.5 and -1, i.e. square, square root or reciprocal,
/// as NumPy's operator does. Returns `None` for other exponents.
fn power_shortcut(base: &Bound<'_, GpuArray>, exponent: &Bound<'_, PyAny>) -> Option<&'static UfuncEntry> {
    let kind = base.get().dtype().kind();
    let is_int = exponent.is_exact_instance_of::<PyInt>();
    let is_real = kind.is_complex()
        || matches!(kind, ScalarType::Float16 | ScalarType::BFloat16 | ScalarType::Float32 | ScalarType::Float64);
    if !(is_int || is_real && exponent.is_exact_instance_of::<PyFloat>()) {
        return None;
    }
    let exponent: f64 = exponent.extract().ok()?;
    match exponent {
        2.0 if is_real || scalar_values::is_integer(kind) && kind != ScalarType::Bool => Some(table_entry!("square")),
        0.5 if is_real => Some(table_entry!("sqrt")),
        -1.0 if is_real => Some(table_entry!("reciprocal")),
        _ => None,
    }
}

/// Defines the methods by which Python calls the operators, such as `__add__`.
macro_rules! slots {
    (binary: $($left:ident $right:ident $in_place:ident $name:literal),*; unary: $($unary:ident $function:literal),*) => {
        #[pymethods]
        impl GpuArray {
            $(
                fn $left(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    compute_operator(slf.py(), table_entry!($name), &[slf.as_any(), other])
                }
                fn $right(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    compute_operator(slf.py(), table_entry!($name), &[other, slf.as_any()])
                }
                fn $in_place(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
                    assign(table_entry!($name), slf, other)
                }
            )*
            $(
                fn $unary(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                    compute_operator(slf.py(), table_entry!($function), &[slf.as_any()])
                }
            )*
        }
    };
}

/// Contains the methods that `slots!` defines for the operators. The methods are in a separate module, because the
/// `allow` attribute must also cover the code that pyo3 generates for them.
#[allow(unsafe_op_in_unsafe_fn, reason = "written by pyo3, which has argued for it")]
mod methods {
    use super::*;

    slots! {
        binary:
            __add__ __radd__ __iadd__ "add",
            __sub__ __rsub__ __isub__ "subtract",
            __mul__ __rmul__ __imul__ "multiply",
            __truediv__ __rtruediv__ __itruediv__ "divide",
            __floordiv__ __rfloordiv__ __ifloordiv__ "floor_divide",
            __mod__ __rmod__ __imod__ "remainder",
            __lshift__ __rlshift__ __ilshift__ "left_shift",
            __rshift__ __rrshift__ __irshift__ "right_shift",
            __and__ __rand__ __iand__ "bitwise_and",
            __or__ __ror__ __ior__ "bitwise_or",
            __xor__ __rxor__ __ixor__ "bitwise_xor";
        unary:
            __neg__ "negative",
            __pos__ "positive",
            __abs__ "absolute",
            __invert__ "invert"
    }
}

#[pymethods]
impl GpuArray {
    /// Priority of the array in mixed operators. The priority exceeds that of NumPy's arrays and scalars, so an array
    /// as right operand takes precedence.
    #[classattr]
    fn __array_priority__() -> f64 {
        100.0
    }

    fn __pow__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        modulo: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        if modulo.is_some() {
            return Ok(slf.py().NotImplemented());
        }
        match power_shortcut(slf, other) {
            Some(entry) => compute_operator(slf.py(), entry, &[slf.as_any()]),
            None => compute_operator(slf.py(), table_entry!("power"), &[slf.as_any(), other]),
        }
    }

    fn __rpow__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        modulo: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        if modulo.is_some() {
            return Ok(slf.py().NotImplemented());
        }
        compute_operator(slf.py(), table_entry!("power"), &[other, slf.as_any()])
    }

    // stub: def __ipow__(self, value: Operand, /) -> Self: ...  # type: ignore[misc]
    fn __ipow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, _modulo: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        match power_shortcut(slf, other) {
            Some(entry) => {
                ufunc_call::call(slf.py(), entry, &[slf.as_any()], &UfuncKeywords::into_array(slf)).map(|_| ())
            }
            None => assign(table_entry!("power"), slf, other),
        }
    }

    fn __divmod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        compute_operator(slf.py(), table_entry!("divmod"), &[slf.as_any(), other])
    }

    fn __rdivmod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        compute_operator(slf.py(), table_entry!("divmod"), &[other, slf.as_any()])
    }

    fn __matmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        product::compute_operator(slf.py(), [slf.as_any(), other])
    }

    fn __rmatmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        product::compute_operator(slf.py(), [other, slf.as_any()])
    }

    fn __imatmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        product::assign(slf, other)
    }

    // A class that defines comparisons but no `__hash__` is not hashable. NumPy's arrays are not hashable either.
    fn __richcmp__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, operator: CompareOp) -> PyResult<Py<PyAny>> {
        let entry = match operator {
            CompareOp::Lt => table_entry!("less"),
            CompareOp::Le => table_entry!("less_equal"),
            CompareOp::Eq => table_entry!("equal"),
            CompareOp::Ne => table_entry!("not_equal"),
            CompareOp::Gt => table_entry!("greater"),
            CompareOp::Ge => table_entry!("greater_equal"),
        };
        match (ufunc_call::call(slf.py(), entry, &[slf.as_any(), other], &UfuncKeywords::default()), operator) {
            (Ok(Some(result)), _) => Ok(result.unbind()),
            (Ok(None), CompareOp::Eq | CompareOp::Ne) => compare_with_other_type(slf, other, operator),
            (Ok(None), _) => Ok(slf.py().NotImplemented()),
            // Ufuncs do not support arrays of structured items, so such arrays are compared field by field.
            (Err(_), CompareOp::Eq | CompareOp::Ne)
                if has_opaque_items(slf) || other.cast().is_ok_and(has_opaque_items) =>
            {
                compare_records(slf, other, operator)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Returns whether any element equals `item`, as in NumPy; synchronizes with the device.
    fn __contains__(slf: &Bound<'_, Self>, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        let equal = slf.as_any().rich_compare(item, CompareOp::Eq)?;
        // If `item` computes the comparison by its own operator, the result may be another object than an array.
        let contains =
            if equal.is_instance_of::<Self>() { equal.call_method0(intern!(slf.py(), "any"))? } else { equal };
        contains.is_truthy()
    }

    /// Computes NumPy's ufuncs on the device of the arrays (NEP 13).
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the function or method is not implemented. The message names alternatives: an ElementwiseKernel, a
    ///     library that imports the array by DLPack, and NumPy with `get()`.
    #[pyo3(signature = (ufunc: "Any", method: "str", *inputs: "Any", **kwargs: "Any") -> "Any")]
    fn __array_ufunc__(
        &self,
        ufunc: &Bound<'_, PyAny>,
        method: &str,
        inputs: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let py = ufunc.py();
        let name: String = ufunc.getattr(intern!(py, "__name__"))?.extract()?;
        if let ("at", Some(entry)) = (method, ufunc::row(&name)) {
            super::ufunc_at::call(entry, inputs)?;
            return Ok(py.None());
        }
        if let ("reduceat", Some(entry)) = (method, ufunc::row(&name)) {
            return Ok(reduce::reduceat::call(entry, inputs, kwargs)?.into_any().unbind());
        }
        for input in inputs {
            if !is_operand(&input)? {
                return Ok(py.NotImplemented());
            }
        }
        if let ("reduce", 1) = (method, inputs.len())
            && let Some(reduced) = reduce::call_ufunc_reduce(&name, &inputs.get_item(0)?, kwargs)?
        {
            return Ok(reduced.into_any().unbind());
        }
        if let ("accumulate", 1) = (method, inputs.len())
            && let Some(scanned) = scan::call_ufunc_accumulate(&name, &inputs.get_item(0)?, kwargs)?
        {
            return Ok(scanned.into_any().unbind());
        }
        if let ("__call__", Some(product_function)) = (method, product_table::named_as(&name)) {
            let result_of_product = product::call_with_keywords(product_function, inputs, kwargs)?;
            return result_of_product.map_or_else(
                || foreign_argument_response(py, &name, kwargs),
                |result_of_product| Ok(result_of_product.unbind()),
            );
        }
        let entry = ufunc::row(&name)
            .or_else(|| ufunc::special::row(&name))
            .filter(|entry| entry.inputs <= inputs.len() && inputs.len() <= entry.inputs + entry.outputs());
        let entry =
            entry.or_else(|| parametric_functions::entry_of_ufunc(&name).filter(|entry| entry.inputs == inputs.len()));
        let (Some(entry), "__call__" | "outer") = (entry, method) else {
            let method = if method == "__call__" { String::new() } else { format!(".{method}") };
            return Err(unsupported_error(format_args!("numpy.{name}{method}")));
        };
        let result = match method {
            "outer" => super::ufunc::outer(entry, inputs, kwargs)?,
            _ => super::ufunc::call(entry, inputs, kwargs)?,
        };
        result.map_or_else(|| foreign_argument_response(py, &name, kwargs), Ok)
    }

    /// Computes NumPy's other functions on the device of the arrays (NEP 18).
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the function is missing, if a parameter is unsupported, or if the array is in host memory.
    #[pyo3(signature = (func: "Any", types: "Any", args: "tuple[Any, ...]", kwargs: "dict[str, Any]") -> "Any")]
    fn __array_function__<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        static CALL: PyOnce<Py<PyAny>> = PyOnce::new();
        finalization::run_python(py, || {
            if kwargs.is_empty()
                && let Some(function) = direct_function(func, types, args.len())?
            {
                return function.call1(args);
            }
            let find = || py.import(ARRAY_FUNCTION)?.getattr("call").map(Bound::unbind);
            CALL.get_or_try_init(py, find)?.bind(py).call1((slf, func, types, args, kwargs))
        })
    }

    /// Return the namespace of the array API: the package itself, which has NumPy's names too.
    ///
    /// Parameters
    /// ----------
    /// api_version : str, optional
    ///     A version of the standard from ``'2021.12'`` to ``'2025.12'``. The latest version contains the older
    ///     versions.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the version is not supported.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> xp = PyGPU.zeros(3).__array_namespace__()
    /// >>> xp is PyGPU
    /// True
    #[pyo3(signature = (*, api_version: "str | None" = None) -> "Any")]
    fn __array_namespace__<'py>(
        slf: &Bound<'py, Self>,
        api_version: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._protocols.namespace"))?.call_method1(intern!(py, "namespace"), (api_version,))
        })
    }
}
