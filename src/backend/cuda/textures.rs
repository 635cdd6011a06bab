//! Implements arrays, textures and surfaces for the CUDA driver.

use super::copies::{Side, cuboid};
use super::driver::Cuda;
use super::sys::{Api, CUmemorytype};
use crate::cuda_and_hip::textures::ArrayPart;
use crate::cuda_and_hip::{Raw, VendorTextures};
use crate::{Address, ArrayCopy, Extent, StreamHandle};

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl VendorTextures for Cuda {
    const COPY_ARRAY: &'static str = "cuMemcpy3DAsync";

    unsafe fn copy_array(
        api: &Api,
        place: &ArrayPart<'_>,
        memory: Address,
        copy: ArrayCopy,
        stream: StreamHandle,
    ) -> u32 {
        let [width, height, depth] = place.part.extent;
        let of_array = CUmemorytype::CU_MEMORYTYPE_ARRAY;
        let array =
            Side { kind: of_array, at: place.part.at, address: 0, array: Raw::of(place.array.0), pitch: width, height };
        let plain = Side {
            kind: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            at: [0; 3],
            address: memory,
            array: Raw::NONE,
            pitch: width,
            height,
        };
        let (target, source) = match copy {
            ArrayCopy::Write => (array, plain),
            ArrayCopy::Read => (plain, array),
        };
        let copy = cuboid(&target, &source, Extent { width, height, depth });
        // SAFETY: the caller guarantees the conditions of the driver call.
        unsafe { (api.cuMemcpy3DAsync_v2)(&copy, Raw::of(stream.0)) }
    }
}
