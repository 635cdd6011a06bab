//! Defines the class `DeviceAllocation`: device memory that is freed explicitly and passed to other functions by its
//! address.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use super::device;
use super::{raw_memory, stream_check};
use crate::atexit;
use crate::convert::buffer::view_of_address;
use crate::convert::number;
use crate::convert::pointer::CtypesPointerCache;
use crate::exported_names::names;
use crate::ffi::interpreter::with_interpreter;
use crate::gil::WithoutGil;
use pygpu_array::Array;
use pygpu_backend::Address;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::{self, FlushReason};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_memory::Allocation;
use pygpu_memory::address_registry::{self, AddressedMemory};

/// Block of device memory with an address.
///
/// Returned by :func:`PyGPU.driver.mem_alloc`, and by `GPUArray.gpudata` for the memory of an array.
///
/// The object can be passed wherever an address is accepted: `int()` and `operator.index` return the address. The block
/// is freed by `free()`, or when its last owner is dropped. Owners are this object, arrays that were created over the
/// block, and the array whose attribute `gpudata` returned this object.
///
/// Examples
/// --------
/// >>> import PyGPU.driver as drv
/// >>> memory = drv.mem_alloc(1024)
/// >>> int(memory) == memory.ptr, memory.nbytes
/// (True, 1024)
/// >>> memory.free()
#[pyclass(frozen, weakref, name = "DeviceAllocation", module = "PyGPU.driver")]
pub(crate) struct DeviceAllocation {
    memory: Mutex<Option<MemorySource>>,
    address: Address,
    /// Whether the memory block's address may be known outside PyGPU. Operations on such a block are not deferred.
    has_escaped: AtomicBool,
    /// The address as a ctypes pointer, created at the first use.
    pub(crate) parameter: CtypesPointerCache,
}

/// Owner of the memory to which a `DeviceAllocation` refers.
enum MemorySource {
    /// A memory block that was allocated for this object.
    Block(Arc<Allocation>),
    /// An array whose memory the object refers to (`GPUArray.gpudata`).
    Array(Array),
}

impl MemorySource {
    fn block(&self) -> &Arc<Allocation> {
        match self {
            Self::Block(block) => block,
            Self::Array(array) => array.allocation(),
        }
    }

    fn readonly(&self) -> bool {
        matches!(self, Self::Array(array) if array.readonly())
    }

    /// Drops the owner. Releases the GIL during the drop if the drop may call the driver, because the driver may block.
    fn release(self) {
        let needs_no_driver = self.block().device().is_cpu() || Arc::strong_count(self.block()) > 1;
        if needs_no_driver { drop(self) } else { atexit::drop_detached(self) }
    }
}

/// Memory of a `DeviceAllocation`.
pub(crate) struct AllocationTarget {
    pub(crate) block: Arc<Allocation>,
    /// Address of the memory's first byte. For the memory of an array, this may be after the block's first byte.
    pub(crate) address: Address,
    pub(crate) readonly: bool,
}

impl DeviceAllocation {
    pub(crate) fn new(block: Allocation) -> Self {
        let block = Arc::new(block);
        address_registry::register(&block, AddressedMemory::Own);
        Self::wrap(block.address(), true, MemorySource::Block(block))
    }

    /// Creates an object that refers to the memory of an array, from the array's first element on. The block counts as
    /// escaped, i.e. visible outside PyGPU, only after the address is requested.
    pub(crate) fn over(array: Array) -> Self {
        Self::wrap(array.address(), false, MemorySource::Array(array))
    }

    fn wrap(address: Address, has_escaped: bool, memory: MemorySource) -> Self {
        let memory = Mutex::new(Some(memory));
        Self { memory, address, has_escaped: AtomicBool::new(has_escaped), parameter: CtypesPointerCache::default() }
    }

    fn slot(&self) -> MutexGuard<'_, Option<MemorySource>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the memory block, the address, and whether the memory is writable.
    ///
    /// # Errors
    /// The driver's `INVALID_VALUE` after `free()`.
    pub(crate) fn target(&self) -> Result<AllocationTarget> {
        let slot = self.slot();
        let memory = slot.as_ref().ok_or_else(freed)?;
        Ok(AllocationTarget { block: Arc::clone(memory.block()), address: self.address, readonly: memory.readonly() })
    }

    /// Returns the memory block to which the object refers.
    ///
    /// # Errors
    /// The errors of [`Self::target`].
    pub(crate) fn block(&self) -> Result<Arc<Allocation>> {
        Ok(self.target()?.block)
    }

    /// Returns whether a Python object is a `DeviceAllocation` that refers to the memory of an array.
    pub(crate) fn refers_to_array(object: &Bound<'_, PyAny>) -> bool {
        let Ok(memory) = object.cast::<Self>() else { return false };
        matches!(*memory.get().slot(), Some(MemorySource::Array(_)))
    }

    /// Returns the address to a caller that may pass it to other libraries or back to PyGPU as a number. Marks the
    /// block as escaped, i.e. visible outside PyGPU.
    ///
    /// # Errors
    /// The errors of [`Self::target`].
    pub(crate) fn escaping_address(&self) -> Result<Address> {
        let slot = self.slot();
        let memory = slot.as_ref().ok_or_else(freed)?;
        if let MemorySource::Array(array) = memory
            && !self.has_escaped.load(Ordering::Relaxed)
        {
            register_escaped(array);
            self.has_escaped.store(true, Ordering::Relaxed);
        }
        drop(slot);
        // Launches the operations on the memory block that were deferred before its address escaped, i.e. became
        // visible outside PyGPU.
        flush_points::flush(FlushReason::Values);
        Ok(self.address)
    }
}

/// Registers the memory block of an array for lookups by address, and thereby marks the block as escaped.
#[cold]
pub(crate) fn register_escaped(array: &Array) {
    if !array.device().is_cpu() && stream_check::is_on() {
        with_interpreter(|py| stream_check::hand_over(py, array, None, "the address"));
    }
    let kind = match array.allocation().is_imported() {
        true => AddressedMemory::Lent { readonly: array.readonly() },
        false => AddressedMemory::Own,
    };
    address_registry::register(array.allocation(), kind);
}

fn freed() -> Error {
    raw_memory::invalid_value("DeviceAllocation", "the memory was freed already".to_owned())
}

impl Drop for DeviceAllocation {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            if let MemorySource::Block(block) = &memory {
                address_registry::forget(block);
            }
            memory.release();
        }
    }
}

#[pymethods]
impl DeviceAllocation {
    /// Frees the memory after all uses that PyGPU tracks.
    ///
    /// Arrays that were created over the memory keep it allocated until they are dropped. So does the array whose
    /// attribute `gpudata` returned this object.
    ///
    /// Raises
    /// ------
    /// CudaError
    ///     With code 1, if the memory was already freed.
    #[pyo3(signature = () -> "None")]
    fn free(&self, py: Python<'_>) -> PyResult<()> {
        let removed = self.slot().take();
        let memory = removed.ok_or_else(freed)?;
        if let MemorySource::Block(block) = &memory {
            address_registry::forget(block);
        }
        Ok(py.without_gil(|| shutdown::collect_errors(|| drop(memory)))?)
    }

    /// Address of the first byte.
    #[getter]
    fn ptr(&self) -> PyResult<Address> {
        Ok(self.escaping_address()?)
    }

    /// Returns whether arrays over the memory would keep the memory alive after `free()`.
    #[getter]
    fn _is_shared(&self) -> PyResult<bool> {
        // Two owners of the memory block are not counted: this object, and the temporary `Arc` in the expression below.
        Ok(Arc::strong_count(&self.block()?) > 2)
    }

    /// Bytes from the address to the end of the block.
    #[getter]
    fn nbytes(&self) -> PyResult<usize> {
        let AllocationTarget { block, address, .. } = self.target()?;
        Ok(block.bytes() - (address - block.address()))
    }

    fn __int__(&self) -> PyResult<Address> {
        self.ptr()
    }

    fn __index__(&self) -> PyResult<Address> {
        self.ptr()
    }

    fn __hash__(&self) -> usize {
        self.address
    }

    /// Compares the address with the address of another `DeviceAllocation` or with an int. An object whose memory was
    /// freed is equal only to itself.
    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        let allocation = slf.get();
        if slf.is(other) || allocation.slot().is_none() {
            return slf.is(other);
        }
        match other.cast::<Self>() {
            Ok(other) => other.get().slot().is_some() && other.get().address == allocation.address,
            Err(_) => {
                other.is_instance_of::<PyInt>()
                    && other.extract().is_ok_and(|other: Address| other == allocation.address)
            }
        }
    }

    /// Returns a memoryview with the address of a part of the memory, for libraries that take device addresses in
    /// buffers (MPI).
    ///
    /// Parameters
    /// ----------
    /// size : int
    ///     Size in bytes.
    /// offset : int, optional
    ///     Offset of the first byte.
    ///
    /// Returns
    /// -------
    /// memoryview
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the part exceeds the block.
    ///
    /// Warnings
    /// --------
    /// Reading the memoryview on the host crashes the process, except on the CPU backend.
    #[pyo3(
        signature = (size: "SupportsIndex", offset: "SupportsIndex" = None) -> "memoryview",
        text_signature = "($self, size, offset=0)"
    )]
    fn as_buffer<'py>(
        slf: &Bound<'py, Self>,
        size: &Bound<'py, PyAny>,
        offset: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = slf.get().nbytes()?;
        let (size, offset) = (number::size(size, "size")?, offset.map_or(Ok(0), |o| number::size(o, "offset"))?);
        if offset.checked_add(size).is_none_or(|end| end > bytes) {
            return Err(PyValueError::new_err(format!(
                "{size} bytes from byte {offset} on are not within a block of {bytes} bytes"
            )));
        }
        view_of_address(slf.py(), slf.get().escaping_address()? + offset, size)
    }

    fn __repr__(&self) -> String {
        match self.nbytes() {
            Ok(bytes) => format!("<DeviceAllocation of {bytes} bytes at {:#x}>", self.address),
            Err(_) => "<DeviceAllocation, freed>".to_owned(),
        }
    }
}

pub(crate) fn no_bytes(operation: &'static str) -> Error {
    raw_memory::invalid_value(operation, "0 bytes were asked for".to_owned())
}

/// Allocates plain memory of a device; other processes can open this memory.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes, at least one.
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// DeviceAllocation
///
/// Raises
/// ------
/// CudaError
///     With code 1 for zero bytes.
/// OutOfMemoryError
///     If the device is out of memory, even after trimming PyGPU's pool.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.allocate_device(1024).nbytes
/// 1024
#[pyfunction]
#[pyo3(signature = (nbytes: "SupportsIndex", device: "DeviceLike" = None) -> "DeviceAllocation")]
fn allocate_device(nbytes: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyAny>>) -> PyResult<DeviceAllocation> {
    let bytes = number::size(nbytes, "nbytes")?;
    let device = device::from_argument(nbytes.py(), device)?;
    let block = nbytes.py().without_gil(|| {
        if bytes == 0 {
            return Err(no_bytes("mem_alloc"));
        }
        Allocation::from_driver(device, || Ok((device.backend().allocate(device.index(), bytes)?, bytes)))
    })?;
    Ok(DeviceAllocation::new(block))
}

/// Allocates memory for rows, with a pitch that the driver chooses for fast access.
///
/// Parameters
/// ----------
/// width : int
///     Bytes of a row.
/// height : int
///     Rows.
/// access_size : int
///     Bytes that a kernel reads or writes by one access: 4, 8 or 16.
///
/// Returns
/// -------
/// memory : DeviceAllocation
/// pitch : int
///     Bytes from one row to the next.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> memory, pitch = _core.allocate_pitched(100, 3, 4)
/// >>> pitch >= 100, memory.nbytes == 3 * pitch
/// (True, True)
#[pyfunction]
#[pyo3(signature = (
    width: "SupportsIndex", height: "SupportsIndex", access_size: "SupportsIndex"
) -> "tuple[DeviceAllocation, int]")]
fn allocate_pitched(
    width: &Bound<'_, PyAny>,
    height: &Bound<'_, PyAny>,
    access_size: &Bound<'_, PyAny>,
) -> PyResult<(DeviceAllocation, usize)> {
    let (width, height) = (number::size(width, "width")?, number::size(height, "height")?);
    let access = number::size(access_size, "access_size")?;
    if !matches!(access, 4 | 8 | 16) {
        return Err(PyValueError::new_err(format!("access_size is 4, 8 or 16 bytes, not {access}")));
    }
    let block = access_size.py().without_gil(|| {
        let device = Device::current()?;
        if width == 0 || height == 0 {
            return Err(no_bytes("mem_alloc_pitch"));
        }
        let memory = device.backend().driver_memory()?;
        Allocation::from_driver(device, || {
            let (address, pitch) = memory.allocate_pitched(device.index(), width, height, access as u32)?;
            Ok((address, pitch * height)) // the product does not overflow, because the driver has allocated this number of bytes
        })
    })?;
    let pitch = block.bytes() / height;
    Ok((DeviceAllocation::new(block), pitch))
}

/// Raises the driver's error for the address of freed memory.
///
/// Parameters
/// ----------
/// name : str
///     Name of the object whose memory was freed.
///
/// Raises
/// ------
/// CudaError
///     With code 1, always.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> from PyGPU import _core
/// >>> try:
/// ...     _core.raise_freed('allocation')
/// ... except PyGPU.CudaError as error:
/// ...     error.code
/// 1
#[pyfunction]
#[pyo3(signature = (name: "str") -> "NoReturn")]
fn raise_freed(name: &str) -> PyResult<()> {
    Err(raw_memory::invalid_value("free", format!("{name}: the memory was freed already")).into())
}

names! {
    internal_functions: allocate_device, raise_freed, allocate_pitched;
    internal_classes: DeviceAllocation;
}
