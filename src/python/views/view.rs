//! Defines methods that return views of the array's memory, such as `reshape` and `transpose`. These methods make no
//! driver call, except for a reshape that requires a copy.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::array_argument::ArrayArg;
use crate::array::class::{GpuArray, new_like, new_view, new_view_of, new_view_with};
use crate::convert::dtype;
use crate::convert::shape::{self, ABSENT, IntegerArgument, OrderArgument};
use crate::exported_names::names;
use crate::host_transfers::transfer;
use pygpu_layout::{Dims, Layout, MemoryOrder};

/// Parses an argument for axes: `None`, one integer or a sequence of integers.
fn axes(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Dims>> {
    object.filter(|object| !object.is_none()).map(shape::from_python).transpose()
}

#[inline(always)]
fn reshaped<'py>(slf: &Bound<'py, GpuArray>, shape: &[i64], order: MemoryOrder) -> PyResult<Bound<'py, GpuArray>> {
    let array = slf.get().array(slf.py())?;
    let mut is_view = true;
    let view = new_view_with(slf, |view| {
        is_view = array.layout().reshape_into(view, shape, order)?;
        Ok(())
    })?;
    if is_view { Ok(view) } else { copy_reshaped(slf, shape, order) }
}

#[cold]
#[inline(never)]
fn copy_reshaped<'py>(slf: &Bound<'py, GpuArray>, shape: &[i64], order: MemoryOrder) -> PyResult<Bound<'py, GpuArray>> {
    let copy = transfer::device_copy(slf.py(), slf.get().array(slf.py())?, order)?;
    match copy.layout().reshape(shape, order)? {
        Some(layout) => new_like(slf, GpuArray::from_array(copy.view(layout)?)),
        None => Err(PyValueError::new_err("reshape: a contiguous array could not be relabelled")),
    }
}

/// Returns the memory order in which a reshape reads elements, for the argument `order`.
#[inline(always)]
fn reading_order(layout: &Layout, order: Option<&Bound<'_, PyAny>>) -> PyResult<MemoryOrder> {
    match order {
        Some(order) if !order.is_none() => given_reading_order(layout, order),
        _ => Ok(MemoryOrder::C),
    }
}

#[cold]
#[inline(never)]
fn given_reading_order(layout: &Layout, order: &Bound<'_, PyAny>) -> PyResult<MemoryOrder> {
    match OrderArgument::from_python(order)? {
        OrderArgument::C => Ok(MemoryOrder::C),
        OrderArgument::F => Ok(MemoryOrder::F),
        OrderArgument::A if layout.is_f_contiguous() && !layout.is_c_contiguous() => Ok(MemoryOrder::F),
        OrderArgument::A => Ok(MemoryOrder::C),
        OrderArgument::K => Err(PyValueError::new_err("order 'K' is not permitted for reshaping")),
    }
}

/// Returns an array and a memory order. Reading the returned array in this order yields the elements of `slf` in the
/// requested order. The array is `slf` itself, or, for 'K' (order of addresses), a view of `slf` with permuted axes.
fn read_in<'py>(
    slf: &Bound<'py, GpuArray>,
    order: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, GpuArray>, MemoryOrder)> {
    let layout = slf.get().layout();
    if let Some(order) = order.filter(|order| !order.is_none())
        && matches!(OrderArgument::from_python(order)?, OrderArgument::K)
    {
        let axes = layout.axes_in_memory_order();
        return Ok((new_view(slf, &layout.transpose(Some(&axes))?)?, MemoryOrder::C));
    }
    Ok((slf.clone(), reading_order(layout, order)?))
}

#[pymethods]
impl GpuArray {
    /// View of the array with its axes reversed.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.empty((2, 3)).T.shape
    /// (3, 2)
    #[getter(T)]
    fn reversed_axes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let layout = slf.get().layout();
        new_view_with(slf, |view| {
            layout.reverse_into(view);
            Ok(())
        })
    }

    /// View of the array with its last two axes swapped.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For fewer than two axes.
    #[getter(mT)]
    fn matrix_transpose<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().array(slf.py())?;
        if array.layout().ndim() < 2 {
            return Err(PyValueError::new_err("matrix transpose with ndim < 2 is undefined"));
        }
        new_view(slf, &array.layout().swap_axes(-1, -2)?)
    }

    /// Return the same elements, read in `order`, with another shape.
    ///
    /// Parameters
    /// ----------
    /// *shape : int, or one sequence of int
    ///     The new lengths. One length may be -1, which is replaced by the matching length.
    /// order : {'C', 'F', 'A'}, optional
    ///     Order in which the elements are read from this array and placed in the result.
    /// copy : bool, optional
    ///     If true, always copy; if false, never copy.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     By default a view whenever NumPy returns one, otherwise a copy on the device.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the numbers of elements differ, or if `copy` is false and no view has this shape.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(6).reshape(2, -1).tolist()
    /// [[0, 1, 2], [3, 4, 5]]
    #[pyo3(
        signature = (a=ABSENT, b=ABSENT, c=ABSENT, d=ABSENT, /, *more, order=None, copy=None),
        text_signature = "($self, /, *shape, order=None, copy=None)"
    )]
    #[allow(clippy::many_single_char_names, clippy::too_many_arguments)]
    // stub: def reshape(self, *shape: ShapeLike, order: OrderACFK = None, copy: bool | None = None) -> Self: ...
    fn reshape<'a, 'py>(
        slf: &Bound<'py, Self>,
        a: IntegerArgument<'a, 'py>,
        b: IntegerArgument<'a, 'py>,
        c: IntegerArgument<'a, 'py>,
        d: IntegerArgument<'a, 'py>,
        more: &Bound<'py, PyTuple>,
        order: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, Self>> {
        let order = reading_order(slf.get().layout(), order)?;
        let mut lengths = Dims::new();
        if !shape::read_arguments(&mut lengths, [a, b, c, d], more)? {
            return Err(PyTypeError::new_err("reshape() takes a shape"));
        }
        match copy {
            None => reshaped(slf, &lengths, order),
            Some(true) => copy_reshaped(slf, &lengths, order),
            Some(false) => match slf.get().layout().reshape(&lengths, order)? {
                Some(layout) => new_view(slf, &layout),
                None => Err(PyValueError::new_err("Unable to avoid creating a copy while reshaping.")),
            },
        }
    }

    /// Return the elements as one axis: a view if they are contiguous, otherwise a copy on the device.
    ///
    /// Parameters
    /// ----------
    /// order : {'C', 'F', 'A', 'K'}, optional
    ///     Order in which elements are read; 'K' is the order of memory, in which negative strides are reversed.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(4).reshape(2, 2).T.ravel().tolist()
    /// [0, 2, 1, 3]
    #[pyo3(signature = (order: "OrderACFK" = None) -> "Self")]
    fn ravel<'py>(slf: &Bound<'py, Self>, order: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, Self>> {
        let (slf, order) = &read_in(slf, order)?;
        let (layout, order) = (slf.get().layout(), *order);
        // Callers of `ravel` expect contiguous elements. Therefore `ravel` copies evenly strided elements, of which
        // `reshape` returns a view.
        let contiguous = match order {
            MemoryOrder::C => layout.is_c_contiguous(),
            MemoryOrder::F => layout.is_f_contiguous(),
        };
        if contiguous { reshaped(slf, &[-1], order) } else { copy_reshaped(slf, &[-1], order) }
    }

    /// Copy the elements into an array with one axis.
    ///
    /// Parameters
    /// ----------
    /// order : {'C', 'F', 'A', 'K'}, optional
    ///     Order in which elements are read, as in `ravel`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(4).reshape(2, 2).flatten("F").tolist()
    /// [0, 2, 1, 3]
    #[pyo3(signature = (order: "OrderACFK" = None) -> "Self")]
    fn flatten<'py>(slf: &Bound<'py, Self>, order: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, Self>> {
        let (slf, order) = read_in(slf, order)?;
        copy_reshaped(&slf, &[-1], order)
    }

    /// Remove the axes of length 1, or the given ones; returns a view.
    ///
    /// Parameters
    /// ----------
    /// axis : int or sequence of int, optional
    ///     The axes to remove; by default all axes of length 1.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If an axis in `axis` is longer than 1.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.empty((1, 3, 1)).squeeze().shape
    /// (3,)
    #[pyo3(signature = (axis: "ShapeLike | None" = None) -> "Self")]
    fn squeeze<'py>(slf: &Bound<'py, Self>, axis: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().array(slf.py())?;
        let axes = axes(axis)?;
        new_view(slf, &array.layout().squeeze(axes.as_deref())?)
    }

    /// Permute the axes; returns a view.
    ///
    /// Parameters
    /// ----------
    /// *axes : int, or one sequence of int, optional
    ///     The old axis for each new axis; by default the axes are reversed. A sequence may also be passed as
    ///     ``axes=``, as in PyCUDA.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the axes are not a permutation.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.empty((2, 3, 4)).transpose(1, 0, 2).shape
    /// (3, 2, 4)
    #[pyo3(
        signature = (a=ABSENT, b=ABSENT, c=ABSENT, d=ABSENT, /, *more, axes=ABSENT),
        text_signature = "($self, /, *axes)"
    )]
    // stub: def transpose(self, *axes: ShapeLike | None) -> Self: ...
    fn transpose<'a, 'py>(
        slf: &Bound<'py, Self>,
        a: IntegerArgument<'a, 'py>,
        b: IntegerArgument<'a, 'py>,
        c: IntegerArgument<'a, 'py>,
        d: IntegerArgument<'a, 'py>,
        more: &Bound<'py, PyTuple>,
        axes: IntegerArgument<'a, 'py>,
    ) -> PyResult<Bound<'py, Self>> {
        let layout = slf.get().layout();
        let first = if a.is_absent() { axes } else { a };
        let mut order = Dims::new();
        let has_order =
            !(first.is_none() && b.is_absent()) && shape::read_arguments(&mut order, [first, b, c, d], more)?;
        new_view(slf, &layout.transpose(has_order.then_some(&order))?)
    }

    /// Swap two axes; returns a view.
    ///
    /// Parameters
    /// ----------
    /// axis1, axis2 : int
    ///     The axes; negative ones count from the end.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.empty((2, 3, 4)).swapaxes(0, -1).shape
    /// (4, 3, 2)
    #[pyo3(signature = (axis1: "SupportsIndex", axis2: "SupportsIndex") -> "Self")]
    fn swapaxes<'py>(slf: &Bound<'py, Self>, axis1: i64, axis2: i64) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().array(slf.py())?;
        new_view(slf, &array.layout().swap_axes(axis1, axis2)?)
    }

    /// Return a diagonal of two axes as the last axis of a view.
    ///
    /// Parameters
    /// ----------
    /// offset : int, optional
    ///     Number of the diagonal: 0 is the main diagonal, and a positive number is a diagonal above it.
    /// axis1, axis2 : int, optional
    ///     The two axes whose diagonal is returned.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(9).reshape(3, 3).diagonal(1).tolist()
    /// [1, 5]
    #[pyo3(signature = (offset: "SupportsIndex" = 0, axis1: "SupportsIndex" = 0, axis2: "SupportsIndex" = 1) -> "Self")]
    fn diagonal<'py>(slf: &Bound<'py, Self>, offset: i64, axis1: i64, axis2: i64) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().array(slf.py())?;
        new_view(slf, &array.layout().diagonal(offset, axis1, axis2)?)
    }

    /// View the same bytes as another dtype.
    ///
    /// Parameters
    /// ----------
    /// dtype : data-type, optional
    ///     The new type. If its itemsize differs from the current itemsize, the last axis must be contiguous, and its
    ///     total number of bytes must be a multiple of the new itemsize.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     In the same cases as `numpy.ndarray.view`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.zeros(3, dtype='complex64').view('float32').shape
    /// (6,)
    #[pyo3(signature = (dtype: "DTypeLike | None" = None) -> "Self")]
    fn view<'py>(slf: &Bound<'py, Self>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().array(slf.py())?;
        let Some(dtype) = dtype.filter(|dtype| !dtype.is_none()) else {
            return new_view(slf, array.layout());
        };
        let dtype = dtype::from_python(dtype)?;
        let layout = array.layout().view_dtype(dtype.itemsize() as i64)?;
        new_view_of(slf, array.view_as(layout, dtype)?)
    }
}

/// Insert axes of length 1; returns a view.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or sequence of int
///     Positions of the new axes in the result.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.expand_dims(PyGPU.empty((2, 3)), 1).shape
/// (2, 1, 3)
#[pyfunction]
#[pyo3(signature = (a: "GPUArray", axis: "ShapeLike") -> "GPUArray")]
pub(crate) fn expand_dims<'py>(a: ArrayArg<'py>, axis: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let array = a.get().array(a.py())?;
    new_view(&a, &array.layout().expand_dims(&shape::from_python(axis)?)?)
}

/// Broadcast along new axes and axes of length 1 without copying; returns a read-only view with strides of 0.
///
/// Parameters
/// ----------
/// a : GPUArray
/// shape : int or sequence of int
///
/// Raises
/// ------
/// ValueError
///     If the shapes are incompatible.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.broadcast_to(PyGPU.arange(3), (2, 3)).tolist()
/// [[0, 1, 2], [0, 1, 2]]
#[pyfunction]
#[pyo3(signature = (a: "GPUArray", shape: "ShapeLike") -> "GPUArray")]
pub(crate) fn broadcast_to<'py>(a: ArrayArg<'py>, shape: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let array = a.get().array(a.py())?;
    let layout = array.layout().broadcast_to(&shape::from_python(shape)?)?;
    new_view_of(&a, array.view(layout)?.as_readonly())
}

/// Move axes to other positions; returns a view.
///
/// Parameters
/// ----------
/// a : GPUArray
/// source, destination : int or sequence of int
///     The axes to move, and the new position of each axis.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.moveaxis(PyGPU.empty((2, 3, 4)), 0, -1).shape
/// (3, 4, 2)
#[pyfunction]
#[pyo3(signature = (a: "GPUArray", source: "ShapeLike", destination: "ShapeLike") -> "GPUArray")]
pub(crate) fn moveaxis<'py>(
    a: ArrayArg<'py>,
    source: &Bound<'py, PyAny>,
    destination: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, GpuArray>> {
    let array = a.get().array(a.py())?;
    let (source, destination) = (shape::from_python(source)?, shape::from_python(destination)?);
    new_view(&a, &array.layout().move_axis(&source, &destination)?)
}

/// Reverse the order of elements along axes; returns a view with negative strides.
///
/// Parameters
/// ----------
/// a : GPUArray
/// axis : int or sequence of int, optional
///     The axes to reverse; all axes by default.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.flip(PyGPU.arange(3)).tolist()
/// [2, 1, 0]
#[pyfunction]
#[pyo3(signature = (a: "GPUArray", axis: "ShapeLike | None" = None) -> "GPUArray")]
pub(crate) fn flip<'py>(a: ArrayArg<'py>, axis: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, GpuArray>> {
    let array = a.get().array(a.py())?;
    new_view(&a, &array.layout().flip(axes(axis)?.as_deref())?)
}

names! {
    functions "Views": broadcast_to, expand_dims, flip, moveaxis;
}
