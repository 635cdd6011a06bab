//! A call on arrays in host memory: NumPy computes, through views of the same memory.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use super::operand::{Value, Values};
use super::result::Target;
use crate::array::Array;
use crate::dtype::{DType, Kind};
use crate::ops::ufunc::{Casting, Host, Row};
use crate::python::convert::dtype;
use crate::python::convert::ndarray;
use crate::python::host::cpu_view;
use crate::python::once::intern;

/// What is computed.
pub(super) struct Asked<'a> {
    pub(super) row: &'static Row,
    /// The type of the results, if it was asked for.
    pub(super) dtype: Option<Kind>,
    pub(super) casting: Casting,
    pub(super) mask: Option<&'a Array>,
}

/// Lets NumPy write the results.
///
/// # Errors
/// NumPy's.
pub(super) fn run(
    py: Python<'_>,
    asked: &Asked<'_>,
    values: &Values<'_, '_>,
    targets: &SmallVec<[Target<'_>; 2]>,
) -> PyResult<()> {
    let view = |array: &Array| cpu_view::view_with_owner(py, array, py.None().into_bound(py));
    let mut operands: SmallVec<[Bound<'_, PyAny>; 4]> = SmallVec::new();
    for value in values {
        operands.push(match value {
            Value::Own(array) => view(array)?.into_any(),
            Value::Held { array, .. } => view(array)?.into_any(),
            Value::Number { object, .. } => object.clone(),
        });
    }
    let mut outs: SmallVec<[Bound<'_, PyAny>; 2]> = SmallVec::new();
    for target in targets {
        outs.push(view(target.array())?.into_any());
    }
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
    let module = match asked.row.host {
        Host::Ufunc => ndarray::numpy(py)?.clone(),
        Host::Steps | Host::Kernel => py.import(intern!(py, "PyGPU._native.host_functions"))?.into_any(),
    };
    module.getattr(asked.row.name)?.call(PyTuple::new(py, operands)?, Some(&keywords))?;
    Ok(())
}
