//! Creates the errors for Python scalars that do not match the kernel's parameter.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::argument_packing::CallContext;
use super::scalar_values;
use pygpu_base::dtype::DType;
use pygpu_kernel::{Parameter, ParameterKind};

impl CallContext<'_, '_> {
    /// Returns the error for a Python scalar that does not match the parameter. The error contains the reason and a
    /// remedy.
    pub(super) fn add_python_number(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let argument_label = || self.argument_label(position, parameter);
        match parameter.map(|parameter| parameter.kind) {
            Some(ParameterKind::Pointer { .. }) => Err(PyTypeError::new_err(format!(
                "{}: {value} is no pointer: give an array or an address",
                argument_label()
            ))),
            Some(ParameterKind::Scalar(kind)) if scalar_values::is_integer(kind) => Err(PyTypeError::new_err(format!(
                "{}: {value} is no integer; write int({value}), or numpy.{}({value})",
                argument_label(),
                DType::new(kind).name()
            ))),
            Some(ParameterKind::Scalar(kind)) => Err(PyTypeError::new_err(format!(
                "{}: {value} is no {}; write numpy.{}(...)",
                argument_label(),
                DType::new(kind).name(),
                DType::new(kind).name()
            ))),
            _ => Err(PyTypeError::new_err(format!("{}: {}", argument_label(), scalar_values::advice(value)))),
        }
    }
}
