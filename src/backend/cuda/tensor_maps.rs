//! Creates tensor maps: descriptors for the tensor memory accelerator, which only NVIDIA's driver supports.

use super::driver::Cuda;
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver};
use crate::{TensorMapBytes, TensorMapRequest, TensorMaps};
use pygpu_base::error::{Error, Result};

impl TensorMaps for Driver<Cuda> {
    fn encode_tensor_map(&self, device: i32, request: &TensorMapRequest) -> Result<TensorMapBytes> {
        const NAME: &str = "cuTensorMapEncodeTiled";
        let Some(encode) = self.api.cuTensorMapEncodeTiled else {
            return Err(Error::not_supported(format!(
                "{NAME}: the installed driver has no such function; tensor maps need one of CUDA 12.0 or newer"
            )));
        };
        let mut map = TensorMapBytes([0; 128]);
        let tell = |_: &CurrentDeviceGuard<'_, Cuda>| {
            // SAFETY: the out-parameter is writable, with the size and alignment of the header's type; each list has
            // one entry per axis.
            unsafe {
                encode(
                    std::ptr::from_mut(&mut map).cast(),
                    request.element as u32,
                    request.rank as u32,
                    std::ptr::with_exposed_provenance_mut(request.address),
                    request.lengths.as_ptr(),
                    request.strides[1..].as_ptr(),
                    request.extent.as_ptr(),
                    request.steps.as_ptr(),
                    request.interleave,
                    request.swizzle,
                    request.l2_promotion,
                    u32::from(request.fills_nan),
                )
            }
        };
        self.call(device, NAME, tell, || format!("{request:?}"))?;
        Ok(map)
    }
}
