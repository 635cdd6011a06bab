//! Streams.

use std::ffi::c_void;

use super::driver::Hip;
use crate::vendor::{Driver, Raw, VendorStreams};
use crate::{HostFunction, StreamHandle};
use pygpu_base::error::Result;

impl VendorStreams for Hip {
    const HOST_CALL: &'static str = "hipLaunchHostFunc";

    unsafe fn host_call(
        driver: &Driver<Self>,
        stream: StreamHandle,
        function: HostFunction,
        data: *mut c_void,
    ) -> Option<u32> {
        let call = driver.api.hipLaunchHostFunc?;
        // SAFETY: guaranteed by the caller.
        Some(unsafe { call(Raw::of(stream.0), Some(function), data) })
    }

    /// Returns `None` also if the runtime is too old to report it.
    unsafe fn device_of(driver: &Driver<Self>, stream: StreamHandle) -> Result<Option<i32>> {
        let Some(get_device) = driver.api.hipStreamGetDevice else { return Ok(None) };
        let operation = "hipStreamGetDevice";
        let mut device = 0;
        driver.call_anywhere(
            operation,
            // SAFETY: the out-parameter is writable and the stream alive.
            |_| unsafe { get_device(Raw::of(stream.0), &mut device) },
            || format!("stream {:#x}", stream.0),
        )?;
        driver.number(device, operation).map(Some)
    }
}
