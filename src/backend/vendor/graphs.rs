//! Graphs.

use super::context::{Current, VendorContexts};
use super::driver::Driver;
use super::streams::described;
use super::symbols::Raw;
use crate::backend::{CaptureMode, ExecutableHandle, GraphHandle, Graphs, StreamHandle};
use crate::error::Result;

/// What a vendor says of graphs for itself.
pub trait VendorGraphs: VendorContexts {
    /// The driver's word for a mode.
    fn mode_of(mode: CaptureMode) -> Self::CaptureMode;
    /// As [`Graphs::upload`].
    ///
    /// # Safety
    /// Both are alive.
    unsafe fn upload(
        driver: &Driver<Self>,
        device: i32,
        executable: ExecutableHandle,
        stream: StreamHandle,
    ) -> Result<()>;
}

/// Whether the driver's state of a stream is that of a capture, be it invalid.
fn is_capture(state: u32) -> bool {
    const ACTIVE: u32 = 1;
    state >= ACTIVE
}

// The caller's promise is, each time, the driver's condition.
impl<V: VendorGraphs> Graphs for Driver<V> {
    unsafe fn begin_capture(&self, device: i32, stream: StreamHandle, mode: CaptureMode) -> Result<()> {
        self.call(
            device,
            V::NAMES.capture_begin,
            // SAFETY: see above.
            |on| unsafe { (on.symbols.capture_begin)(Raw::of(stream.0), V::mode_of(mode)) },
            || described(stream),
        )
    }

    unsafe fn end_capture(&self, device: i32, stream: StreamHandle) -> Result<GraphHandle> {
        let mut graph = Raw::NONE;
        self.call(
            device,
            V::NAMES.capture_end,
            // SAFETY: see above; the target is writable.
            |on| unsafe { (on.symbols.capture_end)(Raw::of(stream.0), &mut graph) },
            || described(stream),
        )?;
        Ok(GraphHandle(graph.number()))
    }

    unsafe fn capture_of(&self, device: i32, stream: StreamHandle) -> Result<Option<u64>> {
        let (mut status, mut id) = (0u32, 0u64);
        // The status is read as a number: a newer driver may have more of them.
        // SAFETY: see above; the targets are writable and as wide as the driver's; what is not wanted is null.
        let ask = |on: &Current<'_, V>| unsafe {
            let (graph, dependencies, count) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
            let status = (&raw mut status).cast();
            (on.symbols.capture_info)(Raw::of(stream.0), status, &mut id, graph, dependencies, count)
        };
        self.call(device, V::NAMES.capture_info, ask, || described(stream))?;
        Ok(is_capture(status).then_some(id))
    }

    unsafe fn instantiate(&self, device: i32, graph: GraphHandle) -> Result<ExecutableHandle> {
        let mut executable = Raw::NONE;
        self.call(
            device,
            V::NAMES.graph_instantiate,
            // SAFETY: see above; the target is writable.
            |on| unsafe { (on.symbols.graph_instantiate)(&mut executable, Raw::of(graph.0), 0) },
            String::new,
        )?;
        Ok(ExecutableHandle(executable.number()))
    }

    unsafe fn node_count(&self, device: i32, graph: GraphHandle) -> Result<usize> {
        let mut count = 0;
        self.call(
            device,
            V::NAMES.graph_nodes,
            // SAFETY: see above; without a list only the number is told.
            |on| unsafe { (on.symbols.graph_nodes)(Raw::of(graph.0), std::ptr::null_mut(), &mut count) },
            String::new,
        )?;
        Ok(count)
    }

    unsafe fn destroy_graph(&self, device: i32, graph: GraphHandle) -> Result<()> {
        // SAFETY: see above.
        let destroy = |on: &Current<'_, V>| unsafe { (on.symbols.graph_destroy)(Raw::of(graph.0)) };
        self.call(device, V::NAMES.graph_destroy, destroy, String::new)
    }

    unsafe fn upload(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()> {
        // SAFETY: the caller's promise is the same.
        unsafe { V::upload(self, device, executable, stream) }
    }

    #[inline]
    unsafe fn launch_graph(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.executable_launch,
            // SAFETY: see above.
            |on| unsafe { (on.symbols.executable_launch)(Raw::of(executable.0), Raw::of(stream.0)) },
            || described(stream),
        )
    }

    unsafe fn destroy_executable(&self, device: i32, executable: ExecutableHandle) -> Result<()> {
        // SAFETY: see above.
        let destroy = |on: &Current<'_, V>| unsafe { (on.symbols.executable_destroy)(Raw::of(executable.0)) };
        self.call(device, V::NAMES.executable_destroy, destroy, String::new)
    }
}
