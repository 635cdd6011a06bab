//! Arrays, textures and surfaces: the structures are equal for both vendors to the byte, the functions differ in
//! names only.

use super::context::VendorContexts;
use super::driver::Driver;
use crate::codes::{INVALID_VALUE, SUCCESS};
use crate::{
    Address, AddressMode, ArrayBox, ArrayCopy, ArrayHandle, ArrayShape, Resource, Sampling, StreamHandle, Texel,
    Textures,
};
use pygpu_base::error::{Error, Result};

/// `CUDA_ARRAY3D_DESCRIPTOR`, `HIP_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: u32,
    pub channels: u32,
    pub flags: u32,
}

/// `CUDA_RESOURCE_DESC`, `HIP_RESOURCE_DESC`, with the union declared as words.
#[repr(C)]
pub struct ResourceDescriptor {
    pub kind: u32,
    pub words: [u64; 16],
    pub flags: u32,
}

/// `CUDA_TEXTURE_DESC`, `HIP_TEXTURE_DESC`.
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

/// Array of a copy, and the start of the copied part.
pub struct ArrayPart<'a> {
    pub array: ArrayHandle,
    pub texel: Texel,
    pub part: &'a ArrayBox,
}

/// Texture functions, and their names in messages. `None` means that the library lacks a function.
pub trait VendorTextures: VendorContexts {
    const CREATE_ARRAY: &'static str;
    const DESTROY_ARRAY: &'static str;
    const COPY_ARRAY: &'static str;
    const CREATE_TEXTURE: &'static str;
    const DESTROY_TEXTURE: &'static str;
    const CREATE_SURFACE: &'static str;
    const DESTROY_SURFACE: &'static str;

    /// Creates an array.
    ///
    /// # Safety
    /// The structure is the vendor's.
    unsafe fn create_array(api: &Self::Api, array: &mut usize, descriptor: &ArrayDescriptor) -> Option<u32>;
    /// Destroys an array.
    ///
    /// # Safety
    /// The handle is alive and not used again.
    unsafe fn destroy_array(api: &Self::Api, array: usize) -> Option<u32>;
    /// Implements [`Textures::copy_array`].
    ///
    /// # Safety
    /// As for [`Textures::copy_array`].
    unsafe fn copy_array(
        api: &Self::Api,
        part: &ArrayPart<'_>,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> Option<u32>;
    /// Creates a texture.
    ///
    /// # Safety
    /// All objects in the structures are alive.
    unsafe fn create_texture(
        api: &Self::Api,
        texture: &mut u64,
        resource: &ResourceDescriptor,
        sampling: &TextureDescriptor,
    ) -> Option<u32>;
    /// Destroys a texture.
    ///
    /// # Safety
    /// The handle is alive and not used again.
    unsafe fn destroy_texture(api: &Self::Api, texture: u64) -> Option<u32>;
    /// Creates a surface.
    ///
    /// # Safety
    /// All objects in the structure are alive.
    unsafe fn create_surface(api: &Self::Api, surface: &mut u64, resource: &ResourceDescriptor) -> Option<u32>;
    /// Destroys a surface.
    ///
    /// # Safety
    /// The handle is alive and not used again.
    unsafe fn destroy_surface(api: &Self::Api, surface: u64) -> Option<u32>;
}

fn words(words: &[u64]) -> [u64; 16] {
    let mut all = [0; 16];
    all[..words.len()].copy_from_slice(words);
    all
}

/// Packs two 32-bit fields, the first at the lower address.
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
        // The hardware treats a missing axis as one row and would interpolate half of each element with the border.
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

    fn texture_call(
        &self,
        device: i32,
        operation: &'static str,
        call: impl FnOnce(&V::Api) -> Option<u32>,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        let current = self.enter(device, operation)?;
        match self.beside_captures(|| call(current.api)) {
            Some(SUCCESS) => Ok(()),
            Some(code) => Err(self.refusal(code, operation, Some(device), detail())),
            None => Err(Self::lacks(operation)),
        }
    }
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorTextures> Textures for Driver<V> {
    fn create_array(&self, device: i32, shape: &ArrayShape) -> Result<ArrayHandle> {
        let ArrayShape { width, height, depth, texel, flags } = *shape;
        let (format, channels) = (texel.format as u32, texel.channels);
        let descriptor = ArrayDescriptor { width, height, depth, format, channels, flags };
        let current = self.enter(device, V::CREATE_ARRAY)?;
        let mut array = 0;
        // SAFETY: the out-parameter is writable, and the structure is the vendor's.
        match self.beside_captures(|| unsafe { V::create_array(current.api, &mut array, &descriptor) }) {
            Some(SUCCESS) => Ok(ArrayHandle(array)),
            Some(INVALID_VALUE) => {
                Err(self.refusal(INVALID_VALUE, V::CREATE_ARRAY, Some(device), format!("{shape:?}")))
            }
            Some(code) => {
                Err(self.allocation_refusal(code, V::CREATE_ARRAY, device, shape.bytes().unwrap_or(usize::MAX)))
            }
            None => Err(Self::lacks(V::CREATE_ARRAY)),
        }
    }

    unsafe fn destroy_array(&self, device: i32, array: ArrayHandle) -> Result<()> {
        // SAFETY: see above.
        let destroy = |api: &V::Api| unsafe { V::destroy_array(api, array.0) };
        self.texture_call(device, V::DESTROY_ARRAY, destroy, || format!("array {:#x}", array.0))
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
        // SAFETY: see above.
        match unsafe { V::copy_array(current.api, &place, memory, copy, stream) } {
            Some(SUCCESS) => Ok(()),
            Some(code) => {
                let detail = format!("{copy:?} of {part:?} of {shape:?}, memory {memory:#x}, stream {:#x}", stream.0);
                Err(self.refusal(code, V::COPY_ARRAY, Some(device), detail))
            }
            None => Err(Self::lacks(V::COPY_ARRAY)),
        }
    }

    unsafe fn create_texture(&self, device: i32, resource: &Resource, sampling: &Sampling) -> Result<u64> {
        let mut texture = 0;
        let (from, how) = (described(resource), sampled(resource, sampling));
        // SAFETY: see above; the out-parameter is writable.
        let create = |api: &V::Api| unsafe { V::create_texture(api, &mut texture, &from, &how) };
        self.texture_call(device, V::CREATE_TEXTURE, create, || format!("{resource:?}, {sampling:?}"))?;
        Ok(texture)
    }

    unsafe fn destroy_texture(&self, device: i32, texture: u64) -> Result<()> {
        // SAFETY: see above.
        let destroy = |api: &V::Api| unsafe { V::destroy_texture(api, texture) };
        self.texture_call(device, V::DESTROY_TEXTURE, destroy, || format!("texture {texture:#x}"))
    }

    unsafe fn create_surface(&self, device: i32, (array, shape): (ArrayHandle, &ArrayShape)) -> Result<u64> {
        let mut surface = 0;
        let from = described(&Resource::Array(array, *shape));
        // SAFETY: see above; the out-parameter is writable.
        let create = |api: &V::Api| unsafe { V::create_surface(api, &mut surface, &from) };
        self.texture_call(device, V::CREATE_SURFACE, create, || format!("{shape:?}"))?;
        Ok(surface)
    }

    unsafe fn destroy_surface(&self, device: i32, surface: u64) -> Result<()> {
        // SAFETY: see above.
        let destroy = |api: &V::Api| unsafe { V::destroy_surface(api, surface) };
        self.texture_call(device, V::DESTROY_SURFACE, destroy, || format!("surface {surface:#x}"))
    }
}
