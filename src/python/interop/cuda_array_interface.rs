//! Imports and exports through `__cuda_array_interface__`, and exports through its host counterparts
//! `__array_interface__` and `__array__`.

use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::array::class::GpuArray;
use crate::callback::SendPyObject;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::number;
use crate::convert::shape;
use crate::convert::strict_mode;
use crate::gil::WithoutGil;
use crate::host_transfers::cpu_view;
use crate::py_once::{PyOnce, intern};
use crate::runtime::stream_check;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType, TABLE};
use pygpu_base::error::Error;
use pygpu_interop::cuda_array_interface;
use pygpu_interop::imported_memory::ImportedMemory;
use pygpu_layout::Dims;

/// Template dictionaries, one per dtype. An export copies a template instead of creating an empty dictionary, which
/// would be resized when six keys are inserted.
static TEMPLATES: [PyOnce<Py<PyDict>>; TABLE.len()] = [const { PyOnce::new() }; TABLE.len()];

/// The CUDA array interface and NumPy's array interface, whose dictionaries differ in one key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interface {
    Cuda,
    Host,
}

impl Interface {
    const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "__cuda_array_interface__",
            Self::Host => "__array_interface__",
        }
    }
}

fn template<'py>(py: Python<'py>, dtype: DType, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let Some(row) = dtype.row() else { return opaque_template(py, dtype) };
    let Some(typestr) = row.typestr else {
        return Err(PyAttributeError::new_err(format!(
            "{name}: libraries do not agree on a typestr for {}; exchange the array by DLPack (from_dlpack)",
            row.name
        )));
    };
    let Some(cell) = TEMPLATES.get(dtype.kind() as usize) else { return new_template(py, typestr) };
    let template = cell.get_or_try_init(py, || new_template(py, typestr).map(Bound::unbind))?;
    template.bind(py).copy()
}

fn new_template<'py>(py: Python<'py>, typestr: &str) -> PyResult<Bound<'py, PyDict>> {
    let template = PyDict::new(py);
    template.set_item(intern!(py, "shape"), py.None())?;
    template.set_item(intern!(py, "typestr"), typestr)?;
    template.set_item(intern!(py, "data"), py.None())?;
    template.set_item(intern!(py, "version"), 3)?;
    template.set_item(intern!(py, "strides"), py.None())?;
    Ok(template)
}

fn opaque_template<'py>(py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyDict>> {
    let descr = dtype::to_python(py, dtype)?;
    let typestr = descr.getattr(intern!(py, "str"))?;
    let template = new_template(py, typestr.cast::<PyString>()?.to_str()?)?;
    if !descr.getattr(intern!(py, "names"))?.is_none() {
        template.set_item(intern!(py, "descr"), descr.getattr(intern!(py, "descr"))?)?;
    }
    Ok(template)
}

/// Returns a new interface dictionary with the entries that both interfaces have.
fn describe<'py>(py: Python<'py>, owner: &GpuArray, interface: Interface) -> PyResult<Bound<'py, PyDict>> {
    let array = owner.array(py)?;
    let entries = template(py, array.dtype(), interface.name())?;
    let layout = array.layout();
    entries.set_item(intern!(py, "shape"), shape::integers(py, layout.shape())?)?;
    let address = match (interface, owner.escaping_address(py)?) {
        // NumPy before 2.0 rejects a null address even for arrays without elements, so another number replaces the
        // address.
        (Interface::Host, 0) => std::mem::align_of::<u128>(),
        (_, address) => address,
    };
    entries.set_item(intern!(py, "data"), (address, array.readonly()))?;
    // The strides of a contiguous array are passed as None, because many consumers reject explicit strides.
    if !layout.is_c_contiguous() {
        entries.set_item(intern!(py, "strides"), shape::integers(py, layout.strides())?)?;
    }
    Ok(entries)
}

/// Returns whether NumPy may read the array's memory in place.
fn is_read_in_place(array: &Array) -> bool {
    array.device().is_cpu() && strict_mode::allows_reading()
}

#[pymethods]
impl GpuArray {
    /// CUDA array interface, version 3: for CuPy, Numba, PyTorch and others that read device memory in place.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Contains the stream in whose order all work on the array runs. On ROCm, where the interface has no streams,
    ///     the call waits for that work instead.
    ///
    /// Raises
    /// ------
    /// AttributeError
    ///     If the array is in host memory, or if its dtype has no agreed typestr (bfloat16, float8).
    #[getter]
    fn __cuda_array_interface__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let py = slf.py();
        let array = slf.get().array(slf.py())?;
        if array.device().is_cpu() {
            return Err(PyAttributeError::new_err(
                "__cuda_array_interface__: the array is in host memory; use __array_interface__ or DLPack",
            ));
        }
        let entries = describe(py, slf.get(), Interface::Cuda)?;
        let stream = py.without_gil(|| cuda_array_interface::export(array))?;
        if stream_check::is_on() {
            stream_check::hand_over(py, array, None, "__cuda_array_interface__");
        }
        entries.set_item(intern!(py, "stream"), stream)?;
        Ok(entries)
    }

    /// NumPy array interface, version 3: gives access to the array's memory in place, for arrays in host memory.
    ///
    /// Returns
    /// -------
    /// dict
    ///
    /// Raises
    /// ------
    /// AttributeError
    ///     If the array is on a GPU, or with `PYGPU_STRICT=1`.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3, device='cpu')
    /// >>> np.asarray(a)[1] = 5
    /// >>> a.tolist()
    /// [0.0, 5.0, 0.0]
    #[getter]
    fn __array_interface__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let array = slf.get().array(slf.py())?;
        if !is_read_in_place(array) {
            return Err(PyAttributeError::new_err(format!(
                "__array_interface__: the array is on {}, and is not read in place by the host; use .get()",
                array.device()
            )));
        }
        describe(slf.py(), slf.get(), Interface::Host)
    }

    /// Returns an ndarray over the same memory, for arrays in host memory.
    ///
    /// Parameters
    /// ----------
    /// dtype : data-type, optional
    ///     Dtype of the result; a dtype other than the array's requires a copy.
    /// copy : bool, optional
    ///     True always copies, False never copies, None copies only if the dtype differs.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the array is on a GPU, because transfers are never implicit. With `PYGPU_STRICT=1` for every array.
    /// ValueError
    ///     If a copy is needed and `copy` is False.
    #[pyo3(signature = (dtype: "DTypeLike | None" = None, copy: "bool | None" = None) -> "NDArray[Any]")]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = slf.get().array(slf.py())?;
        if !is_read_in_place(array) {
            let device = array.device();
            return Err(PyTypeError::new_err(format!(
                "the array is on {device}, and is not moved to the host without being asked: use .get(), or \
                 numpy.from_dlpack(x, device=\"cpu\")"
            )));
        }
        let view = cpu_view::view(slf)?.into_any();
        let target_dtype = match dtype {
            Some(dtype) => ndarray::numpy(py)?.getattr(intern!(py, "dtype"))?.call1((dtype,))?,
            None => view.getattr(intern!(py, "dtype"))?,
        };
        let has_same_dtype = target_dtype.eq(view.getattr(intern!(py, "dtype"))?)?;
        match copy {
            Some(true) => view.call_method1(intern!(py, "astype"), (target_dtype,)),
            Some(false) if !has_same_dtype => Err(PyValueError::new_err(format!(
                "__array__: {} as {target_dtype} needs a copy, and copy=False forbids it",
                slf.get().dtype().name()
            ))),
            _ if has_same_dtype => Ok(view),
            _ => view.call_method1(intern!(py, "astype"), (target_dtype,)),
        }
    }
}

/// Interface dictionary that a producer returned.
struct InterfaceDict<'py>(Bound<'py, PyDict>);

impl<'py> InterfaceDict<'py> {
    fn get(&self, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(key)?.filter(|value| !value.is_none()))
    }

    fn required(&self, key: &str) -> PyResult<Bound<'py, PyAny>> {
        self.get(key)?.ok_or_else(|| wrong_value(format_args!("'{key}' is missing")))
    }

    /// Reads a tuple or list of integers from an entry of the interface dictionary.
    fn integers(&self, key: &str, entry: &Bound<'py, PyAny>) -> PyResult<Dims> {
        if !entry.is_instance_of::<PyTuple>() && !entry.is_instance_of::<PyList>() {
            return Err(wrong_type(format_args!("'{key}' is a tuple of integers, not {entry:?}")));
        }
        entry.try_iter()?.map(|item| number::signed(&item?, key)).collect()
    }

    fn data(&self) -> PyResult<(usize, bool)> {
        let data = self.required("data")?;
        let wrong = || wrong_type(format_args!("'data' is a tuple (pointer, read-only), not {data:?}"));
        let integer_pair = data.cast::<PyTuple>().map_err(|_| wrong())?;
        if integer_pair.len() != 2 {
            return Err(wrong());
        }
        let pointer = integer_pair.get_item(0)?;
        // For arrays without elements, some producers pass None as the address.
        let address = if pointer.is_none() { 0 } else { number::size(&pointer, "the pointer in 'data'")? };
        Ok((address, integer_pair.get_item(1)?.is_truthy()?))
    }

    fn stream(&self) -> PyResult<Option<i64>> {
        self.get("stream")?.map(|stream| number::signed(&stream, "'stream'")).transpose()
    }

    fn dtype(&self) -> PyResult<DType> {
        let typestr = self.required("typestr")?;
        let Ok(text) = typestr.cast::<PyString>() else {
            return Err(wrong_type(format_args!("'typestr' is text such as '<f4', not {typestr:?}")));
        };
        let scalar_dtype = DType::from_typestr(text.to_str()?)?;
        if scalar_dtype.kind() != ScalarType::Opaque {
            return Ok(scalar_dtype);
        }
        let dtype = dtype::from_numpy(&self.structured(&typestr)?)?;
        if dtype.itemsize() != scalar_dtype.itemsize() {
            return Err(wrong_value(format_args!(
                "'descr' describes items of {} bytes, and 'typestr' of {}",
                dtype.itemsize(),
                scalar_dtype.itemsize()
            )));
        }
        Ok(dtype)
    }

    /// Returns the NumPy dtype of opaque items: with fields if the interface describes fields.
    fn structured(&self, typestr: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.0.py();
        if let Some(descr) = self.get("descr")? {
            // In the interface's `descr`, the padding between fields is an entry with an empty name. `descr_to_dtype`
            // omits such entries, unlike `numpy.dtype`.
            let format = py.import(intern!(py, "numpy.lib.format"))?;
            let dtype = format.call_method1(intern!(py, "descr_to_dtype"), (descr,))?;
            let names = dtype.getattr(intern!(py, "names"))?;
            if !names.is_none() && !names.is_empty()? {
                return Ok(dtype);
            }
        }
        ndarray::numpy(py)?.getattr(intern!(py, "dtype"))?.call1((typestr,))
    }

    fn check_version_and_mask(&self) -> PyResult<()> {
        let version = self.required("version")?;
        if !version.is_instance_of::<PyInt>() || version.is_instance_of::<PyBool>() {
            return Err(wrong_type(format_args!("'version' is an int, not {version:?}")));
        }
        if !(0..=3).contains(&number::signed(&version, "'version'")?) {
            return Err(wrong_value(format_args!("version {version} is unknown; 3 is the latest that can be read")));
        }
        match self.get("mask")? {
            Some(_) => {
                Err(wrong_value(format_args!("PyGPU does not support masked arrays; give the data and the mask apart")))
            }
            None => Ok(()),
        }
    }

    fn description(&self) -> PyResult<ImportedMemory> {
        self.check_version_and_mask()?;
        let shape = self.integers("shape", &self.required("shape")?)?;
        let strides = self.get("strides")?.map(|strides| self.integers("strides", &strides)).transpose()?;
        let (address, readonly) = self.data()?;
        Ok(ImportedMemory { address, shape, strides, dtype: self.dtype()?, readonly })
    }
}

fn wrong_type(problem: std::fmt::Arguments<'_>) -> PyErr {
    PyTypeError::new_err(format!("__cuda_array_interface__: {problem}"))
}

fn wrong_value(problem: std::fmt::Arguments<'_>) -> PyErr {
    PyValueError::new_err(format!("__cuda_array_interface__: {problem}"))
}

/// Imports the memory that an object's interface describes; `None` if the object has no interface.
///
/// # Errors
/// `TypeError` and `ValueError` for an interface that violates the protocol or is inconsistent; errors of the driver.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let py = object.py();
    let Some(dict) = object.getattr_opt(intern!(py, "__cuda_array_interface__"))? else { return Ok(None) };
    let dict = match dict.cast_into::<PyDict>() {
        Ok(dict) => InterfaceDict(dict),
        Err(error) => {
            let other_type = error.into_inner();
            return Err(wrong_type(format_args!("a dict is expected, not {other_type:?}")));
        }
    };
    let description = dict.description()?;
    let stream = dict.stream()?;
    let owner = Box::new(SendPyObject::new(object.clone().unbind()));
    // SAFETY: the protocol requires that the object describes valid memory, which cannot be verified; `owner` keeps the
    // object alive.
    let imported: Result<Array, Error> =
        py.without_gil(|| unsafe { cuda_array_interface::import(&description, stream, owner) });
    let imported = imported?;
    if stream.is_none() && stream_check::is_on() {
        stream_check::check_import(py, Some(object), &imported)?;
    }
    Ok(Some(imported))
}
