//! Graphs.

use super::driver::Hip;
use super::sys::hipStreamCaptureMode;
use crate::backend::vendor::{Driver, Raw, VendorGraphs};
use crate::backend::{CaptureMode, ExecutableHandle, StreamHandle};
use crate::error::Result;

impl VendorGraphs for Hip {
    fn mode_of(mode: CaptureMode) -> hipStreamCaptureMode {
        mode as u32
    }

    unsafe fn upload(
        driver: &Driver<Self>,
        device: i32,
        executable: ExecutableHandle,
        stream: StreamHandle,
    ) -> Result<()> {
        // Without it the first launch does the same.
        let Some(upload) = driver.api.hipGraphUpload else { return Ok(()) };
        driver.call(
            device,
            "hipGraphUpload",
            // SAFETY: the caller's promise is the runtime's condition.
            |_| unsafe { upload(Raw::of(executable.0), Raw::of(stream.0)) },
            || format!("stream {:#x}", stream.0),
        )
    }
}
