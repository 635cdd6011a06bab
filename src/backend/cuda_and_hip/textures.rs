//! Creates and copies arrays, textures and surfaces through CUDA or HIP. The structures of CUDA and HIP have the same
//! layout, except the structures that describe copies.

use super::current_context::VendorContexts;
use super::driver::Driver;
use super::symbols::Raw;
use crate::error_codes::{INVALID_VALUE, SUCCESS};
use crate::{
    Address, AddressMode, ArrayBox, ArrayCopy, ArrayHandle, ArrayShape, Resource, Sampling, StreamHandle, Texel,
    Textures,
};
use pygpu_base::error::{Error, Result};

/// The structure `CUDA_ARRAY3D_DESCRIPTOR` or `HIP_ARRAY3D_DESCRIPTOR`, which contains the shape and the format of an
/// array.
#[repr(C)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: u32,
    pub channels: u32,
    pub flags: u32,
}

/// The structure `CUDA_RESOURCE_DESC` or `HIP_RESOURCE_DESC`, which describes the memory of a texture. Its union is
/// declared as an array of words.
#[repr(C)]
pub struct ResourceDescriptor {
    pub kind: u32,
    pub words: [u64; 16],
    pub flags: u32,
}

/// The structure `CUDA_TEXTURE_DESC` or `HIP_TEXTURE_DESC`, which determines how a texture is sampled.
#[repr(C)]
pub struct TextureDescriptor {
    pub address: [u32; 3],
    pub filter: u32,
    pub flags: u32,
    pub anisotropy: u32,
    pub mipmap_filter: u32,
    pub mipmap: [f32; 3],
    pub border: [f32; 4],
    pub reserved: [i32; 12],
}

const ARRAY: u32 = 0;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;
const READ_AS_INTEGER: u32 = 1;
const NORMALIZED: u32 = 2;

/// The CUDA array that takes part in a copy, and the position in it at which the copied part starts.
pub struct ArrayPart<'a> {
    pub array: ArrayHandle,
    pub texel: Texel,
    pub part: &'a ArrayBox,
}

/// Vendor-specific part of textures. It consists of the copies, whose structures differ between CUDA and HIP.
pub trait VendorTextures: VendorContexts {
    const COPY_ARRAY: &'static str;

    /// Implements [`Textures::copy_array`].
    ///
    /// # Safety
    /// The conditions of [`Textures::copy_array`] apply.
    unsafe fn copy_array(
        api: &Self::Api,
        part: &ArrayPart<'_>,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> u32;
}

fn words(words: &[u64]) -> [u64; 16] {
    let mut all = [0; 16];
    all[..words.len()].copy_from_slice(words);
    all
}

/// Packs two 32-bit fields into a word; the first field is at the lower address.
fn pair(first: u32, second: u32) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&first.to_ne_bytes());
    bytes[4..].copy_from_slice(&second.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

fn described(resource: &Resource) -> ResourceDescriptor {
    let texel = |texel: Texel| pair(texel.format as u32, texel.channels);
    let (kind, words) = match *resource {
        Resource::Array(array, _) => (ARRAY, words(&[array.0 as u64])),
        Resource::Linear(address, elements, bytes) => (LINEAR, words(&[address as u64, texel(elements), bytes as u64])),
        Resource::Pitched { address, texel: elements, width, height, pitch } => {
            (PITCHED, words(&[address as u64, texel(elements), width as u64, height as u64, pitch as u64]))
        }
    };
    ResourceDescriptor { kind, words, flags: 0 }
}

fn sampled(resource: &Resource, sampling: &Sampling) -> TextureDescriptor {
    let mut address = sampling.address;
    if let Resource::Array(_, ArrayShape { height: 0, .. }) = resource {
        // A missing axis gets the mode `Clamp`. The hardware treats a missing axis as an axis of length 1. With the
        // mode `Border` it would interpolate each element with the border colour.
        address[1..].fill(AddressMode::Clamp);
    }
    let mut flags = 0;
    if sampling.as_integer {
        flags |= READ_AS_INTEGER;
    }
    if sampling.normalized {
        flags |= NORMALIZED;
    }
    TextureDescriptor {
        address: address.map(|mode| mode as u32),
        filter: u32::from(sampling.linear),
        flags,
        anisotropy: 0,
        mipmap_filter: 0,
        mipmap: [0.0; 3],
        border: sampling.border,
        reserved: [0; 12],
    }
}

impl<V: VendorTextures> Driver<V> {
    #[cold]
    fn lacks(operation: &str) -> Error {
        Error::not_supported(format!(
            "{operation}: the installed {} has no such function; arrays, textures and surfaces need a newer one",
            V::LIBRARY
        ))
    }

    /// Calls a driver function that the library may lack.
    fn texture_call<F>(
        &self,
        device: i32,
        operation: &'static str,
        function: Option<F>,
        call: impl FnOnce(F) -> u32,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        let _current = self.enter(device, operation)?;
        let function = function.ok_or_else(|| Self::lacks(operation))?;
        match self.beside_captures(|| call(function)) {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, operation, Some(device), detail())),
        }
    }
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorTextures> Textures for Driver<V> {
    fn create_array(&self, device: i32, shape: &ArrayShape) -> Result<ArrayHandle> {
        let ArrayShape { width, height, depth, texel, flags } = *shape;
        let (format, channels) = (texel.format as u32, texel.channels);
        let descriptor = ArrayDescriptor { width, height, depth, format, channels, flags };
        let operation = V::NAMES.array_create;
        let current = self.enter(device, operation)?;
        let create = current.symbols.array_create.ok_or_else(|| Self::lacks(operation))?;
        let mut array = V::Array::NONE;
        // SAFETY: the out-parameter is writable, and the structure is the vendor's.
        match self.beside_captures(|| unsafe { create(&mut array, (&raw const descriptor).cast()) }) {
            SUCCESS => Ok(ArrayHandle(array.number())),
            INVALID_VALUE => Err(self.refusal(INVALID_VALUE, operation, Some(device), format!("{shape:?}"))),
            code => Err(self.allocation_refusal(code, operation, device, shape.bytes().unwrap_or(usize::MAX))),
        }
    }

    unsafe fn destroy_array(&self, device: i32, array: ArrayHandle) -> Result<()> {
        let detail = || format!("array {:#x}", array.0);
        let (name, destroy) = (V::NAMES.array_destroy, self.symbols.array_destroy);
        // SAFETY: the caller guarantees the conditions of the driver call.
        self.texture_call(device, name, destroy, |destroy| unsafe { destroy(Raw::of(array.0)) }, detail)
    }

    unsafe fn copy_array(
        &self,
        device: i32,
        (array, shape): (ArrayHandle, &ArrayShape),
        part: &ArrayBox,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> Result<()> {
        let place = ArrayPart { array, texel: shape.texel, part };
        let current = self.enter(device, V::COPY_ARRAY)?;
        // SAFETY: the caller guarantees the conditions of the driver call.
        match unsafe { V::copy_array(current.api, &place, memory, copy, stream) } {
            SUCCESS => Ok(()),
            code => {
                let detail = format!("{copy:?} of {part:?} of {shape:?}, memory {memory:#x}, stream {:#x}", stream.0);
                Err(self.refusal(code, V::COPY_ARRAY, Some(device), detail))
            }
        }
    }

    unsafe fn create_texture(&self, device: i32, resource: &Resource, sampling: &Sampling) -> Result<u64> {
        let mut texture = V::Texture::NONE;
        let (from, how) = (described(resource), sampled(resource, sampling));
        let detail = || format!("{resource:?}, {sampling:?}");
        let (name, create) = (V::NAMES.texture_create, self.symbols.texture_create);
        let (to, from, how) = (&raw mut texture, (&raw const from).cast(), (&raw const how).cast());
        let no_view = std::ptr::null();
        // SAFETY: the caller guarantees the conditions of the driver call; the target is writable, and the structures
        // have the vendor's layout.
        self.texture_call(device, name, create, |create| unsafe { create(to, from, how, no_view) }, detail)?;
        Ok(texture.number() as u64)
    }

    unsafe fn destroy_texture(&self, device: i32, texture: u64) -> Result<()> {
        let detail = || format!("texture {texture:#x}");
        let (name, destroy) = (V::NAMES.texture_destroy, self.symbols.texture_destroy);
        // SAFETY: the caller guarantees the conditions of the driver call.
        self.texture_call(device, name, destroy, |destroy| unsafe { destroy(Raw::of(texture as usize)) }, detail)
    }

    unsafe fn create_surface(&self, device: i32, (array, shape): (ArrayHandle, &ArrayShape)) -> Result<u64> {
        let mut surface = V::Surface::NONE;
        let from = described(&Resource::Array(array, *shape));
        let (name, create, detail) = (V::NAMES.surface_create, self.symbols.surface_create, || format!("{shape:?}"));
        let (to, from) = (&raw mut surface, (&raw const from).cast());
        // SAFETY: the caller guarantees the conditions of the driver call; the target is writable. The vendor's
        // structure is equal to `ResourceDescriptor`, or is a prefix of it.
        self.texture_call(device, name, create, |create| unsafe { create(to, from) }, detail)?;
        Ok(surface.number() as u64)
    }

    unsafe fn destroy_surface(&self, device: i32, surface: u64) -> Result<()> {
        let detail = || format!("surface {surface:#x}");
        let (name, destroy) = (V::NAMES.surface_destroy, self.symbols.surface_destroy);
        // SAFETY: the caller guarantees the conditions of the driver call.
        self.texture_call(device, name, destroy, |destroy| unsafe { destroy(Raw::of(surface as usize)) }, detail)
    }
}
