//! Groups pending operations into kernels.
//!
//! Two operations of the same shape and stream are fused, unless one depends on the other through an operation of
//! another shape. In that case the dependent operation has a higher level and is launched by a later kernel. A group
//! that exceeds the kernel limits is divided in the order of its operations.

mod inline_producers;

pub(super) use inline_producers::is_on_even_ground;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::limits::limit;
use super::node::DeferredNode;
use pygpu_array::DeferredArray;
use pygpu_base::flush_points::NodeId;
use pygpu_base::small_sort;

/// The operations of a launch batch, by index; `None` for an operation that was launched or discarded.
pub(super) type Nodes = [Option<Box<DeferredNode>>];
/// Indices of operations in a batch.
pub(super) type NodeIndices = SmallVec<[u8; 32]>;

/// The operations that one kernel computes, in order (`places`), and those operations among them whose results need
/// memory (`outputs`).
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FusionGroup {
    pub(super) places: NodeIndices,
    pub(super) outputs: NodeIndices,
}

/// Dependencies between the operations of a batch.
pub(super) struct Dependencies {
    first: NodeId,
    /// For each operation, the number of times that other operations of the batch use its result as an operand.
    uses: SmallVec<[u8; 32]>,
    /// For each operation, whether the program still refers to its result.
    held: SmallVec<[bool; 32]>,
    /// Index of the in-place barrier, the operation that writes into an existing array. All other operations that read
    /// this array precede the barrier.
    barrier: Option<usize>,
}

impl Dependencies {
    pub(super) fn of(first: NodeId, nodes: &Nodes) -> Self {
        let mut uses: SmallVec<[u8; 32]> = SmallVec::from_elem(0, nodes.len());
        for array in nodes.iter().flatten().flat_map(|node| node.arrays()) {
            if let Some(place) = waiting(first, nodes, array) {
                uses[place] = uses[place].saturating_add(1);
            }
        }
        let mut held = SmallVec::new();
        for (node, uses) in nodes.iter().zip(&uses) {
            held.push(node.as_ref().is_some_and(|node| node.result.strong_count() > usize::from(*uses)));
        }
        let barrier = nodes.iter().rposition(|node| node.as_ref().is_some_and(|node| node.target.is_some()));
        Self { first, uses, held, barrier }
    }

    /// Returns the operands of `node` that other operations of the batch compute, each with the index of the operation
    /// that computes it.
    fn needed<'a>(&'a self, node: &'a DeferredNode) -> impl Iterator<Item = (&'a DeferredArray, usize)> + 'a {
        node.arrays().iter().filter_map(|array| {
            let place = place_of(self.first, self.uses.len(), array).filter(|place| Some(*place) != self.barrier);
            place.map(|place| (array, place))
        })
    }
}

/// Returns the index of the pending operation that computes an operand; `None` if no operation in the batch does. An
/// in-place barrier does not count, because its target already has memory.
pub(super) fn waiting(first: NodeId, nodes: &Nodes, operand: &DeferredArray) -> Option<usize> {
    place_of(first, nodes.len(), operand)
        .filter(|place| nodes[*place].as_ref().is_some_and(|node| node.target.is_none()))
}

fn place_of(first: NodeId, count: usize, operand: &DeferredArray) -> Option<usize> {
    let id = operand.allocation().producer().filter(|id| id.queue() == first.queue())?;
    let place = usize::try_from(id.number().checked_sub(first.number())?).ok()?;
    (place < count).then_some(place)
}

/// Whether two pending operations can be computed by one kernel.
fn go_together(one: &DeferredNode, other: &DeferredNode) -> bool {
    one.layout.shape().eq(other.layout.shape()) && one.stream == other.stream
}

/// Fast path of [`groups`]: returns the whole batch as one kernel if `groups` would certainly do so too. For this, all
/// operations must be elementwise, have one shape and stream, read only whole results of each other, and together
/// respect the kernel limits. Most batches fulfil these conditions, and checking them is cheaper than `groups`.
pub(super) fn whole(nodes: &Nodes, needs: &Dependencies) -> Option<FusionGroup> {
    let first = nodes.first()?.as_deref()?;
    let mut all = FusionGroup::default();
    let (mut leaves, mut values) = (0, 0);
    for (place, node) in nodes.iter().enumerate().filter_map(|(place, node)| Some((place, node.as_deref()?))) {
        node.own_loop()?;
        if !go_together(first, node) {
            return None;
        }
        leaves += node.arrays().len();
        for (array, needed) in needs.needed(node) {
            if !nodes[needed].as_ref()?.is_read_by(array) {
                return None;
            }
            leaves -= 1;
        }
        values += node.operands.values();
        all.places.push(place as u8);
        if needs.held[place] {
            all.outputs.push(place as u8);
        }
    }
    let made = all.outputs.len();
    let is_little = made <= limit().outputs.load(Ordering::Relaxed)
        && leaves + made <= limit().arrays.load(Ordering::Relaxed)
        && parameters(leaves + made, values) <= PARAMETERS;
    is_little.then_some(all)
}

/// Assigns the operations of a batch to kernels, and returns the kernels in launch order.
pub(super) fn groups(nodes: &Nodes, needs: &Dependencies) -> SmallVec<[FusionGroup; 4]> {
    let levels = levels(nodes, needs);
    // For each kernel, its level (the number of kernels that must precede it), and the indices of its operations.
    let mut kinds: SmallVec<[(u8, NodeIndices); 4]> = SmallVec::new();
    let mut consumers: SmallVec<[(u8, FusionGroup); 2]> = SmallVec::new();
    let mut folded: SmallVec<[bool; 32]> = SmallVec::from_elem(false, nodes.len());
    for (place, node) in nodes.iter().enumerate().filter_map(|(place, node)| Some((place, node.as_deref()?))) {
        if node.own_loop().is_none() {
            let group = inline_producers::consumer(nodes, needs, place);
            group.places.iter().for_each(|place| folded[usize::from(*place)] = true);
            consumers.push((levels[place], group));
        }
    }
    for (place, node) in nodes.iter().enumerate() {
        let Some(node) = node.as_deref().filter(|_| !folded[place]) else { continue };
        let level = levels[place];
        let is_kind = |(other, places): &&mut (u8, NodeIndices)| {
            let first = places.first().and_then(|first| nodes[usize::from(*first)].as_deref());
            *other == level && first.is_some_and(|first| go_together(first, node))
        };
        match kinds.iter_mut().find(is_kind) {
            Some((_, places)) => places.push(place as u8),
            None => kinds.push((level, SmallVec::from_slice(&[place as u8]))),
        }
    }
    let mut groups: SmallVec<[(u8, FusionGroup); 4]> = SmallVec::new();
    for (level, places) in kinds {
        cut(nodes, needs, &places, |group| groups.push((level, group)));
    }
    groups.extend(consumers);
    small_sort::sort_by_key(&mut groups, |(level, _)| *level); // the sort is stable, so groups of one level keep their order
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Returns, for each operation, the minimum number of kernels that must precede its kernel. An operation that writes
/// into an existing array comes last, because other operations read the array's old values.
fn levels(nodes: &Nodes, needs: &Dependencies) -> SmallVec<[u8; 32]> {
    let mut levels: SmallVec<[u8; 32]> = SmallVec::from_elem(0, nodes.len());
    for (place, node) in nodes.iter().enumerate() {
        let Some(node) = node else { continue };
        if node.target.is_some() {
            levels[place] = u8::MAX;
            continue;
        }
        for (operand, needed) in needs.needed(node) {
            let Some(other) = &nodes[needed] else { continue };
            let is_beside = node.own_loop().is_some()
                && other.own_loop().is_some()
                && go_together(node, other)
                && other.is_read_by(operand);
            levels[place] = levels[place].max(levels[needed] + u8::from(!is_beside));
        }
    }
    levels
}

/// Maximum size of a kernel's parameters in bytes; drivers before CUDA 12.1 support 4 KiB.
const PARAMETERS: usize = 3500;

/// Returns an upper bound, in bytes, of the size of a kernel's parameters that has `arrays` arrays in a loop nest of
/// several axes, and `values` scalars.
fn parameters(arrays: usize, values: usize) -> usize {
    arrays * (8 + 8 * 8) + values * 16
}

/// Numbers of arrays, parameters and results that a kernel needs for the operations added so far. They are compared
/// with the kernel limits.
#[derive(Default)]
struct KernelCost<'a> {
    leaves: SmallVec<[&'a DeferredArray; 16]>,
    values: usize,
    held: usize,
    /// For each result in the kernel that only operations of the batch use: the number of its uses by operations that
    /// are not in the kernel yet.
    open: SmallVec<[(usize, u8); 32]>,
}

impl<'a> KernelCost<'a> {
    fn of(nodes: &'a Nodes, needs: &Dependencies, places: &[u8]) -> Self {
        let mut weight = Self::default();
        for (position, place) in places.iter().enumerate() {
            weight.add(nodes, needs, usize::from(*place), &places[..position]);
        }
        weight
    }

    fn add(&mut self, nodes: &'a Nodes, needs: &Dependencies, place: usize, members: &[u8]) {
        let Some(node) = &nodes[place] else { return };
        self.values += node.operands.values();
        for array in node.arrays() {
            let needed = waiting(needs.first, nodes, array);
            match needed.filter(|needed| members.contains(&(*needed as u8))) {
                Some(needed) => {
                    if let Some((_, uses)) = self.open.iter_mut().find(|(other, _)| *other == needed) {
                        *uses -= 1;
                    }
                }
                None if self.leaves.iter().any(|leaf| is_same(leaf, array)) => {}
                None => self.leaves.push(array),
            }
        }
        if needs.held[place] {
            self.held += 1;
        } else {
            self.open.push((place, needs.uses[place]));
        }
    }

    fn parameters(&self) -> usize {
        parameters(self.leaves.len() + self.held, self.values)
    }

    /// Returns how many results need memory, if the kernel contains only the operations added so far.
    fn outputs(&self) -> usize {
        self.held + self.open.iter().filter(|(_, uses)| *uses > 0).count()
    }
}

/// Whether two operands are views of one memory block with equal dtypes and layouts.
pub(super) fn is_same(one: &DeferredArray, other: &DeferredArray) -> bool {
    Arc::ptr_eq(one.allocation(), other.allocation()) && one.dtype() == other.dtype() && one.layout() == other.layout()
}

/// Assigns operations, any of which may be fused with each other, to kernels that are as large as the limits allow.
fn cut(nodes: &Nodes, needs: &Dependencies, places: &[u8], mut give: impl FnMut(FusionGroup)) {
    let (arrays, outputs) = (limit().arrays.load(Ordering::Relaxed), limit().outputs.load(Ordering::Relaxed));
    let mut begin = 0;
    while begin < places.len() {
        let mut weight = KernelCost::default();
        let mut end = begin + 1;
        for (position, &place) in places.iter().enumerate().skip(begin) {
            weight.add(nodes, needs, place.into(), &places[begin..position]);
            // Adding an operation never decreases the kernel's numbers of arrays, parameters and results. Therefore no
            // further operation fits into this kernel.
            if weight.held > outputs || weight.leaves.len() + weight.held > arrays || weight.parameters() > PARAMETERS {
                break;
            }
            let made = weight.outputs();
            if made <= outputs && weight.leaves.len() + made <= arrays {
                end = position + 1;
            }
        }
        give(group(nodes, needs, &places[begin..end]));
        begin = end;
    }
}

fn group(nodes: &Nodes, needs: &Dependencies, places: &[u8]) -> FusionGroup {
    let mut inside: SmallVec<[u8; 32]> = SmallVec::from_elem(0, nodes.len());
    for &place in places {
        let Some(node) = &nodes[usize::from(place)] else { continue };
        for (_, needed) in needs.needed(node) {
            inside[needed] = inside[needed].saturating_add(1);
        }
    }
    let is_output = |place: usize| needs.held[place] || needs.uses[place] > inside[place];
    let outputs = places.iter().copied().filter(|place| is_output(usize::from(*place))).collect();
    FusionGroup { places: SmallVec::from_slice(places), outputs }
}
