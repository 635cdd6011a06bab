//! Implements streams for the CUDA driver.

use super::driver::Cuda;
use super::sys::CUcontext;
use crate::StreamHandle;
use crate::cuda_and_hip::{Driver, Raw, VendorStreams};
use pygpu_base::error::Result;

impl VendorStreams for Cuda {
    unsafe fn device_by_context(driver: &Driver<Self>, stream: StreamHandle) -> Result<Option<i32>> {
        let Some(get_context) = driver.api.cuStreamGetCtx else { return Ok(None) };
        let mut context: CUcontext = std::ptr::null_mut();
        // SAFETY: the out-parameter is writable, and the caller guarantees that the stream is alive.
        let ask = |_: &Driver<Self>| unsafe { get_context(Raw::of(stream.0), &mut context) };
        driver.call_anywhere("cuStreamGetCtx", ask, || format!("stream {:#x}", stream.0))?;
        match driver.owner(context) {
            Some(device) => Ok(Some(device)),
            None => driver.device_of_other(context).map(Some),
        }
    }
}
