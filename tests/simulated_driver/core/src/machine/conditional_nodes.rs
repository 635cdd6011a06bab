//! Implements conditional nodes of graphs. A kernel sets the value of a condition, and the value selects the bodies
//! that are executed.
//!
//! The handle of a condition is the address of its value. The value is never freed, because the driver cannot detect
//! when the last kernel with this handle ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::driver::Driver;
use crate::error_codes::{CAPTURE_UNSUPPORTED, ILLEGAL_STATE, INVALID_VALUE, Outcome};
use crate::graph::{Mode, Node, Nodes};
use crate::state::State;

const IF: u32 = 0;
const WHILE: u32 = 1;
const SWITCH: u32 = 2;
/// Maximum number of iterations of a loop node. A longer loop would never end: after a failure on the device, the
/// kernel that would end the loop does not run.
const MOST_TURNS: usize = 100_000;

/// Describes a condition: a value that kernels set, and its value at the start of a launch.
#[derive(Clone, Copy)]
pub(crate) struct Condition {
    number: &'static AtomicU32,
    default: Option<u32>,
}

impl Condition {
    pub(crate) fn begin(self) {
        if let Some(default) = self.default {
            self.number.store(default, Ordering::Relaxed);
        }
    }
}

/// Describes a conditional node by its condition and its bodies.
pub(crate) struct Conditional {
    condition: Condition,
    kind: u32,
    /// Handles of the graphs that are the bodies of this node.
    bodies: &'static [u64],
}

impl State {
    /// Returns the nodes of a graph, with the current content of the bodies inserted into conditional nodes.
    pub(crate) fn whole(&self, nodes: &Nodes) -> Nodes {
        let whole = nodes.iter().map(|(handle, node)| {
            let node =
                node.conditional.as_ref().map_or_else(|| Arc::clone(node), |own| Arc::new(self.with_bodies(own)));
            (*handle, node)
        });
        Arc::new(whole.collect())
    }

    fn with_bodies(&self, own: &Conditional) -> Node {
        let bodies: Vec<Nodes> =
            own.bodies.iter().filter_map(|body| self.graphs.graphs.get(body)).map(|body| self.whole(body)).collect();
        let inner = || bodies.iter().flat_map(|body| body.iter()).map(|(_, node)| node);
        let touches = inner().flat_map(|node| node.touches.iter().copied()).collect();
        let pageable = inner().find_map(|node| node.pageable);
        let mut conditions = vec![own.condition];
        conditions.extend(inner().flat_map(|node| node.conditions.iter().copied()));
        let (number, kind) = (own.condition.number, own.kind);
        let run = move |place: usize| {
            bodies.get(place).into_iter().flat_map(|body| body.iter()).for_each(|(_, node)| (node.task)())
        };
        let now = move || number.load(Ordering::Relaxed);
        let task = move || match kind {
            IF => run(usize::from(now() == 0)),
            SWITCH => run(now() as usize),
            _ => (0..MOST_TURNS).take_while(|_| now() != 0).for_each(|_| run(0)),
        };
        Node { task: Arc::new(task), touches, pageable, call: "Conditional", conditional: None, conditions }
    }
}

impl Driver {
    /// Creates a condition for a graph that is being captured.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn create_condition(&self, call: &'static str, graph: u64, default: Option<u32>) -> Outcome<u64> {
        self.graph_nodes(call, graph)?;
        let number: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
        let handle = std::ptr::from_ref(number).expose_provenance() as u64;
        self.lock().graphs.conditions.insert(handle, Condition { number, default });
        Ok(handle)
    }

    /// Adds a conditional node; returns the node and the list of its bodies, which is never freed.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn add_conditional(&self, graph: u64, condition: u64, kind: u32, size: u32) -> Outcome<(u64, &'static [u64])> {
        let sizes = match kind {
            IF => 1..=2,
            WHILE => 1..=1,
            SWITCH => 1..=u32::MAX,
            _ => return Err(INVALID_VALUE),
        };
        let mut state = self.lock();
        let condition = state.graphs.conditions.get(&condition).copied().ok_or(INVALID_VALUE)?;
        if !sizes.contains(&size) || !state.graphs.captures.contains_key(&graph) {
            return Err(INVALID_VALUE);
        }
        let bodies: Vec<u64> = (0..size).map(|_| state.new_handle()).collect();
        for body in &bodies {
            state.graphs.graphs.insert(*body, Nodes::default());
        }
        let bodies: &'static [u64] = bodies.leak();
        let node = Node {
            task: Arc::new(|| {}),
            touches: Vec::new(),
            pageable: None,
            call: "Conditional",
            conditional: Some(Conditional { condition, kind, bodies }),
            conditions: Vec::new(),
        };
        Ok((state.keep_aside(graph, node), bodies))
    }

    /// Makes the next operation of a capturing stream depend on `node` and on no other node.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn follow(&self, call: &'static str, device: usize, stream: u64, node: u64) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        let capture = state.capture_of(stream)?.ok_or(ILLEGAL_STATE)?;
        state.follow(capture, stream, node)
    }

    /// Begins a capture of a stream into the body of a conditional node.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn begin_body(&self, call: &'static str, device: usize, stream: u64, body: u64, mode: Mode) -> Outcome<()> {
        if !self.lock().graphs.graphs.contains_key(&body) {
            return Err(CAPTURE_UNSUPPORTED);
        }
        self.begin_capture_into(call, device, stream, Some(body), mode)
    }
}
