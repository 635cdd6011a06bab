//! Calls on arrays in host memory: NumPy computes through views of the same memory.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use super::on_device::Targets;
use super::operand::{OperandValues, UfuncOperand};
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::ffi::calls;
use crate::host::cpu_view;
use crate::py_once::{PyOnce, intern};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_ops::ufunc::{Casting, HostEvaluation, TABLE, UfuncEntry};

/// The computation that NumPy performs.
pub(super) struct NumpyCall<'a> {
    pub(super) row: &'static UfuncEntry,
    /// The requested type of the results.
    pub(super) dtype: Option<ScalarType>,
    pub(super) casting: Casting,
    pub(super) mask: Option<&'a Array>,
}

/// Computes the results with NumPy.
///
/// # Errors
/// NumPy's.
#[inline(always)] // as in `result`
pub(super) fn run(
    py: Python<'_>,
    asked: &NumpyCall<'_>,
    values: &OperandValues<'_, '_>,
    targets: &Targets<'_>,
) -> PyResult<()> {
    let view = |array: &Array| match asked.row.host {
        HostEvaluation::Ufunc => cpu_view::borrowed(py, array),
        HostEvaluation::Steps | HostEvaluation::Kernel => cpu_view::kept(py, array),
    };
    // Positional, so that no keyword is looked up.
    let mut given: SmallVec<[Bound<'_, PyAny>; 6]> = SmallVec::new();
    for value in values {
        given.push(match value {
            UfuncOperand::Own(array) => view(array.materialized()?)?.into_any(),
            UfuncOperand::Temporary { array, .. } => view(array)?.into_any(),
            UfuncOperand::Number { object, .. } => object.clone(),
        });
    }
    for target in targets {
        given.push(view(target)?.into_any());
    }
    let is_plain = asked.mask.is_none() && asked.dtype.is_none() && asked.casting == Casting::SameKind;
    // These two accept results as keywords only.
    let is_plain = is_plain && !matches!(asked.row.name, "maximum" | "minimum");
    if asked.row.host == HostEvaluation::Ufunc && is_plain {
        return calls::call(&ufunc(py, asked.row)?, &given).map(drop);
    }
    let outs: SmallVec<[Bound<'_, PyAny>; 2]> = given.drain(values.len()..).collect();
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "out"), PyTuple::new(py, outs)?)?;
    if let Some(mask) = asked.mask {
        keywords.set_item(intern!(py, "where"), view(mask)?)?;
    }
    if asked.casting != Casting::SameKind {
        keywords.set_item(intern!(py, "casting"), asked.casting.name())?;
    }
    if let Some(kind) = asked.dtype {
        keywords.set_item(intern!(py, "dtype"), dtype::to_python(py, DType::new(kind))?)?;
    }
    let function = match asked.row.host {
        HostEvaluation::Ufunc => ufunc(py, asked.row)?,
        HostEvaluation::Steps | HostEvaluation::Kernel => {
            py.import(intern!(py, "PyGPU._native.host_functions"))?.getattr(asked.row.name)?
        }
    };
    function.call(PyTuple::new(py, given)?, Some(&keywords))?;
    Ok(())
}

/// Returns NumPy's ufunc of a table entry.
fn ufunc<'py>(py: Python<'py>, row: &'static UfuncEntry) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTIONS: PyOnce<Vec<Option<Py<PyAny>>>> = PyOnce::new();
    let find = |name: &str| ndarray::numpy(py)?.getattr(name);
    let all = FUNCTIONS.get_or_init(py, || TABLE.iter().map(|row| find(row.name).ok().map(Bound::unbind)).collect());
    let place = (std::ptr::from_ref(row).addr().wrapping_sub(TABLE.as_ptr().addr())) / size_of::<UfuncEntry>();
    match all.get(place).and_then(Option::as_ref) {
        Some(function) => Ok(function.bind(py).clone()),
        None => find(row.name),
    }
}
