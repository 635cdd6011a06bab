//! Operators, comparisons and NumPy's functions: refused, in one sentence and on every backend, until arrays compute.
//!
//! Why refused, and not left out: what is left out is answered by somebody else. A comparison is then one of identities, and NumPy,
//! which reads an array in host memory as its own, gives an ndarray where it refuses an array of a GPU. Arithmetic replaces
//! `refusal` in the slots below, and adds its functions to the table.
//!
//! Only what NumPy would compute with is refused. To a stranger the answer is `NotImplemented`, as Python asks: its own operator is
//! tried, and `==` is one of identities in the end.

use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyComplex, PyDict, PyFloat, PyInt, PyList, PyTuple};

use crate::python::array::class::GpuArray;
use crate::python::ending;
use crate::python::kernel::call::values;
use crate::python::once::intern;

/// NumPy's functions that ask an array for attributes and views only, so that they serve any array.
const OF_VIEWS: [&str; 20] = [
    "array_split",
    "can_cast",
    "common_type",
    "flip",
    "hsplit",
    "iscomplexobj",
    "isrealobj",
    "moveaxis",
    "ndim",
    "permute_dims",
    "reshape",
    "result_type",
    "rollaxis",
    "shape",
    "size",
    "split",
    "squeeze",
    "swapaxes",
    "transpose",
    "vsplit",
];

#[cold]
fn refusal(what: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!(
        "{what}: PyGPU's arrays do not compute yet; write an ElementwiseKernel, hand the array to a library that computes by \
         DLPack (its from_dlpack), or take the values to the host by .get()"
    ))
}

/// Whether NumPy would compute with an object: arrays of any library, numbers, and rows of them.
fn is_operand(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if object.is_instance_of::<GpuArray>()
        || object.is_instance_of::<PyUntypedArray>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyComplex>()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || values::is_generic(object)
    {
        return Ok(true);
    }
    // Of the class: an object may do work to answer for itself.
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

/// What an operator answers.
fn answer(other: &Bound<'_, PyAny>, operator: &str) -> PyResult<Py<PyAny>> {
    if is_operand(other)? {
        Err(refusal(format_args!("the operator {operator}")))
    } else {
        Ok(other.py().NotImplemented())
    }
}

/// The slots of the operators. In-place ones need none: Python takes those of the results.
macro_rules! slots {
    (binary: $($left:ident $right:ident $operator:literal),*; unary: $($unary:ident $sign:literal),*) => {
        #[pymethods]
        impl GpuArray {
            $(
                fn $left(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    answer(other, $operator)
                }
                fn $right(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    answer(other, $operator)
                }
            )*
            $(
                fn $unary(&self) -> PyResult<Py<PyAny>> {
                    Err(refusal(format_args!("the operator {}", $sign)))
                }
            )*
        }
    };
}

/// The calls that pyo3 writes seem to be ours where a macro of ours gives the names.
#[allow(unsafe_op_in_unsafe_fn, reason = "written by pyo3, which has argued for it")]
mod methods {
    use super::*;

    slots! {
        binary:
            __add__ __radd__ "+",
            __sub__ __rsub__ "-",
            __mul__ __rmul__ "*",
            __truediv__ __rtruediv__ "/",
            __floordiv__ __rfloordiv__ "//",
            __mod__ __rmod__ "%",
            __divmod__ __rdivmod__ "divmod",
            __matmul__ __rmatmul__ "@",
            __lshift__ __rlshift__ "<<",
            __rshift__ __rrshift__ ">>",
            __and__ __rand__ "&",
            __or__ __ror__ "|",
            __xor__ __rxor__ "^";
        unary:
            __neg__ "-",
            __pos__ "+",
            __abs__ "abs",
            __invert__ "~"
    }
}

#[pymethods]
impl GpuArray {
    /// Above NumPy's arrays and scalars: what is on the right of one is asked first.
    #[classattr]
    fn __array_priority__() -> f64 {
        100.0
    }

    fn __pow__(&self, other: &Bound<'_, PyAny>, _modulo: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        answer(other, "**")
    }

    fn __rpow__(&self, other: &Bound<'_, PyAny>, _modulo: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        answer(other, "**")
    }

    // With this and without `__hash__` an array is not hashable, as in NumPy.
    fn __richcmp__(&self, other: &Bound<'_, PyAny>, operator: CompareOp) -> PyResult<Py<PyAny>> {
        let name = match operator {
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        };
        answer(other, name)
    }

    fn __contains__(&self, _item: &Bound<'_, PyAny>) -> PyResult<bool> {
        Err(refusal("the operator in"))
    }

    /// What NumPy's ufuncs ask (NEP 13): refused, since arrays do not compute yet.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     Always. It names what computes: an ElementwiseKernel, a library that takes the array by DLPack, NumPy with `get()`.
    #[pyo3(signature = (ufunc, method, *inputs, **kwargs))]
    fn __array_ufunc__(
        &self,
        ufunc: &Bound<'_, PyAny>,
        method: &str,
        inputs: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let _ = kwargs;
        for input in inputs {
            if !is_operand(&input)? {
                return Ok(ufunc.py().NotImplemented());
            }
        }
        let name = ufunc.getattr(intern!(ufunc.py(), "__name__"))?;
        if method == "__call__" {
            return Err(refusal(format_args!("numpy.{name}")));
        }
        Err(refusal(format_args!("numpy.{name}.{method}")))
    }

    /// What NumPy's other functions ask (NEP 18): those that need attributes and views only are run, the others refused.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For functions that need the values, as `__array_ufunc__` does.
    fn __array_function__(
        &self,
        func: &Bound<'_, PyAny>,
        types: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        kwargs: &Bound<'_, PyDict>,
    ) -> PyResult<Py<PyAny>> {
        let (py, _) = (func.py(), types);
        let name: String = func.getattr(intern!(py, "__name__"))?.extract()?;
        if !OF_VIEWS.contains(&name.as_str()) {
            return Err(refusal(format_args!("numpy.{name}")));
        }
        let implementation = func.getattr(intern!(py, "_implementation"))?;
        ending::run_python(py, || Ok(implementation.call(args, Some(kwargs))?.unbind()))
    }
}
