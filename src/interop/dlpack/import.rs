//! Imports DLPack's managed tensors as arrays. The deleter is called exactly once, even for an invalid tensor.

use std::ptr::NonNull;

use super::ffi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor};
use super::{DlpackFlags, VERSION, device_of, export};
use crate::imported_memory::ImportedMemory;
use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_base::error::{Error, Result};
use pygpu_base::iterative_drop;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::{Dims, MAX_RANK, MemoryOrder};

#[derive(Clone, Copy)]
enum ManagedTensor {
    Legacy(NonNull<DLManagedTensor>),
    Versioned(NonNull<DLManagedTensorVersioned>),
}

/// A managed tensor of another library. PyGPU must call its deleter.
pub struct ImportedTensor {
    managed: ManagedTensor,
    /// The PyGPU stream on which the imported data is used. `None` if later work of the producer need not wait for
    /// PyGPU's uses of the data.
    used_on: Option<Stream>,
}

// SAFETY: DLPack allows use and deletion of a tensor on any thread.
unsafe impl Send for ImportedTensor {}
// SAFETY: shared access only reads the tensor; only the drop, which has exclusive access, calls the deleter.
unsafe impl Sync for ImportedTensor {}

impl Drop for ImportedTensor {
    fn drop(&mut self) {
        if shutdown::exiting() {
            return; // at process exit, the producer's library may already be unloaded
        }
        if let Some(stream) = self.used_on.take() {
            // DLPack does not inform the producer about the stream of the last use. Most producers assume the legacy
            // default stream, so the default stream is made to wait for `stream`.
            shutdown::defer(Stream::default_of(stream.device()).wait_for(&stream));
        }
        // The tensor may own an array that owns another tensor, and so on. This chain is dropped without recursion.
        iterative_drop::drop_iteratively(self.managed, ManagedTensor::delete, ManagedTensor::delete);
    }
}

impl ManagedTensor {
    fn delete(self) {
        let _asking = shutdown::ForeignCallGuard::begin();
        if shutdown::exiting() {
            return;
        }
        // SAFETY: `ImportedTensor` owned the tensor, and only the drop of `ImportedTensor` calls this function, once.
        unsafe {
            match self {
                Self::Legacy(tensor) => {
                    if let Some(deleter) = (*tensor.as_ptr()).deleter {
                        deleter(tensor.as_ptr());
                    }
                }
                Self::Versioned(tensor) => {
                    if let Some(deleter) = (*tensor.as_ptr()).deleter {
                        deleter(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

impl ImportedTensor {
    /// Takes ownership of an unversioned tensor.
    ///
    /// # Safety
    /// The producer transferred the pointer, and no other code deletes the tensor.
    pub const unsafe fn legacy(tensor: NonNull<DLManagedTensor>) -> Self {
        Self { managed: ManagedTensor::Legacy(tensor), used_on: None }
    }

    /// Takes ownership of a versioned tensor.
    ///
    /// # Errors
    /// `BufferError` for a tensor of another major version of DLPack. The only field of such a tensor that may be used
    /// is the deleter.
    ///
    /// # Safety
    /// The producer transferred the pointer, and no other code deletes the tensor.
    pub unsafe fn versioned(tensor: NonNull<DLManagedTensorVersioned>) -> Result<Self> {
        let owned = Self { managed: ManagedTensor::Versioned(tensor), used_on: None };
        // SAFETY: the caller guarantees a live tensor, and in every version of DLPack the structure begins with its
        // version.
        let version = unsafe { (*tensor.as_ptr()).version };
        if version.major == VERSION.major {
            return Ok(owned);
        }
        Err(Error::buffer(format!(
            "the tensor is of DLPack {}.{}, and only major version {} can be read: ask the producer for \
             max_version=({}, {})",
            version.major, version.minor, VERSION.major, VERSION.major, VERSION.minor
        )))
    }

    fn tensor(&self) -> DLTensor {
        // SAFETY: the tensor is alive, and has the structure of a supported DLPack version.
        unsafe {
            match self.managed {
                ManagedTensor::Legacy(tensor) => (*tensor.as_ptr()).dl_tensor,
                ManagedTensor::Versioned(tensor) => (*tensor.as_ptr()).dl_tensor,
            }
        }
    }

    fn flags(&self) -> DlpackFlags {
        match self.managed {
            ManagedTensor::Legacy(_) => DlpackFlags::empty(),
            // SAFETY: the tensor is alive, and has the structure of a supported DLPack version.
            ManagedTensor::Versioned(tensor) => unsafe { (*tensor.as_ptr()).flags },
        }
    }

    /// Returns the device of the tensor's data.
    ///
    /// # Errors
    /// `BufferError` for a device that does not exist.
    pub fn device(&self) -> Result<Device> {
        let device = self.tensor().device;
        device_of(device.device_type.0.into(), device.device_id.into())
    }

    /// Returns whether the tensor contains a copy that the producer made for this import.
    pub fn is_copied(&self) -> bool {
        self.flags().contains(DlpackFlags::IS_COPIED)
    }

    /// Creates an array over the tensor's memory. `ready` is a stream of the tensor's device: work enqueued on it may
    /// use the data without further synchronization.
    ///
    /// # Errors
    /// `BufferError` if any part of the tensor is invalid. The tensor is then deleted.
    pub fn into_array(mut self, ready: Stream) -> Result<Array> {
        let description = self.describe()?;
        description.check_alignment(ready.device().is_cpu()).map_err(refused)?;
        if ready != Stream::default_of(ready.device()) {
            self.used_on = Some(ready.clone());
        }
        // SAFETY: the tensor describes its memory; the code that created `self` guaranteed that it is a valid tensor.
        unsafe { description.adopt(ready, Box::new(self)).map_err(refused) }
    }

    fn describe(&self) -> Result<ImportedMemory> {
        let tensor = self.tensor();
        let (dtype, shape) = element_and_shape(&tensor)?;
        // The strides of an empty array have no meaning, so the tensor's strides are ignored.
        let strides = if shape.is_empty() || shape.contains(&0) || tensor.strides.is_null() {
            None
        } else {
            Some(in_bytes(&shape, &read(tensor.strides, shape.len()), dtype.itemsize() as i64)?)
        };
        Ok(ImportedMemory {
            address: address_of(&tensor, &shape)?,
            shape,
            strides,
            dtype,
            readonly: self.flags().contains(DlpackFlags::READ_ONLY),
        })
    }
}

/// Returns the dtype and the shape of a tensor. The tensor may also be the prototype for an allocation.
fn element_and_shape(tensor: &DLTensor) -> Result<(DType, Dims)> {
    let rank = usize::try_from(tensor.ndim).ok().filter(|&rank| rank <= MAX_RANK).ok_or_else(|| {
        Error::buffer(format!("the DLPack tensor has {} dimensions; 0 to {MAX_RANK} are possible", tensor.ndim))
    })?;
    if rank > 0 && tensor.shape.is_null() {
        return Err(Error::buffer(format!("the DLPack tensor has {rank} dimensions and a null shape")));
    }
    let dtype = DType::from_dlpack(tensor.dtype.code.0, tensor.dtype.bits, tensor.dtype.lanes)?;
    Ok((dtype, read(tensor.shape, rank)))
}

fn read(at: *const i64, len: usize) -> Dims {
    // SAFETY: the producer guarantees that the shape and the strides are arrays of `ndim` numbers. The arrays may be
    // unaligned. If `ndim` is 0, their pointers may be null, and nothing is read.
    (0..len).map(|axis| unsafe { at.wrapping_add(axis).read_unaligned() }).collect()
}

/// Allocates an uninitialized tensor with the dtype, shape and device of a prototype.
///
/// # Errors
/// `BufferError` if PyGPU has no array with the dtype, shape and device of the prototype; `OutOfMemory`; driver errors.
pub fn allocate_like(prototype: &DLTensor) -> Result<NonNull<DLManagedTensorVersioned>> {
    let (dtype, shape) = element_and_shape(prototype)?;
    let device = device_of(prototype.device.device_type.0.into(), prototype.device.device_id.into())?;
    let consumer = stream::current(device);
    let array = Array::empty(&shape, dtype, MemoryOrder::C, consumer.clone()).map_err(refused)?;
    export::versioned(&array, DlpackFlags::empty(), Some(consumer))
}

/// Returns the address of element zero. If the tensor's data pointer is null, the address is 0, regardless of the
/// tensor's byte offset.
fn address_of(tensor: &DLTensor, shape: &[i64]) -> Result<usize> {
    let data = tensor.data as usize;
    if data == 0 || shape.contains(&0) {
        return Ok(0);
    }
    let offset = usize::try_from(tensor.byte_offset).ok();
    offset.and_then(|offset| data.checked_add(offset)).ok_or_else(|| {
        Error::buffer(format!("the DLPack tensor's data {data:#x} and byte_offset {} overflow", tensor.byte_offset))
    })
}

fn in_bytes(shape: &[i64], strides: &[i64], itemsize: i64) -> Result<Dims> {
    let bytes = |(&len, &stride): (&i64, &i64)| match stride.checked_mul(itemsize) {
        Some(bytes) => Ok(bytes),
        None if len <= 1 => Ok(0),
        None => {
            Err(Error::buffer(format!("the DLPack tensor's stride of {stride} elements of {itemsize} bytes overflows")))
        }
    };
    shape.iter().zip(strides).map(bytes).collect()
}

fn refused(error: Error) -> Error {
    match error {
        Error::Value(text) => Error::buffer(format!("the DLPack tensor cannot be imported: {text}")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::ffi::{DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLPackVersion};
    use super::*;
    use pygpu_base::dtype::ScalarType;
    use pygpu_layout::Index;
    use std::sync::atomic::{AtomicUsize, Ordering};

    thread_local! {
        static DELETED: AtomicUsize = const { AtomicUsize::new(0) };
    }

    unsafe extern "C" fn count(_: *mut DLManagedTensorVersioned) {
        DELETED.with(|deleted| deleted.fetch_add(1, Ordering::SeqCst));
    }

    fn deleted() -> usize {
        DELETED.with(|deleted| deleted.swap(0, Ordering::SeqCst))
    }

    fn cpu() -> Stream {
        Stream::default_of(Device::cpu().unwrap())
    }

    /// Imports a float32 tensor of shape (2, 3), which `lie` first makes invalid.
    fn forge(lie: impl FnOnce(&mut DLManagedTensorVersioned)) -> Result<()> {
        let mut memory = [0_u64; 8];
        let (mut shape, mut strides) = ([2_i64, 3], [3_i64, 1]);
        let mut managed = DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx: std::ptr::null_mut(),
            deleter: Some(count),
            flags: DlpackFlags::empty(),
            dl_tensor: DLTensor {
                data: memory.as_mut_ptr().cast(),
                device: DLDevice { device_type: DLDeviceType::CPU, device_id: 0 },
                ndim: 2,
                dtype: DLDataType { code: DLDataTypeCode::FLOAT, bits: 32, lanes: 1 },
                shape: shape.as_mut_ptr(),
                strides: strides.as_mut_ptr(),
                byte_offset: 0,
            },
        };
        lie(&mut managed);
        let address = (managed.dl_tensor.data as usize).wrapping_add(managed.dl_tensor.byte_offset as usize);
        // SAFETY: the structure outlives the array, which is inspected and dropped here.
        let tensor = unsafe { ImportedTensor::versioned(NonNull::from(&mut managed)) }?;
        tensor.device()?;
        let array = tensor.into_array(cpu())?;
        assert!(array.layout().is_c_contiguous());
        assert_eq!(array.address(), address);
        Ok(())
    }

    #[test]
    fn exported_tensor_is_imported_as_same_memory() {
        let array = Array::empty(&[4, 6], DType::new(ScalarType::Complex64), MemoryOrder::C, cpu()).unwrap();
        let reversed = Index::Slice { start: None, stop: None, step: Some(-1) };
        let view = array.view(array.layout().index(&[reversed, reversed]).unwrap()).unwrap();
        let managed = export::versioned(&view.as_readonly(), DlpackFlags::empty(), None).unwrap();
        // SAFETY: the tensor was just created, and its ownership is transferred.
        let back = unsafe { ImportedTensor::versioned(managed) }.unwrap().into_array(cpu()).unwrap();
        assert_eq!(back.address(), view.address());
        assert_eq!(back.layout().strides().collect::<Vec<_>>(), [-48, -8]);
        assert!(back.readonly());
        assert_eq!(std::sync::Arc::strong_count(array.allocation()), 3);
        drop(back);
        assert_eq!(std::sync::Arc::strong_count(array.allocation()), 2);
    }

    #[test]
    fn valid_tensor_is_imported_and_deleted_once() {
        assert!(forge(|_| ()).is_ok());
        assert_eq!(deleted(), 1);
        assert!(forge(|managed| managed.deleter = None).is_ok());
        assert_eq!(deleted(), 0);
    }

    #[test]
    fn import_rejects_invalid_tensors_with_buffer_error_and_deletes_them_once() {
        static NEGATIVE: [i64; 2] = [2, -3];
        static HUGE: [i64; 2] = [i64::MAX, i64::MAX];
        static WIDE: [i64; 2] = [i64::MAX / 2, 1];
        type Lie = fn(&mut DLManagedTensorVersioned);
        let lies: [(&str, Lie); 14] = [
            ("major version", |managed| managed.version = DLPackVersion { major: 2, minor: 0 }),
            ("negative rank", |managed| managed.dl_tensor.ndim = -1),
            ("huge rank", |managed| managed.dl_tensor.ndim = i32::MAX),
            ("null shape", |managed| managed.dl_tensor.shape = std::ptr::null_mut()),
            ("negative length", |managed| managed.dl_tensor.shape = NEGATIVE.as_ptr().cast_mut()),
            ("huge lengths", |managed| managed.dl_tensor.shape = HUGE.as_ptr().cast_mut()),
            ("huge strides", |managed| managed.dl_tensor.strides = HUGE.as_ptr().cast_mut()),
            ("wide strides", |managed| managed.dl_tensor.strides = WIDE.as_ptr().cast_mut()),
            ("null data", |managed| managed.dl_tensor.data = std::ptr::null_mut()),
            ("misaligned data", |managed| managed.dl_tensor.data = managed.dl_tensor.data.wrapping_byte_add(2)),
            ("huge offset", |managed| managed.dl_tensor.byte_offset = u64::MAX),
            ("lanes", |managed| managed.dl_tensor.dtype.lanes = 4),
            ("unknown code", |managed| managed.dl_tensor.dtype.code = DLDataTypeCode(200)),
            ("unknown device", |managed| managed.dl_tensor.device.device_type = DLDeviceType(77)),
        ];
        for (name, lie) in lies {
            let result = forge(lie);
            assert!(matches!(result, Err(Error::Buffer(_))), "{name}");
            assert_eq!(deleted(), 1, "{name}");
        }
    }

    #[test]
    fn import_assumes_c_order_without_strides_and_adds_byte_offset() {
        assert!(forge(|managed| managed.dl_tensor.strides = std::ptr::null_mut()).is_ok());
        assert!(forge(|managed| managed.dl_tensor.byte_offset = 8).is_ok());
        assert!(matches!(forge(|managed| managed.dl_tensor.byte_offset = 2), Err(Error::Buffer(_))));
        assert_eq!(deleted(), 3);
    }
}
