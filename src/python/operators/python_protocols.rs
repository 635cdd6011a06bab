//! Implements the Python protocols of an array: iteration, truth value, conversion to numbers, printing, copying,
//! pickling.

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};

use crate::array::attributes;
use crate::array::class::{GpuArray, new_like, new_view_with};
use crate::convert::shape;
use crate::errors;
use crate::exported_names::names;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::host_transfers::transfer;
use crate::py_once::intern;
use pygpu_device::shutdown;
use pygpu_layout::tuple_text;
use pygpu_layout::{Dims, Indexer, Layout};

/// Copies the value of an array with one element to the host, as an ndarray.
fn single_element<'py>(slf: &Bound<'py, GpuArray>, purpose: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = slf.get().array(slf.py())?;
    if array.layout().size() != 1 {
        return Err(PyTypeError::new_err(format!(
            "only arrays of one element can be {purpose}; this one has shape {}",
            tuple_text(array.layout().shape())
        )));
    }
    transfer::to_ndarray(slf.py(), array)
}

/// Returns the single value of an array as a Python scalar. NumPy converts the value.
fn single<'py>(slf: &Bound<'py, GpuArray>, purpose: &str) -> PyResult<Bound<'py, PyAny>> {
    single_element(slf, purpose)?.call_method0(intern!(slf.py(), "item"))
}

/// Converts the single value of an array to a Python scalar by calling `method`, such as `__float__`, of an ndarray
/// with this value.
fn convert<'py>(slf: &Bound<'py, GpuArray>, method: &str) -> PyResult<Bound<'py, PyAny>> {
    let element = single_element(slf, "converted to Python scalars")?;
    let scalar = element.call_method1(intern!(slf.py(), "reshape"), (PyTuple::empty(slf.py()),))?;
    scalar.call_method0(method)
}

#[pymethods]
impl GpuArray {
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, FirstAxisIter>> {
        if slf.get().layout().ndim() == 0 {
            return Err(PyTypeError::new_err("iteration over a 0-d array"));
        }
        Bound::new(
            slf.py(),
            FirstAxisIter { array: Some(slf.clone().unbind()), next: std::sync::atomic::AtomicI64::new(0) },
        )
    }

    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        if slf.get().layout().size() != 1 {
            return Err(PyValueError::new_err(
                "The truth value of an array with more or fewer than one element is ambiguous. Use a.any() or a.all()",
            ));
        }
        transfer::to_ndarray(slf.py(), slf.get().array(slf.py())?)?.is_truthy()
    }

    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "__int__")
    }

    fn __float__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "__float__")
    }

    fn __complex__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "__complex__")
    }

    fn __index__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let array = slf.get().array(slf.py())?;
        let integer = array.dtype().row().is_some_and(|entry| entry.name.contains("int"));
        if !integer || array.layout().ndim() != 0 {
            return Err(PyTypeError::new_err("only integer scalar arrays can be converted to a scalar index"));
        }
        single(slf, "converted to an index")
    }

    #[pyo3(signature = (ndigits: "int | None" = None) -> "Any")]
    fn __round__<'py>(slf: &Bound<'py, Self>, ndigits: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if slf.get().layout().ndim() == 0 {
            let scalar =
                single_element(slf, "rounded")?.call_method1(intern!(py, "__getitem__"), (PyTuple::empty(py),))?;
            return scalar.call_method1(intern!(py, "__round__"), (ndigits,));
        }
        match ndigits.filter(|value| !value.is_none()) {
            Some(ndigits) => slf.call_method1(intern!(py, "round"), (ndigits,)),
            None => slf.call_method0(intern!(py, "round")),
        }
    }

    /// Return the value of an array of one element, or of the element at an index, as a Python scalar.
    ///
    /// Parameters
    /// ----------
    /// *args : int, or one tuple of int, optional
    ///     Index of the element; a single int is an index in C order.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(6).reshape(2, 3).item(1, 2)
    /// 5
    #[pyo3(signature = (*args: "Any") -> "Any")]
    fn item<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        if args.is_empty() {
            if slf.get().layout().size() != 1 {
                return Err(PyValueError::new_err("can only convert an array of size 1 to a Python scalar"));
            }
            return single(slf, "converted to Python scalars");
        }
        let array = slf.get().array(slf.py())?;
        let view = array.view(element(array.layout(), args)?)?;
        transfer::to_ndarray(slf.py(), &view)?.call_method0(intern!(slf.py(), "item"))
    }

    /// Return the values as nested lists of Python scalars.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(4).reshape(2, 2).tolist()
    /// [[0, 1], [2, 3]]
    #[pyo3(signature = () -> "Any")]
    fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        transfer::to_ndarray(slf.py(), slf.get().array(slf.py())?)?.call_method0(intern!(slf.py(), "tolist"))
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._observability.printing"))?.call_method1(intern!(py, "array_repr"), (slf,))
        })
    }

    /// Represents the array in notebooks: shape, dtype, device, bytes and layout. If the values can be fetched at low
    /// cost, the representation also contains the values, or, for a large array, only the values at the array's edges.
    #[pyo3(signature = () -> "str")]
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._observability.notebook_views"))?
                .call_method1(intern!(py, "array_html"), (slf,))
        })
    }

    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._observability.printing"))?.call_method1(intern!(py, "array_str"), (slf,))
        })
    }

    #[pyo3(signature = (spec: "str") -> "str")]
    fn __format__<'py>(slf: &Bound<'py, Self>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        if spec.is_empty() {
            return Self::__str__(slf);
        }
        single(slf, "formatted with a specification")?.call_method1(intern!(slf.py(), "__format__"), (spec,))
    }

    #[pyo3(signature = () -> "Self")]
    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let copied = transfer::device_copy_like(slf.py(), slf.get().array(slf.py())?)?;
        let copy = new_like(slf, GpuArray::from_array(copied))?;
        copy_attributes(slf, &copy)?;
        Ok(copy)
    }

    #[pyo3(signature = (memo: "dict[int, Any]") -> "Self")]
    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyDict>) -> PyResult<Bound<'py, Self>> {
        let copied = transfer::device_copy_like(slf.py(), slf.get().array(slf.py())?)?;
        let copy = new_like(slf, GpuArray::from_array(copied))?;
        let attributes = slf.getattr(intern!(slf.py(), "__dict__"))?.cast_into::<PyDict>()?;
        if !attributes.is_empty() {
            // The copy is registered in `copy.deepcopy`'s memo before the attributes are copied, because an attribute
            // may refer to the array itself.
            memo.set_item(slf.as_ptr() as usize, &copy)?;
            let deepcopy = slf.py().import("copy")?.getattr("deepcopy")?;
            let deep = finalization::run_python(slf.py(), || deepcopy.call1((attributes, memo)))?;
            copy.getattr(intern!(slf.py(), "__dict__"))?
                .cast_into::<PyDict>()?
                .update(deep.cast::<PyDict>()?.as_mapping())?;
        }
        Ok(copy)
    }

    /// Pickles the values, the class, the attributes, and the device. An array is unpickled on the current device if
    /// its device does not exist.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let values = transfer::to_ndarray(py, slf.get().array(slf.py())?)?;
        let restore = py.import(intern!(py, "PyGPU._core"))?.getattr("_restore")?;
        let state = slf.getattr(intern!(py, "__dict__"))?.cast_into::<PyDict>()?;
        let state = if state.is_empty() { py.None().into_bound(py) } else { state.into_any() };
        let device = slf.get().array(py)?.device();
        let device = (device.kind().name(), device.index());
        (restore, (slf.get_type(), values, device), state).into_pyobject(py)
    }

    /// Returns a new unique name for Dask in each call. A name computed from the values would require a download and
    /// would change with the array.
    #[pyo3(signature = () -> "tuple[str, str]")]
    fn __dask_tokenize__<'py>(slf: &Bound<'py, Self>) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        let py = slf.py();
        let unique = py.import(intern!(py, "uuid"))?.call_method0(intern!(py, "uuid4"))?;
        Ok(("PyGPU", unique.getattr(intern!(py, "hex"))?))
    }

    #[pyo3(signature = (state: "dict[str, Any]") -> "None")]
    fn __setstate__(slf: &Bound<'_, Self>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        slf.getattr(intern!(slf.py(), "__dict__"))?.cast_into::<PyDict>()?.update(state.as_mapping())
    }

    /// Record that work outside PyGPU uses the array's memory on a stream.
    ///
    /// Later uses of the array, and the free of its memory, wait for that work.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, object with `__cuda_stream__`, or int
    ///     The stream on which a raw pointer to the array was used.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3)
    /// >>> a.record_stream(PyGPU.Stream())
    #[pyo3(signature = (stream: "StreamLike") -> "None")]
    fn record_stream(slf: &Bound<'_, Self>, stream: &Bound<'_, PyAny>) -> PyResult<()> {
        let array = slf.get().array(slf.py())?;
        let stream = crate::runtime::stream::from_argument(slf.py(), Some(stream), array.device())?;
        slf.py().without_gil(|| array.allocation().record_stream(&stream))?;
        Ok(())
    }

    /// Block the host until all tracked uses of the array have ended.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.zeros(3).synchronize()
    #[pyo3(signature = () -> "None")]
    fn synchronize(slf: &Bound<'_, Self>) -> PyResult<()> {
        let array = slf.get().array(slf.py())?;
        slf.py().without_gil(|| array.allocation().synchronize().and_then(|()| shutdown::report_deferred()))?;
        Ok(())
    }
}

/// Returns the layout of the element that the arguments of `item` select. One integer is an index in C order; several
/// integers are one index for each axis.
fn element(layout: &Layout, args: &Bound<'_, PyTuple>) -> PyResult<Layout> {
    let mut indices = Dims::new();
    match args.get_item(0)?.cast_into::<PyTuple>() {
        Ok(tuple) if args.len() == 1 => shape::read(&mut indices, &tuple)?,
        _ => shape::read(&mut indices, args)?,
    }
    if let [flat] = indices[..] {
        indices = unravel(layout, flat)?;
    }
    if indices.len() != layout.ndim() {
        return Err(PyValueError::new_err(format!(
            "incorrect number of indices for array: {} for {} axes",
            indices.len(),
            layout.ndim()
        )));
    }
    let mut view = Layout::scalar(layout.itemsize());
    let mut indexer = Indexer::new(layout, &mut view, indices.len(), false);
    for index in indices {
        indexer.integer(index)?;
    }
    indexer.finish()?;
    Ok(view)
}

/// Converts the index of an element in C order to one index for each axis.
fn unravel(layout: &Layout, flat: i64) -> PyResult<Dims> {
    let size = layout.size();
    if flat < -size || flat >= size {
        return Err(PyIndexError::new_err(format!("index {flat} is out of bounds for size {size}")));
    }
    let mut remainder = if flat < 0 { flat + size } else { flat };
    let mut indices: Dims = layout.shape().collect();
    for index in indices.iter_mut().rev() {
        let length = *index;
        *index = remainder % length;
        remainder /= length;
    }
    Ok(indices)
}

fn copy_attributes(from: &Bound<'_, GpuArray>, to: &Bound<'_, GpuArray>) -> PyResult<()> {
    let attributes = from.getattr(intern!(from.py(), "__dict__"))?.cast_into::<PyDict>()?;
    if attributes.is_empty() {
        return Ok(());
    }
    to.getattr(intern!(from.py(), "__dict__"))?.cast_into::<PyDict>()?.update(attributes.as_mapping())
}

/// Unpickles an array on the current device.
///
/// In a forked child, which has no device, the function returns an object that raises the error when a program uses the
/// object. An error during unpickling would be lost in the worker of a pool, and the parent process would wait forever.
#[pyfunction]
#[pyo3(signature = (class, values, device=None))]
// stub: def _restore(
// stub:     class_: type[GPUArray], values: NDArray[Any], device: tuple[str, int] | None = None
// stub: ) -> GPUArray | ForkedArray: ...
pub(crate) fn _restore<'py>(
    class: &Bound<'py, pyo3::types::PyType>,
    values: &Bound<'py, PyUntypedArray>,
    device: Option<(String, Bound<'py, PyInt>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    // A device number outside the range of `i32` denotes no device.
    let device = device.and_then(|(kind, index)| Some((kind, index.extract::<i32>().ok()?)));
    if !class.is_subclass_of::<GpuArray>()? {
        return Err(PyTypeError::new_err(format!("{class} is no subclass of GPUArray")));
    }
    match restore(class, values, device.as_ref()) {
        Err(error) if errors::is_fork(py, &error) => {
            py.import("PyGPU._process.forked_array")?.getattr("ForkedArray")?.call1((class, values, device, error))
        }
        restored => Ok(restored?.into_any()),
    }
}

fn restore<'py>(
    class: &Bound<'py, pyo3::types::PyType>,
    values: &Bound<'py, PyUntypedArray>,
    device: Option<&(String, i32)>,
) -> PyResult<Bound<'py, GpuArray>> {
    use numpy::PyUntypedArrayMethods;
    let dtype = crate::convert::dtype::from_numpy(values.dtype().as_any())?;
    let backend = pygpu_backend::default_backend()?;
    // The process that pickled the array may have had more devices, because process launchers assign devices. If the
    // device's number does not exist in this process, the current device is used.
    let matching_device =
        device.filter(|(kind, index)| kind == backend.kind().name() && (0..backend.device_count()).contains(index));
    let device = matching_device
        .map_or_else(pygpu_device::Device::current, |(_, index)| pygpu_device::Device::new(backend, *index))?;
    let array = crate::host_transfers::device_arrays::upload_new(class.py(), values, dtype, device)?;
    crate::array::class::new_of_class(class, GpuArray::from_array(array))
}

/// Iterator over the views of an array along its first axis.
#[pyclass(frozen, module = "PyGPU", name = "_Views")]
pub(crate) struct FirstAxisIter {
    /// The array over which the object iterates; `None` only while the iterator is created, when the garbage collector
    /// may already visit it.
    array: Option<Py<GpuArray>>,
    next: std::sync::atomic::AtomicI64,
}

#[pymethods]
impl FirstAxisIter {
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __next__<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, GpuArray>>> {
        let Some(array) = &slf.get().array else { return Ok(None) };
        let array = array.bind(slf.py());
        let layout = array.get().layout();
        let index = slf.get().next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if index >= attributes::length(layout)? as i64 {
            return Ok(None);
        }
        let view = new_view_with(array, |view| {
            let mut indexer = Indexer::new(layout, view, 1, false);
            indexer.integer(index)?;
            Ok(indexer.finish()?)
        })?;
        Ok(Some(view))
    }

    fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
        visit.call(&self.array)
    }
}

names! {
    internal_functions: _restore;
}
