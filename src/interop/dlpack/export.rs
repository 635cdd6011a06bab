//! Exports arrays as DLPack's managed tensors. One heap block contains the tensor, its shape and strides, and the
//! exported array.
//!
//! A consumer may call the tensor's deleter on any thread, without the GIL, and after the interpreter has ended. The
//! heap block therefore contains no Python objects.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

use super::ffi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor};
use super::{Dimensions, DlpackFlags, VERSION, tensor_of, write_dimensions};
use pygpu_array::Array;
use pygpu_base::error::{Error, Result};
use pygpu_base::ffi_guard::catch_panic;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;

/// A managed tensor and the data to which it refers. The tensor is the first field, so that its address is also the
/// address of this structure.
#[repr(C)]
struct ExportedTensor<M> {
    managed: M,
    dimensions: Dimensions,
    array: Array,
    /// The stream on which the consumer uses the data, if known.
    consumer: Option<Stream>,
}

/// Creates a managed tensor of the versioned form. The tensor keeps the array's memory alive until its deleter is
/// called. Later uses of the memory wait for the work that is on the consumer's stream when the deleter is called.
///
/// # Errors
/// `BufferError` for arrays that DLPack cannot describe.
#[inline]
pub fn versioned(
    array: &Array,
    flags: DlpackFlags,
    consumer: Option<Stream>,
) -> Result<NonNull<DLManagedTensorVersioned>> {
    let flags = if array.readonly() { flags | DlpackFlags::READ_ONLY } else { flags };
    boxed(array, consumer, |dl_tensor, manager_ctx| DLManagedTensorVersioned {
        version: VERSION,
        manager_ctx,
        deleter: Some(delete::<DLManagedTensorVersioned>),
        flags,
        dl_tensor,
    })
}

/// Creates a managed tensor of the unversioned form, which has no read-only flag.
///
/// # Errors
/// `BufferError` for read-only arrays and for arrays that DLPack cannot describe.
#[inline]
pub fn legacy(array: &Array, consumer: Option<Stream>) -> Result<NonNull<DLManagedTensor>> {
    if array.readonly() {
        return Err(Error::buffer(
            "__dlpack__: a read-only array cannot be exported without a version, since only DLPack 1.0 has a flag for it: \
             the consumer must pass max_version=(1, 0) or newer, or be given a copy() of the array",
        ));
    }
    boxed(array, consumer, |dl_tensor, manager_ctx| DLManagedTensor {
        dl_tensor,
        manager_ctx,
        deleter: Some(delete::<DLManagedTensor>),
    })
}

#[inline]
fn boxed<M>(
    array: &Array,
    consumer: Option<Stream>,
    managed: impl FnOnce(DLTensor, *mut c_void) -> M,
) -> Result<NonNull<M>> {
    // The dtype is checked first, because an unsupported dtype is the only possible error of `tensor_of`.
    array.dtype().dlpack()?;
    let mut block: Box<MaybeUninit<ExportedTensor<M>>> = Box::new_uninit();
    let slot = block.as_mut_ptr();
    // SAFETY: each field is written once, in its final location. The structure is not built by value, because tensor
    // and array are large: moving them would cost more than all other steps of the export.
    unsafe {
        (&raw mut (*slot).dimensions).write(Dimensions::new());
        if let Err(error) = write_dimensions(array, &mut (*slot).dimensions) {
            (&raw mut (*slot).dimensions).drop_in_place();
            return Err(error);
        }
        array.allocation().export();
        (&raw mut (*slot).consumer).write(consumer);
        array.write_view((&raw mut (*slot).array).cast());
        (*slot).array.layout_mut().assign(array.layout());
        let tensor = tensor_of(array, (*slot).dimensions.as_mut_ptr())?;
        (&raw mut (*slot).managed).write(managed(tensor, slot.cast()));
        Ok(NonNull::new_unchecked(Box::into_raw(block).cast()))
    }
}

/// Deletes an exported tensor. The consumer calls this function through the tensor's `deleter` field.
unsafe extern "C" fn delete<M>(managed: *mut M) {
    catch_panic((), || {
        // At process exit the driver may be partly shut down, so the memory is leaked.
        if managed.is_null() || shutdown::exiting() {
            return;
        }
        // SAFETY: `boxed` created the block, and DLPack requires that the consumer calls the deleter exactly once.
        let block = unsafe { Box::from_raw(managed.cast::<ExportedTensor<M>>()) };
        let array = &block.array;
        shutdown::defer(array.allocation().end_export(array.exported_access(), block.consumer.as_ref()));
        match RELEASE.get() {
            Some(release) if needs_care(array) => release(block.array),
            // The array is dropped inside the heap block, because moving it out would copy a large value.
            _ => drop(block),
        }
    });
}

/// Function that drops an array whose release may call a driver. The Python layer registers it.
static RELEASE: ForkSafeOnce<fn(Array)> = ForkSafeOnce::new();

/// Registers the function that drops arrays whose release may call a driver. It must release the GIL if the calling
/// thread holds it, because the driver may wait for a thread that waits for the GIL.
pub fn set_release(release: fn(Array)) {
    RELEASE.set(release);
}

/// Returns whether dropping the array may free its memory by a driver call, because no other array uses its memory
/// block. (The owner of external memory releases the GIL itself before it calls a driver.)
#[inline]
fn needs_care(array: &Array) -> bool {
    !array.device().is_cpu() && Arc::strong_count(array.allocation()) == 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pygpu_base::dtype::{DType, ScalarType, TABLE};
    use pygpu_device::Device;
    use pygpu_layout::{Index, Layout, MemoryOrder};

    fn array(shape: &[i64], kind: ScalarType) -> Array {
        Array::empty(shape, DType::new(kind), MemoryOrder::C, Stream::default_of(Device::cpu().unwrap())).unwrap()
    }

    fn dimensions(tensor: &DLTensor) -> (Vec<i64>, Vec<i64>) {
        let ndim = tensor.ndim as usize;
        // SAFETY: the tensor has not been deleted.
        unsafe {
            let read = |at: *const i64| (0..ndim).map(|axis| at.add(axis).read()).collect();
            (read(tensor.shape), read(tensor.strides))
        }
    }

    /// Exports an array and deletes the tensor. Returns shape, strides and data address of the tensor.
    fn exported(array: &Array) -> (Vec<i64>, Vec<i64>, usize) {
        let managed = versioned(array, DlpackFlags::empty(), None).unwrap();
        // SAFETY: the tensor was just created and is deleted once.
        unsafe {
            let tensor = managed.as_ref().dl_tensor;
            let (shape, strides) = dimensions(&tensor);
            (managed.as_ref().deleter.unwrap())(managed.as_ptr());
            assert_eq!(tensor.byte_offset, 0);
            (shape, strides, tensor.data as usize)
        }
    }

    #[test]
    fn exported_tensor_keeps_memory_until_it_is_deleted() {
        let array = array(&[2, 3], ScalarType::Float32);
        let managed = legacy(&array, None).unwrap();
        assert_eq!(Arc::strong_count(array.allocation()), 2);
        // SAFETY: the tensor was just created and is deleted once, on another thread.
        unsafe {
            assert_eq!(managed.as_ref().dl_tensor.data as usize, array.address());
            let deleter = managed.as_ref().deleter.unwrap();
            let address = managed.as_ptr() as usize;
            std::thread::spawn(move || deleter(address as *mut _)).join().unwrap();
        }
        assert_eq!(Arc::strong_count(array.allocation()), 1);
    }

    #[test]
    fn export_accepts_every_named_dtype_and_rejects_opaque_items() {
        for row in &TABLE {
            let managed = versioned(&array(&[2], row.kind), DlpackFlags::empty(), None).unwrap();
            // SAFETY: the tensor was just created and is deleted once.
            unsafe {
                let dtype = managed.as_ref().dl_tensor.dtype;
                assert_eq!((dtype.code.0, dtype.bits, dtype.lanes), (row.dlpack.code, row.dlpack.bits, 1));
                (managed.as_ref().deleter.unwrap())(managed.as_ptr());
            }
        }
        let layout = Layout::contiguous(&[2], 12, MemoryOrder::C).unwrap();
        let stream = Stream::default_of(Device::cpu().unwrap());
        let opaque = Array::on_new_memory(layout, DType::opaque(12, 0), stream).unwrap();
        assert!(matches!(versioned(&opaque, DlpackFlags::empty(), None), Err(Error::Buffer(_))));
    }

    #[test]
    fn exported_strides_follow_shape_for_dense_arrays_and_layout_for_others() {
        let base = array(&[4, 1, 6], ScalarType::Int16);
        assert_eq!(exported(&base).1, [6, 6, 1]);
        let reversed = Index::Slice { start: None, stop: None, step: Some(-2) };
        let view = base.view(base.layout().index(&[reversed, reversed, reversed]).unwrap()).unwrap();
        let (shape, strides, data) = exported(&view);
        assert_eq!((shape, strides), (vec![2, 1, 3], vec![-12, 1, -2]));
        assert_eq!(data, view.address());
        let odd = base.view(Layout::strided(&[4, 1, 6], &[12, 5, 2], 0, 2).unwrap()).unwrap();
        assert_eq!(exported(&odd).1, [6, 6, 1]);
        let fortran = base.view(base.layout().transpose(None).unwrap()).unwrap();
        assert_eq!(exported(&fortran).1, [1, 6, 6]);
    }

    #[test]
    fn exported_empty_array_has_null_pointer_and_scalar_has_no_dimensions() {
        assert_eq!(exported(&array(&[3, 0, 2], ScalarType::Int8)), (vec![3, 0, 2], vec![2, 2, 1], 0));
        let (shape, strides, data) = exported(&array(&[], ScalarType::Int8));
        assert!(shape.is_empty() && strides.is_empty() && data != 0);
    }

    #[test]
    fn export_rejects_stride_that_is_no_multiple_of_itemsize() {
        let base = array(&[12], ScalarType::Int8);
        let view = base.view_as(Layout::strided(&[2], &[6], 0, 4).unwrap(), DType::new(ScalarType::Int32)).unwrap();
        assert!(matches!(legacy(&view, None), Err(Error::Buffer(text)) if text.contains("6 bytes")));
    }

    #[test]
    fn export_of_read_only_array_requires_versioned_tensor() {
        let readonly = array(&[2], ScalarType::Int8).as_readonly();
        assert!(matches!(legacy(&readonly, None), Err(Error::Buffer(text)) if text.contains("max_version")));
        let managed = versioned(&readonly, DlpackFlags::IS_COPIED, None).unwrap();
        // SAFETY: the tensor was just created and is deleted once.
        unsafe {
            assert_eq!(managed.as_ref().flags, DlpackFlags::IS_COPIED | DlpackFlags::READ_ONLY);
            (managed.as_ref().deleter.unwrap())(managed.as_ptr());
        }
    }

    #[test]
    fn export_of_20_dimensions_succeeds_beyond_inline_capacity() {
        let array = array(&[1; 20], ScalarType::Int8);
        assert_eq!(exported(&array).0, [1; 20]);
    }
}
