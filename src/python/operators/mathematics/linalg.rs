//! Contains the Rust part of `PyGPU.linalg`, which factorizes matrices by the vendor's library.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::convert::dtype;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::library_search::search_paths;
use pygpu_array::Array;
use pygpu_backend::libraries::{self, FactorizationKind};
use pygpu_device::stream;
use pygpu_ops::linalg::{self, FactorizeRequest, RefinementRequest, SmallRequest, SmallTask};

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
    Ok(py.without_gil(|| linalg::run(solver, &request, &stream))?)
}

/// Compute a stack of small matrices by one kernel: "cholesky", "cholesky_upper", "solve" or "inverse".
///
/// `result` initially contains the right sides of "solve". `info` receives the status of each matrix. The arrays are
/// contiguous; if `is_transposed` is true, `input` contains the transposed matrices.
#[pyfunction]
#[pyo3(signature = (
    name: "str", input: "GPUArray", result: "GPUArray", info: "GPUArray", is_transposed: "bool"
) -> "None")]
fn _factorize_small(
    name: &str,
    input: &Bound<'_, GpuArray>,
    result: &Bound<'_, GpuArray>,
    info: &Bound<'_, GpuArray>,
    is_transposed: bool,
) -> PyResult<()> {
    let py = input.py();
    let task = small_task(name)?;
    let (input, result, info) = (input.get().array(py)?, result.get().array(py)?, info.get().array(py)?);
    let last = |array: &Array| array.layout().shape().next_back().map_or(0, |length| length as usize);
    let sizes = [last(input), last(result)];
    let batch = info.layout().size() as usize;
    let request = SmallRequest { task, batch, sizes, is_transposed, input, result, info };
    let stream = stream::current(input.device());
    Ok(py.without_gil(|| linalg::run_small(&request, &stream))?)
}

/// Refine singular vectors of small matrices by one kernel, and compute the singular values.
///
/// `arrays` contains the matrices, the left vectors and the right vectors as rows, and the results: left vectors as
/// columns, values, and conjugated right vectors as rows.
#[pyfunction]
#[pyo3(signature = (
    arrays: "Sequence[GPUArray]", is_transposed: "bool", is_conjugated: "bool"
) -> "None")]
fn _refine_small(arrays: Vec<Bound<'_, GpuArray>>, is_transposed: bool, is_conjugated: bool) -> PyResult<()> {
    let given = arrays.iter().map(|array| array.get().array(array.py())).collect::<PyResult<Vec<_>>>()?;
    let &[a, left, right, new_left, values, new_right] = &given[..] else {
        return Err(PyValueError::new_err(format!("a refinement has 6 arrays, and {} were given", given.len())));
    };
    let axis = |array: &Array, from_end: usize| array.layout().shape().nth_back(from_end).map_or(0, |n| n as usize);
    let [mut m, mut n] = [axis(a, 1), axis(a, 0)];
    if is_transposed {
        (m, n) = (n, m);
    }
    let request = RefinementRequest {
        batch: a.layout().size() as usize / (m * n).max(1),
        sizes: [m, n],
        counts: [axis(new_left, 0), axis(new_right, 1)],
        is_transposed,
        is_conjugated,
        inputs: [a, left, right],
        results: [new_left, values, new_right],
    };
    let stream = stream::current(a.device());
    Ok(arrays[0].py().without_gil(|| linalg::run_refinement(&request, &stream))?)
}

/// Copy the lower triangles of matrices, which are stored by columns, to matrices in C order by one kernel.
#[pyfunction]
#[pyo3(signature = (
    columns: "GPUArray", result: "GPUArray"
) -> "None")]
fn _copy_lower_triangle(columns: &Bound<'_, GpuArray>, result: &Bound<'_, GpuArray>) -> PyResult<()> {
    let py = columns.py();
    let (columns, result) = (columns.get().array(py)?, result.get().array(py)?);
    let stream = stream::current(columns.device());
    Ok(py.without_gil(|| linalg::copy_lower_triangle(columns, result, &stream))?)
}

/// Return whether a kernel can compute matrices of a dtype on the device of `a`. On the CPU NumPy computes. The names are
/// those of `_factorize_small`, and "refine" for `_refine_small`.
#[pyfunction]
#[pyo3(signature = (
    name: "str", a: "GPUArray", dtype: "DTypeLike", rows: "int", columns: "int"
) -> "bool")]
fn _fits_small(
    name: &str,
    a: &Bound<'_, GpuArray>,
    dtype: &Bound<'_, PyAny>,
    rows: usize,
    columns: usize,
) -> PyResult<bool> {
    let (kind, sizes) = (dtype::from_python(dtype)?.kind(), [rows, columns]);
    let fits = match name {
        "refine" => linalg::fits_refinement(kind, sizes),
        _ => linalg::fits(small_task(name)?, kind, sizes),
    };
    Ok(fits && !a.get().device().is_cpu())
}

fn small_task(name: &str) -> PyResult<SmallTask> {
    SmallTask::named(name)
        .ok_or_else(|| PyValueError::new_err(format!("there is no computation {name:?} of small matrices")))
}

names! {
    internal_functions: _copy_lower_triangle, _factorize, _factorize_small, _fits_small, _refine_small;
}
