//! Converts less common arguments of kernels to launch arguments: structs, host memory, and objects of other libraries.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::Borrowed;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::argument_errors;
use super::argument_packing::{ArgumentCheck, CallContext, access_of};
use super::host_arguments::{self, CopyDirections, HostArgument};
use super::pointer_holders::{HolderHandler, foreign_pointer, managed_pointer};
use super::scalar_values::{self, HostScalar};
use crate::array::array_argument;
use crate::callback::SendPyObject;
use crate::ffi::ndarray::is_numpy_scalar;
use crate::interop::import;
use crate::kernel::argument::{self, KernelArgument};
use crate::py_once::intern;
use pygpu_base::dtype::DType;
use pygpu_kernel::{Parameter, ParameterKind, fits};

impl<'a, 'py> CallContext<'a, 'py> {
    /// Appends to the launch arguments an object that is neither exactly of the class `GPUArray` or `DeviceAllocation`,
    /// nor a number of a common type.
    #[cold]
    pub(super) fn add_uncommon(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        borrowed: Borrowed<'a, 'py, PyAny>,
    ) -> PyResult<()> {
        let (py, value) = (borrowed.py(), &*borrowed);
        let kind = parameter.map(|parameter| parameter.kind);
        let may_be_address = matches!(
            kind,
            None | Some(ParameterKind::Pointer { .. } | ParameterKind::Unknown | ParameterKind::Bytes(8))
        );
        if value.is_none() {
            if !may_be_address {
                let label = self.argument_label(position, parameter);
                return Err(PyTypeError::new_err(format!(
                    "{label}: None is a null pointer, and the parameter is none"
                )));
            }
            scalar_values::push_address(&mut self.arguments, 0);
            return Ok(());
        }
        if let Some((host, directions)) = host_arguments::host_argument(value)? {
            return self.add_host(position, parameter, host, directions);
        }
        if self.add_texture(position, parameter, value)? {
            return Ok(());
        }
        if let Some(array) = array_argument::array_if_gpu(borrowed)? {
            self.add_gpu_array(position, parameter, array)?;
            return self.use_imported(position, parameter, value);
        }
        if let Ok(argument) = value.cast::<KernelArgument>() {
            self.add_bytes(position, parameter, None, argument.get().bytes(), value)?;
            return self.use_imported(position, parameter, value);
        }
        if let Some(HostScalar::Bool | HostScalar::Int | HostScalar::Float | HostScalar::Complex) =
            HostScalar::read(value)
        {
            return self.add_python_number(position, parameter, value);
        }
        if let Ok(array) = value.cast::<PyUntypedArray>() {
            return self.add_ndarray(position, parameter, array);
        }
        if is_numpy_scalar(value) {
            let (dtype, bytes) = scalar_values::numpy_bytes(value)?;
            return self.add_bytes(position, parameter, Some(dtype), &bytes, value);
        }
        if let Some(bytes) = scalar_values::ctypes_bytes(value)? {
            return self.add_bytes(position, parameter, None, &bytes, value);
        }
        if may_be_address {
            if let Some((handler, memory)) = HolderHandler::from_python(value)? {
                scalar_values::push_address(&mut self.arguments, memory.address());
                self.rare_data().foreign.extend(memory.remaining_block().map(|array| (array, access_of(parameter))));
                self.rare_data().handlers.push(handler);
                return Ok(());
            }
            if let Some(array) = import::device_array(value)? {
                self.check_array(position, parameter, &array)?;
                scalar_values::push_address(&mut self.arguments, array.address());
                self.rare_data().foreign.push((array, access_of(parameter)));
                return Ok(());
            }
            if let Some(memory) = foreign_pointer(value)? {
                scalar_values::push_address(&mut self.arguments, memory.address());
                self.rare_data().foreign.extend(memory.remaining_block().map(|array| (array, access_of(parameter))));
                self.rare_data().owners.push(SendPyObject::new(value.clone().unbind()));
                return Ok(());
            }
        }
        let label = self.argument_label(position, parameter);
        let class = value.get_type().fully_qualified_name()?;
        let expected = match kind {
            Some(ParameterKind::Scalar(kind)) => {
                format!("a number, or a NumPy scalar as numpy.{}", DType::new(kind).name())
            }
            _ => "an array on the device, a NumPy scalar, a ctypes object, In(), Out(), InOut(), or None for a null pointer"
                .to_owned(),
        };
        let name = py
            .import("builtins")?
            .getattr("repr")?
            .call1((value,))
            .map_or_else(|_| String::new(), |text| text.to_string());
        let excerpt: String = name.chars().take(60).collect();
        Err(PyTypeError::new_err(format!("{label}: {class} ({excerpt}) cannot be passed; give {expected}")))
    }

    /// Appends the contents of an ndarray to the launch arguments as bytes. Because a kernel cannot access the
    /// ndarray's memory on the host, only a struct, a zero-dimensional array, and, for a scalar parameter, an array
    /// with a single number are accepted. Under PyCUDA's rules (`ArgumentCheck::Lenient`), the kernel receives the
    /// address of an ndarray in managed memory.
    fn add_ndarray(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        array: &Bound<'py, PyUntypedArray>,
    ) -> PyResult<()> {
        let bytes = array.len() * array.dtype().itemsize();
        let is_lenient = self.rules == ArgumentCheck::Lenient;
        let is_value = matches!(parameter.map(|parameter| parameter.kind), Some(ParameterKind::Scalar(_)));
        if is_lenient
            && !is_value
            && let Some(address) = managed_pointer(array)?
        {
            scalar_values::push_address(&mut self.arguments, address);
            self.rare_data().owners.push(SendPyObject::new(array.as_any().clone().unbind()));
            return Ok(());
        }
        let is_struct = match parameter.map(|parameter| parameter.kind) {
            Some(ParameterKind::Bytes(size)) => size == bytes && (size != 8 || is_lenient),
            None | Some(ParameterKind::Unknown) => is_lenient,
            Some(_) => false,
        };
        if is_value && array.ndim() > 0 && array.len() == 1 {
            let (dtype, bytes) = scalar_values::numpy_bytes(array.as_any())?;
            let number = array.call_method0(intern!(array.py(), "item"))?;
            return self.add_bytes(position, parameter, Some(dtype), &bytes, &number);
        }
        if array.ndim() == 0 || is_struct {
            let (dtype, bytes) = scalar_values::numpy_bytes(array.as_any())?;
            return self.add_bytes(position, parameter, Some(dtype), &bytes, array.as_any());
        }
        Err(PyTypeError::new_err(format!(
            "{}: an ndarray is memory of the host, which a kernel does not read: pass PyGPU.In(x), Out(x) or InOut(x) to have \
             it copied around the launch, or PyGPU.to_gpu(x)",
            self.argument_label(position, parameter)
        )))
    }

    /// Appends a value to the launch arguments as raw bytes. If the parameter is a scalar and `dtype` is not `None`,
    /// the parameter's type must match `dtype`.
    fn add_bytes(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        dtype: Option<DType>,
        bytes: &[u8],
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let expected = match parameter.map(|parameter| parameter.kind) {
            None | Some(ParameterKind::Unknown) => bytes.len(),
            Some(ParameterKind::Bytes(size)) => size,
            Some(ParameterKind::Pointer { .. }) => size_of::<usize>(),
            Some(ParameterKind::Scalar(kind)) => {
                if let Some(dtype) = dtype.filter(|dtype| !fits(kind, *dtype)) {
                    return Err(argument_errors::scalar(
                        &self.argument_label(position, parameter),
                        parameter,
                        dtype,
                        value,
                    ));
                }
                DType::new(kind).itemsize()
            }
        };
        if expected != bytes.len() {
            return Err(argument_errors::bytes(
                &self.argument_label(position, parameter),
                value,
                bytes.len(),
                expected,
            )?);
        }
        if let Some(wide) = self.arguments.push_wide(bytes) {
            self.rare_data().wide.push(wide);
        }
        Ok(())
    }

    fn add_host(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        host: &Bound<'py, HostArgument>,
        directions: CopyDirections,
    ) -> PyResult<()> {
        let temporary = directions.enter(host, self.stream)?;
        self.check_array(position, parameter, temporary.array())?;
        scalar_values::push_address(&mut self.arguments, temporary.array().address());
        self.rare_data().host.push((temporary, access_of(parameter)));
        Ok(())
    }

    /// Adds the memory blocks whose addresses an argument contains to the blocks that the launch uses.
    fn use_imported(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let first_new = self.blocks.len();
        argument::collect(value, &mut self.blocks)
            .map_err(|error| self.with_label(value.py(), position, parameter, &error))?;
        let device = self.function.device();
        match self.blocks[first_new..].iter().find(|(block, _)| block.device() != device) {
            None => Ok(()),
            Some((block, _)) => Err(PyValueError::new_err(format!(
                "{}: it has an address of memory on {}, and the kernel is on {device}",
                self.argument_label(position, parameter),
                block.device()
            ))),
        }
    }
}
