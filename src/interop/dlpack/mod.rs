//! Implements DLPack 1.3. The structures are those of the crate dlpark, but this module fills and reads them itself.
//!
//! The conversions of dlpark are not used, because they need three allocations instead of one, and reject copies to the
//! host, which the standard requires.

pub mod export;
pub mod import;

use dlpark::ffi::{DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLPackVersion, DLTensor};
use once_cell::race::OnceBox;
use smallvec::SmallVec;

use pygpu_array::Array;
use pygpu_backend::{self as backend, BackendKind};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_layout::Layout;

pub use dlpark::{DlpackFlags, ffi};

/// The version of DLPack that all exported tensors follow. In this version the pointer to the strides is never null.
pub const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 3 };

/// The host as a DLPack device: type and number.
pub const HOST: (i64, i64) = (DLDeviceType::CPU.0 as i64, 0);

/// Returns the device type and the device number by which DLPack identifies a device.
#[inline]
pub fn code_of(device: Device) -> (u32, i32) {
    match device.kind() {
        BackendKind::Cpu => (DLDeviceType::CPU.0, 0),
        BackendKind::Cuda => (DLDeviceType::CUDA.0, device.index()),
        BackendKind::Hip => (DLDeviceType::ROCM.0, device.index()),
    }
}

/// Returns whether the host can read the memory of a device type directly. Returns `false` for managed memory.
pub fn is_host(device_type: i64) -> bool {
    [DLDeviceType::CPU, DLDeviceType::CUDAHOST, DLDeviceType::ROCMHOST]
        .iter()
        .any(|host| i64::from(host.0) == device_type)
}

/// Returns the device for a DLPack device type and number. Pinned memory belongs to the host, managed memory to the
/// current GPU.
///
/// # Errors
/// `BufferError` for other hardware, unavailable backends, and nonexistent device numbers.
pub fn device_of(device_type: i64, id: i64) -> Result<Device> {
    let refuse = |reason: String| {
        Error::buffer(format!("the tensor is on DLPack device (type {device_type}, number {id}): {reason}"))
    };
    let named = |kind: &str| backend::by_name(kind).map_err(|error| refuse(error.to_string()));
    let numbered = |kind: &str| {
        let index = i32::try_from(id).map_err(|_| refuse("that is no device number".to_owned()))?;
        Device::new(named(kind)?, index).map_err(|error| refuse(error.to_string()))
    };
    match u32::try_from(device_type).map(DLDeviceType) {
        Ok(DLDeviceType::CPU | DLDeviceType::CUDAHOST | DLDeviceType::ROCMHOST) => Device::cpu(),
        Ok(DLDeviceType::CUDA) => numbered("cuda"),
        Ok(DLDeviceType::ROCM) => numbered("hip"),
        Ok(DLDeviceType::CUDAMANAGED) => {
            let backend = named("cuda")?;
            Device::new(backend, backend.current_device()?)
        }
        _ => Err(refuse("PyGPU knows host memory (1, 3, 11), CUDA (2, 13) and ROCm (10)".to_owned())),
    }
}

/// The shape of an array followed by its strides in elements. A DLPack tensor points to both parts.
type Dimensions = SmallVec<[i64; 16]>;

/// Writes the shape, then the strides in elements, into an empty list. For a contiguous array, the strides are computed
/// from the shape, because consumers interpret arbitrary strides of axes of length one as gaps.
#[inline]
fn write_dimensions(array: &Array, into: &mut Dimensions) -> Result<()> {
    let layout = array.layout();
    let ndim = layout.ndim();
    into.reserve(2 * ndim);
    // The numbers are written into the reserved room, because `extend` takes several times as long for so few.
    // SAFETY: there is room for twice as many numbers as there are axes, and the loop writes each of them.
    unsafe {
        let first = into.as_mut_ptr();
        for (index, len) in layout.shape().enumerate() {
            first.add(index).write(len);
            first.add(ndim + index).write(1);
        }
        into.set_len(2 * ndim);
    }
    let (shape, strides) = into.split_at_mut(ndim);
    let pairs = shape.iter().zip(strides);
    if layout.is_c_contiguous() {
        canonical(pairs.rev());
    } else if layout.is_f_contiguous() {
        canonical(pairs);
    } else {
        signed(layout, pairs.map(|(_, stride)| stride))?;
    }
    Ok(())
}

#[inline]
fn canonical<'a>(innermost_first: impl Iterator<Item = (&'a i64, &'a mut i64)>) {
    let mut next = 1_i64;
    for (&len, stride) in innermost_first {
        *stride = next;
        // The product does not overflow, because for every layout the product of the nonzero lengths fits in 64 bits.
        next = next.wrapping_mul(len.max(1));
    }
}

fn signed<'a>(layout: &Layout, strides: impl Iterator<Item = &'a mut i64>) -> Result<()> {
    let itemsize = layout.itemsize();
    for (axis, stride) in layout.axes().iter().zip(strides) {
        if axis.len > 1 {
            if axis.stride % itemsize != 0 {
                return Err(Error::buffer(format!(
                    "DLPack counts strides in elements, and a stride of {} bytes is no multiple of the {itemsize} bytes \
                     of an element: export a copy() of the array",
                    axis.stride
                )));
            }
            *stride = axis.stride / itemsize;
        }
    }
    Ok(())
}

/// Returns the tensor that describes an array. Its shape and strides are written to `dimensions`.
///
/// # Errors
/// `BufferError` for dtypes that DLPack cannot describe.
#[inline]
fn tensor_of(array: &Array, dimensions: *mut i64) -> Result<DLTensor> {
    let ndim = array.layout().ndim();
    let element = array.dtype().dlpack()?;
    let (device_type, device_id) = code_of(array.device());
    Ok(DLTensor {
        data: array.address() as *mut _,
        device: DLDevice { device_type: DLDeviceType(device_type), device_id },
        ndim: ndim as i32,
        dtype: DLDataType { code: DLDataTypeCode(element.code), bits: element.bits, lanes: 1 },
        shape: dimensions,
        strides: dimensions.wrapping_add(ndim),
        byte_offset: 0,
    })
}

/// Shape and strides of an array, for tensors that borrow them. A borrowing tensor is valid as long as this value
/// exists. The functions of DLPack's exchange table return borrowing tensors. Few arrays are exported by these
/// functions, so the value is a pointer that stays null until the first export.
pub struct LentDimensions(OnceBox<Dimensions>);

impl LentDimensions {
    /// Creates a value without shape and strides.
    pub const fn new() -> Self {
        Self(OnceBox::new())
    }

    /// Returns a tensor that describes `array`, which must be the same array on every call. The tensor is valid as long
    /// as `self` exists.
    ///
    /// # Errors
    /// `BufferError` for arrays that DLPack cannot describe.
    pub fn lend(&self, array: &Array) -> Result<DLTensor> {
        // The dimensions are set once and stay until `self` is dropped. Tensors that refer to them only read them.
        let dimensions = self.0.get_or_try_init(|| {
            let mut made = Box::new(Dimensions::new());
            write_dimensions(array, &mut made)?;
            Ok::<_, Error>(made)
        })?;
        array.allocation().mark_untracked();
        tensor_of(array, dimensions.as_ptr().cast_mut())
    }
}

impl Default for LentDimensions {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn device_of_maps_host_types_to_cpu_and_rejects_unknown_types() {
        for host in [1, 3, 11] {
            assert!(is_host(host) && device_of(host, 0).unwrap().is_cpu());
        }
        for device_type in [0, 4, 14, -1, i64::MAX] {
            let error = device_of(device_type, 5).unwrap_err();
            assert!(matches!(&error, Error::Buffer(text) if text.contains(&device_type.to_string())), "{error}");
        }
        assert!(matches!(device_of(2, i64::MAX), Err(Error::Buffer(_))));
        assert!(matches!(device_of(2, -1), Err(Error::Buffer(_))));
        assert!(!is_host(13));
    }
}
