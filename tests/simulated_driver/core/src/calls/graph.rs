//! Implements stream captures and graphs. Operations on a capturing stream are recorded in a graph; each launch of the
//! graph executes them.
//!
//! A launch is one operation of its stream and executes the nodes in the order of their capture, which is one of the
//! orders that a device may choose. The memory of the nodes is looked up again at each launch, so that a launch after
//! the memory was freed is detected.

use std::collections::HashMap;
use std::sync::Arc;

use crate::byte_region::Region;
use crate::capture::mode_of_thread;
use crate::conditional_nodes::{Condition, Conditional};
use crate::driver::Driver;
use crate::error_codes::{
    CAPTURE_IMPLICIT, CAPTURE_INVALIDATED, CAPTURE_MERGE, CAPTURE_UNMATCHED, CAPTURE_UNSUPPORTED, CAPTURE_WRONG_THREAD,
    ILLEGAL_STATE, INVALID_HANDLE, INVALID_VALUE, Outcome,
};
use crate::finding::Kind;
use crate::history::Touch;
use crate::host::is_mapped;
use crate::memory::spelled;
use crate::state::State;
use crate::stream::StreamKind;
use crate::worker::Then;

/// Function that each launch of the graph executes for a node.
pub(crate) type Task = Arc<dyn Fn() + Send + Sync>;

/// Describes an operation that is recorded in a graph.
pub(crate) struct Node {
    pub(crate) task: Task,
    /// Regions of device or pinned memory that the operation accesses, each with `true` if it is written.
    pub(crate) touches: Vec<(Region, bool)>,
    /// Pageable host memory that the operation reads at each launch.
    pub(crate) pageable: Option<Region>,
    pub(crate) call: &'static str,
    /// Bodies of the node, if it is a conditional node.
    pub(crate) conditional: Option<Conditional>,
    /// Conditions that each launch resets to their initial values.
    pub(crate) conditions: Vec<Condition>,
}

/// Capture mode: determines which threads must not make unsafe calls while a stream captures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Unsafe calls fail in every thread.
    Global,
    /// Unsafe calls fail only in the thread that began the capture.
    ThreadLocal,
    /// Unsafe calls are allowed.
    Relaxed,
}

impl Node {
    pub(crate) fn new(task: Task, touches: Vec<(Region, bool)>, pageable: Option<Region>, call: &'static str) -> Self {
        Self { task, touches, pageable, call, conditional: None, conditions: Vec::new() }
    }

    /// Returns the number that the vendors' headers define for the node's kind.
    fn kind(&self) -> u32 {
        let is = |word| self.call.contains(word);
        if is("Memcpy") {
            1
        } else if is("Memset") {
            2
        } else if is("Host") {
            3
        } else if is("Conditional") {
            13
        } else {
            0
        }
    }
}

/// Nodes of a graph with their handles. An executable graph keeps the handles when the operation of a node is
/// exchanged.
pub(crate) type Nodes = Arc<Vec<(u64, Arc<Node>)>>;

pub(crate) struct Capture {
    /// Graph to which the capture appends its operations, if it is the body of a conditional node; `None` if the
    /// capture creates a new graph.
    body: Option<u64>,
    origin: u64,
    mode: Mode,
    thread: std::thread::ThreadId,
    is_valid: bool,
    nodes: Vec<(u64, Arc<Node>)>,
    /// Handle of the last node of each stream. The handles are boxed, because the driver returns their addresses to
    /// programs.
    last: HashMap<u64, Box<u64>>,
}

/// State of an active capture, as a query of the program returns it.
#[derive(Clone, Copy)]
pub struct Captured {
    /// Handle of the graph that is being recorded.
    pub graph: u64,
    /// Address of the list of nodes on which the next node of the stream will depend.
    pub dependencies: *const u64,
    /// Number of elements in `dependencies`.
    pub count: usize,
}

/// Active captures, and the graphs that ended captures produced.
#[derive(Default)]
pub(crate) struct Graphs {
    /// Maps each capturing stream to its capture.
    streams: HashMap<u64, u64>,
    pub(crate) captures: HashMap<u64, Capture>,
    pub(crate) graphs: HashMap<u64, Nodes>,
    executables: HashMap<u64, (usize, Nodes)>,
    /// Maps handles to conditions.
    pub(crate) conditions: HashMap<u64, Condition>,
}

impl State {
    /// Returns the capture to which the next operation of a stream belongs, or `None` if the stream does not capture.
    pub(crate) fn capture_of(&mut self, stream: u64) -> Outcome<Option<u64>> {
        if self.graphs.streams.is_empty() {
            return Ok(None);
        }
        if let Some(&capture) = self.graphs.streams.get(&stream) {
            let is_valid = self.graphs.captures.get(&capture).is_some_and(|capture| capture.is_valid);
            return if is_valid { Ok(Some(capture)) } else { Err(CAPTURE_INVALIDATED) };
        }
        let Some(target) = self.streams.get(&stream).filter(|stream| stream.kind == StreamKind::Legacy) else {
            return Ok(None);
        };
        let device = target.device;
        match self.bound_capture(device) {
            Some(capture) => self.invalidate(capture, CAPTURE_IMPLICIT),
            None => Ok(None),
        }
    }

    /// Returns the capture of a blocking stream of the device, or `None` if no blocking stream captures. Work on the
    /// legacy default stream would have to wait for the blocking stream, and would thereby become part of the capture.
    fn bound_capture(&self, device: usize) -> Option<u64> {
        let is_bound = |other: &u64| {
            let other = self.streams.get(other);
            other.is_some_and(|other| other.device == device && other.kind != StreamKind::NonBlocking)
        };
        self.graphs.streams.iter().find(|(other, _)| is_bound(other)).map(|(_, &capture)| capture)
    }

    /// Discards all captures, because a context was destroyed together with its streams.
    pub(crate) fn forget_captures(&mut self) {
        self.graphs.streams.clear();
        self.graphs.captures.clear();
    }

    /// Appends an operation of a stream to the graph that is being captured.
    pub(crate) fn keep_node(&mut self, capture: u64, stream: u64, node: Node) {
        let handle = self.new_handle();
        if let Some(capture) = self.graphs.captures.get_mut(&capture) {
            capture.nodes.push((handle, Arc::new(node)));
            capture.last.insert(stream, Box::new(handle));
        }
    }

    /// Adds an operation to the graph that is being captured, without making any stream depend on the operation.
    /// Returns the handle of its node.
    pub(crate) fn keep_aside(&mut self, capture: u64, node: Node) -> u64 {
        let handle = self.new_handle();
        if let Some(capture) = self.graphs.captures.get_mut(&capture) {
            capture.nodes.push((handle, Arc::new(node)));
        }
        handle
    }

    /// Makes the next operation of a stream depend on a node.
    pub(crate) fn follow(&mut self, capture: u64, stream: u64, node: u64) -> Outcome<()> {
        let capture = self.graphs.captures.get_mut(&capture).ok_or(ILLEGAL_STATE)?;
        if !capture.nodes.iter().any(|(handle, _)| *handle == node) {
            return Err(INVALID_VALUE);
        }
        capture.last.insert(stream, Box::new(node));
        Ok(())
    }

    fn node(&self, handle: u64) -> Outcome<Arc<Node>> {
        let all = self.graphs.graphs.values().flat_map(|nodes| nodes.iter());
        all.into_iter().find(|(own, _)| *own == handle).map(|(_, node)| Arc::clone(node)).ok_or(INVALID_VALUE)
    }

    /// Fails if the stream captures, because the call cannot be captured. As in a real driver, the capture becomes
    /// invalid.
    pub(crate) fn refuse_capturing(&mut self, stream: u64) -> Outcome<()> {
        match self.capture_of(stream)? {
            Some(capture) => self.invalidate(capture, CAPTURE_UNSUPPORTED),
            None => Ok(()),
        }
    }

    /// Fails if a stream of the device captures, because the call may wait for the device.
    pub(crate) fn refuse_while_capturing(&mut self, device: usize) -> Outcome<()> {
        let found = self.graphs.streams.keys().copied();
        let found = found.filter(|stream| self.streams.get(stream).is_some_and(|stream| stream.device == device)).min();
        found.map_or(Ok(()), |stream| self.refuse_capturing(stream))
    }

    /// Fails for a call that is unsafe while streams capture, and then invalidates the capture. Whether it fails
    /// depends on the modes of the capture and of the calling thread. Unsafe calls allocate or free memory, query or
    /// wait for an event or a stream, or unload a module. These rules were observed on an H200 with CUDA 13.0, which
    /// allowed loading a module.
    pub(crate) fn refuse_unsafe(&mut self) -> Outcome<()> {
        let (thread, own) = (std::thread::current().id(), mode_of_thread());
        let forbids = |capture: &Capture| match own {
            Mode::Relaxed => false,
            Mode::Global if capture.mode == Mode::Global => true,
            _ => capture.thread == thread && capture.mode != Mode::Relaxed,
        };
        let found = self.graphs.captures.iter().find(|(_, capture)| forbids(capture)).map(|(number, _)| *number);
        found.map_or(Ok(()), |capture| self.invalidate(capture, CAPTURE_UNSUPPORTED))
    }

    /// Adds a stream to a capture, because the stream waits for an event that was recorded in this capture.
    pub(crate) fn join_capture(&mut self, stream: u64, capture: u64) -> Outcome<()> {
        match self.capture_of(stream)? {
            Some(own) if own != capture => self.invalidate(own, CAPTURE_MERGE),
            Some(_) => Ok(()),
            None if self.graphs.captures.contains_key(&capture) => {
                self.graphs.streams.insert(stream, capture);
                Ok(())
            }
            None => Err(ILLEGAL_STATE),
        }
    }

    pub(crate) fn invalidate<T>(&mut self, capture: u64, code: u32) -> Outcome<T> {
        if let Some(capture) = self.graphs.captures.get_mut(&capture) {
            capture.is_valid = false;
        }
        Err(code)
    }
}

impl Driver {
    /// Begins the capture of a stream.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn begin_capture(&self, call: &'static str, device: usize, stream: u64, mode: Mode) -> Outcome<()> {
        self.begin_capture_into(call, device, stream, None, mode)
    }

    pub(crate) fn begin_capture_into(
        &self,
        call: &'static str,
        device: usize,
        stream: u64,
        body: Option<u64>,
        mode: Mode,
    ) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        if state.streams.get(&stream).is_none_or(|stream| stream.kind == StreamKind::Legacy) {
            return Err(CAPTURE_UNSUPPORTED);
        }
        if state.graphs.streams.contains_key(&stream) {
            return Err(ILLEGAL_STATE);
        }
        let capture = state.new_handle();
        let thread = std::thread::current().id();
        let began =
            Capture { body, origin: stream, mode, thread, is_valid: true, nodes: Vec::new(), last: HashMap::new() };
        state.graphs.captures.insert(capture, began);
        state.graphs.streams.insert(stream, capture);
        Ok(())
    }

    /// Ends a capture; returns the graph.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn end_capture(&self, call: &'static str, device: usize, stream: u64) -> Outcome<u64> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        let capture = state.graphs.streams.get(&stream).copied().ok_or(ILLEGAL_STATE)?;
        let known = state.graphs.captures.get(&capture).ok_or(ILLEGAL_STATE)?;
        if known.origin != stream {
            return state.invalidate(capture, CAPTURE_UNMATCHED);
        }
        if known.mode != Mode::Relaxed && known.thread != std::thread::current().id() {
            return Err(CAPTURE_WRONG_THREAD);
        }
        state.graphs.streams.retain(|_, part| *part != capture);
        let ended = state.graphs.captures.remove(&capture).ok_or(ILLEGAL_STATE)?;
        if !ended.is_valid {
            return Err(CAPTURE_INVALIDATED);
        }
        let graph = ended.body.unwrap_or_else(|| state.new_handle());
        let known = state.graphs.graphs.entry(graph).or_default();
        *known = Arc::new(known.iter().cloned().chain(ended.nodes).collect());
        Ok(graph)
    }

    /// Returns the capture status of a stream (0: not capturing, 1: capturing, 2: capture invalidated) and the id of
    /// its capture.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn capture_status(&self, call: &'static str, device: usize, stream: u64) -> Outcome<(u32, u64)> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        // This query never invalidates a capture. The query of a default stream fails while a blocking stream of the
        // device captures, but the capture of the blocking stream stays valid.
        let Some(capture) = state.graphs.streams.get(&stream).copied() else {
            let legacy = state.streams.get(&stream).filter(|stream| stream.kind == StreamKind::Legacy);
            let is_bound =
                legacy.map(|stream| stream.device).is_some_and(|device| state.bound_capture(device).is_some());
            return if is_bound { Err(CAPTURE_IMPLICIT) } else { Ok((0, 0)) };
        };
        let is_valid = state.graphs.captures.get(&capture).is_some_and(|capture| capture.is_valid);
        Ok((if is_valid { 1 } else { 2 }, capture))
    }

    /// Returns the state of a stream's capture. The address in the result is valid until the next call for the stream.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn captured(&self, call: &'static str, device: usize, stream: u64) -> Outcome<Option<Captured>> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        let Some(graph) = state.graphs.streams.get(&stream).copied() else { return Ok(None) };
        let Some(capture) = state.graphs.captures.get(&graph) else { return Ok(None) };
        let last = capture.last.get(&stream);
        let dependencies = last.map_or(std::ptr::null(), |last| &raw const **last);
        Ok(Some(Captured { graph, dependencies, count: usize::from(last.is_some()) }))
    }

    /// Returns the nodes of a graph, which may be complete or still being captured.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn graph_nodes(&self, call: &'static str, graph: u64) -> Outcome<Vec<u64>> {
        let mut state = self.lock();
        let handles = |nodes: &[(u64, Arc<Node>)]| nodes.iter().map(|(handle, _)| *handle).collect();
        if let Some(capture) = state.graphs.captures.get(&graph) {
            return Ok(handles(&capture.nodes));
        }
        match state.graphs.graphs.get(&graph) {
            Some(nodes) => Ok(handles(nodes)),
            None => state.bad_handle(call, "graph", graph),
        }
    }

    /// Returns the number that the vendors' headers define for a node's kind.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn node_kind(&self, node: u64) -> Outcome<u32> {
        Ok(self.lock().node(node)?.kind())
    }

    /// Replaces the operation of a node in an executable graph. A launch in progress is not affected.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn exchange_node(&self, call: &'static str, executable: u64, node: u64, from: u64, kind: u32) -> Outcome<()> {
        let mut state = self.lock();
        let from = state.node(from)?;
        let Some((_, nodes)) = state.graphs.executables.get_mut(&executable) else {
            return state.bad_handle(call, "graph that can be launched", executable);
        };
        let mut changed = nodes.to_vec();
        let place = changed.iter().position(|(handle, _)| *handle == node).ok_or(INVALID_VALUE)?;
        if changed[place].1.kind() != kind || from.kind() != kind {
            return Err(INVALID_VALUE);
        }
        changed[place].1 = from;
        *nodes = Arc::new(changed);
        Ok(())
    }

    /// Replaces the operations of all nodes of an executable graph by those of `graph`. Returns 0, or the vendors'
    /// number of the reason why the update is impossible.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn update_graph(&self, call: &'static str, executable: u64, graph: u64) -> Outcome<u32> {
        const TOPOLOGY: u32 = 2;
        const KIND: u32 = 3;
        let mut state = self.lock();
        let Some(other) = state.graphs.graphs.get(&graph).cloned() else {
            return state.bad_handle(call, "graph", graph);
        };
        let other = state.whole(&other);
        let Some((_, nodes)) = state.graphs.executables.get_mut(&executable) else {
            return state.bad_handle(call, "graph that can be launched", executable);
        };
        if nodes.len() != other.len() {
            return Ok(TOPOLOGY);
        }
        if nodes.iter().zip(other.iter()).any(|(own, other)| own.1.kind() != other.1.kind()) {
            return Ok(KIND);
        }
        let changed = nodes.iter().zip(other.iter()).map(|(own, other)| (own.0, Arc::clone(&other.1)));
        *nodes = Arc::new(changed.collect());
        Ok(0)
    }

    /// Creates an executable graph.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn instantiate_graph(&self, call: &'static str, device: usize, graph: u64) -> Outcome<u64> {
        let mut state = self.lock();
        let Some(nodes) = state.graphs.graphs.get(&graph).cloned() else {
            return state.bad_handle(call, "graph", graph);
        };
        let (handle, nodes) = (state.new_handle(), state.whole(&nodes));
        state.graphs.executables.insert(handle, (device, nodes));
        Ok(handle)
    }

    /// Destroys a graph or an executable graph. A launch in progress is not affected.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn destroy_graph(&self, call: &'static str, graph: u64, is_executable: bool) -> Outcome<()> {
        let mut state = self.lock();
        let known = if is_executable {
            state.graphs.executables.remove(&graph).is_some()
        } else {
            state.graphs.graphs.remove(&graph).is_some()
        };
        if known { Ok(()) } else { state.bad_handle(call, "graph", graph) }
    }

    /// Enqueues the execution of a graph on a stream.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn launch_graph(&self, call: &'static str, device: usize, graph: u64, stream: u64) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        let Some((_, nodes)) = state.graphs.executables.get(&graph).cloned() else {
            return state.bad_handle(call, "graph that can be launched", graph);
        };
        // A captured launch of a graph would be a child-graph node, which is not simulated.
        state.refuse_capturing(stream)?;
        let waits_for = state.order(stream);
        let number = state.streams.get(&stream).map_or(0, |stream| stream.submitted + 1);
        for (_, node) in nodes.iter() {
            if let Some(region) = &node.pageable
                && !is_mapped(region.start, region.end())
            {
                let text = format!("{} are read by the graph and are no memory of the host any more", spelled(region));
                state.note(Kind::UseAfterFree, node.call, text);
                return Err(INVALID_VALUE);
            }
            for &(region, write) in &node.touches {
                let block = self.locate_device(&mut state, node.call, &region)?;
                state.touch(block, Touch { region, write, stream, number, call: node.call });
            }
        }
        let work = move || {
            nodes.iter().flat_map(|(_, node)| &node.conditions).for_each(|condition| condition.begin());
            nodes.iter().for_each(|(_, node)| (node.task)());
        };
        state.push(stream, waits_for, Some(Box::new(work)), Then::Nothing).map(drop)
    }

    /// Fails if the handle is not that of a live executable graph.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn check_executable(&self, graph: u64) -> Outcome<()> {
        self.lock().graphs.executables.get(&graph).map(drop).ok_or(INVALID_HANDLE)
    }
}
