//! Graphs.

use super::context::Current;
use super::driver::Cuda;
use super::streams::raw as raw_stream;
use super::sys::{CUgraph, CUgraphExec, CUstreamCaptureMode};
use crate::backend::graphs::is_capture;
use crate::backend::{CaptureMode, ExecutableHandle, GraphHandle, Graphs, StreamHandle};
use crate::error::Result;

fn raw_graph(graph: GraphHandle) -> CUgraph {
    std::ptr::with_exposed_provenance_mut(graph.0)
}

fn raw_executable(executable: ExecutableHandle) -> CUgraphExec {
    std::ptr::with_exposed_provenance_mut(executable.0)
}

fn raw_mode(mode: CaptureMode) -> CUstreamCaptureMode {
    match mode {
        CaptureMode::Global => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
        CaptureMode::ThreadLocal => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CaptureMode::Relaxed => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
    }
}

fn described(stream: StreamHandle) -> String {
    format!("stream {:#x}", stream.0)
}

// The caller's promise is, each time, the driver's condition.
impl Graphs for Cuda {
    unsafe fn begin_capture(&self, device: i32, stream: StreamHandle, mode: CaptureMode) -> Result<()> {
        // SAFETY: see above.
        let begin = |on: &Current<'_>| unsafe { (on.api.cuStreamBeginCapture_v2)(raw_stream(stream), raw_mode(mode)) };
        self.call(device, "cuStreamBeginCapture", begin, || described(stream))
    }

    unsafe fn end_capture(&self, device: i32, stream: StreamHandle) -> Result<GraphHandle> {
        let mut graph: CUgraph = std::ptr::null_mut();
        // SAFETY: see above; the target is writable.
        let end = |on: &Current<'_>| unsafe { (on.api.cuStreamEndCapture)(raw_stream(stream), &mut graph) };
        self.call(device, "cuStreamEndCapture", end, || described(stream))?;
        Ok(GraphHandle(graph.expose_provenance()))
    }

    unsafe fn capture_of(&self, device: i32, stream: StreamHandle) -> Result<Option<u64>> {
        let (mut status, mut id) = (0u32, 0u64);
        // The status is read as a number: a newer driver may have more of them.
        // SAFETY: see above; the targets are writable and as wide as the driver's; what is not wanted is null.
        let ask = |on: &Current<'_>| unsafe {
            let (graph, dependencies, count) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
            let status = (&raw mut status).cast();
            (on.api.cuStreamGetCaptureInfo_v2)(raw_stream(stream), status, &mut id, graph, dependencies, count)
        };
        self.call(device, "cuStreamGetCaptureInfo", ask, || described(stream))?;
        Ok(is_capture(status).then_some(id))
    }

    unsafe fn instantiate(&self, device: i32, graph: GraphHandle) -> Result<ExecutableHandle> {
        let mut executable: CUgraphExec = std::ptr::null_mut();
        let make = |on: &Current<'_>| {
            // SAFETY: see above; the target is writable.
            unsafe { (on.api.cuGraphInstantiateWithFlags)(&mut executable, raw_graph(graph), 0) }
        };
        self.call(device, "cuGraphInstantiate", make, String::new)?;
        Ok(ExecutableHandle(executable.expose_provenance()))
    }

    unsafe fn node_count(&self, device: i32, graph: GraphHandle) -> Result<usize> {
        let mut count = 0;
        let ask = |on: &Current<'_>| {
            // SAFETY: see above; without a list only the number is told.
            unsafe { (on.api.cuGraphGetNodes)(raw_graph(graph), std::ptr::null_mut(), &mut count) }
        };
        self.call(device, "cuGraphGetNodes", ask, String::new)?;
        Ok(count)
    }

    unsafe fn destroy_graph(&self, device: i32, graph: GraphHandle) -> Result<()> {
        // SAFETY: see above.
        self.call(device, "cuGraphDestroy", |on| unsafe { (on.api.cuGraphDestroy)(raw_graph(graph)) }, String::new)
    }

    unsafe fn upload(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()> {
        let upload = |on: &Current<'_>| {
            // SAFETY: see above.
            unsafe { (on.api.cuGraphUpload)(raw_executable(executable), raw_stream(stream)) }
        };
        self.call(device, "cuGraphUpload", upload, || described(stream))
    }

    #[inline]
    unsafe fn launch_graph(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()> {
        let launch = |on: &Current<'_>| {
            // SAFETY: see above.
            unsafe { (on.api.cuGraphLaunch)(raw_executable(executable), raw_stream(stream)) }
        };
        self.call(device, "cuGraphLaunch", launch, || described(stream))
    }

    unsafe fn destroy_executable(&self, device: i32, executable: ExecutableHandle) -> Result<()> {
        // SAFETY: see above.
        let destroy = |on: &Current<'_>| unsafe { (on.api.cuGraphExecDestroy)(raw_executable(executable)) };
        self.call(device, "cuGraphExecDestroy", destroy, String::new)
    }
}
