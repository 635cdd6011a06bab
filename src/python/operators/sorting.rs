//! Defines `sort` and `argsort` as functions and as methods of arrays.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::method_declarations::entry;
use crate::array::array_argument::ArrayArg;
use crate::array::class::{GpuArray, new_like};
use crate::convert::OptionalArg;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::host_transfers::{cpu_view, device_arrays, transfer};
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_layout::{MemoryOrder, normalize_axis};
use pygpu_memory::stream_captures;
use pygpu_ops::sorting::{self, SortOutputs};

/// Arguments of a sort, without the array.
struct SortOptions<'a, 'py> {
    axis: Option<i64>,
    kind: OptionalArg<'a, 'py>,
    order: OptionalArg<'a, 'py>,
    stable: OptionalArg<'a, 'py>,
    descending: bool,
}

impl SortOptions<'_, '_> {
    /// Checks NumPy's keywords. The names of all of NumPy's algorithms are accepted, although PyGPU has only one
    /// algorithm, which is stable.
    fn check(&self) -> PyResult<()> {
        let Self { kind, order, stable, descending, .. } = *self;
        if order.is_some_and(|order| !order.is_none()) {
            return Err(PyValueError::new_err("Cannot specify order when the array has no fields."));
        }
        let Some(kind) = kind.filter(|kind| !kind.is_none()) else { return Ok(()) };
        if descending || stable.is_some_and(|stable| !stable.is_none()) {
            return Err(PyValueError::new_err(
                "`kind` and keyword parameters can't be provided at the same time. Use only one of them.",
            ));
        }
        let name: String = kind.extract()?;
        match name.to_ascii_lowercase().chars().next() {
            Some('q' | 'h' | 'm' | 's') => Ok(()),
            _ => Err(PyValueError::new_err(format!(
                "sort kind must be one of 'quick', 'heap', or 'stable' (got '{name}')"
            ))),
        }
    }
}

/// Returns the array to sort and the index of the axis to sort along. If `axis` is `None`, the array is flattened in C
/// order.
fn sort_operand(a: &Bound<'_, GpuArray>, axis: Option<i64>) -> PyResult<(Array, usize)> {
    let py = a.py();
    let array = a.get().array(py)?;
    if !sorting::has_order(array.dtype().kind()) {
        return Err(PyTypeError::new_err(format!("sort: there is no order of {}", array.dtype().name())));
    }
    let Some(axis) = axis else {
        let flat = match array.layout().ravel(MemoryOrder::C)? {
            Some(flat) => array.view(flat)?,
            None => {
                let copied = transfer::device_copy(py, array, MemoryOrder::C)?;
                let flat = copied.layout().ravel(MemoryOrder::C)?;
                flat.map_or_else(|| Ok(copied.clone()), |flat| copied.view(flat))?
            }
        };
        return Ok((flat, 0));
    };
    Ok((array.clone(), normalize_axis(axis, array.layout().ndim())?))
}

/// Moves an axis to the last position.
fn axis_to_last(array: &Array, axis: usize) -> pygpu_base::error::Result<Array> {
    array.view(array.layout().move_axis(&[axis as i64], &[-1])?)
}

/// Moves the last axis back to its original position, and copies the result to C order.
fn axis_from_last(array: &Array, axis: usize, stream: &stream::Stream) -> pygpu_base::error::Result<Array> {
    let view = array.view(array.layout().move_axis(&[-1], &[axis as i64])?)?;
    if view.layout().is_c_contiguous() { Ok(view) } else { copy::duplicate(&view, MemoryOrder::C, stream) }
}

/// Returns whether NumPy sorts the array. NumPy sorts it if the array is in host memory and the current stream is not
/// being captured.
fn is_sorted_by_numpy(array: &Array) -> PyResult<bool> {
    let device = array.device();
    Ok(device.is_cpu() && !stream_captures::is_capturing(&stream::current(device))?)
}

/// Returns the indices that sort an array in host memory, computed by NumPy.
fn argsort_with_numpy(py: Python<'_>, array: &Array, axis: usize, descending: bool) -> PyResult<Array> {
    let functions = py.import(intern!(py, "PyGPU._host_arrays.sorting"))?;
    let view = cpu_view::owning(py, array)?;
    let order = functions.call_method1(intern!(py, "argsort"), (view, axis, descending))?;
    device_arrays::upload_new(py, &order.cast_into()?, DType::new(ScalarType::Int64), array.device())
}

fn sort_with_numpy(py: Python<'_>, array: &Array, axis: usize, descending: bool) -> PyResult<()> {
    let functions = py.import(intern!(py, "PyGPU._host_arrays.sorting"))?;
    let view = cpu_view::owning(py, array)?;
    functions.call_method1(intern!(py, "sort"), (view, axis, descending))?;
    Ok(())
}

fn sorted<'py>(a: &Bound<'py, GpuArray>, options: SortOptions<'_, 'py>) -> PyResult<Bound<'py, GpuArray>> {
    let (py, descending) = (a.py(), options.descending);
    options.check()?;
    let (array, axis) = sort_operand(a, options.axis)?;
    let result = if is_sorted_by_numpy(&array)? {
        let copied = transfer::device_copy(py, &array, MemoryOrder::C)?;
        sort_with_numpy(py, &copied, axis, descending)?;
        copied
    } else {
        py.without_gil(|| {
            let stream = stream::current(array.device());
            let outputs = SortOutputs { values: true, places: false, descending };
            let values = sorting::sort(&axis_to_last(&array, axis)?, outputs, &stream)?.values;
            axis_from_last(&values.unwrap_or_else(|| array.clone()), axis, &stream)
        })?
    };
    new_like(a, GpuArray::from_array(result))
}

fn argsorted<'py>(a: &Bound<'py, GpuArray>, options: SortOptions<'_, 'py>) -> PyResult<Bound<'py, GpuArray>> {
    let (py, descending) = (a.py(), options.descending);
    options.check()?;
    // For an array without axes, axis 0 or -1 is accepted as in NumPy, as if the array had one axis with one element.
    let is_element = a.get().layout().ndim() == 0 && matches!(options.axis, Some(0 | -1));
    let (array, axis) = sort_operand(a, if is_element { None } else { options.axis })?;
    let result = if is_sorted_by_numpy(&array)? {
        argsort_with_numpy(py, &array, axis, descending)?
    } else {
        py.without_gil(|| {
            let stream = stream::current(array.device());
            let outputs = SortOutputs { values: false, places: true, descending };
            let indices = sorting::sort(&axis_to_last(&array, axis)?, outputs, &stream)?.places;
            axis_from_last(&indices.unwrap_or_else(|| array.clone()), axis, &stream)
        })?
    };
    new_like(a, GpuArray::from_array(result))
}

/// Sorts an array in place.
fn sort_in_place<'py>(a: &Bound<'py, GpuArray>, options: SortOptions<'_, 'py>) -> PyResult<()> {
    let descending = options.descending;
    options.check()?;
    a.get().check_writable("sort")?;
    let (array, axis) = sort_operand(a, options.axis)?;
    if is_sorted_by_numpy(&array)? {
        return sort_with_numpy(a.py(), &array, axis, descending);
    }
    Ok(a.py().without_gil(|| {
        let stream = stream::current(array.device());
        let rows = axis_to_last(&array, axis)?;
        if sorting::sort_in_place(&rows, descending, &stream)? {
            return Ok(());
        }
        let outputs = SortOutputs { values: true, places: false, descending };
        match sorting::sort(&rows, outputs, &stream)?.values {
            Some(values) => copy::between(&rows, &values, &stream),
            None => Ok(()),
        }
    })?)
}

/// Declares the functions and methods that sort. Each declaration consists of a summary, the form, the name in Python,
/// the Rust function that sorts, and the docstring's sections after the parameters. The form is `function`, `method`,
/// or `in_place` for a method without a result.
macro_rules! sorts {
    ($($(#[$summary:meta])* $form:ident $name:ident => $run:path { $(#[$rest:meta])* })*) => {
        $(sorts! { @ $form $name $run {$(#[$summary])*} {$(#[$rest])*} })*
    };
    (@ function $($entry:tt)*) => {
        sorts! { @@ function
            {
                /// a : GPUArray
                /// axis : int or None, optional
                ///     Axis along which to sort; the last axis by default. None sorts all elements.
            }
            (axis: "int | None" = Some(-1)), Option<i64>,
            [-> "GPUArray", text_signature = "(a, axis=-1, kind=None, order=None, *, stable=None, descending=False)"] Bound<'py, GpuArray>, $($entry)* }
    };
    (@ method $($entry:tt)*) => {
        sorts! { @@ method
            {
                /// axis : int or None, optional
                ///     Axis along which to sort; the last axis by default. None sorts all elements.
            }
            (axis: "int | None" = Some(-1)), Option<i64>,
            [-> "GPUArray", text_signature = "($self, axis=-1, kind=None, order=None, *, stable=None, descending=False)"] Bound<'py, GpuArray>, $($entry)* }
    };
    (@ in_place $($entry:tt)*) => {
        sorts! { @@ method
            {
                /// axis : int, optional
                ///     Axis along which to sort; the last axis by default.
            }
            (axis: "int" = -1), i64,
            [-> "None", text_signature = "($self, axis=-1, kind=None, order=None, *, stable=None, descending=False)"] (), $($entry)* }
    };
    (@@ $form:ident {$($axis_documented:tt)*} ($($axis:tt)*), $axis_type:ty, $text:tt $result:ty,
     $name:ident $run:path {$($summary:tt)*} {$($rest:tt)*}) => {
        entry! { $form $name
            {
                $($summary)*
                ///
                /// Parameters
                /// ----------
                $($axis_documented)*
                /// kind : {'quicksort', 'mergesort', 'heapsort', 'stable'}, optional
                ///     Accepted for NumPy compatibility; the only algorithm is stable.
                /// order : None, optional
                ///     Accepted for NumPy compatibility; PyGPU has no arrays with fields.
                /// stable : bool, optional
                ///     Accepted for NumPy compatibility, like `kind`.
                /// descending : bool, optional
                ///     Whether the greatest element comes first.
                ///
                $($rest)*
            }
            ($($axis)*, kind: "str | None" = None, order: "None" = None, *, stable: "bool | None" = None,
             descending: "bool" = false)
            $text
            (axis: $axis_type, kind: OptionalArg<'_, 'py>, order: OptionalArg<'_, 'py>, stable: OptionalArg<'_, 'py>, descending: bool)
            $result, $run, [], SortOptions { axis: axis.into(), kind, order, stable, descending } }
    };
}

sorts! {
    /// Sort the elements along an axis into a new array.
    ///
    /// NaN is last in either direction. The result stays on the device.
    function sort => sorted {
        /// Returns
        /// -------
        /// GPUArray
        ///     The sorted elements in C order. Complex numbers are ordered by their real parts, and then by their
        ///     imaginary parts.
        ///
        /// Raises
        /// ------
        /// IndexError
        ///     If the array does not have this axis.
        /// TypeError
        ///     If elements of this type have no order.
        ///
        /// Examples
        /// --------
        /// >>> import PyGPU
        /// >>> PyGPU.sort(PyGPU.to_gpu([3, 1, 2])).tolist()
        /// [1, 2, 3]
    }
    /// Return the indices that sort along an axis: ``a[argsort(a)]`` is sorted.
    ///
    /// Equal elements keep their order.
    function argsort => argsorted {
        /// Returns
        /// -------
        /// GPUArray
        ///     Indices as 64-bit integers, in C order. The result of an array without axes has one axis.
        ///
        /// Raises
        /// ------
        /// IndexError
        ///     If the array does not have this axis.
        /// TypeError
        ///     If elements of this type have no order.
        ///
        /// Examples
        /// --------
        /// >>> import PyGPU
        /// >>> PyGPU.argsort(PyGPU.to_gpu([3, 1, 2])).tolist()
        /// [1, 2, 0]
    }
    /// Sort the elements along an axis in place; NaN is last in either direction.
    in_place sort => sort_in_place {
        /// Raises
        /// ------
        /// IndexError
        ///     If the array does not have this axis.
        /// ValueError
        ///     If the array is read-only.
        ///
        /// Examples
        /// --------
        /// >>> import PyGPU
        /// >>> a = PyGPU.to_gpu([3, 1, 2])
        /// >>> a.sort()
        /// >>> a.tolist()
        /// [1, 2, 3]
    }
    /// Return the indices that sort along an axis: ``a[a.argsort()]`` is sorted.
    ///
    /// Equal elements keep their order.
    method argsort => argsorted {
        /// Returns
        /// -------
        /// GPUArray
        ///     Indices as 64-bit integers, in C order. The result of an array without axes has one axis.
        ///
        /// Examples
        /// --------
        /// >>> import PyGPU
        /// >>> PyGPU.to_gpu([3, 1, 2]).argsort(descending=True).tolist()
        /// [0, 2, 1]
    }
}

names! {
    functions "Order": sort, argsort;
}
