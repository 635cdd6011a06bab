//! Captures, builds, updates and launches graphs through CUDA or HIP.

use super::current_context::{CurrentDeviceGuard, VendorContexts};
use super::driver::Driver;
use super::streams::described;
use super::symbols::Raw;
use crate::error_codes::SUCCESS;
use crate::graphs::{no_conditions, update_reason};
use crate::{
    Branching, CaptureMode, Captured, Condition, ConditionHandle, ExecutableHandle, GraphHandle, Graphs, NodeHandle,
    NodeKind, StreamHandle,
};
use pygpu_base::error::{Error, Result};

/// Vendor-specific part of conditions in graphs, which CUDA and HIP implement differently.
pub trait VendorConditions: VendorContexts {
    /// Returns the driver's value of a capture mode.
    fn mode_of(mode: CaptureMode) -> Self::CaptureMode;
    /// Implements [`Graphs::create_condition`].
    ///
    /// # Safety
    /// See [`Graphs::create_condition`].
    unsafe fn create_condition(
        _driver: &Driver<Self>,
        _device: i32,
        _stream: StreamHandle,
        _default: Option<u32>,
    ) -> Result<ConditionHandle> {
        Err(no_conditions())
    }
    /// Implements [`Graphs::put_conditional`].
    ///
    /// # Safety
    /// See [`Graphs::put_conditional`].
    unsafe fn put_conditional(
        _driver: &Driver<Self>,
        _device: i32,
        _stream: StreamHandle,
        _condition: ConditionHandle,
        _branching: Branching,
        _bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        Err(no_conditions())
    }
    /// Implements [`Graphs::begin_body`].
    ///
    /// # Safety
    /// See [`Graphs::begin_body`].
    unsafe fn begin_body(
        _driver: &Driver<Self>,
        _device: i32,
        _stream: StreamHandle,
        _body: GraphHandle,
        _mode: CaptureMode,
    ) -> Result<()> {
        Err(no_conditions())
    }
}

/// Vendor-specific part of graphs, which CUDA and HIP implement differently.
pub trait VendorGraphs: VendorConditions {
    /// Name of the driver's function that updates an executable graph as a whole.
    const UPDATE: &str;
    /// Implements [`Graphs::set_node`]. The driver's functions need only the handles of the operations, not their
    /// graph.
    ///
    /// # Safety
    /// See [`Graphs::set_node`].
    unsafe fn set_node(
        driver: &Driver<Self>,
        device: i32,
        executable: ExecutableHandle,
        kind: NodeKind,
        to: NodeHandle,
        from: NodeHandle,
    ) -> Result<()>;
    /// Implements [`Graphs::update`]. Returns the driver's error code, and the driver's number for the reason of the
    /// error. Returns `None` if the driver has no function for updates.
    ///
    /// # Safety
    /// See [`Graphs::update`].
    unsafe fn update(api: &Self::Api, executable: ExecutableHandle, graph: GraphHandle) -> Option<(u32, u32)>;
}

/// Returns the error for a graph function that the driver lacks.
#[cold]
pub fn lacks(function: &str) -> Error {
    Error::not_supported(format!(
        "the driver has no {function}, by which graphs are updated: update it, or capture the graph again"
    ))
}

/// Returns the error for an operation whose parameters the driver cannot exchange.
#[cold]
pub fn no_parameters(kind: NodeKind) -> Error {
    Error::not_supported(format!(
        "the parameters of a node of the kind {} cannot be exchanged; capture the graph again, and update(graph) with all of it",
        kind.name()
    ))
}

/// Storage for the driver's parameters of an operation of any kind.
#[repr(C, align(16))]
pub struct Parameters([u64; 64]);

impl Parameters {
    /// Creates storage that is filled with zeros.
    pub const fn new() -> Self {
        Self([0; 64])
    }

    /// Returns the address of the storage.
    pub const fn place<T>(&mut self) -> *mut T {
        const { assert!(size_of::<T>() <= size_of::<Self>() && align_of::<T>() <= align_of::<Self>()) };
        std::ptr::from_mut(self).cast()
    }
}

/// Copies the parameters of the node `$from` to the node `$to` of an executable graph, by a getter and a setter for
/// each kind of node. If a setter also requires a context, the name of a function that returns the context follows.
macro_rules! exchange {
    (
        $driver:ident, $device:ident, $kind:ident, $executable:ident, $to:ident, $from:ident,
        $($node:ident: $get:ident, $set:ident $(, $context:ident)?;)*
    ) => {{
        let (executable, to, from) = (Raw::of($executable.0), Raw::of($to.0), Raw::of($from.0));
        let mut parameters = Parameters::new();
        let detail = || format!("a node of the kind {}", $kind.name());
        match $kind {
            $(NodeKind::$node => {
                let get = $driver.api.$get.ok_or_else(|| lacks(stringify!($get)))?;
                let set = $driver.api.$set.ok_or_else(|| lacks(stringify!($set)))?;
                // SAFETY: the caller guarantees that the handles are valid; `parameters` is large enough for each kind.
                $driver.call($device, stringify!($get), |_| unsafe { get(from, parameters.place()) }, detail)?;
                let set = |on: &CurrentDeviceGuard<'_, Self>| {
                    let _ = on;
                    // SAFETY: the caller guarantees that the handles are valid; the driver's data in `parameters` is
                    // valid as long as the node `from` exists.
                    unsafe { set(executable, to, parameters.place() $(, $context(on))?) }
                };
                $driver.call($device, stringify!($set), set, detail)
            })*
            NodeKind::Host | NodeKind::Other(_) => Err(no_parameters($kind)),
        }
    }};
}
pub(crate) use exchange;

/// Returns whether a stream with the driver's capture state `state` is capturing. The capture may be valid or
/// invalidated.
fn is_capture(state: u32) -> bool {
    const ACTIVE: u32 = 1;
    state >= ACTIVE
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorGraphs> Graphs for Driver<V> {
    unsafe fn begin_capture(&self, device: i32, stream: StreamHandle, mode: CaptureMode) -> Result<()> {
        self.call(
            device,
            V::NAMES.capture_begin,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| unsafe { (on.symbols.capture_begin)(Raw::of(stream.0), V::mode_of(mode)) },
            || described(stream),
        )
    }

    unsafe fn end_capture(&self, device: i32, stream: StreamHandle) -> Result<GraphHandle> {
        let mut graph = Raw::NONE;
        self.call(
            device,
            V::NAMES.capture_end,
            // SAFETY: the caller guarantees the conditions of the driver call; the out-parameter is writable.
            |on| unsafe { (on.symbols.capture_end)(Raw::of(stream.0), &mut graph) },
            || described(stream),
        )?;
        Ok(GraphHandle(graph.number()))
    }

    unsafe fn capture_of(&self, device: i32, stream: StreamHandle) -> Result<Option<u64>> {
        let (mut status, mut id) = (0u32, 0u64);
        // The capture status is read as an integer, because a newer driver may have more values.
        // SAFETY: the caller guarantees the conditions of the driver call; the out-parameters are writable and as wide
        // as the driver's types; null is passed for unneeded ones.
        let ask = |on: &CurrentDeviceGuard<'_, V>| unsafe {
            let (graph, dependencies, count) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
            let status = (&raw mut status).cast();
            (on.symbols.capture_info)(Raw::of(stream.0), status, &mut id, graph, dependencies, count)
        };
        self.call(device, V::NAMES.capture_info, ask, || described(stream))?;
        Ok(is_capture(status).then_some(id))
    }

    unsafe fn captured(&self, device: i32, stream: StreamHandle) -> Result<Captured> {
        let (mut status, mut id, mut graph, mut count) = (0u32, 0u64, Raw::NONE, 0usize);
        let mut dependencies: *const V::GraphNode = std::ptr::null();
        // SAFETY: the caller guarantees the conditions of the driver call; the out-parameters are writable and as wide
        // as the driver's types.
        let ask = |on: &CurrentDeviceGuard<'_, V>| unsafe {
            let status = (&raw mut status).cast();
            (on.symbols.capture_info)(Raw::of(stream.0), status, &mut id, &mut graph, &raw mut dependencies, &mut count)
        };
        self.call(device, V::NAMES.capture_info, ask, || described(stream))?;
        if status != 1 {
            return Ok(Captured { nodes: 0, last: None });
        }
        // SAFETY: the driver's list is valid until the next call that concerns the capture.
        let last = (count == 1 && !dependencies.is_null()).then(|| NodeHandle(unsafe { *dependencies }.number()));
        // SAFETY: the graph belongs to an active capture.
        let nodes = unsafe { self.node_count(device, GraphHandle(graph.number())) }?;
        Ok(Captured { nodes, last })
    }

    unsafe fn create_condition(&self, device: i32, stream: StreamHandle, default: Option<u32>) -> Result<Condition> {
        // SAFETY: the caller guarantees the conditions of `create_condition`.
        let handle = unsafe { V::create_condition(self, device, stream, default) }?;
        Ok(Condition { handle, owner: None })
    }

    unsafe fn put_conditional(
        &self,
        device: i32,
        stream: StreamHandle,
        condition: ConditionHandle,
        branching: Branching,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        // SAFETY: the caller guarantees the conditions of `put_conditional`.
        unsafe { V::put_conditional(self, device, stream, condition, branching, bodies) }
    }

    unsafe fn begin_body(&self, device: i32, stream: StreamHandle, body: GraphHandle, mode: CaptureMode) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of `begin_body`.
        unsafe { V::begin_body(self, device, stream, body, mode) }
    }

    unsafe fn instantiate(&self, device: i32, graph: GraphHandle) -> Result<ExecutableHandle> {
        let mut executable = Raw::NONE;
        self.call(
            device,
            V::NAMES.graph_instantiate,
            // SAFETY: the caller guarantees the conditions of the driver call; the out-parameter is writable.
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
            // SAFETY: the caller guarantees the conditions of the driver call; without a list the driver only returns
            // the number of nodes.
            |on| unsafe { (on.symbols.graph_nodes)(Raw::of(graph.0), std::ptr::null_mut(), &mut count) },
            String::new,
        )?;
        Ok(count)
    }

    unsafe fn nodes(&self, device: i32, graph: GraphHandle) -> Result<Vec<NodeHandle>> {
        // SAFETY: the caller guarantees the conditions of `node_count`.
        let mut count = unsafe { self.node_count(device, graph) }?;
        if count == 0 {
            // Drivers reject a query with an output list of length 0, so an empty graph is not queried.
            return Ok(Vec::new());
        }
        let mut nodes = vec![V::GraphNode::NONE; count];
        self.call(
            device,
            V::NAMES.graph_nodes,
            // SAFETY: the caller guarantees the conditions of the driver call; the list has space for `count` nodes.
            |on| unsafe { (on.symbols.graph_nodes)(Raw::of(graph.0), nodes.as_mut_ptr(), &mut count) },
            String::new,
        )?;
        Ok(nodes.into_iter().take(count).map(|node| NodeHandle(node.number())).collect())
    }

    unsafe fn node_kind(&self, device: i32, _: GraphHandle, node: NodeHandle) -> Result<NodeKind> {
        let name = V::NAMES.node_kind;
        let ask = self.symbols.node_kind.ok_or_else(|| lacks(name))?;
        // The kind is read as an integer, because a newer driver has more kinds.
        let mut kind = 0u32;
        // SAFETY: the caller guarantees the conditions of the driver call; the target is as wide as the driver's type.
        self.call(device, name, |_| unsafe { ask(Raw::of(node.0), (&raw mut kind).cast()) }, String::new)?;
        Ok(NodeKind::of(kind))
    }

    unsafe fn set_node(
        &self,
        device: i32,
        executable: ExecutableHandle,
        kind: NodeKind,
        (_, to): (GraphHandle, NodeHandle),
        (_, from): (GraphHandle, NodeHandle),
    ) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of `set_node`.
        unsafe { V::set_node(self, device, executable, kind, to, from) }
    }

    unsafe fn update(
        &self,
        device: i32,
        (executable, _): (ExecutableHandle, GraphHandle),
        graph: GraphHandle,
    ) -> Result<()> {
        let current = self.enter(device, V::UPDATE)?;
        // SAFETY: the caller guarantees the conditions of `update`.
        match unsafe { V::update(current.api, executable, graph) } {
            Some((SUCCESS, _)) => Ok(()),
            Some((code, reason)) => Err(self.refusal(code, V::UPDATE, Some(device), update_reason(reason).to_owned())),
            None => Err(lacks(V::UPDATE)),
        }
    }

    unsafe fn destroy_graph(&self, device: i32, graph: GraphHandle) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of the driver call.
        let destroy = |on: &CurrentDeviceGuard<'_, V>| unsafe { (on.symbols.graph_destroy)(Raw::of(graph.0)) };
        self.call(device, V::NAMES.graph_destroy, destroy, String::new)
    }

    unsafe fn upload(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()> {
        // If the driver has no function for uploads, this call does nothing, and the first launch uploads the graph.
        let Some(upload) = self.symbols.graph_upload else { return Ok(()) };
        // SAFETY: the caller guarantees the conditions of the driver call.
        let call = |_: &CurrentDeviceGuard<'_, V>| unsafe { upload(Raw::of(executable.0), Raw::of(stream.0)) };
        self.call(device, V::NAMES.graph_upload, call, || described(stream))
    }

    #[inline]
    unsafe fn launch_graph(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.executable_launch,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| unsafe { (on.symbols.executable_launch)(Raw::of(executable.0), Raw::of(stream.0)) },
            || described(stream),
        )
    }

    unsafe fn destroy_executable(&self, device: i32, executable: ExecutableHandle) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of the driver call.
        let destroy =
            |on: &CurrentDeviceGuard<'_, V>| unsafe { (on.symbols.executable_destroy)(Raw::of(executable.0)) };
        self.call(device, V::NAMES.executable_destroy, destroy, String::new)
    }
}
