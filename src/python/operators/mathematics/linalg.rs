//! Native part of `PyGPU.linalg`: factorizations by the vendor's library.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::gil::WithoutGil;
use crate::library_search::places;
use crate::names::names;
use pygpu_backend::libraries::{self, FactorizationKind};
use pygpu_device::stream;
use pygpu_ops::linalg::{self, FactorizeRequest};

/// Factorize contiguous matrices in column-major order; `docs/design/linalg.md` lists the arrays of each name.
///
/// False if the library lacks the function and another name has to be used.
#[pyfunction]
#[pyo3(signature = (
    name: "str", arrays: "Sequence[GPUArray]", batch: "int", sizes: "Sequence[int]", first: "bool",
    second: "bool"
) -> "bool")]
fn _factorize(
    name: &str,
    arrays: Vec<Bound<'_, GpuArray>>,
    batch: usize,
    sizes: [usize; 3],
    first: bool,
    second: bool,
) -> PyResult<bool> {
    let (Some(what), Some(like)) = (FactorizationKind::named(name, first, second), arrays.first()) else {
        return Err(PyValueError::new_err(format!("there is no factorisation {name:?} of {} arrays", arrays.len())));
    };
    let py = like.py();
    let device = like.get().device();
    let backend = device.backend();
    let given = arrays.iter().map(|array| array.get().array(py)).collect::<PyResult<Vec<_>>>()?;
    let asked = FactorizeRequest { what, batch, sizes, arrays: &given };
    let stream = stream::current(device);
    if what.is_of_blas() {
        return Ok(py.without_gil(|| linalg::run_by_blas(&asked, &stream))?);
    }
    let solver = match libraries::open_solver(backend.kind())? {
        Some(solver) => solver,
        None => {
            let places = places(py, "cusolver")?;
            py.without_gil(|| libraries::solver(backend.kind(), backend.driver_version(), &places))?
        }
    };
    py.without_gil(|| linalg::run(solver, &asked, &stream))?;
    Ok(true)
}

names! {
    internal_functions: _factorize;
}
