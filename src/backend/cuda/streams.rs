//! Streams.

use std::ffi::c_void;

use super::driver::Cuda;
use super::sys::CUcontext;
use crate::vendor::{Driver, Raw, VendorStreams};
use crate::{HostFunction, StreamHandle};
use pygpu_base::error::Result;

impl VendorStreams for Cuda {
    const HOST_CALL: &'static str = "cuLaunchHostFunc";

    unsafe fn host_call(
        driver: &Driver<Self>,
        stream: StreamHandle,
        function: HostFunction,
        data: *mut c_void,
    ) -> Option<u32> {
        // SAFETY: guaranteed by the caller.
        Some(unsafe { (driver.api.cuLaunchHostFunc)(Raw::of(stream.0), Some(function), data) })
    }

    unsafe fn device_of(driver: &Driver<Self>, stream: StreamHandle) -> Result<Option<i32>> {
        let described = || format!("stream {:#x}", stream.0);
        if let Some(get_device) = driver.api.cuStreamGetDevice {
            let operation = "cuStreamGetDevice";
            let mut handle = 0;
            // SAFETY: the out-parameter is writable and the stream alive.
            driver.call_anywhere(operation, |_| unsafe { get_device(Raw::of(stream.0), &mut handle) }, described)?;
            return driver.number(handle, operation).map(Some);
        }
        let Some(get_context) = driver.api.cuStreamGetCtx else { return Ok(None) };
        let mut context: CUcontext = std::ptr::null_mut();
        // SAFETY: the out-parameter is writable and the stream alive.
        let ask = |_: &Driver<Self>| unsafe { get_context(Raw::of(stream.0), &mut context) };
        driver.call_anywhere("cuStreamGetCtx", ask, described)?;
        match driver.owner(context) {
            Some(device) => Ok(Some(device)),
            None => driver.device_of_other(context).map(Some),
        }
    }
}
