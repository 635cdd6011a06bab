//! Graphs.

use std::cell::Cell;

use super::driver::Hip;
use super::sys::hipStreamCaptureMode;
use crate::graphs::update_reason;
use crate::vendor::graphs::{Parameters, exchange, lacks, no_parameters};
use crate::vendor::{Current, Driver, Raw, VendorGraphs};
use crate::{CaptureMode, ExecutableHandle, GraphHandle, NodeHandle, NodeKind, StreamHandle};
use pygpu_base::error::Result;

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
        // If it is missing, the first launch does the same.
        let Some(upload) = driver.api.hipGraphUpload else { return Ok(()) };
        driver.call(
            device,
            "hipGraphUpload",
            // SAFETY: the caller guarantees the runtime's conditions.
            |_| unsafe { upload(Raw::of(executable.0), Raw::of(stream.0)) },
            || format!("stream {:#x}", stream.0),
        )
    }

    unsafe fn kind_of_node(driver: &Driver<Self>, device: i32, node: NodeHandle) -> Result<u32> {
        let name = "hipGraphNodeGetType";
        let ask = driver.api.hipGraphNodeGetType.ok_or_else(|| lacks(name))?;
        let mut kind = 0u32;
        // SAFETY: the node is alive, the out-parameter writable.
        driver.call(device, name, |_| unsafe { ask(Raw::of(node.0), &mut kind) }, String::new)?;
        Ok(kind)
    }

    unsafe fn set_node(
        driver: &Driver<Self>,
        device: i32,
        executable: ExecutableHandle,
        kind: NodeKind,
        to: NodeHandle,
        from: NodeHandle,
    ) -> Result<()> {
        exchange!(
            driver, device, kind, executable, to, from,
            Kernel: hipGraphKernelNodeGetParams, hipGraphExecKernelNodeSetParams;
            Copy: hipGraphMemcpyNodeGetParams, hipGraphExecMemcpyNodeSetParams;
            Fill: hipGraphMemsetNodeGetParams, hipGraphExecMemsetNodeSetParams;
        )
    }

    unsafe fn update(
        driver: &Driver<Self>,
        device: i32,
        executable: ExecutableHandle,
        graph: GraphHandle,
    ) -> Result<()> {
        let name = "hipGraphExecUpdate";
        let update = driver.api.hipGraphExecUpdate.ok_or_else(|| lacks(name))?;
        let reason = Cell::new(0);
        let call = |_: &Current<'_, Self>| {
            let mut node = Raw::NONE;
            // SAFETY: the caller guarantees that both are alive; the out-parameters are writable.
            unsafe { update(Raw::of(executable.0), Raw::of(graph.0), &mut node, reason.as_ptr()) }
        };
        driver.call(device, name, call, || update_reason(reason.get()).to_owned())
    }
}
