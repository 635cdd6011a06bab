//! Arrays, textures and surfaces of the runtime.

use super::driver::Hip;
use super::sys::{
    Api, hipArray_t, hipExtent, hipMemcpy3DParms, hipMemcpyDeviceToDevice, hipPitchedPtr, hipPos, hipTextureObject_t,
};
use crate::vendor::textures::{ArrayDescriptor, ArrayPart, ResourceDescriptor, TextureDescriptor};
use crate::vendor::{Raw, VendorTextures};
use crate::{Address, ArrayCopy, StreamHandle};

// For all SAFETY notes in this block: the caller guarantees the conditions of the runtime call.
impl VendorTextures for Hip {
    const CREATE_ARRAY: &'static str = "hipArray3DCreate";
    const DESTROY_ARRAY: &'static str = "hipArrayDestroy";
    const COPY_ARRAY: &'static str = "hipMemcpy3DAsync";
    const CREATE_TEXTURE: &'static str = "hipTexObjectCreate";
    const DESTROY_TEXTURE: &'static str = "hipTexObjectDestroy";
    const CREATE_SURFACE: &'static str = "hipCreateSurfaceObject";
    const DESTROY_SURFACE: &'static str = "hipDestroySurfaceObject";

    unsafe fn create_array(api: &Api, array: &mut usize, descriptor: &ArrayDescriptor) -> Option<u32> {
        let mut handle: hipArray_t = Raw::NONE;
        // SAFETY: see above.
        let code = unsafe { (api.hipArray3DCreate)(&mut handle, descriptor) };
        *array = handle.number();
        Some(code)
    }

    unsafe fn destroy_array(api: &Api, array: usize) -> Option<u32> {
        // SAFETY: see above.
        Some(unsafe { (api.hipArrayDestroy)(Raw::of(array)) })
    }

    /// If an array takes part, widths and positions are in its elements.
    unsafe fn copy_array(
        api: &Api,
        place: &ArrayPart<'_>,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> Option<u32> {
        let item = place.texel.bytes();
        let [width, height, depth] = place.part.extent;
        let [x, y, z] = place.part.at;
        let (origin, at) = (hipPos { x: 0, y: 0, z: 0 }, hipPos { x: x / item, y, z });
        let none = hipPitchedPtr { ptr: std::ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };
        let plain = hipPitchedPtr { ptr: Raw::of(memory), pitch: width, xsize: width / item, ysize: height };
        let array: hipArray_t = Raw::of(place.array.0);
        let extent = hipExtent { width: width / item, height, depth };
        let kind = hipMemcpyDeviceToDevice;
        let copy = match copy {
            ArrayCopy::Write => hipMemcpy3DParms {
                srcArray: Raw::NONE,
                srcPos: origin,
                srcPtr: plain,
                dstArray: array,
                dstPos: at,
                dstPtr: none,
                extent,
                kind,
            },
            ArrayCopy::Read => hipMemcpy3DParms {
                srcArray: array,
                srcPos: at,
                srcPtr: none,
                dstArray: Raw::NONE,
                dstPos: origin,
                dstPtr: plain,
                extent,
                kind,
            },
        };
        // SAFETY: see above.
        Some(unsafe { (api.hipMemcpy3DAsync)(&copy, Raw::of(stream.0)) })
    }

    unsafe fn create_texture(
        api: &Api,
        texture: &mut u64,
        resource: &ResourceDescriptor,
        sampling: &TextureDescriptor,
    ) -> Option<u32> {
        let mut handle: hipTextureObject_t = Raw::NONE;
        // SAFETY: see above.
        let code = unsafe { (api.hipTexObjectCreate)(&mut handle, resource, sampling, std::ptr::null()) };
        *texture = handle.number() as u64;
        Some(code)
    }

    unsafe fn destroy_texture(api: &Api, texture: u64) -> Option<u32> {
        // SAFETY: see above.
        Some(unsafe { (api.hipTexObjectDestroy)(Raw::of(texture as usize)) })
    }

    /// This call's structure is a different one, which begins in the same way for an array.
    unsafe fn create_surface(api: &Api, surface: &mut u64, resource: &ResourceDescriptor) -> Option<u32> {
        let mut handle: hipTextureObject_t = Raw::NONE;
        // SAFETY: see above.
        let code = unsafe { (api.hipCreateSurfaceObject?)(&mut handle, std::ptr::from_ref(resource).cast()) };
        *surface = handle.number() as u64;
        Some(code)
    }

    unsafe fn destroy_surface(api: &Api, surface: u64) -> Option<u32> {
        // SAFETY: see above.
        Some(unsafe { (api.hipDestroySurfaceObject?)(Raw::of(surface as usize)) })
    }
}
