//! Arrays, textures and surfaces of the driver.

use std::ffi::c_void;

use super::driver::Cuda;
use super::sys::{Api, CUDA_MEMCPY3D, CUarray, CUdeviceptr, CUmemorytype};
use crate::vendor::textures::{ArrayDescriptor, ArrayPart, ResourceDescriptor, TextureDescriptor};
use crate::vendor::{Raw, VendorTextures};
use crate::{Address, ArrayCopy, StreamHandle};

/// One endpoint of a copy.
struct Side {
    kind: CUmemorytype,
    at: [usize; 3],
    device: CUdeviceptr,
    array: CUarray,
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl VendorTextures for Cuda {
    const CREATE_ARRAY: &'static str = "cuArray3DCreate";
    const DESTROY_ARRAY: &'static str = "cuArrayDestroy";
    const COPY_ARRAY: &'static str = "cuMemcpy3DAsync";
    const CREATE_TEXTURE: &'static str = "cuTexObjectCreate";
    const DESTROY_TEXTURE: &'static str = "cuTexObjectDestroy";
    const CREATE_SURFACE: &'static str = "cuSurfObjectCreate";
    const DESTROY_SURFACE: &'static str = "cuSurfObjectDestroy";

    unsafe fn create_array(api: &Api, array: &mut usize, descriptor: &ArrayDescriptor) -> Option<u32> {
        let mut handle = Raw::NONE;
        // SAFETY: see above; the structures are the same.
        let code = unsafe { (api.cuArray3DCreate_v2?)(&mut handle, std::ptr::from_ref(descriptor).cast()) };
        *array = handle.number();
        Some(code)
    }

    unsafe fn destroy_array(api: &Api, array: usize) -> Option<u32> {
        // SAFETY: see above.
        Some(unsafe { (api.cuArrayDestroy?)(Raw::of(array)) })
    }

    unsafe fn copy_array(
        api: &Api,
        place: &ArrayPart<'_>,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> Option<u32> {
        let [width, height, depth] = place.part.extent;
        let array = Side {
            kind: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            at: place.part.at,
            device: 0,
            array: Raw::of(place.array.0),
        };
        let plain = Side {
            kind: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            at: [0; 3],
            device: memory as CUdeviceptr,
            array: Raw::NONE,
        };
        let (target, source) = match copy {
            ArrayCopy::Write => (array, plain),
            ArrayCopy::Read => (plain, array),
        };
        let none: *mut c_void = std::ptr::null_mut();
        let copy = CUDA_MEMCPY3D {
            srcXInBytes: source.at[0],
            srcY: source.at[1],
            srcZ: source.at[2],
            srcLOD: 0,
            srcMemoryType: source.kind,
            srcHost: none,
            srcDevice: source.device,
            srcArray: source.array,
            reserved0: none,
            srcPitch: width,
            srcHeight: height,
            dstXInBytes: target.at[0],
            dstY: target.at[1],
            dstZ: target.at[2],
            dstLOD: 0,
            dstMemoryType: target.kind,
            dstHost: none,
            dstDevice: target.device,
            dstArray: target.array,
            reserved1: none,
            dstPitch: width,
            dstHeight: height,
            WidthInBytes: width,
            Height: height,
            Depth: depth,
        };
        // SAFETY: see above.
        Some(unsafe { (api.cuMemcpy3DAsync_v2)(&copy, Raw::of(stream.0)) })
    }

    unsafe fn create_texture(
        api: &Api,
        texture: &mut u64,
        resource: &ResourceDescriptor,
        sampling: &TextureDescriptor,
    ) -> Option<u32> {
        let (from, how) = (std::ptr::from_ref(resource).cast(), std::ptr::from_ref(sampling).cast());
        // SAFETY: see above; the structures are the same.
        Some(unsafe { (api.cuTexObjectCreate?)(texture, from, how, std::ptr::null()) })
    }

    unsafe fn destroy_texture(api: &Api, texture: u64) -> Option<u32> {
        // SAFETY: see above.
        Some(unsafe { (api.cuTexObjectDestroy?)(texture) })
    }

    unsafe fn create_surface(api: &Api, surface: &mut u64, resource: &ResourceDescriptor) -> Option<u32> {
        // SAFETY: see above; the structures are the same.
        Some(unsafe { (api.cuSurfObjectCreate?)(surface, std::ptr::from_ref(resource).cast()) })
    }

    unsafe fn destroy_surface(api: &Api, surface: u64) -> Option<u32> {
        // SAFETY: see above.
        Some(unsafe { (api.cuSurfObjectDestroy?)(surface) })
    }
}
