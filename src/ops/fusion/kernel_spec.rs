//! Specifies a fused kernel, and its structural key.

use smallvec::SmallVec;

use super::group::{FusionGroup, Nodes, is_same, waiting};
use super::node::DeferredOp;
use super::operands::{DeferredOperand, Scalar};
use pygpu_array::DeferredArray;
use pygpu_base::flush_points::NodeId;

/// Source of an operand: an operation, an array, or a scalar parameter of the fused kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OperandSource {
    /// The operand is the result of an earlier operation of the kernel; the field is the operation's index.
    Operation(u8),
    /// The operand is an array that the kernel reads; the field is the array's index.
    Leaf(u8),
    /// The operand is a scalar parameter of the kernel; the field is the parameter's index.
    Value(u8),
}

/// Specification of a fused kernel: its operations, operands and key. Arrays are in the order of first use.
pub(super) struct FusedKernelSpec<'a> {
    pub(super) leaves: SmallVec<[&'a DeferredArray; 16]>,
    pub(super) values: SmallVec<[Scalar; 16]>,
    /// The operands of all operations, concatenated. `ends` contains, for each operation, the index after its last
    /// operand.
    operands: SmallVec<[OperandSource; 96]>,
    ends: SmallVec<[u16; 32]>,
    pub(super) key: SmallVec<[u64; 96]>,
}

impl<'a> FusedKernelSpec<'a> {
    pub(super) fn of(first: NodeId, nodes: &'a Nodes, group: &FusionGroup) -> Self {
        let mut draft = Self {
            leaves: SmallVec::new(),
            values: SmallVec::new(),
            operands: SmallVec::new(),
            ends: SmallVec::new(),
            key: SmallVec::new(),
        };
        for place in &group.places {
            let Some(node) = &nodes[usize::from(*place)] else { continue };
            match &node.work {
                DeferredOp::Loop(row, kind) => {
                    draft.key.push(std::ptr::from_ref(*row).addr() as u64);
                    let kinds = (*kind as u64) << 8 | node.dtype.kind() as u64;
                    draft.key.push(kinds << 1 | u64::from(group.outputs.contains(place)));
                }
                // `draft.key` describes only how the input of the reduction is computed, so every reduction is
                // represented in it by the same constant. The kernel of the whole reduction is cached under a separate
                // key.
                DeferredOp::Reduction(_) => draft.key.push(u64::MAX),
            }
            for operand in node.operands.iter() {
                let from = match operand {
                    DeferredOperand::Value(value) => {
                        draft.values.push(*value);
                        OperandSource::Value(draft.values.len() as u8 - 1)
                    }
                    DeferredOperand::Array(array) => {
                        let needed = waiting(first, nodes, array);
                        let inside =
                            needed.and_then(|needed| group.places.iter().position(|p| usize::from(*p) == needed));
                        match inside {
                            Some(operation) => OperandSource::Operation(operation as u8),
                            None => draft.leaf(array),
                        }
                    }
                };
                draft.key.push(match from {
                    OperandSource::Operation(place) => 1 << 16 | u64::from(place),
                    OperandSource::Leaf(place) => {
                        let kind = draft.leaves[usize::from(place)].dtype().kind() as u64;
                        2 << 16 | kind << 8 | u64::from(place)
                    }
                    OperandSource::Value(_) => 3 << 16,
                });
                draft.operands.push(from);
            }
            draft.ends.push(draft.operands.len() as u16);
        }
        if draft.is_reduction(nodes, group) {
            // The kernel's key contains, for each array, whether the array is broadcast from one element.
            let sizes = draft.leaves.iter().map(|leaf| u64::from(leaf.layout().size() == 1));
            let sizes = sizes.fold(1, |sizes, size| sizes << 1 | size);
            draft.key.push(sizes);
        }
        draft
    }

    /// Returns the operands of the fused operation at index `place`.
    pub(super) fn operands(&self, operation: usize) -> &[OperandSource] {
        let begin = operation.checked_sub(1).map_or(0, |before| usize::from(self.ends[before]));
        &self.operands[begin..usize::from(self.ends[operation])]
    }

    pub(super) fn is_reduction(&self, nodes: &Nodes, group: &FusionGroup) -> bool {
        let last = group.places.last().and_then(|place| nodes[usize::from(*place)].as_deref());
        last.is_some_and(|last| matches!(last.work, DeferredOp::Reduction(_)))
    }

    fn leaf(&mut self, array: &'a DeferredArray) -> OperandSource {
        let known = self.leaves.iter().position(|leaf| is_same(leaf, array));
        let place = known.unwrap_or_else(|| {
            self.leaves.push(array);
            self.leaves.len() - 1
        });
        OperandSource::Leaf(place as u8)
    }
}
