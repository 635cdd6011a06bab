//! What `PyGPU.random` is made of: elements from a place of a stream on, and that place moved on in device memory.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::Array;
use crate::backend;
use crate::backend::libraries::{self, Places, Rand, Table};
use crate::ops::random::{self, Distribution, PLACE, Place, Task};
use crate::python::array::class::GpuArray;
use crate::python::gil::WithoutGil;
use crate::python::libraries::places;
use crate::stream;

type Own<'py> = Bound<'py, GpuArray>;

/// Where a stream is: its numbers, or an array of them.
#[derive(FromPyObject)]
enum Given<'py> {
    There(Own<'py>),
    Here([u64; PLACE]),
}

fn check_place(target: &Array, place: &Array) -> PyResult<()> {
    let is_place = place.device() == target.device() && place.layout().size() == PLACE as i64;
    match is_place && place.layout().is_c_contiguous() && place.dtype().itemsize() == size_of::<u64>() {
        true => Ok(()),
        false => Err(PyTypeError::new_err("a place is 8 numbers of 64 bits on the device of the array")),
    }
}

/// Writes random elements into an array, in the order of the current stream.
#[pyfunction]
#[pyo3(signature = (target, distribution, halves, key, place, bounds, scale, means))]
#[allow(clippy::too_many_arguments)] // one call of a kernel
fn _draw(
    target: &Own<'_>,
    distribution: &str,
    halves: bool,
    key: [u64; 2],
    place: Given<'_>,
    bounds: [u64; 3],
    scale: [f64; 2],
    means: Option<&Own<'_>>,
) -> PyResult<()> {
    let py = target.py();
    let own = target.get().array(py)?;
    let Some(distribution) = Distribution::named(distribution) else {
        return Err(PyValueError::new_err(format!("there is no distribution {distribution:?}")));
    };
    let means = means.map(|means| means.get().array(py)).transpose()?;
    if let Some(means) = means
        && (means.dtype() != own.dtype()
            || means.device() != own.device()
            || means.layout().size() != own.layout().size()
            || !means.layout().is_c_contiguous())
    {
        return Err(PyTypeError::new_err("the means have the type, the size and the device of the array, in C order"));
    }
    let place = match &place {
        Given::There(array) => {
            let array = array.get().array(py)?;
            check_place(own, array)?;
            Place::There(array)
        }
        Given::Here(numbers) => Place::Here(*numbers),
    };
    let task = Task { distribution, halves, key, place, bounds, scale, means };
    py.without_gil(|| random::draw(own, &task, &stream::current(own.device())))?;
    Ok(())
}

/// Moves a place in device memory on, in the order of the current stream.
#[pyfunction]
fn _advance_place(place: &Own<'_>, key: [u64; 2], count: u64, halves: bool, even: bool) -> PyResult<()> {
    let py = place.py();
    let own = place.get().array(py)?;
    check_place(own, own)?;
    py.without_gil(|| random::advance(own, key, count, halves, even, &stream::current(own.device())))?;
    Ok(())
}

/// The vendor's library of random numbers.
fn library(places: &Places) -> crate::error::Result<&'static Rand> {
    let backend = backend::default_backend()?;
    libraries::rand(backend.kind(), backend.driver_version(), places)
}

/// The version of cuRAND or hipRAND; None where none is found.
#[pyfunction]
fn _rand_library_version(py: Python<'_>) -> PyResult<Option<i32>> {
    let places = places(py, "curand")?;
    Ok(py.without_gil(|| library(&places)).ok().map(Rand::version))
}

/// The beginning of a table of cuRAND's or hipRAND's.
#[pyfunction]
fn _rand_library_table(py: Python<'_>, which: i32, bytes: usize) -> PyResult<Bound<'_, PyBytes>> {
    let Some(table) = Table::numbered(which) else {
        return Err(PyValueError::new_err(format!("there is no table {which}")));
    };
    let places = places(py, "curand")?;
    let found = py.without_gil(|| library(&places)?.table(table, bytes))?;
    Ok(PyBytes::new(py, found))
}

/// Puts the functions into the module, of whose public names they are none.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.setattr("_rand_library_version", wrap_pyfunction!(_rand_library_version, module)?)?;
    module.setattr("_rand_library_table", wrap_pyfunction!(_rand_library_table, module)?)?;
    module.setattr("_draw", wrap_pyfunction!(_draw, module)?)?;
    module.setattr("_advance_place", wrap_pyfunction!(_advance_place, module)?)
}
