//! Records the resources of a graph: the memory blocks that a launch uses, and other objects that the launch needs.

use std::sync::{Arc, Mutex};

use super::capture::Template;
use pygpu_backend::NodeHandle;
use pygpu_base::error::Result;
use pygpu_memory::Access;
use pygpu_memory::stream_captures::{GraphContents, GraphResource, SharedResource, UsedBlock};

/// Objects, other than memory blocks, that a graph keeps alive and does not otherwise use. After an update of one graph
/// from another, both graphs share them.
type GraphLeases = Arc<Mutex<Vec<GraphResource>>>;

/// An operation of a graph, with the resources that it uses.
#[derive(Clone)]
pub struct GraphOperation {
    /// The driver's handle of the operation.
    pub(super) handle: NodeHandle,
    /// The memory blocks that the operation uses, if they are known for this operation.
    pub uses: Vec<UsedBlock>,
    /// The resource from which the operation was created, if known.
    pub part: Option<SharedResource>,
    /// Resources other than `uses` and `part` that the last update of this operation added; `None` if the operation was
    /// not updated.
    pub(super) things: Option<GraphLeases>,
}

/// An immutable snapshot of all resources of a graph. An update of the graph creates a new snapshot.
#[derive(Clone, Default)]
pub(super) struct GraphResources {
    /// The memory blocks that the graph uses, each once, with the access `Write` if any operation writes the block,
    /// otherwise `Read`.
    pub uses: Vec<UsedBlock>,
    /// The operations, in the order of their capture.
    pub nodes: Vec<GraphOperation>,
    /// Uses of memory blocks that cannot be attributed to a single operation.
    shared: Vec<UsedBlock>,
    things: Vec<GraphLeases>,
}

impl GraphResources {
    /// Collects the resources of a capture.
    pub fn new(template: &Template, contents: GraphContents) -> Result<Self> {
        let GraphContents { blocks, things, made, mut shared, .. } = contents;
        let nodes = template.nodes()?.into_iter().map(|handle| {
            let known = made.iter().find(|made| made.node == handle).cloned();
            let (uses, part) = known.map_or((Vec::new(), None), |made| (made.uses, made.part));
            GraphOperation { handle, uses, part, things: None }
        });
        let nodes: Vec<GraphOperation> = nodes.collect();
        let is_placed =
            |used: &UsedBlock| nodes.iter().flat_map(|node| &node.uses).any(|(block, _)| Arc::ptr_eq(block, &used.0));
        let rest: Vec<UsedBlock> = blocks.into_iter().map(|noted| (noted.block, noted.access)).collect();
        shared.extend(rest.into_iter().filter(|used| !is_placed(used)));
        let mut held = Self { uses: Vec::new(), nodes, shared, things: vec![Arc::new(Mutex::new(things))] };
        held.sum_up();
        Ok(held)
    }

    /// Returns a copy of these resources. In the copy, the operation at index `place` is replaced by the only operation
    /// of `from`.
    pub fn with_node(&self, place: usize, from: Self) -> Self {
        let mut held = self.clone();
        let things: Vec<GraphResource> = vec![Box::new(from.things)];
        if let Some(node) = held.nodes.get_mut(place) {
            node.uses = from.uses;
            node.part = from.nodes.into_iter().next().and_then(|node| node.part);
            node.things = Some(Arc::new(Mutex::new(things)));
        }
        held.sum_up();
        held
    }

    /// Returns the resources of a graph after all its operations were updated from the graph with the resources
    /// `other`. The driver pairs the operations of the two graphs, so no memory block can be attributed to a single
    /// operation any more.
    pub fn with_all_of(&self, other: &Self) -> Self {
        let nodes = self.nodes.iter().zip(&other.nodes).map(|(own, other)| GraphOperation {
            handle: own.handle,
            uses: Vec::new(),
            part: other.part.clone(),
            things: other.things.clone(),
        });
        Self {
            uses: other.uses.clone(),
            nodes: nodes.collect(),
            shared: other.uses.clone(),
            things: other.things.clone(),
        }
    }

    fn sum_up(&mut self) {
        let mut uses: Vec<UsedBlock> =
            self.nodes.iter().flat_map(|node| &node.uses).chain(&self.shared).cloned().collect();
        // The list contains each memory block once: as a write if any operation writes it, otherwise as a read.
        uses.sort_by_key(|(block, access)| (Arc::as_ptr(block).addr(), *access != Access::Write));
        uses.dedup_by(|later, first| Arc::ptr_eq(&later.0, &first.0));
        self.uses = uses;
    }
}
