//! Implements the CUDA array interface, version 3: import and export of memory, with the required synchronization. This
//! module does not use Python.

use std::any::Any;

use super::imported_memory::ImportedMemory;
use super::stream_numbers;
use pygpu_array::Array;
use pygpu_backend::{self as backend, Backend, BackendKind, PointerKind, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_base::settings::{self, Variable};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::{self, Stream};
use pygpu_memory::OwnerBox;

/// Owner of imported memory: the producer's object. The drop of this owner orders PyGPU's work on the memory before
/// later work of the producer.
struct ImportedInterface {
    owner: Option<OwnerBox>,
    ready: Stream,
    /// Whether the producer works on a stream other than the legacy default stream.
    has_own_stream: bool,
}

impl Drop for ImportedInterface {
    fn drop(&mut self) {
        if shutdown::exiting() {
            std::mem::forget(self.owner.take());
            return;
        }
        // By the protocol, the producer's stream should wait for PyGPU's stream here, and should exist as long as the
        // producer's object. CuPy's stream, however, may already be destroyed, and a call with the handle of a
        // destroyed stream crashes the driver. Therefore the host waits for PyGPU's stream instead.
        shutdown::defer(if self.has_own_stream {
            self.ready.synchronize()
        } else {
            Stream::default_of(self.ready.device()).wait_for(&self.ready)
        });
    }
}

impl ImportedInterface {
    /// Returns whether the memory can be returned to the producer without a wait of the host.
    fn ends_at_once(&self) -> bool {
        !self.has_own_stream && self.ready == Stream::default_of(self.ready.device())
    }
}

/// Returns the producer's object from an owner that [`import`] created. Returns `None` for other owners, and if
/// returning the memory to the producer requires a wait.
pub fn keeper_of(lender: &(dyn Any + Send + Sync)) -> Option<&(dyn Any + Send + Sync)> {
    let borrowed = lender.downcast_ref::<ImportedInterface>().filter(|borrowed| borrowed.ends_at_once())?;
    borrowed.owner.as_deref()
}

/// Returns whether an import makes PyGPU's stream wait for the producer's stream. Users who synchronize by other means
/// can disable this wait.
fn waits_for_producers() -> bool {
    static WAITS: ForkSafeOnce<bool> = ForkSafeOnce::new();
    *WAITS.get().unwrap_or_else(|| {
        let settings = settings::get();
        WAITS.get_or_init(|| settings.is_on(Variable::CUDA_ARRAY_INTERFACE_SYNC, true))
    })
}

/// Creates the array that an interface describes. `stream` is the value of the interface's `stream` entry.
///
/// # Errors
/// `ValueError` for inconsistent descriptions; `Unavailable` without a GPU; driver errors.
///
/// # Safety
/// The description of the memory must be correct until `owner` is dropped.
pub unsafe fn import(description: &ImportedMemory, stream: Option<i64>, owner: OwnerBox) -> Result<Array> {
    let producer = stream_numbers::of_cai_producer(stream)?;
    description.check()?;
    description.check_alignment(false)?;
    let device = device_of(description)?;
    let ready = stream::own_current(device);
    // An empty array needs no synchronization. Moreover, the device of the producer's stream cannot be derived from the
    // address of an empty array.
    let producer = producer.filter(|_| !description.shape.contains(&0));
    if let Some(handle) = producer
        && waits_for_producers()
    {
        ready.wait_for(&Stream::named(device, handle)?)?;
    }
    let has_own_stream = producer.is_some_and(|handle| handle != StreamHandle::DEFAULT);
    let owner = ImportedInterface { owner: Some(owner), ready: ready.clone(), has_own_stream };
    // SAFETY: the caller guarantees that the description is correct.
    unsafe { description.adopt(ready, Box::new(owner)) }
}

/// Returns the device of the described memory. The driver is queried, because the interface does not contain the
/// device.
fn device_of(description: &ImportedMemory) -> Result<Device> {
    let is_gpu = |backend: &&'static dyn Backend| backend.kind() != BackendKind::Cpu;
    let backend = match Some(backend::default_backend()?).filter(is_gpu) {
        Some(backend) => backend,
        // If the machine has no GPU, the error of the CUDA backend is returned, because NVIDIA defined the interface.
        None => backend::available().into_iter().find(is_gpu).map_or_else(|| backend::by_name("cuda"), Ok)?,
    };
    let current = || Device::new(backend, backend.current_device()?);
    if description.shape.contains(&0) {
        return current();
    }
    match backend.pointer_kind(description.address)? {
        PointerKind::Device(index) => Device::new(backend, index),
        // Devices access managed and host memory in place, so the array belongs to the thread's current device.
        PointerKind::Managed | PointerKind::Host => current(),
        PointerKind::Unregistered => Err(Error::value(format!(
            "__cuda_array_interface__: {:#x} is no address of device memory that the driver knows",
            description.address
        ))),
    }
}

/// Makes a stream wait for all uses of the array, and returns the value of this stream for the interface's `stream`
/// entry. After this call, other libraries may use the array's memory.
///
/// # Errors
/// Driver errors.
pub fn export(array: &Array) -> Result<Option<usize>> {
    let allocation = array.allocation();
    allocation.mark_untracked();
    let stream = allocation.ordered_stream(array.exported_access())?;
    match array.device().kind() {
        BackendKind::Cpu => Ok(None),
        // The interface cannot express a HIP stream. Therefore the host waits here until all work on the array is
        // complete.
        BackendKind::Hip => stream.synchronize().map(|()| None),
        kind => Ok(stream_numbers::as_cai_producer(kind, stream.handle())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pygpu_base::dtype::{DType, ScalarType};
    use pygpu_layout::{Dims, MemoryOrder};

    #[test]
    fn import_rejects_stream_0_and_misaligned_address_before_device_call() {
        let description = |address| ImportedMemory {
            address,
            shape: Dims::from_slice(&[2]),
            strides: None,
            dtype: DType::new(ScalarType::Float32),
            readonly: false,
        };
        // SAFETY: the import in this test fails before the memory is used.
        let imported = |address, stream| unsafe { import(&description(address), stream, Box::new(())) };
        assert!(matches!(imported(64, Some(0)), Err(Error::Value(_))));
        assert!(matches!(imported(65, None), Err(Error::Value(_))));
    }

    #[test]
    fn export_of_host_array_has_no_stream() {
        let stream = Stream::default_of(Device::cpu().unwrap());
        let array = Array::empty(&[3], DType::new(ScalarType::Int8), MemoryOrder::C, stream).unwrap();
        assert_eq!(export(&array).unwrap(), None);
    }
}
