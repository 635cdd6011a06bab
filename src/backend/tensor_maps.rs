//! Tensor maps: how a device's tensor memory accelerator copies boxes between an array and shared memory.

use super::Address;
use pygpu_base::error::{Error, Result};

/// Most axes of a tensor map.
pub const MAX_RANK: usize = 5;

/// What the elements are, by the driver's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum TensorElement {
    /// 8 bits.
    UInt8 = 0,
    /// 16 bits.
    UInt16 = 1,
    /// 32 bits without a sign.
    UInt32 = 2,
    /// 32 bits.
    Int32 = 3,
    /// 64 bits without a sign.
    UInt64 = 4,
    /// 64 bits.
    Int64 = 5,
    /// A float of 16 bits.
    Float16 = 6,
    /// A float of 32 bits.
    Float32 = 7,
    /// A float of 64 bits.
    Float64 = 8,
    /// A float of 16 bits with the range of 32.
    BFloat16 = 9,
}

/// What is said of a tensor map, in the driver's order: the first axis is the one whose elements follow each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorMapRequest {
    /// The first element.
    pub address: Address,
    /// The elements.
    pub element: TensorElement,
    /// Axes that count.
    pub rank: usize,
    /// Elements along each axis.
    pub lengths: [u64; MAX_RANK],
    /// Bytes from one element to the next along each axis but the first.
    pub strides: [u64; MAX_RANK],
    /// Elements of a box along each axis.
    pub extent: [u32; MAX_RANK],
    /// Which elements of a box are taken along each axis: every such-and-such.
    pub steps: [u32; MAX_RANK],
    /// By the driver's numbers.
    pub interleave: u32,
    /// By the driver's numbers.
    pub swizzle: u32,
    /// By the driver's numbers.
    pub l2_promotion: u32,
    /// Whether what lies outside is NaN and not zero.
    pub fills_nan: bool,
}

/// What a kernel takes as `CUtensorMap`, as aligned as the driver wants to write it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(128))]
pub struct TensorMapBytes(pub [u8; 128]);

/// What a driver does for tensor maps.
pub trait TensorMaps: Send + Sync {
    /// Encodes a tensor map. Nothing is made that would have to be ended.
    ///
    /// # Errors
    /// The driver's, for what it cannot encode.
    fn encode_tensor_map(&self, device: i32, request: &TensorMapRequest) -> Result<TensorMapBytes>;
}

/// What a backend answers that has none.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!(
        "the {backend} backend has no tensor maps: they are of NVIDIA's devices of compute capability 9.0 or newer; copy the \
         tile in the kernel by its threads there"
    ))
}
