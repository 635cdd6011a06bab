//! Contains the Rust part of `PyGPU.linalg`, which factorizes matrices by the vendor's library.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::library_search::search_paths;
use pygpu_backend::libraries::{self, FactorizationKind};
use pygpu_device::stream;
use pygpu_ops::linalg::{self, FactorizeRequest};

/// Factorize contiguous matrices in column-major order; `docs/design/linalg.md` lists the arrays of each factorization.
///
/// Returns False if the library lacks the factorization `name`. The caller then computes the result by another
/// factorization.
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
    let (Some(kind), Some(like)) = (FactorizationKind::named(name, first, second), arrays.first()) else {
        return Err(PyValueError::new_err(format!("there is no factorisation {name:?} of {} arrays", arrays.len())));
    };
    let py = like.py();
    let device = like.get().device();
    let backend = device.backend();
    let inputs = arrays.iter().map(|array| array.get().array(py)).collect::<PyResult<Vec<_>>>()?;
    let request = FactorizeRequest { what: kind, batch, sizes, arrays: &inputs };
    let stream = stream::current(device);
    if kind.is_of_blas() {
        return Ok(py.without_gil(|| linalg::run_by_blas(&request, &stream))?);
    }
    let solver = match libraries::open_solver(backend.kind())? {
        Some(solver) => solver,
        None => {
            let search_paths = search_paths(py, "cusolver")?;
            py.without_gil(|| libraries::solver(backend.kind(), backend.driver_version(), &search_paths))?
        }
    };
    py.without_gil(|| linalg::run(solver, &request, &stream))?;
    Ok(true)
}

names! {
    internal_functions: _factorize;
}
