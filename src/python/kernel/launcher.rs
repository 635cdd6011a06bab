//! The class `Launcher`, what ``kernel[grid, block]`` gives, and the numbers of which a shape is made.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::class::Kernel;
use super::instance;
use crate::backend::LaunchShape;
use crate::python::convert::number;
use crate::python::kernel::call::pack::{self, Rules};
use crate::python::runtime::stream as runtime_stream;
use crate::stream::{self, Stream};

/// A kernel with the shape of its launch: what ``kernel[grid, block]`` gives.
#[pyclass(frozen, freelist = 8, name = "Launcher", module = "PyGPU")]
pub(crate) struct Launcher {
    pub(crate) kernel: Py<Kernel>,
    pub(crate) shape: LaunchShape,
    pub(crate) stream: Option<Stream>,
}

#[pymethods]
impl Launcher {
    #[inline]
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let function = self.kernel.get().function();
        let current;
        let stream = match &self.stream {
            Some(stream) => stream,
            None => {
                current = stream::current(function.device());
                &current
            }
        };
        match kwargs {
            None => pack::call(function, &self.shape, stream, args, Rules::Strict),
            Some(kwargs) => {
                let (strided, cooperative) = flags(kwargs)?;
                let shape = LaunchShape { cooperative, ..self.shape };
                let rules = if strided { Rules::Strided } else { Rules::Strict };
                pack::call(function, &shape, stream, args, rules)
            }
        }
    }

    fn __repr__(&self) -> PyResult<String> {
        let ([gx, gy, gz], [bx, by, bz]) = (self.shape.grid, self.shape.block);
        let name = self.kernel.get().function().name();
        Ok(format!("<PyGPU.Launcher {name}[({gx}, {gy}, {gz}), ({bx}, {by}, {bz})]>"))
    }
}

fn flags(kwargs: &Bound<'_, PyDict>) -> PyResult<(bool, bool)> {
    let (mut strided, mut cooperative) = (false, false);
    for (name, value) in kwargs {
        match name.cast::<PyString>()?.to_str()? {
            "strided" => strided = value.is_truthy()?,
            "cooperative" => cooperative = value.is_truthy()?,
            other => {
                return Err(PyTypeError::new_err(format!(
                    "a launch takes the keywords strided and cooperative, not {other}: kernel[grid, block, stream, shared](...)"
                )));
            }
        }
    }
    Ok((strided, cooperative))
}

#[cold]
pub(crate) fn wrong_key(key: &Bound<'_, PyAny>) -> PyErr {
    PyIndexError::new_err(format!(
        "a launch is kernel[grid, block], with perhaps a stream and bytes of shared memory, not {key}"
    ))
}

/// The kernel that a text names.
#[cold]
fn other_kernel<'py>(kernel: &Bound<'py, Kernel>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Ok(name) = key.cast::<PyString>() else { return Err(wrong_key(key)) };
    let found = instance::function(key.py(), kernel.get().function().module(), name.to_str()?)?;
    Ok(Bound::new(key.py(), Kernel::new(found))?.into_any())
}

/// A number of blocks or threads along each axis.
#[inline]
pub(crate) fn extent(value: &Bound<'_, PyAny>, what: &str) -> PyResult<[u32; 3]> {
    // SAFETY: a type check of a live object.
    if unsafe { ffi::PyLong_CheckExact(value.as_ptr()) } != 0 {
        return Ok([number_of(value, what)?, 1, 1]);
    }
    let mut lengths = [1; 3];
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        if !(1..=3).contains(&tuple.len()) {
            return Err(wrong_extent(value, what));
        }
        for (length, item) in lengths.iter_mut().zip(tuple.iter_borrowed()) {
            *length = number_of(&item, what)?;
        }
        return Ok(lengths);
    }
    // An ndarray has `__index__`, which works for a single integer only; as a sequence it is an extent.
    match value.try_iter() {
        Ok(items) => extent(PyTuple::new(value.py(), items.collect::<PyResult<Vec<_>>>()?)?.as_any(), what),
        Err(_) if crate::python::kernel::call::values::is_index(value) => Ok([number_of(value, what)?, 1, 1]),
        Err(_) => Err(wrong_extent(value, what)),
    }
}

#[cold]
fn wrong_extent(value: &Bound<'_, PyAny>, what: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} is an int or a tuple of one to three, not {value}"))
}

/// A number of 32 bits without a sign.
#[inline]
pub(crate) fn number_of(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u32> {
    // SAFETY: a live int; -1, which may mean an error, is looked at again below.
    let quick = unsafe {
        match ffi::PyLong_CheckExact(value.as_ptr()) {
            0 => -1,
            _ => ffi::PyLong_AsSsize_t(value.as_ptr()),
        }
    };
    match u32::try_from(quick) {
        Ok(found) => Ok(found),
        Err(_) => number_slowly(value, what),
    }
}

#[cold]
fn number_slowly(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u32> {
    // What the quick way may have raised is raised again, with the argument's name.
    drop(PyErr::take(value.py()));
    let found = number::unsigned(value, what)?;
    u32::try_from(found).map_err(|_| PyValueError::new_err(format!("{what} is {found}, more than any device takes")))
}

#[pymethods]
impl Kernel {
    /// The shape of a launch: ``kernel[grid, block]``, ``kernel[grid, block, stream]``, ``kernel[grid, block, stream, shared]``; or
    /// by a text another kernel of the same source, such as an instance of a template: ``kernel['scale<float>']``.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(parts) = key.cast_exact::<PyTuple>() else { return other_kernel(slf, key) };
        if !(2..=4).contains(&parts.len()) {
            return Err(wrong_key(key));
        }
        let function = slf.get().function();
        if function.is_template() {
            function.check_launchable()?;
        }
        let device = function.device();
        let (grid, block) =
            (extent(&*parts.get_borrowed_item(0)?, "grid")?, extent(&*parts.get_borrowed_item(1)?, "block")?);
        let (mut stream, mut shared) = (None, 0);
        if parts.len() > 2 {
            let given = parts.get_item(2)?;
            if !given.is_none() {
                stream = Some(runtime_stream::from_argument(slf.py(), Some(&given), device)?);
            }
        }
        if parts.len() > 3 {
            let given = parts.get_item(3)?;
            if !given.is_none() {
                shared = number_of(&given, "shared")?;
            }
        }
        let shape = LaunchShape { grid, block, shared, cooperative: false };
        let launcher = Launcher { kernel: slf.clone().unbind(), shape, stream };
        Ok(Bound::new(slf.py(), launcher)?.into_any())
    }
}

/// Puts the class into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Launcher>()
}
