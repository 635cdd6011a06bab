//! Converts the arguments of a kernel call to the bytes of a launch. Each argument is checked against its parameter,
//! and then the kernel is launched.
//!
//! The exact class of an object is checked first, because this check takes the least time. Errors are raised before the
//! launch, and contain the name of the kernel, the argument's position and the parameter's declaration.

use std::sync::Arc;

use numpy::PyUntypedArray;
use pyo3::Borrowed;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use super::argument_errors;
use super::rare_argument_data::RareArgumentData;
use super::scalar_values;
use crate::array::class::GpuArray;
use crate::ffi::numbers::is_exact_int;
use crate::ffi::objects::{exact, value_of};
use crate::gil::WithoutGil;
use crate::runtime::device_memory::{AllocationTarget, DeviceAllocation};
use crate::runtime::stream_check;
use pygpu_array::Array;
use pygpu_backend::Address;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_device::stream::Stream;
use pygpu_kernel::launch;
use pygpu_kernel::{Arguments, Configuration, Function, Parameter, ParameterKind, check_ends, fits};
use pygpu_memory::{Access, Allocation, BlockUse, address_registry};

/// How strictly a kernel call checks its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentCheck {
    /// The call accepts contiguous arrays of the declared type.
    Strict,
    /// The call accepts arrays of the declared type with any strides.
    Strided,
    /// The call accepts the arguments that PyCUDA accepts: the kernel receives the address of an array of any type, and
    /// the bytes of an ndarray.
    Lenient,
}

/// State of one kernel call, while its arguments are read one after another.
pub(crate) struct CallContext<'a, 'py> {
    pub(crate) function: &'a Function,
    pub(super) stream: &'a Stream,
    pub(super) rules: ArgumentCheck,
    pub(super) arguments: Arguments,
    /// Memory blocks of PyGPU arrays. The argument tuple keeps the arrays, and thereby their blocks, alive.
    pub(super) uses: SmallVec<[BlockUse<'a>; 8]>,
    /// Memory blocks of explicit allocations. This list keeps them alive, because another thread may free an allocation
    /// during the call.
    pub(super) blocks: LaunchUses,
    /// Rarely used data of the call's arguments, allocated at the first use.
    pub(super) rare_data: Option<Box<RareArgumentData<'py>>>,
}

/// Launches a kernel with Python arguments.
#[inline]
pub(crate) fn call<C: Configuration>(
    function: &Function,
    shape: &C,
    stream: &Stream,
    args: &Bound<'_, PyTuple>,
    rules: ArgumentCheck,
) -> PyResult<()> {
    call_with_blocks(function, shape, stream, args, rules, SmallVec::new())
}

/// Memory blocks that a launch uses, each with the kind of access (read or write).
pub(crate) type LaunchUses = SmallVec<[(Arc<Allocation>, Access); 8]>;

/// Launches a kernel like [`call`]. The kernel also uses `blocks`, which are not arguments.
#[inline]
pub(crate) fn call_with_blocks<C: Configuration>(
    function: &Function,
    shape: &C,
    stream: &Stream,
    args: &Bound<'_, PyTuple>,
    rules: ArgumentCheck,
    blocks: LaunchUses,
) -> PyResult<()> {
    let py = args.py();
    let parameters = function.parameters();
    if let Some(parameters) = parameters
        && parameters.len() != args.len()
    {
        return Err(argument_errors::wrong_count(function, parameters, args.len()));
    }
    let mut call = CallContext {
        function,
        stream,
        rules,
        arguments: Arguments::new(),
        uses: SmallVec::new(),
        blocks,
        rare_data: None,
    };
    let mut values = args.iter_borrowed().enumerate();
    let result = values.try_for_each(|(position, value)| {
        call.add(position, parameters.map(|parameters| &parameters[position]), value)
    });
    if let Err(error) = result {
        call.abandon(py);
        return Err(error);
    }
    if let Some(rare_data) = call.rare_data.take() {
        return call.finish(py, shape, args, *rare_data);
    }
    let CallContext { arguments, uses, blocks, .. } = &mut call;
    if !blocks.is_empty() {
        let mut all_uses: SmallVec<[BlockUse<'_>; 8]> = uses.iter().copied().collect();
        all_uses.extend(blocks.iter().map(|(block, access)| (block, *access)));
        // SAFETY: the arguments were checked above: their number and sizes match those of the kernel's parameters, as
        // far as the driver or the source reports them.
        py.without_gil(|| unsafe { launch::launch(function, shape, stream, arguments, &all_uses) })?;
        return Ok(check_ends(function, &all_uses, |block| argument_errors::describe_block(args, block))?);
    }
    // SAFETY: the arguments were checked above: their number and sizes match those of the kernel's parameters, as far
    // as the driver or the source reports them.
    py.without_gil(|| unsafe { launch::launch(function, shape, stream, arguments, uses) })?;
    Ok(check_ends(function, uses, |block| argument_errors::describe_block(args, block))?)
}

/// Returns how a kernel accesses an array that is passed for a parameter. If the parameter is a pointer to const, the
/// kernel only reads the array.
#[inline]
pub(super) fn access_of(parameter: Option<&Parameter>) -> Access {
    match parameter.map(|parameter| parameter.kind) {
        Some(ParameterKind::Pointer { constant: true, .. }) => Access::Read,
        _ => Access::Write,
    }
}

impl<'a, 'py> CallContext<'a, 'py> {
    #[inline]
    fn add(&mut self, position: usize, parameter: Option<&Parameter>, value: Borrowed<'a, 'py, PyAny>) -> PyResult<()> {
        let py = value.py();
        if let Some(array) = exact::<GpuArray>(value) {
            return self.add_gpu_array(position, parameter, value_of(array).array(py)?);
        }
        if let Some(memory) = exact::<DeviceAllocation>(value) {
            return self.add_memory(position, parameter, memory.get().target()?);
        }
        if let Some((kind, bytes)) = scalar_values::numpy_scalar(&value) {
            return self.add_scalar(position, parameter, kind, bytes, &value);
        }
        match parameter.map(|parameter| parameter.kind) {
            Some(ParameterKind::Scalar(kind)) => {
                let pushed = scalar_values::push_number(&mut self.arguments, kind, &value);
                match pushed {
                    Ok(true) => Ok(()),
                    Ok(false) => self.add_uncommon(position, parameter, value),
                    // NumPy's conversion to an integer accepts only arrays without axes. For other arrays,
                    // `add_uncommon` is called, which accepts an array that contains a single number.
                    Err(_) if value.cast::<PyUntypedArray>().is_ok() => self.add_uncommon(position, parameter, value),
                    Err(error) => Err(self.with_label(py, position, parameter, &error)),
                }
            }
            // A Python int that is passed for a pointer parameter is an address, such as the value of `.ptr` or of
            // PyCUDA's `.gpudata`.
            Some(ParameterKind::Pointer { .. }) if is_exact_int(&value) => {
                let address =
                    scalar_values::address(&value).map_err(|error| self.with_label(py, position, parameter, &error))?;
                scalar_values::push_address(&mut self.arguments, address);
                self.add_registered_block(py, parameter, address);
                Ok(())
            }
            _ => self.add_uncommon(position, parameter, value),
        }
    }

    /// Appends a PyGPU array to the launch arguments.
    #[inline]
    pub(super) fn add_gpu_array(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        array: &'a Array,
    ) -> PyResult<()> {
        self.check_array(position, parameter, array)?;
        self.uses.push((array.allocation(), access_of(parameter)));
        scalar_values::push_address(&mut self.arguments, array.address());
        Ok(())
    }

    /// Appends memory without a dtype to the launch arguments. The memory is an explicit allocation or the memory of an
    /// array.
    fn add_memory(&mut self, position: usize, parameter: Option<&Parameter>, memory: AllocationTarget) -> PyResult<()> {
        let AllocationTarget { block, address, readonly } = memory;
        let is_address = match parameter.map(|parameter| parameter.kind) {
            None | Some(ParameterKind::Pointer { .. } | ParameterKind::Unknown | ParameterKind::Bytes(8)) => true,
            // PyCUDA programs pass an address as a `numpy.intp`, so it is accepted for a pointer parameter.
            Some(ParameterKind::Scalar(ScalarType::Int64 | ScalarType::UInt64)) => self.rules == ArgumentCheck::Lenient,
            Some(_) => false,
        };
        if !is_address {
            let argument_label = self.argument_label(position, parameter);
            return Err(PyTypeError::new_err(format!(
                "{argument_label}: memory was given, and the parameter is no pointer"
            )));
        }
        if block.device() != self.function.device() {
            return Err(PyValueError::new_err(format!(
                "{}: the memory is on {}, and the kernel on {}",
                self.argument_label(position, parameter),
                block.device(),
                self.function.device()
            )));
        }
        if readonly && matches!(parameter, Some(Parameter { kind: ParameterKind::Pointer { constant: false, .. }, .. }))
        {
            return Err(argument_errors::readonly(&self.argument_label(position, parameter)));
        }
        scalar_values::push_address(&mut self.arguments, address);
        self.blocks.push((block, access_of(parameter)));
        Ok(())
    }

    /// Appends the handle of a texture or surface to the launch arguments, and records the memory blocks that a kernel
    /// uses through the handle.
    pub(super) fn push_object(&mut self, number: u64, uses: [(Arc<Allocation>, Access); 2]) {
        self.arguments.push_word(number);
        self.blocks.extend(uses);
    }

    #[inline]
    pub(super) fn check_array(&self, position: usize, parameter: Option<&Parameter>, array: &Array) -> PyResult<()> {
        let layout = array.layout();
        let is_dense = self.rules != ArgumentCheck::Strict || layout.is_c_contiguous() || layout.is_f_contiguous();
        let is_compatible = match parameter.map(|parameter| parameter.kind) {
            Some(ParameterKind::Pointer { element, constant }) => {
                (self.rules == ArgumentCheck::Lenient || element.takes(array.dtype()))
                    && (constant || !array.readonly())
            }
            None | Some(ParameterKind::Unknown | ParameterKind::Bytes(8)) => true,
            Some(_) => false,
        };
        if is_dense && is_compatible && array.device() == self.function.device() {
            return Ok(());
        }
        Err(argument_errors::array(&self.argument_label(position, parameter), self.function, parameter, array))
    }

    /// Appends a NumPy scalar to the launch arguments.
    #[inline]
    fn add_scalar(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        kind: ScalarType,
        bytes: &[u8],
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let is_accepted = match parameter.map(|parameter| parameter.kind) {
            None | Some(ParameterKind::Unknown) => true,
            Some(ParameterKind::Scalar(expected)) => {
                if expected != kind && scalar_values::widen(&mut self.arguments, expected, kind, bytes) {
                    return Ok(());
                }
                expected == kind || fits(expected, DType::new(kind))
            }
            Some(ParameterKind::Bytes(size)) => size == bytes.len(),
            // A NumPy integer that is passed for a pointer parameter may be an address that was computed with NumPy.
            Some(ParameterKind::Pointer { .. }) => matches!(kind, ScalarType::Int64 | ScalarType::UInt64),
        };
        if !is_accepted {
            return Err(argument_errors::scalar(
                &self.argument_label(position, parameter),
                parameter,
                DType::new(kind),
                value,
            ));
        }
        self.arguments.push(bytes);
        if matches!(parameter, Some(Parameter { kind: ParameterKind::Pointer { .. }, .. }))
            && let Ok(address) = bytes.try_into().map(Address::from_ne_bytes)
        {
            self.add_registered_block(value.py(), parameter, address);
        }
        Ok(())
    }

    /// On the CPU backend, adds the memory block that contains an integer address to the blocks of the launch. After
    /// the launch, these blocks are checked for writes past their ends. On a GPU, the check of streams
    /// (`PYGPU_CHECK_STREAMS=1`) inspects the block.
    #[inline]
    fn add_registered_block(&mut self, py: Python<'_>, parameter: Option<&Parameter>, address: Address) {
        if self.function.device().is_cpu() {
            if let Some(block) = address_registry::find(address) {
                self.blocks.push((block, access_of(parameter)));
            }
        } else if stream_check::is_on()
            && let Some(block) = address_registry::find(address)
        {
            stream_check::launch_address(py, &block, access_of(parameter), self.stream);
        }
    }

    /// Returns the beginning of an error message: the kernel's name, the argument's position and the parameter's
    /// declaration.
    #[cold]
    pub(super) fn argument_label(&self, position: usize, parameter: Option<&Parameter>) -> String {
        let declaration = parameter.map(ToString::to_string).filter(|text| !text.is_empty());
        let declaration = declaration.map_or_else(String::new, |text| format!(" ({text})"));
        format!("{}(): argument {}{declaration}", self.function.name(), position + 1)
    }

    /// Returns a copy of `error` with the text of [`Self::argument_label`] at the beginning of its message.
    #[cold]
    pub(super) fn with_label(
        &self,
        py: Python<'_>,
        position: usize,
        parameter: Option<&Parameter>,
        error: &PyErr,
    ) -> PyErr {
        let text = format!("{}: {}", self.argument_label(position, parameter), error.value(py));
        PyErr::from_type(error.get_type(py), text)
    }
}
