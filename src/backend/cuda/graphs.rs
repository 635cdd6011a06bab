//! Graphs.

use super::driver::Cuda;
use super::sys::CUstreamCaptureMode as Mode;
use crate::backend::vendor::{Driver, Raw, VendorGraphs};
use crate::backend::{CaptureMode, ExecutableHandle, StreamHandle};
use crate::error::Result;

impl VendorGraphs for Cuda {
    fn mode_of(mode: CaptureMode) -> Mode {
        match mode {
            CaptureMode::Global => Mode::CU_STREAM_CAPTURE_MODE_GLOBAL,
            CaptureMode::ThreadLocal => Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            CaptureMode::Relaxed => Mode::CU_STREAM_CAPTURE_MODE_RELAXED,
        }
    }

    unsafe fn upload(
        driver: &Driver<Self>,
        device: i32,
        executable: ExecutableHandle,
        stream: StreamHandle,
    ) -> Result<()> {
        driver.call(
            device,
            "cuGraphUpload",
            // SAFETY: the caller's promise is the driver's condition.
            |on| unsafe { (on.api.cuGraphUpload)(Raw::of(executable.0), Raw::of(stream.0)) },
            || format!("stream {:#x}", stream.0),
        )
    }
}
