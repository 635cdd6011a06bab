//! The special functions of `PyGPU.special`, and their evaluation by SciPy for arrays in host memory.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use super::super::on_device::{Targets, UfuncLoop};
use super::super::operand::{OperandValues, UfuncOperand};
use super::super::ufunc::Ufunc;
use crate::convert::dtype;
use crate::host::cpu_view;
use crate::names::names;
use crate::py_once::{PyOnce, intern};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_ops::ufunc::special::{self, SpecialFunction};

/// Returns the docstring of a function.
fn docstring(function: &SpecialFunction) -> String {
    let entry = &function.row;
    let operands = function.operands.replace('[', "PyGPU.to_gpu([").replace(']', "])");
    let call = format!("PyGPU.special.{}({operands})", entry.name);
    let (out, call) = match entry.outputs() {
        1 => ("GPUArray, optional\n    Array for the result.", format!("{call}.round(6).tolist()")),
        _ => (
            "tuple of GPUArray, optional\n    Arrays for the results.",
            format!("[one.round(6).tolist() for one in {call}]"),
        ),
    };
    let source = match function.has_text() {
        true => "the text of SciPy's xsf or PyGPU",
        false => "the mathematics of the device",
    };
    format!(
        "{}\n\nIt is {}. A GPU computes it by {source}.\n\nParameters\n----------\n{} : GPUArray or number\nout : {out}\n\
         **keywords\n    `where`, `dtype`, `casting` and `order`, as of every `Ufunc`.\n\nExamples\n--------\n\
         >>> import PyGPU\n>>> {call}\n{}\n",
        entry.summary,
        function.formula,
        function.parameters.trim_end_matches(", "),
        function.result,
    )
}

/// Returns the special functions by name, as objects of `Ufunc`.
#[pyfunction]
#[pyo3(signature = () -> "dict[str, Ufunc]")]
fn _special_ufuncs(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let functions = PyDict::new(py);
    for function in special::functions() {
        let ufunc = Bound::new(py, Ufunc(&function.row))?;
        ufunc.setattr("__doc__", docstring(function))?;
        functions.set_item(function.row.name, ufunc)?;
    }
    Ok(functions)
}

/// Returns SciPy's ufunc for a loop; `None` if SciPy is not installed, or if it has no such ufunc or loop.
///
/// # Errors
/// Errors of Python, except that SciPy cannot be imported.
pub(in super::super) fn scipy_ufunc<'py>(
    py: Python<'py>,
    ufunc_loop: &UfuncLoop<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static FUNCTIONS: PyOnce<Py<PyDict>> = PyOnce::new();
    if ufunc_loop.kind == ScalarType::BFloat16 {
        return Ok(None);
    }
    let find = || -> PyResult<Py<PyDict>> {
        let module = py.import(intern!(py, "PyGPU._special.scipy_functions"))?;
        Ok(module.getattr(intern!(py, "functions"))?.call0()?.cast_into::<PyDict>()?.unbind())
    };
    FUNCTIONS.get_or_try_init(py, find)?.bind(py).get_item(ufunc_loop.entry.name)
}

/// Computes a loop by SciPy's ufunc.
///
/// # Errors
/// The errors of SciPy.
pub(in super::super) fn run(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    ufunc_loop: &UfuncLoop<'_>,
    values: &OperandValues<'_, '_>,
    targets: &Targets<'_>,
) -> PyResult<()> {
    let mut arguments: SmallVec<[Bound<'_, PyAny>; 4]> = SmallVec::new();
    for value in values {
        arguments.push(match value {
            UfuncOperand::Array(array) => cpu_view::borrowed(py, array.materialized()?)?.into_any(),
            UfuncOperand::Temporary { array, .. } => cpu_view::borrowed(py, array)?.into_any(),
            UfuncOperand::Number { object, .. } => object.clone(),
        });
    }
    let outs = targets.iter().map(|target| cpu_view::borrowed(py, target)).collect::<PyResult<SmallVec<[_; 2]>>>()?;
    // SciPy selects loops by another order of types; therefore the call names the type. The casts are already checked.
    let kind = match ufunc_loop.kind {
        ScalarType::Float16 => ScalarType::Float32,
        kind => kind,
    };
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "out"), PyTuple::new(py, outs)?)?;
    keywords.set_item(intern!(py, "dtype"), dtype::to_python(py, DType::new(kind))?)?;
    keywords.set_item(intern!(py, "casting"), intern!(py, "unsafe"))?;
    if let Some(mask) = ufunc_loop.mask {
        keywords.set_item(intern!(py, "where"), cpu_view::borrowed(py, mask)?)?;
    }
    function.call(PyTuple::new(py, arguments)?, Some(&keywords)).map(drop)
}

names! {
    internal_functions: _special_ufuncs;
}
