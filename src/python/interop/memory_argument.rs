//! Converts a memory argument (array, `DeviceAllocation`, integer, or object with an address) to an address, with all
//! properties that PyGPU tracks.
//!
//! All code that accepts an address from Python uses this module. It returns the containing block with its uses, the
//! extent, and whether the memory is writable. The user is responsible for untracked addresses.

use std::sync::Arc;

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};
use smallvec::smallvec;

use super::import;
use crate::array::class::GpuArray;
use crate::array::memory_owner::MemoryOwner;
use crate::ffi::numbers;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::device_memory::{AllocationTarget, DeviceAllocation};
use crate::runtime::raw_memory;
use pygpu_array::{Array, ArrayPlacement};
use pygpu_backend::{Address, PointerKind};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_layout::Layout;
use pygpu_memory::address_registry::{self, AddressLookup, AddressedMemory, ContainingBlocks};
use pygpu_memory::{Allocation, OwnerBox};

/// Owner that is kept alive while arrays refer to its memory.
pub(crate) trait IntoOwner {
    /// Converts the owner for memory in a block that is freed separately.
    fn for_existing_block(self) -> OwnerBox;
    /// Converts the owner for memory that is freed with it.
    fn for_owned_memory(self) -> OwnerBox;
}

impl IntoOwner for MemoryOwner {
    fn for_existing_block(self) -> OwnerBox {
        Box::new(self)
    }

    fn for_owned_memory(self) -> OwnerBox {
        Box::new(self.object)
    }
}

/// Converted memory argument.
pub(crate) struct MemoryArgument {
    address: Address,
    /// Registered blocks that contain the address, innermost first.
    blocks: ContainingBlocks,
    /// Start and end (exclusive) of the memory, as reported by the object that has the address.
    reported_extent: Option<(Address, Address)>,
    readonly: bool,
}

impl MemoryArgument {
    /// Converts an object.
    ///
    /// # Errors
    /// `TypeError` for an object without an address, including arrays of values; `ValueError` for an address that
    /// exceeds 64 bits; `CudaError` for freed memory; exceptions of the object.
    pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Before the classes, whose questions cost more than all else about a number.
        if numbers::is_exact_int(object) {
            return Self::from_address(integer_address(object)?);
        }
        if let Ok(array) = object.cast::<GpuArray>() {
            return Ok(Self::from_array(array.get().array(array.py())?));
        }
        if let Ok(memory) = object.cast::<DeviceAllocation>() {
            let AllocationTarget { block, address, readonly } = memory.get().target()?;
            return Ok(Self::from_block(address, block, readonly));
        }
        if object.is_instance_of::<PyInt>() {
            return Self::from_address(integer_address(object)?);
        }
        match address_of(object)? {
            Some(address) => {
                let argument = Self::from_address(address)?;
                // A NumPy integer has `nbytes` too, but for itself.
                Ok(if argument.blocks.is_empty() && !is_integer(object) {
                    argument.reported_by(object)?
                } else {
                    argument
                })
            }
            None => match import::device_array(object)? {
                Some(array) => Ok(Self::from_array(&array)),
                None => Err(no_address(object)),
            },
        }
    }

    /// Converts an address.
    ///
    /// # Errors
    /// `CudaError` for freed memory.
    pub(crate) fn from_address(address: Address) -> PyResult<Self> {
        let blocks = match address_registry::lookup(address) {
            AddressLookup::Blocks(blocks) => blocks,
            AddressLookup::Freed => return Err(freed(address).into()),
            AddressLookup::Unknown => ContainingBlocks::new(),
        };
        let readonly = blocks.first().is_some_and(|(_, kind)| *kind == AddressedMemory::Lent { readonly: true });
        Ok(Self { address, blocks, reported_extent: None, readonly })
    }

    fn from_array(array: &Array) -> Self {
        let block = Arc::clone(array.allocation());
        // An empty array has a block but no element; the block determines its address.
        let address = if array.layout().size() == 0 { block.address() } else { array.address() };
        Self::from_block(address, block, array.readonly())
    }

    fn from_block(address: Address, block: Arc<Allocation>, readonly: bool) -> Self {
        Self { address, blocks: smallvec![(block, AddressedMemory::Own)], reported_extent: None, readonly }
    }

    /// Adds the extent that the object reports: `nbytes` or `size` of itself, of its `_block` (PyGPU's pointer
    /// wrappers) or of its `mem` (CuPy's pointers).
    fn reported_by(mut self, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let attribute = |holder: &Bound<'_, PyAny>, name| -> PyResult<Option<usize>> {
            let value = holder.getattr_opt(name)?.filter(|value| is_integer(value));
            Ok(value.and_then(|value| value.extract().ok()))
        };
        if let Some(memory) = object.getattr_opt(intern!(py, "mem"))?
            && let Some(first) = attribute(&memory, intern!(py, "ptr"))?
            && let Some(size) = attribute(&memory, intern!(py, "size"))?
        {
            self.reported_extent = Some((first, first.saturating_add(size)));
            return Ok(self);
        }
        let inner = object.getattr_opt(intern!(py, "_block"))?.filter(|block| !block.is_none());
        let source = inner.as_ref().unwrap_or(object);
        let bytes = match attribute(source, intern!(py, "nbytes"))? {
            // The size of an array is a number of elements, not bytes.
            None if !source.hasattr(intern!(py, "dtype"))? => attribute(source, intern!(py, "size"))?,
            reported_extent => reported_extent,
        };
        self.reported_extent = bytes.map(|bytes| (self.address, self.address.saturating_add(bytes)));
        if let Some(flag) = source.getattr_opt(intern!(py, "readonly"))?.filter(|flag| flag.is_instance_of::<PyBool>())
        {
            self.readonly = flag.is_truthy()?;
        }
        Ok(self)
    }

    /// Returns the address.
    pub(crate) fn address(&self) -> Address {
        self.address
    }

    /// Returns whether the memory is known to be read-only.
    pub(crate) fn readonly(&self) -> bool {
        self.readonly
    }

    /// Returns the block of a device that contains the address, for synchronization with its uses.
    pub(crate) fn block(&self) -> Option<&Arc<Allocation>> {
        self.blocks.iter().find(|(_, kind)| *kind != AddressedMemory::Pinned).map(|(block, _)| block)
    }

    /// Returns an array of all bytes from the address to the end of the block, for a kernel that receives the
    /// address.
    pub(crate) fn remaining_block(&self) -> Option<Array> {
        let block = self.block()?;
        let offset = self.address.wrapping_sub(block.address()) as i64;
        let layout = Layout::strided(&[block.bytes() as i64 - offset], &[1], offset, 1).ok()?;
        Array::over(Arc::clone(block), layout, DType::new(ScalarType::UInt8), self.readonly).ok()
    }

    /// Advances the address by `bytes`.
    ///
    /// # Errors
    /// `ValueError` if the result exceeds the address range.
    pub(crate) fn offset_by(self, bytes: usize) -> PyResult<Self> {
        match self.address.checked_add(bytes) {
            Some(address) => Ok(Self { address, ..self }),
            None => Err(PyValueError::new_err(format!("no address space holds byte {bytes} behind the address"))),
        }
    }

    /// Checks that bytes `low` to `high`, relative to the address, are within the known extent.
    ///
    /// # Errors
    /// `ValueError` that names the required and the available range.
    pub(crate) fn check(&self, low: i64, high: i64) -> PyResult<()> {
        let Some((first, end)) = self.extent() else { return Ok(()) };
        let start = self.address as i128;
        if self.holder(low, high).is_some()
            || (reaches(start, low) >= first as i128 && reaches(start, high) <= end as i128)
        {
            return Ok(());
        }
        let (required, available) = (i128::from(high) - i128::from(low), (end as i128 - start).max(0));
        let before = if low < 0 { format!(", {} of them before it", -i128::from(low)) } else { String::new() };
        Err(PyValueError::new_err(format!(
            "{required} bytes are needed at address {start:#x}{before}, and the memory there has {available}: it is part of a block of {} \
             bytes",
            end - first,
        )))
    }

    /// Returns the known extent. Imported memory may be part of a larger block.
    fn extent(&self) -> Option<(Address, Address)> {
        let owned = self.blocks.iter().filter(|(_, kind)| !matches!(kind, AddressedMemory::Lent { .. }));
        let largest = owned.max_by_key(|(block, _)| block.bytes());
        largest.map(|(block, _)| (block.address(), block.address() + block.bytes())).or(self.reported_extent)
    }

    /// Returns the innermost block that contains all bytes from `low` to `high`, relative to the address.
    fn holder(&self, low: i64, high: i64) -> Option<&(Arc<Allocation>, AddressedMemory)> {
        let start = self.address as i128;
        self.blocks.iter().find(|(block, _)| {
            let (first, end) = (block.address() as i128, (block.address() + block.bytes()) as i128);
            reaches(start, low) >= first && reaches(start, high) <= end
        })
    }

    /// Returns an array whose element zero is at this address: over the tracked block, or over memory that `owner`
    /// keeps alive. `stream` is the stream on which untracked memory is usable; by default the default stream of its
    /// device.
    ///
    /// # Errors
    /// `ValueError` beyond the known extent and for address 0; errors of the driver.
    pub(crate) fn array(
        self,
        py: Python<'_>,
        layout: Layout,
        dtype: DType,
        stream: impl FnOnce(Device) -> Stream,
        owner: Option<impl IntoOwner>,
    ) -> PyResult<Array> {
        Ok(self.placement(py, &layout, stream, owner)?.array(layout, dtype)?)
    }

    /// Like [`Self::array`], for a caller that constructs the array in place.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn placement(
        self,
        py: Python<'_>,
        layout: &Layout,
        stream: impl FnOnce(Device) -> Stream,
        owner: Option<impl IntoOwner>,
    ) -> PyResult<ArrayPlacement> {
        let extent = layout.extent();
        let (low, high) = extent.unwrap_or((0, 0));
        self.check(low, high)?;
        let holder = self.holder(low, high).cloned();
        let pinned = match holder {
            Some((block, AddressedMemory::Pinned)) => Some(block),
            Some((block, _)) => {
                let shift = self.address.wrapping_sub(block.address()) as i64;
                let owner = owner.map(IntoOwner::for_existing_block);
                return Ok(ArrayPlacement { allocation: block, shift, readonly: self.readonly, owner });
            }
            None => None,
        };
        let device = device_of(self.address, layout.nbytes())?;
        let (address, readonly) = (self.address, self.readonly);
        let stream = stream(device);
        let owner: Option<OwnerBox> = match pinned {
            // New arrays over pinned memory own it only through this value.
            Some(pinned) => Some(Box::new((owner.map(IntoOwner::for_owned_memory), pinned))),
            None => owner.map(IntoOwner::for_owned_memory),
        };
        // SAFETY: the user guarantees the memory, and the owner keeps it alive; as in C, this cannot be verified.
        let import_memory = || unsafe { ArrayPlacement::lent(address, extent, readonly, stream, owner) };
        // Only a driver call can block other threads.
        Ok(if device.is_cpu() { import_memory()? } else { py.without_gil(import_memory)? })
    }
}

fn reaches(start: i128, offset: i64) -> i128 {
    start + i128::from(offset)
}

/// Creates the driver's error for the address of freed memory.
pub(crate) fn freed(address: Address) -> pygpu_base::error::Error {
    raw_memory::invalid_value("address", format!("the memory at {address:#x} was freed"))
}

/// Returns the device of the memory at an address with at least `nbytes` bytes.
///
/// # Errors
/// `ValueError` for address 0; errors of the driver.
fn device_of(address: Address, nbytes: i64) -> PyResult<Device> {
    if address == 0 && nbytes > 0 {
        return Err(PyValueError::new_err(format!("address 0 cannot hold {nbytes} bytes")));
    }
    let device = Device::current()?;
    if device.is_cpu() {
        return Ok(device); // the CPU backend owns all host memory
    }
    Ok(match device.backend().pointer_kind(address)? {
        PointerKind::Device(index) => Device::new(device.backend(), index)?,
        _ => device,
    })
}

fn no_address(object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "{} stands for no address: give an int, an array on the device, or an object with `ptr` or `__int__`",
        object.get_type()
    ))
}

/// Returns whether an object is a plain integer: NumPy integers are, bools and arrays are not.
fn is_integer(object: &Bound<'_, PyAny>) -> bool {
    numbers::is_index(object) && !object.is_instance_of::<PyBool>() && object.cast::<PyUntypedArray>().is_err()
}

fn integer_address(object: &Bound<'_, PyAny>) -> PyResult<Address> {
    if let Some(number) = numbers::exact_address(object) {
        return Ok(number);
    }
    if object.is_instance_of::<PyBool>() {
        return Err(no_address(object));
    }
    let number = numbers::index(object)?;
    number.extract().map_err(|_| PyValueError::new_err(format!("{number} is no address")))
}

/// Returns the address of an object: an integer, `__int__` of an object that is not a number, the attribute `ptr`, a
/// ctypes pointer.
fn address_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Address>> {
    let py = object.py();
    if let Some(pointer) = object.getattr_opt(intern!(py, "ptr"))?
        && is_integer(&pointer)
    {
        return integer_address(&pointer).map(Some);
    }
    // The values of an ndarray are not addresses.
    if object.cast::<PyUntypedArray>().is_ok() {
        return Err(no_address(object));
    }
    if is_integer(object) {
        return integer_address(object).map(Some);
    }
    // `int()` also converts floats and strings, which are not addresses.
    if object.hasattr(intern!(py, "__int__"))? && !object.hasattr(intern!(py, "__float__"))? {
        let number = py.get_type::<PyInt>().call1((object,))?;
        return integer_address(&number).map(Some);
    }
    ctypes_address(object)
}

/// Returns the address in a `c_void_p` or any other ctypes pointer.
fn ctypes_address(object: &Bound<'_, PyAny>) -> PyResult<Option<Address>> {
    let py = object.py();
    if !object.get_type().hasattr(intern!(py, "_type_"))? {
        return Ok(None);
    }
    let ctypes = py.import(intern!(py, "ctypes"))?;
    let void = ctypes.getattr(intern!(py, "c_void_p"))?;
    let is_pointer = object.is_instance(&void)? || object.is_instance(&ctypes.getattr(intern!(py, "_Pointer"))?)?;
    if !is_pointer {
        return Ok(None);
    }
    let value = ctypes.call_method1(intern!(py, "cast"), (object, void))?.getattr(intern!(py, "value"))?;
    if value.is_none() { Ok(Some(0)) } else { integer_address(&value).map(Some) }
}
