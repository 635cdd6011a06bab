//! Implements arrays, textures and surfaces for the CPU backend. An array is plain memory. A kernel receives the
//! address of an image description, which contains the array's address and shape, and the sampling modes.

use super::driver::{Cpu, check_device};
use super::error_codes::{self, refuse};
use super::heap;
use crate::{Address, ArrayBox, ArrayCopy, ArrayHandle, ArrayShape, Resource, Sampling, StreamHandle, Textures};
use pygpu_base::error::Result;
use pygpu_cpu_engine::TextureImage;

/// Holds the memory of a CUDA array.
struct HostArray {
    address: Address,
    bytes: usize,
}

/// Maximum length of an axis. As in a GPU driver, coordinates have 32 bits.
const MOST: usize = 1 << 30;

/// Returns the address of an array's memory.
///
/// # Safety
/// The handle came from `create_array` and was not destroyed.
unsafe fn memory_of(array: ArrayHandle) -> Address {
    // SAFETY: the handle is the address of a leaked box, which `destroy_array` frees. The caller guarantees that the
    // array was not destroyed.
    unsafe { (*(std::ptr::with_exposed_provenance::<HostArray>(array.0))).address }
}

/// Returns the image description for an array.
///
/// # Safety
/// The conditions of `memory_of` apply.
unsafe fn image_of(array: ArrayHandle, shape: &ArrayShape) -> TextureImage {
    // SAFETY: the caller guarantees the conditions of `memory_of`.
    let data = unsafe { memory_of(array) } as u64;
    let extent = (shape.width as u64, shape.height as u64, shape.depth as u64);
    TextureImage::of_array(data, extent, (shape.texel.format as u32, shape.texel.channels))
}

fn leak_description(image: TextureImage) -> u64 {
    Box::into_raw(Box::new(image)).expose_provenance() as u64
}

/// Frees an image description.
///
/// # Safety
/// `number` came from `leak_description` and is passed only once.
unsafe fn free_description(number: u64) {
    // SAFETY: the caller guarantees that the number is the address of a box that was leaked by `leak_description`.
    drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<TextureImage>(number as usize)) });
}

/// Copies rows between an array and contiguous memory.
///
/// # Safety
/// The conditions of [`Textures::copy_array`] apply.
unsafe fn copy(array: Address, shape: &ArrayShape, part: &ArrayBox, memory: Address, way: ArrayCopy) {
    let row_pitch = shape.width * shape.texel.bytes();
    let plane_pitch = row_pitch * shape.height.max(1);
    let ([x, y, z], [width, height, depth]) = (part.at, part.extent);
    for plane in 0..depth {
        for row in 0..height {
            let inside = heap::pointer(array + (z + plane) * plane_pitch + (y + row) * row_pitch + x);
            let outside = heap::pointer(memory + (plane * height + row) * width);
            // SAFETY: the caller guarantees that the part lies in the array and that the memory is as large as the
            // part.
            unsafe {
                match way {
                    ArrayCopy::Write => std::ptr::copy(outside, inside, width),
                    ArrayCopy::Read => std::ptr::copy(inside, outside, width),
                }
            }
        }
    }
}

impl Textures for Cpu {
    fn create_array(&self, device: i32, shape: &ArrayShape) -> Result<ArrayHandle> {
        check_device("create_array", device)?;
        let axes = [shape.width, shape.height, shape.depth];
        let bytes = shape.bytes().filter(|bytes| *bytes > 0 && axes.iter().all(|axis| *axis <= MOST));
        let Some(bytes) = bytes else {
            return Err(refuse("create_array", error_codes::INVALID_VALUE, format!("{shape:?}")));
        };
        let address = heap::allocate(bytes)
            .ok_or_else(|| refuse("create_array", error_codes::OUT_OF_MEMORY, format!("{bytes} bytes")))?;
        Ok(ArrayHandle(Box::into_raw(Box::new(HostArray { address, bytes })).expose_provenance()))
    }

    unsafe fn destroy_array(&self, device: i32, array: ArrayHandle) -> Result<()> {
        check_device("destroy_array", device)?;
        // SAFETY: the caller promises that the handle came from `create_array` and is not used again.
        unsafe {
            let array = Box::from_raw(std::ptr::with_exposed_provenance_mut::<HostArray>(array.0));
            heap::free(array.address, array.bytes);
        }
        Ok(())
    }

    unsafe fn copy_array(
        &self,
        device: i32,
        (array, shape): (ArrayHandle, &ArrayShape),
        part: &ArrayBox,
        memory: Address,
        way: ArrayCopy,
        stream: StreamHandle,
    ) -> Result<()> {
        check_device("copy_array", device)?;
        // SAFETY: the caller promises that the array is alive.
        let (array, shape, part) = (unsafe { memory_of(array) }, *shape, *part);
        self.run("copy_array", stream, move || {
            // SAFETY: the caller guarantees that the ranges are valid; during a capture, the owner of the graph keeps
            // the array and the memory alive.
            unsafe { copy(array, &shape, &part, memory, way) };
            Ok(())
        })
    }

    unsafe fn create_texture(&self, device: i32, resource: &Resource, sampling: &Sampling) -> Result<u64> {
        check_device("create_texture", device)?;
        let image = match *resource {
            // SAFETY: the caller promises that the array is alive.
            Resource::Array(array, shape) => unsafe { image_of(array, &shape) },
            Resource::Linear(address, texel, bytes) => {
                let extent = ((bytes / texel.bytes()) as u64, 0, 0);
                TextureImage::of_array(address as u64, extent, (texel.format as u32, texel.channels))
            }
            Resource::Pitched { address, texel, width, height, pitch } => TextureImage {
                row_pitch: pitch as u64,
                ..TextureImage::of_array(
                    address as u64,
                    (width as u64, height as u64, 0),
                    (texel.format as u32, texel.channels),
                )
            },
        };
        Ok(leak_description(TextureImage {
            address: sampling.address.map(|mode| mode as u32),
            linear: sampling.linear.into(),
            normalized: sampling.normalized.into(),
            as_integer: sampling.as_integer.into(),
            border: sampling.border,
            ..image
        }))
    }

    unsafe fn destroy_texture(&self, device: i32, texture: u64) -> Result<()> {
        check_device("destroy_texture", device)?;
        // SAFETY: the caller promises that the number came from `create_texture` and is not used again.
        unsafe { free_description(texture) };
        Ok(())
    }

    unsafe fn create_surface(&self, device: i32, (array, shape): (ArrayHandle, &ArrayShape)) -> Result<u64> {
        check_device("create_surface", device)?;
        // SAFETY: the caller promises that the array is alive.
        Ok(leak_description(unsafe { image_of(array, shape) }))
    }

    unsafe fn destroy_surface(&self, device: i32, surface: u64) -> Result<()> {
        check_device("destroy_surface", device)?;
        // SAFETY: the caller promises that the number came from `create_surface` and is not used again.
        unsafe { free_description(surface) };
        Ok(())
    }
}
