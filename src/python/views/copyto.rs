//! Defines `copyto`, an assignment with a casting rule and a mask.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

use super::{assign, element_encoding};
use crate::array::class::GpuArray;
use crate::convert::argument_errors;
use crate::convert::{dtype, ndarray, strict_mode};
use crate::exported_names::names;
use crate::ffi::ndarray::is_numpy_scalar;
use crate::host_transfers::cast::{self, CastValues, cast_into};
use crate::host_transfers::device_arrays;
use crate::interop::import;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_device::stream;
use pygpu_layout::{Dims, tuple_text};

/// Converts the argument `where` to an array on the target's device. Returns `None` for `True`, which selects all
/// elements.
fn mask_on_target(target: &Array, object: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let py = object.py();
    if object.is_instance_of::<PyBool>() && object.is_truthy()? {
        return Ok(None);
    }
    let mask = match import::device_array(object)? {
        Some(mask) => mask,
        None => {
            // Python objects are converted to bool, but arrays and NumPy scalars of other types are rejected, as in
            // NumPy.
            let is_typed = object.cast::<PyUntypedArray>().is_ok() || is_numpy_scalar(object);
            let host = ndarray::as_ndarray(object, (!is_typed).then(|| DType::new(ScalarType::Bool)))?;
            let kind = dtype::from_numpy(host.dtype().as_any())?;
            device_arrays::upload_new(py, &host, kind, target.device())?
        }
    };
    if mask.dtype().kind() != ScalarType::Bool {
        let name = mask.dtype().name();
        return Err(PyTypeError::new_err(format!("copyto: where= is an array of bool, not {name}")));
    }
    if mask.device() != target.device() {
        return Err(PyValueError::new_err(format!(
            "copyto: where= is on {}, and dst on {}; copy it there first, with PyGPU.asarray(where, device='{}')",
            mask.device(),
            target.device(),
            target.device()
        )));
    }
    // Unlike the source, a mask may not have more axes than the target, even if the additional axes have length 1.
    let shape: Dims = target.layout().shape().collect();
    let layout = mask.layout().broadcast_to(&shape).map_err(|_| {
        PyValueError::new_err(format!(
            "could not broadcast where mask from shape {} into shape {}",
            tuple_text(mask.layout().shape()),
            tuple_text(&shape)
        ))
    })?;
    Ok(Some(mask.view(layout)?))
}

/// Copy values into an array where a mask is true.
///
/// Parameters
/// ----------
/// dst : GPUArray
///     Target of the copy.
/// src : array_like
///     An array of any device, host values or a number, broadcast to the shape of `dst`.
/// casting : {'same_kind', 'unsafe', 'safe', 'equiv', 'no'}, optional
///     NumPy's casting rule.
/// where : array_like of bool, optional
///     Mask of the elements to assign, broadcast to the shape of `dst`.
///
/// Raises
/// ------
/// TypeError
///     For a cast that the rule forbids, and for a mask that is not boolean.
/// ValueError
///     For shapes that do not broadcast, and for a read-only array.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.zeros(4, "float32")
/// >>> PyGPU.copyto(a, PyGPU.arange(4), where=[True, False, True, True])
/// >>> a.tolist()
/// [0.0, 0.0, 2.0, 3.0]
#[pyfunction]
#[pyo3(signature = (dst: "GPUArray", src: "Any", casting: "Casting" = "same_kind", r#where: "Any" = None) -> "None")]
pub(crate) fn copyto(
    dst: &Bound<'_, PyAny>,
    src: &Bound<'_, PyAny>,
    casting: &str,
    r#where: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = dst.py();
    // Unlike other arguments, the target must not be a list: a list would be copied to an array, and the values would
    // be written into this copy.
    let dst = dst.cast::<GpuArray>().map_err(|_| argument_errors::target("copyto", dst))?;
    let target = dst.get().array(py)?;
    target.check_writable("copyto")?;
    let mask = r#where.map(|object| mask_on_target(target, object)).transpose()?.flatten();
    if let Some(source) = import::device_array(src)? {
        cast::check_casting(py, source.dtype(), target.dtype(), casting)?;
        return assign::assign_array(py, target, &source, mask.as_ref(), &stream::current(target.device()));
    }
    let host = src.cast::<PyUntypedArray>().ok().filter(|host| host.ndim() > 0);
    if host.is_none() && crate::array::attributes::is_scalar(src) {
        let item = scalar(py, target, src, casting)?;
        return cast_into(py, target, CastValues::Item(&item), mask.as_ref(), &stream::current(target.device()));
    }
    let host = ndarray::as_ndarray(src, None)?;
    let kind = dtype::from_numpy(host.dtype().as_any())?;
    cast::check_casting(py, kind, target.dtype(), casting)?;
    if mask.is_none() {
        return assign::assign(py, target, host.as_any());
    }
    assign::broadcast(&ndarray::host_buffer(&host, kind.itemsize())?.layout, target.layout())?;
    let uploaded = device_arrays::upload_new(py, &host, kind, target.device())?;
    assign::assign_array(py, target, &uploaded, mask.as_ref(), &stream::current(target.device()))
}

/// Assigns a value to all elements of an array by the casting rule 'unsafe', as NumPy's `full` does.
///
/// # Errors
/// The errors of [`assign::assign`]; `OverflowError` for a Python int outside the range of the target's type.
pub(crate) fn assign_unsafe(py: Python<'_>, target: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_converted = element_encoding::python_number_bytes(target.dtype().kind(), value).is_some();
    if is_converted || target.dtype().kind() == ScalarType::Opaque {
        return assign::assign(py, target, value);
    }
    if crate::array::attributes::is_scalar(value) {
        let item = scalar(py, target, value, "unsafe")?;
        return cast_into(py, target, CastValues::Item(&item), None, &stream::current(target.device()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return assign::assign(py, target, ndarray::as_ndarray(value, None)?.as_any());
    }
    assign::assign(py, target, value)
}

/// Converts a scalar to the bytes of an element of `target`. NumPy performs the conversion or rejects the scalar.
fn scalar(
    py: Python<'_>,
    target: &Array,
    value: &Bound<'_, PyAny>,
    casting: &str,
) -> PyResult<element_encoding::ElementBytes> {
    let numpy = ndarray::numpy(py)?;
    let item = numpy.getattr(intern!(py, "zeros"))?.call1(((), dtype::to_python(py, target.dtype())?))?;
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "casting"), casting)?;
    strict_mode::without_host_arrays(|| numpy.getattr(intern!(py, "copyto"))?.call((&item, value), Some(&keywords)))?;
    Ok(element_encoding::scalar_bytes(&item.cast_into::<PyUntypedArray>()?, target.dtype().itemsize()))
}

names! {
    functions "Making arrays": copyto(host = ["src"]);
}
