//! What tells one kernel of several operations from another, and the kernels that there are.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::group::{Group, Nodes, is_same, waiting};
use super::mode;
use super::node::{Input, Scalar, Work};
use super::source;
use super::window::limit;
use crate::array::Array;
use crate::error::Result;
use crate::global::Global;
use crate::ops::Elementwise;
use crate::ops::axes::Map;

/// Where an operand of an operation comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum From {
    /// An earlier operation of the kernel.
    Operation(u8),
    /// An array.
    Leaf(u8),
    /// A number.
    Value(u8),
}

/// A kernel of several operations as it will be: what it reads, in the order of first use.
pub(super) struct Draft<'a> {
    pub(super) leaves: SmallVec<[&'a Array; 16]>,
    pub(super) values: SmallVec<[Scalar; 16]>,
    /// Those of each operation.
    pub(super) operands: SmallVec<[SmallVec<[From; 4]>; 32]>,
    key: SmallVec<[u64; 96]>,
}

impl<'a> Draft<'a> {
    pub(super) fn of(first: u64, nodes: &'a Nodes, group: &Group) -> Self {
        let mut draft =
            Self { leaves: SmallVec::new(), values: SmallVec::new(), operands: SmallVec::new(), key: SmallVec::new() };
        for place in &group.places {
            let Some(node) = &nodes[usize::from(*place)] else { continue };
            match &node.work {
                Work::Loop(row, kind) => {
                    draft.key.push(std::ptr::from_ref(*row).addr() as u64);
                    let kinds = (*kind as u64) << 8 | node.dtype.kind() as u64;
                    draft.key.push(kinds << 1 | u64::from(group.outputs.contains(place)));
                }
                // Its own kernel has a key of its own: this is what it reads.
                Work::Reduction(_) => draft.key.push(u64::MAX),
            }
            let mut operands = SmallVec::new();
            for input in &node.inputs {
                let from = match input {
                    Input::Value(value) => {
                        draft.values.push(*value);
                        From::Value(draft.values.len() as u8 - 1)
                    }
                    Input::Array(array) => {
                        let needed = waiting(first, nodes.len(), array.allocation().deferred());
                        let inside =
                            needed.and_then(|needed| group.places.iter().position(|p| usize::from(*p) == needed));
                        match inside {
                            Some(operation) => From::Operation(operation as u8),
                            None => draft.leaf(array),
                        }
                    }
                };
                draft.key.push(match from {
                    From::Operation(place) => 1 << 16 | u64::from(place),
                    From::Leaf(place) => {
                        let kind = draft.leaves[usize::from(place)].dtype().kind() as u64;
                        2 << 16 | kind << 8 | u64::from(place)
                    }
                    From::Value(_) => 3 << 16,
                });
                operands.push(from);
            }
            draft.operands.push(operands);
        }
        if draft.is_reduction(nodes, group) {
            // One for all, or as many as there are elements.
            let sizes = draft.leaves.iter().map(|leaf| u64::from(leaf.layout().size() == 1));
            let sizes = sizes.fold(1, |sizes, size| sizes << 1 | size);
            draft.key.push(sizes);
        }
        draft
    }

    fn is_reduction(&self, nodes: &Nodes, group: &Group) -> bool {
        let last = group.places.last().and_then(|place| nodes[usize::from(*place)].as_deref());
        last.is_some_and(|last| matches!(last.work, Work::Reduction(_)))
    }

    fn leaf(&mut self, array: &'a Array) -> From {
        let known = self.leaves.iter().position(|leaf| is_same(leaf, array));
        let place = known.unwrap_or_else(|| {
            self.leaves.push(array);
            self.leaves.len() - 1
        });
        From::Leaf(place as u8)
    }
}

/// What is known of a structure.
struct Known {
    form: Form,
    /// How often it was met.
    times: u64,
}

/// What a structure became.
#[derive(Clone)]
pub(super) enum Form {
    /// A kernel.
    Kernel(Arc<Elementwise>),
    /// What a reduction reads.
    Map(Arc<Map>),
}

type Table = HashMap<Box<[u64]>, Known>;

static TABLE: Global<Option<Table>> = Global::new(None);

/// Structures that are remembered; beyond that all are forgotten.
const MOST: usize = 1024;

/// How often a structure was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Met {
    /// Not often enough to be compiled; what was compiled by an earlier process may be taken.
    First,
    /// Often enough.
    Often,
}

/// What a draft becomes, which is met once more; `None` for one that was refused once as not to be compiled yet.
///
/// # Errors
/// `TypeError` for a kind that has no loop, which an operation that was put off has.
pub(super) fn form(draft: &Draft<'_>, nodes: &Nodes, group: &Group) -> Result<Option<(Form, Met)>> {
    static LATEST: AtomicU64 = AtomicU64::new(0);
    let meetings = match limit().meetings.load(Ordering::Relaxed) {
        0 => mode::meetings(),
        asked => asked,
    };
    if let Some((form, times)) = look_up(draft) {
        return Ok(match times {
            times if times >= meetings => Some((form, Met::Often)),
            _ => None,
        });
    }
    let form = match draft.is_reduction(nodes, group) {
        true => Form::Map(Arc::new(source::map(draft, nodes, group, LATEST.fetch_add(1, Ordering::Relaxed))?)),
        false => Form::Kernel(Arc::new(source::write(draft, nodes, group)?)),
    };
    remember(draft, form.clone());
    Ok(Some((form, if meetings <= 1 { Met::Often } else { Met::First })))
}

/// What is known of a draft's structure, and how often it was met, this time among them.
fn look_up(draft: &Draft<'_>) -> Option<(Form, u64)> {
    let mut table = TABLE.lock();
    let known = table.as_mut()?.get_mut(draft.key.as_slice())?;
    known.times += 1;
    Some((known.form.clone(), known.times))
}

fn remember(draft: &Draft<'_>, form: Form) {
    let mut table = TABLE.lock();
    let known = table.get_or_insert_default();
    let forgotten = (known.len() >= MOST).then(|| std::mem::take(known));
    known.insert(draft.key.as_slice().into(), Known { form, times: 1 });
    drop(table);
    drop(forgotten); // a driver may unload what is in there
}
