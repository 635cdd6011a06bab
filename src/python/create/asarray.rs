//! Defines `asarray`, which converts any array-like to an array, without a copy if possible.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::filled;
use crate::array::class::{GpuArray, new_exact};
use crate::callback::SendPyObject;
use crate::convert::argument_errors;
use crate::convert::dtype as dtypes;
use crate::convert::ndarray;
use crate::convert::shape::OrderArgument;
use crate::convert::strict_mode;
use crate::exported_names::names;
use crate::ffi::buffer::has_buffer;
use crate::finalization;
use crate::host_transfers::copies::copy_to;
use crate::host_transfers::transfer;
use crate::host_transfers::{cast, device_arrays};
use crate::interop::dlpack_exchange_table;
use crate::interop::import::{self, ImportErrors, ImportOutcome, forbidden};
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, MemoryOrder};

/// The properties that the arguments of `asarray` request for its result.
struct AsarrayOptions {
    dtype: Option<DType>,
    order: OrderArgument,
    device: Option<Device>,
    copy: Option<bool>,
    /// Whether the values must be copied to new memory even if the device stays the same.
    is_moved: bool,
}

/// Convert any array-like to an array, and share its memory if possible.
///
/// Parameters
/// ----------
/// obj : array_like
///     A GPUArray; an array of another library on a device, by DLPack or the CUDA array interface; any object that NumPy converts
///     to an ndarray.
/// dtype : data-type, optional
///     Type of the elements; that of `obj` by default. Another type makes a copy.
/// order : {'C', 'F', 'A', 'K'}, optional
///     Memory order of the elements; 'K', the default, keeps the order of `obj`.
/// device : Device, str or int, optional
///     Device of the result. By default device arrays keep their device, and host data goes to the current device.
/// copy : bool, optional
///     True always copies, False never copies, None copies only if needed.
///
/// Returns
/// -------
/// GPUArray
///     `obj` itself if it is a GPUArray and needs no change. On the CPU the memory of an ndarray is shared, unless
///     `PYGPU_STRICT=1` requests a copy as for a GPU.
///
/// Raises
/// ------
/// ValueError
///     If a copy is needed and forbidden.
/// TypeError
///     For an object that is not an array, and for dtypes that a device cannot store. The errors of the attempted
///     protocols are the cause of the exception.
///
/// Notes
/// -----
/// Data moves between devices only if `device` requests it.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> a = PyGPU.asarray([[1, 2], [3, 4]], dtype=np.float32)
/// >>> a.shape, a.dtype
/// ((2, 2), dtype('float32'))
/// >>> PyGPU.asarray(a) is a
/// True
#[pyfunction]
#[pyo3(signature = (
    obj: "Any", dtype: "DTypeLike | None" = None, order: "OrderACFK" = None, *, device: "DeviceLike" = None,
    copy: "bool | None" = None
) -> "GPUArray")]
pub(crate) fn asarray<'py>(
    obj: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = obj.py();
    if let Ok(array_object) = obj.cast_exact::<GpuArray>()
        && dtype.is_none()
        && order.is_none()
        && device.is_none()
        && copy != Some(true)
    {
        array_object.get().array(py)?;
        return Ok(array_object.clone());
    }
    let present = |argument: Option<&Bound<'py, PyAny>>| argument.filter(|argument| !argument.is_none()).cloned();
    let options = AsarrayOptions {
        dtype: present(dtype).map(|dtype| dtypes::from_python(&dtype)).transpose()?,
        order: present(order).map_or(Ok(OrderArgument::K), |order| OrderArgument::from_python(&order))?,
        device: present(device).map(|device| filled::target_device(py, Some(&device))).transpose()?,
        copy,
        is_moved: false,
    };
    match obj.cast::<GpuArray>() {
        Ok(array_object) => convert_array(array_object, &options),
        Err(_) => convert_other(obj, &options),
    }
}

/// Converts a GPUArray. Returns the array unchanged if it already has the requested properties.
#[inline]
fn convert_array<'py>(array_object: &Bound<'py, GpuArray>, options: &AsarrayOptions) -> PyResult<Bound<'py, GpuArray>> {
    let py = array_object.py();
    match options.apply(py, array_object.get().array(py)?, false)? {
        Some(result) => new_exact(py, GpuArray::from_array(result)),
        None if array_object.is_exact_instance_of::<GpuArray>() => Ok(array_object.clone()),
        None => new_exact(
            py,
            GpuArray::with_base(array_object.get().array(py)?.clone(), array_object.clone().into_any().unbind()),
        ),
    }
}

/// Converts an object that is not a GPUArray. This is a separate function because its many local variables would slow
/// down the conversion of a GPUArray.
#[inline(never)]
fn convert_other<'py>(obj: &Bound<'py, PyAny>, options: &AsarrayOptions) -> PyResult<Bound<'py, GpuArray>> {
    let py = obj.py();
    let errors = match dlpack_exchange_table::exchange_offer(obj)? {
        dlpack_exchange_table::ExchangeOffer::Plain => ImportErrors::default(),
        offer => match import::try_protocols(obj, offer, true)? {
            ImportOutcome::Array(array) => return from_foreign(py, obj, array, options),
            ImportOutcome::Nothing(errors) => errors,
        },
    };
    from_host(obj, options).or_else(|error| {
        let is_sequence = obj.is_instance_of::<PyList>() || obj.is_instance_of::<PyTuple>();
        match is_sequence && options.copy != Some(false) && error.is_instance_of::<PyTypeError>(py) {
            true => join_sequence(obj, options)?.ok_or(error),
            false => Err(error),
        }
        .map_err(|error| errors.chain_before(py, error))
    })
}

/// Joins nested sequences of device arrays on the device, or returns `None` if the object contains no such array.
#[cold]
fn join_sequence<'py>(obj: &Bound<'py, PyAny>, options: &AsarrayOptions) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let py = obj.py();
    let module = py.import(intern!(py, "PyGPU._protocols.nested_sequences"))?;
    let result = finalization::run_python(py, || module.call_method1(intern!(py, "joined"), (obj,)))?;
    if result.is_none() {
        return Ok(None);
    }
    let result = result.cast_into::<GpuArray>()?;
    convert_array(&result, &AsarrayOptions { copy: None, ..*options }).map(Some)
}

fn from_foreign<'py>(
    py: Python<'py>,
    obj: &Bound<'py, PyAny>,
    array: Array,
    options: &AsarrayOptions,
) -> PyResult<Bound<'py, GpuArray>> {
    let is_moved = options.leaves_host() && array.device().is_cpu();
    let device = if array.device().is_cpu() { Some(options.target()?) } else { options.device };
    let options = AsarrayOptions { device, is_moved, ..*options };
    match options.apply(py, &array, false)? {
        Some(result) => new_exact(py, GpuArray::from_array(result)),
        None => new_exact(py, GpuArray::with_base(array, obj.clone().unbind())),
    }
}

/// Converts host data with NumPy. An ndarray's memory is shared on the CPU, and uploaded to other devices.
fn from_host<'py>(obj: &Bound<'py, PyAny>, options: &AsarrayOptions) -> PyResult<Bound<'py, GpuArray>> {
    let py = obj.py();
    let target = options.target()?;
    let (values, dtype, is_unshared) = to_values(obj, options)?;
    if !target.is_cpu() || options.leaves_host() {
        if options.copy == Some(false) {
            return Err(forbidden(format_args!("asarray: the values are on the host, not on {target}")));
        }
        let array = device_arrays::upload_new(py, &values, dtype, target)?;
        let result = options.reordered(py, &array)?;
        return new_exact(py, GpuArray::from_array(result.unwrap_or(array)));
    }
    let array = array_over(&values, dtype)?;
    match options.apply(py, &array, is_unshared)? {
        Some(result) => new_exact(py, GpuArray::from_array(result)),
        None => new_exact(py, GpuArray::with_base(array, values.into_any().unbind())),
    }
}

/// Returns the values as an ndarray of a dtype that devices support, and whether no other object refers to the
/// ndarray's memory.
fn to_values<'py>(
    obj: &Bound<'py, PyAny>,
    options: &AsarrayOptions,
) -> PyResult<(Bound<'py, PyUntypedArray>, DType, bool)> {
    let is_ndarray = obj.cast::<PyUntypedArray>().is_ok();
    if !is_ndarray && !exposes_memory(obj)? {
        if options.copy == Some(false) {
            let name = obj.get_type().fully_qualified_name()?;
            return Err(forbidden(format_args!("asarray: {name} holds its values one by one")));
        }
        // The dtype is passed to NumPy's conversion of the list. A later cast could change large integers, because they
        // might have been converted to floats before.
        let values = ndarray::as_ndarray(obj, options.dtype)?;
        let dtype = dtypes::from_numpy(values.dtype().as_any()).map_err(|error| not_an_array(obj, error))?;
        return Ok((values, dtype, true));
    }
    let viewed = ndarray::as_ndarray(obj, None)?;
    let viewed_dtype = dtypes::from_numpy(viewed.dtype().as_any());
    match (viewed_dtype, options.dtype) {
        (Ok(viewed_dtype), None) => Ok((viewed, viewed_dtype, false)),
        (Ok(viewed_dtype), Some(requested)) if viewed_dtype == requested => Ok((viewed, viewed_dtype, false)),
        (Err(error), None) => Err(not_an_array(obj, error)),
        (_, Some(requested)) if options.copy == Some(false) => {
            Err(forbidden(format_args!("asarray: the values are {}, not {}", viewed.dtype(), requested.name())))
        }
        (_, Some(requested)) => Ok((ndarray::as_ndarray(viewed.as_any(), Some(requested))?, requested, true)),
    }
}

/// Returns the error for an object that NumPy converts only to an array of Python objects.
#[cold]
pub(super) fn not_an_array(obj: &Bound<'_, PyAny>, cause: PyErr) -> PyErr {
    let py = obj.py();
    if obj.cast::<PyUntypedArray>().is_ok() || !cause.is_instance_of::<PyTypeError>(py) {
        return cause;
    }
    let Ok(name) = obj.get_type().fully_qualified_name() else { return cause };
    let error = PyTypeError::new_err(if obj.is_instance_of::<PyList>() || obj.is_instance_of::<PyTuple>() {
        format!("asarray: the {name}'s elements: {}", cause.value(py))
    } else {
        format!(
            "asarray: the argument is {}; expected an array, a number, or a list of numbers",
            argument_errors::describe(obj)
        )
    });
    error.set_cause(py, Some(cause));
    error
}

/// Whether NumPy uses the object's memory in place.
fn exposes_memory(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = obj.py();
    if has_buffer(obj) {
        return Ok(true);
    }
    for name in [intern!(py, "__array_interface__"), intern!(py, "__array_struct__"), intern!(py, "__array__")] {
        if obj.hasattr(name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Creates an array over an ndarray's memory, and keeps the ndarray alive.
fn array_over(values: &Bound<'_, PyUntypedArray>, dtype: DType) -> PyResult<Array> {
    let buffer = ndarray::host_buffer(values, dtype.itemsize())?;
    let (stream, owner) =
        (Stream::default_of(Device::cpu()?), Box::new(SendPyObject::new(values.clone().into_any().unbind())));
    // SAFETY: address and layout are those of the ndarray, whose elements are inside its memory; `owner` keeps the
    // ndarray alive.
    Ok(unsafe {
        Array::imported(buffer.address, buffer.layout, dtype, !ndarray::is_writable(values), stream, Some(owner))?
    })
}

impl AsarrayOptions {
    /// Returns the device to which host data goes: the requested device, or the current device.
    fn target(&self) -> PyResult<Device> {
        match self.device {
            Some(device) => Ok(device),
            None => Ok(Device::current()?),
        }
    }

    /// Whether strict mode requires a copy of host data, even if the device is the host.
    fn leaves_host(&self) -> bool {
        strict_mode::is_strict() && self.device.is_none()
    }

    /// Creates a new array if `array` does not match the request, or if a copy is requested. Returns `None` if `array`
    /// itself can be the result. `is_unshared` means that no other object refers to the memory of `array`.
    fn apply(&self, py: Python<'_>, array: &Array, is_unshared: bool) -> PyResult<Option<Array>> {
        let target = self.device.unwrap_or(array.device());
        let dtype = self.dtype.unwrap_or(array.dtype());
        let mismatch = if target != array.device() || self.is_moved {
            format!("on {}, not on {target}", array.device())
        } else if dtype != array.dtype() {
            format!("{}, not {}", array.dtype().name(), dtype.name())
        } else if self.missing_order(array.layout()).is_some() {
            "not in the order asked for".to_owned()
        } else if self.copy == Some(true) && !is_unshared {
            return Ok(Some(transfer::device_copy_like(py, array)?));
        } else {
            return Ok(None);
        };
        if self.copy == Some(false) {
            return Err(forbidden(format_args!("asarray: the values are {mismatch}")));
        }
        let mut result = if dtype == array.dtype() { array.clone() } else { cast::cast_like(py, array, dtype)? };
        if target != result.device() || self.is_moved {
            result = copy_to(py, &result, target, result.layout().dense_like())?;
        }
        Ok(Some(self.reordered(py, &result)?.unwrap_or(result)))
    }

    fn reordered(&self, py: Python<'_>, array: &Array) -> PyResult<Option<Array>> {
        self.missing_order(array.layout()).map(|order| transfer::device_copy(py, array, order)).transpose()
    }

    /// Returns the requested memory order if the layout does not have this order already; otherwise `None`.
    fn missing_order(&self, layout: &Layout) -> Option<MemoryOrder> {
        match self.order {
            OrderArgument::C if !layout.is_c_contiguous() => Some(MemoryOrder::C),
            OrderArgument::F if !layout.is_f_contiguous() => Some(MemoryOrder::F),
            _ => None,
        }
    }
}

names! {
    functions "Making arrays": asarray;
}
