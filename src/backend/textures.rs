//! Defines the interface to CUDA arrays, whose layout is private to the driver, and to the objects by which kernels
//! read them (textures) and write them (surfaces).

use super::{Address, StreamHandle};
use pygpu_base::error::{Error, Result};

/// Driver handle of a CUDA array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ArrayHandle(pub usize);

/// Formats of the channels of arrays and textures. The enum value of a format is equal in CUDA and HIP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum TexelFormat {
    /// Unsigned 8-bit integer.
    UInt8 = 1,
    /// Unsigned 16-bit integer.
    UInt16 = 2,
    /// Unsigned 32-bit integer.
    UInt32 = 3,
    /// Signed 8-bit integer.
    Int8 = 8,
    /// Signed 16-bit integer.
    Int16 = 9,
    /// Signed 32-bit integer.
    Int32 = 10,
    /// 16-bit float.
    Float16 = 16,
    /// 32-bit float.
    Float32 = 32,
}

impl TexelFormat {
    /// All formats.
    pub const ALL: [Self; 8] =
        [Self::UInt8, Self::UInt16, Self::UInt32, Self::Int8, Self::Int16, Self::Int32, Self::Float16, Self::Float32];

    /// Returns the size of one channel in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::UInt8 | Self::Int8 => 1,
            Self::UInt16 | Self::Int16 | Self::Float16 => 2,
            Self::UInt32 | Self::Int32 | Self::Float32 => 4,
        }
    }

    /// Returns whether the channels are integers.
    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::Float16 | Self::Float32)
    }
}

/// Type of a texture's elements, which have 1, 2 or 4 channels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Texel {
    /// Format of each channel.
    pub format: TexelFormat,
    /// Number of channels: 1, 2 or 4.
    pub channels: u32,
}

impl Texel {
    /// Returns the size of an element in bytes.
    pub const fn bytes(self) -> usize {
        self.format.bytes() * self.channels as usize
    }
}

/// Shape of a CUDA array. A `height` or `depth` of 0 means that the axis is absent; `depth` is the number of layers of
/// a layered array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ArrayShape {
    /// Number of elements in a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Number of planes or layers.
    pub depth: usize,
    /// Element type.
    pub texel: Texel,
    /// Bit set of flags: 1 for a layered array, 2 for an array that kernels can write, and further flags of the driver.
    pub flags: u32,
}

/// Flag of layered arrays.
pub const LAYERED: u32 = 1;
/// Flag of arrays that kernels can write.
pub const SURFACE: u32 = 2;

impl ArrayShape {
    /// Returns whether the array has layers instead of planes.
    pub const fn is_layered(&self) -> bool {
        self.flags & LAYERED != 0
    }

    /// Returns the total size of the elements in bytes; `None` if the size overflows.
    pub fn bytes(&self) -> Option<usize> {
        let row = self.width.checked_mul(self.texel.bytes())?;
        row.checked_mul(self.height.max(1))?.checked_mul(self.depth.max(1))
    }
}

/// Part of an array. Start and size each consist of a number of bytes along the row, of rows, and of planes. No size is
/// 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrayBox {
    /// Start of the part: the byte offset in a row, the index of the row, and the index of the plane.
    pub at: [usize; 3],
    /// Size of the part: the number of bytes in each of its rows, the number of rows, and the number of planes.
    pub extent: [usize; 3],
}

/// Direction of a copy between an array and plain memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayCopy {
    /// From memory to the array.
    Write,
    /// From the array to memory.
    Read,
}

/// Memory that a texture reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// The memory is a CUDA array, which is stored with its shape.
    Array(ArrayHandle, ArrayShape),
    /// The memory contains contiguous elements. Their address, type and number are stored.
    Linear(Address, Texel, usize),
    /// The memory contains rows of elements; the distance between consecutive rows is constant.
    Pitched {
        /// Address of the first element.
        address: Address,
        /// Element type.
        texel: Texel,
        /// Number of elements in a row.
        width: usize,
        /// Number of rows.
        height: usize,
        /// Distance between rows in bytes.
        pitch: usize,
    },
}

/// Rule for the values that a texture returns for coordinates beyond its edge. The discriminants of the enum are the
/// values that CUDA and HIP use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum AddressMode {
    /// The texture is repeated beyond its edge; requires normalised coordinates.
    Wrap = 0,
    /// Coordinates beyond the edge return the element at the edge.
    #[default]
    Clamp = 1,
    /// The texture is mirrored beyond its edge; requires normalised coordinates.
    Mirror = 2,
    /// Coordinates beyond the edge return the border colour.
    Border = 3,
}

/// The modes by which a texture is sampled.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sampling {
    /// For each of x, y and z, the mode that determines the values for coordinates beyond the texture's edge.
    pub address: [AddressMode; 3],
    /// Whether to interpolate linearly between elements.
    pub linear: bool,
    /// Whether integer elements are returned as integers, instead of floats from 0 or -1 to 1.
    pub as_integer: bool,
    /// Whether coordinates are normalized, i.e. those from 0 to 1 cover the texture. Otherwise coordinates are element
    /// indices.
    pub normalized: bool,
    /// The colour that [`AddressMode::Border`] returns.
    pub border: [f32; 4],
}

/// Arrays, textures and surfaces of a backend.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes a handle guarantees that the handle belongs to the device
/// and is alive.
pub trait Textures: Send + Sync {
    /// Creates an array with undefined elements.
    ///
    /// # Errors
    /// Errors of the driver, including `OutOfMemory`.
    fn create_array(&self, device: i32, shape: &ArrayShape) -> Result<ArrayHandle>;
    /// Destroys an array.
    ///
    /// # Safety
    /// The array is no longer in use.
    unsafe fn destroy_array(&self, device: i32, array: ArrayHandle) -> Result<()>;
    /// Copies elements between a part of a CUDA array and device memory with contiguous rows.
    ///
    /// # Safety
    /// The array has the given shape; the part lies in the array; the memory is as large as the part and stays valid
    /// until the stream has completed the copy.
    unsafe fn copy_array(
        &self,
        device: i32,
        array: (ArrayHandle, &ArrayShape),
        part: &ArrayBox,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> Result<()>;
    /// Creates a texture and returns its handle for kernels.
    ///
    /// # Safety
    /// The memory of the resource exists as long as the texture is used.
    unsafe fn create_texture(&self, device: i32, resource: &Resource, sampling: &Sampling) -> Result<u64>;
    /// Destroys a texture.
    ///
    /// # Safety
    /// No kernel uses the texture any more.
    unsafe fn destroy_texture(&self, device: i32, texture: u64) -> Result<()>;
    /// Creates a surface of an array and returns its handle for kernels.
    ///
    /// # Safety
    /// The array has the given shape, and exists as long as the surface is used.
    unsafe fn create_surface(&self, device: i32, array: (ArrayHandle, &ArrayShape)) -> Result<u64>;
    /// Destroys a surface.
    ///
    /// # Safety
    /// No kernel uses the surface any more.
    unsafe fn destroy_surface(&self, device: i32, surface: u64) -> Result<()>;
}

/// Returns the error of a backend without textures.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!("the driver of the {backend} backend has no arrays, textures and surfaces"))
}
