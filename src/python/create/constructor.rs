//! Defines the constructor `GPUArray(...)`, also for subclasses whose `__init__` takes other arguments.

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::filled::{new_of_shape, order_and_allocator, over_ndarray};
use super::from_supplied_memory;
use crate::array::class::{GpuArray, new_of_class};
use crate::array::rare_fields::{CallIdentity, ColdFields};
use crate::ffi::objects::has_same_init;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_layout::MemoryOrder;

/// The names of the parameters, in order; `copy` and CuPy's `memptr` are keyword-only.
const NAMES: [&str; 9] = ["shape", "dtype", "allocator", "base", "gpudata", "strides", "order", "copy", "memptr"];
const POSITIONAL: usize = 7;

/// The slots of CuPy's positional arguments `(shape, dtype, memptr, strides, order)`.
const CUPY_SLOTS: [usize; 5] = [0, 1, 8, 5, 6];

/// Whether positional arguments have CuPy's order. In this order the third argument is a pointer with the attributes
/// `mem` and `ptr`, or the third argument is None and the fifth argument is a string, such as 'C'. In PyGPU's order the
/// third argument is an allocator, which has no `mem`, and the fifth argument is `gpudata`, which is no string.
fn has_cupy_order(args: &Bound<'_, PyTuple>) -> PyResult<bool> {
    if !(3..=CUPY_SLOTS.len()).contains(&args.len()) {
        return Ok(false);
    }
    let (py, third) = (args.py(), args.get_item(2)?);
    if third.is_none() {
        return Ok(args.len() == CUPY_SLOTS.len() && args.get_item(4)?.is_instance_of::<PyString>());
    }
    Ok(third.hasattr(intern!(py, "mem"))? && third.hasattr(intern!(py, "ptr"))?)
}

/// The arguments in the order of the parameters. A missing argument and Python's None are both `None`.
struct ConstructorArguments<'py>([Option<Bound<'py, PyAny>>; 9]);

impl<'py> ConstructorArguments<'py> {
    /// Binds the arguments to the parameters like a Python function.
    fn read(args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let mut values: [Option<Bound<'py, PyAny>>; 9] = Default::default();
        if args.len() > POSITIONAL {
            let text = format!("GPUArray() takes at most {POSITIONAL} positional arguments ({} given)", args.len());
            return Err(PyTypeError::new_err(text));
        }
        let is_cupy = has_cupy_order(args)?;
        for (index, argument) in args.iter().enumerate() {
            values[if is_cupy { CUPY_SLOTS[index] } else { index }] = Some(argument);
        }
        for (name, argument) in kwargs.iter().flat_map(|kwargs| kwargs.iter()) {
            let name = name.cast::<PyString>()?.to_str()?;
            let Some(index) = NAMES.iter().position(|parameter_name| *parameter_name == name) else {
                let text = format!("GPUArray() got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(text));
            };
            if values[index].is_some() {
                return Err(PyTypeError::new_err(format!("GPUArray() got multiple values for argument '{name}'")));
            }
            values[index] = Some(argument);
        }
        Ok(Self(values.map(|argument| argument.filter(|argument| !argument.is_none()))))
    }

    fn value(self, py: Python<'py>) -> PyResult<GpuArray> {
        let Self([shape, dtype, allocator, base, gpudata, strides, order, copy, memptr]) = self;
        if gpudata.is_some() && memptr.is_some() {
            return Err(PyTypeError::new_err(
                "GPUArray(): gpudata= and memptr= name the same memory; pass one of them",
            ));
        }
        let gpudata = gpudata.or(memptr);
        let (order, allocator) = order_and_allocator(order.as_ref(), allocator.as_ref());
        let copy = copy.map_or(Ok(false), |copy| copy.extract())?;
        match (shape, gpudata) {
            (None, None) => match allocator {
                Some(allocator) => from_supplied_memory::from_allocator(py, allocator, dtype.is_some(), order),
                None => Err(PyTypeError::new_err("GPUArray() takes a shape, an ndarray or an allocator")),
            },
            (None, Some(_)) => Err(PyTypeError::new_err("GPUArray(gpudata=...) needs a shape")),
            (Some(shape), Some(gpudata)) => {
                from_supplied_memory::from_address(py, &shape, dtype.as_ref(), &gpudata, strides.as_ref(), order, base)
            }
            (Some(shape), None) if strides.is_some() => {
                // As in NumPy and CuPy, memory of the size of a dense array is allocated even if strides are passed.
                // All elements must be inside this memory.
                let dense = Bound::new(py, new_of_shape(py, &shape, dtype.as_ref(), allocator, order)?)?;
                from_supplied_memory::from_address(
                    py,
                    &shape,
                    dtype.as_ref(),
                    dense.as_any(),
                    strides.as_ref(),
                    order,
                    base,
                )
            }
            (Some(shape), None) => match shape.cast::<PyUntypedArray>() {
                Ok(data) if dtype.is_none() => over_ndarray(py, data, copy),
                _ => new_of_shape(py, &shape, dtype.as_ref(), allocator, order),
            },
        }
    }
}

fn construct(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<GpuArray> {
    ConstructorArguments::read(args, kwargs)?.value(args.py())
}

/// Whether a class overrides `__init__`.
fn overrides_init(class: &Bound<'_, PyType>) -> bool {
    let base_class = GpuArray::type_object(class.py());
    !class.is(&base_class) && !has_same_init(class, &base_class)
}

/// Returns an empty array as a placeholder for the array that `__init__` creates later.
fn placeholder() -> PyResult<GpuArray> {
    let stream = Stream::default_of(Device::current()?);
    Ok(GpuArray::from_array(Array::empty(&[0], DType::new(ScalarType::Float64), MemoryOrder::C, stream)?))
}

#[pymethods]
impl GpuArray {
    #[new]
    #[pyo3(signature = (*args, **kwargs), text_signature = "(shape=None, dtype=None, allocator=None, base=None, gpudata=None, \
                        strides=None, order=None, *, copy=None, memptr=None)")]
    #[classmethod]
    // stub: def __new__(
    // stub:     cls,
    // stub:     shape: ShapeLike | NDArray[Any] | None = None,
    // stub:     dtype: DTypeLike | None = None,
    // stub:     allocator: Any = None,
    // stub:     base: Any = None,
    // stub:     gpudata: Any = None,
    // stub:     strides: Sequence[SupportsIndex] | None = None,
    // stub:     order: Order = None,
    // stub:     *,
    // stub:     copy: bool | None = None,
    // stub:     memptr: Any = None,
    // stub: ) -> Self: ...
    fn __new__<'py>(
        class: &Bound<'py, PyType>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = class.py();
        if !overrides_init(class) {
            return new_of_class(class, construct(args, kwargs)?);
        }
        // `__new__` of a subclass receives the arguments of the subclass's constructor. The subclass may pass other
        // arguments to the base `__init__`. If the subclass never calls the base `__init__`, the array is created from
        // the arguments of `__new__`.
        let value = match construct(args, kwargs) {
            Err(error) if error.is_instance_of::<PyException>(py) => placeholder()?,
            result => result?,
        };
        value.cold_fields_to_init().expect_init(CallIdentity::new(args, kwargs)?);
        new_of_class(class, value)
    }

    /// Create the array of a subclass whose ``__init__`` calls ``GPUArray.__init__`` with other arguments than its own.
    #[pyo3(signature = (*args: "Any", **kwargs: "Any") -> "None")]
    fn __init__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let Some(new_call) = self.cold_fields_if_set().and_then(ColdFields::take_expected_call) else { return Ok(()) };
        let is_same = new_call == CallIdentity::new(args, kwargs)?;
        if is_same && self.layout().size() > 0 {
            return Ok(());
        }
        if args.is_empty() && kwargs.is_none_or(|kwargs| kwargs.is_empty()) && self.layout().size() > 0 {
            return Ok(());
        }
        self.cold_fields_to_init().replace_value(construct(args, kwargs)?);
        Ok(())
    }

    // Assigns new memory. Earlier views keep the previous memory, which stays valid as long as they exist. This setter
    // has no docstring, because link order decides whether Python shows the docstring of the getter or of the setter.
    #[setter]
    fn set_gpudata(&self, gpudata: &Bound<'_, PyAny>) -> PyResult<()> {
        let layout = self.layout().with_offset(0)?;
        let allocator = self.cold_fields_to_init().allocator(gpudata.py());
        let allocator = allocator.as_ref().map(|object| object.bind(gpudata.py()));
        self.cold_fields_to_init().replace_value(from_supplied_memory::assigned(
            gpudata,
            layout,
            self.dtype(),
            allocator,
        )?);
        Ok(())
    }

    // Sets the allocator for the results of later operations on the array. None selects the allocator of
    // `PyGPU.set_allocator`, or the pool.
    #[setter]
    fn set_allocator(slf: &Bound<'_, Self>, allocator: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let array = slf.get();
        let inherited = allocator.map(from_supplied_memory::to_inherited_allocator).transpose()?;
        array.cold_fields_to_init().set_allocator(allocator.map(|object| object.clone().unbind()));
        if array.is_unallocated() {
            return Ok(());
        }
        array.cold_fields_to_init().replace_value(from_supplied_memory::with_inherited_allocator(
            slf.py(),
            array,
            inherited,
        )?);
        Ok(())
    }
}
