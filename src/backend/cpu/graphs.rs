//! Implements graphs for the CPU backend. The operations of an ended capture become the work of a graph. A graph handle
//! and the handle of its executable graph share this work.

use std::sync::Arc;

use super::captures::GraphWork;
use super::driver::{Cpu, check_device};
use super::error_codes::{self, refuse};
use crate::graphs::update_reason;
use crate::{
    Branching, CaptureMode, Captured, Condition, ConditionHandle, ExecutableHandle, GraphHandle, Graphs, HostWork,
    NodeHandle, NodeKind, StreamHandle,
};
use pygpu_base::error::Result;

impl Graphs for Cpu {
    unsafe fn begin_capture(&self, device: i32, stream: StreamHandle, _: CaptureMode) -> Result<()> {
        check_device("begin_capture", device)?;
        self.captures.begin(stream, None)
    }

    unsafe fn end_capture(&self, _: i32, stream: StreamHandle) -> Result<GraphHandle> {
        self.captures.end(stream)
    }

    unsafe fn capture_of(&self, _: i32, stream: StreamHandle) -> Result<Option<u64>> {
        Ok(self.captures.of(stream))
    }

    unsafe fn put_work(&self, _: i32, stream: StreamHandle, kind: NodeKind, work: HostWork) -> Result<()> {
        self.run_as(kind, stream, work)
    }

    unsafe fn captured(&self, _: i32, stream: StreamHandle) -> Result<Captured> {
        Ok(self.captures.captured(stream))
    }

    unsafe fn create_condition(&self, _: i32, stream: StreamHandle, default: Option<u32>) -> Result<Condition> {
        self.new_condition(stream, default)
    }

    unsafe fn put_conditional(
        &self,
        _: i32,
        stream: StreamHandle,
        condition: ConditionHandle,
        branching: Branching,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        self.keep_conditional(stream, condition, branching, bodies)
    }

    unsafe fn begin_body(&self, _: i32, stream: StreamHandle, body: GraphHandle, _: CaptureMode) -> Result<()> {
        self.captures.begin(stream, Some(body))
    }

    // The capture mode is ignored, because no call of the CPU backend depends on it.
    unsafe fn instantiate(&self, device: i32, graph: GraphHandle) -> Result<ExecutableHandle> {
        check_device("instantiate", device)?;
        let work = self.captures.graph("instantiate", graph.0)?;
        Ok(ExecutableHandle(self.captures.lock().enter(work)))
    }

    unsafe fn node_count(&self, _: i32, graph: GraphHandle) -> Result<usize> {
        Ok(self.captures.graph("node_count", graph.0)?.len())
    }

    unsafe fn nodes(&self, _: i32, graph: GraphHandle) -> Result<Vec<NodeHandle>> {
        let nodes = self.captures.graph("nodes", graph.0)?.len();
        Ok((1..=nodes).map(NodeHandle).collect())
    }

    unsafe fn node_kind(&self, _: i32, graph: GraphHandle, node: NodeHandle) -> Result<NodeKind> {
        let operation = "node_kind";
        let work = self.captures.graph(operation, graph.0)?;
        Ok(work[place_of(operation, &work, node)?].kind)
    }

    unsafe fn set_node(
        &self,
        _: i32,
        executable: ExecutableHandle,
        _: NodeKind,
        (template, to): (GraphHandle, NodeHandle),
        (source, from): (GraphHandle, NodeHandle),
    ) -> Result<()> {
        let operation = "set_node";
        let (known, source) =
            (self.captures.graph(operation, executable.0)?, self.captures.graph(operation, source.0)?);
        let (to, from) = (place_of(operation, &known, to)?, place_of(operation, &source, from)?);
        let mut work = known.to_vec();
        work[to] = Arc::clone(&source[from]);
        self.exchange(operation, executable, template, Arc::new(work))
    }

    unsafe fn update(
        &self,
        _: i32,
        (executable, template): (ExecutableHandle, GraphHandle),
        graph: GraphHandle,
    ) -> Result<()> {
        const TOPOLOGY: u32 = 2;
        const KIND: u32 = 3;
        let operation = "update";
        let (known, work) = (self.captures.graph(operation, executable.0)?, self.captures.graph(operation, graph.0)?);
        let refused = |reason, detail| {
            let text = format!("{}: {detail}", update_reason(reason));
            Err(refuse(operation, error_codes::GRAPH_UPDATE_FAILURE, text))
        };
        if known.len() != work.len() {
            return refused(TOPOLOGY, format!("{} operations, and now {}", known.len(), work.len()));
        }
        let differs = known.iter().zip(work.iter()).position(|(known, new)| known.kind != new.kind);
        if let Some(place) = differs {
            let (was, is) = (known[place].kind.name(), work[place].kind.name());
            return refused(KIND, format!("operation {place} was a {was}, and is a {is} now"));
        }
        self.exchange(operation, executable, template, work)
    }

    unsafe fn destroy_graph(&self, _: i32, graph: GraphHandle) -> Result<()> {
        self.captures.destroy("destroy_graph", graph.0)
    }

    unsafe fn upload(&self, _: i32, executable: ExecutableHandle, _: StreamHandle) -> Result<()> {
        self.captures.graph("upload", executable.0).map(drop)
    }

    unsafe fn launch_graph(&self, _: i32, executable: ExecutableHandle, _: StreamHandle) -> Result<()> {
        // The registry's lock is released before the work is executed, because the work may take this lock.
        let work = self.captures.graph("launch_graph", executable.0)?;
        work.iter().filter_map(|operation| operation.first.as_ref()).for_each(|first| first());
        work.iter().try_for_each(|operation| (operation.work)())
    }

    unsafe fn destroy_executable(&self, _: i32, executable: ExecutableHandle) -> Result<()> {
        self.captures.destroy("destroy_executable", executable.0)
    }
}

impl Cpu {
    /// Replaces the work of an executable graph and of the graph from which it was instantiated. The new work owns the
    /// arrays that it uses.
    fn exchange(
        &self,
        operation: &'static str,
        executable: ExecutableHandle,
        template: GraphHandle,
        work: GraphWork,
    ) -> Result<()> {
        self.captures.exchange(operation, template.0, Arc::clone(&work))?;
        self.captures.exchange(operation, executable.0, work)
    }
}

/// Returns the index of an operation in a graph.
fn place_of(operation: &'static str, work: &GraphWork, node: NodeHandle) -> Result<usize> {
    let place = node.0.checked_sub(1).filter(|place| *place < work.len());
    place.ok_or_else(|| no_node(operation, node))
}

fn no_node(operation: &'static str, node: NodeHandle) -> pygpu_base::error::Error {
    refuse(operation, error_codes::INVALID_HANDLE, format!("node {}", node.0))
}
