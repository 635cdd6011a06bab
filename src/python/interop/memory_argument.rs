//! Converts a memory argument (array, `DeviceAllocation`, integer, or object with an address) to an address with all
//! properties that PyGPU tracks.
//!
//! All code that accepts an address from Python uses this module. A converted argument contains the block around the
//! address with the block's uses, the extent of the memory, and whether the memory is writable. The user is responsible
//! for addresses that PyGPU does not track.

use std::sync::Arc;

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};
use smallvec::smallvec;

use super::import;
use crate::array::class::GpuArray;
use crate::array::memory_owner::MemoryOwner;
use crate::ffi::ndarray::is_bool;
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

/// An owner of memory that is kept alive while arrays refer to the memory.
pub(crate) trait IntoOwner {
    /// Wraps the Python owner for an array in an existing memory block. The block frees its memory itself,
    /// independently of this owner.
    fn for_existing_block(self) -> OwnerBox;
    /// Wraps the Python owner for a new memory block, whose memory is valid as long as this owner is alive.
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

/// A memory argument, converted from a Python object.
pub(crate) struct MemoryArgument {
    address: Address,
    /// Registered blocks that contain the address, innermost first.
    blocks: ContainingBlocks,
    /// Start and end (exclusive) of the memory, as reported by the Python object that supplied the address.
    reported_extent: Option<(Address, Address)>,
    readonly: bool,
}

impl MemoryArgument {
    /// Converts a Python object to a memory argument.
    ///
    /// # Errors
    /// `TypeError` for an object without an address, including arrays of values; `ValueError` for an address that
    /// exceeds 64 bits; `CudaError` for freed memory; exceptions of the object.
    pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Exact integers are checked first, because the class checks below cost more than the whole conversion of an
        // integer.
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
                // A NumPy integer is excluded: it has `nbytes` too, which is the size of the integer itself and not of
                // the memory at the address.
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

    /// Converts an address to a memory argument.
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
        // An empty array has a memory block but no element, so the address is that of the block.
        let address = if array.layout().size() == 0 { block.address() } else { array.address() };
        Self::from_block(address, block, array.readonly())
    }

    fn from_block(address: Address, block: Arc<Allocation>, readonly: bool) -> Self {
        Self { address, blocks: smallvec![(block, AddressedMemory::Own)], reported_extent: None, readonly }
    }

    /// Stores the extent of the memory that the Python object reports. The extent is `nbytes` or `size` of the object,
    /// of its `_block` (PyGPU's pointer wrappers), or of its `mem` (CuPy's pointers).
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
            // The attribute `size` of an array is a number of elements, not of bytes.
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

    /// Returns whether the memory must not be written, as far as PyGPU or the object at the address reports this.
    pub(crate) fn readonly(&self) -> bool {
        self.readonly
    }

    /// Returns the device block that contains the address, so that a use can be synchronized with the block's other
    /// uses.
    pub(crate) fn block(&self) -> Option<&Arc<Allocation>> {
        self.blocks.iter().find(|(_, kind)| *kind != AddressedMemory::Pinned).map(|(block, _)| block)
    }

    /// Returns an array of all bytes from the address to the end of its memory block. A kernel that receives the
    /// address may access all of them.
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

    /// Checks that the bytes from `low` to `high`, relative to the address, are inside the memory. If the extent of the
    /// memory is unknown, the check is omitted.
    ///
    /// # Errors
    /// `ValueError` that contains the required and the available range.
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

    /// Returns the start and end addresses of the memory around the address; `None` if they are unknown. Blocks of
    /// imported memory are ignored, because they may be parts of larger blocks.
    fn extent(&self) -> Option<(Address, Address)> {
        let owned = self.blocks.iter().filter(|(_, kind)| !matches!(kind, AddressedMemory::Lent { .. }));
        let largest = owned.max_by_key(|(block, _)| block.bytes());
        largest.map(|(block, _)| (block.address(), block.address() + block.bytes())).or(self.reported_extent)
    }

    /// Returns the innermost registered block that contains all bytes from `low` to `high`, relative to the address.
    fn holder(&self, low: i64, high: i64) -> Option<&(Arc<Allocation>, AddressedMemory)> {
        let start = self.address as i128;
        self.blocks.iter().find(|(block, _)| {
            let (first, end) = (block.address() as i128, (block.address() + block.bytes()) as i128);
            reaches(start, low) >= first && reaches(start, high) <= end
        })
    }

    /// Returns an array whose element zero is at this address. If PyGPU tracks the memory, the array shares its block;
    /// otherwise `owner` keeps the memory alive. For untracked memory, `stream` returns the stream in whose order the
    /// memory is usable.
    ///
    /// # Errors
    /// `ValueError` for elements outside of the memory and for address 0; driver errors.
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

    /// Returns the placement of the array that [`Self::array`] creates, for a caller that writes the array directly
    /// into its Python object.
    ///
    /// # Errors
    /// The errors of [`Self::array`].
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
            // The block of pinned memory is stored in the owner, because new arrays over that memory keep the block
            // alive only through the owner.
            Some(pinned) => Some(Box::new((owner.map(IntoOwner::for_owned_memory), pinned))),
            None => owner.map(IntoOwner::for_owned_memory),
        };
        // SAFETY: the user guarantees that the memory is valid, and `owner` keeps it alive. As in C, this cannot be
        // verified.
        let import_memory = || unsafe { ArrayPlacement::lent(address, extent, readonly, stream, owner) };
        // The GIL is released only for the driver call of a GPU. This call may wait, and all other Python threads would
        // be blocked if the GIL were held during the wait.
        Ok(if device.is_cpu() { import_memory()? } else { py.without_gil(import_memory)? })
    }
}

fn reaches(start: i128, offset: i64) -> i128 {
    start + i128::from(offset)
}

/// Creates the driver error for an address in freed memory.
pub(crate) fn freed(address: Address) -> pygpu_base::error::Error {
    raw_memory::invalid_value("address", format!("the memory at {address:#x} was freed"))
}

/// Returns the device of the memory at an address with at least `nbytes` bytes.
///
/// # Errors
/// `ValueError` for address 0; driver errors.
fn device_of(address: Address, nbytes: i64) -> PyResult<Device> {
    if address == 0 && nbytes > 0 {
        return Err(PyValueError::new_err(format!("address 0 cannot hold {nbytes} bytes")));
    }
    let device = Device::current()?;
    if device.is_cpu() {
        return Ok(device); // if the CPU backend is in use, any address is host memory
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

/// Returns whether an object is a plain integer. NumPy integers are plain integers; bools and arrays are not.
fn is_integer(object: &Bound<'_, PyAny>) -> bool {
    numbers::is_index(object) && !is_bool(object) && object.cast::<PyUntypedArray>().is_err()
}

fn integer_address(object: &Bound<'_, PyAny>) -> PyResult<Address> {
    if let Some(number) = numbers::exact_address(object) {
        return Ok(number);
    }
    if is_bool(object) {
        return Err(no_address(object));
    }
    let number = numbers::index(object)?;
    number.extract().map_err(|_| PyValueError::new_err(format!("{number} is no address")))
}

/// Returns the address of an object: the value of an integer, the result of `__int__` of an object that is not a
/// number, the attribute `ptr`, or the address in a ctypes pointer.
fn address_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Address>> {
    let py = object.py();
    if let Some(pointer) = object.getattr_opt(intern!(py, "ptr"))?
        && is_integer(&pointer)
    {
        return integer_address(&pointer).map(Some);
    }
    // The values of an ndarray are data, not addresses.
    if object.cast::<PyUntypedArray>().is_ok() {
        return Err(no_address(object));
    }
    if is_integer(object) {
        return integer_address(object).map(Some);
    }
    // `int()` is not used, because it converts floats and strings too, which are not addresses.
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
