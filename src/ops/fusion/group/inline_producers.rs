//! Inlines producers into the kernel of a consumer. A consumer is a reduction, whose result has another shape than the
//! producers' results, or an operation that writes into an existing array.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::super::limits::limit;
use super::super::node::DeferredNode;
use super::{Dependencies, FusionGroup, KernelCost, NodeIndices, Nodes, PARAMETERS, go_together};
use pygpu_array::DeferredArray;
use pygpu_copy as copy;
use pygpu_layout::Layout;

/// Returns the kernel of the consumer at index `place`. If layouts and kernel limits permit, this kernel also computes
/// all operations whose results only the consumer needs.
pub(super) fn consumer(nodes: &Nodes, needs: &Dependencies, place: usize) -> FusionGroup {
    let alone =
        || FusionGroup { places: SmallVec::from_slice(&[place as u8]), outputs: SmallVec::from_slice(&[place as u8]) };
    let Some(node) = nodes[place].as_deref() else { return alone() };
    let places = only_for(nodes, needs, node, place);
    if places.len() < 2 {
        return alone();
    }
    let weight = KernelCost::of(nodes, needs, &places);
    let is_little = weight.leaves.len() < limit().arrays.load(Ordering::Relaxed) && weight.parameters() <= PARAMETERS;
    if is_little && can_read(nodes, &weight, &places, node) { FusionGroup { places, ..alone() } } else { alone() }
}

/// Returns the operations whose results only `consumer` needs, in order, followed by `consumer`.
fn only_for(nodes: &Nodes, needs: &Dependencies, consumer: &DeferredNode, last: usize) -> NodeIndices {
    let mut uses: SmallVec<[u8; 32]> = SmallVec::from_elem(0, nodes.len());
    let mut places: NodeIndices = SmallVec::from_slice(&[last as u8]);
    let Some(shape) = consumer.arrays().first().map(DeferredArray::layout) else { return places };
    for (_, needed) in needs.needed(consumer) {
        uses[needed] += 1;
    }
    for place in (0..last).rev() {
        let Some(node) = nodes[place].as_deref() else { continue };
        let is_its = uses[place] > 0 && uses[place] == needs.uses[place] && !needs.held[place];
        let goes = node.own_loop().is_some() && node.stream == consumer.stream && node.layout.shape().eq(shape.shape());
        if !is_its || !goes || !is_whole(nodes, needs, &places, place, node) {
            continue;
        }
        places.push(place as u8);
        for (_, needed) in needs.needed(node) {
            uses[needed] += 1;
        }
    }
    places.reverse();
    places
}

/// Whether all `readers` of the result of an operation read the whole result, in the layout in which it is computed.
fn is_whole(nodes: &Nodes, needs: &Dependencies, readers: &[u8], place: usize, node: &DeferredNode) -> bool {
    readers.iter().filter_map(|reader| nodes[usize::from(*reader)].as_deref()).all(|reader| {
        let mut read = needs.needed(reader).filter(|(_, needed)| *needed == place);
        read.all(|(operand, _)| node.is_read_by(operand))
    })
}

/// Whether the consumer's kernel can read the operands of the inlined operations. A reduction requires these operands
/// to have the layout of the inlined results. A write into an existing array requires that each operand that overlaps
/// the array is identical to it.
fn can_read(nodes: &Nodes, weight: &KernelCost<'_>, places: &[u8], consumer: &DeferredNode) -> bool {
    match &consumer.target {
        Some(target) => {
            let has_shape = nodes[usize::from(places[0])].as_deref().is_some_and(|first| go_together(first, consumer));
            // An operand whose memory is not allocated yet cannot overlap the target of the write.
            let meets = |leaf: &&DeferredArray| {
                leaf.materialized()
                    .is_ok_and(|leaf| copy::may_overlap(target, leaf) && !copy::is_same_place(target, leaf))
            };
            has_shape && !weight.leaves.iter().any(meets)
        }
        None => {
            let made = consumer.arrays().first().map(DeferredArray::layout);
            made.is_some_and(|made| weight.leaves.iter().all(|leaf| has_layout_of(leaf, made)))
        }
    }
}

/// Whether an operand has the layout of a dense, aligned result, or is a single broadcast element.
fn has_layout_of(leaf: &DeferredArray, made: &Layout) -> bool {
    let layout = leaf.layout();
    if layout.size() == 1 {
        return true;
    }
    let steps =
        |layout: &Layout| -> SmallVec<[i64; 8]> { layout.strides().map(|stride| stride / layout.itemsize()).collect() };
    layout.shape().eq(made.shape()) && is_on_even_ground(leaf) && steps(layout) == steps(made)
}

/// Whether the first element of a dense array is aligned for vector loads. A memory block that is not allocated yet
/// will be aligned like all pool blocks, so only the array's offset in the block matters. The launch checks the address
/// when the memory is allocated.
pub(in super::super) fn is_on_even_ground(leaf: &DeferredArray) -> bool {
    leaf.layout().size() == 1 || leaf.phase() == 0
}
