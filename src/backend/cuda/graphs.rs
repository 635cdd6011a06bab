//! Graphs.

use super::conditions;
use super::context::current as context;
use super::driver::Cuda;
use super::sys::{Api, CUgraphExecUpdateResultInfo, CUstreamCaptureMode as Mode};
use crate::vendor::graphs::{Parameters, exchange, lacks, no_parameters};
use crate::vendor::{Current, Driver, Raw, VendorGraphs};
use crate::{
    Branching, CaptureMode, ConditionHandle, ExecutableHandle, GraphHandle, NodeHandle, NodeKind, StreamHandle,
};
use pygpu_base::error::Result;

impl VendorGraphs for Cuda {
    const UPDATE: &str = "cuGraphExecUpdate_v2";

    fn mode_of(mode: CaptureMode) -> Mode {
        match mode {
            CaptureMode::Global => Mode::CU_STREAM_CAPTURE_MODE_GLOBAL,
            CaptureMode::ThreadLocal => Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            CaptureMode::Relaxed => Mode::CU_STREAM_CAPTURE_MODE_RELAXED,
        }
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
            Kernel: cuGraphKernelNodeGetParams_v2, cuGraphExecKernelNodeSetParams_v2;
            Copy: cuGraphMemcpyNodeGetParams, cuGraphExecMemcpyNodeSetParams, context;
            Fill: cuGraphMemsetNodeGetParams, cuGraphExecMemsetNodeSetParams, context;
        )
    }

    unsafe fn create_condition(
        driver: &Driver<Self>,
        device: i32,
        stream: StreamHandle,
        default: Option<u32>,
    ) -> Result<ConditionHandle> {
        // SAFETY: the caller's promise is the same.
        unsafe { conditions::create(driver, device, stream, default) }
    }

    unsafe fn put_conditional(
        driver: &Driver<Self>,
        device: i32,
        stream: StreamHandle,
        condition: ConditionHandle,
        branching: Branching,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        // SAFETY: the caller's promise is the same.
        unsafe { conditions::put(driver, device, stream, condition, branching, bodies) }
    }

    unsafe fn begin_body(
        driver: &Driver<Self>,
        device: i32,
        stream: StreamHandle,
        body: GraphHandle,
        mode: CaptureMode,
    ) -> Result<()> {
        // SAFETY: the caller's promise is the same.
        unsafe { conditions::begin(driver, device, stream, body, Self::mode_of(mode)) }
    }

    unsafe fn update(api: &Api, executable: ExecutableHandle, graph: GraphHandle) -> Option<(u32, u32)> {
        let mut info = Parameters::new();
        let place: *mut CUgraphExecUpdateResultInfo = info.place();
        let update = api.cuGraphExecUpdate_v2?;
        // SAFETY: both are alive as the caller promises; the target has room.
        let code = unsafe { update(Raw::of(executable.0), Raw::of(graph.0), place) };
        // SAFETY: the first field of what the driver wrote, read as a number: a newer driver has more reasons.
        Some((code, unsafe { place.cast::<u32>().read() }))
    }
}
