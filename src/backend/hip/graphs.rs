//! Implements those graph functions of AMD's runtime that differ from CUDA's.

use super::driver::Hip;
use super::sys::{Api, hipStreamCaptureMode};
use crate::cuda_and_hip::graphs::{Parameters, VendorConditions, exchange, lacks, no_parameters};
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver, Raw, VendorGraphs};
use crate::{CaptureMode, ExecutableHandle, GraphHandle, NodeHandle, NodeKind};
use pygpu_base::error::Result;

impl VendorConditions for Hip {
    fn mode_of(mode: CaptureMode) -> hipStreamCaptureMode {
        mode as u32
    }
}

impl VendorGraphs for Hip {
    const UPDATE: &str = "hipGraphExecUpdate";

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

    unsafe fn update(api: &Api, executable: ExecutableHandle, graph: GraphHandle) -> Option<(u32, u32)> {
        let (mut node, mut reason) = (Raw::NONE, 0);
        let update = api.hipGraphExecUpdate?;
        // SAFETY: the caller guarantees that the handles of both graphs are alive; the out-parameters are writable.
        let code = unsafe { update(Raw::of(executable.0), Raw::of(graph.0), &mut node, &mut reason) };
        Some((code, reason))
    }
}
