//! The class `Ufunc`: a function of the table as an object that is called.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::compute::{self, Wish};
use crate::dtype::{DType, Kind};
use crate::ops::ufunc::{self, Row};

/// A function that goes element by element, as NumPy's ufuncs.
///
/// ``function(*operands, out=None, where=True)`` computes on the device of the arrays, in the order of the thread's current stream.
/// Operands are arrays of that device, of PyGPU and of libraries that lend them, and numbers; they are broadcast, and their types
/// promoted, as NumPy does (NEP 50).
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.to_gpu([1.0, 4.0, 9.0])
/// >>> PyGPU.sqrt(a).get()
/// array([1., 2., 3.])
/// >>> PyGPU.add(a, 1, out=a).get()
/// array([ 2.,  5., 10.])
#[pyclass(frozen, name = "Ufunc", module = "PyGPU")]
pub(crate) struct Ufunc(&'static Row);

#[pymethods]
impl Ufunc {
    #[pyo3(signature = (*operands, **keywords))]
    fn __call__(&self, operands: &Bound<'_, PyTuple>, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        let (py, row) = (operands.py(), self.0);
        if operands.len() != row.inputs {
            return Err(PyTypeError::new_err(format!(
                "{}() takes {} operands, and {} were given",
                row.name,
                row.inputs,
                operands.len()
            )));
        }
        let wish = keywords.map_or_else(|| Ok(Some(Wish::default())), |keywords| Wish::read(row, keywords))?;
        let Some(wish) = wish else {
            return Err(PyTypeError::new_err(format!("{}(): out= and where= are arrays of PyGPU", row.name)));
        };
        let given: Vec<Bound<'_, PyAny>> = operands.iter().collect();
        let given: Vec<&Bound<'_, PyAny>> = given.iter().collect();
        match compute::call(py, row, &given, &wish)? {
            Some(result) => Ok(result.into_any().unbind()),
            None => Err(PyTypeError::new_err(format!(
                "{}(): {operands} holds what is no number and no array of a device",
                row.name
            ))),
        }
    }

    /// Its name, which is NumPy's.
    #[getter]
    fn __name__(&self) -> &'static str {
        self.0.name
    }

    /// One sentence about what it computes.
    #[getter]
    fn __doc__(&self) -> &'static str {
        self.0.summary
    }

    /// The number of operands.
    #[getter]
    fn nin(&self) -> usize {
        self.0.inputs
    }

    /// The number of results.
    #[getter]
    fn nout(&self) -> usize {
        1
    }

    /// Operands and results.
    #[getter]
    fn nargs(&self) -> usize {
        self.0.inputs + 1
    }

    /// The types of operands and results of each loop, in the order in which they are tried, such as ``'float32,float32->bool'``.
    #[getter]
    fn types(&self) -> Vec<String> {
        let name_of = |kind: Kind| DType::new(kind).name();
        let text = |kind| {
            let result = self.0.group(kind).map_or(kind, |group| group.result(kind));
            format!("{}->{}", vec![name_of(kind); self.0.inputs].join(","), name_of(result))
        };
        self.0.kinds().map(text).collect()
    }

    fn __repr__(&self) -> String {
        format!("<PyGPU.Ufunc {}>", self.0.name)
    }
}

/// Puts the class and the functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Ufunc>()?;
    for row in ufunc::TABLE {
        module.add(row.name, Bound::new(module.py(), Ufunc(row))?)?;
    }
    for (alias, name) in ufunc::ALIASES {
        module.add(alias, module.getattr(name)?)?;
    }
    Ok(())
}
