//! Describes the arguments that generated kernels declare, and the values that one call passes for them.

use pyo3::Borrowed;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString, PyTuple};
use smallvec::SmallVec;

use crate::array::array_argument;
use crate::convert::argument_errors::describe;
use crate::convert::dtype as dtypes;
use crate::gil::WithoutGil;
use crate::interop::import;
use crate::kernel::call::{argument_errors, scalar_values};
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::ScalarType;
use pygpu_base::settings;
use pygpu_device::stream::Stream;
use pygpu_kernel::Arguments;
use pygpu_memory::retired_objects;
use pygpu_ops::{Argument, ArgumentRole};

/// Returns an attribute of a declared argument, i.e. of a `VectorArg` or `ScalarArg`.
///
/// # Errors
/// `TypeError` for an object that declares no argument.
fn declared_attribute<'py>(entry: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    entry.getattr_opt(name)?.ok_or_else(|| {
        PyTypeError::new_err(format!(
            "the declaration of an argument is {}; expected a C declaration such as 'float *x', a VectorArg or a ScalarArg",
            describe(entry)
        ))
    })
}

/// Parses declared arguments: a C declaration, or a list of `VectorArg` and `ScalarArg`.
pub(crate) fn arguments(declared: &Bound<'_, PyAny>) -> PyResult<Vec<Argument>> {
    let py = declared.py();
    let types = || py.import(intern!(py, "PyGPU._arguments.c_arguments"));
    let declared = match declared.cast::<PyString>() {
        Ok(text) => types()?.getattr("parse_arguments")?.call1((text,))?,
        Err(_) => declared.clone(),
    };
    let mut list = Vec::new();
    for entry in declared.try_iter()? {
        let mut entry = entry?;
        if entry.cast::<PyString>().is_ok() {
            entry = types()?.getattr("parse_c_arg")?.call1((entry,))?;
        }
        let dtype_object = declared_attribute(&entry, intern!(py, "dtype"))?;
        let c_type = match entry.getattr_opt(intern!(py, "c_type"))? {
            Some(text) => text.extract()?,
            None => types()?.getattr("dtype_to_ctype")?.call1((&dtype_object,))?.extract()?,
        };
        let is_vector = declared_attribute(&entry, intern!(py, "is_vector"))?.is_truthy()?;
        let constant = entry.getattr_opt(intern!(py, "constant"))?.map_or(Ok(false), |value| value.is_truthy())?;
        list.push(Argument {
            name: declared_attribute(&entry, intern!(py, "name"))?.extract()?,
            c_type,
            dtype: dtypes::from_python(&dtype_object)?,
            role: if is_vector { ArgumentRole::Vector { constant } } else { ArgumentRole::Scalar },
        });
    }
    Ok(list)
}

/// Values that a caller passes in one call of a generated kernel.
pub(crate) struct BoundArguments<'a> {
    /// One entry per array argument: a PyGPU array is borrowed from the caller's tuple, and an array of another library is
    /// an index into `foreign`.
    slots: SmallVec<[ArgumentArray<'a>; 6]>,
    foreign: Vec<Array>,
    /// Values of the scalar arguments, in the order of the declaration.
    pub(crate) scalars: Arguments,
}

enum ArgumentArray<'a> {
    Gpu(&'a Array),
    Foreign(usize),
}

impl<'a> BoundArguments<'a> {
    /// Checks the arguments of a call against the declared arguments.
    ///
    /// # Errors
    /// `TypeError` and `ValueError` that name the kernel, the position and the declaration.
    #[inline]
    pub(crate) fn read(
        name: &str,
        declared: &[Argument],
        written: impl Fn(usize) -> bool,
        args: &'a Bound<'_, PyTuple>,
    ) -> PyResult<Self> {
        if args.len() != declared.len() {
            return Err(wrong_count(name, declared, args.len()));
        }
        let mut bound = Self { slots: SmallVec::new(), foreign: Vec::new(), scalars: Arguments::new() };
        for (position, (argument, value)) in declared.iter().zip(args.iter_borrowed()).enumerate() {
            if argument.is_vector() {
                bound
                    .add_array(argument, value, written(position))
                    .map_err(|error| with_label(name, position, argument, &error, &value))?;
            } else {
                push_scalar(&mut bound.scalars, argument, &value)
                    .map_err(|error| with_label(name, position, argument, &error, &value))?;
            }
        }
        bound.check_devices(name)?;
        Ok(bound)
    }

    #[inline]
    fn add_array(&mut self, argument: &Argument, value: Borrowed<'a, '_, PyAny>, written: bool) -> PyResult<()> {
        let array = if let Some(array) = array_argument::array_if_gpu(value)? {
            self.slots.push(ArgumentArray::Gpu(array));
            array
        } else {
            let Some(array) = import::device_array(&value)? else { return Err(not_an_array(&value)) };
            self.slots.push(ArgumentArray::Foreign(self.foreign.len()));
            self.foreign.push(array);
            &self.foreign[self.foreign.len() - 1]
        };
        if argument.takes(array.dtype()) && !(written && array.readonly()) {
            return Ok(());
        }
        Err(array_error(argument, array))
    }

    fn check_devices(&self, name: &str) -> PyResult<()> {
        let mut arrays = self.arrays();
        let Some(first) = arrays.next() else { return Ok(()) };
        match arrays.find(|array| array.device() != first.device()) {
            None => Ok(()),
            Some(other) => Err(PyValueError::new_err(format!(
                "{name}(): the arrays are on {} and {}; copy them to one device first, with PyGPU.asarray(a, device='{}')",
                first.device(),
                other.device(),
                first.device()
            ))),
        }
    }

    /// Returns the arrays of the call, in the order of the declaration.
    #[inline]
    pub(crate) fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.slots.iter().map(|slot| match slot {
            ArgumentArray::Gpu(array) => *array,
            ArgumentArray::Foreign(number) => &self.foreign[*number],
        })
    }

    /// Keeps the call's arrays of other libraries alive until the stream has completed the kernel.
    pub(crate) fn retain_foreign(&mut self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        if self.foreign.is_empty() {
            return Ok(());
        }
        let arrays = std::mem::take(&mut self.foreign);
        self.slots.clear();
        Ok(py.without_gil(|| retired_objects::keep_until_passed(stream, Box::new(arrays)))?)
    }
}

/// Appends a scalar argument in its declared type. NumPy scalars of another type are converted like Python scalars.
#[inline]
fn push_scalar(arguments: &mut Arguments, argument: &Argument, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let kind = argument.dtype.kind();
    if kind == ScalarType::Opaque {
        let (dtype, bytes) = scalar_values::numpy_bytes(value)?;
        if dtype.itemsize() != argument.dtype.itemsize() {
            return Err(PyTypeError::new_err(format!(
                "the value has {} bytes, and the type {}",
                dtype.itemsize(),
                argument.dtype.itemsize()
            )));
        }
        arguments.push(&bytes);
        return Ok(());
    }
    if scalar_values::push_value(arguments, kind, value)? {
        return Ok(());
    }
    push_converted(arguments, argument, value)
}

/// Appends a Python scalar, or a NumPy scalar whose type differs from the declared type.
#[cold]
fn push_converted(arguments: &mut Arguments, argument: &Argument, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let scalar = match scalar_values::numpy_scalar(value) {
        Some(_) => value.call_method0(intern!(value.py(), "item"))?,
        None => value.clone(),
    };
    if scalar_values::push_number(arguments, argument.dtype.kind(), &scalar)? {
        return Ok(());
    }
    let (description, name) = (describe(&scalar), argument.dtype.name());
    let remedy = match scalar_values::is_integer(argument.dtype.kind()) && scalar.is_instance_of::<PyFloat>() {
        true => "; write int(value)",
        false => "",
    };
    Err(PyTypeError::new_err(format!("the argument is {description}; expected a number of type {name}{remedy}")))
}

#[cold]
fn wrong_count(name: &str, declared: &[Argument], count: usize) -> PyErr {
    let list: Vec<String> = declared.iter().map(ToString::to_string).collect();
    PyTypeError::new_err(format!("{name}({}) {}", list.join(", "), argument_errors::counts(declared.len(), count)))
}

#[cold]
fn not_an_array(value: &Bound<'_, PyAny>) -> PyErr {
    let description = describe(value);
    PyTypeError::new_err(format!("the argument is {description}; expected a GPUArray; write PyGPU.to_gpu(x)"))
}

#[cold]
fn array_error(argument: &Argument, array: &Array) -> PyErr {
    let (dtype_name, declared) = (array.dtype().name(), argument.dtype.name());
    if argument.takes(array.dtype()) {
        return PyValueError::new_err(
            "the array is read-only, and the kernel writes there or may; declare the argument const, or pass a copy()",
        );
    }
    PyTypeError::new_err(format!("the array is {dtype_name}; expected {declared}; write x.astype('{declared}')"))
}

/// Adds the kernel's name, the argument's position and its declaration to an error.
#[cold]
fn with_label(name: &str, position: usize, argument: &Argument, error: &PyErr, value: &Bound<'_, PyAny>) -> PyErr {
    let py = value.py();
    let text = format!("{name}(): argument {} ({argument}): {}", position + 1, error.value(py));
    let labelled = PyErr::from_type(error.get_type(py), text);
    labelled.set_cause(py, error.cause(py));
    labelled
}

/// Writes the source to a new folder and prints its path, for the option ``keep=True``.
pub(crate) fn keep_source(py: Python<'_>, name: &str, text: &str) -> PyResult<()> {
    let folder = tempfile::Builder::new().prefix("pygpu-kernel-").tempdir_in(settings::get().temporary())?.keep();
    let path = folder.join(format!("{name}.cu"));
    std::fs::write(&path, text)?;
    let text = format!("*** kernel source in {}", path.display());
    py.import("builtins")?.getattr("print")?.call1((text,))?;
    Ok(())
}
