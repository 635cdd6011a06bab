//! Creates arrays, textures and surfaces of AMD's runtime.

use super::driver::Hip;
use super::sys::{Api, hipArray_t, hipExtent, hipMemcpy3DParms, hipMemcpyDeviceToDevice, hipPitchedPtr, hipPos};
use crate::cuda_and_hip::textures::ArrayPart;
use crate::cuda_and_hip::{Raw, VendorTextures};
use crate::{Address, ArrayCopy, StreamHandle};

// For all SAFETY notes in this block: the caller guarantees the conditions of the runtime call.
impl VendorTextures for Hip {
    const COPY_ARRAY: &'static str = "hipMemcpy3DAsync";

    /// Copies elements between a CUDA array and memory. The runtime counts widths and positions along a row in elements
    /// if one side of the copy is a CUDA array, otherwise in bytes.
    unsafe fn copy_array(
        api: &Api,
        place: &ArrayPart<'_>,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> u32 {
        let item = place.texel.bytes();
        let [width, height, depth] = place.part.extent;
        let [x, y, z] = place.part.at;
        let null_pointer = hipPitchedPtr { ptr: std::ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };
        let pointer = hipPitchedPtr { ptr: Raw::of(memory), pitch: width, xsize: width / item, ysize: height };
        let array: (hipArray_t, _, _) = (Raw::of(place.array.0), hipPos { x: x / item, y, z }, null_pointer);
        let plain = (Raw::NONE, hipPos { x: 0, y: 0, z: 0 }, pointer);
        let (target, source) = match copy {
            ArrayCopy::Write => (array, plain),
            ArrayCopy::Read => (plain, array),
        };
        let copy = hipMemcpy3DParms {
            srcArray: source.0,
            srcPos: source.1,
            srcPtr: source.2,
            dstArray: target.0,
            dstPos: target.1,
            dstPtr: target.2,
            extent: hipExtent { width: width / item, height, depth },
            kind: hipMemcpyDeviceToDevice,
        };
        // SAFETY: the caller guarantees the conditions of the runtime call.
        unsafe { (api.hipMemcpy3DAsync)(&copy, Raw::of(stream.0)) }
    }
}
