//! Defines `a.astype(dtype)`, which converts the values to another dtype.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::filled::target_device;
use super::like::like_layout;
use crate::array::array_argument::ArrayArg;
use crate::array::class::{GpuArray, new_exact, new_like};
use crate::array::deferred_operands::new_pending;
use crate::convert::dtype as dtypes;
use crate::convert::shape::OrderArgument;
use crate::exported_names::names;
use crate::host_transfers::copies;
use crate::host_transfers::{cast, transfer};
use pygpu_base::dtype::DType;
use pygpu_layout::Layout;
use pygpu_ops::fusion::{DeferredOp, Operands};
use pygpu_ops::ufunc::as_it_is;

/// Whether the elements already have the requested memory order, so that no copy is needed.
fn is_in_order(layout: &Layout, order: OrderArgument) -> bool {
    match order {
        OrderArgument::K => true,
        OrderArgument::A => layout.is_c_contiguous() || layout.is_f_contiguous(),
        OrderArgument::C => layout.is_c_contiguous(),
        OrderArgument::F => layout.is_f_contiguous(),
    }
}

#[pymethods]
impl GpuArray {
    /// Convert the values to another dtype, in a separate array on the same device.
    ///
    /// Parameters
    /// ----------
    /// dtype : data-type
    ///     Anything `numpy.dtype` takes.
    /// order : {'K', 'C', 'F', 'A'}, optional
    ///     Memory order of the result; 'K', the default, keeps the order of the axes in memory.
    /// casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}, optional
    ///     NumPy's casting rule.
    /// subok : bool, optional
    ///     Whether the result has the class of the array if that is a subclass.
    /// copy : bool, optional
    ///     False returns the array itself if nothing changes.
    /// stream : Stream, optional
    ///     The stream of the conversion; the thread's current stream by default. As in PyCUDA, a stream may also be
    ///     passed at the position of `order`.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For a cast that the rule forbids, and for a dtype that a device cannot store.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> (PyGPU.arange(3).astype("float32") / 2).get()
    /// array([0. , 0.5, 1. ], dtype=float32)
    #[pyo3(signature = (
        dtype: "DTypeLike | None", order: "OrderACFK" = None, casting: "Casting" = "unsafe", subok: "bool" = true,
        copy: "bool" = true, *, stream: "StreamLike" = None
    ) -> "Self")]
    #[allow(clippy::too_many_arguments)]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyAny>,
        order: Option<&Bound<'py, PyAny>>,
        casting: &str,
        subok: bool,
        copy: bool,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let dtype = dtypes::or_float64(Some(dtype))?;
        let (order, stream) = match order.filter(|order| !order.is_none()) {
            Some(argument) if argument.is_instance_of::<PyString>() => (OrderArgument::from_python(argument)?, stream),
            argument => (OrderArgument::K, stream.or(argument)),
        };
        cast::check_casting(py, slf.get().dtype(), dtype, casting)?;
        let keeps_class = subok || slf.is_exact_instance_of::<Self>();
        if !copy && dtype == slf.get().dtype() && keeps_class && is_in_order(slf.get().layout(), order) {
            return Ok(slf.clone());
        }
        if stream.is_none_or(|stream| stream.is_none())
            && let Some(result) = defer_or_none(slf, dtype, order)?
        {
            return Ok(result);
        }
        let array = slf.get().array(py)?;
        let layout = like_layout(array.layout(), dtype.itemsize() as i64, order, None)?;
        let stream = transfer::stream_or_current(slf, stream)?;
        let result = GpuArray::from_array(cast::cast(py, array, dtype, layout, &stream)?);
        if keeps_class { new_like(slf, result) } else { new_exact(py, result) }
    }
}

/// Defers a cast, so that one kernel can compute it together with later operations. Returns `None` if the cast must be
/// launched eagerly.
fn defer_or_none<'py>(
    source: &Bound<'py, GpuArray>,
    dtype: DType,
    order: OrderArgument,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let array = source.get().without_flush()?;
    let Some(stream) = GpuArray::can_wait_on(source)? else { return Ok(None) };
    if array.dtype() == dtype || !cast::is_silent(array.dtype(), dtype) {
        return Ok(None);
    }
    let layout = like_layout(array.layout(), dtype.itemsize() as i64, order, None)?;
    let work = DeferredOp::Loop(as_it_is(), array.dtype().kind());
    let operands = Operands::of(array);
    new_pending(source.py(), work, operands, (layout, dtype), stream).map(Some)
}

/// Convert the values to another dtype: the array API's name for :meth:`GPUArray.astype`.
///
/// Parameters
/// ----------
/// x : GPUArray
/// dtype : data-type
///     Anything `numpy.dtype` takes.
/// copy : bool, optional
///     False returns `x` itself if nothing changes.
/// device : Device, str or int, optional
///     Device of the result; that of `x` by default.
///
/// Returns
/// -------
/// GPUArray
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.astype(PyGPU.arange(3), "float32").dtype
/// dtype('float32')
#[pyfunction]
#[pyo3(signature = (
    x: "GPUArray", dtype: "DTypeLike | None", /, *, copy: "bool" = true, device: "DeviceLike" = None
) -> "GPUArray")]
pub(crate) fn astype<'py>(
    x: ArrayArg<'py>,
    dtype: &Bound<'py, PyAny>,
    copy: bool,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = x.py();
    let result = GpuArray::astype(&x, dtype, None, "unsafe", true, copy, None)?;
    let Some(device) = device.filter(|device| !device.is_none()) else { return Ok(result) };
    let device = target_device(py, Some(device))?;
    if device == result.get().device() {
        return Ok(result);
    }
    let array = result.get().array(py)?;
    new_like(&x, GpuArray::from_array(copies::copy_to(py, array, device, array.layout().dense_like())?))
}

names! {
    functions "Making arrays": astype;
}
