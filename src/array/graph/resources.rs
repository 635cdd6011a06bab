//! What a graph holds: the blocks that a launch uses, and what else must be there.

use std::sync::{Arc, Mutex};

use super::capture::Template;
use pygpu_backend::NodeHandle;
use pygpu_base::error::Result;
use pygpu_memory::Access;
use pygpu_memory::capture::{Contents, Part, Thing, Used};

/// Things that are only held. Several graphs may do so, once one was updated by another.
type Things = Arc<Mutex<Vec<Thing>>>;

/// An operation of a graph.
#[derive(Clone)]
pub struct Node {
    /// The driver's.
    pub(super) handle: NodeHandle,
    /// The blocks that it uses, where that is known of it alone.
    pub uses: Vec<Used>,
    /// What it was made of, where that is known.
    pub part: Option<Part>,
    /// What else it uses, since it was updated.
    pub(super) things: Option<Things>,
}

/// What a graph holds at a time; an update makes another one.
#[derive(Clone, Default)]
pub(super) struct Held {
    /// Each block once, with the most that is done to it.
    pub uses: Vec<Used>,
    /// The operations, in the order in which they were captured.
    pub nodes: Vec<Node>,
    /// Blocks of which is not known which operation uses them.
    shared: Vec<Used>,
    things: Vec<Things>,
}

impl Held {
    /// What a capture took hold of.
    pub fn new(template: &Template, contents: Contents) -> Result<Self> {
        let Contents { blocks, things, made, mut shared, .. } = contents;
        let nodes = template.nodes()?.into_iter().map(|handle| {
            let known = made.iter().find(|made| made.node == handle).cloned();
            let (uses, part) = known.map_or((Vec::new(), None), |made| (made.uses, made.part));
            Node { handle, uses, part, things: None }
        });
        let nodes: Vec<Node> = nodes.collect();
        let is_placed =
            |used: &Used| nodes.iter().flat_map(|node| &node.uses).any(|(block, _)| Arc::ptr_eq(block, &used.0));
        let rest: Vec<Used> = blocks.into_iter().map(|noted| (noted.block, noted.access)).collect();
        shared.extend(rest.into_iter().filter(|used| !is_placed(used)));
        let mut held = Self { uses: Vec::new(), nodes, shared, things: vec![Arc::new(Mutex::new(things))] };
        held.sum_up();
        Ok(held)
    }

    /// The same with another operation in one place; `from` has one.
    pub fn with_node(&self, place: usize, from: Self) -> Self {
        let mut held = self.clone();
        let things: Vec<Thing> = vec![Box::new(from.things)];
        if let Some(node) = held.nodes.get_mut(place) {
            node.uses = from.uses;
            node.part = from.nodes.into_iter().next().and_then(|node| node.part);
            node.things = Some(Arc::new(Mutex::new(things)));
        }
        held.sum_up();
        held
    }

    /// What another graph holds, for the same operations as before. Which of them the driver takes for which is its own affair,
    /// so that no block belongs to one alone any more.
    pub fn with_all_of(&self, other: &Self) -> Self {
        let nodes = self.nodes.iter().zip(&other.nodes).map(|(own, other)| Node {
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
        let mut uses: Vec<Used> = self.nodes.iter().flat_map(|node| &node.uses).chain(&self.shared).cloned().collect();
        // Each block once, its write before its reads.
        uses.sort_by_key(|(block, access)| (Arc::as_ptr(block).addr(), *access != Access::Write));
        uses.dedup_by(|later, first| Arc::ptr_eq(&later.0, &first.0));
        self.uses = uses;
    }
}
