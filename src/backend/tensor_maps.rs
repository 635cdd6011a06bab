//! Defines the interface to tensor maps: descriptors by which a device's tensor memory accelerator copies boxes (parts
//! of an array) between the array and shared memory.

use super::Address;
use pygpu_base::error::{Error, Result};

/// Maximum number of axes of a tensor map.
pub const MAX_RANK: usize = 5;

/// Element types of a tensor map, with the driver's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum TensorElement {
    /// Unsigned 8-bit integer.
    UInt8 = 0,
    /// Unsigned 16-bit integer.
    UInt16 = 1,
    /// Unsigned 32-bit integer.
    UInt32 = 2,
    /// Signed 32-bit integer.
    Int32 = 3,
    /// Unsigned 64-bit integer.
    UInt64 = 4,
    /// Signed 64-bit integer.
    Int64 = 5,
    /// 16-bit float.
    Float16 = 6,
    /// 32-bit float.
    Float32 = 7,
    /// 64-bit float.
    Float64 = 8,
    /// bfloat16: a 16-bit float with the exponent range of float32.
    BFloat16 = 9,
}

/// Parameters of a tensor map. Axes are in the driver's order, in which the elements are contiguous along the first
/// axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorMapRequest {
    /// Address of the array's first element.
    pub address: Address,
    /// Element type of the array.
    pub element: TensorElement,
    /// Number of axes.
    pub rank: usize,
    /// Length of each axis in elements.
    pub lengths: [u64; MAX_RANK],
    /// Stride in bytes of each axis except the first.
    pub strides: [u64; MAX_RANK],
    /// Length of a box along each axis, in elements.
    pub extent: [u32; MAX_RANK],
    /// Step between the elements of a box along each axis, in elements.
    pub steps: [u32; MAX_RANK],
    /// Interleave mode, as the driver's value.
    pub interleave: u32,
    /// Swizzle mode, as the driver's value.
    pub swizzle: u32,
    /// Size of the requests to the second-level cache, as the driver's value.
    pub l2_promotion: u32,
    /// Whether elements outside of the array are read as NaN instead of zero.
    pub fills_nan: bool,
}

/// An encoded tensor map, which a kernel receives as `CUtensorMap`, with the alignment that the driver requires.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(128))]
pub struct TensorMapBytes(pub [u8; 128]);

/// Tensor maps of a backend.
pub trait TensorMaps: Send + Sync {
    /// Encodes a tensor map. The result is plain data, which need not be destroyed.
    ///
    /// # Errors
    /// Errors of the driver, for invalid parameters.
    fn encode_tensor_map(&self, device: i32, request: &TensorMapRequest) -> Result<TensorMapBytes>;
}

/// Returns the error of a backend without tensor maps.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!(
        "the {backend} backend has no tensor maps: they are of NVIDIA's devices of compute capability 9.0 or newer; copy the \
         tile in the kernel by its threads there"
    ))
}
