//! Implements graphs for the CUDA driver, as far as its functions differ from HIP's.

use super::current_context::current as context;
use super::driver::Cuda;
use super::sys::{Api, CUgraphExecUpdateResultInfo};
use crate::cuda_and_hip::graphs::{Parameters, exchange, lacks, no_parameters};
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver, Raw, VendorGraphs};
use crate::{ExecutableHandle, GraphHandle, NodeHandle, NodeKind};
use pygpu_base::error::Result;

impl VendorGraphs for Cuda {
    const UPDATE: &str = "cuGraphExecUpdate_v2";

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
            Kernel: cuGraphKernelNodeGetParams_v2, cuGraphExecKernelNodeSetParams_v2;
            Copy: cuGraphMemcpyNodeGetParams, cuGraphExecMemcpyNodeSetParams, context;
            Fill: cuGraphMemsetNodeGetParams, cuGraphExecMemsetNodeSetParams, context;
        )
    }

    unsafe fn update(api: &Api, executable: ExecutableHandle, graph: GraphHandle) -> Option<(u32, u32)> {
        let mut info = Parameters::new();
        let place: *mut CUgraphExecUpdateResultInfo = info.place();
        let update = api.cuGraphExecUpdate_v2?;
        // SAFETY: the caller guarantees that the handles of both graphs are alive; the out-parameter is as large as the
        // driver's structure.
        let code = unsafe { update(Raw::of(executable.0), Raw::of(graph.0), place) };
        // SAFETY: this reads the first field of the driver's structure. The field is read as an integer, because a
        // newer driver has more values.
        Some((code, unsafe { place.cast::<u32>().read() }))
    }
}
