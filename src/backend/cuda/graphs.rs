//! Graphs.

use std::cell::Cell;

use super::conditions;
use super::context::current as context;
use super::driver::Cuda;
use super::sys::{CUgraphExecUpdateResultInfo, CUstreamCaptureMode as Mode};
use crate::graphs::update_reason;
use crate::vendor::graphs::{Parameters, exchange, lacks, no_parameters};
use crate::vendor::{Current, Driver, Raw, VendorGraphs};
use crate::{
    Branching, CaptureMode, ConditionHandle, ExecutableHandle, GraphHandle, NodeHandle, NodeKind, StreamHandle,
};
use pygpu_base::error::Result;

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
            // SAFETY: the caller guarantees the driver's conditions.
            |on| unsafe { (on.api.cuGraphUpload)(Raw::of(executable.0), Raw::of(stream.0)) },
            || format!("stream {:#x}", stream.0),
        )
    }

    unsafe fn kind_of_node(driver: &Driver<Self>, device: i32, node: NodeHandle) -> Result<u32> {
        let name = "cuGraphNodeGetType";
        let ask = driver.api.cuGraphNodeGetType.ok_or_else(|| lacks(name))?;
        // An integer, because a newer driver has more kinds.
        let mut kind = 0u32;
        // SAFETY: the node is alive; the out-parameter is as wide as the driver's type.
        driver.call(device, name, |_| unsafe { ask(Raw::of(node.0), (&raw mut kind).cast()) }, String::new)?;
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
        // SAFETY: the caller guarantees the conditions of the called function.
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
        // SAFETY: the caller guarantees the conditions of the called function.
        unsafe { conditions::put(driver, device, stream, condition, branching, bodies) }
    }

    unsafe fn begin_body(
        driver: &Driver<Self>,
        device: i32,
        stream: StreamHandle,
        body: GraphHandle,
        mode: CaptureMode,
    ) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of the called function.
        unsafe { conditions::begin(driver, device, stream, body, Self::mode_of(mode)) }
    }

    unsafe fn update(
        driver: &Driver<Self>,
        device: i32,
        executable: ExecutableHandle,
        graph: GraphHandle,
    ) -> Result<()> {
        let name = "cuGraphExecUpdate_v2";
        let update = driver.api.cuGraphExecUpdate_v2.ok_or_else(|| lacks(name))?;
        let reason = Cell::new(0);
        let call = |_: &Current<'_, Self>| {
            let mut info = Parameters::new();
            let place: *mut CUgraphExecUpdateResultInfo = info.place();
            // SAFETY: the caller guarantees that both are alive; the out-parameter is large enough.
            let code = unsafe { update(Raw::of(executable.0), Raw::of(graph.0), place) };
            // SAFETY: the first field of the driver's structure, read as an integer because a newer driver has more
            // reasons.
            reason.set(unsafe { place.cast::<u32>().read() });
            code
        };
        driver.call(device, name, call, || update_reason(reason.get()).to_owned())
    }
}
