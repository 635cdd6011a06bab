//! Implements CUDA arrays, textures and surfaces, with the structures of both vendors.
//!
//! An array is a block of device memory that contains its elements in row-major order. A kernel receives the address of
//! an image description of the CPU engine. When a texture or surface is destroyed, its description is cleared, so that
//! a kernel that still uses it reads zeros.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::argument::In;
use crate::copy::{Memory, Side};
use crate::driver::Driver;
use crate::error_codes::{INVALID_HANDLE, INVALID_VALUE, Outcome};
use crate::kernel::engine::TextureImage;

/// Layout of `CUDA_ARRAY3D_DESCRIPTOR` and `HIP_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ArrayDescriptor {
    axes: [usize; 3],
    format: u32,
    channels: u32,
    flags: u32,
}

/// Layout of `CUDA_RESOURCE_DESC` and `HIP_RESOURCE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ResourceDescriptor {
    kind: u32,
    words: [u64; 16],
    flags: u32,
}

/// Layout of `CUDA_TEXTURE_DESC` and `HIP_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextureDescriptor {
    address: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    mipmap_filter: u32,
    mipmap: [f32; 3],
    border: [f32; 4],
    reserved: [i32; 12],
}

const SURFACE: u32 = 2;
const ADDRESS_ALIGNMENT: u64 = 512;
const PITCH_ALIGNMENT: u64 = 32;

#[derive(Clone, Copy)]
struct Array {
    image: TextureImage,
    flags: u32,
}

#[derive(Default)]
struct Tables {
    arrays: HashMap<u64, Array>,
    /// Textures and surfaces by their handle, i.e. the address of their description. The value is true for a surface.
    objects: HashMap<u64, bool>,
}

/// All arrays, and the textures and surfaces created from them.
#[derive(Default)]
pub struct Textures(Mutex<Tables>);

impl Textures {
    fn with<T>(&self, work: impl FnOnce(&mut Tables) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn item(format: u32, channels: u32) -> Outcome<u64> {
    let bytes = match format {
        1 | 8 => 1,
        2 | 9 | 16 => 2,
        3 | 10 | 32 => 4,
        _ => return Err(INVALID_VALUE),
    };
    if matches!(channels, 1 | 2 | 4) { Ok(bytes * u64::from(channels)) } else { Err(INVALID_VALUE) }
}

impl Driver {
    /// Creates an array.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn create_array(&self, device: usize, descriptor: In<ArrayDescriptor>) -> Outcome<u64> {
        let ArrayDescriptor { axes, format, channels, flags } = descriptor.get()?;
        let [width, height, depth] = axes.map(|axis| axis as u64);
        if width == 0 || (depth > 0 && height == 0 && flags & 1 == 0) || (flags & 1 != 0 && depth == 0) {
            return Err(INVALID_VALUE);
        }
        let bytes = width.checked_mul(item(format, channels)?).and_then(|row| row.checked_mul(height.max(1)));
        let bytes = bytes.and_then(|plane| plane.checked_mul(depth.max(1))).ok_or(INVALID_VALUE)?;
        let address = self.allocate(device, bytes)?;
        let image = TextureImage::of_array(address, (width, height, depth), (format, channels));
        let handle = self.lock().new_handle();
        self.textures.with(|tables| tables.arrays.insert(handle, Array { image, flags }));
        Ok(handle)
    }

    /// Destroys an array.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn destroy_array(&self, call: &'static str, array: u64) -> Outcome<()> {
        let gone = self.textures.with(|tables| tables.arrays.remove(&array)).ok_or(INVALID_HANDLE)?;
        self.free(call, gone.image.data)
    }

    fn array(&self, array: u64) -> Outcome<Array> {
        self.textures.with(|tables| tables.arrays.get(&array).copied()).ok_or(INVALID_HANDLE)
    }

    /// Returns the size of an array's element in bytes.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn array_item(&self, array: u64) -> Outcome<u64> {
        let image = self.array(array)?.image;
        item(image.format, image.channels)
    }

    /// Returns a box of an array as the endpoint of a copy. `at` is the start and `extent` the size of the box, in
    /// bytes, rows and planes.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn array_side(&self, array: u64, at: [u64; 3], extent: [u64; 3]) -> Outcome<Side> {
        let image = self.array(array)?.image;
        let lengths = [image.row_pitch, image.height.into(), image.depth.into()];
        let fits = (0..3).all(|axis| at[axis].checked_add(extent[axis]).is_some_and(|end| end <= lengths[axis]));
        if !fits {
            return Err(INVALID_VALUE);
        }
        let (row_pitch, plane_pitch) = (image.row_pitch, image.plane_pitch);
        let start = image.data + at[0] + at[1] * row_pitch + at[2] * plane_pitch;
        Ok(Side { memory: Memory::Device, start, row_pitch, plane_pitch })
    }

    /// Creates a texture object.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn create_texture(&self, resource: In<ResourceDescriptor>, sampling: In<TextureDescriptor>) -> Outcome<u64> {
        let (resource, how) = (resource.get()?, sampling.get()?);
        let words = resource.words;
        // The 64-bit word contains two 32-bit fields, the first of them in its lower half.
        let (format, channels) = (words[1] as u32, (words[1] >> 32) as u32);
        let image = match resource.kind {
            0 => self.array(words[0])?.image,
            2 | 3 => {
                let address = words[0];
                if self.known(address).is_none() || !address.is_multiple_of(ADDRESS_ALIGNMENT) {
                    return Err(INVALID_VALUE);
                }
                let item = item(format, channels)?;
                if resource.kind == 2 {
                    TextureImage::of_array(address, (words[2] / item, 0, 0), (format, channels))
                } else {
                    let (width, height, pitch) = (words[2], words[3], words[4]);
                    if !pitch.is_multiple_of(PITCH_ALIGNMENT) || pitch < width * item {
                        return Err(INVALID_VALUE);
                    }
                    let image = TextureImage::of_array(address, (width, height, 0), (format, channels));
                    TextureImage { row_pitch: pitch, ..image }
                }
            }
            _ => return Err(INVALID_VALUE),
        };
        let is_known = how.address.iter().all(|mode| *mode <= 3) && how.filter <= 1 && how.flags <= 3;
        let is_float = matches!(image.format, 16 | 32);
        let gives_floats = is_float || (how.flags & 1 == 0 && !matches!(image.format, 3 | 10));
        if !is_known || resource.flags != 0 || (how.filter == 1 && !gives_floats) {
            return Err(INVALID_VALUE);
        }
        Ok(self.given_out(
            TextureImage {
                address: how.address,
                linear: how.filter,
                as_integer: how.flags & 1,
                normalized: how.flags >> 1,
                border: how.border,
                ..image
            },
            false,
        ))
    }

    /// Creates a surface object.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn create_surface(&self, resource: In<[u64; 2]>) -> Outcome<u64> {
        let [kind, array] = resource.get()?;
        let array = self.array(array)?;
        if kind as u32 != 0 || array.flags & SURFACE == 0 {
            return Err(INVALID_VALUE);
        }
        Ok(self.given_out(array.image, true))
    }

    fn given_out(&self, image: TextureImage, is_surface: bool) -> u64 {
        let number = Box::into_raw(Box::new(image)).expose_provenance() as u64;
        self.textures.with(|tables| tables.objects.insert(number, is_surface));
        number
    }

    /// Destroys a texture or a surface. Its description is cleared but not freed.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn destroy_object(&self, object: u64, is_surface: bool) -> Outcome<()> {
        let found = self.textures.with(|tables| tables.objects.remove(&object));
        if found != Some(is_surface) {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the description was leaked when it was created, so it is valid. A kernel that reads the description
        // at the same time has undefined results with a real driver, too.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<TextureImage>(object as usize)
                .write_volatile(TextureImage::default())
        };
        Ok(())
    }
}

/// Exports the functions for arrays, textures and surfaces under a vendor's names.
#[macro_export]
macro_rules! export_textures {
    (
        $export:ident: $create_array:ident $destroy_array:ident $create_texture:ident $destroy_texture:ident
        $create_surface:ident $destroy_surface:ident
    ) => {
        use $crate::argument::{In, Out};
        use $crate::texture::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};

        $export! {
            fn $create_array(on, array: Out<u64>, descriptor: In<ArrayDescriptor>) {
                array.check()?;
                array.put(on.driver.create_array(on.device()?, descriptor)?)
            }

            fn $destroy_array(on, array: u64) {
                on.device()?;
                on.driver.destroy_array(on.name, array)
            }

            fn $create_texture(
                on,
                texture: Out<u64>,
                resource: In<ResourceDescriptor>,
                sampling: In<TextureDescriptor>,
                _view: usize,
            ) {
                on.device()?;
                texture.check()?;
                texture.put(on.driver.create_texture(resource, sampling)?)
            }

            fn $destroy_texture(on, texture: u64) {
                on.device()?;
                on.driver.destroy_object(texture, false)
            }

            fn $create_surface(on, surface: Out<u64>, resource: In<[u64; 2]>) {
                on.device()?;
                surface.check()?;
                surface.put(on.driver.create_surface(resource)?)
            }

            fn $destroy_surface(on, surface: u64) {
                on.device()?;
                on.driver.destroy_object(surface, true)
            }
        }
    };
}
