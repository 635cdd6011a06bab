//! Arrays whose layout only the driver knows, and the objects through which kernels read them (textures) and write them
//! (surfaces).

use super::{Address, StreamHandle};
use pygpu_base::error::{Error, Result};

/// An array of the driver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ArrayHandle(pub usize);

/// What the elements of an array or a texture are, by the numbers that CUDA and HIP have for them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum TexelFormat {
    /// 8 bits without a sign.
    UInt8 = 1,
    /// 16 bits without a sign.
    UInt16 = 2,
    /// 32 bits without a sign.
    UInt32 = 3,
    /// 8 bits.
    Int8 = 8,
    /// 16 bits.
    Int16 = 9,
    /// 32 bits.
    Int32 = 10,
    /// A float of 16 bits.
    Float16 = 16,
    /// A float of 32 bits.
    Float32 = 32,
}

impl TexelFormat {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::UInt8, Self::UInt16, Self::UInt32, Self::Int8, Self::Int16, Self::Int32, Self::Float16, Self::Float32];

    /// Bytes of one channel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::UInt8 | Self::Int8 => 1,
            Self::UInt16 | Self::Int16 | Self::Float16 => 2,
            Self::UInt32 | Self::Int32 | Self::Float32 => 4,
        }
    }

    /// Whether the values are integers.
    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::Float16 | Self::Float32)
    }
}

/// Elements of one to four channels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Texel {
    /// What each channel is.
    pub format: TexelFormat,
    /// 1, 2 or 4.
    pub channels: u32,
}

impl Texel {
    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        self.format.bytes() * self.channels as usize
    }
}

/// The shape of an array of the driver. A `height` or a `depth` of 0 is an axis that is not there; the layers of a layered array
/// are its `depth`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ArrayShape {
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Planes, or layers.
    pub depth: usize,
    /// The elements.
    pub texel: Texel,
    /// 1: layered, 2: kernels may write it, and what else the driver has.
    pub flags: u32,
}

/// The flag of arrays in layers.
pub const LAYERED: u32 = 1;
/// The flag of arrays that kernels may write.
pub const SURFACE: u32 = 2;

impl ArrayShape {
    /// Whether there are layers in place of planes.
    pub const fn is_layered(&self) -> bool {
        self.flags & LAYERED != 0
    }

    /// Bytes of the elements; `None` where no memory has as many.
    pub fn bytes(&self) -> Option<usize> {
        let row = self.width.checked_mul(self.texel.bytes())?;
        row.checked_mul(self.height.max(1))?.checked_mul(self.depth.max(1))
    }
}

/// A part of an array: the first byte of its rows, its first row and plane; bytes, rows and planes that it has. None of these is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrayBox {
    /// Bytes before it in a row, rows before it, planes before it.
    pub at: [usize; 3],
    /// Bytes of a row, rows, planes.
    pub extent: [usize; 3],
}

/// Which way a copy goes between an array and plain memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayCopy {
    /// Into the array.
    Write,
    /// Out of it.
    Read,
}

/// What a texture reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// An array of the driver, and its shape.
    Array(ArrayHandle, ArrayShape),
    /// Elements that follow each other in memory.
    Linear(Address, Texel, usize),
    /// Rows of `width` elements, so many bytes apart.
    Pitched {
        /// The first element.
        address: Address,
        /// The elements.
        texel: Texel,
        /// Elements of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Bytes from row to row.
        pitch: usize,
    },
}

/// What a texture gives beyond its edge, by the numbers of CUDA and HIP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum AddressMode {
    /// The other side again; with normalised coordinates only.
    Wrap = 0,
    /// The last element.
    #[default]
    Clamp = 1,
    /// Back again; with normalised coordinates only.
    Mirror = 2,
    /// The colour of the border.
    Border = 3,
}

/// How a texture reads.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sampling {
    /// Along x, y, z.
    pub address: [AddressMode; 3],
    /// Whether it computes between elements.
    pub linear: bool,
    /// Whether integers stay integers, and do not become floats of 0 or -1 to 1.
    pub as_integer: bool,
    /// Whether coordinates go from 0 to 1.
    pub normalized: bool,
    /// What [`AddressMode::Border`] gives.
    pub border: [f32; 4],
}

/// What a driver can do with arrays, textures and surfaces.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): who passes a handle promises that it belongs to the device and is alive.
pub trait Textures: Send + Sync {
    /// Makes an array, of whose elements nothing is known.
    ///
    /// # Errors
    /// The driver's: `OutOfMemory` too.
    fn create_array(&self, device: i32, shape: &ArrayShape) -> Result<ArrayHandle>;
    /// Ends an array.
    ///
    /// # Safety
    /// Nothing uses it any more.
    unsafe fn destroy_array(&self, device: i32, array: ArrayHandle) -> Result<()>;
    /// Copies between a part of an array and memory of the device in which its rows follow each other.
    ///
    /// # Safety
    /// The array has the shape; the part lies in it; the memory has as many bytes, until the stream has passed the copy.
    unsafe fn copy_array(
        &self,
        device: i32,
        array: (ArrayHandle, &ArrayShape),
        part: &ArrayBox,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> Result<()>;
    /// Makes a texture: the number that a kernel takes.
    ///
    /// # Safety
    /// What it reads is there as long as the texture is used.
    unsafe fn create_texture(&self, device: i32, resource: &Resource, sampling: &Sampling) -> Result<u64>;
    /// Ends a texture.
    ///
    /// # Safety
    /// No kernel uses it any more.
    unsafe fn destroy_texture(&self, device: i32, texture: u64) -> Result<()>;
    /// Makes a surface of an array: the number that a kernel takes.
    ///
    /// # Safety
    /// The array has the shape, and is there as long as the surface is used.
    unsafe fn create_surface(&self, device: i32, array: (ArrayHandle, &ArrayShape)) -> Result<u64>;
    /// Ends a surface.
    ///
    /// # Safety
    /// No kernel uses it any more.
    unsafe fn destroy_surface(&self, device: i32, surface: u64) -> Result<()>;
}

/// What a backend answers that has none.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!("the driver of the {backend} backend has no arrays, textures and surfaces"))
}
