//! Defines the attributes of an array: shape, strides, dtype, pointer, flags. No attribute calls a driver, but `ptr`
//! first flushes pending operations.

use pyo3::exceptions::{PyAttributeError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::class::GpuArray;
use super::rare_fields::ColdFields;
use crate::convert::dtype;
use crate::convert::shape::integers;
use crate::exported_names::names;
use crate::ffi::numbers::is_number;
use crate::py_once::PyOnce;
use crate::runtime::device::PyDevice;
use pygpu_layout::Layout;

/// Returns the length of the first axis.
///
/// # Errors
/// `TypeError` for a 0-d array, as in NumPy.
#[inline]
pub(crate) fn length(layout: &Layout) -> PyResult<usize> {
    match layout.axes().first() {
        Some(axis) => Ok(axis.len as usize),
        None => Err(PyTypeError::new_err("len() of unsized object")),
    }
}

#[pymethods]
impl GpuArray {
    /// Lengths of the axes, as a tuple of int.
    ///
    /// An assignment to `shape` reshapes the array in place, and raises AttributeError if a copy is needed. NumPy 2.5
    /// deprecates this assignment; `a.reshape(shape, copy=False)` returns a view.
    #[getter]
    // stub: -> tuple[int, ...]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let value = self.value();
        let make = || integers(py, value.layout().shape()).map(Bound::unbind);
        Ok(value.shape.get_or_try_init(py, make)?.bind(py).clone())
    }

    /// Strides in bytes, as a tuple of int; they may be negative.
    #[getter]
    // stub: -> tuple[int, ...]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        integers(py, self.layout().strides())
    }

    /// Type of the elements, as a `numpy.dtype`.
    #[getter(dtype)]
    // stub: -> numpy.dtype[Any]
    fn py_dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtype::to_python(py, self.dtype())
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.layout().ndim()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> i64 {
        self.layout().size()
    }

    /// Number of elements, under PyCUDA's name.
    #[getter]
    fn mem_size(&self) -> i64 {
        self.layout().size()
    }

    /// Size of all elements in bytes, without gaps between them.
    #[getter]
    // stub: -> int
    fn nbytes(&self) -> Option<i64> {
        self.cold_fields_if_set().and_then(ColdFields::nbytes).unwrap_or_else(|| Some(self.layout().nbytes()))
    }

    /// Set the number of bytes that `nbytes` returns, for subclasses, as in PyCUDA.
    #[setter]
    fn set_nbytes(slf: &Bound<'_, Self>, nbytes: Option<i64>) -> PyResult<()> {
        if slf.is_exact_instance_of::<Self>() {
            return Err(PyAttributeError::new_err("attribute 'nbytes' of GPUArray objects is not writable"));
        }
        slf.get().cold_fields_to_init().set_nbytes(nbytes);
        Ok(())
    }

    /// Size of one element in bytes.
    #[getter]
    fn itemsize(&self) -> usize {
        self.dtype().itemsize()
    }

    /// Address of element zero in the device's memory, as an int that `ctypes.c_void_p` accepts; 0 for an empty array.
    #[getter]
    fn ptr(&self, py: Python<'_>) -> PyResult<usize> {
        self.escaping_address(py)
    }

    /// Array that owns the memory of a view, or the object given as `base=`; None for an array with its own memory.
    #[getter(base)]
    // stub: -> Any
    fn base_object<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.base().map(|base| base.bind(py).clone())
    }

    /// Device of the array.
    #[getter(device)]
    fn py_device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDevice>> {
        PyDevice::shared(py, self.device())
    }

    /// Memory layout flags: `c_contiguous`, `f_contiguous`, `forc`, `writeable`, `owndata`.
    #[getter]
    fn flags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Flags>> {
        let layout = self.layout();
        let (c_contiguous, f_contiguous) = (layout.is_c_contiguous(), layout.is_f_contiguous());
        let writeable = !self.readonly();
        Flags { c_contiguous, f_contiguous, writeable, owndata: self.owns_data() }.shared(py)
    }

    fn __len__(&self) -> PyResult<usize> {
        length(self.layout())
    }
}

/// One `Flags` object for each of the 16 combinations of the four flags, created on first use.
static FLAGS: [PyOnce<Py<Flags>>; 16] = [const { PyOnce::new() }; 16];

impl Flags {
    fn shared(self, py: Python<'_>) -> PyResult<Bound<'_, Self>> {
        let bits = [self.c_contiguous, self.f_contiguous, self.writeable, self.owndata];
        let index = bits.iter().fold(0, |index, &bit| index * 2 + usize::from(bit));
        Ok(FLAGS[index].get_or_try_init(py, || Py::new(py, self))?.bind(py).clone())
    }
}

/// Memory layout of an array.
///
/// Every flag is an attribute and, as in NumPy, an item under its name in capitals.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> flags = PyGPU.empty((2, 3)).T.flags
/// >>> flags.c_contiguous, flags.f_contiguous, flags['FORC']
/// (False, True, True)
// stub: @property
// stub: def c_contiguous(self) -> bool: ...
// stub: @property
// stub: def f_contiguous(self) -> bool: ...
// stub: @property
// stub: def writeable(self) -> bool: ...
// stub: @property
// stub: def owndata(self) -> bool: ...
#[pyclass(frozen, name = "Flags", module = "PyGPU", eq)]
#[derive(PartialEq, Eq)]
pub(crate) struct Flags {
    /// Whether the array is contiguous in C order; axes of length 1 do not count.
    #[pyo3(get)]
    c_contiguous: bool,
    /// Whether the array is contiguous in Fortran order.
    #[pyo3(get)]
    f_contiguous: bool,
    /// Whether writing is allowed.
    #[pyo3(get)]
    writeable: bool,
    /// Whether the array owns its memory.
    #[pyo3(get)]
    owndata: bool,
}

#[pymethods]
impl Flags {
    /// Whether the array is contiguous in C or Fortran order.
    #[getter]
    fn forc(&self) -> bool {
        self.c_contiguous || self.f_contiguous
    }

    /// Whether the array is contiguous in Fortran order and not in C order.
    #[getter]
    fn fnc(&self) -> bool {
        self.f_contiguous && !self.c_contiguous
    }

    // stub: def __getitem__(self, key: str, /) -> bool: ...
    fn __getitem__(&self, key: &str) -> PyResult<bool> {
        match key {
            "C" | "C_CONTIGUOUS" | "CONTIGUOUS" => Ok(self.c_contiguous),
            "F" | "F_CONTIGUOUS" | "FORTRAN" => Ok(self.f_contiguous),
            "W" | "WRITEABLE" => Ok(self.writeable),
            "O" | "OWNDATA" => Ok(self.owndata),
            "FORC" => Ok(self.forc()),
            "FNC" => Ok(self.fnc()),
            _ => Err(PyKeyError::new_err(format!("unknown flag '{key}'"))),
        }
    }

    fn __repr__(&self) -> String {
        let text = |flag| if flag { "True" } else { "False" };
        format!(
            "  C_CONTIGUOUS : {}\n  F_CONTIGUOUS : {}\n  OWNDATA : {}\n  WRITEABLE : {}\n",
            text(self.c_contiguous),
            text(self.f_contiguous),
            text(self.owndata),
            text(self.writeable)
        )
    }
}

/// Whether a Python object is a number of Python or NumPy, and not an array.
pub(crate) fn is_scalar(object: &Bound<'_, PyAny>) -> bool {
    is_number(object) && !object.hasattr("__len__").unwrap_or(true)
}

names! {
    internal_classes: Flags;
}
