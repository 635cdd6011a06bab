//! Contains the native part of `PyGPU.random`: the position of a generator in its random stream, and the functions that
//! generate random elements beginning at that position.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::class::{BoundArray, GpuArray, new_exact};
use crate::convert::{dtype, shape};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::library_search::search_paths;
use crate::runtime::device::PyDevice;
use pygpu_array::Array;
use pygpu_backend as backend;
use pygpu_backend::libraries::{self, Rand, SearchPaths, SobolTable};
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::{Dims, MemoryOrder};
use pygpu_memory::stream_captures;
use pygpu_ops::random::StreamPosition;
use pygpu_ops::random::{self, Amount, Distribution, NUMBERS, PositionSource, RandomFill, SampleFill, Sampler};

/// Position of a generator in its random stream, counted on the host.
///
/// The first stream capture moves the position from this object to device memory. The methods `made` and `draw` return
/// None and False, respectively, from then on.
#[pyclass(frozen, name = "_RandomPlace", module = "PyGPU")]
struct PyStreamPosition {
    device: Device,
    host_position: Mutex<HostPosition>,
}

struct HostPosition {
    key: [u64; 2],
    position: StreamPosition,
    is_on_device: bool,
}

#[pymethods]
impl PyStreamPosition {
    #[new]
    #[pyo3(signature = (device: "Device", key: "Sequence[int]", numbers: "Sequence[int]") -> "Self")]
    fn new(device: &Bound<'_, PyDevice>, key: [u64; 2], numbers: [u64; NUMBERS]) -> Self {
        let host_position = HostPosition { key, position: StreamPosition::read(numbers), is_on_device: false };
        Self { device: device.get().device, host_position: Mutex::new(host_position) }
    }

    /// Return the generator's key and the counters that form its position in the random stream.
    #[pyo3(signature = () -> "tuple[list[int], list[int]]")]
    fn read(&self) -> ([u64; 2], [u64; NUMBERS]) {
        let host_position = self.locked();
        (host_position.key, host_position.position.numbers())
    }

    /// Set the generator's key and the counters that form its position in the random stream.
    #[pyo3(signature = (key: "Sequence[int]", numbers: "Sequence[int]") -> "None")]
    fn write(&self, key: [u64; 2], numbers: [u64; NUMBERS]) {
        let mut host_position = self.locked();
        (host_position.key, host_position.position) = (key, StreamPosition::read(numbers));
    }

    /// Set the counters of the position to new values if they are still equal to `old`; return whether they were equal.
    #[pyo3(signature = (old: "Sequence[int]", numbers: "Sequence[int]") -> "bool")]
    fn replace(&self, old: [u64; NUMBERS], numbers: [u64; NUMBERS]) -> bool {
        let mut host_position = self.locked();
        let is_current = host_position.position.numbers() == old;
        if is_current {
            host_position.position = StreamPosition::read(numbers);
        }
        is_current
    }

    /// Return the position like `read`, and stop counting on the host.
    #[pyo3(signature = () -> "tuple[list[int], list[int]]")]
    fn leave(&self) -> ([u64; 2], [u64; NUMBERS]) {
        self.locked().is_on_device = true;
        self.read()
    }

    /// Create an array of random elements, in the order of the current stream.
    ///
    /// Returns None if the position is in device memory, or if it must be moved there because the current stream is
    /// being captured.
    #[pyo3(signature = (
        size: "ShapeLike", dtype: "Any", distribution: "str", bounds: "tuple[int, int, int]",
        scale: "tuple[float, float]"
    ) -> "GPUArray | None")]
    fn made<'py>(
        &self,
        py: Python<'py>,
        size: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        distribution: &str,
        bounds: [u64; 3],
        scale: [f64; 2],
    ) -> PyResult<Option<BoundArray<'py>>> {
        let dtype = dtype::from_python(dtype)?;
        let mut shape = Dims::new();
        shape::read(&mut shape, size)?;
        let distribution = distribution_named(distribution)?;
        distribution.check(dtype)?;
        let drawn = py.without_gil(|| {
            let stream = stream::current(self.device);
            if stream_captures::is_capturing(&stream)? {
                return Ok(None);
            }
            let target = Array::empty(&shape, dtype, MemoryOrder::C, stream.clone())?;
            self.draw_at_host_position(&target, Request::Fill { distribution, bounds, scale }, &stream)
                .map(|is_drawn| is_drawn.then_some(target))
        });
        let drawn: Result<Option<Array>> = drawn;
        drawn?.map(|array| new_exact(py, GpuArray::from_array(array))).transpose()
    }

    /// Write random elements into an array, in the order of the current stream, and advance the position.
    ///
    /// If `there` is None, the elements begin at the position of this object. Otherwise `there` is an array in device
    /// memory that contains the position. Returns False, without writing, if `there` is None but the position is in
    /// device memory or must be moved to device memory.
    #[pyo3(signature = (
        target: "GPUArray", distribution: "str", bounds: "tuple[int, int, int]", scale: "tuple[float, float]",
        there: "GPUArray | None"
    ) -> "bool")]
    fn draw(
        &self,
        target: &BoundArray<'_>,
        distribution: &str,
        bounds: [u64; 3],
        scale: [f64; 2],
        there: Option<&BoundArray<'_>>,
    ) -> PyResult<bool> {
        let py = target.py();
        let target_array = target.get().array(py)?;
        let there = there.map(|there| there.get().array(py)).transpose()?;
        self.check(target_array, there)?;
        let request = Request::Fill { distribution: distribution_named(distribution)?, bounds, scale };
        Ok(py.without_gil(|| self.draw_from(target_array, request, there))?)
    }

    /// Write the elements of a sampler into an array like `draw`.
    ///
    /// A sampler has up to three parameters. Each is a number in `values`, or an array in `arrays` that contains one
    /// float64 value per element in C order.
    #[pyo3(signature = (
        target: "GPUArray", sampler: "str", values: "tuple[float, float, float]",
        arrays: "tuple[GPUArray | None, GPUArray | None, GPUArray | None]", there: "GPUArray | None"
    ) -> "bool")]
    fn sample(
        &self,
        target: &BoundArray<'_>,
        sampler: &str,
        values: [f64; 3],
        arrays: (Option<BoundArray<'_>>, Option<BoundArray<'_>>, Option<BoundArray<'_>>),
        there: Option<&BoundArray<'_>>,
    ) -> PyResult<bool> {
        let py = target.py();
        let target_array = target.get().array(py)?;
        let there = there.map(|there| there.get().array(py)).transpose()?;
        self.check(target_array, there)?;
        let Some(sampler) = Sampler::named(sampler) else {
            return Err(PyValueError::new_err(format!("there is no sampler {sampler:?}")));
        };
        let (a, b, c) = &arrays;
        let arrays = [parameter(a, py)?, parameter(b, py)?, parameter(c, py)?];
        let request = Request::Sample { sampler, values, arrays };
        Ok(py.without_gil(|| self.draw_from(target_array, request, there))?)
    }
}

/// A request for random elements, by a distribution or by a sampler.
#[derive(Clone, Copy)]
enum Request<'a> {
    Fill { distribution: Distribution, bounds: [u64; 3], scale: [f64; 2] },
    Sample { sampler: Sampler, values: [f64; 3], arrays: [Option<&'a Array>; 3] },
}

impl<'a> Request<'a> {
    /// Returns how many random numbers of the sequence the elements of an array use.
    fn amount(self, target: &Array, key: [u64; 2], place: PositionSource<'a>) -> Amount {
        let size = target.layout().size() as u64;
        match self {
            Self::Fill { distribution, bounds, scale } => {
                RandomFill { distribution, key, place, bounds, scale }.amount(target.dtype().kind(), size)
            }
            Self::Sample { .. } => SampleFill::amount(size),
        }
    }

    fn draw(self, target: &Array, key: [u64; 2], place: PositionSource<'a>, stream: &Stream) -> Result<()> {
        match self {
            Self::Fill { distribution, bounds, scale } => {
                random::draw(target, &RandomFill { distribution, key, place, bounds, scale }, stream)
            }
            Self::Sample { sampler, values, arrays } => {
                random::sample(target, &SampleFill { sampler, key, place, values, arrays }, stream)
            }
        }
    }
}

impl PyStreamPosition {
    fn locked(&self) -> MutexGuard<'_, HostPosition> {
        self.host_position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, target: &Array, there: Option<&Array>) -> PyResult<()> {
        if target.device() != self.device {
            let text = format!("the array is on {} and the generator on {}", target.device(), self.device);
            return Err(PyValueError::new_err(text));
        }
        check_location(target, there)
    }

    fn draw_from(&self, target: &Array, request: Request<'_>, there: Option<&Array>) -> Result<bool> {
        let stream = stream::current(self.device);
        match there {
            Some(there) => self.draw_at_device_position(target, request, there, &stream),
            None if stream_captures::is_capturing(&stream)? => Ok(false),
            None => self.draw_at_host_position(target, request, &stream),
        }
    }

    /// Writes random elements from the position that the host counts. First advances the position, so that no other
    /// thread draws the same part of the random stream. The lock on the position is released before the launch.
    fn draw_at_host_position(&self, target: &Array, request: Request<'_>, stream: &Stream) -> Result<bool> {
        let (key, place) = {
            let mut host_position = self.locked();
            if host_position.is_on_device {
                return Ok(false);
            }
            let (key, place) = (host_position.key, PositionSource::Here(host_position.position));
            host_position.position.pass(&request.amount(target, key, place), key);
            (key, place)
        };
        request.draw(target, key, place, stream).map(|()| true)
    }

    fn draw_at_device_position(
        &self,
        target: &Array,
        request: Request<'_>,
        device_position: &Array,
        stream: &Stream,
    ) -> Result<bool> {
        let key = self.locked().key;
        let place = PositionSource::There(device_position);
        request.draw(target, key, place, stream)?;
        random::advance(device_position, key, &request.amount(target, key, place), stream).map(|()| true)
    }
}

fn parameter<'a>(array: &'a Option<BoundArray<'_>>, py: Python<'_>) -> PyResult<Option<&'a Array>> {
    array.as_ref().map(|array| array.get().array(py)).transpose()
}

fn distribution_named(distribution: &str) -> PyResult<Distribution> {
    Distribution::named(distribution)
        .ok_or_else(|| PyValueError::new_err(format!("there is no distribution {distribution:?}")))
}

fn check_location(target: &Array, position: Option<&Array>) -> PyResult<()> {
    let Some(position) = position else { return Ok(()) };
    let is_position = position.device() == target.device() && position.layout().size() == NUMBERS as i64;
    match is_position && position.layout().is_c_contiguous() && position.dtype().itemsize() == size_of::<u64>() {
        true => Ok(()),
        false => Err(PyTypeError::new_err("a place is 8 numbers of 64 bits on the device of the array")),
    }
}

/// Return the four random numbers that the generator Philox computes from a counter and a key.
#[pyfunction]
#[pyo3(signature = (counter: "Sequence[int]", key: "Sequence[int]") -> "list[int]")]
fn _philox(counter: [u64; 4], key: [u64; 2]) -> [u64; 4] {
    random::block(counter, key)
}

/// Opens the vendor's random number library, or returns the library if it is already open.
fn library(search_paths: &SearchPaths) -> Result<&'static Rand> {
    let backend = backend::default_backend()?;
    libraries::rand(backend.kind(), backend.driver_version(), search_paths)
}

/// Return the version of cuRAND or hipRAND; None if the library is not found.
#[pyfunction]
#[pyo3(signature = () -> "int | None")]
fn _rand_library_version(py: Python<'_>) -> PyResult<Option<i32>> {
    let search_paths = search_paths(py, "curand")?;
    Ok(py.without_gil(|| library(&search_paths)).ok().map(Rand::version))
}

/// Return the first bytes of a table of Sobol direction numbers of cuRAND or hipRAND.
#[pyfunction]
#[pyo3(signature = (which: "int", bytes: "int") -> "bytes")]
fn _rand_library_table(py: Python<'_>, which: i32, bytes: usize) -> PyResult<Bound<'_, PyBytes>> {
    let Some(table) = SobolTable::numbered(which) else {
        return Err(PyValueError::new_err(format!("there is no table {which}")));
    };
    let search_paths = search_paths(py, "curand")?;
    let bytes_of_table = py.without_gil(|| library(&search_paths)?.table(table, bytes))?;
    Ok(PyBytes::new(py, bytes_of_table))
}

names! {
    internal_functions: _rand_library_version, _rand_library_table, _philox;
    internal_classes: PyStreamPosition;
}
