//! Graphs.

use super::context::Current;
use super::driver::Hip;
use super::streams::raw as raw_stream;
use super::sys::{hipGraph_t, hipGraphExec_t};
use crate::backend::graphs::is_capture;
use crate::backend::{CaptureMode, ExecutableHandle, GraphHandle, Graphs, StreamHandle};
use crate::error::Result;

fn raw_graph(graph: GraphHandle) -> hipGraph_t {
    std::ptr::with_exposed_provenance_mut(graph.0)
}

fn raw_executable(executable: ExecutableHandle) -> hipGraphExec_t {
    std::ptr::with_exposed_provenance_mut(executable.0)
}

fn described(stream: StreamHandle) -> String {
    format!("stream {:#x}", stream.0)
}

// The caller's promise is, each time, the runtime's condition.
impl Graphs for Hip {
    unsafe fn begin_capture(&self, device: i32, stream: StreamHandle, mode: CaptureMode) -> Result<()> {
        // SAFETY: see above.
        let begin = |on: &Current<'_>| unsafe { (on.api.hipStreamBeginCapture)(raw_stream(stream), mode as u32) };
        self.call(device, "hipStreamBeginCapture", begin, || described(stream))
    }

    unsafe fn end_capture(&self, device: i32, stream: StreamHandle) -> Result<GraphHandle> {
        let mut graph: hipGraph_t = std::ptr::null_mut();
        // SAFETY: see above; the target is writable.
        let end = |on: &Current<'_>| unsafe { (on.api.hipStreamEndCapture)(raw_stream(stream), &mut graph) };
        self.call(device, "hipStreamEndCapture", end, || described(stream))?;
        Ok(GraphHandle(graph.expose_provenance()))
    }

    unsafe fn capture_of(&self, device: i32, stream: StreamHandle) -> Result<Option<u64>> {
        let (mut status, mut id) = (0u32, 0u64);
        // The status is read as a number: a newer runtime may have more of them.
        // SAFETY: see above; the targets are writable and as wide as the runtime's; what is not wanted is null.
        let ask = |on: &Current<'_>| unsafe {
            let (graph, dependencies, count) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
            let status = (&raw mut status).cast();
            (on.api.hipStreamGetCaptureInfo_v2)(raw_stream(stream), status, &mut id, graph, dependencies, count)
        };
        self.call(device, "hipStreamGetCaptureInfo_v2", ask, || described(stream))?;
        Ok(is_capture(status).then_some(id))
    }

    unsafe fn instantiate(&self, device: i32, graph: GraphHandle) -> Result<ExecutableHandle> {
        let mut executable: hipGraphExec_t = std::ptr::null_mut();
        let make = |on: &Current<'_>| {
            // SAFETY: see above; the target is writable.
            unsafe { (on.api.hipGraphInstantiateWithFlags)(&mut executable, raw_graph(graph), 0) }
        };
        self.call(device, "hipGraphInstantiateWithFlags", make, String::new)?;
        Ok(ExecutableHandle(executable.expose_provenance()))
    }

    unsafe fn node_count(&self, device: i32, graph: GraphHandle) -> Result<usize> {
        let mut count = 0;
        let ask = |on: &Current<'_>| {
            // SAFETY: see above; without a list only the number is told.
            unsafe { (on.api.hipGraphGetNodes)(raw_graph(graph), std::ptr::null_mut(), &mut count) }
        };
        self.call(device, "hipGraphGetNodes", ask, String::new)?;
        Ok(count)
    }

    unsafe fn destroy_graph(&self, device: i32, graph: GraphHandle) -> Result<()> {
        // SAFETY: see above.
        self.call(device, "hipGraphDestroy", |on| unsafe { (on.api.hipGraphDestroy)(raw_graph(graph)) }, String::new)
    }

    unsafe fn upload(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()> {
        // Without it the first launch does the same.
        let Some(upload) = self.api.hipGraphUpload else { return Ok(()) };
        // SAFETY: see above.
        let upload = |_: &Current<'_>| unsafe { upload(raw_executable(executable), raw_stream(stream)) };
        self.call(device, "hipGraphUpload", upload, || described(stream))
    }

    #[inline]
    unsafe fn launch_graph(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()> {
        let launch = |on: &Current<'_>| {
            // SAFETY: see above.
            unsafe { (on.api.hipGraphLaunch)(raw_executable(executable), raw_stream(stream)) }
        };
        self.call(device, "hipGraphLaunch", launch, || described(stream))
    }

    unsafe fn destroy_executable(&self, device: i32, executable: ExecutableHandle) -> Result<()> {
        // SAFETY: see above.
        let destroy = |on: &Current<'_>| unsafe { (on.api.hipGraphExecDestroy)(raw_executable(executable)) };
        self.call(device, "hipGraphExecDestroy", destroy, String::new)
    }
}
