//! Graphs: a capture that ended is the work of one, under two handles.

use super::host::{Cpu, check_device};
use crate::backend::{CaptureMode, ExecutableHandle, GraphHandle, Graphs, HostWork, StreamHandle};
use crate::error::Result;

impl Graphs for Cpu {
    unsafe fn begin_capture(&self, device: i32, stream: StreamHandle, _: CaptureMode) -> Result<()> {
        check_device("begin_capture", device)?;
        self.captures.begin(stream)
    }

    unsafe fn end_capture(&self, _: i32, stream: StreamHandle) -> Result<GraphHandle> {
        self.captures.end(stream)
    }

    unsafe fn capture_of(&self, _: i32, stream: StreamHandle) -> Result<Option<u64>> {
        Ok(self.captures.of(stream))
    }

    unsafe fn put_work(&self, _: i32, stream: StreamHandle, work: HostWork) -> Result<()> {
        self.run("put_work", stream, work)
    }

    // No call of the host's makes a capture invalid that another mode would allow.
    unsafe fn instantiate(&self, device: i32, graph: GraphHandle) -> Result<ExecutableHandle> {
        check_device("instantiate", device)?;
        let work = self.captures.graph("instantiate", graph.0)?;
        Ok(ExecutableHandle(self.captures.lock().enter(work)))
    }

    unsafe fn node_count(&self, _: i32, graph: GraphHandle) -> Result<usize> {
        Ok(self.captures.graph("node_count", graph.0)?.len())
    }

    unsafe fn destroy_graph(&self, _: i32, graph: GraphHandle) -> Result<()> {
        self.captures.destroy("destroy_graph", graph.0)
    }

    unsafe fn upload(&self, _: i32, executable: ExecutableHandle, _: StreamHandle) -> Result<()> {
        self.captures.graph("upload", executable.0).map(drop)
    }

    unsafe fn launch_graph(&self, _: i32, executable: ExecutableHandle, _: StreamHandle) -> Result<()> {
        // Without the lock, which the work may need.
        let work = self.captures.graph("launch_graph", executable.0)?;
        work.iter().try_for_each(|work| work())
    }

    unsafe fn destroy_executable(&self, _: i32, executable: ExecutableHandle) -> Result<()> {
        self.captures.destroy("destroy_executable", executable.0)
    }
}
