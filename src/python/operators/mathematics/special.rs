//! Defines the special functions of `PyGPU.special`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::super::ufunc::Ufunc;
use crate::exported_names::names;
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
        true => "C++ source of SciPy's xsf or of PyGPU",
        false => "functions of the device's mathematics library",
    };
    format!(
        "{}\n\nIt is {}. A GPU computes it by {source}.\n\nParameters\n----------\n{} : GPUArray or number\nout : {out}\n\
         where, casting, order, dtype, subok : optional\n    Keywords of every `Ufunc`, as in NumPy.\n\nExamples\n--------\n\
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

names! {
    internal_functions: _special_ufuncs;
}
